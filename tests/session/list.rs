//! `session list`.

use serde_json::Value;

use crate::bench::{data, recordings, session};

#[test]
fn sessions_of_all_agents_are_listed() {
    let root = data("");
    let listed = session(&["list", "--root", &root, "--counts"]);
    assert_eq!(listed.status, Some(0), "{}", listed.messages);
    let records = listed.records();
    let mut agents: Vec<&str> = records
        .iter()
        .filter_map(|record| record["agent"].as_str())
        .collect();
    agents.sort_unstable();
    agents.dedup();
    assert_eq!(agents, ["claude", "codex", "gemini", "pi", "qwen"]);
    let named = |name: &str| {
        let found = records.iter().find(|record| {
            let path = record["path"].as_str().unwrap();
            path.ends_with(name)
        });
        found.unwrap()
    };
    let parallel = named("claude-parallel.jsonl");
    assert_eq!(parallel["title"], "Compare files");
    assert_eq!(parallel["title_source"], "auto");
    assert_eq!(parallel["counts"]["calls"], 2);
    assert_eq!(parallel["started"], "2026-01-01T10:00:00Z");
    assert_eq!(named("pi.jsonl")["fork_parent"], "parent-id");
    assert!(named("codex-bare.jsonl")["title"] == Value::Null);
}

#[test]
fn a_table_is_for_people() {
    let root = data("");
    let table = session(&["list", "--root", &root, "-o", "text", "--agent", "qwen"]);
    let lines: Vec<&str> = table.text.lines().collect();
    assert!(lines[0].starts_with("ID "), "{}", table.text);
    assert!(
        lines[1].contains("qwen") && lines[1].contains("Spaces"),
        "{}",
        table.text
    );
    assert_eq!(lines.len(), 2);
    let colored = session(&["list", "--root", &root, "-o", "text", "--color", "always"]);
    assert!(
        colored.text.contains("\u{1b}[2mCompare files\u{1b}[0m"),
        "{}",
        colored.text
    );
}

#[test]
fn times_that_make_no_sense_are_usage_errors() {
    let refused = session(&["list", "--since", "soon"]);
    assert_eq!(refused.status, Some(2));
    assert!(
        refused
            .messages
            .contains("'soon' for '--since <TIME>': not a time"),
        "{}",
        refused.messages
    );
}

#[test]
fn recordings_are_listed() {
    let Some(folder) = recordings() else {
        return;
    };
    let root = folder.display().to_string();
    let quick = session(&["list", "--root", &root]);
    let counted = session(&["list", "--root", &root, "--counts", "--no-mmap"]);
    assert_eq!((quick.status, counted.status), (Some(0), Some(0)));
    let (quick, counted) = (quick.records(), counted.records());
    assert!(quick.len() > 100, "only {}", quick.len());
    assert_eq!(quick.len(), counted.len());
    for (quick, counted) in quick.iter().zip(&counted) {
        for fact in [
            "path",
            "agent",
            "title",
            "title_source",
            "first_prompt",
            "cwd",
        ] {
            assert_eq!(quick[fact], counted[fact], "{fact} of {}", quick["path"]);
        }
    }
}
