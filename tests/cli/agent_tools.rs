//! Rules and the tools of all agents.

use serde_json::{Value, json};

use crate::turnpipe::run;

/// Rows of rules, a call, and the decision of `check permission`. `hook` denies the same calls.
#[test]
fn rules_cover_the_tools_of_all_agents() {
    let rows = include_str!("../data/permission/agent-calls.jsonl").lines();
    for row in rows.map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let rules = ["deny", "allow"].map(|kind| {
            let rules = row[kind].as_array().into_iter().flatten();
            rules.flat_map(move |rule| [format!("--{kind}"), rule.as_str().unwrap().to_owned()])
        });
        let rules: Vec<String> = rules.into_iter().flatten().collect();
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();

        let call = json!({"name": row["name"], "input": row["input"], "cwd": "/srv/demo"});
        let checked = run(
            &[&["check", "permission"], rules.as_slice()].concat(),
            format!("{call}\n").as_bytes(),
        );
        let record: Value = serde_json::from_str(&checked.stdout).unwrap();
        assert_eq!(record["decision"], row["decision"], "{row}\n{record}");

        let input = json!({
            "session_id": "S",
            "cwd": "/srv/demo",
            "hook_event_name": "PreToolUse",
            "tool_name": row["name"],
            "tool_input": row["input"],
        });
        let output = run(
            &[&["hook", "pre-tool-use"], rules.as_slice()].concat(),
            input.to_string().as_bytes(),
        );
        let is_denied = output.stdout.contains("\"permissionDecision\":\"deny\"");
        assert_eq!(is_denied, row["decision"] == "deny", "{row}\n{output:?}");
    }
}

/// A manifest's tool with the name of another agent's reader is not a reader.
#[test]
fn tools_of_a_manifest_do_what_it_declares() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("tools.toml");
    let tool = r#"[[tool]]
name = "view_image"
description = "Shows an image"
command = ["show", "{path}"]
input_schema = { type = "object", properties = { path = { type = "string" } } }
"#;
    std::fs::write(&manifest, tool).unwrap();
    let call = b"{\"name\":\"view_image\",\"input\":{\"path\":\"a.png\"}}\n";
    let manifest = manifest.to_str().unwrap();
    let rows = [(&["--tools", manifest][..], "ask"), (&[], "allow")];
    for (arguments, expected) in rows {
        let checked = run(&[&["check", "permission"], arguments].concat(), call);
        let record: Value = serde_json::from_str(&checked.stdout).unwrap();
        assert_eq!(record["decision"], expected, "{record}");
    }
}
