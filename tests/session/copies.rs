//! Forks, subagents and copies: every command counts the same sessions, and each request once.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::bench::{data, session, turnpipe};
use crate::more_agents::Opencode;

/// Returns a row of Codex, `seconds` after the first.
fn row(seconds: u32, kind: &str, payload: &Value) -> String {
    let time = format!("2026-01-01T10:{:02}:{:02}.000Z", seconds / 60, seconds % 60);
    json!({"timestamp": time, "type": kind, "payload": payload}).to_string()
}

fn head(seconds: u32, id: &str, parent: Option<&str>, more: &Value) -> String {
    let mut head = json!({"id": id, "cwd": "/w", "history_mode": "legacy"});
    if let Some(parent) = parent {
        head["forked_from_id"] = parent.into();
    }
    let members = more.as_object().into_iter().flatten();
    for (name, value) in members {
        head[name] = value.clone();
    }
    row(seconds, "session_meta", &head)
}

/// Versions of Codex.
#[derive(Clone, Copy, PartialEq)]
enum Version {
    /// Items have ids, and each request has a record.
    New,
    Old,
}

/// A turn of a thread: its time, number and prompt, and the counts of the meters before it.
struct Turn<'a> {
    thread: &'a str,
    seconds: u32,
    number: u32,
    prompt: &'a str,
    meter: u32,
    of_thread: u32,
}

impl Turn<'_> {
    /// Returns a prompt, a call and a reply, with the tokens of two requests of 100 each.
    fn rows(&self, version: Version) -> Vec<String> {
        let Self {
            seconds, number, ..
        } = *self;
        let item = |name: &str, mut item: Value| {
            if version == Version::New {
                item["id"] = format!("{name}_{number}").into();
            }
            row(seconds, "response_item", &item)
        };
        let text = |role: &str, kind: &str, text: &str| {
            let content = json!([{"type": kind, "text": text}]);
            json!({"type": "message", "role": role, "content": content})
        };
        let call_id = format!("call_{number}");
        let call = json!({"type": "function_call", "name": "exec_command", "call_id": call_id, "arguments": "{\"cmd\":\"ls\"}"});
        let result =
            json!({"type": "function_call_output", "call_id": call_id, "output": "README"});
        let tokens = |count: u32| json!({"input_tokens": 90 * count, "cached_input_tokens": 20 * count, "output_tokens": 10 * count});
        let request = |count: u32| {
            let record = json!({"thread_id": self.thread, "response_id": format!("resp_{number}_{count}"),
                "usage": tokens(1), "thread_token_usage": tokens(self.of_thread + count)});
            let record = row(seconds, "token_usage_record", &record);
            let meter = tokens(self.meter + count);
            let info = json!({"last_token_usage": tokens(1), "total_token_usage": meter});
            let reading = row(
                seconds,
                "event_msg",
                &json!({"type": "token_count", "info": info}),
            );
            match version {
                Version::New => vec![record, reading],
                Version::Old => vec![reading],
            }
        };
        [
            vec![
                item("msg_u", text("user", "input_text", self.prompt)),
                item("fc", call),
            ],
            request(1),
            vec![
                item("fco", result),
                item("msg_a", text("assistant", "output_text", "Done.")),
            ],
            request(2),
        ]
        .concat()
    }
}

fn write(dir: &Path, id: &str, rows: &[Vec<String>]) {
    let path = dir.join(format!("rollout-2026-01-01T10-00-00-{id}.jsonl"));
    fs::write(path, rows.concat().join("\n") + "\n").unwrap();
}

/// A session of Codex, a fork of it that copied its first two turns at once and went on with a prompt that is
/// also in the parent, a subagent with the context of its parent, and a fork whose first rows are in the
/// parent's file.
fn codex(dir: &Path, version: Version) {
    let model = row(1, "turn_context", &json!({"model": "gpt-5"}));
    let none = json!({});
    let turn = |thread, seconds, number, prompt, meter, of_thread| {
        let turn = Turn {
            thread,
            seconds,
            number,
            prompt,
            meter,
            of_thread,
        };
        turn.rows(version)
    };
    let beginning = [
        vec![head(0, "a", None, &none), model.clone()],
        turn("a", 10, 1, "List the files", 0, 0),
    ];
    let size = beginning.concat().join("\n").len() + 1;
    let parent = [
        beginning.concat(),
        turn("a", 20, 2, "continue", 2, 2),
        turn("a", 90, 3, "continue", 4, 4),
    ];
    write(dir, "a", &parent);
    let copied = |seconds: u32| {
        [
            vec![head(seconds, "a", None, &none), model.clone()],
            turn("a", seconds, 1, "List the files", 0, 0),
            turn("a", seconds, 2, "continue", 2, 2),
        ]
        .concat()
    };
    let fork = [
        vec![head(60, "b", Some("a"), &none)],
        copied(60),
        turn("b", 80, 4, "continue", 4, 4),
    ];
    write(dir, "b", &fork);
    // It gets the messages and readings, and its thread starts anew. Its instructions are not a prompt.
    let spawn =
        json!({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "a", "depth": 1}}}});
    let mut context = copied(70);
    context.retain(|row| !row.contains("token_usage_record") && !row.contains("function_call"));
    let subagent = [
        vec![head(70, "c", Some("a"), &spawn)],
        context,
        turn("c", 75, 5, "Look for tests", 4, 0),
    ];
    write(dir, "c", &subagent);
    let base = json!({"history_base": {"thread_id": "a", "end_ordinal_exclusive": 8, "end_byte_offset": size}});
    let page = [
        vec![head(100, "d", Some("a"), &base), model.clone()],
        turn("d", 110, 6, "And the hidden ones", 2, 2),
    ];
    write(dir, "d", &page);
}

/// Returns a head that states the part of another file before this one.
fn continuation(id: &str, base: &str, end: u64) -> String {
    let base = json!({"history_base": {"thread_id": base, "end_byte_offset": end}});
    head(100, id, None, &base)
}

/// A thread of Codex of two turns; a second file of it, after its second turn was reverted, with a turn of its own; a
/// fork of each; and two files that continue each other.
pub(crate) fn write_reverted(dir: &Path) {
    let file = |name: &str, head: String, number: u32, prompt: &str| {
        let turn = Turn {
            thread: name,
            seconds: 100 + number,
            number,
            prompt,
            meter: 0,
            of_thread: 0,
        };
        let rows = turn.rows(Version::New);
        write(dir, name, &[vec![head], rows.clone()]);
        let path = dir.join(format!("rollout-2026-01-01T10-00-00-{name}.jsonl"));
        (path.clone(), fs::metadata(path).unwrap().len(), rows)
    };
    let second = file("c0de", String::new(), 2, "Reverted").2;
    let (path, kept, _) = file(
        "c0de",
        head(0, "c0de", None, &json!({})),
        1,
        "List the files",
    );
    let whole = fs::read_to_string(&path).unwrap() + &second.join("\n") + "\n";
    fs::write(&path, &whole).unwrap();
    file(
        "f01d",
        continuation("f01d", "c0de", whole.len() as u64),
        3,
        "In a fork",
    );
    let page = continuation("c0de", "c0de", kept);
    let (_, end, _) = file("c0de_0a9e", page, 4, "Instead");
    file(
        "f02d",
        continuation("f02d", "0a9e", end),
        5,
        "In a fork of the second file",
    );
    file("0001", continuation("0001", "0002", 9), 6, "One");
    file("0002", continuation("0002", "0001", 9), 7, "Two");
}

/// Returns the prompts that `session show` shows, and its messages.
fn prompts(name: &str, root: &str) -> (Vec<String>, String) {
    let output = session(&["show", name, "--root", root, "-o", "text"]);
    assert_eq!(output.status, Some(0), "{}", output.messages);
    let prompts = output
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("> "));
    (prompts.map(str::to_owned).collect(), output.messages)
}

#[test]
fn a_thread_of_codex_may_have_several_files() {
    let folder = tempfile::tempdir().unwrap();
    write_reverted(folder.path());
    let root = folder.path().display().to_string();
    let path = |name: &str| {
        let path = folder
            .path()
            .join(format!("rollout-2026-01-01T10-00-00-{name}.jsonl"));
        path.display().to_string()
    };
    for (name, expected) in [
        ("c0de", &["List the files", "Reverted"][..]),
        ("c0de_0a9e", &["List the files", "Instead"]),
        ("f01d", &["List the files", "Reverted", "In a fork"]),
        (
            "f02d",
            &["List the files", "Instead", "In a fork of the second file"],
        ),
    ] {
        let (shown, messages) = prompts(&path(name), &root);
        assert_eq!(shown, expected, "{name}");
        assert!(!messages.contains("not found"), "{name}: {messages}");
    }
    for name in ["0001", "0002"] {
        let (shown, messages) = prompts(&path(name), &root);
        assert_eq!(shown.len(), 1, "{shown:?}");
        assert!(messages.contains("not found in another file"), "{messages}");
    }
    let found = |name: &str| session(&["path", name, "--root", &root]);
    // A thread has all of its files.
    let files = format!("{}\n{}\n", path("c0de"), path("c0de_0a9e"));
    assert_eq!(found("c0de").text, files);
    let copies = folder.path().join("copies");
    fs::create_dir(&copies).unwrap();
    fs::copy(path("c0de"), copies.join("rollout-c0de.jsonl")).unwrap();
    assert_eq!(found("c0de").text.lines().count(), 3);
    fs::remove_dir_all(copies).unwrap();
    let model = ["--model", "ollama:qwen3", "--prompt", "next", "--dry-run"];
    let turn = turnpipe(&[&["turn", "--session", &path("f01d")], &model[..]].concat());
    let request = String::from_utf8({ turn }.output().unwrap().stdout).unwrap();
    for prompt in ["List the files", "Reverted", "In a fork", "next"] {
        assert_eq!(
            request.matches(&format!("\"{prompt}\"")).count(),
            1,
            "{request}"
        );
    }
    // Without ids in their names, the first file of a thread is the one without a beginning in itself.
    for (name, other) in [("c0de", "x"), ("c0de_0a9e", "a"), ("f01d", "f")] {
        fs::rename(path(name), folder.path().join(format!("{other}.jsonl"))).unwrap();
    }
    let fork = folder.path().join("f.jsonl").display().to_string();
    assert_eq!(
        prompts(&fork, &root).0,
        ["List the files", "Reverted", "In a fork"]
    );
}

#[test]
fn what_a_fork_of_codex_copied_counts_once() {
    for version in [Version::New, Version::Old] {
        let folder = tempfile::tempdir().unwrap();
        codex(folder.path(), version);
        let root = folder.path().display().to_string();
        let stats = session(&["stats", "--root", &root, "-o", "jsonl"]);
        let stats = &stats.records()[0];
        assert_eq!(stats["sessions"], 3);
        // Three in the parent, one in each fork.
        assert_eq!(stats["prompts"], 5);
        // A call and a reply in each of six turns.
        assert_eq!(stats["replies"], 12);
        assert_eq!(stats["by_tool"][0]["calls"], 6);
        assert_eq!(stats["usage"]["input_tokens"], 12 * 70);
        assert_eq!(stats["usage"]["cache_read_input_tokens"], 12 * 20);
        let calls = session(&["calls", "--root", &root, "-o", "jsonl"]);
        assert_eq!(calls.records().len(), 6);
    }
}

/// Returns the number and the sum of the costs at the top of an index page.
fn of_index(pages: &Path) -> (u64, String) {
    let index = fs::read_to_string(pages.join("index.html")).unwrap();
    let (_, totals) = index.split_once("<output>").unwrap();
    let (totals, _) = totals.split_once("</output>").unwrap();
    let mut totals = totals.split(", ");
    let sessions = totals.next().unwrap().split(' ').next().unwrap();
    (sessions.parse().unwrap(), totals.last().unwrap().to_owned())
}

/// A folder with forks and subagents of Codex, a session of Claude Code with subagents and a copy of it, and
/// a database of opencode with a fork and a subagent.
pub(crate) fn families() -> Opencode {
    const START: i64 = 1_767_261_600_000;
    let mut opencode = Opencode::new();
    opencode.session("ses_a", None, "Fix it");
    opencode.session("ses_f", None, "Fix it (fork #1)");
    opencode.session("ses_c", Some("ses_a"), "Look (@general subagent)");
    for copy in ["ses_a", "ses_f"] {
        opencode.prompt(copy, START, "Fix the parser");
        opencode.reply(copy, START + 10, "Done.");
    }
    opencode.reply("ses_c", START + 20, "Looked.");
    let root = opencode.root();
    let folder = Path::new(&root);
    codex(folder, Version::New);
    let name = "claude-subagents";
    let project = folder.join("projects/-w");
    fs::create_dir_all(project.join(name).join("subagents")).unwrap();
    for file in [
        format!("{name}.jsonl"),
        format!("{name}/subagents/agent-aa52773.jsonl"),
        format!("{name}/subagents/agent-b10c881.jsonl"),
    ] {
        fs::copy(data(&file), project.join(&file)).unwrap();
    }
    fs::copy(data("claude-subagents.jsonl"), project.join("copy.jsonl")).unwrap();
    opencode
}

#[test]
fn all_commands_count_the_same_sessions_and_costs() {
    let families = families();
    let root = families.root();
    let records = |arguments: &[&str]| {
        let output = session(&[arguments, &["--root", &root, "-o", "jsonl"]].concat());
        assert_eq!(output.status, Some(0), "{arguments:?}: {}", output.messages);
        output.records()
    };
    let listed = records(&["list"]).len();
    // Three of Codex, two of opencode, one of Claude Code with its copy.
    assert_eq!(listed, 6);
    // Those of subagents that are sessions of their own, of Codex and opencode.
    assert_eq!(records(&["list", "--subagents"]).len(), listed + 2);
    let stats = &records(&["stats"])[0];
    assert_eq!(stats["sessions"], listed);
    // A search names files.
    assert_eq!(
        records(&["search", ".", "-l", "--subagents=no"]).len(),
        listed + 1
    );
    let calls: u64 = records(&["stats", "--by", "tool"])
        .iter()
        .map(|tool| tool["calls"].as_u64().unwrap())
        .sum();
    assert_eq!(records(&["calls"]).len() as u64, calls);

    let total = stats["usage"]["cost_usd"].as_f64().unwrap();
    for dimension in ["session", "day,model", "agent"] {
        let sums = records(&["stats", "--by", dimension]);
        let sum: f64 = sums
            .iter()
            .filter_map(|sum| sum["usage"]["cost_usd"].as_f64())
            .sum();
        assert!(
            (sum - total).abs() < 1e-9,
            "{dimension}: {sum} is not {total}"
        );
    }
    let pages = tempfile::tempdir().unwrap();
    let to = pages.path().display().to_string();
    let exported = session(&["export", &to, "--root", &root]);
    assert_eq!(exported.status, Some(0), "{}", exported.messages);
    assert!(
        exported.messages.contains("6 sessions, 4 subagents"),
        "{}",
        exported.messages
    );
    let (sessions, cost) = of_index(pages.path());
    assert_eq!(sessions, listed as u64);
    assert_eq!(cost, format!("${total:.2}"));
}
