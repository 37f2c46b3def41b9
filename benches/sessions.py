"""Measures the reading of session files. usage: sessions.py TURNPIPE SECTION

sections:
  title-look-up  the last title of files of 1 MB to 4 GB, beside `tac | grep -m1` and `rg -c -F`
  tail           the last 20 records of 4 GB, beside `tail -n 20`
  list           10,000 sessions, beside a program that reads 64 KiB from each end of each file, and
                 Qwen Code's algorithm in node; a page of 20, beside readdir and stat

TURNPIPE_BENCH_FOLDER names a folder with 6 GB to spare, on a disk that is usual for session files;
what is written there is deleted at the end.
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import generate_sessions

HERE = pathlib.Path(__file__).parent
NEEDLE = '"subtype":"custom_title"'
LARGE = 4 << 30
SIZES = {"1 MB": 1 << 20, "1 GB": 1 << 30, "4 GB": LARGE}


class Bench:
    def __init__(self, turnpipe: str, folder: pathlib.Path):
        self.turnpipe = [turnpipe, "--no-config"]
        self.folder = folder
        # A file, since GNU grep stops at the first match when its output is /dev/null.
        self.sink = open(folder / "output", "wb+")

    def once(self, argv: list[str]) -> tuple[float, float]:
        """Seconds on the wall, and of processor time."""
        self.sink.seek(0)
        self.sink.truncate()
        files = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, self.sink.fileno(), 1)]
        begin = time.perf_counter()
        child = os.posix_spawnp(argv[0], argv, os.environ, file_actions=files, setsigdef=[13])
        _, status, usage = os.wait4(child, 0)
        seconds = time.perf_counter() - begin
        assert os.waitstatus_to_exitcode(status) in (0, 1), argv
        return seconds, usage.ru_utime + usage.ru_stime

    def memory(self, argv: list[str]) -> int:
        """The largest resident set in KiB. A process begins with that of whoever started it, so it must be a small one."""
        starter = ("import os,sys\nos.dup2(os.open(os.devnull,1),1)\n"
                   "child=os.posix_spawnp(sys.argv[1],sys.argv[1:],os.environ)\n"
                   "print(os.wait4(child,0)[2].ru_maxrss,file=sys.stderr)")
        run = subprocess.run([sys.executable, "-ISc", starter, *argv], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True)
        return int(run.stderr)

    def output(self, argv: list[str]) -> str:
        return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False).stdout.decode()

    def compare(self, what: str, peer: list[str], ours: dict[str, tuple[list[str], float]], rounds: int) -> None:
        """Alternates; prints medians, and the medians of the ratios of a round, beside the goals."""
        names = ["peer", *ours]
        commands = {"peer": peer} | {name: argv for name, (argv, _) in ours.items()}
        times = {name: [] for name in names}
        for round_number in range(rounds + 1):
            for name in names if round_number % 2 else reversed(names):
                taken = self.once(commands[name])
                if round_number:
                    times[name].append(taken)
        shown = " ".join(peer).replace(str(self.folder), "…")
        print(f"{what}\n  {1000 * statistics.median(wall for wall, _ in times['peer']):9.2f} ms  {shown[:100]}")
        for name, (argv, goal) in ours.items():
            pairs = list(zip(times[name], times["peer"]))
            ratio = statistics.median(a / b for (a, _), (b, _) in pairs)
            processor = statistics.median(a / max(b, 1e-6) for (_, a), (_, b) in pairs)
            print(f"  {1000 * statistics.median(wall for wall, _ in times[name]):9.2f} ms  {name}: ratio {ratio:.3g}, "
                  f"goal {goal}, {'held' if ratio <= goal else 'MISSED'}; processor {processor:.2f}, "
                  f"{self.memory(argv) / 1024:.0f} MB")
        sys.stdout.flush()


def shell(text: str) -> list[str]:
    return ["sh", "-c", text]


def append(path: pathlib.Path, pieces) -> None:
    with open(path, "ab") as file:
        for piece in pieces:
            file.write(piece)


def title_look_up(bench: Bench) -> None:
    for name, size in SIZES.items():
        path = bench.folder / "session.jsonl"
        generate_sessions.write_file(size, path)
        rounds = 5 if size > 1 << 30 else 9
        look_up = [*bench.turnpipe, "session", "path", str(path), "-o", "jsonl"]
        backward = shell(f"tac {path} | grep -m1 -F '{NEEDLE}'")
        assert '"title"' not in bench.output(look_up)
        if size > 1 << 20:
            bench.compare(f"no title in {name}", ["rg", "-c", "-F", NEEDLE, str(path)],
                          {"look-up": (look_up, 1.1)}, rounds)
        append(path, [generate_sessions.title("Fix the parser", "manual").encode()])
        append(path, generate_sessions.filler(3000, seed=3))
        assert '"title":"Fix the parser"' in bench.output(look_up)
        bench.compare(f"title near the end of {name}", backward, {"look-up": (look_up, 0.6)}, 60)
        if size > 1 << 20:
            append(path, generate_sessions.filler(10 << 20, seed=4))
            assert '"title":"Fix the parser"' in bench.output(look_up)
            bench.compare(f"title 10 MB before the end of {name}", backward, {"look-up": (look_up, 0.2)}, 40)
        path.unlink()


def tail(bench: Bench) -> None:
    path = bench.folder / "session.jsonl"
    generate_sessions.write_file(LARGE, path)
    raw = [*bench.turnpipe, "session", "tail", str(path), "-n", "20"]
    assert bench.output([*raw, "--raw"]) == bench.output(["tail", "-n", "20", str(path)])
    bench.compare("the last 20 records of 4 GB", ["tail", "-n", "20", str(path)],
                  {"as they stand": ([*raw, "--raw"], 1.3), "as messages": (raw, 1.3)}, 200)
    path.unlink()


def list_many(bench: Bench) -> None:
    count, root = 10_000, bench.folder / "tree"
    generate_sessions.write_tree(count, root)
    folders = bench.folder / "read_folders"
    subprocess.run(["rustc", "-O", "-o", folders, HERE / "read_folders.rs"], check=True)
    listing = [*bench.turnpipe, "session", "list", "--root", str(root)]
    assert len(bench.output(listing).splitlines()) == count
    assert len(bench.output([*listing, "-n", "20"]).splitlines()) == 20
    bench.compare("10,000 sessions with titles", [str(folders), "ends", str(root)], {"list": (listing, 2.0)}, 15)
    if shutil.which("node"):
        algorithm = ["node", str(HERE / "list_in_node.mjs"), str(root)]
        bench.compare("the same, as Qwen Code does it", algorithm, {"list": (listing, 0.05)}, 3)
    bench.compare("a page of 20 of 10,000", [str(folders), "stat", str(root)], {"list -n 20": ([*listing, "-n", "20"], 1.2)}, 40)


def main() -> None:
    sections = {"title-look-up": title_look_up, "tail": tail, "list": list_many}
    for program in ("rg", "tac", "grep", "tail"):
        if shutil.which(program) is None:
            sys.exit(f"needs {program}")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TURNPIPE_BENCH_FOLDER")) as folder:
        sections[sys.argv[2]](Bench(sys.argv[1], pathlib.Path(folder)))


main()
