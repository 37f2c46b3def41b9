#!/usr/bin/env python3
"""Adds up the tokens in files and folders of agents, each request once, so that the program can be compared.

usage: independent_totals.py PATH...
One JSON line a path, which is a file or a folder: by agent {tokens: [input, output, read from the cache, written to it], recorded}, where
`recorded` is the sum of the costs that Claude Code states for its sessions. Written from descriptions of the
formats, not from the program.
"""
import datetime
import json
import os
import sqlite3
import sys

from independent_reader import (
    agent_of, codex_account, gemini_account, number, qwen_account, qwen_side_requests, read, subagents,
)


class Totals:
    def __init__(self):
        self.requests = {}  # by agent and request: tokens
        self.recorded = {}  # by session: dollars

    def add(self, agent, request, tokens):
        """Of copies of a request the one with the most output counts: another may be cut off."""
        request = agent, request if request is not None else len(self.requests)
        if request not in self.requests or tokens[1] > self.requests[request][1]:
            self.requests[request] = tokens

    def summary(self):
        sums = {}
        for (agent, _), tokens in self.requests.items():
            so_far = sums.get(agent, [0, 0, 0, 0])
            sums[agent] = [one + other for one, other in zip(so_far, tokens)]
        sums = {agent: {"tokens": tokens, "recorded": 0} for agent, tokens in sums.items() if any(tokens)}
        if self.recorded:
            sums["claude"]["recorded"] = sum(self.recorded.values())
        return sums


def files(path):
    if not os.path.isdir(path):
        return [path] + subagents(path, "claude") + subagents(path, "qwen")
    return [os.path.join(folder, name) for folder, _, names in sorted(os.walk(path)) for name in sorted(names)]


def claude(records, totals):
    requests = {}
    for r in records:
        # Older versions have the replies of subagents in rows about progress only.
        if r.get("type") == "progress":
            r = (r.get("data") or {}).get("message") or {}
        message = r.get("message") if isinstance(r.get("message"), dict) else {}
        if r.get("type") == "assistant" and not r.get("isApiErrorMessage") and message.get("usage"):
            usage = message["usage"]
            names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
            # The largest row of a reply counts.
            name = message.get("id") or "no id %d" % len(requests)
            tokens = [number(usage.get(name)) for name in names]
            requests[name] = max(tokens, requests.get(name, tokens), key=lambda counts: (counts[1], sum(counts)))
        if r.get("type") == "cost-state":  # a cumulative snapshot
            totals.recorded[r["sessionId"]] = r["totalCostUSD"]
    for name, tokens in requests.items():
        totals.add("claude", None if name.startswith("no id") else name, tokens)


def qwen(records, totals):
    ids = {r.get("uuid"): (r.get("forkedFrom") or {}).get("messageUuid") for r in records}
    replies = qwen_account(records).replies
    for uuid, (_, tokens) in replies.items():
        totals.add("qwen", ids.get(uuid) or uuid, tokens or [0, 0, 0, 0])
    return replies.values()


def opencode(messages, totals):
    for info in messages:
        tokens = info.get("tokens")
        if info.get("role") != "assistant" or not tokens:
            continue
        cache = tokens["cache"]
        counts = [tokens["input"], tokens["output"] + tokens["reasoning"], cache["read"], cache["write"]]
        # A fork has new ids and the same times.
        times = (info["time"].get("created"), info["time"].get("completed"))
        totals.add("opencode", (times, info.get("modelID"), *counts), counts)


def opencode_database(path, totals):
    database = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    opencode([json.loads(row[0]) for row in database.execute("SELECT data FROM message")], totals)


def goose_counts(total, output, cached, written):
    """The input has all of it, the part from the cache and the part to it."""
    cached, written = cached or 0, written or 0
    return [(total or 0) - cached - written, output or 0, cached, written]


def goose_database(path, totals):
    database = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    rows = database.execute("SELECT session_id, id, created_timestamp, input_tokens, output_tokens, "
                            "cache_read_tokens, cache_write_tokens FROM usage_ledger")
    for session, number, time, *counts in rows:
        totals.add("goose", (session, number, time), goose_counts(*counts))


def goose(session, totals):
    usage = session["accumulated_usage"]
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_write_input_tokens")
    totals.add("goose", session["id"], goose_counts(*(usage.get(name) for name in names)))


def copilot(records, totals):
    for r in records:
        if r.get("type") == "session.usage_record":
            usage = r["data"]["usage"]
            cached, written = number(usage.get("cacheReadTokens")), number(usage.get("cacheWriteTokens"))
            counts = [usage["inputTokens"] - cached - written, usage["outputTokens"], cached, written]
            totals.add("copilot", usage["accounting"]["usageId"], counts)
        if r.get("type") == "session.compaction_complete" and r["data"].get("compactionTokensUsed"):
            usage = r["data"]["compactionTokensUsed"]
            cached, written = number(usage.get("cacheReadTokens")), number(usage.get("cacheWriteTokens"))
            totals.add("copilot", r["id"], [usage["inputTokens"] - cached - written, usage["outputTokens"], cached, written])


def droid(path, session, totals):
    settings = os.path.splitext(path)[0] + ".settings.json"
    if os.path.exists(settings):
        usage = json.load(open(settings)).get("tokenUsage") or {}
        names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")
        totals.add("droid", session, [number(usage.get(name)) for name in names])


def kimi(records, totals):
    for r in records:
        if r.get("type") == "usage.record":  # a fork repeats rows with their times
            names = ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
            tokens = [number(r["usage"].get(name)) for name in names]
            totals.add("kimi", (r.get("agentId"), r.get("time"), *tokens), tokens)


# The type of the first record tells these agents apart.
BY_FIRST_RECORD = {"session.start": copilot, "metadata": kimi}


class Rollout:
    """A file of Codex: the requests that it states, and the readings of its meter."""

    def __init__(self, records):
        self.head = next((r for r in records if r.get("type") == "session_meta"), {})
        meta = self.head.get("payload") or {}
        source = meta.get("source") if isinstance(meta.get("source"), dict) else {}
        spawn = (source.get("subagent") or {}) if isinstance(source.get("subagent"), dict) else {}
        self.id = meta.get("id")
        self.parent = meta.get("forked_from_id") or meta.get("parent_thread_id")
        self.parent = self.parent or (spawn.get("thread_spawn") or {}).get("parent_thread_id")
        self.requests, self.readings, before, has_own = [], [], None, False
        for r in records:
            payload = r.get("payload") if isinstance(r.get("payload"), dict) else {}
            if r.get("type") == "token_usage_record":
                has_own = has_own or payload.get("thread_id") in (None, self.id)
                self.requests.append((payload["response_id"], payload["usage"]))
            info = payload.get("info")
            if payload.get("type") != "token_count" or not isinstance(info, dict):
                continue
            last, total = info.get("last_token_usage"), codex_tokens(info["total_token_usage"])
            since = [now - then for now, then in zip(total, before or [0, 0, 0, 0])]
            last = codex_tokens(last) if last else since
            # Later requests have records.
            if total != before and any(last) and not has_own:
                self.readings.append((r.get("timestamp"), last, total))
            before = total

    def copied(self, rollouts):
        """How many readings at the start are the parent's."""
        if not self.parent:
            return 0
        parents = [rollout for rollout in rollouts if rollout.id == self.parent]
        longest = 0
        if not parents:
            # The first of the forks takes the place of a parent that is gone.
            start = instant(self.head["timestamp"])
            late = [at for at, reading in enumerate(self.readings) if abs(instant(reading[0]) - start) > 1]
            longest = late[0] if late else len(self.readings)
            parents = [next(rollout for rollout in rollouts if rollout.parent == self.parent)]
            parents = [parent for parent in parents if parent is not self]
        for parent in parents:
            count = 0
            for own, known in zip(self.readings, parent.all_readings):
                if own[1:] != known[1:]:
                    break
                count += 1
            longest = max(longest, count)
        return longest


def instant(time):
    return datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


def codex_tokens(usage):
    cached, written = number(usage.get("cached_input_tokens")), number(usage.get("cache_write_input_tokens"))
    return [number(usage.get("input_tokens")) - cached - written, number(usage.get("output_tokens")), cached, written]


def codex(sessions, totals):
    rollouts = []
    for records in sessions:
        rollout = Rollout(records)
        # Readings beside records, too: a fork may copy only these.
        plain = [r for r in records if r.get("type") != "token_usage_record"]
        rollout.all_readings = Rollout(plain).readings
        rollouts.append(rollout)
        if not rollout.head:  # before there were heads
            for _, tokens in codex_account(records).others:
                totals.add("codex", None, tokens)
    for rollout in rollouts:
        if not rollout.head:
            continue
        for response, usage in rollout.requests:
            totals.add("codex", response, codex_tokens(usage))
        for time, last, total in rollout.readings[rollout.copied(rollouts):]:
            request = (rollout.parent, time, str(last), str(total)) if rollout.parent else None
            totals.add("codex", request, last)


def total(argument):
    totals, rollouts, answered, telemetry = Totals(), [], [], []
    for path in files(argument):
        if path.endswith(".db"):
            tables = sqlite3.connect("file:%s?mode=ro" % path, uri=True).execute("SELECT name FROM sqlite_schema")
            is_goose = ("usage_ledger",) in tables.fetchall()
            (goose_database if is_goose else opencode_database)(path, totals)
        if not path.endswith((".jsonl", ".json")) or path.endswith(".settings.json"):
            continue
        document, records = read(path)
        first = records[0] if records else {}
        agent = agent_of(document, records)
        if first.get("type") in BY_FIRST_RECORD:
            BY_FIRST_RECORD[first["type"]](records, totals)
        elif first.get("type") == "session_start" and "owner" in first:
            droid(path, first["id"], totals)
        elif "conversation" in first:
            goose(first, totals)
        elif agent == "claude":
            claude(records, totals)
        elif agent == "qwen":
            answered += qwen(records, totals)
            telemetry += records
        elif agent == "codex":
            rollouts.append(records)
        elif agent == "gemini":
            head = document or first
            for name, (_, tokens) in gemini_account(document, records).replies.items():
                totals.add("gemini", (head.get("sessionId") or path, name), tokens or [0, 0, 0, 0])
        elif agent == "pi":
            for r in records:
                usage = r.get("usage") or (r.get("message") or {}).get("usage")
                if isinstance(usage, dict):  # a fork repeats rows with their ids and times
                    names = ("input", "output", "cacheRead", "cacheWrite")
                    totals.add("pi", (r.get("id"), r.get("timestamp")), [number(usage.get(name)) for name in names])
        elif agent == "opencode":
            opencode([row["info"] for row in records[1:]], totals)
    codex(rollouts, totals)
    for response, _, tokens in qwen_side_requests(telemetry, answered):
        totals.add("qwen", "response %s" % response, tokens)
    return totals.summary()


for argument in sys.argv[1:]:
    print(json.dumps(total(argument)))
