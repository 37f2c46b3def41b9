//! `session show`.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::bench::{data, recordings, session, some_recordings, status_for, turnpipe};

#[test]
fn markdown_and_text_are_readable() {
    let file = data("claude-parallel.jsonl");
    let page = session(&["show", &file, "-o", "md", "--calls", "full"]).text;
    let expected = "\
# Compare files

- session: `5e551011-0000-4000-8000-000000000001`
- agent: `claude`
- directory: `/home/me/demo`
- branch: `feature`
- model: `model-b`
- duration: `5 s`
- tokens: `30 input, 12 output, 3 cache read, 2 cache write`
- cost: `?`
- resume: `claude --resume 5e551011-0000-4000-8000-000000000001`

## User · 2026-01-01T10:00:00.000Z

Compare the two files

- **Read** `a.txt`

```json
{
  \"file_path\": \"a.txt\"
}
```

```text
one
```

- **Read** `b.txt`

```json
{
  \"file_path\": \"b.txt\"
}
```

  *failed*

```text
two
```

## Assistant · 2026-01-01T10:00:05.000Z

They differ.

";
    assert_eq!(page, expected);
    let by_its_whole_name = session(&["show", &file, "-o", "markdown", "--calls", "full"]).text;
    assert_eq!(by_its_whole_name, expected);
    let page = session(&["show", &file, "-o", "text", "--calls=grouped"]).text;
    let expected = "\
Compare files
  session    5e551011-0000-4000-8000-000000000001
  agent      claude
  directory  /home/me/demo
  branch     feature
  model      model-b
  duration   5 s
  tokens     30 input, 12 output, 3 cache read, 2 cache write
  cost       ?
  resume     claude --resume 5e551011-0000-4000-8000-000000000001

> Compare the two files

Read a.txt, read of b.txt failed · 2 tools
  Read(a.txt)
  Read(b.txt)

They differ.

";
    assert_eq!(page, expected);
    let page = session(&["show", &file, "-o", "text", "--calls", "none"]).text;
    assert!(!page.contains("Read"), "{page}");
}

#[test]
fn calls_are_named_by_their_most_informative_argument() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl").display().to_string();
    let text = std::fs::read_to_string(data("claude-parallel.jsonl")).unwrap();
    let search = r#"{"pattern":"shouldFilterFile","path":"/home/me/demo/cli"}"#;
    let edit =
        r#"{"file_path":"/home/me/demo/a.txt","old_string":"one\nsame","new_string":"two\nsame"}"#;
    let text = text
        .replace(
            r#""name":"Read","input":{"file_path":"a.txt"}"#,
            &format!(r#""name":"Grep","input":{search}"#),
        )
        .replace(
            r#""name":"Read","input":{"file_path":"b.txt"}"#,
            &format!(r#""name":"Edit","input":{edit}"#),
        );
    std::fs::write(&path, text).unwrap();
    let page =
        |arguments: &[&str]| session(&[&["show", &path, "-o", "text"], arguments].concat()).text;
    let full = page(&["--calls", "full"]);
    assert!(full.contains("  Grep(shouldFilterFile in cli)\n"), "{full}");
    assert!(
        full.contains("  Edit(a.txt (+1 -1))\n    -one\n    +two\n     same\n"),
        "{full}"
    );
    let compact = page(&["--calls=grouped"]);
    assert!(compact.contains(" · 2 tools\n  Grep("), "{compact}");
    assert!(!compact.contains("Grep, Edit · 2 tools"), "{compact}");
    // Records contain the content of the file.
    let records = session(&["show", &path]).text;
    assert!(
        records.contains(search) && records.contains("resume"),
        "{records}"
    );
}

#[test]
fn injected_text_is_one_line_unless_requested() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl").display().to_string();
    let text = std::fs::read_to_string(data("claude-editor-note.jsonl")).unwrap();
    let skill = "Base directory for this skill: /p\\n\\n# Reviews\\nLook for *faults*.";
    let start = text.find("<ide_opened_file>").unwrap();
    let end = text.find("</ide_opened_file>").unwrap() + "</ide_opened_file>".len();
    std::fs::write(&path, text.replace(&text[start..end], skill)).unwrap();
    let page = |arguments: &[&str]| session(&[&["show", &path, "-o"], arguments].concat()).text;
    let line = "Base directory for this skill: /p # Reviews Look for *faults*. (4 lines)";
    let shown = page(&["text"]);
    assert!(shown.contains(&format!("[context] {line}\n")), "{shown}");
    let shown = page(&["md"]);
    let expected = "*Context: Base directory for this skill: /p \\# Reviews Look for \\*faults\\*. (4 lines)*\n\n";
    assert!(shown.contains(expected), "{shown}");
    for form in ["text", "md"] {
        let shown = page(&[form, "--thinking"]);
        assert!(shown.contains("# Reviews\n"), "{shown}");
    }
    assert!(page(&["jsonl"]).contains("# Reviews\\n"));
}

#[test]
fn patches_are_differences() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl").display().to_string();
    let text = std::fs::read_to_string(data("codex.jsonl")).unwrap();
    let call = r#"{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Update File: /home/me/demo/a.rs\n@@\n-old\n+<new>\n*** End Patch\n","call_id":"call_1"}"#;
    let start = text.find(r#"{"type":"function_call","#).unwrap();
    let end = start + text[start..].find("}}").unwrap() + 1;
    std::fs::write(&path, text.replace(&text[start..end], call)).unwrap();
    let page = |form: &str| session(&["show", &path, "-o", form, "--calls", "full"]).text;
    let shown = page("text");
    assert!(
        shown.contains("  apply_patch(a.rs (+1 -1))\n    *** Begin Patch\n"),
        "{shown}"
    );
    let shown = page("md");
    assert!(shown.contains("\n```diff\n*** Begin Patch\n"), "{shown}");
}

#[test]
fn ranges_and_branches_are_selected() {
    let file = data("qwen-rewound.jsonl");
    let texts = |arguments: &[&str]| -> Vec<String> {
        let result = session(&[&["show", &file, "-o", "jsonl"], arguments].concat());
        let records = result.records();
        let texts = records[1..].iter().filter_map(|record| {
            let blocks = record["message"]["content"].as_array()?;
            let text = blocks.iter().find(|block| block["type"] == "text")?;
            text["text"].as_str().map(str::to_owned)
        });
        texts.collect()
    };
    assert_eq!(texts(&["--range", "1"]), ["Fix the parser"]);
    let beyond = session(&["show", &file, "--range", "99.."]);
    let hint = "hint: the range is beyond the end: the session has ";
    assert!(beyond.messages.starts_with(hint), "{}", beyond.messages);
    assert_eq!(
        texts(&["--range", "4..5"]),
        ["Use tabs instead", "Done with"]
    );
    assert_eq!(
        texts(&["--range", "-4..-3"]),
        ["Use tabs instead", "Done with"]
    );
    let all = texts(&["--all-branches"]);
    assert!(all.contains(&"Use spaces".to_owned()));
    assert!(!texts(&[]).contains(&"Use spaces".to_owned()));
    let told = session(&["show", &file]).messages;
    assert!(told.contains("2 messages of other branches"), "{told}");
}

#[test]
fn shown_records_are_history_for_other_stages() {
    let shown = session(&[
        "show",
        &data("claude-damaged.jsonl"),
        "-o",
        "jsonl",
        "--all-branches",
    ]);
    assert!(shown.text.contains("\"tool_use\""), "{}", shown.text);
    let mut stage = turnpipe(&["run-tools", "--no-config"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    stage
        .stdin
        .take()
        .unwrap()
        .write_all(shown.text.as_bytes())
        .unwrap();
    let output = stage.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), shown.text);
}

#[test]
fn sessions_that_cannot_be_shown_are_usage_errors() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("plain"), "hello\n").unwrap();
    let table = [
        (at("plain"), "not a session file of a known agent"),
        (at(""), "is a directory"),
        (at("missing"), "No such file"),
    ];
    for (path, why) in table {
        let result = session(&["show", &path]);
        assert_eq!(result.status, Some(2), "{path}");
        assert!(result.messages.contains(why), "{path}: {}", result.messages);
    }
}

#[test]
fn recordings_are_shown_in_all_forms() {
    for recording in some_recordings(&[".session.jsonl", ".json"]) {
        let path = recording.display().to_string();
        for arguments in [
            &["-o", "text", "--thinking"][..],
            &["-o", "md", "--calls=grouped", "--all-branches"],
        ] {
            let result = session(&[&["show", &path], arguments].concat());
            let expected = Some(status_for(&recording));
            assert_eq!(result.status, expected, "{path}: {}", result.messages);
            let unsafe_character = |character: char| character.is_control() && character != '\n';
            assert!(!result.text.contains(unsafe_character), "{path}");
        }
    }
}

/// With its agent, and with tokens that count once if the original is there as well.
#[test]
fn a_printed_session_is_read_like_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let printed = folder.path().join("printed.jsonl");
    let printed_path = printed.to_str().unwrap();
    for name in [
        "claude-parallel.jsonl",
        "claude-repeated.jsonl",
        "codex.jsonl",
        "gemini-resumed.jsonl",
        "pi.jsonl",
        "qwen-rewound.jsonl",
        "../costs/gemini.jsonl",
    ] {
        let path = data(name);
        let all = session(&["show", "--all-branches", &path]).text;
        std::fs::write(&printed, all).unwrap();
        let stats = |paths: &[&str]| {
            let result = session(&[&["stats", "-q", "-o", "jsonl"], paths].concat());
            let mut record = result.records().remove(0);
            let model = record["by_model"].take();
            (record["usage"].take(), model, record["runs"].take())
        };
        assert_eq!(stats(&[printed_path]), stats(&[&path]), "{name}");
        let agent = |path: &str| session(&["show", path]).records()[0]["agent"].take();
        assert_eq!(agent(printed_path), agent(&path), "{name}");
    }
    let original = data("claude-parallel.jsonl");
    std::fs::write(&printed, session(&["show", &original]).text).unwrap();
    let replies = |paths: &[&str]| {
        let result = session(&[&["stats", "-o", "jsonl"], paths].concat());
        result.records()[0]["replies"].take()
    };
    assert_eq!(replies(&[printed_path, &original]), replies(&[&original]));
}

#[test]
fn a_page_loads_nothing() {
    let page = session(&["show", &data("claude-parallel.jsonl"), "-o", "html"]).text;
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<h1>Compare files</h1>"));
    assert!(page.contains("class=\"call failed\""));
    for elsewhere in ["http:", "https:", "<script", "url(", "@import"] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
}

#[test]
fn a_fork_begins_in_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let parent = std::fs::read_to_string(data("codex.jsonl")).unwrap();
    std::fs::write(folder.path().join("rollout-parent.jsonl"), &parent).unwrap();
    // Up to and including the prompt.
    let end: usize = parent.split_inclusive('\n').take(5).map(str::len).sum();
    let fork = format!(
        "{}\n{}\n",
        serde_json::json!({"type": "session_meta", "payload": {
            "id": "0199c0de-0000-7000-8000-00000000000f", "cwd": "/x",
            "forked_from_id": "0199c0de-0000-7000-8000-000000000001",
            "history_base": {"thread_id": "0199c0de-0000-7000-8000-000000000001",
                             "end_byte_offset": end}}}),
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Do it another way"}]}}"#
    );
    let path = folder.path().join("rollout-fork.jsonl");
    std::fs::write(&path, fork).unwrap();
    let name = path.display().to_string();
    let result = session(&["show", &name, "-o", "text"]);
    assert_eq!(result.status, Some(0), "{}", result.messages);
    let prompts: Vec<&str> = result
        .text
        .lines()
        .filter(|line| line.starts_with("> "))
        .collect();
    assert_eq!(prompts, ["> Run the tests", "> Do it another way"]);
    let last = session(&["show", &name, "-o", "text", "--range", "-1"]).text;
    assert!(!last.contains("> Run the tests"), "{last}");
    std::fs::remove_file(folder.path().join("rollout-parent.jsonl")).unwrap();
    let alone = session(&["show", &name, "-o", "text"]);
    assert!(
        alone
            .messages
            .contains("which are not found in another file"),
        "{}",
        alone.messages
    );
}

#[test]
fn secrets_are_masked_in_every_form_and_found_by_check() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let key = format!("ghp_{}", "aB3dE5gH7jK9".repeat(3));
    let line = |kind: &str, content: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{kind}","parentUuid":null,"sessionId":"5e55-1","timestamp":"2026-01-01T00:00:00Z","message":{{"id":"m","role":"{kind}","content":{content}}}}}"#
        )
    };
    let prompt = line("user", &format!("\"use {key}\""));
    let call = format!(
        r#"[{{"type":"tool_use","id":"t","name":"Bash","input":{{"command":"curl -H {key}"}}}}]"#
    );
    std::fs::write(&path, [prompt, line("assistant", &call)].join("\n")).unwrap();
    let path = path.to_str().unwrap();
    for form in ["jsonl", "text", "md"] {
        let arguments = [
            "show",
            path,
            "--all-branches",
            "--calls",
            "full",
            "-o",
            form,
        ];
        assert!(session(&arguments).text.contains(&key));
        let masked = session(&[&arguments[..], &["--redact"]].concat()).text;
        assert!(
            !masked.contains(&key) && masked.contains("[redacted]"),
            "{form}: {masked}"
        );
    }
    let pages = folder.path().join("pages");
    session(&["export", pages.to_str().unwrap(), path]);
    for page in std::fs::read_dir(&pages).unwrap() {
        let page = std::fs::read(page.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&page).contains(&key));
    }
    let check = session(&["check", path, "--secrets", "--exit-status"]);
    let found = check
        .records()
        .iter()
        .filter(|record| record["kind"] == "secret")
        .count();
    assert_eq!((found, check.status), (2, Some(1)));
}

#[test]
fn only_calls_that_changed_files_are_shown_as_diffs() {
    for recording in [
        "qwen/par.session.jsonl",
        "opencode/par.session.json",
        "pi/par.session.jsonl",
    ] {
        let path = recordings().join(recording);
        let path = path.to_str().unwrap();
        let all = session(&["show", path, "--calls", "full"]).records();
        let edits = session(&["show", path, "--calls", "edits"]).records();
        let blocks = |records: &[Value], kind: &str| -> Vec<Value> {
            let contents = records
                .iter()
                .filter_map(|record| record["message"]["content"].as_array());
            contents
                .flatten()
                .filter(|block| block["type"] == kind)
                .cloned()
                .collect()
        };
        let (calls, results) = (blocks(&edits, "tool_use"), blocks(&edits, "tool_result"));
        assert!(!calls.is_empty() && calls.len() < blocks(&all, "tool_use").len());
        assert_eq!(calls.len(), results.len(), "{recording}");
        let diff = session(&["diff", path]).text;
        for result in &results {
            let text = result["content"].as_str().unwrap();
            assert!(diff.contains(text.trim_end()), "{recording}: {text}");
        }
        let shown = session(&["show", path, "--calls", "edits", "-o", "text"]).text;
        assert!(
            shown.contains("+    line.split(',').map(str::trim).collect()"),
            "{shown}"
        );
        assert_eq!(shown.matches("⎿").count(), results.len(), "{shown}");
    }
    // The text is only in the input of the call.
    let stream = recordings().join("qwen/par.stream.jsonl");
    let edits = ["--calls", "edits", "-o", "text", stream.to_str().unwrap()];
    let shown = session(&[&["show"][..], &edits].concat()).text;
    assert!(
        shown.contains("+line.split(',').map(str::trim).collect()"),
        "{shown}"
    );
}
