#!/usr/bin/env bash
# Installs gotrace from a build tree of CMake to a temporary directory, and checks that what is there can be
# used: gotrace-dump, the extension for SQLite, every public header, and the library, by the projects in
# examples/
#
#   packaging/test_install.sh [--sources] [BUILD]
#
# With --sources, also tries the projects that build gotrace from a checkout, which takes long. BUILD is the build tree,
# by default build/install, of the preset "install"; what it lacks is built first. Needs what `install.sh` and
# `install.sh --cmake` install, and the shell of SQLite.
set -euo pipefail
cd "$(dirname "$0")/.."

with_sources=
if [[ ${1:-} == --sources ]]; then
  with_sources=1
  shift
fi
source=$PWD
build=${1:-build/install}
[[ -e $build/CMakeCache.txt ]] || cmake --preset install -B "$build" >/dev/null
cmake --build "$build" --parallel "$(nproc)" >/dev/null
build=$(realpath "$build")

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
prefix=$temporary/installed
cmake --install "$build" --prefix "$prefix" >/dev/null
cd "$temporary"
cp "$source/testdata/traces/go1.27-gc.trace.zst" trace.out

failed=0
fail() {
  echo "test_install.sh: $1" >&2
  failed=1
}

# check NAME COMMAND...: the command succeeds. Its output is shown only if it does not.
check() {
  local name=$1
  shift
  if ! "$@" >log 2>&1; then
    tail -n 50 log >&2
    fail "$name does not work"
  fi
}

version=$("$source/packaging/version.sh")
dump=$prefix/bin/gotrace-dump
[[ $("$dump" --version) == *"$version"* ]] || fail "gotrace-dump is not of version $version"

# The numbers of goroutines that every project must print.
"$dump" goroutines --top=0 --format=csv trace.out | sed -n 's/^\([0-9]*\),.*,\([^,]*\)$/\1 \2/p' | sort >expected
[[ $(wc -l <expected) -gt 5 ]] || fail "gotrace-dump lists $(wc -l <expected) functions"

# check_counts NAME PROGRAM...: the program prints the numbers of goroutines.
check_counts() {
  local name=$1
  shift
  "$@" trace.out 2>&1 | sort | diff expected - >&2 || fail "$name prints something else than gotrace-dump"
}

libraries=$(dirname "$(find "$prefix" -name libgotrace.a)")
extension=$libraries/gotrace/gotrace_sqlite.so
rows=$(sqlite3 :memory: ".load $extension" "SELECT gotrace_open('trace.out')" "SELECT count(*) FROM goroutines" 2>&1 | tail -n 1)
[[ $rows == $(awk '{ sum += $1 } END { print sum }' expected) ]] || fail "with the extension SQLite says: $rows"
tables=$(sqlite3 :memory: ".load $extension" "SELECT gotrace_open('trace.out')" .tables 2>&1)
[[ $tables == *goroutines* ]] || fail "with the extension SQLite lists these tables: $tables"
head -c 5000 trace.out >cut.out
rows=$(sqlite3 :memory: ".load $extension" "SELECT gotrace_open('cut.out')" "SELECT count(*) FROM goroutines" 2>&1 || true)
[[ $rows == *"cut.out: "*"[compressed-truncated]"* ]] || fail "with the extension SQLite says of a broken trace: $rows"
symbols=$(nm --dynamic --defined-only "$extension" | cut -d ' ' -f 3-)
[[ $symbols == sqlite3_extension_init ]] || fail "the extension exports these symbols: $symbols"

# Nothing but what is installed may be needed for the headers.
(cd "$prefix/include" && printf '#include <%s>\n' gotrace/*.h) >all_headers.cc
check "including all headers" g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I "$prefix/include" all_headers.cc

# clang warns of views of what is destroyed at once; g++ has no attribute for that.
if clang=$(command -v clang++ clang++-14 | head -n 1) && [[ $clang ]]; then
  cat >views.cc <<'END'
#include <gotrace/analyze.h>
#include <gotrace/read.h>

std::string Bytes();
std::unique_ptr<gotrace::ByteSource> Source();

const auto reader = gotrace::Reader::FromBytes(Bytes());
const auto source = gotrace::SourceFromBytes(Bytes());
const gotrace::Event* const event = gotrace::Reader::FromBytes("")->Next();
const absl::Status& status = gotrace::TraceIndex().status();
const auto generations = gotrace::TraceIndex().generations();
const absl::string_view text = gotrace::Interner().String(gotrace::StringId::kEmpty);
const auto groups = gotrace::Analyze<gotrace::GoroutineStats>(Source())->groups();
END
  warned=$("$clang" -std=c++20 -fsyntax-only -I "$prefix/include" views.cc 2>&1 | grep -o '^views.cc:[0-9]*:.*-Wdangling' | cut -d : -f 2 | tr '\n' ' ')
  [[ $warned == "7 8 9 10 11 12 13 " ]] || fail "clang warns of views in these lines: $warned"
fi

# The shared libraries export what public headers declare.
check_exports() {
  nm --dynamic --defined-only --demangle "$libraries/$1" | cut -d ' ' -f 3- | grep -v '^GOTRACE_' >exports
  [[ $(wc -l <exports) -ge $2 ]] || fail "$1 exports $(wc -l <exports) symbols"
  if grep -vE '^((vtable|typeinfo|typeinfo name) for )?gotrace::[A-Z]' exports >&2; then
    fail "$1 exports these symbols, which are not public"
  fi
}
check_exports libgotrace.so 500
check_exports libgotrace_sqlite.so 2
! readelf --dynamic "$libraries/libgotrace.so" | grep -q libsqlite3 || fail "libgotrace.so needs SQLite"

# The examples have the same program, so that each can be copied alone.
for example in fetch-content pkg-config bazel; do
  cmp "$source/examples/cmake/goroutine_counts.cc" "$source/examples/$example/goroutine_counts.cc" || failed=1
done

for shared in ON OFF; do
  check "find_package with BUILD_SHARED_LIBS=$shared" cmake -S "$source/examples/cmake" -B "cmake-$shared" \
    -DCMAKE_PREFIX_PATH="$prefix" -DBUILD_SHARED_LIBS=$shared
  check "linking with BUILD_SHARED_LIBS=$shared" cmake --build "cmake-$shared"
  check_counts "find_package with BUILD_SHARED_LIBS=$shared" "cmake-$shared/goroutine_counts"
done
readelf --dynamic cmake-ON/goroutine_counts | grep -q libgotrace.so || fail "BUILD_SHARED_LIBS=ON has no effect"
! readelf --dynamic cmake-OFF/goroutine_counts | grep -q libgotrace.so || fail "BUILD_SHARED_LIBS=OFF has no effect"

# A project with tables in SQLite.
mkdir tables
cat >tables/tables.cc <<'END'
#include <gotrace/sqlite_tables.h>
#include <sqlite3.h>

#include <cstdio>

int main(int, char** argv) {
  sqlite3* db = nullptr;
  sqlite3_open(":memory:", &db);
  auto traces = gotrace::SqliteTracesOfFile(argv[1]);
  if (!traces.ok() || !gotrace::RegisterSqliteTables(db, *std::move(traces)).ok()) return 1;
  const auto print = [](void*, int, char** values, char**) -> int { return std::printf("%s\n", values[0]) < 0; };
  sqlite3_exec(db, "SELECT count(*) FROM goroutines", print, nullptr, nullptr);
  sqlite3_close(db);
}
END
cat >tables/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(tables LANGUAGES CXX)
find_package(gotrace REQUIRED COMPONENTS sqlite)
find_package(SQLite3 REQUIRED)
add_executable(tables tables.cc)
target_link_libraries(tables PRIVATE gotrace::sqlite SQLite::SQLite3)
END
check_tables() {
  local name=$1
  shift
  local rows
  rows=$("$@" trace.out 2>&1) || true
  [[ $rows == $(awk '{ sum += $1 } END { print sum }' expected) ]] || fail "$name says: $rows"
}
# Libraries that were built for packages are where the system looks for them, and do not look for each other.
find_libraries=(env)
if grep -q '^CMAKE_SKIP_INSTALL_RPATH:.*=ON' "$build/CMakeCache.txt"; then
  find_libraries=(env LD_LIBRARY_PATH="$libraries")
fi
for shared in ON OFF; do
  check "the component sqlite with BUILD_SHARED_LIBS=$shared" cmake -S tables -B "tables-$shared" \
    -DCMAKE_PREFIX_PATH="$prefix" -DBUILD_SHARED_LIBS=$shared
  check "linking gotrace::sqlite with BUILD_SHARED_LIBS=$shared" cmake --build "tables-$shared"
  check_tables "gotrace::sqlite with BUILD_SHARED_LIBS=$shared" "${find_libraries[@]}" "tables-$shared/tables"
done
readelf --dynamic tables-ON/tables | grep -q libgotrace_sqlite.so || fail "gotrace::sqlite is not the shared library"

# A project that looks for gotrace twice.
mkdir twice
cat >twice/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(twice LANGUAGES CXX)
find_package(gotrace REQUIRED)
find_package(gotrace REQUIRED COMPONENTS static)
add_library(both INTERFACE)
target_link_libraries(both INTERFACE gotrace::gotrace gotrace::static)
END
check "find_package twice" cmake -S twice -B twice/build -DCMAKE_PREFIX_PATH="$prefix"

# make_with_pkg_config DIRECTORY VARIABLE...: builds the example there.
make_with_pkg_config() {
  cp -r "$source/examples/pkg-config" "$1" && PKG_CONFIG_PATH=$libraries/pkgconfig make -C "$@"
}
check "pkg-config" make_with_pkg_config pkg-config
check_counts "pkg-config" env LD_LIBRARY_PATH="$libraries" pkg-config/goroutine_counts
tables_with_pkg_config() {
  local flags
  flags=$(PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config "${@:2}" --cflags --libs gotrace_sqlite sqlite3) &&
    g++ -std=c++20 tables/tables.cc $flags -o "$1"
}
check "pkg-config gotrace_sqlite" tables_with_pkg_config tables-pkg-config
check_tables "pkg-config gotrace_sqlite" env LD_LIBRARY_PATH="$libraries" ./tables-pkg-config
check "pkg-config --static" make_with_pkg_config pkg-config-static PKG_CONFIG="pkg-config --static" LDFLAGS=-static
check_counts "pkg-config --static" pkg-config-static/goroutine_counts

[[ $with_sources ]] || exit $failed

# Without optimisation, which takes most of the time.
check "FetchContent" cmake -S "$source/examples/fetch-content" -B fetch-content -DCMAKE_BUILD_TYPE=Debug \
  -DFETCHCONTENT_SOURCE_DIR_GOTRACE="$source"
check "building with FetchContent" cmake --build fetch-content --target goroutine_counts --parallel "$(nproc)"
check_counts "FetchContent" fetch-content/goroutine_counts

cp -r "$source/examples/bazel" bazel
bazel_example() {
  (cd bazel && bazel --output_user_root="$temporary/bazel-root" "$@")
}
check "Bazel" bazel_example build --override_repository=gotrace="$source" --compilation_mode=fastbuild \
  ${GOTRACE_BAZEL_FLAGS:-} //:goroutine_counts
check_counts "Bazel" bazel/bazel-bin/goroutine_counts
bazel_example shutdown
chmod -R u+w bazel-root
exit $failed
