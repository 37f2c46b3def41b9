//! Names of sessions.

use crate::bench::{data, session};

fn path(name: &str) -> Result<String, (Option<i32>, String)> {
    let root = data("");
    let output = session(&["path", name, "--root", &root]);
    match output.status {
        Some(0) => Ok(output
            .text
            .trim_end()
            .rsplit('/')
            .next()
            .unwrap()
            .to_owned()),
        status => Err((status, output.messages)),
    }
}

#[test]
fn sessions_are_found_by_id_prefix_title_and_latest() {
    let table = [
        (
            "5e551011-0000-4000-8000-000000000001",
            "claude-parallel.jsonl",
        ),
        ("5e55", "claude-parallel.jsonl"),
        ("11111111", "qwen-rewound.jsonl"),
        ("Compare files", "claude-parallel.jsonl"),
        ("A document", "session-document.json"),
        ("latest", "gemini-resumed.jsonl"),
    ];
    for (name, file) in table {
        assert_eq!(path(name).as_deref(), Ok(file), "{name}");
    }
    let (status, message) = path("nothing").unwrap_err();
    assert_eq!(status, Some(2));
    assert!(message.contains("there is no such session"), "{message}");
    let (_, message) = path("840bad0f").unwrap_err();
    assert!(message.contains("several sessions"), "{message}");
}

#[test]
fn an_empty_name_is_refused_even_if_there_is_one_session() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("one.jsonl");
    std::fs::copy(data("claude-parallel.jsonl"), &file).unwrap();
    let root = dir.path().to_str().unwrap();
    for command in [&["remove", "--yes"][..], &["show"], &["path"]] {
        let output = session(&[command, &["", "--root", root]].concat());
        assert_eq!(output.status, Some(2), "{command:?}");
        let message = &output.messages;
        assert!(message.contains("the name is empty"), "{message}");
    }
    assert!(file.exists());
}

#[test]
fn a_title_or_prompt_may_have_a_slash() {
    let dir = tempfile::tempdir().unwrap();
    let record = r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"What does src/a.rs do?"}}"#;
    std::fs::write(dir.path().join("one.jsonl"), record).unwrap();
    let root = dir.path().to_str().unwrap();
    let path = |name: &str| session(&["path", name, "--root", root]);
    let found = path("What does src/a.rs do?");
    assert_eq!(
        found.text,
        format!("{root}/one.jsonl\n"),
        "{}",
        found.messages
    );
    let message = path("no/such/file.jsonl").messages;
    assert!(message.contains("No such file or directory"), "{message}");
}

#[test]
fn filters_apply_to_names() {
    let dir = tempfile::tempdir().unwrap();
    for (id, branch, day) in [("old", "topic", 1), ("new", "main", 2)] {
        let record = format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":null,"sessionId":"{id}","gitBranch":"{branch}","timestamp":"2026-01-0{day}T00:00:00Z","message":{{"role":"user","content":"go"}}}}"#
        );
        std::fs::write(dir.path().join(format!("{id}.jsonl")), record).unwrap();
    }
    let root = dir.path().to_str().unwrap();
    for (arguments, id) in [
        (&["latest"][..], Some("new")),
        (&["latest", "--branch", "topic"], Some("old")),
        (&["latest", "--until", "2026-01-01"], Some("old")),
        (&["old", "--branch", "topic"], Some("old")),
        (&["old", "--branch", "main"], None),
    ] {
        let output = session(&[&["path", "--root", root], arguments].concat());
        let path = id.map_or(String::new(), |id| format!("{root}/{id}.jsonl\n"));
        assert_eq!(output.text, path, "{arguments:?} {}", output.messages);
    }
}

/// Ids that start with the time differ at their ends. Another agent's session has the same prefix.
#[test]
fn short_ids_of_a_list_name_their_sessions_in_other_commands() {
    let folder = tempfile::tempdir().unwrap();
    let ids = [
        "01a20adc-2819-72d0-b928-e9c510d05164",
        "01a20adc-62b7-7ab2-a2b3-3d658e3458fe",
    ];
    for id in ids {
        let record = format!(
            r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{{"id":"{id}","cwd":"/w"}}}}"#
        );
        let prompt = r#"{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}"#;
        let name = format!("rollout-2026-01-01T00-00-00-{id}.jsonl");
        std::fs::write(folder.path().join(name), [&record, prompt].join("\n")).unwrap();
    }
    let claude = r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"01a20adc-9999","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"go"}}"#;
    std::fs::write(folder.path().join("01a20adc-9999.jsonl"), claude).unwrap();
    let root = folder.path().to_str().unwrap();
    let page = session(&["list", "--root", root, "--agent", "codex", "-o", "text"]).text;
    let mut shown: Vec<&str> = page
        .lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next())
        .collect();
    shown.sort_unstable();
    assert_eq!(shown, ["3d658e34", "e9c510d0"], "{page}");
    for (short, id) in shown.iter().zip([ids[1], ids[0]]) {
        let output = session(&["path", short, "--root", root]);
        assert!(
            output.text.trim_end().ends_with(&format!("{id}.jsonl")),
            "{}",
            output.messages
        );
    }
}
