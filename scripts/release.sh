#!/usr/bin/env bash
# Builds the archives of a release, each with the binary, completions, manual pages, documentation and examples, and
# their checksums.
#
# usage: scripts/release.sh [TARGET...]     (default: every target that this machine can link)
#        scripts/release.sh --files DIR     (only copies what all archives have, except manual pages)
#
# Archives are written to target/release-archives/vVERSION, and installed from there once. A cross target needs its
# standard library (installed with `rustup target add`) and a C compiler that also links, aarch64-linux-gnu-gcc.
# Targets with musl are linked with the musl of the standard library; `musl-gcc` as a linker makes programs
# that crash at start. Each binary that this machine can run, also by qemu-user-static, is run before it is
# packed.
set -euo pipefail
cd "$(dirname "$0")/.."

# Copies the files that all archives have to a directory. Fails if a page links to a file that is not there.
copy_files() {
  cp -r --parents completions data/prices.toml deny.toml docs examples install.sh tests/data/README.md \
    {CHANGELOG,CONTRIBUTING,README,SECURITY}.md LICENSE-{APACHE,MIT} "$1"
  local links
  links=$(cd "$1" && grep -roE '\]\([^)#: ]+[)#]' --include='*.md' .)
  while IFS=: read -r page link; do
    link=${link#](} link=${link%[)#]}
    if [ ! -e "$1/${page%/*}/$link" ]; then
      echo "$page: the archive lacks $link" >&2
      return 1
    fi
  done <<<"$links"
}
if [ "${1-}" = --files ]; then
  copy_files "$2"
  exit
fi

version=$(cargo pkgid | sed 's/.*[#@]//')
releases=target/release-archives
out=$releases/v$version
host=$(rustc -vV | sed -n 's/^host: //p')
mkdir -p "$out"

# Prints the C compiler that links for a target; prints nothing without one.
compiler() {
  case $1 in
  "${host%-*}"-*) echo cc ;;
  aarch64-unknown-linux-*) command -v aarch64-linux-gnu-gcc ;;
  esac
}

# Whether this machine runs programs of a target itself.
runs_here() { [ "${1%-*}" = "${host%-*}" ]; }

# Runs the new binary of a target, if possible.
try() {
  local program=("target/$1/dist/turnpipe")
  if ! runs_here "$1"; then
    program=("qemu-${1%%-*}-static" -L "/usr/${1%%-*}-linux-gnu" "${program[@]}")
    if ! command -v "${program[0]}" >/dev/null; then
      echo "$1: not run, since this machine is $host" >&2
      return
    fi
  fi
  # `grep -q` would end the pipe early, and the program with it.
  if [ "$("${program[@]}" --version)" = "turnpipe $version" ] &&
    "${program[@]}" -q run-tools --no-echo <examples/anthropic.jsonl | grep '"type":"tool_result"' >/dev/null &&
    "${program[@]}" -q session stats --json tests/data/session/claude-parallel.jsonl | grep '"sessions":1' >/dev/null
  then
    echo "$1: runs" >&2
  else
    echo "$1: the program fails" >&2
    exit 1
  fi
}

targets=("$@")
((${#targets[@]})) || targets=({x86_64,aarch64}-unknown-linux-{gnu,musl})
built=()
for target in "${targets[@]}"; do
  if ! cc=$(compiler "$target") || [ -z "$cc" ]; then
    echo "$target: no linker, left out" >&2
    continue
  fi
  if ! rustup target add "$target" >/dev/null 2>&1; then
    echo "$target: its standard library cannot be installed, left out" >&2
    continue
  fi
  name=$(tr a-z- A-Z_ <<<"$target")
  export "CARGO_TARGET_${name}_LINKER=$cc" "CC_${target//-/_}=$cc"
  # A panic ends the program, and a stripped one prints no names of functions.
  flags='-C force-unwind-tables=no' cflags=-fno-asynchronous-unwind-tables
  if [[ $target = *-musl ]]; then
    # As `build.rs` does for other programs.
    flags+=' -C relocation-model=static'
    # musl lacks the checked functions, and the ones for large files, that glibc's headers would call.
    cflags+=' -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0 -DSQLITE_DISABLE_LFS'
  fi
  export "CARGO_TARGET_${name}_RUSTFLAGS=$flags" "CFLAGS_${target//-/_}=$cflags"
  cargo build --locked --quiet --profile dist --target "$target"
  try "$target"
  built+=("$target")
done
((${#built[@]})) || exit 1

# Completions and manual pages are the same for all targets; a program that runs here writes the manual.
shared=$(mktemp -d)
trap 'rm -rf "$shared"' EXIT
copy_files "$shared"
own=$host
for target in "${built[@]}"; do
  if runs_here "$target"; then own=$target; fi
done
[ -x "target/$own/dist/turnpipe" ] || cargo build --locked --quiet --profile dist --target "$own"
"target/$own/dist/turnpipe" man "$shared/man"

archives=()
for target in "${built[@]}"; do
  directory=turnpipe-$version-$target
  rm -rf "${out:?}/$directory"
  cp -r "$shared" "$out/$directory"
  chmod 755 "$out/$directory"
  cp "target/$target/dist/turnpipe" "$out/$directory/"
  tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner -czf "$out/$directory.tgz" "$directory"
  rm -rf "${out:?}/$directory"
  archives+=("$directory.tgz")
done
(cd "$out" && sha256sum "${archives[@]}" | tee SHA256SUMS)
if [[ " ${archives[*]} " = *-"${host%-*}-musl.tgz "* ]]; then
  installed=$(mktemp -d)
  ./install.sh --from "file://$PWD/$releases" --to "$installed"
  rm -rf "$installed"
fi
