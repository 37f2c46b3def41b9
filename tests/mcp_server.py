"""A scripted MCP server on standard input and output, with tools that behave badly.

Arguments: LOG, a file for what arrives and happens, and words: `silent` answers nothing, `many` has
many tools, `few` eight, `late` answers only when there is a file `LOG.go`, `endless` has endless pages
of tools, `unlistable` lists them once, `new` has a tool `grown` when it is not the first of its kind, `resources` has
resources, `asking` is used by a user who fills in forms, `malformed` has malformed tools and resources between good ones, `stateless` speaks the revision without a handshake, and `strict` exits if it is asked for that.
"""

import json
import os
import signal
import sys
import threading
import time

LOG, WORDS = sys.argv[1], sys.argv[2:]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
writing = threading.Lock()
meeting = threading.Barrier(2)
grown = "new" in WORDS and os.path.exists(LOG)
listings = 0
subscriptions = []


def log(text):
    with open(LOG, "a") as file:
        file.write(text + "\n")


def send(message):
    line = json.dumps({"jsonrpc": "2.0"} | message) + "\n"
    with writing:
        sys.stdout.write(line)
        sys.stdout.flush()


def tool(name, only_reads=False, **more):
    return {
        "name": name,
        "description": f"Does {name}. Really.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": only_reads},
    } | more


def tools():
    names = ["die", "killed", "hang", "deaf", "flood", "chatter", "blocks", "data", "fail", "refuse", "grow", "end", "odd", "babble", "both", "same", "album", "words", "ask", "work", "input", "form"]
    listed = [tool("echo", True), tool("meet", True)] + [tool(name) for name in names]
    listed.append(tool("big file", _meta={"anthropic/maxResultSizeChars": 100000}))
    listed.append(tool("long"))
    if grown:
        listed.append(tool("grown"))
    if "many" in WORDS:
        listed += [tool(f"extra{number}") for number in range(10)]
    if "malformed" in WORDS:
        broken = [tool(f"bad{number}") | members for number, members in enumerate(MALFORMED)]
        listed = listed[:1] + broken + ["text", 7, None] + [tool("loose", title=1, icons="x", outputSchema=[]) | {"inputSchema": {}}] + listed[-1:]
    if "few" in WORDS:
        listed = listed[:7] + listed[-2:-1]
    return listed


MALFORMED = [
    {"inputSchema": "x"},
    {"inputSchema": None},
    {"inputSchema": []},
    {"inputSchema": True},
    {"inputSchema": {"type": "array"}},
    {"inputSchema": {"type": ["object"]}},
    {"inputSchema": {"type": "object", "properties": 5}},
    {"inputSchema": {"type": "object", "properties": {"a": {"type": "strung"}}}},
    {"inputSchema": {"type": "object", "required": "a"}},
    {"inputSchema": {"type": "object", "$ref": "#/nowhere"}},
    {"name": None},
    {"name": 3},
    {"description": 5},
    {"description": ["x"]},
    {"annotations": "x"},
    {"annotations": {"readOnlyHint": "yes"}},
    {"_meta": "x"},
]


def text(*texts):
    return {"content": [{"type": "text", "text": text} for text in texts]}


def call(number, name, arguments, token=None):
    global grown
    result = None
    if name == "echo":
        result = text(f"echo: {arguments.get('text')}")
    elif name == "meet":
        # Two calls have to run at the same time.
        meeting.wait()
        result = text("met")
    elif name == "die":
        print("the database is gone", file=sys.stderr, flush=True)
        os._exit(3)
    elif name == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
        return
    elif name == "hang":
        return
    elif name == "deaf":
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        os.kill(os.getpid(), signal.SIGSTOP)
        # This thread may go on for a moment.
        return
    elif name == "flood":
        with writing:
            while True:
                sys.stdout.write("x" * 65536)
    elif name == "chatter":
        for progress in range(2000):
            send({"method": "notifications/message", "params": {"level": "info", "data": progress}})
            send({"method": "notifications/unheard-of", "params": {}})
        with writing:
            print("this is no JSON", flush=True)
        result = text("said all")
    elif name == "blocks":
        result = {
            "content": [
                {"type": "text", "text": "before"},
                {"type": "image", "data": PIXEL, "mimeType": "image/png"},
                {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
                {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "application/zip", "blob": "AAAA"}},
                {"type": "resource_link", "uri": "file:///c", "name": "see"},
            ]
        }
    elif name == "data":
        result = {"content": [], "structuredContent": {"degrees": 21}}
    elif name == "both":
        result = text("it is warm") | {"structuredContent": {"degrees": 21}}
    elif name == "same":
        result = text('{ "degrees": 21 }') | {"structuredContent": {"degrees": 21}}
    elif name == "words":
        result = text("one", "2") | {"structuredContent": {"result": ["one", 2]}}
    elif name == "ask":
        # A permission tool: the command says how it decides.
        word, command = arguments["input"]["command"].split()[-1], arguments["input"]["command"]
        answers = {
            "allowed": {"behavior": "allow", "updatedInput": {"command": command}},
            "as-it-is": {"behavior": "allow"},
            "changed": {"behavior": "allow", "updatedInput": {"command": "touch other"}},
            "forbidden": {"behavior": "allow", "updatedInput": {"command": "rm -r kept"}},
            "refused": {"behavior": "deny", "message": f"no {arguments['tool_name']} of {arguments['tool_use_id']}"},
            "chatty": {"behavior": "deny", "message": "n" * 1000000},
            "undecided": {"behavior": "perhaps"},
        }
        if word == "unanswered":
            return
        result = text(json.dumps(answers[word]) if word in answers else "what?") | {"isError": word == "failed"}
    elif name == "work":
        # Longer than the timeout of the test, but never silent for as long.
        for step in range(1, 41):
            progress = {"progressToken": token, "progress": step, "total": 40, "message": "cooking\x1b[31m"}
            send({"method": "notifications/progress", "params": progress})
            time.sleep(0.05)
        result = text("cooked")
    elif name == "input":
        result = {"resultType": "input_required", "requestState": "s"}
    elif name == "odd":
        result = {"colour": "red"}
    elif name == "album":
        image = {"type": "image", "mimeType": "image/png", "data": PIXEL}
        large = {"type": "image", "mimeType": "image/png", "data": "A" * (6 << 20)}
        result = {"content": [image, large] + text("", *["z" * 30000] * 3, "")["content"]}
    elif name == "babble":
        line = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 900}})
        with writing:
            while True:
                sys.stdout.write((line + "\n") * 100)
    elif name == "fail":
        result = text("no such table") | {"isError": True}
    elif name == "refuse":
        send({"id": number, "error": {"code": -32602, "message": "not today"}})
        return
    elif name == "grow":
        grown = True
        metas = [{"params": {"_meta": subscription}} for subscription in subscriptions]
        for meta in metas or [{}]:
            send({"method": "notifications/tools/list_changed"} | meta)
        result = text("grew")
    elif name == "big file" or name == "long":
        result = text("y" * 60000)
    else:
        result = text(f"did {name}")
    respond(number, result)


RESOURCES = {
    "note:///a": {"uri": "note:///a", "mimeType": "text/plain", "text": "the note"},
    "note:///pixel": {"uri": "note:///pixel", "mimeType": "image/png", "blob": PIXEL},
}


def respond(number, result):
    if "stateless" in WORDS:
        result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} | result
    send({"id": number, "result": result})


CAPABILITIES = {"elicitation": {"form": {}}} if "asking" in WORDS else {}
FORM = {
    "mode": "form",
    "message": "Who are you?\x1b[2J",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name"},
            "age": {"type": "integer"},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        },
        "required": ["name", "age"],
    },
}
asked = []


def fill(number, parameters):
    """Answers a call after the user has filled in a form."""
    if "stateless" not in WORDS:
        asked.append(number)
        send({"id": "form", "method": "elicitation/create", "params": FORM})
    elif "inputResponses" not in parameters:
        request = {"method": "elicitation/create", "params": FORM}
        respond(number, {"resultType": "input_required", "requestState": "s", "inputRequests": {"who": request}})
    else:
        assert parameters["requestState"] == "s"
        respond(number, text(json.dumps(parameters["inputResponses"]["who"], sort_keys=True)))


def answer(message):
    global listings
    number, method = message.get("id"), message.get("method")
    log(str(method))
    capabilities = {"tools": {"listChanged": True}} | ({"resources": {}} if "resources" in WORDS else {})
    meta = message.get("params", {}).get("_meta", {})
    if "stateless" in WORDS and number is not None and method != "initialize":
        # Each request describes the client.
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28", meta
        assert meta["io.modelcontextprotocol/clientCapabilities"] == CAPABILITIES, meta
    if method == "server/discover" and "strict" in WORDS:
        sys.exit("expected initialize")
    elif method == "server/discover" and "stateless" in WORDS:
        respond(number, {"supportedVersions": ["2026-07-28"], "capabilities": capabilities})
    elif method == "subscriptions/listen" and "stateless" in WORDS:
        subscription = {"io.modelcontextprotocol/subscriptionId": number}
        acknowledged = {"_meta": subscription, "notifications": message["params"]["notifications"]}
        send({"method": "notifications/subscriptions/acknowledged", "params": acknowledged})
        log("acknowledged")
        subscriptions.append(subscription)
    elif method == "initialize" and "stateless" not in WORDS:
        version = message["params"]["protocolVersion"]
        assert message["params"]["capabilities"] == CAPABILITIES, message
        server = {"name": "scripted", "version": "1"}
        send({"id": number, "result": {"protocolVersion": version, "capabilities": capabilities, "serverInfo": server}})
    elif method == "tools/list":
        # Two pages.
        listed, half = tools(), 5
        listings += 1
        if "endless" in WORDS:
            names = [f"page{listings} {position}" for position in range(500)]
            page = [tool(name) | {"description": "x" * 2000} for name in names]
            respond(number, {"tools": page, "nextCursor": str(listings)})
        elif "unlistable" in WORDS and listings > 2:
            send({"id": number, "error": {"code": -32603, "message": "no list today"}})
        elif message.get("params", {}).get("cursor") == "rest":
            respond(number, {"tools": listed[half:]})
        else:
            respond(number, {"tools": listed[:half], "nextCursor": "rest"})
    elif method is None and number == "form":
        respond(asked.pop(), text(json.dumps(message["result"], sort_keys=True)))
    elif method == "tools/call" and message["params"]["name"] == "form":
        fill(number, message["params"])
    elif method == "tools/call":
        parameters = message["params"]
        arguments = (number, parameters["name"], parameters.get("arguments", {}), meta.get("progressToken"))
        threading.Thread(target=call, args=arguments, daemon=True).start()
    elif method == "resources/list" and "resources" in WORDS:
        listed = [{"uri": uri, "name": uri[8:], "icons": [{"src": "data:,x"}]} for uri in RESOURCES]
        if "malformed" in WORDS:
            listed[1:1] = [{"uri": 5, "name": "odd"}, {"name": "nowhere"}, "text"]
        respond(number, {"resources": listed})
    elif method == "resources/templates/list" and "resources" in WORDS:
        respond(number, {"resourceTemplates": [{"uriTemplate": "note:///{name}", "name": "any"}]})
    elif method == "resources/read" and "resources" in WORDS:
        uri = message["params"]["uri"]
        if uri in RESOURCES:
            respond(number, {"contents": [RESOURCES[uri]]})
        else:
            send({"id": number, "error": {"code": -32602, "message": f"no resource {uri}"}})
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": f"unknown method {method}"}})


log(f"started {os.getpid()} mark={os.environ.get('TURNPIPE')} token={os.environ.get('MY_TOKEN')} own={os.environ.get('OWN')}")
while "late" in WORDS and not os.path.exists(LOG + ".go"):
    time.sleep(0.005)
for line in sys.stdin:
    if "silent" not in WORDS:
        answer(json.loads(line))
log("ended")
