"""Writes session files of five agents, made of the rows of recorded sessions, for measurements.

usage: generate_agents.py RECORDINGS COUNT FOLDER

RECORDINGS has homes of agents, e.g. `codex/sessions/…/rollout-*.jsonl`. Rows are repeated until a file has about 100 KB;
ids differ by file and repetition, and results get longer texts.
"""

import pathlib
import random
import re
import sys

# For each agent: recorded files, the new names, and the number of repetitions.
AGENTS = {
    "codex": ("**/rollout-*.jsonl", "sessions/2026/11/{day}/rollout-2026-11-{day}T23-19-59-{id}.jsonl", 1),
    "qwen": ("**/projects/*/chats/*.jsonl", "projects/p/chats/{id}.jsonl", 2),
    "gemini": ("**/tmp/*/chats/session-*.jsonl", ".gemini/tmp/p/chats/session-2026-11-{day}T23-28-{short}.jsonl", 3),
    "pi": ("**/sessions/--*--/*.jsonl", "sessions/p/2026-11-{day}T23-26-41-368Z_{id}.jsonl", 4),
    "copilot": ("**/session-state/*/events.jsonl", "session-state/{id}/events.jsonl", 1),
}
HEADS = ("session_meta", "session.start", '"type":"session"', '"kind":"main"', "session.shutdown", "session.info")
RESULT = re.compile(r'function_call_output|CommandExecution|"tool_result"|toolResult"|execution_complete|functionResponse')
TEXT = re.compile(r'("(?:output|content|text|resultDisplay|aggregated_output)":")')
UUID = re.compile(r"\b([0-9a-f]{8})(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-)([0-9a-f]{12})\b")
SHORT = re.compile(r'("(?:id|parentId)":")([0-9a-f]{8})(")')
NAMED = re.compile(r"\b((?:resp|chatcmpl|call|custom_call|msg|fc|rs|fco|ctc)[_-][A-Za-z0-9_-]+)")
SESSION = re.compile(r'"(?:sessionId|session_id|id)":"([0-9a-f-]{36})"')
PHRASES = ["the parser keeps its state, ", "warning: unused `count`\\n", 'println!(\\"{}\\", 1);\\n', "naïve façade "]


def write_files(agent: str, recordings: pathlib.Path, count: int, folder: pathlib.Path) -> None:
    rng = random.Random(5)
    lengths = [int(min(30_000, 1500 * rng.lognormvariate(0, 1.2))) for _ in range(200)]
    texts = ["".join(rng.choices(PHRASES, k=length // 20)) for length in lengths]
    pattern, name, repetitions = AGENTS[agent]
    source = max(recordings.glob(pattern), key=lambda path: path.stat().st_size)
    lines = source.read_text().splitlines()
    own = SESSION.search("\n".join(lines[:3]))[1]
    for number in range(count):
        session, day = f"{number:08x}{own[8:]}", f"{1 + number % 28:02}"
        path = folder / agent / name.format(id=session, short=session[:8], day=day)
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = []
        for turn in range(repetitions):
            mask = number * 64 + turn
            for row in lines:
                if turn and any(head in row[:400] for head in HEADS):
                    continue
                row = row.replace(own, "\0")
                row = UUID.sub(lambda id: f"{int(id[1], 16) ^ mask:08x}{id[2]}{int(id[3], 16) ^ mask:012x}", row)
                row = SHORT.sub(lambda id: f"{id[1]}{int(id[2], 16) ^ mask:08x}{id[3]}", row)
                row = NAMED.sub(lambda id: f"{id[1]}x{number}x{turn}", row).replace("\0", session)
                minute = f"T{number // 28 % 24:02}:\\g<1>{number // 672 % 10}:"
                row = re.sub(r"2026-11-\d\dT\d\d:(\d)\d:", f"2026-11-{day}{minute}", row)
                if RESULT.search(row):
                    row = TEXT.sub(lambda key: key[1] + rng.choice(texts), row, count=1)
                rows.append(row + "\n")
        path.write_text("".join(rows))


for agent in AGENTS:
    write_files(agent, pathlib.Path(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3]))
