"""The hook in agents from npm: what its rules deny does not run, and the model reads why. Then their edits.

The only model is a server in this script. It asks for two commands, `rm -rf keep` and `ls keep`, then for edits.
"""
import concurrent.futures
import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading

import independent_edits

COMMANDS = ["rm -rf keep", "ls keep"]
SHELLS = ("bash", "run_shell_command", "exec_command", "shell_command", "shell")


def calls(tools):
    """Returns the shell of these tools, and its arguments for each command."""
    shell = next((name for name in SHELLS if name in tools), None)
    forms = {
        "exec_command": lambda command: {"cmd": command},
        "shell": lambda command: {"command": ["bash", "-lc", command]},
    }
    background = {"is_background": False} if "todo_write" in tools else {}
    usual = lambda command: {"command": command, "description": command, **background}
    return [(shell, forms.get(shell, usual)(command)) for command in COMMANDS if shell]


class Model(http.server.BaseHTTPRequestHandler):
    """Speaks three APIs."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        request = json.loads(body)
        if "messages" in request:
            events = self.chat_events(request)
        elif "input" in request:
            events = self.response_events(request)
        else:
            events = self.gemini_events(request)
        if request.get("tools"):
            self.server.requests.append(body)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events:
            name = "event: %s\n" % event["type"] if "type" in event else ""
            self.wfile.write(("%sdata: %s\n\n" % (name, json.dumps(event))).encode())
        if "messages" in request:
            self.wfile.write(b"data: [DONE]\n\n")

    def do_GET(self):
        self.send_error(404)

    def wanted(self, tools):
        """Returns the calls of the next reply."""
        turns = [calls(tools), *independent_edits.turns(tools, self.server.project)]
        turn = len(self.server.requests) - 1
        wanted = turns[turn] if tools and turn < len(turns) else []
        return [(f"call_{turn}_{at}", *called) for at, called in enumerate(wanted)]

    def chat_events(self, request):
        tools = [tool["function"]["name"] for tool in request.get("tools") or []]
        called = [
            {"index": at, "id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for at, (id, name, arguments) in enumerate(self.wanted(tools))
        ]
        delta = {"role": "assistant", **({"tool_calls": called} if called else {"content": "Done."})}
        end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if called else "stop"}
        common = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "demo"}
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        yield {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield {**common, "choices": [end]}
        yield {**common, "choices": [], "usage": usage}

    def response_events(self, request):
        tools = [tool.get("name") for tool in request.get("tools") or []]
        said = {"type": "message", "id": "m", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}
        items = [
            {"type": "function_call", "id": f"fc_{id}", "call_id": id, "status": "completed", "name": name,
             "arguments": json.dumps(arguments)}
            for id, name, arguments in self.wanted(tools)
        ] or [said]
        response = {"id": "r", "object": "response", "created_at": 1, "model": "demo", "output": []}
        usage = {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18}
        yield {"type": "response.created", "response": {**response, "status": "in_progress"}}
        for at, item in enumerate(items):
            yield {"type": "response.output_item.done", "output_index": at, "item": item}
        yield {"type": "response.completed", "response": {**response, "status": "completed", "output": items, "usage": usage}}

    def gemini_events(self, request):
        tools = [row["name"] for tool in request.get("tools") or [] for row in tool.get("functionDeclarations", [])]
        parts = [{"functionCall": {"id": id, "name": name, "args": arguments}}
                 for id, name, arguments in self.wanted(tools)] or [{"text": "Done."}]
        yield {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": "STOP"}]}

    def log_message(self, *_):
        pass


def agents(url):
    """Returns of each agent its settings file, its settings, its command, and variables."""
    models = {"demo": {}}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{url}/v1", "apiKey": "k"}, "models": models}
    opencode = {"model": "local/demo", "small_model": "local/demo", "autoupdate": False, "provider": {"local": provider}}
    pi = {"providers": {"demo": {"baseUrl": f"{url}/v1", "apiKey": "k", "api": "openai-completions", "models": [{"id": "demo"}]}}}
    codex = f"""# mine
model = "demo"
model_provider = "local"
check_for_update_on_startup = false

[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""
    quiet = '{ // mine\n  "privacy": {"usageStatisticsEnabled": false},\n'
    quiet += '  "general": {"enableAutoUpdate": false, "disableAutoUpdate": true},\n'
    qwen = quiet + '  "security": {"auth": {"selectedType": "openai"}}\n}\n'
    gemini = quiet + '  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n'
    copilot = {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_API_KEY": "k",
               "COPILOT_MODEL": "demo"}
    return {
        "opencode": (".config/opencode/opencode.json", json.dumps(opencode), ["opencode", "run", "Go"],
                     {"OPENCODE_DISABLE_MODELS_FETCH": "1"}),
        "pi": (".pi/agent/models.json", json.dumps(pi), ["pi", "--provider", "demo", "--model", "demo", "-p", "Go"],
               {"PI_OFFLINE": "1"}),
        "copilot": (".copilot/settings.json", "{\n  // mine\n}\n", ["copilot", "--allow-all-tools", "-p", "Go"], copilot),
        "codex": (".codex/config.toml", codex, ["codex", "exec", "--dangerously-bypass-approvals-and-sandbox",
                  "--dangerously-bypass-hook-trust", "--skip-git-repo-check", "Go"], {}),
        "qwen": (".qwen/settings.json", qwen, ["qwen", "--approval-mode", "yolo", "-p", "Go"],
                 {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "demo"}),
        "gemini": (".gemini/settings.json", gemini, ["gemini", "--skip-trust", "--approval-mode", "yolo", "-p", "Go"],
                   {"GOOGLE_GEMINI_BASE_URL": url}),
    }


def guarded(name, turnpipe, programs):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.requests = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings, text, command, variables = agents("http://127.0.0.1:%d" % server.server_port)[name]
    with tempfile.TemporaryDirectory() as directory:
        home = pathlib.Path(directory)
        (home / "project/keep").mkdir(parents=True)
        (home / "project/keep/kept-file").touch()
        server.project = home / "project"
        independent_edits.write(server.project)
        (home / settings).parent.mkdir(parents=True)
        (home / settings).write_text(text)
        path = os.pathsep.join([str(turnpipe.parent), str(programs), os.environ["PATH"]])
        variables = {"HOME": directory, "PATH": path, "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k", **variables}
        options = {"env": variables, "cwd": home / "project", "stdin": subprocess.DEVNULL, "capture_output": True,
                   "text": True, "timeout": 300}

        def hook(*arguments):
            run = subprocess.run([turnpipe, "hook", *arguments], **options)
            assert run.returncode == 0, (name, arguments, run.stdout, run.stderr)
            return run.stdout

        hook("install", "--agent", name, "--yes", "--", "--deny", "Bash(rm *)", "--log", str(home / "log"))
        installed = (home / settings).read_text()
        hook("status", "--agent", name)
        run = subprocess.run(command, **options)
        seen = f"{name}: {run.stdout[-2000:]}{run.stderr[-2000:]}"
        assert (home / "project/keep/kept-file").exists(), seen
        assert "denied by the rule `Bash(rm *)`" in server.requests[-1], seen
        assert "kept-file" in server.requests[-1], seen
        explained = [json.loads(line) for line in hook("explain", "--json", "-n", "99").splitlines()]
        found = sorted((row["agent"], row["decision"]) for row in explained if row["about"] in COMMANDS)
        assert found == [(name, "allow"), (name, "deny")], (found, explained, seen)
        independent_edits.check(turnpipe, server.project, options, seen)
        # Some agents rewrite their settings.
        is_rewritten = (home / settings).read_text() != installed
        hook("uninstall", "--agent", name, "--yes")
        assert is_rewritten or (home / settings).read_text().split() == text.split(), name
        assert subprocess.run([turnpipe, "hook", "status"], **options).returncode == 1, name
    return name


def check(turnpipe, programs):
    names = agents("")
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for name in pool.map(lambda name: guarded(name, turnpipe, programs), names):
            print(f"{name}: obeys the hook, and its edits are known")
