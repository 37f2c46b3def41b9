#!/usr/bin/env bash
# Counts the source files with an executed line on the way of one call, one title and one answer of the hook: what a
# reader has to open. `--list` names them. Needs LLVM's llvm-profdata and llvm-cov (`rustup component add llvm-tools`, or
# Debian's package llvm-19).
set -euo pipefail
cd "$(dirname "$0")/.."
tool() {
  local found
  found=$(compgen -G "$(rustc --print sysroot)/lib/rustlib/*/bin/$1" || compgen -G "/usr/lib/llvm-*/bin/$1" || command -v "$1") || {
    echo "$1 is missing; run \`rustup component add llvm-tools\`" >&2
    exit 1
  }
  tail -n 1 <<<"$found"
}
profdata=$(tool llvm-profdata) cov=$(tool llvm-cov)
target=target/coverage
# Build scripts and macros are instrumented as well: their counts are not kept.
LLVM_PROFILE_FILE=/dev/null RUSTFLAGS="-C instrument-coverage" cargo build --quiet --bin turnpipe --target-dir "$target"
binary=$target/debug/turnpipe
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

# usage: count NAME INPUT ARGUMENT…
count() {
  local name=$1 input=$2
  shift 2
  env -i PATH="$PATH" HOME="$home" LLVM_PROFILE_FILE="$home/$name-%p.profraw" "$binary" "$@" <<<"$input" >/dev/null
  "$profdata" merge -sparse "$home/$name"-*.profraw -o "$home/$name.profdata"
  "$cov" export --format=lcov --instr-profile="$home/$name.profdata" "$binary" |
    awk -F: '/^SF:/ { file = $2 } /^DA:/ { split($2, line, ","); if (line[2] > 0) print file }' |
    sort -u | sed -n "s|^$PWD/||p" | grep -E '^(src|crates)/' >"$home/$name.files"
  printf '%-6s %s\n' "$name" "$(wc -l <"$home/$name.files")"
  [[ ${LIST-} ]] && sed 's/^/  /' "$home/$name.files"
  return 0
}

[[ ${1-} == --list ]] && LIST=1
count bash '{"type":"tool_use","id":"1","name":"Bash","input":{"command":"ls"}}' run-tools
count title '' title tests/data/session/claude-parallel.jsonl
count hook '{"hook_event_name":"PreToolUse","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls"}}' hook pre-tool-use
