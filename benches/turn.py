"""How long after the server `turn` writes the first part of a reply. usage: turn.py TURNPIPE

A server on this machine stamps the time before it writes the first token, and a reader of the pipe when the
part comes. Prints the median and the worst of 30 runs, in milliseconds.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROUNDS = 30
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def chunk(delta: dict, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def serve(listener: socket.socket, written: list[float]) -> None:
    for _ in range(ROUNDS):
        client, _ = listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        request = b""
        while b"\r\n\r\n" not in request or not request.endswith(b"}"):
            request += client.recv(65536)
        client.sendall(HEAD + chunk({"role": "assistant", "content": ""}))
        # As if the model read its prompt.
        time.sleep(0.05)
        written.append(time.perf_counter())
        client.sendall(chunk({"content": "Yes"}))
        time.sleep(0.02)
        client.sendall(chunk({}, "stop") + b"data: [DONE]\n\n")
        client.close()


def main() -> None:
    turnpipe = sys.argv[1]
    listener = socket.create_server(("127.0.0.1", 0))
    written: list[float] = []
    threading.Thread(target=serve, args=(listener, written), daemon=True).start()
    port = listener.getsockname()[1]
    delays = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {"HOME": folder, "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "x"}
        command = [turnpipe, "turn", "--model", "openai:m", "--partial", "--prompt", "Is it so?"]
        for _ in range(ROUNDS):
            run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment)
            output = b""
            while b"text_delta" not in output:
                output += os.read(run.stdout.fileno(), 65536)
            arrived = time.perf_counter()
            delays.append((arrived - written[-1]) * 1000)
            run.stdout.read()
            if run.wait() != 0:
                sys.exit(f"turn ended with {run.returncode}")
    print(f"first part {statistics.median(delays):.2f} ms after the server's (worst {max(delays):.2f})")


if __name__ == "__main__":
    main()
