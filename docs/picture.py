#!/usr/bin/env python3
"""Draws docs/picture.svg: a turn in its lanes, a list of sessions and their costs.

usage: docs/picture.py > docs/picture.svg      (in the repository, with turnpipe on the PATH)

Everything in it is what turnpipe prints: the trace of a run, and two tables.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, MARGIN, LINE = 860, 24, 19
LABELS = 130
COLOURS = {"ok": "#2da44e", "denied": "#bf8700", "error": "#cf222e"}

TURN = [
    ("Grep", {"pattern": "attempts", "path": "examples", "output_mode": "content"}),
    ("Bash", {"command": "find src -name '*.rs' | xargs wc -l | sort -n | tail -3"}),
    ("Bash", {"command": "cat src/*/*.rs | sort | uniq -c | sort -n | tail -2"}),
    ("Bash", {"command": "python3 -c 'print(1 + 1)'"}),
    ("Write", {"file_path": "examples/notes.md", "content": "To do\n"}),
]


def printed(*arguments, given=None):
    # Real times, as they are in Greenwich.
    environment = {name: value for name, value in os.environ.items() if name != "TURNPIPE_CLOCK"}
    run = subprocess.run(
        ["turnpipe", "--quiet", *arguments],
        input=given,
        env=environment | {"TZ": "UTC"},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


def trace():
    """The slices of a run: the lane, the name, the outcome, when it began and ended."""
    calls = [
        {"type": "tool_use", "id": f"t{number}", "name": name, "input": fields}
        for number, (name, fields) in enumerate(TURN)
    ]
    message = {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": calls}}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        options = ["--allow", "Bash(python3 -c *)", "--trace", str(file)]
        printed("run-tools", *options, given=json.dumps(message) + "\n")
        events = json.loads(file.read_text())
    lanes = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    return [
        (lanes[e["tid"]], e["name"], e["args"]["outcome"], e["ts"], e["ts"] + e["dur"])
        for e in events
        if e["ph"] == "X" and e["cat"] == "call"
    ]


class Picture:
    def __init__(self):
        self.shapes = []
        self.height = MARGIN

    def text(self, x, y, words, kind="text"):
        self.shapes.append(f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>')

    def command(self, words):
        self.height += LINE
        self.text(MARGIN, self.height, f"$ {words}", "command")
        self.height += 6

    def output(self, text):
        for line in text.rstrip().splitlines():
            self.height += LINE
            self.text(MARGIN, self.height, line.replace(" ", "\u00a0"))
        self.height += LINE

    def lanes(self, slices):
        end = max(until for *_, until in slices)
        scale = (WIDTH - 2 * MARGIN - LABELS) / end
        names = sorted({lane for lane, *_ in slices}, key=lambda name: (name == "serial lane", name))
        for name in names:
            self.height += LINE + 7
            self.text(MARGIN, self.height, name, "dim")
            for lane, call, outcome, begun, until in slices:
                if lane != name:
                    continue
                x, width = MARGIN + LABELS + begun * scale, max((until - begun) * scale, 3)
                self.shapes.append(
                    f'<rect x="{x:.1f}" y="{self.height - 15}" width="{width:.1f}" height="20" rx="3" '
                    f'fill="{COLOURS.get(outcome, COLOURS["error"])}"><title>{escape(call)}: {outcome}'
                    "</title></rect>"
                )
                fitting = int((width - 8) / 7.3)
                if fitting >= 4:
                    shown = call if len(call) <= fitting else call[: fitting - 1] + "…"
                    self.text(f"{x + 4:.1f}", self.height, shown, "call")
        self.height += LINE
        self.text(MARGIN + LABELS, self.height, f"0 … {end / 1000:.0f} ms", "dim")
        self.height += LINE

    def svg(self):
        style = (
            "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}"
            ".command{fill:#79c0ff;font-weight:bold}.dim{fill:#8b949e}.call{fill:#fff}"
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}" '
            f'viewBox="0 0 {WIDTH} {self.height}" role="img"><title>A turn in its lanes, sessions and '
            f"what they cost</title><style>{style}</style>"
            f'<rect width="{WIDTH}" height="{self.height}" rx="8" fill="#0d1117"/>'
            + "\n".join(["", *self.shapes, "</svg>"])
        )


def main():
    picture = Picture()
    picture.command("turnpipe run-tools --trace turn.json < turn.jsonl")
    picture.lanes(trace())
    picture.command("turnpipe session list --root examples")
    picture.output(printed("session", "list", "--root", "examples", "-o", "text"))
    picture.command("turnpipe session stats --root examples --by day,model")
    picture.output(printed("session", "stats", "--root", "examples", "--by", "day,model", "-o", "text"))
    print(picture.svg())


if __name__ == "__main__":
    main()
