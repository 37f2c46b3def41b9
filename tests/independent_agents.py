#!/usr/bin/env python3
"""Compares turnpipe with agents: which titles they show, what their sessions hold, and whether they obey its hook.

usage: independent_agents.py TURNPIPE DIR
DIR is where the agents are, or are installed from npm. The only model is a server in this script.
"""
import http.server
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading

import independent_hooks

TURNPIPE, DIR = (pathlib.Path(argument).absolute() for argument in sys.argv[1:])
RECORDED = pathlib.Path(__file__).parent.absolute() / "data/agents"
PACKAGES = [
    "@openai/codex@0.169.0", "@google/gemini-cli@0.61.0", "opencode-ai@1.18.33", "@github/copilot@1.0.102",
    "@qwen-code/qwen-code@0.24.4", "@earendil-works/pi-coding-agent@0.74.2",
]
NAMES = ("codex", "gemini", "opencode", "copilot", "qwen", "pi")
LEGACY = "01a20adc-80d8-7973-b255-000000000001"


def install():
    if all((DIR / "node_modules/.bin" / name).exists() for name in NAMES):
        return
    DIR.mkdir(parents=True, exist_ok=True)
    if not shutil.which("npm") or subprocess.run(["npm", "view", PACKAGES[0], "version"], capture_output=True).returncode:
        sys.exit("npm cannot be reached")
    command = ["npm", "install", "--prefix", DIR, "--silent", "--no-audit", "--no-fund", *PACKAGES]
    subprocess.run(command, check=True)


def environment(home):
    return {"HOME": str(home), "PATH": os.environ["PATH"], "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}


def turnpipe(home, *arguments):
    run = subprocess.run([TURNPIPE, *arguments], env=environment(home), capture_output=True, text=True)
    return run.returncode, [json.loads(line) for line in run.stdout.splitlines()], run.stderr


def equal(found, expected, what):
    if found != expected:
        sys.exit(f"{what}: {found!r} instead of {expected!r}")


class Codex:
    """A server that lists threads."""

    def __init__(self, home):
        command = [DIR / "node_modules/.bin/codex", "app-server"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment(home))
        self.id = 0
        self.ask("initialize", {"clientInfo": {"name": "test", "version": "1"}})
        self.send({"method": "initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.id += 1
        self.send({"id": self.id, "method": method, "params": params})
        while select.select([self.process.stdout], [], [], 60)[0]:
            line = self.process.stdout.readline()
            if not line:
                break
            answer = json.loads(line)
            if answer.get("id") == self.id:
                return answer["result"]
        sys.exit(f"codex gives no answer to {method}")

    def names(self):
        kinds = ["cli", "exec", "vscode", "appServer"]
        threads = self.ask("thread/list", {"sourceKinds": kinds, "modelProviders": []})["data"]
        return {thread["id"]: thread["name"] for thread in threads}

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)


def codex(home):
    sessions = home / ".codex/sessions/2026/11/21"
    sessions.mkdir(parents=True)
    paged = (RECORDED / "codex/mixed.session.jsonl").read_text()
    thread = json.loads(paged.splitlines()[0])["payload"]["id"]
    path = sessions / f"rollout-2026-11-21T10-00-00-{thread}.jsonl"
    path.write_text(paged)
    time = "2026-11-21T09:00:00.000Z"
    meta = {"id": LEGACY, "timestamp": time, "cwd": str(home), "originator": "codex_exec", "cli_version": "0.169.0",
            "source": "exec", "model_provider": "mock"}
    rows = [("session_meta", meta), ("event_msg", {"type": "user_message", "message": "Say hello.", "images": []}),
            ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Say hello."}]})]
    old = sessions / f"rollout-2026-11-21T09-00-00-{LEGACY}.jsonl"
    old.write_text("".join(json.dumps({"timestamp": time, "type": kind, "payload": payload}) + "\n" for kind, payload in rows))
    server = Codex(home)
    equal(server.names(), {thread: None, LEGACY: None}, "names before")
    # Codex runs meanwhile: its database is in use.
    equal(turnpipe(home, "session", "rename", path, "Named while in use")[0], 0, "status of rename")
    titled = turnpipe(home, "title", "--write", "--model", "builtin", old)[1][0]
    equal(titled["written"], True, "written")
    expected = {thread: "Named while in use", LEGACY: titled["title"]}
    equal(server.names(), expected, "names that Codex lists")
    server.ask("thread/name/set", {"threadId": LEGACY, "name": "By the user"})
    server.end()
    listed = {row["session_id"]: row["title"] for row in turnpipe(home, "session", "list")[1]}
    equal(listed, {**expected, LEGACY: "By the user"}, "names that turnpipe lists")
    kept = turnpipe(home, "title", "--write", "--model", "builtin", old)[1][0]
    equal((kept["ok"], kept["reason"]), (False, "manual_title"), "a title that the user gave")
    # The next version of the schema.
    (home / ".codex/state_6.sqlite").touch()
    refused = turnpipe(home, "title", "--write", "--replace", "--model", "builtin", old)[1][0]
    equal((refused["written"], "unknown schema" in refused["error"]), (False, True), "an unknown schema")


def gemini(home):
    chats = home / ".gemini/tmp/demo/chats"
    chats.mkdir(parents=True)
    project = home / "demo"
    project.mkdir()
    (home / ".gemini/projects.json").write_text(json.dumps({"projects": {str(project): "demo"}}))
    (chats.parent / ".project_root").write_text(str(project))
    path = chats / "session-2026-11-21T22-00-5e55a7e1.jsonl"
    shutil.copy(RECORDED / "gemini/shells.session.jsonl", path)
    label = json.dumps({"type": "tool_use_summary", "summary": "Looked", "preceding_tool_use_ids": ["t"]})
    beside = path.with_name(path.name + ".turnpipe")

    def shown():
        command = [DIR / "node_modules/.bin/gemini", "--skip-trust", "--list-sessions"]
        run = subprocess.run(command, env=environment(home), cwd=project, capture_output=True, text=True, timeout=300)
        return re.findall(r"^\s+1\. (.*) \(", run.stdout + run.stderr, re.M)

    titled = turnpipe(home, "title", "--write", "--model", "builtin", path)[1][0]
    equal(titled["written"], True, "written")
    equal(shown(), [titled["title"]], "title that Gemini CLI lists")
    append = [TURNPIPE, "session", "append", path]
    subprocess.run(append, input=label, text=True, env=environment(home), check=True, stdout=subprocess.DEVNULL)
    equal(turnpipe(home, "session", "rename", path, "Named by hand")[0], 0, "status of rename")
    equal(shown(), ["Named by hand"], "name that Gemini CLI lists")
    equal((path.exists(), beside.exists()), (True, True), "files that Gemini CLI leaves")
    kept = turnpipe(home, "title", "--write", "--model", "builtin", path)[1][0]
    equal((kept["ok"], kept["reason"]), (False, "manual_title"), "a title that the user gave")


class Model(http.server.BaseHTTPRequestHandler):
    """Answers each request with the same words and tokens."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        common = {"id": "chatcmpl-%d" % id(self), "object": "chat.completion.chunk", "created": 1, "model": "demo"}
        usage = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
        said, end = {"role": "assistant", "content": "All done."}, {"index": 0, "delta": {}, "finish_reason": "stop"}
        for row in ({"choices": [{"index": 0, "delta": said}]}, {"choices": [end]}, {"choices": [], "usage": usage}):
            self.wfile.write(b"data: %s\n\n" % json.dumps({**common, **row}).encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_):
        pass


def run(home, *command, **variables):
    command = [DIR / "node_modules/.bin" / command[0], *command[1:]]
    variables = {**environment(home), **variables}
    subprocess.run(command, env=variables, cwd=home, check=True, capture_output=True, timeout=300)


def totals(home):
    stats = turnpipe(home, "session", "stats", "--json")[1][0]
    usage = stats["usage"]
    return stats["prompts"], stats["replies"], usage["input_tokens"], usage["output_tokens"]


def opencode(home, url):
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": url, "apiKey": "k"}, "models": {"demo": {}}}
    settings = {"model": "local/demo", "small_model": "local/demo", "autoupdate": False, "provider": {"local": provider}}
    (home / "opencode.json").write_text(json.dumps(settings))
    run(home, "opencode", "run", "Begin")
    run(home, "opencode", "run", "--continue", "Go on")
    run(home, "opencode", "run", "--continue", "--fork", "Go elsewhere")
    equal(totals(home), (3, 3, 300, 15), "a fork, with its copies counted once")
    sessions = turnpipe(home, "session", "list")[1]
    equal([row["agent"] for row in sessions], ["opencode"] * 2, "sessions")
    shown = turnpipe(home, "session", "show", sessions[0]["path"], "-o", "jsonl")[1]
    equal(sum(row["type"] == "assistant" for row in shown), 3, "replies of the fork")


def copilot(home, url):
    variables = {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": url, "COPILOT_PROVIDER_API_KEY": "k",
                 "COPILOT_MODEL": "demo"}
    run(home, "copilot", "-p", "Begin", **variables)
    run(home, "copilot", "--continue", "-p", "Go on", **variables)
    equal(totals(home), (2, 2, 200, 10), "a session that was resumed")
    path = turnpipe(home, "session", "list")[1][0]["path"]
    prompts = [row["data"]["content"] for row in map(json.loads, open(path)) if row["type"] == "system.message"]
    shown = json.dumps(turnpipe(home, "session", "show", path, "-o", "jsonl")[1])
    equal([json.dumps(prompt)[1:200] in shown for prompt in prompts if prompt], [False] * len(prompts), "its prompt")


install()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = "http://127.0.0.1:%d/v1" % server.server_port
for agent in (opencode, copilot):
    with tempfile.TemporaryDirectory() as directory:
        agent(pathlib.Path(directory), url)
    print(f"{agent.__name__}: counted like the model")
for agent in (codex, gemini):
    with tempfile.TemporaryDirectory() as directory:
        agent(pathlib.Path(directory))
    print(f"{agent.__name__}: shows what was written")
independent_hooks.check(TURNPIPE, DIR / "node_modules/.bin")
