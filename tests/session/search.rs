//! `session search`.

use serde_json::{Value, json};

use crate::bench::{data, recordings, session};
use crate::schema::assert_fits;

#[test]
fn text_is_found_in_sessions_of_all_agents() {
    let root = data("");
    let found = session(&["search", "-i", "file|hi", "--root", &root]);
    assert_eq!(found.status, Some(0), "{}", found.messages);
    let records = found.records();
    let mut agents: Vec<&str> = records
        .iter()
        .map(|record| record["agent"].as_str().unwrap())
        .collect();
    agents.dedup();
    assert!(agents.len() > 1, "{agents:?}");
    for record in &records {
        assert_fits("session-hit", record);
        let (snippet, matched) = (&record["snippet"], record["match"].as_str().unwrap());
        assert!(snippet.as_str().unwrap().contains(matched), "{record}");
    }
}

#[test]
fn parts_and_roles_can_be_selected() {
    let file = data("claude-parallel.jsonl");
    let search = |arguments: &[&str]| -> Vec<Value> {
        session(&[&["search", ".", &file], arguments].concat()).records()
    };
    let places = |records: &[Value]| -> Vec<String> {
        let mut places: Vec<String> = records
            .iter()
            .map(|record| record["block"].as_str().unwrap().to_owned())
            .collect();
        places.sort_unstable();
        places.dedup();
        places
    };
    assert_eq!(places(&search(&[])), ["text"]);
    assert_eq!(
        places(&search(&["--in", "calls,results"])),
        ["call", "result"]
    );
    let calls = search(&["--in", "all", "--role", "assistant"]);
    assert!(calls.iter().all(|record| record["role"] == "assistant"));
    assert!(calls.iter().any(|record| record["tool"].is_string()));
    assert_eq!(search(&["--in", "all", "-n", "2"]).len(), 2);
    assert_eq!(search(&["--in", "all", "-m", "1"]).len(), 1);
    assert_eq!(search(&["--agent", "pi"]).len(), 0);
    assert_eq!(search(&["--since", "2100-01-01"]).len(), 0);
}

/// If few parts match, the title is only known after the whole file has been searched.
#[test]
fn hits_include_the_title_for_any_number_of_hits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let prompt = |number: usize| {
        format!(
            r#"{{"type":"user","uuid":"u{number}","parentUuid":null,"sessionId":"s","message":{{"role":"user","content":"needle {number}"}}}}"#
        )
    };
    let title = r#"{"type":"custom-title","customTitle":"Of pins","sessionId":"s"}"#;
    for (hits, title) in [
        (3, None),
        (3, Some(title)),
        (2500, None),
        (2500, Some(title)),
    ] {
        let mut lines: Vec<String> = (0..hits).map(prompt).collect();
        lines.extend(title.map(str::to_owned));
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let found = session(&["search", "needle", path.to_str().unwrap()]);
        let records = found.records();
        let numbers: Vec<Value> = (1..=hits).map(Value::from).collect();
        let found: Vec<Value> = records
            .iter()
            .map(|record| record["line"].clone())
            .collect();
        assert_eq!(found, numbers);
        let expected = title.map_or(Value::Null, |_| Value::from("Of pins"));
        assert!(records.iter().all(|record| record["title"] == expected));
    }
}

#[test]
fn titles_are_searched() {
    let file = data("session-document.json");
    let hits = |arguments: &[&str]| {
        let output = session(&[&["search", "A docum", &file], arguments].concat());
        let records = output.records().into_iter();
        records.map(|hit| hit["block"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(hits(&[]), [json!(null); 0]);
    assert_eq!(hits(&["--in", "title"]), [json!("title")]);
    assert_eq!(hits(&["--in", "all", "-m", "1"]), [json!("title")]);
    assert_eq!(hits(&["--in", "all", "--role", "user"]), [json!(null); 0]);
}

#[test]
fn no_hits_are_a_result_and_an_invalid_pattern_is_an_error() {
    let file = data("claude-parallel.jsonl");
    let nothing = session(&["search", "no such words", &file]);
    assert_eq!((nothing.status, &*nothing.text), (Some(1), ""));
    let some = session(&["search", ".", &file, "--exit-status"]);
    assert_eq!(some.status, Some(0));
    let bad = session(&["search", "(", &file]);
    assert_eq!(bad.status, Some(2));
    assert!(
        bad.messages.starts_with("turnpipe: pattern (:"),
        "{}",
        bad.messages
    );
    let missing = session(&["search", "x", "./nowhere.jsonl"]);
    assert_eq!(missing.status, Some(2));
}

#[test]
fn sessions_can_be_listed_and_hits_counted() {
    let file = data("claude-parallel.jsonl");
    let other = data("pi.jsonl");
    let hits = session(&["search", ".", &file, "--json"]).records().len();
    let search = |option: &str| session(&["search", ".", &file, &other, option, "-o", "text"]).text;
    assert_eq!(search("-l"), format!("{file}\n{other}\n"));
    let counts = search("--count");
    let (first, second) = counts.split_once('\n').unwrap();
    assert_eq!(first, format!("{file}:{hits}"));
    assert!(second.starts_with(&format!("{other}:")), "{counts}");
    let record = &session(&["search", ".", &file, "--count", "--json"]).records()[0];
    assert_eq!(
        (&record["type"], &record["matches"]),
        (&"session_path".into(), &hits.into())
    );
    let none = session(&["search", "no such words", &file, "-l"]);
    assert_eq!((none.status, &*none.text), (Some(1), ""));
}

#[test]
fn context_is_lines_of_the_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl").display().to_string();
    let text = "one\\ntwo\\nthe needle here\\nfour\\nfive";
    let record = format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"cwd\":\"/w\",\"sessionId\":\"s\",\"version\":\"2.1.0\",\
         \"type\":\"user\",\"uuid\":\"u\",\"timestamp\":\"2026-01-02T03:04:05.000Z\",\
         \"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    );
    std::fs::write(&path, record).unwrap();
    let found = session(&["search", "needle", &path, "-C", "1", "--json"]);
    assert_eq!(found.records()[0]["snippet"], "two\nthe needle here\nfour");
    let page = session(&["search", "needle", &path, "-C", "1", "-o", "text"]).text;
    assert!(
        page.ends_with("\n    two\n    the needle here\n    four\n"),
        "{page}"
    );
}

/// Claude Code puts the conversations of subagents into separate files, Codex into separate threads.
#[test]
fn conversations_of_subagents_are_searched_and_name_their_parent() {
    let home = tempfile::tempdir().unwrap();
    let write = |path: &str, lines: &[&str]| {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, lines.join("\n")).unwrap();
    };
    let claude = [
        r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"5e55-1","cwd":"/w","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"Ask somebody"}}"#,
        r#"{"type":"user","uuid":"b","parentUuid":null,"isSidechain":true,"sessionId":"5e55-1","cwd":"/w","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"needle one"}}"#,
    ];
    write("claude/5e55-1.jsonl", &claude[..1]);
    write("claude/5e55-1/subagents/agent-x.jsonl", &claude[1..]);
    let codex = |id: &str, source: &str, text: &str| {
        let head = format!(
            r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{{"id":"{id}","cwd":"/w"{source}}}}}"#
        );
        let prompt = format!(
            r#"{{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}}}"#
        );
        write(&format!("codex/rollout-{id}.jsonl"), &[&head, &prompt]);
    };
    codex("c0de-1", "", "Ask another");
    let spawned = r#","source":{"subagent":{"thread_spawn":{"parent_thread_id":"c0de-1"}}}"#;
    codex("c0de-2", spawned, "needle two");
    let root = home.path().to_str().unwrap();
    let mut hits = session(&["search", "needle", "--root", root]).records();
    hits.sort_by_key(|hit| hit["agent"].to_string());
    let [one, two] = hits.as_slice() else {
        panic!("{hits:?}");
    };
    assert_eq!(
        (&one["parent_session_id"], &one["parent_title"]),
        (&json!("5e55-1"), &json!("Ask somebody"))
    );
    assert_eq!(
        (&two["parent_session_id"], &two["parent_title"]),
        (&json!("c0de-1"), &json!("Ask another"))
    );
    for (hit, resume) in [
        (one, "claude --resume 5e55-1"),
        (two, "codex resume c0de-1"),
    ] {
        assert_eq!(
            (&hit["subagent"], &hit["resume"], &hit["cwd"]),
            (&json!(true), &json!(resume), &json!("/w"))
        );
    }
    let page = session(&["search", "needle one", "--root", root, "-o", "text"]).text;
    assert!(page.contains("\nsubagent of Ask somebody\n"), "{page}");
    assert_eq!(
        session(&["search", "needle", "--root", root, "--subagents=no"]).status,
        Some(1)
    );
}

#[test]
fn copies_of_a_session_give_one_hit_for_each_message() {
    let folder = tempfile::tempdir().unwrap();
    let line = r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"needle"}}"#;
    for name in ["a", "b", "c"] {
        std::fs::write(folder.path().join(format!("{name}.jsonl")), line).unwrap();
    }
    let root = folder.path().to_str().unwrap();
    assert_eq!(
        session(&["search", "needle", "--root", root])
            .records()
            .len(),
        1
    );
    assert_eq!(
        session(&["search", "-l", "needle", "--root", root])
            .records()
            .len(),
        3
    );
}

#[test]
fn text_has_a_heading_and_lines() {
    let file = data("claude-parallel.jsonl");
    let page = session(&["search", "differ", &file, "-o", "text"]).text;
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(lines[0], "Compare files · claude", "{page}");
    assert!(lines[1].ends_with("claude-parallel.jsonl"), "{page}");
    assert!(lines[3].ends_with("They differ."), "{page}");
    let colored = session(&["search", "differ", &file, "-o", "text", "--color", "always"]).text;
    assert!(
        colored.contains("They \u{1b}[1;31mdiffer\u{1b}[0m."),
        "{colored}"
    );
}

#[test]
fn recordings_are_searched() {
    let folder = recordings();
    let root = folder.display().to_string();
    let arguments = ["search", "-i", "parser", "--root", &root, "--in", "all"];
    let (alone, together) = (
        session(&[&arguments[..], &["--jobs", "1"]].concat()),
        session(&[&arguments[..], &["--jobs", "7"]].concat()),
    );
    assert_eq!(alone.status, Some(0), "{}", alone.messages);
    assert!(alone.records().len() > 20);
    assert_eq!(alone.text, together.text);
}

/// Paths in a pipe name existing files, whatever characters they contain.
#[test]
fn paths_in_a_pipe_are_not_cleaned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("\u{1b}[31mred.jsonl");
    std::fs::copy(data("claude-parallel.jsonl"), &path).unwrap();
    let root = folder.path().to_str().unwrap();
    let found = session(&["search", "differ", "--root", root, "-l", "-o", "text"]);
    assert_eq!(found.text.trim_end_matches('\n'), path.to_str().unwrap());
}

/// Titles and prompts weigh more than replies, replies more than results, rare words more than common ones, and a word
/// weighs less in a long text.
#[test]
fn sessions_are_ranked_by_words() {
    let folder = tempfile::tempdir().unwrap();
    let user =
        |content: Value| json!({"type": "user", "message": {"role": "user", "content": content}});
    let reply = |block: Value| json!({"type": "assistant", "message": {"role": "assistant", "model": "m", "content": [block]}});
    let text = |text: &str| reply(json!({"type": "text", "text": text}));
    let result =
        |text: &str| user(json!([{"type": "tool_result", "tool_use_id": "t", "content": text}]));
    let call =
        reply(json!({"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "a"}}));
    let filler = "some other words of a long request ".repeat(40);
    let title = json!({"type": "custom-title", "customTitle": "Retrying the parser"});
    let sessions = [
        (
            "titled",
            vec![user("please go on".into()), text("Done."), title],
        ),
        (
            "prompted",
            vec![user("why does the parser retry?".into()), text("Done.")],
        ),
        (
            "long",
            vec![
                user(format!("{filler} parser retries").into()),
                text("Done."),
            ],
        ),
        (
            "replied",
            vec![user("go on".into()), text("The parser retried.")],
        ),
        (
            "read",
            vec![user("go on".into()), call, result("the parser retries")],
        ),
        ("rare", vec![user("paint a zebra".into()), text("Done.")]),
        (
            "other",
            vec![user("go on".into()), text("Reparser, retryable.")],
        ),
    ];
    for (name, lines) in sessions {
        let line = |(number, mut line): (usize, Value)| {
            line["sessionId"] = name.into();
            line["uuid"] = format!("{name}{number}").into();
            format!("{line}\n")
        };
        let lines: String = lines.into_iter().enumerate().map(line).collect();
        std::fs::write(folder.path().join(format!("{name}.jsonl")), lines).unwrap();
    }
    let root = folder.path().to_str().unwrap();
    let ranked = |words: &[&str]| {
        let found = session(&[&["search", "--rank", "--root", root], words].concat());
        assert_eq!(found.status, Some(0), "{}", found.messages);
        found.records()
    };
    let ids = |records: &[Value]| -> Vec<String> {
        let ids = records
            .iter()
            .map(|record| record["session_id"].as_str().unwrap().to_owned());
        ids.collect()
    };
    let records = ranked(&["Parser", "retry"]);
    assert_eq!(
        ids(&records),
        ["prompted", "titled", "long", "replied", "read"]
    );
    for record in &records {
        assert_fits("session-ranked", record);
    }
    let best = &records[0];
    assert_eq!(
        (&best["rank"], &best["line"], &best["role"]),
        (&json!(1), &json!(1), &json!("user"))
    );
    assert_eq!(best["words"], json!(["parser", "retry"]));
    assert_eq!(ids(&ranked(&["zebra parser"]))[0], "rare");
    assert_eq!(ids(&ranked(&["parser", "-n", "2"])), ["prompted", "titled"]);
    assert_eq!(
        session(&["search", "--rank", "giraffe", "--root", root]).status,
        Some(1)
    );
    assert_eq!(
        session(&["search", "--rank", "--root", root, "?"]).status,
        Some(2)
    );
    let listed = session(&["search", "--rank", "zebra", "--root", root, "-o", "text"]);
    assert!(listed.text.contains("paint a zebra"), "{}", listed.text);
}
