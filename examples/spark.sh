#!/bin/sh
# `rdd.pipe` on a local Spark: every input has its record, in its place, and only what is wrong with the
# whole command fails the job.
#
#   spark.sh [FOLDER]
#
# Installs pyspark in FOLDER, half a gigabyte. Needs Python, Java 17 and `turnpipe` on the PATH.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-${TMPDIR:-/tmp}/turnpipe-spark}
turnpipe=$(command -v turnpipe) || { echo "spark.sh: there is no turnpipe on the PATH" >&2; exit 2; }
command -v java >/dev/null || { echo "spark.sh: needs Java: apt-get install default-jre-headless" >&2; exit 2; }
python=$folder/bin/python
[ -x "$python" ] || python3 -m venv "$folder"
"$python" -c 'import pyspark' 2>/dev/null || "$python" -m pip install --quiet pyspark

exec "$python" - "$turnpipe" <<'PYTHON'
import json
import pathlib
import sys

import pyspark

turnpipe = sys.argv[1]
settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
spark = pyspark.SparkContext("local[4]", "turnpipe", conf=pyspark.SparkConf().setAll(settings.items()))
spark.setLogLevel("OFF")


def piped(records, command):
    """What a process for each partition prints, with nothing in its environment."""
    return records.pipe(f"{turnpipe} {command}", env={}, checkCode=True)


# Every thousandth record is damaged. Two of the partitions are empty.
commands = ['"rm -r build' if n % 1000 == 0 else json.dumps({"command": f"head -n {n} log"}) for n in range(50_000)]
records = spark.parallelize(commands, 8).union(spark.parallelize([], 2))
checked = piped(records, "check shell")
pairs = [(record, json.loads(answer)) for record, answer in records.zip(checked).collect()]
assert [record for record, _ in pairs] == commands
bad = [record for record, answer in pairs if "error" in answer]
assert bad == ['"rm -r build'] * 50
assert all(answer["command"] in record for record, answer in pairs if "command" in answer)
print(f"check shell: {len(pairs)} records, {len(pairs)} answers in their places, {len(bad)} of them errors")

paths = sorted(str(path.resolve()) for path in pathlib.Path("tests/data/session").glob("*.jsonl"))
paths.insert(3, "/none.jsonl")
sessions = spark.parallelize([json.dumps({"type": "session", "path": path}) for path in paths], 4)
for command in ["title --model builtin -o jsonl", "recap --model builtin -o jsonl", "session check --summary -o jsonl -"]:
    answers = [json.loads(answer) for answer in piped(sessions, command).collect()]
    assert [answer["path"] for answer in answers] == paths
    errors = sum(1 for answer in answers if "error" in answer)
    assert errors == 1
    print(f"{command}: {len(paths)} sessions, {len(answers)} answers in their places, {errors} of them an error")

try:
    piped(spark.parallelize(commands[1:2], 1), "check shell --no-such-option").count()
    sys.exit("a command that cannot run did not fail the job")
except Exception as error:
    reason = next(line for line in str(error).splitlines() if "error code 2" in line)
    print("check shell --no-such-option: the job fails:", reason.strip())
print(f"pyspark {pyspark.__version__}")
PYTHON
