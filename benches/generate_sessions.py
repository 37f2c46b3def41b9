"""Writes session files in the form of Qwen Code, for measurements.

usage: generate_sessions.py file BYTES PATH     one session without a title, about this large
       generate_sessions.py tree COUNT FOLDER   many sessions, three of five with a title near the end

Sizes of records follow a log-normal law, as those of real sessions do; one tool result in 500 is
large. The text holds quotes, escapes and characters of several bytes, and now and then the words
that title records consist of. The same arguments give the same bytes.
"""

import json
import os
import pathlib
import random
import sys
import time

SESSION = "3c1f7a52-9a0e-4d37-8f4e-5b6d2c9e0a11"
FOLDER = "/home/somebody/work"
# Stands for the number of a block, so that no id appears twice in a file.
MARK = "@@@@@@@@"
BLOCK = 8 << 20
PHRASES = [
    "the parser keeps its state between two calls, ", "warning: unused variable `count` ", "重构会话列表，",
    "fn main() { println!(\"{}\", 1); }\n", "path\\to\\file\t", "naïve façade ", "✅ 12 passed\n", "assert left == right\n",
    "diff --git a/src/lib.rs b/src/lib.rs\n", "    return value if value else None\n", "Ошибка: файл не найден. ",
]
DECOY = 'look for "subtype":"custom_title" or {"customTitle":"not this one"} in the file. '


def text(rng: random.Random, length: int) -> str:
    parts, got = [], 0
    while got < length:
        part = DECOY if rng.random() < 0.0005 else rng.choice(PHRASES)
        parts.append(part)
        got += len(part)
    return "".join(parts)[:length]


def length(rng: random.Random, middle: int, longest: int) -> int:
    return max(10, min(longest, int(middle * rng.lognormvariate(0, 1.4))))


def record(rng: random.Random, number: int, longest: int, session: str = SESSION) -> dict:
    second = number % 86_400
    outside = {
        "uuid": f"{MARK}-0000-4000-8000-{number:012x}",
        "parentUuid": f"{MARK}-0000-4000-8000-{number - 1:012x}" if number else None,
        "sessionId": session,
        "timestamp": f"2026-01-02T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z",
        "cwd": FOLDER, "version": "0.24.4", "gitBranch": "main",
    }
    kind = rng.choices(["prompt", "reply", "call", "result", "telemetry"], [6, 28, 24, 28, 14])[0] if number else "prompt"
    if kind == "prompt":
        return outside | {"type": "user", "message": {"role": "user", "parts": [{"text": text(rng, length(rng, 300, longest))}]}}
    if kind == "reply":
        words = text(rng, length(rng, 800, longest))
        return outside | {"type": "assistant", "model": "some-coder", "message": {"role": "model", "parts": [{"text": words}]},
                          "usageMetadata": {"promptTokenCount": 4000 + number % 9000, "candidatesTokenCount": len(words) // 4}}
    if kind == "call":
        arguments = {"file_path": f"{FOLDER}/src/part_{number % 97}.rs", "content": text(rng, length(rng, 700, longest))}
        return outside | {"type": "assistant", "model": "some-coder", "message": {"role": "model", "parts": [
            {"functionCall": {"id": f"call_{number}", "name": "write_file", "args": arguments}}]}}
    if kind == "result":
        size = min(longest, 1 << 20) if rng.random() < 0.002 else length(rng, 3500, longest)
        output = text(rng, size)
        return outside | {"type": "tool_result", "message": {"role": "user", "parts": [
            {"functionResponse": {"id": f"call_{number}", "name": "read_file", "response": {"output": output}}}]},
            "toolCallResult": {"callId": f"call_{number}", "status": "success", "resultDisplay": output[:120]}}
    return outside | {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": {
        "event.name": "api_response", "duration_ms": number % 7919, "note": text(rng, length(rng, 200, longest))}}}


def title(words: str, source: str, session: str = SESSION, moment: str = "2026-01-03T00:00:00.000Z") -> str:
    return line({"uuid": "77777777-7777-4777-8777-777777777777", "parentUuid": None, "sessionId": session,
                 "timestamp": moment, "type": "system", "subtype": "custom_title", "cwd": FOLDER,
                 "version": "0.24.4", "systemPayload": {"customTitle": words, "titleSource": source}})


def line(value: dict) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def block(rng: random.Random, size: int, longest: int) -> bytes:
    lines, got, number = [], 0, 0
    while got < size:
        encoded = line(record(rng, number, longest)).encode()
        lines.append(encoded)
        got += len(encoded)
        number += 1
    return b"".join(lines)


def filler(size: int, seed: int = 1):
    """About this many bytes of records, in blocks."""
    longest = 1 << 20 if size > BLOCK else 60_000
    pattern = block(random.Random(seed), min(size, BLOCK), longest)
    for number in range(max(1, round(size / len(pattern)))):
        yield pattern.replace(MARK.encode(), b"%08x" % (number + (seed << 20)))


def write_file(size: int, path: pathlib.Path) -> None:
    with open(path, "wb") as file:
        for piece in filler(size):
            file.write(piece)


def write_tree(count: int, folder: pathlib.Path) -> None:
    rng = random.Random(2)
    records = [record(rng, number, 20_000) for number in range(1, 400)]
    for number in range(count):
        # A session was active last when its file was changed last, to the second.
        changed = 1_780_000_000 + rng.randrange(90 * 86_400)
        session = f"{rng.getrandbits(32):08x}-0000-4000-8000-{number:012x}"
        chats = folder / "projects" / f"-home-somebody-work-{number % 12}" / "chats"
        chats.mkdir(parents=True, exist_ok=True)
        moment = time.strftime("%Y-%m-%dT%H:%M:%S.900Z", time.gmtime(changed - 1))
        own = {"sessionId": session, "cwd": f"{FOLDER}/{number % 12}", "timestamp": moment}
        lines = [line(record(rng, 0, 400, session) | own)]
        size, got = length(rng, 20_000, 2 << 20), 0
        share = rng.random()
        own_title = title(f"Session number {number}", rng.choice(["auto", "manual"]), session, moment)
        if share < 0.1:
            lines.append(own_title)
        while got < size:
            lines.append(line(rng.choice(records) | own))
            got += len(lines[-1])
        if 0.1 <= share < 0.7:
            lines.append(own_title)
        path = chats / f"{session}.jsonl"
        path.write_text("".join(lines).replace(MARK, "%08x" % number))
        os.utime(path, (changed, changed))


def main() -> None:
    what, amount, target = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
    {"file": write_file, "tree": write_tree}[what](amount, target)


if __name__ == "__main__":
    main()
