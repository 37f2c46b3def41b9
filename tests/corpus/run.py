#!/usr/bin/env python3
"""Executes a corpus of shell commands in the parallel lane with the analysis switched off, and says
what the kernel let through.

usage: run.py TURNPIPE CORPUS [--jobs N] [--only SUBSTRING] [--report FILE]

CORPUS has one JSON object a line: `command`, `read_only`, `category`, `verified`.

Every command runs inside bubblewrap, with its own mount, PID, network, IPC, UTS and control group
namespaces, without capabilities, with a private copy of a scratch repository as the only place that
can be written, and a time limit; with enforcement on as well as off. Never run one elsewhere: the
corpus holds `kill -TERM -1` and the like.
"""

import argparse, collections, concurrent.futures, hashlib, json, os, re, shutil, stat, subprocess
import sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 60  # seconds for a whole sandbox
CALL_LIMIT = 8000  # milliseconds for a call
TRIES = 8
# Categories whose effect is not on files, or needs a terminal.
NO_FILES = {"network", "process", "git-exec-tty"}


def snapshot(root):
    """Everything about every file, to the inode's change time; what is ours is left out."""
    seen = {}
    for directory, names, files in os.walk(root):
        for name in names + files:
            path = os.path.join(directory, name)
            facts = os.lstat(path)
            content = ""
            if stat.S_ISREG(facts.st_mode):
                content = hashlib.sha256(open(path, "rb").read()).hexdigest()
            elif stat.S_ISLNK(facts.st_mode):
                content = os.readlink(path)
            key = os.path.relpath(path, root)
            # Our own short-lived files change this directory.
            times = () if key == "tmp" else (facts.st_mtime_ns, facts.st_ctime_ns)
            size = 0 if stat.S_ISDIR(facts.st_mode) else facts.st_size
            seen[key] = (facts.st_mode, facts.st_uid, facts.st_gid, size, content, *times)
    return seen


def execute(turnpipe, template, command, enforce):
    """One command in a sandbox of its own: what changed, and what `inside.py` found."""
    with tempfile.TemporaryDirectory(prefix="corpus-") as room:
        scratch, out = os.path.join(room, "scratch"), os.path.join(room, "out")
        subprocess.run(["cp", "-a", template, scratch], check=True)
        os.mkdir(out)
        before = snapshot(scratch)
        call = {
            "type": "tool_use",
            "id": "call",
            "name": "Bash",
            "input": {"command": command, "timeout": CALL_LIMIT},
        }
        sandbox = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        sandbox += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        sandbox += ["--bind", os.path.join(scratch, "tmp"), "/tmp"]
        sandbox += ["--tmpfs", "/run", "--tmpfs", "/mnt"]
        sandbox += ["--dir", "/mnt/scratch", "--bind", scratch, "/mnt/scratch"]
        sandbox += ["--dir", "/mnt/out", "--bind", out, "/mnt/out"]
        sandbox += ["--ro-bind", turnpipe, "/mnt/turnpipe", "--ro-bind", HERE, "/mnt/corpus"]
        sandbox += ["--chdir", "/mnt/scratch/repo", "--clearenv"]
        for name, value in [
            ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"),
            ("HOME", "/mnt/scratch/home"),
            ("TMPDIR", "/tmp"),
            ("LANG", "C.UTF-8"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ]:
            sandbox += ["--setenv", name, value]
        inside = ["python3", "-I", "/mnt/corpus/inside.py", "/mnt/out/facts", "/mnt/turnpipe", "run-tools"]
        inside += ["--assume-read-only", "--enforce", enforce, "--no-echo", "--no-config"]
        inside += ["--state-dir", "/mnt/out/state"]
        run = subprocess.run(
            ["timeout", "-s", "KILL", str(LIMIT), *sandbox, *inside],
            input=json.dumps(call) + "\n",
            capture_output=True,
            text=True,
        )
        try:
            facts = json.load(open(os.path.join(out, "facts")))
        except (OSError, ValueError):
            facts = {"outcome": None, "left": [], "stderr": f"{run.returncode} {run.stderr}"}
        after = snapshot(scratch)
        names = sorted(set(before) | set(after))
        facts["changed"] = [name for name in names if before.get(name) != after.get(name)]
        return facts


def shown(facts):
    """What of a result is the command's own: without the note that is made for the model when the
    shell's last directory is not an allowed one, which a confined shell cannot report."""
    output = dict(facts.get("output") or {})
    if isinstance(output.get("stderr"), str):
        output["stderr"] = re.sub(r"\n?Shell cwd was reset to .*", "", output["stderr"])
    return json.dumps([facts.get("outcome"), output], sort_keys=True)


def missing_program(facts):
    text = json.dumps([facts.get("output"), facts.get("content")])
    return re.search(r"command not found|No such file or directory.*(exec|program)", text) is not None


def examine(arguments):
    turnpipe, template, row = arguments
    command = row["command"]
    on = execute(turnpipe, template, command, "require")
    off = execute(turnpipe, template, command, "off")
    again = execute(turnpipe, template, command, "off") if row["read_only"] else None
    return row, on, off, again


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("turnpipe")
    parser.add_argument("corpus")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--report")
    options = parser.parse_args()
    if not shutil.which("bwrap"):
        sys.exit("needs bubblewrap (bwrap)")
    rows = [json.loads(line) for line in open(options.corpus)]
    rows = [row for row in rows if options.only in row["command"]]
    room = tempfile.mkdtemp(prefix="corpus-template-")
    template = os.path.join(room, "scratch")
    subprocess.run([os.path.join(HERE, "scratch.sh"), template], check=True)
    turnpipe = os.path.abspath(options.turnpipe)

    written, left, odd, different, unstable, quiet = [], [], [], [], [], []
    outcomes = collections.Counter()
    able = changing = verified = 0
    report = open(options.report, "w") if options.report else None
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row, on, off, again in pool.map(examine, ((turnpipe, template, row) for row in rows)):
            command = row["command"]
            if report:
                print(json.dumps({"row": row, "on": on, "off": off}), file=report, flush=True)
            outcomes[on["outcome"]] += 1
            if on["changed"]:
                written.append((command, on["changed"]))
            if on["left"]:
                left.append((command, on["left"]))
            if on["outcome"] not in ("ok", "error"):
                odd.append((command, on["outcome"], on.get("stderr")))
            if not row["read_only"]:
                verified += row["verified"]
                if row["verified"] and row["category"] not in NO_FILES and not missing_program(off):
                    able += 1
                    changing += bool(off["changed"])
                    if not off["changed"]:
                        quiet.append(command)
            elif shown(on) not in (shown(off), shown(again)):
                # Times, loads, races between a writer and a reader that leaves: more tries tell.
                tries = [execute(turnpipe, template, command, "off") for _ in range(TRIES)]
                plain = {shown(facts) for facts in [off, again, *tries]}
                if len(plain) > 1:
                    unstable.append(command)
                    tries = [execute(turnpipe, template, command, "require") for _ in range(TRIES)]
                    outcomes_off = {json.loads(text)[0] for text in plain}
                    if {facts["outcome"] for facts in tries} - outcomes_off:
                        different.append((command, shown(off), shown(on)))
                else:
                    different.append((command, shown(off), shown(on)))
    shutil.rmtree(room)

    readers = sum(row["read_only"] for row in rows)
    print(f"{len(rows)} commands, {readers} of them only read")
    print(f"enforced: {len(written)} changed files, {len(left)} left processes, outcomes {dict(outcomes)}")
    for command, what in written + left:
        print(f"  {command!r}: {what}")
    for command, outcome, stderr in odd:
        print(f"  {outcome}: {command!r} {stderr}")
    share = 100 * changing / max(able, 1)
    print(f"not enforced: {changing} of {able} verified writers changed files ({share:.1f} %)")
    for command in quiet:
        print(f"  nothing: {command!r}")
    print(f"readers that behave differently when enforced: {len(different)} of {readers}"
          f" (compared by outcome only, since their output changes anyway: {len(unstable)})")
    for command, plain, enforced in different:
        print(f"  {command!r}\n    {plain[:300]}\n    {enforced[:300]}")
    failed = written or left or odd or share < 80 or len(different) > readers / 400 + 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
