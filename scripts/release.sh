#!/usr/bin/env bash
# Builds what a release hands out: an archive with the binary, completions and manual pages for each
# target that can be built here, and their checksums.
#
# usage: scripts/release.sh [TARGET...]     (default: all that this machine can link)
#
# The archives end up in target/release-archives. A cross target needs its standard library (`rustup
# target add`, which is tried) and a linker: musl-gcc, aarch64-linux-gnu-gcc, or a Mac.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(cargo pkgid | sed 's/.*[#@]//')
out=target/release-archives
host=$(rustc -vV | sed -n 's/^host: //p')
mkdir -p "$out"

# What links programs for a target; nothing if it is missing.
linker() {
  case $1 in
  "$host") echo cc ;;
  x86_64-unknown-linux-musl) command -v musl-gcc ;;
  aarch64-unknown-linux-gnu) command -v aarch64-linux-gnu-gcc ;;
  aarch64-unknown-linux-musl) command -v aarch64-linux-musl-gcc ;;
  *-apple-darwin) [ "$(uname -s)" = Darwin ] && echo cc ;;
  esac
}

# Completions and manual pages are the same for all, and made by a program that runs here.
cargo build --locked --quiet --profile dist --target "$host"
shared=$(mktemp -d)
trap 'rm -rf "$shared"' EXIT
cp -r completions README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$shared"
"target/$host/dist/turnpipe" man "$shared/man"

targets=("$@")
((${#targets[@]})) || targets=(
  {x86_64,aarch64}-unknown-linux-{gnu,musl}
  {x86_64,aarch64}-apple-darwin
)
built=()
for target in "${targets[@]}"; do
  if ! with=$(linker "$target") || [ -z "$with" ]; then
    echo "$target: no linker here, left out" >&2
    continue
  fi
  if ! rustup target add "$target" >/dev/null 2>&1; then
    echo "$target: its standard library cannot be installed, left out" >&2
    continue
  fi
  name=$(tr a-z- A-Z_ <<<"$target")
  export "CARGO_TARGET_${name}_LINKER=$with" "CC_${target//-/_}=$with"
  cargo build --locked --quiet --profile dist --target "$target"
  folder=turnpipe-$version-$target
  rm -rf "${out:?}/$folder"
  cp -r "$shared" "$out/$folder"
  chmod 755 "$out/$folder"
  cp "target/$target/dist/turnpipe" "$out/$folder/"
  tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner -czf "$out/$folder.tgz" "$folder"
  rm -rf "${out:?}/$folder"
  built+=("$folder.tgz")
done
cd "$out"
sha256sum "${built[@]}" | tee SHA256SUMS
