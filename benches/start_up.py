"""Start-up times: alternating runs in random order, medians and ratios to `jq --version`.

usage: start_up.py TURNPIPE...
"""

import json
import os
import pathlib
import random
import shutil
import statistics
import sys
import tempfile
import time

ROUNDS = int(os.environ.get("ROUNDS", "2000"))
CALL = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "npm run test -- --all"}}
# A third each of commands, files to read and files to change.
RULES = {
    "allow": ["Bash(npm run test:*)", "Edit(src/**)"] + [f"Bash(tool{number} run *)" for number in range(18)],
    "ask": [f"Bash(git push origin{number}:*)" for number in range(4)] + [f"Edit(docs/{number}/**)" for number in range(16)],
    "deny": [f"Read(./secrets/{number}/*.key)" for number in range(18)] + ["Read(~/.ssh/**)", "Read(.env)"],
}


def seconds(command, stdin):
    """The wall time and CPU time of one run without environment."""
    files = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
    ]
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, {}, file_actions=files)
    _, status, used = os.wait4(child, 0)
    elapsed = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{command} ended with {status}")
    return elapsed, used.ru_utime + used.ru_stime


def commands(folder):
    """The commands, with their standard input."""
    call, settings = folder / "call.json", folder / "settings.json"
    call.write_text(json.dumps(CALL | {"cwd": str(folder)}))
    settings.write_text(json.dumps({"permissions": RULES}))
    hook = ["hook", "pre-tool-use"]
    for turnpipe in map(os.path.abspath, sys.argv[1:]):
        yield [turnpipe, "--version"], os.devnull
        yield [turnpipe, "check", "text", "--kind", "terminal"], os.devnull
        yield [turnpipe, "run-tools"], os.devnull
        yield [turnpipe, *hook], call
        yield [turnpipe, *hook, "--settings", str(settings)], call
    yield [shutil.which("jq"), "--version"], os.devnull
    yield [shutil.which("true")], os.devnull


def main():
    with tempfile.TemporaryDirectory() as folder:
        rows = list(commands(pathlib.Path(folder)))
        times = [[] for _ in rows]
        for _ in range(ROUNDS):
            for number in random.sample(range(len(rows)), len(rows)):
                times[number].append(seconds(*rows[number]))
    medians = [[statistics.median(one) * 1000 for one in zip(*taken)] for taken in times]
    reference = medians[-2][0]
    for (command, _), (wall, used) in zip(rows, medians):
        name = " ".join(os.path.basename(word) if "settings.json" in word else word for word in command)
        print(f"{wall:7.3f} ms {used:7.3f} ms CPU {wall / reference:6.2f} x jq  {name}")


if __name__ == "__main__":
    main()
