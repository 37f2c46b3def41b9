"""Measures `summarize-batch` on a stream of 1 GB. usage: labels.py TURNPIPE [GIGABYTES]

Batches of two calls, one with a result of 12 KB and one with 4 KB: lines of a program, as tools give
them back, with the escapes that such lines need in JSON.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5
LINES = [
    "fn main() -> anyhow::Result<()> {",
    "    let path = std::env::args().nth(1).context(\"usage: count FILE\")?;",
    "    let text = std::fs::read_to_string(&path)?;",
    "    let words = text.split_whitespace().filter(|word| !word.is_empty()).count();",
    "    // A word is whatever stands between blanks; see the notes on units in README.md.",
    "    println!(\"{words} words in {path}\");",
    "    Ok(())",
    "}",
    "",
]


def program(size: int, first: int) -> str:
    lines, length, number = [], 0, first
    while length < size:
        lines.append(f"{number:6}\t{LINES[number % len(LINES)]}")
        length += len(lines[-1]) + 1
        number += 1
    return "\n".join(lines)[:size]


def batch(number: int) -> str:
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "stop_reason": None}
    ids = [f"toolu_{number}_{call}" for call in (0, 1)]
    read = {"type": "tool_use", "id": ids[0], "name": "Read", "input": {"file_path": f"src/part{number % 97}.rs"}}
    run = {"type": "tool_use", "id": ids[1], "name": "Bash", "input": {"command": "cargo test", "description": "Run the tests"}}
    said = {"type": "text", "text": f"I look at part {number} and run the tests."}
    records = [{"type": "assistant", "message": message | {"content": [block]}, "session_id": "s"} for block in (said, read, run)]
    for id, size in zip(ids, (12_000, 4_000)):
        result = {"type": "tool_result", "tool_use_id": id, "content": program(size, number % len(LINES))}
        records.append({"type": "user", "message": {"role": "user", "content": [result]}, "session_id": "s"})
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


def stream(path: pathlib.Path, size: int) -> None:
    kinds = [batch(number) for number in range(1000)]
    written = number = 0
    with open(path, "w") as file:
        while written < size:
            # Ids must differ: only their number is exchanged.
            lines = kinds[number % 1000].replace(f"_{number % 1000}_", f"_{number}_").replace(f"msg_{number % 1000}\"", f"msg_{number}\"")
            file.write(lines)
            written += len(lines)
            number += 1
    print(f"{written / 1e9:.2f} GB, {number} batches")


def measured(argv: list[str], source: pathlib.Path, sink: str) -> tuple[float, float, int]:
    """Seconds on the wall, seconds of processors, the largest resident set in KiB."""
    with open(source) as stdin, open(sink, "w") as stdout:
        begin = time.perf_counter()
        child = subprocess.Popen(argv, stdin=stdin, stdout=stdout, env={"PATH": os.environ["PATH"]})
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
    assert status == 0, (argv, status)
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main() -> None:
    turnpipe = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "stream"
        stream(source, int(float(sys.argv[2] if len(sys.argv) > 2 else 1) * 1e9))
        size = source.stat().st_size
        base = [turnpipe, "--no-config", "summarize-batch"]
        modes = {
            "bodies of requests (`--dry-run --no-echo`)": [*base, "--model", "openai:m", "--dry-run", "--no-echo"],
            "labels by the built-in rules": [*base, "--model", "builtin"],
        }
        everywhere = os.sched_getaffinity(0)
        for what, argv in modes.items():
            for where, cores in {"one core": {max(everywhere)}, "all cores": everywhere}.items():
                os.sched_setaffinity(0, cores)
                runs = [measured(argv, source, "/dev/null") for _ in range(ROUNDS)]
                wall, used = (statistics.median(run[place] for run in runs) for place in (0, 1))
                print(f"{what}, {where}: {wall:.2f} s, {size / wall / 1e9:.2f} GB/s; "
                      f"{used:.2f} s of processors; {max(run[2] for run in runs) / 1024:.0f} MB")


main()
