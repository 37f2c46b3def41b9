#!/usr/bin/env bash
# The durability plan in full size; small sizes are ordinary tests. Takes ten minutes or so.
#
# usage: benches/durability.sh [TEST...]      (the tests stand in benches/durability.py)
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet
TURNPIPE_TEST_ALL=1 cargo test --quiet --test summaries -- races
exec python3 benches/durability.py "$PWD/target/release/turnpipe" "$@"
