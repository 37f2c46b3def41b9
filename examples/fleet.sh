#!/bin/sh
# Sessions of many machines, read by Spark and asked in DuckDB, against one process that reads them all.
#
#   fleet.sh [SESSIONS [FOLDER]]
#
# Makes SESSIONS sessions (2,000 unless given) of 40 machines in FOLDER, and installs pyspark and duckdb there, half a
# gigabyte. Needs Python, Java 17 and `turnpipe` on the PATH.
set -eu
cd "$(dirname "$0")/.."
folder=${2:-${TMPDIR:-/tmp}/turnpipe-fleet}
turnpipe=$(command -v turnpipe) || { echo "fleet.sh: there is no turnpipe on the PATH" >&2; exit 2; }
command -v java >/dev/null || { echo "fleet.sh: needs Java: apt-get install default-jre-headless" >&2; exit 2; }
python=$folder/bin/python
[ -x "$python" ] || python3 -m venv "$folder"
"$python" -c 'import duckdb, pyspark' 2>/dev/null || "$python" -m pip install --quiet duckdb pyspark

exec "$python" - "$turnpipe" "${1:-2000}" "$folder" <<'PYTHON'
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import uuid

import duckdb
import pyspark.sql

turnpipe, wanted, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
fleet, tables = folder / "fleet", folder / "tables"
MACHINES = 40
IDS = re.compile(r'("(?:\w*[iI]d|\w*[uU]uid|\w*Id)": ?")([^"]+)"')


def copy(text, number):
    """The session with ids of its own."""
    unlike = lambda match: f'{match[1]}{uuid.uuid5(uuid.NAMESPACE_OID, f"{number} {match[2]}")}"'
    return IDS.sub(unlike, text)


def make():
    """Sessions of three agents on each machine."""
    shutil.rmtree(fleet, ignore_errors=True)
    samples = pathlib.Path("tests/data/session")
    names = ["claude-parallel", "claude-compacted", "claude-repeated", "codex", "qwen-rewound", "claude-typed-beside-results"]
    samples = [(name, (samples / f"{name}.jsonl").read_text()) for name in names]
    for number in range(wanted):
        machine = fleet / f"machine-{number % MACHINES:02}"
        name, text = samples[number // MACHINES % len(samples)]
        text = copy(text, number)
        ids = re.search(r'"(?:id|session_?[iI]d)": ?"([0-9a-f-]{36})"', text)
        path = {
            "codex": f".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{ids[1]}.jsonl",
            "qwen-rewound": f".qwen/projects/p/chats/{ids[1]}.jsonl",
        }.get(name, f".claude/projects/p/{ids[1]}.jsonl")
        path = machine / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def alone(command):
    """What one process says about all machines."""
    words = [turnpipe, "session", *command.split(), "-o", "jsonl", "--root", str(fleet)]
    return [json.loads(line) for line in subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout.splitlines()]


make()
settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
spark = pyspark.sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
spark.sparkContext.setLogLevel("OFF")

# A partition is a machine, since forks repeat sessions of the same machine, and a process counts these once. Where
# the machines are on object storage, the loop copies one first: `aws s3 sync`, `hdfs dfs -get`.
WORKER = """
while read -r machine; do
  "$0" session {command} -o jsonl --root "$machine" 2>/dev/null | sed "s|^{{|{{\\"machine\\":\\"${{machine##*/}}\\",|"
done
"""
machines = sorted(str(path) for path in fleet.iterdir())
machines = spark.sparkContext.parallelize(machines, len(machines))
commands = {
    # Spark would guess the type of a list from its first members.
    "calls": ("calls", "machine string, session_id string, agent string, cwd string, subagent boolean, timestamp string, "
              "duration_ms bigint, tool_use_id string, tool string, about string, input string, outcome string, "
              "exit_status bigint, result_bytes bigint, "
              "files array<struct<path: string, added: bigint, removed: bigint>>"),
    "stats": ("stats --by session,model", "machine string, dimensions struct<session: string, model: string>, "
              "replies bigint, usage struct<input_tokens: bigint, output_tokens: bigint, cost_usd: double>"),
}
for table, (command, schema) in commands.items():
    started = time.monotonic()
    quoted = "'" + WORKER.format(command=command) + "'"
    records = machines.pipe(f"sh -c {quoted} {turnpipe}", env={"PATH": "/usr/bin:/bin"}, checkCode=True)
    spark.read.schema(schema).json(records).write.mode("overwrite").parquet(str(tables / table))
    print(f"{table}: written in {time.monotonic() - started:.0f} s")

    duckdb.sql(f"create view {table} as from '{tables}/{table}/*.parquet'")
ask = lambda query: duckdb.sql(query).fetchall()

calls = alone("calls")
asked = ask("select session_id, tool_use_id, tool, outcome, result_bytes from calls")
key = lambda row: tuple(str(value) for value in row)
told = [tuple(call.get(name) for name in ("session_id", "tool_use_id", "tool", "outcome", "result_bytes")) for call in calls]
assert sorted(asked, key=key) == sorted(told, key=key)
print(f"{len(asked)} calls on {ask('select count(distinct machine) from calls')[0][0]} machines, as one process lists them")

tokens = {}
for row in alone("stats --by model"):
    usage = row["usage"]
    tokens[row["dimensions"]["model"]] = (usage["input_tokens"], usage["output_tokens"])
asked = ask("select dimensions.model, sum(usage.input_tokens), sum(usage.output_tokens) from stats group by 1")
assert {model: counts for model, *counts in asked} == {model: list(counts) for model, counts in tokens.items()}
print(f"tokens of {len(tokens)} models, as one process counts them")

for question, query in {
    "failed calls by tool": "select tool, count(*) from calls where outcome <> 'ok' group by 1 order by 2 desc, 1 limit 3",
    "files changed most": "select f.path, count(*) from (select unnest(files) f from calls) group by 1 order by 2 desc, 1 limit 3",
    "sessions with most calls": "select machine, session_id, count(*) from calls group by 1, 2 order by 3 desc, 2 limit 2",
}.items():
    print(f"{question}: {ask(query)}")
PYTHON
