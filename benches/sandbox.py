"""What a sandbox costs. usage: sandbox.py TURNPIPE [ROUNDS]

start: one command without a sandbox (posix_spawn), in `turnpipe sandbox`, in bwrap and in sandbox-runtime (`srt`), the
last two if they are installed, with 5 masked files. calls: each further call of `run-tools` without and with masks.
Medians in milliseconds of wall time, alternating, and their ratios to the first.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def timed(arguments, **options):
    begun = time.perf_counter()
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, **options)
    return (time.perf_counter() - begun) * 1000


def spawned():
    begun = time.perf_counter()
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(pid, 0)
    return (time.perf_counter() - begun) * 1000


def compare(title, ways, rounds):
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            times[name].append(way())
    first = None
    print(title)
    for name, values in times.items():
        median = statistics.median(values)
        first = first or median
        print(f"  {name:34} {median:8.2f} ms  {median / first:6.2f}")


def calls(turnpipe, count, folder, rules):
    """Milliseconds of a call in a run of `count`: the longest part of a run is its start, which is left out."""
    def run(number):
        lines = [json.dumps({"type": "tool_use", "id": f"c{index}", "name": "Probe", "input": {}})
                 for index in range(number)]
        # The same environment for all, since `run-tools` reads it.
        return timed([turnpipe, "--no-config", "run-tools", "--no-echo", "--tools", "tools.toml",
                      "--permission-mode", "bypassPermissions", *rules],
                     input="\n".join(lines).encode() + b"\n", cwd=folder)
    return (run(count) - run(1)) / (count - 1)


def main():
    turnpipe = str(pathlib.Path(sys.argv[1]).resolve())
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    folder = pathlib.Path(tempfile.mkdtemp())
    for number in range(5):
        (folder / f"k{number}.pem").write_text("secret")
    (folder / "many").mkdir()
    for number in range(1000):
        (folder / "many" / f"k{number}.key").write_text("secret")
    (folder / "tools.toml").write_text(
        '[[tool]]\nname = "Probe"\ndescription = "d"\ncommand = ["/bin/true"]\n')
    home = {"HOME": str(folder), "PATH": os.environ["PATH"]}
    ways = {
        "posix_spawn": spawned,
        "turnpipe --version": lambda: timed([turnpipe, "--version"], env=home),
        "turnpipe sandbox, 5 masks": lambda: timed(
            [turnpipe, "--no-config", "sandbox", "--mode", "files", "--deny-read", "*.pem", "--", "/bin/true"], cwd=folder, env=home),
        "turnpipe sandbox, 1,000 masks": lambda: timed(
            [turnpipe, "--no-config", "sandbox", "--mode", "files", "--deny-read", "*.key", "--", "/bin/true"], cwd=folder,
            env=home),
        "turnpipe sandbox, workspace, 5 masks": lambda: timed(
            [turnpipe, "--no-config", "sandbox", "--deny-read", "*.pem", "--", "/bin/true"], cwd=folder, env=home),
    }
    if shutil.which("bwrap"):
        masks = [word for number in range(5)
                 for word in ("--ro-bind", "/dev/null", str(folder / f"k{number}.pem"))]
        ways["bwrap, 5 masks"] = lambda: timed(
            ["bwrap", "--dev-bind", "/", "/", *masks, "--", "/bin/true"], env=home)
    if shutil.which("srt"):
        settings = folder / "srt.json"
        settings.write_text(json.dumps({
            "network": {"allowedDomains": [], "deniedDomains": []},
            "filesystem": {"denyRead": [str(folder / f"k{number}.pem") for number in range(5)],
                           "allowWrite": [str(folder)], "denyWrite": []}}))
        ways["sandbox-runtime, 5 masks"] = lambda: timed(
            ["srt", "--settings", str(settings), "true"], env=home, stderr=subprocess.DEVNULL)
    compare("start", ways, rounds)
    count = 100
    compare("calls", {
        "without rules": lambda: calls(turnpipe, count, folder, []),
        "5 masks": lambda: calls(turnpipe, count, folder, ["--deny", "Read(*.pem)"]),
        "1,000 masks": lambda: calls(turnpipe, count, folder, ["--deny", "Read(*.key)"]),
        "workspace": lambda: calls(turnpipe, count, folder, ["--sandbox", "workspace"]),
    }, max(5, rounds // 5))
    shutil.rmtree(folder)


main()
