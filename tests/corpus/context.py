#!/usr/bin/env python3
"""Shell commands that only their surroundings make dangerous: git settings, files with the names of
options, variables of the environment. Each row is set up and run in a sandbox of its own.

usage: context.py TURNPIPE CORPUS

CORPUS has one JSON object a line: `command`, `setup` (run by bash in the repository first), `env`
(variables that turnpipe finds), `read_only`.

A dangerous row is held if `check shell` in that place does not call it read-only, or if, run with
nothing enforced by the kernel, it changes no file. The second is also tried where the first holds
and the danger stands in the environment, since such a command may still be run with permission.

Never run a row elsewhere: what is set up here attacks whoever runs it.
"""

import json, os, shutil, subprocess, sys, tempfile

from run import HERE, LIMIT, snapshot

INSIDE = r"""
import json, os, subprocess
row, out = json.load(open("/mnt/row")), {}
subprocess.run(["bash", "--noprofile", "--norc", "-c", row["setup"]], cwd="/w", check=True,
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
open("/mnt/out/ready", "w").close()
environment = {**os.environ, **row["env"]}
question = json.dumps({"command": row["command"], "cwd": "/w"}) + "\n"
answer = subprocess.run(["/mnt/turnpipe", "--no-config", "check", "shell"], cwd="/w", input=question,
                        capture_output=True, text=True, env=environment)
out["verdict"], out["why"] = (json.loads(answer.stdout)[key] for key in ("verdict", "why"))
def run(*more):
    call = {"type": "tool_use", "id": "call", "name": "Bash", "input": {"command": row["command"], "timeout": 8000}}
    done = subprocess.run(["/mnt/turnpipe", "--no-config", "run-tools", "--no-echo", "--enforce", "off",
                           "--state-dir", "/mnt/out/state", *more], cwd="/w", input=json.dumps(call) + "\n",
                          capture_output=True, text=True, env=environment)
    for line in done.stdout.splitlines():
        record = json.loads(line)
        if record["type"] == "user":
            return record["turnpipe"]["outcome"]
out["unasked"] = run()
# Only what the environment would do: the command itself is harmless.
if row["env"]:
    out["permitted"] = run("--permission-mode", "bypassPermissions")
json.dump(out, open("/mnt/out/facts", "w"))
"""


def examine(turnpipe, template, row):
    with tempfile.TemporaryDirectory(prefix="corpus-") as room:
        scratch, out = os.path.join(room, "scratch"), os.path.join(room, "out")
        subprocess.run(["cp", "-a", template, scratch], check=True)
        os.mkdir(out)
        with open(os.path.join(room, "row"), "w") as file:
            json.dump(row, file)
        repo = os.path.join(scratch, "repo")
        sandbox = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        for place in ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"):
            sandbox += ["--ro-bind-try", place, place]
        sandbox += ["--dev", "/dev", "--proc", "/proc", "--dir", "/tmp", "--dir", "/mnt"]
        sandbox += ["--bind", os.path.join(scratch, "tmp"), "/tmp", "--dir", "/mnt/home"]
        sandbox += ["--bind", os.path.join(scratch, "home"), "/mnt/home", "--dir", "/mnt/out"]
        sandbox += ["--bind", out, "/mnt/out", "--ro-bind", os.path.join(room, "row"), "/mnt/row"]
        sandbox += ["--ro-bind", turnpipe, "/mnt/turnpipe", "--bind", repo, "/w"]
        sandbox += ["--chdir", "/w", "--clearenv", "--setenv", "HOME", "/mnt/home"]
        sandbox += ["--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"]
        sandbox += ["--setenv", "LANG", "C.UTF-8", "--setenv", "GIT_CONFIG_NOSYSTEM", "1"]
        command = ["timeout", "-s", "KILL", str(LIMIT), *sandbox, "python3", "-I", "-c", INSIDE]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        log = process.communicate()[0]
        try:
            facts = json.load(open(os.path.join(out, "facts")))
        except (OSError, ValueError):
            return {"failed": log[-2000:]}
        facts["pwned"] = [name for name in snapshot(scratch) if os.path.basename(name) == "PWNED"]
        return facts


def main():
    turnpipe, corpus = os.path.abspath(sys.argv[1]), sys.argv[2]
    if not shutil.which("bwrap"):
        sys.exit("needs bubblewrap (bwrap)")
    rows = [json.loads(line) for line in open(corpus)]
    bad = 0
    with tempfile.TemporaryDirectory(prefix="corpus-template-") as room:
        template = os.path.join(room, "scratch")
        subprocess.run([os.path.join(HERE, "scratch.sh"), template], check=True)
        planted = os.path.join(template, "repo", "evilbin")
        os.mkdir(planted)
        shutil.copy(os.path.join(template, "repo", "evil"), os.path.join(planted, "ls"))
        for row in rows:
            facts = examine(turnpipe, template, row)
            accepted = facts.get("verdict") == "read-only"
            # A reading row is there to see that the surroundings alone do not make it refused.
            runs = accepted or facts.get("unasked") == "ok"
            held = "failed" not in facts and (row["read_only"] or not runs or (bool(row["env"]) and not facts["pwned"]))
            bad += not held
            shown = ", ".join(f"{key} {value}" for key, value in facts.items())
            print(f"{'held' if held else 'BROKEN'}: {row['command']!r} {row['env'] or row['setup'][:60]}: {shown}")
    print(f"{len(rows)} rows, {bad} broken")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
