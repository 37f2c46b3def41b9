#!/bin/sh
# Downloads a release of turnpipe for Linux, compares it with the published checksum, and installs the binary.
#
# usage: install.sh [--version VERSION] [--to DIRECTORY] [--from URL]
#
#   --version   release to install (default: the one this script belongs to)
#   --to        directory of the binary (default: ~/.local/bin)
#   --from      address of releases, which has a directory per version (default: the project's)
#
# Needs tar, sha256sum or shasum, and curl or wget unless releases are in a directory (`--from file:///DIRECTORY`).
set -eu

version=0.1.0
to=${HOME:+$HOME/.local/bin}
from=https://example.com/turnpipe/releases/download

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

# A function, so that nothing runs if the download of this script is cut off.
main() {
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help)
            echo 'usage: install.sh [--version VERSION] [--to DIRECTORY] [--from URL]'
            exit
            ;;
        --version | --to | --from)
            [ $# -ge 2 ] || fail "$1 needs a value"
            case $1 in
            --version) version=${2#v} ;;
            --to) to=$2 ;;
            --from) from=$2 ;;
            esac
            shift 2
            ;;
        *) fail "unknown argument: $1" ;;
        esac
    done
    [ -n "$to" ] || fail 'HOME is not set; name a directory with --to'

    case $(uname -sm) in
    'Linux x86_64') target=x86_64-unknown-linux-musl ;;
    'Linux aarch64' | 'Linux arm64') target=aarch64-unknown-linux-musl ;;
    *) fail "no archive for $(uname -sm), only for Linux on x86_64 and aarch64; in a copy of the sources, run: cargo install --locked --path ." ;;
    esac

    if [ "${from#file:///}" != "$from" ]; then
        download() { cp "${1#file://}" "$2"; }
    elif command -v curl >/dev/null; then
        download() { curl -fsSL --retry 2 -o "$2" "$1"; }
    elif command -v wget >/dev/null; then
        download() { wget -qO "$2" "$1"; }
    else
        fail 'needs curl or wget'
    fi
    if command -v sha256sum >/dev/null; then
        checksum() { sha256sum <"$1"; }
    elif command -v shasum >/dev/null; then
        checksum() { shasum -a 256 <"$1"; }
    else
        fail 'needs sha256sum or shasum'
    fi

    name=turnpipe-$version-$target
    work=$(mktemp -d)
    new=
    trap 'rm -rf "$work" ${new:+"$new"}' EXIT
    trap 'exit 130' INT TERM HUP
    for file in "$name.tgz" SHA256SUMS; do
        download "$from/v$version/$file" "$work/$file" || fail "cannot download $from/v$version/$file"
    done

    expected=
    while read -r sum file || [ -n "$sum" ]; do
        [ "${file#\*}" != "$name.tgz" ] || expected=$sum
    done <"$work/SHA256SUMS"
    actual=$(checksum "$work/$name.tgz")
    [ -n "$expected" ] || fail "SHA256SUMS does not list $name.tgz"
    [ "$expected" = "${actual%% *}" ] || fail "$name.tgz does not have the published checksum; nothing was installed"

    tar -xzf "$work/$name.tgz" -C "$work" "$name/turnpipe"
    "$work/$name/turnpipe" --version >/dev/null || fail "$name does not run here; nothing was installed"
    mkdir -p "$to"
    # `mv` would move the binary into the directory.
    [ ! -d "$to/turnpipe" ] || fail "$to/turnpipe is a directory; nothing was installed"
    # A running turnpipe keeps its file.
    new=$(mktemp -d "$to/.turnpipe.XXXXXX")
    cp "$work/$name/turnpipe" "$new/turnpipe"
    mv -f "$new/turnpipe" "$to/turnpipe"
    echo "installed $("$to/turnpipe" --version) in $to"
    case :$PATH: in
    *":$to:"*) ;;
    *) echo "$to is not in PATH" ;;
    esac
}

main "$@"
