#!/usr/bin/env bash
# Executes a corpus of shell commands, whatever they do, in the parallel lane, and says what the
# kernel let through. Each runs in a sandbox of its own (bubblewrap).
#
# usage: benches/corpus.sh [OPTIONS of tests/corpus/run.py]
set -euo pipefail
cd "$(dirname "$0")/.."
command -v bwrap > /dev/null || { echo "needs bubblewrap: apt-get install bubblewrap" >&2; exit 2; }
cargo build --quiet
exec tests/corpus/run.py target/debug/turnpipe tests/data/shell/read_only.jsonl "$@"
