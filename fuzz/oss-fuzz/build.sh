#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz wants them: each in $OUT, with its corpus and the dictionary.
# Takes $CXX, $CXXFLAGS and $LIB_FUZZING_ENGINE from it. Without Bazel, which its images have in no
# version that can be relied on. To be run where the repository is.

# Ubuntu's libraries are built with libstdc++.
flags=(${CXXFLAGS/-stdlib=libc++/} -std=c++20 -I. -Iinclude)
build=$(mktemp -d)
absl=(-Wl,--start-group /usr/lib/*-linux-gnu/libabsl_*.a -Wl,--end-group)

# compile FILE...: objects of $build, in parallel.
compile() {
  printf '%s\n' "$@" | xargs -P "$(nproc)" -I {} bash -c '
    object=$1/$(echo "$2" | tr / _).o
    "${@:3}" -c "$2" -o "$object"' _ "$build" {} "$CXX" "${flags[@]}"
}

# What targets may need: nothing with a main(), and of the commands only validate. Others need SQLite and libedit,
# which are not where OSS-Fuzz runs the targets.
sources() {
  find util tracev2 parser validator rewrite analysis export view tools testing -name '*.cc' ! -name '*_test.cc' \
    ! -path 'export/sqlite/*' ! -path 'tools/*_command.cc' ! -path 'tools/sql/*' ! -name registry.cc \
    ! -name command_answers.cc ! -name viewed_trace.cc -exec grep -L '^int main(' {} +
  ls bench/synthetic_traces.cc tools/cli/{inner,per_file}_command.cc tools/commands/validate_command.cc
}

mapfile -t files < <(sources; ls fuzz/*.cc | grep -v -e _test.cc -e write_seeds -e name_cases)
compile "${files[@]}"

# Of the library only what is asked for is linked.
objects() { find "$build" -name '*.o' "$@"; }
objects ! -name 'fuzz_*_target.cc.o' ! -name 'fuzz_fuzzer_entry*' ! -name 'fuzz_custom_mutator*' \
  ! -name 'fuzz_write_dictionary*' -exec ar rcs "$build/lib.a" {} +

# link OUTPUT FLAG|OBJECT...
link() {
  local output=$1
  shift
  "$CXX" "${flags[@]}" "$@" "$build/lib.a" "${absl[@]}" -l:libgtest.a -l:libxxhash.a -l:libzstd.a -l:libz.a \
    -static-libstdc++ -lpthread -o "$output"
}

link "$build/write_dictionary" "$build/fuzz_write_dictionary.cc.o"
"$build/write_dictionary" >"$build/trace.dict"

for target in $(fuzz/run.sh --list); do
  mutator=()
  # The targets that read traces have a mutator for them.
  sed -n "/name = \"$target\",/,/^)/p" fuzz/BUILD | grep -q 'structured = True' &&
    mutator=("$build/fuzz_custom_mutator.cc.o")
  link "$OUT/$target" "$LIB_FUZZING_ENGINE" "$build/fuzz_${target}_target.cc.o" \
    "$build/fuzz_fuzzer_entry.cc.o" "${mutator[@]}"
  cp "$build/trace.dict" "$OUT/$target.dict"
  printf '[libfuzzer]\nmax_len = 65536\ntimeout = 10\n' >"$OUT/$target.options"
  zip -q -j -r "$OUT/${target}_seed_corpus.zip" "fuzz/corpus/$target"
done
