#!/usr/bin/env bash
# Runs the same turn in four dialects and shows that the results are the same.
#
# usage: examples/run.sh [TURNPIPE]     (default: the one on the PATH)
set -euo pipefail
cd "$(dirname "$0")/.."
turnpipe=${1:-turnpipe}

for dialect in anthropic openai gemini stream-events; do
  printf '%-14s' "$dialect"
  "$turnpipe" --quiet run-tools --no-echo < "examples/$dialect.jsonl" |
    grep -o '"outcome":"[a-z_]*"' |
    cut -d: -f2 | tr '\n' ' '
  echo
done
