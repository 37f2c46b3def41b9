"""The durability plan in full size. usage: durability.py TURNPIPE [TEST...]

tests:
  killed      a recording killed at any moment, beside an agent that takes no lock (KILL_ROUNDS, 10,000);
              records fit into a page
  killed-large  the same with records of up to 60 KB too, which a child of the recording writes
  writers     eight recordings at once, 10,000 records each
  beside      the same beside an agent that takes no lock and writes 10,000 records
  full-disk   file systems that are full after every 64 bytes (root only: mounts tmpfs)
  limits      a limit of file sizes, and a file system that is read-only (root only)
  refused     links, pipes, devices, directories, second names, files of others: untouched

Ends with 1 if a promise was broken.
"""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

KILL_ROUNDS = int(os.environ.get("KILL_ROUNDS", "10000"))
RECORDS = int(os.environ.get("RECORDS", "10000"))


def record(number: int, size: int, writer: int = 0) -> str:
    return json.dumps({"type": "user", "uuid": f"{writer}-{number}",
                       "message": {"role": "user", "content": "x" * size}}) + "\n"


class Bench:
    def __init__(self, turnpipe: str, folder: pathlib.Path):
        self.turnpipe, self.folder = turnpipe, folder
        self.broken = 0

    def append(self, path, **options) -> subprocess.Popen:
        return subprocess.Popen([self.turnpipe, "--no-config", "session", "append", str(path), "--sync", "none"],
                                stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, **options)

    def check(self, what: str, holds: bool, figures: str) -> None:
        self.broken += not holds
        print(f"{what}: {'held' if holds else 'BROKEN'}; {figures}", flush=True)


def readable(path: pathlib.Path) -> list[dict]:
    """The whole records in a file, as the most simple-minded reader sees them."""
    records = []
    for line in path.read_bytes().split(b"\n"):
        try:
            records.append(json.loads(line))
        except ValueError:
            pass
    return records


class Agent(threading.Thread):
    """Appends to a file all the time, one write a record, and takes no lock."""

    def __init__(self, path: pathlib.Path):
        super().__init__()
        self.path, self.wrote, self.over = path, 0, threading.Event()

    def run(self) -> None:
        with open(self.path, "ab", buffering=0) as file:
            while not self.over.is_set():
                pad = "y" * (self.wrote * 7 % 300 if self.wrote % 20 else 9000)
                file.write(json.dumps({"type": "agent", "n": self.wrote, "pad": pad}).encode() + b"\n")
                self.wrote += 1
                time.sleep(0.0005)


SMALL, LARGE = [20, 200, 900, 3000], [20, 900, 5000, 60_000]


def recorded_until_killed(run: subprocess.Popen, rng: random.Random, round_number: int, sizes: list[int]) -> set[str]:
    """Hands over record after record, each once the last one was copied, which it is only after it
    was recorded; returns those that were."""
    killer = threading.Timer(rng.random() * 0.02, run.kill)
    # Nearly always while it is recording, now and then while it starts.
    first = rng.random() > 0.1
    if not first:
        killer.start()
    told = set()
    for number in range(10_000):
        try:
            run.stdin.write(record(number, rng.choice(sizes), round_number).encode())
            run.stdin.flush()
        except BrokenPipeError:
            break
        if not run.stdout.readline().endswith(b"\n"):
            break
        told.add(f"{round_number}-{number}")
        if first and number == 0:
            killer.start()
    run.wait()
    if first and not told:
        killer.start()
    killer.join()
    run.stdout.close()
    try:
        run.stdin.close()
    except BrokenPipeError:
        pass
    return told


def killed(bench: Bench, sizes: list[int] = SMALL) -> None:
    path, rng = bench.folder / "killed.jsonl", random.Random(5)
    rounds = acknowledged = lost = twice = agent_wrote = agent_lost = reported = 0
    begun = time.perf_counter()
    while rounds < KILL_ROUNDS:
        # A file of its own for every hundred rounds: it is read from its start.
        path.unlink(missing_ok=True)
        bench.append(path, stdout=subprocess.DEVNULL).communicate(record(0, 10, -1).encode())
        told: set[str] = set()
        agent = Agent(path)
        agent.start()
        for _ in range(min(100, KILL_ROUNDS - rounds)):
            rounds += 1
            told |= recorded_until_killed(bench.append(path, stdout=subprocess.PIPE), rng, rounds, sizes)
        agent.over.set()
        agent.join()
        records = readable(path)
        found = [entry["uuid"] for entry in records if entry["type"] == "user"]
        acknowledged += len(told)
        lost += len(told - set(found))
        twice += len(found) - len(set(found))
        report = subprocess.run([bench.turnpipe, "--no-config", "session", "check", str(path)], stdout=subprocess.PIPE, check=False)
        findings = [json.loads(line) for line in report.stdout.splitlines()]
        # The agent here writes records of a kind of its own.
        reported += sum(finding["type"] == "session_damage" and finding["kind"] != "unknown_kind" for finding in findings)
        agent_wrote += agent.wrote
        agent_lost += agent.wrote - sum(entry["type"] == "agent" for entry in records)
    few = agent_lost <= min(reported, max(1, rounds // 10_000))
    bench.check("killed" if sizes == SMALL else "killed-large", lost == 0 and twice == 0 and few,
                f"{rounds} kills; {acknowledged} records acknowledged, {lost} lost, {twice} twice; of {agent_wrote} of the "
                f"agent's {agent_lost} lost, {reported} damages reported; {time.perf_counter() - begun:.0f} s")


def killed_large(bench: Bench) -> None:
    killed(bench, LARGE)


def at_once(bench: Bench, path: pathlib.Path) -> list[subprocess.Popen]:
    runs = []
    for writer in range(8):
        stream = bench.folder / f"stream-{writer}"
        rng = random.Random(writer)
        stream.write_text("".join(record(n, rng.randrange(20, 400), writer) for n in range(RECORDS)))
        runs.append(subprocess.Popen([bench.turnpipe, "--no-config", "session", "append", str(path), "--sync", "none", "--no-echo"],
                                     stdin=open(stream), stderr=subprocess.DEVNULL))
    return runs


def in_order(records: list[dict]) -> bool:
    following = [0] * 8
    for entry in records:
        writer, number = map(int, entry["uuid"].split("-"))
        if number != following[writer]:
            return False
        following[writer] += 1
    return following == [RECORDS] * 8


def writers(bench: Bench) -> None:
    path, begun = bench.folder / "writers.jsonl", time.perf_counter()
    statuses = [run.wait() for run in at_once(bench, path)]
    holds = statuses == [0] * 8 and in_order(readable(path))
    bench.check("writers", holds, f"8 x {RECORDS} records in {time.perf_counter() - begun:.0f} s")


def beside(bench: Bench) -> None:
    path, begun = bench.folder / "beside.jsonl", time.perf_counter()
    subprocess.run([bench.turnpipe, "--no-config", "session", "append", str(path)], input=record(0, 10, 9).encode(),
                   stdout=subprocess.DEVNULL, check=True)
    runs = at_once(bench, path)
    with open(path, "ab", buffering=0) as agent:
        for number in range(RECORDS):
            agent.write(json.dumps({"type": "agent", "n": number}).encode() + b"\n")
            time.sleep(0)
    statuses = [run.wait() for run in runs]
    records = readable(path)
    agents = [entry["n"] for entry in records if entry["type"] == "agent"]
    ours = [entry for entry in records if entry["type"] != "agent"][1:]
    holds = statuses == [0] * 8 and agents == list(range(RECORDS)) and in_order(ours)
    bench.check("beside", holds, f"8 x {RECORDS} of ours and {len(agents)} of the agent's in {time.perf_counter() - begun:.0f} s")


def full_disk(bench: Bench) -> None:
    place, rounds, good = bench.folder / "small", 0, 0
    place.mkdir()
    for room in range(0, 8192 + 1, 64):
        rounds += 1
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", place], check=True)
        path = place / "s.jsonl"
        first = bench.append(path, stdout=subprocess.DEVNULL)
        first.communicate(record(0, 50).encode())
        (place / "filler").write_bytes(b"x" * (12288 - room if room < 8192 else 4096))
        second = bench.append(path, stdout=subprocess.DEVNULL)
        second.communicate("".join(record(n, 700, 1) for n in range(30)).encode())
        (place / "filler").unlink()
        third = bench.append(path, stdout=subprocess.DEVNULL)
        third.communicate(record(0, 50, 2).encode())
        uuids = [entry["uuid"] for entry in readable(path)]
        ours = [uuid for uuid in uuids if uuid.startswith("1-")]
        good += (first.returncode, second.returncode, third.returncode) == (0, 74, 0) and uuids[0] == "0-0" \
            and uuids[-1] == "2-0" and ours == [f"1-{n}" for n in range(len(ours))]
        subprocess.run(["umount", place], check=True)
    bench.check("full-disk", good == rounds, f"{good} of {rounds}: status 74, nothing glued, the next record readable")


def limits(bench: Bench) -> None:
    path = bench.folder / "limited.jsonl"

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    run = bench.append(path, stdout=subprocess.DEVNULL, preexec_fn=limited)
    run.communicate("".join(record(n, 700) for n in range(20)).encode())
    after = bench.append(path, stdout=subprocess.DEVNULL)
    after.communicate(record(0, 50, 1).encode())
    uuids = [entry["uuid"] for entry in readable(path)]
    holds = run.returncode == 74 and after.returncode == 0 and uuids[-1] == "1-0"
    place = bench.folder / "read-only"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
    (place / "s.jsonl").write_bytes(path.read_bytes())
    subprocess.run(["mount", "-o", "remount,ro", place], check=True)
    refused = bench.append(place / "s.jsonl", stdout=subprocess.DEVNULL)
    refused.communicate(record(0, 50, 2).encode())
    subprocess.run(["umount", place], check=True)
    holds = holds and refused.returncode in (2, 74)
    bench.check("limits", holds, f"limit of 5,000 bytes: {run.returncode}, then {after.returncode}; read-only: {refused.returncode}")


def refused(bench: Bench) -> None:
    place = bench.folder / "refused"
    place.mkdir()
    target = place / "target.jsonl"
    target.write_text(record(0, 10).replace('"type"', '"turnpipe": {"v": 1}, "type"'))
    before = target.read_bytes()
    (place / "link").symlink_to(target)
    (place / "dangling").symlink_to(place / "nowhere")
    os.link(target, place / "second")
    os.mkfifo(place / "pipe")
    os.mknod(place / "zero", 0o600 | 0o020000, os.makedev(1, 5))
    foreign = place / "foreign.jsonl"
    foreign.write_bytes(before)
    os.chown(foreign, 12345, 12345)
    names = ["link", "dangling", "second", "target.jsonl", "pipe", "zero", ".", "foreign.jsonl"]
    statuses = {}
    for name in names:
        run = bench.append(place / name, stdout=subprocess.DEVNULL)
        try:
            run.communicate(record(1, 10).encode(), timeout=20)
        except subprocess.TimeoutExpired:
            run.kill()
        statuses[name] = run.returncode
    untouched = target.read_bytes() == before and foreign.read_bytes() == before and not (place / "nowhere").exists()
    bench.check("refused", untouched and set(statuses.values()) == {2}, f"{statuses}")


def main() -> None:
    tests = {"killed": killed, "killed-large": killed_large, "writers": writers, "beside": beside, "full-disk": full_disk, "limits": limits, "refused": refused}
    with tempfile.TemporaryDirectory(dir=os.environ.get("TURNPIPE_BENCH_FOLDER")) as folder:
        bench = Bench(sys.argv[1], pathlib.Path(folder))
        for name in sys.argv[2:] or tests:
            if name in ("full-disk", "limits", "refused") and os.geteuid() != 0:
                print(f"{name}: left out, needs root")
                continue
            tests[name](bench)
    sys.exit(bench.broken > 0)


main()
