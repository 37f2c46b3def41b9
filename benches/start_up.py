"""Start-up times: alternating runs in random order, medians and ratios to `jq --version`."""

import os
import random
import shutil
import statistics
import sys
import time

ROUNDS = 2000


def seconds(command):
    """The wall time of one run without input, output or environment."""
    files = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
    ]
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, {}, file_actions=files)
    _, status = os.waitpid(child, 0)
    elapsed = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{command} ended with {status}")
    return elapsed


def main():
    turnpipe = sys.argv[1]
    commands = {
        "jq --version": [shutil.which("jq"), "--version"],
        "turnpipe --version": [turnpipe, "--version"],
        "turnpipe check text": [turnpipe, "check", "text", "--kind", "terminal"],
        "turnpipe run-tools": [turnpipe, "run-tools"],
        "true": [shutil.which("true")],
    }
    times = {name: [] for name in commands}
    for _ in range(ROUNDS):
        names = list(commands)
        random.shuffle(names)
        for name in names:
            times[name].append(seconds(commands[name]))
    reference = statistics.median(times["jq --version"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:24}{median * 1000:8.3f} ms{median / reference:8.2f} x jq")


if __name__ == "__main__":
    main()
