#!/usr/bin/env python3
"""Reads session files of agents in its own, plain way, so that the program can be compared with it.

usage: independent_reader.py FILE...
One JSON line a file: {path, agent, records, title, texts, calls, results, counts, models,
first_prompt}; agent is null for a file that is no session. `texts`, `calls` and `results` are those
of the conversation since the last compaction, `counts` and `models` those of the whole file. Written
from descriptions of the formats, not from the program.
"""
import glob
import json
import os
import re
import sys

# What agents put into a person's messages.
WHOLE = (
    "system-reminder local-command-stdout local-command-stderr local-command-caveat task-notification "
    "ide_opened_file ide_selection ide_diagnostics bash-input bash-stdout bash-stderr "
    "user-prompt-submit-hook session-start-hook environment_context user_instructions "
    "session_context hook_context state_snapshot qwen:user-prompt-submit-context"
).split()
TAG = re.compile("|".join(r"<%s[ >].*?(</%s>|\Z)" % (tag, tag) for tag in WHOLE), re.S)
PERMISSIONS = re.compile(r"<permissions instructions>.*?(</permissions instructions>|\Z)", re.S)
REMARK = re.compile(r"\[(Request interrupted|Image)[^\]]*\]")
EDITOR = re.compile(r"\s*# Context from my IDE setup:.*?## My request for Codex:", re.S)
CUT = re.compile("|".join(pattern.pattern for pattern in (PERMISSIONS, TAG, REMARK)), re.S)
OPENINGS = (
    "<command-", "<local-command", "<session-start-hook", "<user-prompt-submit-hook", "<tick>",
    "<turn_aborted>", "<hook_prompt", "<skill", "<subagent_notification", "<collaboration_mode>",
    "<user_shell_command>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "Caveat:",
    "This session is being continued from a previous conversation",
    "Base directory for this skill:", "Operation stopped by hook:", "Unknown slash command:",
    "Full transcript available at:", "Read the output file to retrieve the result:",
)


def typed(text):
    """What a person typed of a text."""
    if text.lstrip().startswith(OPENINGS):
        return ""
    for pattern in (EDITOR, PERMISSIONS, TAG, REMARK):
        text = pattern.sub("", text)
    return "" if text.lstrip().startswith(OPENINGS) else text.strip()


def apart(text):
    """What an agent put into a text, and what a person typed, as two texts."""
    if text.lstrip().startswith(OPENINGS):
        return [text]
    put_in, own = "".join(match.group(0) for match in CUT.finditer(text)), CUT.sub("", text).strip()
    if not put_in or own.startswith(OPENINGS):
        return [text]
    return [put_in, own] if own else [put_in]


class Account:
    """What is counted in a whole file."""

    def __init__(self):
        self.prompts, self.first_prompt = 0, None
        self.replies = {}  # by message: model, tokens
        self.others = []  # model, tokens of what is no reply
        self.calls, self.results = [], []

    def prompt(self, texts, attached=False):
        words = [word for word in map(typed, texts) if word]
        if words or attached and not any(texts):
            self.prompts += 1
        self.begin(words)

    def begin(self, words):
        if words and self.first_prompt is None:
            words = "\n\n".join(words)
            self.first_prompt = words if len(words) <= 200 else words[:200] + "…"

    def reply(self, name, model, tokens):
        """The largest row of a reply counts, wherever it stands."""
        name = name or "no id %d" % len(self.replies)
        before = self.replies.get(name, (None, None))
        size = lambda counts: (counts[1], sum(counts)) if counts else (-1, -1)
        self.replies[name] = (model or before[0], max(before[1], tokens, key=size))

    def result(self, call):
        self.results.append(call)

    def summary(self):
        models = {}
        for model, tokens in list(self.replies.values()) + self.others:
            if tokens:
                so_far = models.get(model, [0, 0, 0, 0])
                models[model] = [one + other for one, other in zip(so_far, tokens)]
        counts = {
            "prompts": self.prompts,
            "replies": len(self.replies),
            "calls": len(self.calls),
            "results": len(self.results),
            "unanswered": len(set(self.calls) - set(self.results)),
        }
        models = {model or "(unknown)": tokens for model, tokens in models.items() if any(tokens)}
        return {"counts": counts, "models": models, "first_prompt": self.first_prompt}


def number(value):
    return value if isinstance(value, int) else 0


def claude_account(records):
    account, seen = Account(), set()
    of_subagent = next((r.get("isSidechain") for r in records if r.get("sessionId")), False)
    for r in records:
        kind, message = r.get("type"), r.get("message") or {}
        side = r.get("isSidechain") is True
        by_person = (r.get("origin") or {}).get("kind", "human") == "human"
        content = message.get("content")
        if kind == "attachment" and r["attachment"].get("type") == "queued_command":
            sender = (r["attachment"].get("origin") or {}).get("kind", "human")
            if sender == "human" and not side:
                prompt = r["attachment"].get("prompt")
                account.prompt(text_of(prompt), has_image(prompt))
        if kind == "user":
            answers = [b for b in blocks(r) if b.get("type") == "tool_result" and "tool_use_id" in b]
            for b in answers:
                account.result(b["tool_use_id"])
            if side and of_subagent and not answers:
                account.begin([word for word in map(typed, text_of(content)) if word])
            own = by_person and not (side or r.get("isMeta") or r.get("isCompactSummary"))
            again = ("again", r.get("uuid"), "\n\n".join(text_of(content)))
            if own and (text_of(content) or not answers) and (again not in seen or not again[1]):
                seen.add(again)
                account.prompt(text_of(content), has_image(content))
        if kind == "assistant":
            for b in blocks(r):
                if b.get("type") in ("tool_use", "server_tool_use") and b.get("id"):
                    copy = (message.get("id") or len(account.calls), b["id"])
                    if copy not in seen:
                        account.calls.append(b["id"])
                    seen.add(copy)
            model = message.get("model")
            if r.get("isApiErrorMessage") or model == "<synthetic>":
                continue
            usage = message.get("usage") or {}
            names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
            tokens = [number(usage.get(name)) for name in names] if model and usage else None
            account.reply(message.get("id"), model, tokens)
    return account


def has_image(content):
    parts = content if isinstance(content, list) else []
    return any(
        isinstance(p, dict) and (p.get("type") in ("image", "document", "input_image", "local_image") or "inlineData" in p or "fileData" in p)
        for p in parts
    )


def qwen_account(records):
    account = Account()
    of_subagent = next((r.get("isSidechain") for r in records if r.get("sessionId")), False)
    for r in records:
        message = r.get("message") or {}
        parts = [p for p in message.get("parts") or [] if isinstance(p, dict)]
        display = (r.get("systemPayload") or {}).get("displayText")
        for p in parts:
            if "functionResponse" in p and r.get("type") in ("user", "tool_result"):
                account.result(p["functionResponse"].get("id"))
        if r.get("type") == "user" and (of_subagent or not r.get("isSidechain")):
            shown = r.get("subtype") in (None, "mid_turn_user_message", "realtime_message")
            if shown and display != "" and not any("functionResponse" in p for p in parts):
                texts = [display] if display else text_of(parts)
                if of_subagent:
                    account.begin([word for word in map(typed, texts) if word])
                else:
                    account.prompt(texts, has_image(parts))
        if r.get("type") == "assistant":
            account.calls += [p["functionCall"].get("id") for p in parts if "functionCall" in p]
            usage, tokens = r.get("usageMetadata"), None
            if usage:
                prompt, cached = number(usage.get("promptTokenCount")), number(usage.get("cachedContentTokenCount"))
                output, total = number(usage.get("candidatesTokenCount")), usage.get("totalTokenCount")
                if isinstance(total, int) and total >= prompt + output:
                    output = total - prompt
                tokens = [max(prompt - cached, 0), output, cached, 0]
            account.reply(r.get("uuid"), r.get("model"), tokens)
    account.others += [(model, tokens) for _, model, tokens in qwen_side_requests(records, account.replies.values())]
    return account


def qwen_side_requests(records, replies):
    """Responses of which only the telemetry speaks: that of a reply has the same tokens."""
    known = [tokens for _, tokens in replies]
    for r in records:
        event = (r.get("systemPayload") or {}).get("uiEvent") or {}
        if event.get("event.name") == "qwen-code.api_response":
            prompt, cached = number(event.get("input_token_count")), number(event.get("cached_content_token_count"))
            output, total = number(event.get("output_token_count")), event.get("total_token_count")
            output = total - prompt if isinstance(total, int) and total >= prompt + output else output + number(event.get("thoughts_token_count"))
            tokens = [max(prompt - cached, 0), output, cached, 0]
            if tokens not in known:
                yield event.get("response_id"), event.get("model"), tokens


def codex_account(records):
    account, model, first, before = Account(), None, None, [0, 0, 0, 0]
    spoken, echoed, meters = [], [], []
    for r in records:
        payload = r.get("payload") if isinstance(r.get("payload"), dict) else None
        kind = r.get("type")
        item = payload if kind == "response_item" else r if payload is None else {}
        what = item.get("type")
        if kind == "turn_context":
            model = payload.get("model") or model
            first = first or model
        if what == "message":
            spoken.append((item.get("role"), text_of(item.get("content")), has_image(item.get("content"))))
        elif what in ("function_call", "custom_tool_call", "local_shell_call"):
            call = item.get("call_id") or item.get("id")
            if call:
                account.calls.append(call)
                spoken.append(("assistant", [], False))
        elif what == "reasoning" and text_of(item.get("summary"), ("summary_text",)) + text_of(item.get("content"), ("reasoning_text", "text")):
            spoken.append(("assistant", [], False))
        elif what in ("function_call_output", "custom_tool_call_output", "local_shell_call_output") and "call_id" in item:
            account.result(item["call_id"])
            spoken.append(("result", [], False))
        if kind == "event_msg":
            event = payload.get("type")
            if event in ("user_message", "agent_message") and isinstance(payload.get("message"), str):
                echoed.append((event == "user_message", [payload["message"]]))
            if event == "item_completed":
                done = payload.get("item") or {}
                if done.get("type") in ("UserMessage", "AgentMessage"):
                    said = [c["text"] for c in done.get("content") or [] if "text" in c]
                    echoed.append((done["type"] == "UserMessage", said))
            if event == "token_count" and isinstance(payload.get("info"), dict):
                meters.append((model, payload["info"].get("total_token_usage")))
        if kind == "token_usage_record":
            meters.append((model, payload.get("thread_token_usage")))
    # The parts of a response are items of their own.
    responses, last = 0, None
    for role, words, image in spoken:
        if role == "user":
            account.prompt(words, image)
        responses += role == "assistant" != last
        last = role
    if not account.prompts:
        for is_user, words in echoed:
            if is_user:
                account.prompt(words)
    if not any(role == "assistant" and any(words) for role, words, _ in spoken):
        last = True
        for is_user, _ in echoed:
            responses += not is_user and last
            last = is_user
    for model, reading in meters:
        if isinstance(reading, dict):
            cached = number(reading.get("cached_input_tokens"))
            written = number(reading.get("cache_write_input_tokens"))
            now = [
                max(number(reading.get("input_tokens")) - cached - written, 0),
                number(reading.get("output_tokens")),
                cached,
                written,
            ]
            # A reading that is smaller starts a new count.
            grown = all(new >= old for new, old in zip(now, before))
            account.others.append((model or first, [n - o for n, o in zip(now, before)] if grown else now))
            before = now
    # Each response that used tokens has one reading more.
    metered = sum(any(tokens) for _, tokens in account.others)
    for _ in range(metered or responses):
        account.reply(None, None, None)
    return account


def codex_failed(output):
    said = output if isinstance(output, str) else "\n".join(text_of(output)) if isinstance(output, list) else ""
    if said.startswith("unsupported call: "):
        return True
    fields = output if isinstance(output, dict) else {}
    if said.startswith("{"):
        try:
            fields = json.loads(said)
        except ValueError:
            pass
    if fields:
        code = (fields.get("metadata") or {}).get("exit_code", 0)
        inner = fields.get("output") or fields.get("content") or ""
        return code != 0 or fields.get("success") is False or shell_failed(inner)
    return shell_failed(said)


def gemini_account(document, records):
    """All that was ever said: messages that were taken back or replaced were paid for too."""
    account, messages = Account(), {}
    for r in records[1:] if document is not None else records:
        # The history of a resumed session repeats what stands before it.
        rows = [] if messages else (r.get("$set") or {}).get("messages") or []
        for m in rows + ([r] if r.get("type") else []):
            messages[m.get("id") or "no id %d" % len(messages)] = m
    for m in messages.values():
        if m.get("type") == "user":
            content = m.get("displayContent") or m.get("content")
            answers = isinstance(content, list) and any("functionResponse" in p for p in content)
            if text_of(content) or not answers:
                account.prompt(text_of(content), has_image(content))
        if m.get("type") == "gemini":
            tokens = m.get("tokens")
            if tokens:
                cached = number(tokens.get("cached"))
                output = number(tokens.get("output")) + number(tokens.get("thoughts"))
                tokens = [max(number(tokens.get("input")) - cached, 0), output, cached, 0]
            account.reply(m.get("id"), m.get("model"), tokens)
            for at, call in enumerate(m.get("toolCalls") or []):
                name = call.get("id") or "%s#%d" % (m.get("id"), at)
                account.calls.append(name)
                status = call.get("status") in ("error", "cancelled")
                if "result" in call or status or call.get("resultDisplay"):
                    account.result(name)
    return account


def gemini_parts(content):
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def pi_account(records):
    account = Account()
    for r in records:
        m = r.get("message") or {}
        if r.get("type") != "message":
            continue
        if m.get("role") == "user":
            account.prompt(text_of(m.get("content")), has_image(m.get("content")))
        if m.get("role") == "toolResult" and m.get("toolCallId"):
            account.result(m["toolCallId"])
        if m.get("role") == "assistant":
            usage = m.get("usage") or {}
            tokens = [number(usage.get(name)) for name in ("input", "output", "cacheRead", "cacheWrite")]
            content = m.get("content") if isinstance(m.get("content"), list) else []
            account.calls += [b["id"] for b in content if b.get("type") == "toolCall"]
            if m.get("stopReason") == "error":
                account.others.append((m.get("model"), tokens))
            elif m.get("content") or any(tokens):
                account.reply(None, m.get("model"), tokens)
    return account


def opencode_failed(part):
    state = part["state"]
    exit = (state.get("metadata") or {}).get("exit")
    return state["status"] == "error" or part["tool"] == "invalid" or exit not in (None, 0)


def opencode_tools(row):
    return [part for part in row.get("parts", []) if part["type"] == "tool"]


def opencode_account(records):
    account = Account()
    for row in records[1:]:
        info, parts = row["info"], row["parts"]
        if info["role"] == "user":
            typed = [p for p in parts if not p.get("synthetic") and not p.get("ignored")]
            account.prompt([p["text"] for p in typed if p["type"] == "text"])
        else:
            tokens = info["tokens"]
            cache = tokens["cache"]
            output = tokens["output"] + tokens["reasoning"]
            account.reply(info["id"], info["modelID"], [tokens["input"], output, cache["read"], cache["write"]])
        for part in opencode_tools(row):
            account.calls.append(part["callID"])
            if part["state"]["status"] in ("completed", "error"):
                account.result(part["callID"])
    return account


def opencode(records):
    texts, calls, results = [], [], []
    for row in records[1:]:
        texts += [part["text"] for part in row["parts"] if part["type"] == "text" and part["text"]]
        error = row["info"].get("error") or {}
        if error:
            texts.append((error.get("data") or {}).get("message") or error["name"])
        for part in opencode_tools(row):
            calls.append(part["callID"])
            if part["state"]["status"] in ("completed", "error"):
                results.append([part["callID"], opencode_failed(part)])
    return texts, calls, results, [records[0]["info"]["title"], "auto"]


def objects_of(line):
    """All whole JSON objects on a line."""
    line = line.strip("\ufeff \t\r\n\0")
    if not line:
        return []
    try:
        value = json.loads(line)
        return [value] if isinstance(value, dict) else []
    except ValueError:
        pass
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(line) and line[at] == "{":
        try:
            value, at = decoder.raw_decode(line, at)
        except ValueError:
            break
        found.append(value)
    return found


def read(path):
    raw = open(path, "rb").read().decode("utf-8", "replace")
    try:
        whole = json.loads(raw)
        if isinstance(whole, dict) and isinstance(whole.get("messages"), list):
            return whole, [whole] + whole["messages"]
    except ValueError:
        pass
    return None, [record for line in raw.split("\n") for record in objects_of(line)]


def text_of(content, kinds=("text", "input_text", "output_text")):
    if isinstance(content, str):
        return [content]
    return [
        part["text"]
        for part in content or []
        if isinstance(part, dict)
        and isinstance(part.get("text"), str)
        and not part.get("thought")
        and part.get("type", "text") in kinds
    ]


def agent_of(document, records):
    if document is not None:
        if isinstance(document.get("info"), dict):
            return "opencode"
        return "gemini" if "sessionId" in document else None
    for record in records[:40]:
        kind = record.get("type")
        message = record.get("message")
        message = message if isinstance(message, dict) else {}
        if isinstance(record.get("payload"), dict) or "record_type" in record:
            return "codex"
        if kind is None and "instructions" in record:
            return "codex"
        if kind == "session" and "cwd" in record:
            return "pi"
        if "projectHash" in record and "sessionId" in record or "$set" in record:
            return "gemini"
        if "systemPayload" in record or "parts" in message and "uuid" in record:
            return "qwen"
        if kind in (
            "summary custom-title ai-title file-history-snapshot queue-operation attachment "
            "progress permission-mode mode last-prompt pr-link worktree-state relocated agent-name"
        ).split():
            return "claude"
        marked = any(key in record for key in ("parentUuid", "sessionId", "timestamp"))
        if kind in ("user", "assistant") and marked and "content" in message:
            return "claude"
        if kind == "system" and "sessionId" in record:
            return "claude"
    return None


def claude(records):
    nodes = [r for r in records if isinstance(r.get("uuid"), str)]
    turns = [r for r in records if r.get("type") in ("user", "assistant") and "message" in r]
    ids = [r["uuid"] for r in nodes]
    # In some files ids were replaced by one and the same text.
    if all("uuid" in r for r in turns) and turns and len(set(ids)) > len(ids) / 2:
        by_uuid = {r["uuid"]: r for r in nodes}
        order = {id(r): at for at, r in enumerate(records)}
        parents = {r.get("parentUuid") for r in nodes}
        leaves = []
        for terminal in (r for r in nodes if r["uuid"] not in parents):
            at, seen = terminal, set()
            while at is not None and at["uuid"] not in seen:
                seen.add(at["uuid"])
                is_boundary = at.get("subtype") == "compact_boundary"
                if at["type"] in ("user", "assistant") or is_boundary:
                    leaves.append(at)
                    break
                at = by_uuid.get(at.get("parentUuid"))
        main = [r for r in leaves if not r.get("isSidechain")] or leaves
        chain, seen = [], set()
        if not main:
            main = nodes[-1:]
        at = max(main, key=lambda r: order[id(r)])
        while at is not None and at["uuid"] not in seen:
            seen.add(at["uuid"])
            chain.append(at)
            parent, place = at.get("parentUuid"), order[id(at)]
            at = by_uuid.get(parent)
            if parent and at is None:  # The turn before takes the place of a parent that is lost.
                turns = [r for r in nodes if r["type"] in ("user", "assistant") and not r.get("isSidechain")]
                at = max((r for r in turns if order[id(r)] < place), key=lambda r: order[id(r)], default=None)
        messages = {r["message"].get("id") for r in chain if r["type"] == "assistant"} - {None}
        calls = set()
        for r in nodes:
            if r["type"] == "assistant" and r["message"].get("id") in messages:
                if not r.get("isSidechain") or r["uuid"] in seen:
                    seen.add(r["uuid"])
                    calls |= {b.get("id") for b in blocks(r) if b.get("type") == "tool_use"}
        for r in nodes:
            if r["type"] == "user" and not r.get("isSidechain"):
                if any(b.get("tool_use_id") in calls for b in blocks(r)):
                    seen.add(r["uuid"])
        # A record that is written twice is one.
        live = list({r["uuid"]: r for r in reversed(nodes) if r["uuid"] in seen}.values())[::-1]
    else:
        live = records
    texts, calls, results = [], [], []
    for r in live:
        said = text_of((r.get("message") or {}).get("content"))
        if r.get("type") == "attachment" and r["attachment"].get("type") == "queued_command":
            texts += [part for text in text_of(r["attachment"].get("prompt")) for part in apart(text)]
        if r.get("type") not in ("user", "assistant"):
            continue
        by_person = (r.get("origin") or {}).get("kind", "human") == "human"
        is_typed = r["type"] == "user" and by_person and not (r.get("isMeta") or r.get("isCompactSummary"))
        texts += [part for text in said for part in apart(text)] if is_typed else said
        for b in blocks(r):
            if b.get("type") == "tool_use" and "id" in b:
                calls.append(b["id"])
            if b.get("type") == "tool_result" and "tool_use_id" in b:
                results.append([b["tool_use_id"], b.get("is_error") is True])
    title = None
    uuids = {r.get("uuid") for r in records}
    for r in records:
        if r.get("type") == "summary" and r.get("leafUuid") in uuids:
            title = [r["summary"], "summary"]
    for kind, key, source in (("ai-title", "aiTitle", "auto"), ("custom-title", "customTitle", "manual")):
        for r in records:
            if r.get("type") == kind:
                title = [r[key], source]
    return texts, calls, results, title


def blocks(record):
    content = (record.get("message") or {}).get("content")
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def walk(nodes, key, parent_key, leaf):
    by_id = {}
    for node in nodes:
        by_id[node[key]] = node
    chain, seen, at = [], set(), leaf
    while at is not None and at[key] not in seen:
        seen.add(at[key])
        chain.append(at)
        at = by_id.get(at.get(parent_key))
    return [node for node in nodes if node[key] in seen]


def qwen(records):
    asides = ("session_artifact", "session_sources", "managed_session")
    nodes = [r for r in records if "uuid" in r]
    ends = [r for r in nodes if not (r.get("subtype") or "").startswith(asides)]
    texts, calls, results = [], [], []
    for r in walk(nodes, "uuid", "parentUuid", ends[-1]) if ends else []:
        if r["type"] == "system":
            continue
        parts = (r.get("message") or {}).get("parts") or []
        display = (r.get("systemPayload") or {}).get("displayText")
        if r["type"] == "user":
            parts = [p for p in parts if not str(p.get("text", "")).startswith("<qwen:user-prompt")]
            if display and r.get("subtype") in (None, "mid_turn_user_message"):
                parts = [{"text": display}] + [p for p in parts if "text" not in p]
        texts += text_of(parts)
        for p in parts:
            if "functionCall" in p:
                calls.append(p["functionCall"]["id"])
            if "functionResponse" in p:
                status = (r.get("toolCallResult") or {}).get("status", "success")
                error = "error" in p["functionResponse"].get("response", {})
                output = p["functionResponse"].get("response", {}).get("output") or ""
                failed = status != "success" or error or shell_failed(output)
                results.append([p["functionResponse"]["id"], failed])
    title = None
    for r in records:
        if r.get("type") == "system" and r.get("subtype") == "custom_title":
            payload = r["systemPayload"]
            title = [payload["customTitle"], payload.get("titleSource", "manual")]
    return texts, calls, results, title


def shell_failed(output):
    lines = str(output).split("\n")
    for line in lines[:8] + lines[-8:]:
        line = line.strip()
        for mark in ("Process exited with code", "Exit code:", "Exit Code:", "Command exited with code"):
            if line.startswith(mark):
                code = line[len(mark):].strip()
                if code.lstrip("-").isdigit():
                    return int(code) != 0
    return False


def codex(records):
    texts, calls, results, title = [], [], [], None
    items, echoes = [], []
    for r in records:
        payload = r.get("payload") if isinstance(r.get("payload"), dict) else None
        kind = r.get("type")
        if kind == "response_item":
            items.append(payload)
        elif payload is None and kind:
            items.append(r)
        elif kind == "event_msg" and payload.get("type") == "thread_name_updated":
            title = [payload.get("thread_name"), "manual"]
        elif kind == "event_msg" and payload.get("type") in ("user_message", "agent_message"):
            role = "user" if payload["type"] == "user_message" else "assistant"
            echoes.append((role, [payload.get("message")]))
        elif kind == "event_msg" and payload.get("type") == "item_completed":
            item = payload["item"]
            role = {"UserMessage": "user", "AgentMessage": "assistant"}.get(item.get("type"))
            if role:
                echoes.append((role, [c["text"] for c in item["content"] if "text" in c]))
    said = {"user": [], "assistant": [], "context": []}
    for item in items:
        kind = item.get("type")
        if kind == "message":
            words = text_of(item.get("content"))
            role = item["role"]
            injected = any(w.lstrip().startswith(("<", "# AGENTS.md")) for w in words)
            said["context" if injected or role not in said else role] += words
        elif kind in ("function_call", "custom_tool_call"):
            calls += [item["call_id"]] if "call_id" in item else []
        elif kind in ("function_call_output", "custom_tool_call_output"):
            failed = codex_failed(item.get("output"))
            results += [[item["call_id"], failed]] if "call_id" in item else []
    for role in ("user", "assistant"):
        if not said[role]:
            words = [w for who, words in echoes if who == role for w in words]
            said[role] = [EDITOR.sub("", w).strip() if EDITOR.match(w) else w for w in words]
    return said["user"] + said["assistant"], calls, results, title


def gemini(document, records):
    messages, title = [], None
    for r in records:
        change = r.get("$set") or {}
        if "messages" in change:
            messages = list(change["messages"])
        if "$rewindTo" in r:
            ids = [m.get("id") for m in messages]
            if r["$rewindTo"] in ids:
                messages = messages[: ids.index(r["$rewindTo"])]
        if r.get("type"):
            places = [at for at, m in enumerate(messages) if m.get("id") and m.get("id") == r.get("id")]
            if places:
                messages[places[0]] = r
            else:
                messages.append(r)
        summary = change.get("summary") or ("projectHash" in r and r.get("summary"))
        if summary:
            title = [summary, "auto"]
    texts, calls, results = [], [], []
    with_calls = {call.get("id") for m in messages for call in m.get("toolCalls") or []}
    for m in messages:
        if m["type"] not in ("user", "gemini"):
            continue
        content = m.get("displayContent") or m.get("content")
        texts += [t for t in text_of(content) if t]
        for part in content if isinstance(content, list) else []:
            if "functionCall" in part:
                calls.append(part["functionCall"]["id"])
            answer = part.get("functionResponse") or {}
            if answer.get("id") in calls and answer["id"] not in with_calls:
                response = answer.get("response") or {}
                failed = "error" in response or shell_failed(response.get("output"))
                results.append([answer["id"], failed])
        for at, call in enumerate(m.get("toolCalls") or []):
            name = call.get("id") or "%s#%d" % (m.get("id"), at)
            calls.append(name)
            if "result" in call or call.get("status") in ("error", "cancelled"):
                failed = call.get("status") in ("error", "cancelled")
                for part in gemini_parts(call.get("result")):
                    response = (part.get("functionResponse") or {}).get("response") or {}
                    failed = failed or "error" in response or shell_failed(response.get("output"))
                results.append([name, failed])
    return texts, calls, results, title


def pi(records):
    nodes = [r for r in records if r.get("type") != "session" and "id" in r]
    live = walk(nodes, "id", "parentId", nodes[-1]) if nodes else records
    if any("message" in r and "id" not in r for r in records):
        live = records
    texts, calls, results, title = [], [], [], None
    for r in live:
        if r.get("type") != "message":
            continue
        m = r["message"]
        if m.get("role") in ("user", "assistant"):
            texts += text_of(m.get("content"))
        if m.get("stopReason") == "error" and m.get("errorMessage"):
            texts.append(m["errorMessage"])
        if m.get("role") == "bashExecution":
            texts.append("$ %s\n%s" % (m.get("command"), m.get("output")))
        for block in m.get("content") if isinstance(m.get("content"), list) else []:
            if block.get("type") == "toolCall":
                calls.append(block["id"])
        if m.get("role") == "toolResult":
            results.append([m["toolCallId"], m.get("isError") is True])
    for r in records:
        if r.get("type") == "session_info":
            title = [r["name"], "manual"]
    return texts, calls, results, title


def subagents(path, agent):
    """The files of a session's subagents, which count with it."""
    folder, stem = os.path.dirname(path), os.path.splitext(os.path.basename(path))[0]
    places = {"claude": (stem, "subagents"), "qwen": ("..", "subagents", stem)}
    if agent not in places:
        return []
    return sorted(glob.glob(os.path.join(glob.escape(os.path.join(folder, *places[agent])), "agent-*.jsonl")))


def main():
    accounts = {"claude": claude_account, "qwen": qwen_account, "codex": codex_account, "pi": pi_account}
    accounts["opencode"] = opencode_account
    sys.stdout.reconfigure(errors="surrogatepass")
    for path in sys.argv[1:]:
        document, records = read(path)
        agent = agent_of(document, records)
        answer = {"path": path, "agent": agent, "records": len(records)}
        if agent:  # else it is no session
            if agent == "gemini":
                found, account = gemini(document, records), gemini_account(document, records)
            else:
                readers = {"claude": claude, "qwen": qwen, "codex": codex, "pi": pi, "opencode": opencode}
                found = readers[agent](records)
                account = accounts[agent](records)
            for beside in subagents(path, agent):
                other = accounts[agent](read(beside)[1])
                account.others += [reply for reply in other.replies.values()] + other.others
            answer.update(zip(("texts", "calls", "results", "title"), found))
            answer.update(account.summary())
        print(json.dumps(answer))


if __name__ == "__main__":
    main()
