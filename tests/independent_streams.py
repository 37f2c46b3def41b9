#!/usr/bin/env python3
"""Reads output streams of agents in its own, plain way, so that the program can be compared with it.

usage: independent_streams.py FILE...
One JSON line a file: {path, session, dialog}. The dialog is a list, in order of the stream:
["user" | "assistant", text], ["call", id], ["result", id, text, failed]. A file with no rows of an
agent has no dialog. Written from descriptions of the streams, not from the program.
"""
import json
import sys


def rows(path):
    with open(path, "rb") as file:
        for line in file:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row


def text(content):
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content or [] if block.get("type") == "text")


class Codex:
    SIGNS = ("thread.started", "turn.started", "item.started", "item.completed")

    def __init__(self):
        self.running, self.failure = set(), None

    def row(self, row):
        kind, item = row["type"], row.get("item") or {}
        if kind in ("thread.started", "turn.started"):
            self.__init__()
        if kind in ("error", "turn.failed"):
            failure = row.get("message") or row["error"]["message"]
            # Most failures are reported twice.
            if failure != self.failure:
                yield ["assistant", failure]
            self.failure = failure
        name = item.get("type")
        if name in (None, "error", "reasoning"):
            return
        if name == "agent_message":
            yield ["assistant", item["text"]]
            return
        late = name in ("web_search", "todo_list")
        if (kind == "item.started" and not late) or (kind == "item.completed" and item["id"] not in self.running):
            self.running.add(item["id"])
            yield ["call", item["id"]]
        if kind == "item.completed":
            self.running.discard(item["id"])
            failed = item.get("status") in ("failed", "declined") or item.get("exit_code") not in (None, 0)
            yield ["result", item["id"], self.output(name, item), failed]

    @staticmethod
    def output(name, item):
        if name == "mcp_tool_call":
            error = item.get("error")
            return error["message"] if error else text((item.get("result") or {}).get("content"))
        if name == "collab_tool_call":
            return json.dumps(item["agents_states"], separators=(",", ":"))
        return item.get("aggregated_output") or ""


class Gemini:
    SIGNS = ("init",)

    def __init__(self):
        self.said = ""

    def row(self, row):
        kind = row["type"]
        if kind == "message" and row["role"] == "assistant":
            self.said += row["content"]
            return
        yield from self.end()
        error = row.get("error") or {}
        if kind == "message":
            yield ["user", row["content"]]
        elif kind == "tool_use":
            yield ["call", row["tool_id"]]
        elif kind == "tool_result":
            said = row.get("output") or error.get("message") or ""
            yield ["result", row["tool_id"], said, row["status"] == "error"]
        elif kind == "error":
            yield ["assistant", row["message"]]
        elif error:
            yield ["assistant", error["message"]]

    def end(self):
        if self.said:
            yield ["assistant", self.said]
        self.said = ""


class Opencode:
    SIGNS = ("step_start", "step_finish")

    def row(self, row):
        part, error = row.get("part") or {}, row.get("error")
        if row["type"] == "text":
            yield ["assistant", part["text"]]
        if row["type"] == "tool_use":
            state = part["state"]
            yield ["call", part["callID"]]
            if state["status"] != "running":
                said = state["output"] if "output" in state else state.get("error", "")
                failed = state["status"] == "error" or (state.get("metadata") or {}).get("exit") not in (None, 0)
                yield ["result", part["callID"], said, failed]
        if error:
            yield ["assistant", (error.get("data") or error).get("message") or error["name"]]


class Pi:
    SIGNS = ("agent_start", "turn_start", "message_end")

    def row(self, row):
        if row["type"] != "message_end":
            return
        message = row["message"]
        if message["role"] == "user":
            yield ["user", text(message["content"])]
        if message["role"] == "toolResult":
            yield ["result", message["toolCallId"], text(message["content"]), message["isError"]]
        if message["role"] == "assistant":
            for block in message["content"]:
                if block["type"] == "text" and block["text"]:
                    yield ["assistant", block["text"]]
                if block["type"] == "toolCall":
                    yield ["call", block["id"]]
            if message.get("stopReason") == "error":
                yield ["assistant", message["errorMessage"]]


class StreamJson:
    SIGNS = ("system", "assistant", "user", "stream_event")

    def row(self, row):
        if row["type"] not in ("assistant", "user") or row.get("parent_tool_use_id"):
            return
        content = row["message"]["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for block in content:
            if block["type"] == "text" and block["text"]:
                yield [row["type"], block["text"]]
            if block["type"] == "tool_use":
                yield ["call", block["id"]]
            if block["type"] == "tool_result":
                failed = bool(block.get("is_error"))
                yield ["result", block["tool_use_id"], text(block.get("content")), failed]


def session(row):
    names = ("session_id", "thread_id", "sessionID")
    if row["type"] == "session":
        return row["id"]
    return next((row[name] for name in names if row.get(name)), None)


for path in sys.argv[1:]:
    reader, found, dialog = None, None, []
    for row in rows(path):
        if reader is None:
            agents = (Codex, Gemini, Opencode, Pi, StreamJson)
            reader = next((agent() for agent in agents if row.get("type") in agent.SIGNS), None)
        found = found or session(row)
        if reader:
            dialog.extend(reader.row(row))
    if isinstance(reader, Gemini):
        dialog.extend(reader.end())
    print(json.dumps({"path": path, "session": found, "dialog": dialog}))
