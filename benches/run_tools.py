"""Measures `run-tools` on whole runs. usage: run_tools.py TURNPIPE SECTION

sections:
  no-op-calls   10,000 calls that each start a process, beside `xargs -P10 -n1 true`
  makespan      mixed turns, beside the first-in-first-out schedule of the rule
  flood         a tool that never stops printing, until its timeout
  pass-through  unknown records through a file, in bytes a second
"""

import heapq
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5
CAP = 10


def manifest(folder: pathlib.Path) -> str:
    tool = """
[[tool]]
name = "{name}"
description = "Waits."
input_schema = {{ type = "object", properties = {{ seconds = {{ type = "string" }} }} }}
command = {command}
access = "{access}"
"""
    sleep = '["sleep", "{seconds}"]'
    text = (
        tool.format(name="Noop", command='["true"]', access="read-only")
        + tool.format(name="Look", command=sleep, access="read-only")
        + tool.format(name="Change", command=sleep, access="world")
    )
    path = folder / "tools.toml"
    path.write_text(text)
    return str(path)


def calls(kinds: list[tuple[str, float]]) -> str:
    return "".join(
        json.dumps({"type": "tool_use", "id": f"call_{n}", "name": name, "input": {"seconds": str(seconds)} if seconds else {}}) + "\n"
        for n, (name, seconds) in enumerate(kinds)
    )


def processes() -> int:
    """Processes started since the machine is up."""
    for line in open("/proc/stat"):
        if line.startswith("processes "):
            return int(line.split()[1])
    return 0


def timed(argv: list[str], source: str, sink) -> tuple[float, int]:
    """Seconds, and the largest resident set of any of them in KiB."""
    with open(source) as stdin:
        begin = time.perf_counter()
        child = subprocess.Popen(argv, stdin=stdin, stdout=sink, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
    assert status == 0, (argv, status)
    return seconds, usage.ru_maxrss


def watched(argv: list[str], source: str, sink) -> dict[str, list[int]]:
    """Descriptors, threads and zombie children while it runs, every 50 ms."""
    seen: dict[str, list[int]] = {"descriptors": [], "threads": [], "zombies": []}
    with open(source) as stdin:
        child = subprocess.Popen(argv, stdin=stdin, stdout=sink, stderr=subprocess.DEVNULL)
        while child.poll() is None:
            try:
                base = f"/proc/{child.pid}"
                states = [open(f"/proc/{kid}/stat").read().rsplit(")", 1)[1].split()[0]
                          for task in os.listdir(f"{base}/task")
                          for kid in open(f"{base}/task/{task}/children").read().split()]
                seen["descriptors"].append(len(os.listdir(f"{base}/fd")))
                seen["threads"].append(len(os.listdir(f"{base}/task")))
                seen["zombies"].append(states.count("Z"))
            except OSError:
                pass  # a process came or went while it was looked at
            time.sleep(0.05)
    return seen


def flood(turnpipe: str, folder: pathlib.Path) -> None:
    source = folder / "calls"
    source.write_text(json.dumps({"type": "tool_use", "id": "a", "name": "Bash",
                                  "input": {"command": "yes", "timeout": 3000}}) + "\n")
    argv = [turnpipe, "--no-config", "run-tools", "--permission-mode", "bypassPermissions"]
    with open(folder / "out", "w") as sink:
        seconds, _ = timed(argv, str(source), sink)
    with open(source) as stdin:
        child = subprocess.Popen(argv, stdin=stdin, stdout=subprocess.DEVNULL)
        peak = 0
        while child.poll() is None:
            try:
                for line in open(f"/proc/{child.pid}/status"):
                    if line.startswith("VmHWM"):
                        peak = max(peak, int(line.split()[1]))
            except OSError:
                pass  # it has just ended
            time.sleep(0.02)
    print(f"`yes` with a timeout of 3 s: {seconds:.2f} s, peak memory {peak / 1024:.0f} MB")


def no_op_calls(turnpipe: str, folder: pathlib.Path) -> None:
    count = 10_000
    source, lines = folder / "calls", folder / "lines"
    source.write_text(calls([("Noop", 0)] * count))
    lines.write_text("".join(f"{n}\n" for n in range(count)))
    argv = [turnpipe, "--no-config", "run-tools", "--tools", manifest(folder), *sys.argv[3:]]
    ours, theirs, memory, started = [], [], 0, 0
    for _ in range(ROUNDS):
        before = processes()
        with open(folder / "out", "w") as sink:
            seconds, peak = timed(argv, str(source), sink)
        started = processes() - before
        ours.append(seconds)
        memory = max(memory, peak)
        done = sum(1 for line in open(folder / "out") if '"outcome":"ok"' in line)
        assert done == count, done
        theirs.append(timed(["xargs", "-P10", "-n1", "true"], str(lines), subprocess.DEVNULL)[0])
    seen = watched(argv, str(source), subprocess.DEVNULL)
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    print(f"{count} calls, {started} processes: {statistics.median(ours):.2f} s, "
          f"xargs {statistics.median(theirs):.2f} s, ratio {ratio:.2f}, peak memory {memory / 1024:.0f} MB")
    for what, numbers in seen.items():
        third = max(1, len(numbers) // 3)
        print(f"  {what}: at most {max(numbers[:third])} in the first third, {max(numbers[-third:])} in the last")


def fifo(kinds: list[tuple[str, float]]) -> float:
    """The makespan if every call starts the moment the rule lets it, and takes its time exactly."""
    now = 0.0
    batch: list[float] = []

    def end_batch() -> float:
        slots = [0.0] * CAP
        for seconds in batch:
            heapq.heapreplace(slots, slots[0] + seconds)
        batch.clear()
        return max(slots)

    for name, seconds in kinds:
        if name == "Look":
            batch.append(seconds)
        else:
            now += end_batch() + seconds
    return now + end_batch()


MIXES = {
    "six": [("Look", 0.05)] * 3 + [("Change", 0.2), ("Look", 0.05), ("Change", 0.02)],
    "wide": [("Look", 0.05)] * 100,
    "long first": [("Look", 0.4)] + [("Look", 0.04)] * 40,
    "long last": [("Look", 0.04)] * 40 + [("Look", 0.4)],
    "alternating": [("Look", 0.01), ("Change", 0.01)] * 50,
}


def alone(seconds: float) -> float:
    """What `sleep` really takes for so long, started by nothing but `posix_spawn` and waited for."""
    begin = time.perf_counter()
    child = os.posix_spawnp("sleep", ["sleep", str(seconds)], os.environ)
    os.waitpid(child, 0)
    return time.perf_counter() - begin


def makespan(turnpipe: str, folder: pathlib.Path) -> None:
    argv = [turnpipe, "--no-config", "run-tools", "--tools", manifest(folder),
            "--permission-mode", "bypassPermissions", *sys.argv[3:]]
    for name, kinds in MIXES.items():
        source = folder / "calls"
        source.write_text(calls(kinds))
        lengths = {seconds for _, seconds in kinds}
        runs: list[float] = []
        lone: dict[float, list[float]] = {seconds: [] for seconds in lengths}
        for _ in range(ROUNDS):
            runs.append(timed(argv, str(source), subprocess.DEVNULL)[0])
            for seconds in lengths:
                lone[seconds] += [alone(seconds) for _ in range(max(1, int(0.2 / seconds)))]
        took = statistics.median(runs)
        real = {seconds: statistics.median(times) for seconds, times in lone.items()}
        print(f"{name:12} {len(kinds):4} calls: {took:.3f} s")
        for what, ideal in (("asked for", fifo(kinds)), ("alone", fifo([(tool, real[seconds]) for tool, seconds in kinds]))):
            allowed = 1.05 * ideal + 0.001 * len(kinds)
            print(f"    schedule of the times {what:9}: {ideal:.3f} s, allowed {allowed:.3f} s, "
                  f"{'held' if took <= allowed else 'NOT held'}")


def pass_through(turnpipe: str, folder: pathlib.Path) -> None:
    record = {"type": "telemetry_event", "name": "render", "uuid": "0b2f6e3e-7c1f-4a55-9d5e-2f8f0f3f2b11",
              "attributes": {"text": "The quick brown fox jumps over the lazy dog. " * 12, "count": 3, "flags": [True, None, 1.5]}}
    block = (json.dumps(record, separators=(",", ":")) + "\n") * 1000
    source = folder / "records"
    with open(source, "w") as file:
        for _ in range(1500):
            file.write(block)
    size = source.stat().st_size
    for sink in ("/dev/null", str(folder / "copy")):
        runs, memory = [], 0
        for _ in range(ROUNDS):
            with open(sink, "w") as output:
                seconds, peak = timed([turnpipe, "--no-config", "run-tools"], str(source), output)
            runs.append(seconds)
            memory = max(memory, peak)
        print(f"{size / 1e9:.2f} GB to {'/dev/null' if sink == '/dev/null' else 'a file'}: "
              f"{size / statistics.median(runs) / 1e9:.2f} GB/s, peak memory {memory / 1024:.0f} MB")
    same = subprocess.run(["cmp", str(source), str(folder / "copy")]).returncode == 0
    print("byte-identical" if same else "CHANGED")


def main() -> None:
    sections = {"no-op-calls": no_op_calls, "makespan": makespan, "flood": flood, "pass-through": pass_through}
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        sections[sys.argv[2]](sys.argv[1], pathlib.Path(folder))


main()
