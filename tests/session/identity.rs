//! Sessions of every format with forks, copies, second files, subagents and damage, compared with what was put into
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::bench::session;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Agent {
    Claude,
    Qwen,
    Codex,
    Gemini,
    Pi,
    Copilot,
    Droid,
    Kimi,
}

const AGENTS: [Agent; 8] = [
    Agent::Claude,
    Agent::Qwen,
    Agent::Codex,
    Agent::Gemini,
    Agent::Pi,
    Agent::Copilot,
    Agent::Droid,
    Agent::Kimi,
];

const ROOT: &str = "11111111-0000-4000-8000-00000000000a";
const FORK: &str = "22222222-0000-4000-8000-00000000000b";
const CHILD: &str = "33333333-0000-4000-8000-00000000000c";

/// A family of sessions.
#[derive(Debug, Clone)]
struct Plan {
    agent: Agent,
    /// The number of turns of the first session.
    turns: u32,
    /// The number of its turns that a fork starts with, and the number of turns of the fork.
    fork: Option<(u32, u32)>,
    /// Whether a directory has an older copy of the first session, without its last turn.
    has_copy: bool,
    /// Whether a subagent makes a turn.
    has_subagent: bool,
    /// What follows the last record of the first session.
    end: &'static str,
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let ends = ["", "{\"type\":\"us", "not a record\n"];
    let fork = proptest::option::of((0..4_u32, 1..3_u32));
    let parts = (
        prop::sample::select(AGENTS.to_vec()),
        1..4_u32,
        fork,
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(ends.to_vec()),
    );
    parts.prop_map(|(agent, turns, fork, has_copy, has_subagent, end)| Plan {
        agent,
        turns,
        fork: fork
            .filter(|_| agent != Agent::Gemini)
            .map(|(from, own)| (from.min(turns), own)),
        has_copy,
        // The others have no files of subagents, or the fields of one are not known.
        has_subagent: has_subagent
            && matches!(
                agent,
                Agent::Claude
                    | Agent::Qwen
                    | Agent::Codex
                    | Agent::Gemini
                    | Agent::Copilot
                    | Agent::Kimi
            ),
        end,
    })
}

/// The turns of each session that it made itself, and those that it shows.
#[derive(Debug, Default)]
struct Model {
    own: BTreeMap<&'static str, Vec<u32>>,
    shown: BTreeMap<&'static str, Vec<u32>>,
    of_subagent: Vec<u32>,
}

impl Plan {
    fn model(&self) -> Model {
        let mut model = Model::default();
        let of_root: Vec<u32> = (1..=self.turns).collect();
        model.own.insert(ROOT, of_root.clone());
        model.shown.insert(ROOT, of_root.clone());
        if let Some((from, count)) = self.fork {
            let own: Vec<u32> = (101..=100 + count).collect();
            let copied = of_root[..from as usize].iter();
            model
                .shown
                .insert(FORK, copied.chain(&own).copied().collect());
            model.own.insert(FORK, own);
        }
        model.of_subagent.extend(self.has_subagent.then_some(201));
        model
    }
}

/// The tokens of the two requests of a turn: input, without what is cached, and output.
fn tokens(turn: u32) -> [(u64, u64); 2] {
    let turn = u64::from(turn);
    [(1000 + turn, 10 + turn), (2000 + turn, 20 + turn)]
}

fn time(turn: u32, second: u32) -> String {
    format!(
        "2026-01-01T{:02}:{:02}:{second:02}.000Z",
        turn / 100,
        turn % 100
    )
}

/// Returns the rows of a turn. `from` is the session that a fork copied it from.
#[expect(clippy::too_many_lines, reason = "the rows of each agent")]
fn rows(agent: Agent, id: &str, turn: u32, from: Option<&str>, is_side: bool) -> Vec<Value> {
    let [first, second] = tokens(turn);
    let prompt = format!("Prompt {turn}.");
    let answer = format!("Answer {turn}.");
    let call = format!("call_{turn}");
    let at = |second| time(turn, second);
    let name = |part: &str| format!("{part}-{turn}");
    match agent {
        Agent::Claude => {
            let row = |second: u32, kind: &str, part: &str, parent: &str, message: Value| {
                json!({"type": kind, "uuid": name(part), "parentUuid": name(parent), "sessionId": id, "cwd": "/w",
                    "timestamp": at(second), "isSidechain": is_side, "message": message})
            };
            let said = |part: &str, (input, output): (u64, u64), block: Value| {
                json!({"id": name(part), "role": "assistant", "model": "m", "content": [block],
                    "usage": {"input_tokens": input, "output_tokens": output}})
            };
            let tool =
                json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}});
            let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "a"}]});
            // A reply is written again as it grows, and once more with less.
            let grown = said("a", first, tool);
            let mut started = grown.clone();
            started["usage"]["output_tokens"] = 1.into();
            let mut begun = row(2, "assistant", "a0", "u", started.clone());
            begun["message"]["content"] = json!([{"type": "thinking", "thinking": "hm"}]);
            let mut late = row(2, "assistant", "a1", "a", started);
            late["message"]["content"] = json!([{"type": "text", "text": "So:"}]);
            let mut prompted = row(
                1,
                "user",
                "u",
                "none",
                json!({"role": "user", "content": prompt}),
            );
            prompted["parentUuid"] = match turn {
                1 | 201 => Value::Null,
                101 => from.map_or(Value::Null, Value::from),
                turn => format!("z-{}", turn - 1).into(),
            };
            vec![
                prompted,
                begun,
                row(2, "assistant", "a", "a0", grown),
                late,
                row(3, "user", "r", "a1", result),
                row(
                    4,
                    "assistant",
                    "z",
                    "r",
                    said("z", second, json!({"type": "text", "text": answer})),
                ),
            ]
        }
        Agent::Qwen => {
            let row = |second: u32, kind: &str, part: &str, parent: Value, parts: Value| {
                let mut row = json!({"uuid": name(part), "parentUuid": parent, "sessionId": id, "timestamp": at(second),
                    "type": kind, "cwd": "/w", "isSidechain": is_side, "message": {"role": kind, "parts": parts}});
                if let Some(from) = from.filter(|_| turn < 100) {
                    row["forkedFrom"] = json!({"sessionId": from, "messageUuid": name(part)});
                }
                row
            };
            let used = |mut row: Value, (input, output): (u64, u64)| {
                row["model"] = "m".into();
                row["usageMetadata"] = json!({"promptTokenCount": input, "candidatesTokenCount": output,
                    "totalTokenCount": input + output});
                row
            };
            // The session repeats the tokens of replies, also of those to subagents.
            let telemetry = |part: &str, parent: &str, (input, output): (u64, u64)| {
                let mut row = json!({"uuid": name(part), "parentUuid": name(parent), "sessionId": id, "timestamp": at(2),
                    "type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": {
                        "event.name": "qwen-code.api_response", "response_id": name(part), "model": "m",
                        "prompt_id": "s########0", "input_token_count": input, "output_token_count": output,
                        "total_token_count": input + output}}});
                if let Some(from) = from.filter(|_| turn < 100) {
                    row["forkedFrom"] = json!({"sessionId": from, "messageUuid": name(part)});
                }
                row
            };
            let before = match turn {
                1 | 201 => Value::Null,
                101 => from.map_or(Value::Null, Value::from),
                turn => format!("z-{}", turn - 1).into(),
            };
            let tool = json!([{"functionCall": {"id": call, "name": "run_shell_command", "args": {"command": "ls"}}}]);
            let result = json!([{"functionResponse": {"id": call, "name": "run_shell_command", "response": {"output": "a"}}}]);
            vec![
                row(1, "user", "u", before, json!([{"text": prompt}])),
                telemetry("ta", "u", first),
                used(row(2, "assistant", "a", name("u").into(), tool), first),
                row(3, "tool_result", "r", name("a").into(), result),
                telemetry("tz", "r", second),
                used(
                    row(
                        4,
                        "assistant",
                        "z",
                        name("r").into(),
                        json!([{"text": answer}]),
                    ),
                    second,
                ),
            ]
        }
        Agent::Codex => {
            let row = |second: u32, kind: &str, payload: Value| json!({"timestamp": at(second), "type": kind, "payload": payload});
            let text = |role: &str, part: &str, kind: &str, text: &str| json!({"type": "message", "id": name(part), "role": role, "content": [{"type": kind, "text": text}]});
            let used = |part: &str, (input, output): (u64, u64)| {
                json!({"thread_id": id, "response_id": name(part), "usage": {"input_tokens": input, "output_tokens": output},
                    "thread_token_usage": {"input_tokens": 9 + input, "output_tokens": output}})
            };
            let tool = json!({"type": "function_call", "id": name("f"), "name": "shell", "call_id": call, "arguments": "{}"});
            let result = json!({"type": "function_call_output", "id": name("o"), "call_id": call, "output": "a"});
            vec![
                row(1, "response_item", text("user", "u", "input_text", &prompt)),
                row(2, "response_item", tool),
                row(2, "token_usage_record", used("ra", first)),
                row(3, "response_item", result),
                row(
                    4,
                    "response_item",
                    text("assistant", "z", "output_text", &answer),
                ),
                row(4, "token_usage_record", used("rz", second)),
            ]
        }
        Agent::Gemini => {
            let used = |(input, output): (u64, u64)| json!({"input": input, "output": output, "cached": 0, "thoughts": 0});
            let tool = json!([{"id": call, "name": "run_shell_command", "args": {"command": "ls"}, "status": "success",
                "result": [{"functionResponse": {"id": call, "response": {"output": "a"}}}]}]);
            vec![
                json!({"id": name("u"), "timestamp": at(1), "type": "user", "content": [{"text": prompt}]}),
                json!({"id": name("a"), "timestamp": at(2), "type": "gemini", "model": "m", "content": "", "tokens": used(first),
                    "toolCalls": tool}),
                json!({"id": name("z"), "timestamp": at(4), "type": "gemini", "model": "m", "content": answer, "tokens": used(second)}),
            ]
        }
        Agent::Pi => {
            let row = |second: u32, part: &str, parent: Value, message: Value| json!({"type": "message", "id": name(part), "parentId": parent, "timestamp": at(second), "message": message});
            let used = |(input, output): (u64, u64)| json!({"input": input, "output": output, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0}});
            let said = |tokens, block: Value| json!({"role": "assistant", "model": "m", "content": [block], "usage": used(tokens), "stopReason": "stop"});
            let before = match turn {
                1 => Value::Null,
                101 => from.map_or(Value::Null, Value::from),
                turn => format!("z-{}", turn - 1).into(),
            };
            let tool = json!({"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": "ls"}});
            let result = json!({"role": "toolResult", "toolCallId": call, "toolName": "bash", "isError": false,
                "content": [{"type": "text", "text": "a"}]});
            let prompt = json!({"role": "user", "content": [{"type": "text", "text": prompt}]});
            vec![
                row(1, "u", before, prompt),
                row(2, "a", name("u").into(), said(first, tool)),
                row(3, "r", name("a").into(), result),
                row(
                    4,
                    "z",
                    name("r").into(),
                    said(second, json!({"type": "text", "text": answer})),
                ),
            ]
        }
        Agent::Copilot => {
            let row = |second: u32, kind: &str, part: &str, data: Value| {
                let mut row = json!({"type": kind, "data": data, "id": name(part), "timestamp": at(second), "parentId": null});
                if is_side {
                    row["agentId"] = CHILD.into();
                }
                row
            };
            let used = |part: &str, (input, output): (u64, u64)| {
                json!({"usage": {"model": "m", "inputTokens": input, "outputTokens": output, "apiCallId": name(part),
                    "accounting": {"usageId": name(part), "sourceSessionId": id}}})
            };
            let tool =
                json!([{"toolCallId": call, "name": "bash", "arguments": {"command": "ls"}}]);
            vec![
                row(
                    1,
                    "user.message",
                    "u",
                    json!({"content": prompt, "source": if is_side { "agent-x" } else { "user" }}),
                ),
                row(
                    2,
                    "assistant.message",
                    "a",
                    json!({"messageId": name("a"), "model": "m", "content": "", "toolRequests": tool}),
                ),
                row(2, "session.usage_record", "ua", used("ua", first)),
                row(
                    3,
                    "tool.execution_complete",
                    "r",
                    json!({"toolCallId": call, "success": true, "result": {"content": "a"}}),
                ),
                row(
                    4,
                    "assistant.message",
                    "z",
                    json!({"messageId": name("z"), "model": "m", "content": answer}),
                ),
                row(4, "session.usage_record", "uz", used("uz", second)),
            ]
        }
        Agent::Droid => {
            let row = |second: u32, part: &str, role: &str, content: Value| {
                json!({"type": "message", "id": name(part), "parentId": null, "timestamp": at(second),
                    "message": {"role": role, "content": [content]}})
            };
            let tool = json!({"type": "tool_use", "id": call, "name": "Execute", "input": {"command": "ls"}});
            let result = json!({"type": "tool_result", "tool_use_id": call, "content": "a"});
            vec![
                row(1, "u", "user", json!({"type": "text", "text": prompt})),
                row(2, "a", "assistant", tool),
                row(3, "r", "user", result),
                row(4, "z", "assistant", json!({"type": "text", "text": answer})),
            ]
        }
        Agent::Kimi => {
            let row = |second: u32, kind: &str, mut members: Value| {
                members["type"] = kind.into();
                members["agentId"] = if id == CHILD { "agent-1" } else { "main" }.into();
                members["time"] = at(second).into();
                members
            };
            let event = |second: u32, event: Value| {
                row(second, "context.append_loop_event", json!({"event": event}))
            };
            let used = |second: u32, (input, output): (u64, u64)| {
                row(
                    second,
                    "usage.record",
                    json!({"model": "m", "usage": {"inputOther": input, "output": output}}),
                )
            };
            let prompted = json!({"role": "user", "id": name("u"), "origin": {"kind": "user"},
                "content": [{"type": "text", "text": prompt}]});
            vec![
                row(1, "context.append_message", json!({"message": prompted})),
                used(2, first),
                event(
                    2,
                    json!({"type": "tool.call", "stepUuid": name("a"), "toolCallId": call, "name": "Bash", "args": {"command": "ls"}}),
                ),
                event(
                    3,
                    json!({"type": "tool.result", "toolCallId": call, "result": {"output": "a"}}),
                ),
                used(4, second),
                event(
                    4,
                    json!({"type": "content.part", "stepUuid": name("z"), "part": {"type": "text", "text": answer}}),
                ),
            ]
        }
    }
}

/// Returns the first rows of a session that starts with a turn.
fn head(agent: Agent, id: &str, start: &str, fork: Option<(&Path, u32)>) -> Vec<Value> {
    let parent = fork.map(|_| ROOT);
    match agent {
        Agent::Claude | Agent::Qwen => Vec::new(),
        Agent::Codex => {
            let mut head = json!({"id": id, "cwd": "/w"});
            if let Some((path, turns)) = fork {
                let text = fs::read_to_string(path).unwrap();
                let kept = text.split_inclusive('\n').take(1 + 6 * turns as usize);
                let end: usize = kept.map(str::len).sum();
                head["forked_from_id"] = ROOT.into();
                head["history_base"] = json!({"thread_id": ROOT, "end_byte_offset": end});
            }
            vec![json!({"timestamp": start, "type": "session_meta", "payload": head})]
        }
        Agent::Gemini => vec![
            json!({"sessionId": id, "projectHash": "h", "startTime": start, "lastUpdated": start,
            "kind": if id == CHILD { "subagent" } else { "main" }}),
        ],
        Agent::Pi => {
            let path = fork.map(|(path, _)| path.display().to_string());
            vec![
                json!({"type": "session", "version": 3, "id": id, "timestamp": start, "cwd": "/w", "parentSession": path}),
            ]
        }
        Agent::Copilot => vec![
            json!({"type": "session.start", "data": {"sessionId": id, "startTime": start,
            "selectedModel": "m", "context": {"cwd": "/w"}}, "id": format!("start-{id}"), "timestamp": start, "parentId": null}),
        ],
        Agent::Droid => {
            let point = fork.map(|(_, turns)| format!("z-{turns}"));
            let point = point.filter(|_| fork.is_some_and(|(_, turns)| turns > 0));
            vec![
                json!({"type": "session_start", "id": id, "title": "New", "cwd": "/w", "parent": parent, "forkedAtMessageId": point}),
            ]
        }
        Agent::Kimi => {
            vec![json!({"type": "metadata", "protocol_version": "1.5", "created_at": start})]
        }
    }
}

/// The file of a session below a directory of its agent.
fn file(agent: Agent, root: &Path, id: &str) -> PathBuf {
    let dir = root.join("p");
    match agent {
        Agent::Claude | Agent::Droid => dir.join(format!("{id}.jsonl")),
        Agent::Qwen => dir.join(format!("chats/{id}.jsonl")),
        Agent::Codex => dir.join(format!("rollout-2026-01-01T00-00-00-{id}.jsonl")),
        Agent::Gemini if id == CHILD => dir.join(format!("chats/{ROOT}/{id}.jsonl")),
        Agent::Gemini => dir.join(format!("chats/session-2026-01-01T00-00-{}.jsonl", &id[..8])),
        Agent::Pi => dir.join(format!("2026-01-01T00-00-00-000Z_{id}.jsonl")),
        Agent::Copilot => dir.join(format!("{id}/events.jsonl")),
        Agent::Kimi if id == CHILD => dir.join(format!("{ROOT}/agents/agent-1/wire.jsonl")),
        Agent::Kimi => dir.join(format!("{id}/agents/main/wire.jsonl")),
    }
}

fn write(path: &Path, rows: &[Value], end: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let lines: String = rows
        .iter()
        .flat_map(|row| [row.to_string(), "\n".to_owned()])
        .collect();
    fs::write(path, lines + end).unwrap();
}

/// Writes the tokens of these turns beside a session of Droid.
fn write_totals(agent: Agent, path: &Path, turns: &[u32]) {
    if agent == Agent::Droid {
        let used = turns.iter().flat_map(|turn| tokens(*turn));
        let (input, output) = used.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let settings =
            json!({"model": "m", "tokenUsage": {"inputTokens": input, "outputTokens": output}});
        fs::write(path.with_extension("settings.json"), settings.to_string()).unwrap();
    }
}

impl Plan {
    /// Writes the files of the family.
    fn write(&self, root: &Path) {
        let agent = self.agent;
        let path = file(agent, root, ROOT);
        let turns =
            |from: u32, to: u32| (from..=to).flat_map(|turn| rows(agent, ROOT, turn, None, false));
        let of_root = |last: u32| -> Vec<Value> {
            let start = time(1, 0);
            head(agent, ROOT, &start, None)
                .into_iter()
                .chain(turns(1, last))
                .collect()
        };
        let mut all = of_root(self.turns);
        if self.has_subagent {
            let side = rows(agent, ROOT, 201, None, true);
            match agent {
                Agent::Copilot => {
                    all.push(json!({"type": "subagent.started", "data": {}, "id": "side", "agentId": CHILD,
                        "timestamp": time(201, 0), "parentId": null}));
                    all.extend(side);
                }
                Agent::Claude => {
                    let dir = path.with_extension("").join("subagents");
                    write(&dir.join("agent-c.jsonl"), &side, "");
                }
                Agent::Qwen => {
                    let telemetry = side.iter().filter(|row| row["type"] == "system");
                    all.extend(telemetry.map(|row| {
                        let mut row = row.clone();
                        row["parentUuid"] = format!("z-{}", self.turns).into();
                        row
                    }));
                    let side: Vec<Value> = side
                        .into_iter()
                        .filter(|row| row["type"] != "system")
                        .collect();
                    write(
                        &root.join(format!("p/subagents/{ROOT}/agent-c.jsonl")),
                        &side,
                        "",
                    );
                }
                _ => {
                    let mut head = head(agent, CHILD, &time(201, 0), None);
                    if agent == Agent::Codex {
                        head[0]["payload"]["source"] =
                            json!({"subagent": {"thread_spawn": {"parent_thread_id": ROOT}}});
                    }
                    head.extend(rows(agent, CHILD, 201, None, false));
                    let child = file(agent, root, CHILD);
                    write(&child, &head, "");
                    // It ends before its session does, also on a file system with coarse times.
                    let child = fs::File::options().write(true).open(child).unwrap();
                    let before = SystemTime::now() - Duration::from_secs(10);
                    child.set_modified(before).unwrap();
                }
            }
        }
        write(&path, &all, self.end);
        write_totals(agent, &path, &(1..=self.turns).collect::<Vec<_>>());
        if self.has_copy {
            let copy = file(agent, &root.join("copy"), ROOT);
            write(&copy, &of_root(self.turns - 1), "");
            write_totals(agent, &copy, &(1..self.turns).collect::<Vec<_>>());
        }
        if let Some((from, count)) = self.fork {
            let fork = file(agent, root, FORK);
            let start = time(100, 0);
            let mut all = head(agent, FORK, &start, Some((&path, from)));
            let copied = (1..=from).filter(|_| agent != Agent::Codex);
            // Copies of Copilot keep the session in their records.
            let copied_by = if agent == Agent::Copilot { ROOT } else { FORK };
            all.extend(copied.flat_map(|turn| rows(agent, copied_by, turn, Some(ROOT), false)));
            if agent == Agent::Copilot {
                let message = format!("Forked from \"X\" ({ROOT}) as \"Y\" ({FORK}).");
                all.push(json!({"type": "session.info", "data": {"infoType": "fork", "message": message}, "id": "info",
                    "timestamp": start, "parentId": null}));
            }
            let last = format!("z-{from}");
            let own = 101..=100 + count;
            all.extend(own.clone().flat_map(|turn| {
                let parent = (from > 0 && turn == 101).then_some(last.as_str());
                rows(agent, FORK, turn, parent, false)
            }));
            write(&fork, &all, "");
            if agent == Agent::Kimi {
                let state = json!({"cwd": "/w", "createdAt": start, "forkedFrom": ROOT});
                write(&root.join(format!("p/{FORK}/state.json")), &[state], "");
            }
            write_totals(agent, &fork, &own.collect::<Vec<_>>());
        }
        if agent == Agent::Gemini {
            // A resumed session has a second file, which stays empty.
            let second =
                path.with_file_name(format!("session-2026-01-01T00-09-{}.jsonl", &ROOT[..8]));
            let context = json!({"id": "c", "timestamp": time(1, 9), "type": "user", "content": [{"text": "<session_context>\nx\n</session_context>"}]});
            let mut all = head(agent, ROOT, &time(1, 9), None);
            all.push(context);
            write(&second, &all, "");
        }
    }
}

fn sum(turns: impl Iterator<Item = u32>) -> (u64, u64) {
    let used = turns.flat_map(tokens);
    used.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

fn usage(record: &Value) -> (u64, u64) {
    let usage = &record["usage"];
    (
        usage["input_tokens"].as_u64().unwrap(),
        usage["output_tokens"].as_u64().unwrap(),
    )
}

fn records(arguments: &[&str]) -> Vec<Value> {
    let said = session(&[arguments, &["-o", "jsonl"]].concat());
    assert_eq!(said.status, Some(0), "{arguments:?}: {}", said.messages);
    said.records()
}

fn check(plan: &Plan) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    plan.write(root);
    let at = root.display().to_string();
    let model = plan.model();
    let all = |turns: &BTreeMap<_, Vec<u32>>| {
        turns.values().flatten().copied().collect::<BTreeSet<u32>>()
    };
    let mut turns = all(&model.own);
    turns.extend(&model.of_subagent);

    let listed = records(&["list", "--root", &at, "--counts"]);
    let ids: BTreeSet<&str> = listed
        .iter()
        .map(|one| one["session_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, model.own.keys().copied().collect(), "{listed:?}");
    assert_eq!(ids.len(), listed.len());
    for one in &listed {
        let id = one["session_id"].as_str().unwrap();
        let is_root = id == ROOT;
        let has_subagent = plan.has_subagent && is_root;
        assert_eq!(one["subagents"], u64::from(has_subagent), "{one}");
        let own = model.own[id]
            .iter()
            .chain(model.of_subagent.iter().filter(|_| has_subagent));
        // Nothing marks what a fork of Claude Code copied.
        let expected = if plan.agent == Agent::Claude && !is_root {
            sum(model.shown[id].iter().copied())
        } else {
            sum(own.copied())
        };
        assert_eq!(usage(&one["counts"]), expected, "list of {id}");
        assert_eq!(
            usage(&records(&["stats", id, "--root", &at])[0]),
            expected,
            "stats of {id}"
        );
        assert_eq!(
            one["fork_parent"] == ROOT,
            !is_root
                && plan.agent != Agent::Claude
                && (plan.agent != Agent::Qwen || model.shown[id][0] == 1),
            "{one}"
        );
        let shown = session(&["show", id, "--root", &at, "-o", "text"]);
        let prompts: Vec<&str> = shown
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("> "))
            // In files of Copilot the prompts of subagents follow.
            .filter(|prompt| *prompt != "Prompt 201.")
            .collect();
        let expected: Vec<String> = model.shown[id]
            .iter()
            .map(|turn| format!("Prompt {turn}."))
            .collect();
        assert_eq!(prompts, expected, "{}{}", shown.text, shown.messages);
    }
    let stats = &records(&["stats", "--root", &at])[0];
    assert_eq!(stats["sessions"], listed.len());
    assert_eq!(usage(stats), sum(turns.iter().copied()), "{stats}");
    assert_eq!(stats["replies"], 2 * turns.len(), "{stats}");
    assert_eq!(
        stats["prompts"],
        turns.iter().filter(|turn| **turn < 200).count()
    );
    assert_eq!(stats["by_tool"][0]["calls"], turns.len());
    assert_eq!(records(&["calls", "--root", &at]).len(), turns.len());
    if plan.agent != Agent::Claude {
        for one in records(&["stats", "--root", &at, "--by", "session"]) {
            let id = one["dimensions"]["session"].as_str().unwrap();
            let in_file = matches!(plan.agent, Agent::Qwen | Agent::Copilot | Agent::Kimi);
            let side = model
                .of_subagent
                .iter()
                .filter(|_| id == CHILD || in_file && id == ROOT);
            let own = model.own.get(id).into_iter().flatten().chain(side);
            assert_eq!(
                usage(&one),
                sum(own.copied()),
                "{:?} {} {one}",
                plan.agent,
                plan.end
            );
        }
    }
    let hits = records(&["search", "^Answer [0-9]+\\.$", "--root", &at]);
    let hits = hits
        .iter()
        .map(|hit| hit["snippet"].as_str().unwrap().to_owned());
    let mut hits: Vec<String> = hits.collect();
    hits.sort();
    let mut expected: Vec<String> = turns.iter().map(|turn| format!("Answer {turn}.")).collect();
    expected.sort();
    assert_eq!(hits, expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_command_counts_what_was_made_once(plan in any_plan()) {
        check(&plan);
    }
}

#[test]
fn families_of_every_format_count_once() {
    for agent in AGENTS {
        for end in ["", "{\"type\":\"us"] {
            let has_subagent = !matches!(agent, Agent::Pi | Agent::Droid);
            let fork = (agent != Agent::Gemini).then_some((2, 2));
            check(&Plan {
                agent,
                turns: 3,
                fork,
                has_copy: true,
                has_subagent,
                end,
            });
        }
    }
}
