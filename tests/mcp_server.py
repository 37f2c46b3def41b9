"""A scripted MCP server on standard input and output, with tools that behave badly.

Arguments: LOG, a file for what arrives and happens, and words: `silent` answers nothing, `many` has
many tools, `late` answers only when there is a file `LOG.go`.
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
grown = False


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
    names = ["die", "killed", "hang", "deaf", "flood", "chatter", "blocks", "data", "fail", "refuse", "grow", "end"]
    listed = [tool("echo", True), tool("meet", True)] + [tool(name) for name in names]
    listed.append(tool("big file", _meta={"anthropic/maxResultSizeChars": 100000}))
    listed.append(tool("long"))
    if grown:
        listed.append(tool("grown"))
    if "many" in WORDS:
        listed += [tool(f"extra{number}") for number in range(10)]
    return listed


def text(*texts):
    return {"content": [{"type": "text", "text": text} for text in texts]}


def call(number, name, arguments):
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
    elif name == "fail":
        result = text("no such table") | {"isError": True}
    elif name == "refuse":
        send({"id": number, "error": {"code": -32602, "message": "not today"}})
        return
    elif name == "grow":
        grown = True
        send({"method": "notifications/tools/list_changed"})
        result = text("grew")
    elif name == "big file" or name == "long":
        result = text("y" * 60000)
    else:
        result = text(f"did {name}")
    send({"id": number, "result": result})


def answer(message):
    number, method = message.get("id"), message.get("method")
    log(method)
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        capabilities = {"tools": {"listChanged": True}}
        server = {"name": "scripted", "version": "1"}
        send({"id": number, "result": {"protocolVersion": version, "capabilities": capabilities, "serverInfo": server}})
    elif method == "tools/list":
        # Two pages.
        listed, half = tools(), 5
        if message.get("params", {}).get("cursor") == "rest":
            send({"id": number, "result": {"tools": listed[half:]}})
        else:
            send({"id": number, "result": {"tools": listed[:half], "nextCursor": "rest"}})
    elif method == "tools/call":
        parameters = message["params"]
        arguments = (number, parameters["name"], parameters.get("arguments", {}))
        threading.Thread(target=call, args=arguments, daemon=True).start()


log(f"started {os.getpid()} mark={os.environ.get('TURNPIPE')} token={os.environ.get('MY_TOKEN')} own={os.environ.get('OWN')}")
while "late" in WORDS and not os.path.exists(LOG + ".go"):
    time.sleep(0.005)
for line in sys.stdin:
    if "silent" not in WORDS:
        answer(json.loads(line))
log("ended")
