#!/usr/bin/env bash
# Runs every command of docs/install.md in a bare Debian 12, each way in a new one, and prints a line for each:
#
#   packaging/test_debian.sh [WAY...]
#
# WAY is packages, pkg-config, source, fetch-content, bazel or static; by default, all. A bare Debian is what
# debootstrap makes of the mirror that this machine has for apt-get. It stays in build/bare, with the packages that
# were downloaded, for the next time. The repository that the documents name does not exist there: a clone of this
# one, with the last commit as the release, is used whenever git should fetch it.
#
# Needs root, debootstrap, and what `install.sh --packaging` installs if build/debian has no packages yet.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
  echo "test_debian.sh: $1" >&2
  exit 1
}

[[ $EUID -eq 0 ]] || die "it needs root, for chroot"
command -v debootstrap >/dev/null || die "debootstrap is missing; run ./install.sh --packaging"
ways=(packages pkg-config source fetch-content bazel static)
[[ $# -eq 0 ]] || ways=("$@")

dir=$PWD/build/bare
base=$dir/base
version=$(packaging/version.sh)
mkdir -p "$dir/downloads"

make_base() {
  local sources
  sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' "Created-By: Packages" "Origin: Debian" |
              grep ' bookworm' | sort -u)
  [[ -n $sources ]] || die "apt-get has no sources of Debian 12; run apt-get update"
  debootstrap --variant=minbase bookworm "$base.new" "$(awk '$3 == "bookworm" { print $2; exit }' <<<"$sources")" >"$dir/base.log" ||
    { tail "$dir/base.log" >&2; die "debootstrap failed; $dir/base.log has the rest"; }
  echo "$sources" >"$base.new/etc/apt/sources.list"
  # Downloaded packages are kept.
  echo 'Binary::apt::APT::Keep-Downloaded-Packages "true"; APT::Keep-Downloaded-Packages "true";' >"$base.new/etc/apt/apt.conf.d/keep"
  mv "$base.new" "$base"
}

# block SECTION N: the Nth block of commands in a section of docs/install.md.
block() {
  awk -v section="## $1" -v wanted="$2" '
    /^## / { found = $0 == section }
    /^```$/ { inside = 0 }
    inside
    $0 == "```sh" { inside = found && ++count == wanted }' docs/install.md
}

# in_bare COMMAND...: runs a command in the bare system, in /srv/work. Whatever it starts ends with it.
in_bare() {
  unshare --mount --pid --fork --kill-child bash -c '
    set -e
    root=$1 downloads=$2
    shift 2
    mount --bind "$downloads" "$root/var/cache/apt/archives"
    mount --bind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
      bash -c "cd /srv/work && exec \"\$@\"" bash "$@"' bash "$root" "$dir/downloads" "$@"
}

# new_bare NAME: makes a bare system with an empty /srv/work.
new_bare() {
  root=$dir/$1
  log=$dir/$1.log
  work=$root/srv/work
  rm -rf --one-file-system "$root"
  cp -a "$base" "$root"
  cp /etc/resolv.conf /etc/hosts "$root/etc"
  mkdir "$work"
}

# add_repository: lets git find the repository of the documents.
add_repository() {
  git clone -q --bare --depth 1 "file://$PWD" "$root/srv/gotrace.git"
  git -C "$root/srv/gotrace.git" tag "v$version" HEAD
  printf '[url "/srv/gotrace.git"]\n\tinsteadOf = https://gotrace.example/gotrace.git\n' >"$root/etc/gitconfig"
}

add_checkout() {
  git clone -q --depth 1 "file://$PWD" "$work"
}

add_packages() {
  if ! compgen -G "build/debian/*.deb" >/dev/null; then packaging/debian.sh; fi
  cp build/debian/{gotrace-dump,libgotrace0,libgotrace-sqlite0,libgotrace-dev}_*.deb "$work"
}

# run_block SECTION N: runs commands of docs/install.md. Its output is shown only if it fails. The last command
# must print TEXT...
run_block() {
  local section=$1 number=$2 text
  shift 2
  cp testdata/traces/go1.27-gc.trace.zst "$work/trace.out"
  block "$section" "$number" >"$work/commands"
  local count
  count=$(grep -c . "$work/commands") || die "docs/install.md has no block $number in \"$section\""
  [[ $count -le 5 ]] || die "block $number of \"$section\" has $count commands, more than five"
  if ! in_bare bash -ex commands >"$log" 2>&1; then
    tail -n 50 "$log" >&2
    die "block $number of \"$section\" fails in a bare Debian; $log has the rest"
  fi
  for text; do
    grep -qxF -- "$text" "$log" || die "block $number of \"$section\" does not print \"$text\"; $log has what it prints"
  done
  echo "$section, block $number: $count commands"
}
counts=("8 runtime.gcBgMarkWorker" "6 main.sweep.func1")

# check_installed: what packages have besides the library.
check_installed() {
  local manual
  in_bare gotrace-dump --version | grep -qF "$version" || die "gotrace-dump --version does not print $version"
  for manual in "$root"/usr/share/man/man1/gotrace-dump{,-sql}.1.gz; do
    gzip -t "$manual"
  done
  in_bare bash -c '. /usr/share/bash-completion/completions/gotrace-dump && complete -p gotrace-dump' >/dev/null
  in_bare dpkg --remove libgotrace-dev libgotrace-sqlite0 libgotrace0 gotrace-dump >/dev/null
  [[ ! -e $root/usr/bin/gotrace-dump && ! -e $root/usr/include/gotrace ]] || die "removed packages leave files"
}

[[ -d $base ]] || make_base
for way in "${ways[@]}"; do
  new_bare "$way"
  case $way in
    packages)
      add_packages
      run_block "Debian packages" 1 "${counts[@]}"
      check_installed
      ;;
    pkg-config)
      add_packages
      run_block "Debian packages" 2 "${counts[@]}"
      ;;
    source)
      add_checkout
      run_block "From source" 1 "${counts[@]}"
      ;;
    fetch-content)
      add_repository
      cp -r examples/fetch-content "$work/counts"
      run_block "As part of your CMake project" 1 "${counts[@]}"
      ;;
    bazel)
      add_repository
      cp -r examples/bazel/. "$work"
      run_block "With Bazel" 1 "${counts[@]}"
      ;;
    static)
      add_checkout
      run_block "One file" 1 "goroutines   25"
      ;;
    *) die "no way $way; there are packages, pkg-config, source, fetch-content, bazel and static" ;;
  esac
  rm -rf --one-file-system "$root"
done
