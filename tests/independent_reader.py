#!/usr/bin/env python3
"""Reads session files of agents in its own, plain way, so that the program can be compared with it.

usage: independent_reader.py FILE...
One JSON line a file: {path, agent, records, title, texts, calls, results}; agent is null for a file
that is no session. Written from descriptions of the formats, not from the program.
"""
import json
import sys


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
            at = by_uuid.get(at.get("parentUuid"))
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
        live = [r for r in records if r.get("uuid") in seen]
    else:
        live = records
    texts, calls, results = [], [], []
    for r in live:
        if r.get("type") == "attachment" and r["attachment"].get("type") == "queued_command":
            texts += text_of(r["attachment"].get("prompt"))
        if r.get("type") not in ("user", "assistant"):
            continue
        texts += text_of((r.get("message") or {}).get("content"))
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
            calls.append(item["call_id"])
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = item["output"]
            if not isinstance(output, str):
                output = "\n".join(text_of(output)) if isinstance(output, list) else ""
            failed = shell_failed(output)
            if output.startswith("{"):
                try:
                    metadata = json.loads(output).get("metadata") or {}
                    failed = metadata.get("exit_code", 0) != 0
                except ValueError:
                    pass
            results.append([item["call_id"], failed])
    for role in ("user", "assistant"):
        if not said[role]:
            said[role] = [w for who, words in echoes if who == role for w in words]
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
    for m in messages:
        if m["type"] not in ("user", "gemini"):
            continue
        texts += [t for t in text_of(m.get("displayContent") or m.get("content")) if t]
        for at, call in enumerate(m.get("toolCalls") or []):
            name = call.get("id") or "%s#%d" % (m.get("id"), at)
            calls.append(name)
            if "result" in call or call.get("status") in ("error", "cancelled"):
                failed = call.get("status") in ("error", "cancelled")
                for part in call.get("result") or []:
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


def main():
    sys.stdout.reconfigure(errors="surrogatepass")
    for path in sys.argv[1:]:
        document, records = read(path)
        agent = agent_of(document, records)
        answer = {"path": path, "agent": agent, "records": len(records)}
        if agent:  # else it is no session
            if agent == "gemini":
                found = gemini(document, records)
            else:
                found = {"claude": claude, "qwen": qwen, "codex": codex, "pi": pi}[agent](records)
            answer.update(zip(("texts", "calls", "results", "title"), found))
        print(json.dumps(answer))


main()
