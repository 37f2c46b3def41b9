#!/usr/bin/env python3
"""Draws docs/picture.svg: the schedule of a turn, an exported session, and costs by day.

usage: docs/picture.py > docs/picture.svg      (in the repository, with turnpipe on the PATH)

Everything is drawn from the output of turnpipe. The sessions of the chart are generated here.
"""

import json
import os
import subprocess
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, MARGIN, LINE, LABELS = 860, 24, 19, 130
OUTCOMES = {"ok": "#2da44e", "denied": "#bf8700"}
MODELS = {
    "claude-opus-4-5-20251101": "#a371f7",
    "claude-sonnet-4-5-20250929": "#58a6ff",
    "claude-haiku-4-5-20251001": "#56d4bc",
}
TURN = [
    ("Grep", {"pattern": "attempts", "path": "examples", "output_mode": "content"}),
    ("Bash", {"command": "find src -name '*.rs' | xargs wc -l | sort -n | tail -3"}),
    ("Bash", {"command": "cat src/*/*.rs | sort | uniq -c | sort -n | tail -2"}),
    ("Bash", {"command": "python3 -c 'print(1 + 1)'"}),
    ("Write", {"file_path": "examples/notes.md", "content": "To do\n"}),
]


def turnpipe(*arguments, given=None):
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


def trace(directory):
    """The calls of a run: lane, name, outcome, start and end in microseconds."""
    calls = [
        {"type": "tool_use", "id": f"t{number}", "name": name, "input": fields}
        for number, (name, fields) in enumerate(TURN)
    ]
    message = {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": calls}}
    file = directory / "trace.json"
    options = ["--allow", "Bash(python3 -c *)", "--trace", str(file)]
    turnpipe("run-tools", *options, given=json.dumps(message) + "\n")
    events = json.loads(file.read_text())
    lanes = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    return [
        (lanes[e["tid"]], e["name"], e["args"]["outcome"], e["ts"], e["ts"] + e["dur"])
        for e in events
        if e["ph"] == "X" and e["cat"] == "call"
    ]


class Page(HTMLParser):
    """The texts and the timeline of an exported page."""

    def __init__(self, html):
        super().__init__()
        self.texts, self.bars, self.open = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.open.append((tag, attributes.get("class")))
        if tag == "rect":
            self.bars.append([float(attributes[name]) for name in ("x", "y", "width", "height")])

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        tags = [tag for tag, _ in self.open]
        kinds = [kind for tag, kind in self.open if tag == "article"]
        if not data.strip() or "a" in tags or "time" in tags or "body" not in tags:
            return
        for tag in ("h1", "h2", "del", "ins"):
            if tag in tags:
                return self.texts.append((tag, data.strip("\n")))
        if kinds:
            self.texts.append((kinds[0], data.strip()))


def costs(directory):
    """Cost by day and model of generated sessions."""
    for day in range(1, 15):
        for number, model in enumerate(MODELS):
            tokens = (day * 37 + number * 53) % 90 + 10
            usage = {"input_tokens": tokens * 200, "output_tokens": tokens * (900 << number)}
            message = {"id": f"m{day}-{number}", "role": "assistant", "model": model, "content": [], "usage": usage}
            record = {"type": "assistant", "uuid": f"u{day}-{number}", "sessionId": f"s{day}-{number}"}
            record |= {"timestamp": f"2026-01-{day:02}T12:00:00Z", "message": message}
            (directory / f"s{day}-{number}.jsonl").write_text(json.dumps(record) + "\n")
    records = turnpipe("session", "stats", "--root", str(directory), "--by", "day,model", "-o", "jsonl")
    return [json.loads(line) for line in records.splitlines()]


class Picture:
    def __init__(self):
        self.shapes, self.height = [], MARGIN

    def text(self, x, y, words, kind="text"):
        self.shapes.append(f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}">{escape(words)}</text>')

    def box(self, x, y, width, height, fill, title=""):
        title = f"<title>{escape(title)}</title>" if title else ""
        rect = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" fill="{fill}"'
        self.shapes.append(f"{rect}>{title}</rect>" if title else f"{rect}/>")

    def command(self, words):
        self.height += LINE
        self.text(MARGIN, self.height, f"$ {words}", "command")
        self.height += 8

    def lanes(self, calls):
        end = max(until for *_, until in calls)
        scale = (WIDTH - 2 * MARGIN - LABELS) / end
        for name in sorted({lane for lane, *_ in calls}, key=lambda name: (name == "serial lane", name)):
            self.height += LINE + 7
            self.text(MARGIN, self.height, name, "dim")
            for lane, call, outcome, start, until in calls:
                if lane == name:
                    x, width = MARGIN + LABELS + start * scale, max((until - start) * scale, 3)
                    self.box(x, self.height - 15, width, 20, OUTCOMES.get(outcome, "#cf222e"), f"{call}: {outcome}")
                    fitting = int((width - 8) / 7.3)
                    if fitting >= 4:
                        self.text(x + 4, self.height, call if len(call) <= fitting else call[: fitting - 1] + "…", "call")
        self.height += LINE
        self.text(MARGIN + LABELS, self.height, f"0 … {end / 1000:.0f} ms; green: ok, yellow: denied", "dim")
        self.height += 10

    def page(self, page):
        top, colours = self.height, {"h1": "title", "h2": "tools", "del": "del", "ins": "ins"}
        at = len(self.shapes)
        for kind, words in page.texts:
            self.height += LINE + (6 if kind in ("h1", "prompt", "reply", "h2") else 0)
            indent = 32 if kind in ("del", "ins", "h2") else 16
            if kind == "prompt":
                self.box(MARGIN + 8, self.height - 15, WIDTH - 2 * MARGIN - 16, 22, "#ddf4ff")
            self.text(MARGIN + indent, self.height, words if len(words) < 105 else words[:104] + "…", colours.get(kind, "ink"))
        self.height += 16
        scale = (WIDTH - 2 * MARGIN - 32) / max(x + width for x, _, width, _ in page.bars)
        for x, y, width, height in page.bars:
            self.box(MARGIN + 16 + x * scale, self.height + y, width * scale, height, "#0969da")
        self.height += 36
        rect = f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{self.height - top}" rx="6" fill="#fff"/>'
        self.shapes.insert(at, rect)
        self.height += 8

    def chart(self, records):
        days = sorted({record["dimensions"]["day"] for record in records})
        cost = {(r["dimensions"]["day"], r["dimensions"]["model"]): r["usage"]["cost_usd"] for r in records}
        totals = {day: sum(cost.get((day, model), 0) for model in MODELS) for day in days}
        top, tall, step = self.height + 16, 110, (WIDTH - 2 * MARGIN) / len(days)
        for number, day in enumerate(days):
            x, y = MARGIN + number * step, top + tall
            for model, colour in MODELS.items():
                high = cost.get((day, model), 0) / max(totals.values()) * tall
                y -= high
                self.box(x, y, step - 10, high, colour, f"{day} {model}: ${cost.get((day, model), 0):.2f}")
            self.text(x, y - 4, f"${totals[day]:.2f}")
            self.text(x, top + tall + 16, day[5:])
        self.height = top + tall + 20
        for number, (model, colour) in enumerate(MODELS.items()):
            x = MARGIN + number * 240
            self.box(x, self.height + 12, 10, 10, colour)
            self.text(x + 16, self.height + 21, model)
        self.height += 40

    def svg(self):
        style = (
            "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}.command{fill:#79c0ff;"
            "font-weight:bold}.dim{fill:#8b949e}.call{fill:#fff}.ink{fill:#1f2328}.tools{fill:#57606a}.title{fill:#1f2328;"
            "font-weight:bold;font-size:15px}.del{fill:#cf222e}.ins{fill:#1a7f37}"
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height:.0f}" role="img">'
            f"<title>The schedule of a turn, an exported session, costs by day</title><style>{style}</style>"
            f'<rect width="{WIDTH}" height="{self.height:.0f}" rx="8" fill="#0d1117"/>' + "\n".join(["", *self.shapes, "</svg>"])
        )


def main():
    picture = Picture()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        picture.command("turnpipe run-tools --trace turn.json < turn.jsonl")
        picture.lanes(trace(directory))
        picture.command("turnpipe session export pages examples/login.jsonl")
        turnpipe("session", "export", str(directory / "pages"), "examples/login.jsonl")
        [page] = [file for file in (directory / "pages").glob("*.html") if file.name != "index.html"]
        picture.page(Page(page.read_text()))
        picture.command("turnpipe stats --by day,model -o jsonl     # as a chart")
        (directory / "sessions").mkdir()
        picture.chart(costs(directory / "sessions"))
    print(picture.svg())


if __name__ == "__main__":
    main()
