#!/usr/bin/env bash
# Measures turnpipe beside what people use today: both sides in one run, alternating, medians.
#
# usage: benches/compare.sh [SECTION...]
#   start-up      how long a command takes that has nothing to do, beside `jq --version`
#   no-op-calls   10,000 calls that each start a process, beside `xargs -P10 -n1 true`
#   makespan      mixed turns, beside the first-in-first-out schedule of the rule
#   flood         a tool that never stops printing, until its timeout
#   pass-through  unknown records, in bytes a second
#   title-look-up the last title of session files of 1 MB to 4 GB, beside `tac | grep -m1` and `rg`
#   tail          the last 20 records of 4 GB, beside `tail -n 20`
#   list          10,000 sessions, beside a program that reads the ends of each file, and node; a page of 20
#
# The last three need 6 GB in TURNPIPE_BENCH_FOLDER, or where temporary files go. Without one of
# them as an argument they are left out.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --quiet
# A copy, as `cargo install` makes one: what the linker wrote bit by bit lies in the page cache in
# smaller pieces than a copy, and starts a tenth slower.
turnpipe=$PWD/target/turnpipe-measured
cp target/release/turnpipe "$turnpipe"

start_up() {
  command -v jq >/dev/null || { echo "start-up: needs jq" >&2; exit 2; }
  python3 benches/start_up.py "$turnpipe"
}

[ $# -gt 0 ] || set -- start-up no-op-calls makespan flood pass-through
for section in "$@"; do
  echo "== $section"
  case $section in
    start-up) start_up ;;
    no-op-calls | makespan | flood | pass-through) python3 benches/run_tools.py "$turnpipe" "$section" ;;
    title-look-up | tail | list) python3 benches/sessions.py "$turnpipe" "$section" ;;
    *) echo "unknown section: $section" >&2; exit 2 ;;
  esac
done
