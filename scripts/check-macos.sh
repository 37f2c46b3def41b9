#!/usr/bin/env bash
# Checks that turnpipe compiles for macOS, without a Mac: nothing is linked, so that programs which
# make empty files stand in for the C compiler and its archiver.
set -euo pipefail
cd "$(dirname "$0")/.."
target=aarch64-apple-darwin

if ! rustup target add "$target" >/dev/null 2>&1; then
  echo "the standard library for $target cannot be installed: not checked"
  exit 0
fi
stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT
cat >"$stubs/cc" <<'STUB'
#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
  -E) exec cc "$@" ;;
  -o) shift && : >"$1" ;;
  esac
  shift
done
STUB
cat >"$stubs/ar" <<'STUB'
#!/bin/sh
for file; do
  case $file in *.a) : >"$file" ;; esac
done
STUB
chmod +x "$stubs"/*
export CC_aarch64_apple_darwin=$stubs/cc AR_aarch64_apple_darwin=$stubs/ar
cargo check --locked --quiet --target "$target"
