//! `session diff`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::bench::{recordings, session};

const PARSER: &str = "/// Splits a line at commas.\npub fn fields(line: &str) -> Vec<&str> {\n    line.split(',').collect()\n}\n";

/// Applies a patch in a directory.
fn apply(patch: &str, directory: &Path) {
    let file = directory.join("changes.patch");
    fs::write(&file, patch).unwrap();
    let mut git = Command::new("git");
    git.args(["apply", "--unidiff-zero", "changes.patch"])
        .current_dir(directory);
    // A repository around the directory does not matter.
    git.env("GIT_CEILING_DIRECTORIES", directory.parent().unwrap());
    let output = git.stdin(Stdio::null()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}\n{patch}");
    fs::remove_file(file).unwrap();
}

#[test]
fn the_patch_of_a_recording_applies_to_its_starting_state() {
    let trimmed = PARSER.replace(".collect()", ".map(str::trim).collect()");
    for recording in [
        "qwen/par.session.jsonl",
        "opencode/par.session.json",
        "pi/par.session.jsonl",
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        let file = folder.path().join("src/parser.rs");
        fs::write(&file, PARSER).unwrap();
        let said = session(&["diff", recordings().join(recording).to_str().unwrap()]);
        assert_eq!((said.status, &*said.messages), (Some(0), ""), "{recording}");
        apply(&said.text, folder.path());
        assert_eq!(fs::read_to_string(file).unwrap(), trimmed, "{recording}");
    }
    // A file with blanks and other letters in its name, below a directory of which only a hash is known.
    let folder = tempfile::tempdir().unwrap();
    let said = session(&[
        "diff",
        recordings()
            .join("gemini/cjk.session.jsonl")
            .to_str()
            .unwrap(),
    ]);
    apply(&said.text, folder.path());
    assert!(
        folder.path().join("文档/翻訳 メモ.md").exists(),
        "{}",
        said.text
    );
    let stream = session(&[
        "diff",
        recordings().join("qwen/par.stream.jsonl").to_str().unwrap(),
    ]);
    assert_eq!((stream.status, &*stream.text), (Some(8), ""));
    assert!(
        stream
            .messages
            .contains("not in the session: /srv/demo/src/parser.rs"),
        "{}",
        stream.messages
    );
}

/// Sessions recorded from agents, each with the name of a file whose changes are not all in it.
const EDITED: [(&str, Option<&str>); 12] = [
    ("codex-moves.jsonl", None),
    ("copilot-edits.jsonl", None),
    ("copilot-new.jsonl", None),
    ("gemini-new.jsonl", None),
    ("gemini-shellnear.jsonl", Some("lf.txt")),
    ("opencode-gpt-moves.json", None),
    ("opencode-new.json", Some("doomed.txt")),
    ("pi-crlf.jsonl", None),
    ("pi-edits.jsonl", None),
    ("pi-new.jsonl", None),
    ("qwen-crlf.jsonl", None),
    ("qwen-new.jsonl", None),
];

#[test]
fn the_patch_makes_the_files_that_the_agent_made() {
    let recorded = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/edits"));
    for (name, incomplete) in EDITED {
        let stem = name.split('.').next().unwrap();
        let files = fs::read(recorded.join(format!("{stem}.files.json"))).unwrap();
        let files: BTreeMap<String, [Option<String>; 2]> = serde_json::from_slice(&files).unwrap();
        let start = tempfile::tempdir().unwrap();
        for (file, [before, _]) in &files {
            let path = start.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if let Some(before) = before {
                fs::write(path, before).unwrap();
            }
        }
        let said = session(&["diff", recorded.join(name).to_str().unwrap()]);
        match incomplete {
            Some(file) => assert!(said.messages.contains(file), "{name}: {}", said.messages),
            None => assert_eq!(said.messages, "", "{name}"),
        }
        apply(&said.text, start.path());
        for (file, [_, after]) in &files {
            let found = fs::read_to_string(start.path().join(file)).ok();
            if incomplete != Some(file) {
                assert_eq!(&found, after, "{name}: {file}: {}", said.text);
            }
        }
    }
}

fn claude(id: &str, result: &Value) -> String {
    let block = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
    let row = json!({"type": "user", "uuid": id, "parentUuid": null, "sessionId": "s", "cwd": "/p",
        "message": {"role": "user", "content": block}, "toolUseResult": result});
    format!("{row}\n")
}

fn codex(id: &str, changes: &Value) -> String {
    let item = json!({"type": "FileChange", "id": id, "changes": changes, "status": "completed"});
    let payload = json!({"type": "item_completed", "item": item});
    format!("{}\n", json!({"type": "event_msg", "payload": payload}))
}

#[test]
fn files_are_added_changed_moved_and_removed_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let hunk = |old: &str, new: &str| {
        json!([{"oldStart": 1, "oldLines": 1, "newStart": 1,
        "newLines": 1, "lines": [format!("-{old}"), format!("+{new}")]}])
    };
    let claude = [
        claude(
            "a",
            &json!({"type": "create", "filePath": "/p/new.txt", "content": "one\n"}),
        ),
        claude(
            "b",
            &json!({"filePath": "/p/new.txt", "structuredPatch": hunk("one", "two")}),
        ),
        claude(
            "c",
            &json!({"type": "update", "filePath": "/p/old.txt", "structuredPatch": hunk("x", "y")}),
        ),
        claude(
            "d",
            &json!({"type": "create", "filePath": "/elsewhere/z", "content": "z"}),
        ),
    ];
    let head = json!({"type": "session_meta", "payload": {"id": "t", "cwd": "/p"}});
    let codex = [
        format!("{head}\n"),
        codex(
            "a",
            &json!({"/p/new.txt": {"type": "add", "content": "two\n"},
            "/p/old.txt": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n", "move_path": "/p/moved.txt"}}),
        ),
        codex(
            "b",
            &json!({"/p/gone.txt": {"type": "delete", "content": "last"},
            "/p/moved.txt": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-y\n+z\n"}}),
        ),
    ];
    for (rows, contents) in [
        (
            claude.concat(),
            [
                ("new.txt", Some("two\n")),
                ("old.txt", Some("y\n")),
                ("gone.txt", Some("last")),
            ],
        ),
        (
            codex.concat(),
            [
                ("new.txt", Some("two\n")),
                ("moved.txt", Some("z\n")),
                ("gone.txt", None),
            ],
        ),
    ] {
        let path = folder.path().join("s.jsonl");
        fs::write(&path, rows).unwrap();
        let start = tempfile::tempdir().unwrap();
        fs::write(start.path().join("old.txt"), "x\n").unwrap();
        fs::write(start.path().join("gone.txt"), "last").unwrap();
        let said = session(&["diff", path.to_str().unwrap()]);
        assert_eq!(
            said.messages
                .contains("outside the directory: /elsewhere/z"),
            contents[2].1.is_some()
        );
        apply(&said.text, start.path());
        for (name, content) in contents {
            let found = fs::read_to_string(start.path().join(name)).ok();
            assert_eq!(found.as_deref(), content, "{name}: {}", said.text);
        }
    }
}

#[test]
fn files_are_removed_and_moved_after_other_changes() {
    let folder = tempfile::tempdir().unwrap();
    let changed = |moved_to: Option<&str>| json!({"type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n", "move_path": moved_to});
    let moved =
        |moved_to: &str| json!({"type": "update", "unified_diff": "", "move_path": moved_to});
    let added = |content: &str| json!({"type": "add", "content": content});
    let rows = [
        format!(
            "{}\n",
            json!({"type": "session_meta", "payload": {"id": "t", "cwd": "/p"}})
        ),
        codex("a", &json!({"/p/a": changed(None), "/p/b": changed(None)})),
        codex(
            "b",
            &json!({"/p/a": {"type": "delete", "content": "y\n"}, "/p/b": moved("/p/c")}),
        ),
        codex(
            "c",
            &json!({"/p/a": added("new\n"), "/p/b": added("again\n"), "/p/c": moved("/p/d")}),
        ),
        // Both names are of the same file.
        codex("d", &json!({"e": added("x\n")})),
        codex("e", &json!({"/p/./e": changed(Some("/p/f"))})),
        codex("f", &json!({"/p/f": added("over\n")})),
    ];
    let path = folder.path().join("s.jsonl");
    fs::write(&path, rows.concat()).unwrap();
    let start = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        fs::write(start.path().join(name), "x\n").unwrap();
    }
    let said = session(&["diff", path.to_str().unwrap()]);
    assert_eq!(said.messages, "");
    apply(&said.text, start.path());
    let found = ["a", "b", "c", "d", "e", "f"]
        .map(|name| fs::read_to_string(start.path().join(name)).unwrap_or_default());
    assert_eq!(
        found,
        ["new\n", "again\n", "", "y\n", "", "over\n"],
        "{}",
        said.text
    );
}

#[test]
fn sessions_are_found_by_the_files_that_they_changed() {
    let root = recordings().join("pi");
    let listed = |path: &str| {
        let said = session(&["list", "--root", root.to_str().unwrap(), "--path", path]);
        let paths = said.records().into_iter();
        paths
            .map(|record| record["path"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let changed = root.join("par.session.jsonl").display().to_string();
    assert_eq!(listed("/srv/demo/src/parser.rs"), [&*changed]);
    assert_eq!(listed("/srv/demo/src"), [&*changed]);
    // It was only read.
    assert_eq!(listed("/srv/demo/README.md"), [""; 0]);
}

fn codex_row(kind: &str, payload: &Value) -> String {
    format!(
        "{}\n",
        json!({"timestamp": "2026-01-01T10:00:00Z", "type": kind, "payload": payload})
    )
}

/// A call of Codex and its result. Older versions have no other record of a change.
fn codex_call(id: &str, call: &Value, output: &str) -> String {
    let kind = call["type"].as_str().unwrap();
    let mut call = call.clone();
    call["call_id"] = id.into();
    let output = json!({"type": format!("{kind}_output"), "call_id": id, "output": output});
    codex_row("response_item", &call) + &codex_row("response_item", &output)
}

const APPLIED: &str =
    "{\"output\":\"Success. Updated the following files:\",\"metadata\":{\"exit_code\":0}}";

#[test]
fn patches_in_calls_are_printed_and_apply() {
    let custom =
        |patch: &str| json!({"type": "custom_tool_call", "name": "apply_patch", "input": patch});
    let shell = |command: Value| {
        let arguments = json!({"command": command, "workdir": "/p"}).to_string();
        json!({"type": "function_call", "name": "shell", "arguments": arguments})
    };
    let add = "*** Begin Patch\n*** Add File: new.txt\n+one\n+two\n*** Add File: short.txt\n+x\n*** End Patch";
    let change = "*** Begin Patch\n*** Update File: /p/new.txt\n*** Move to: moved.txt\n@@\n one\n-two\n+2\n\
        *** Delete File: short.txt\n*** End Patch\n";
    let by_context = "*** Begin Patch\n*** Update File: old.txt\n@@ fn b() {\n-    1\n+    2\n@@\n unchanged\n*** End Patch";
    let heredoc = format!(
        "cd src && apply_patch <<'EOF'\n{}\nEOF\n",
        by_context.replace("old.txt", "lib.rs")
    );
    let refused = add.replace("new.txt", "refused.txt");
    let rows = [
        codex_row("session_meta", &json!({"id": "t", "cwd": "/p"})),
        codex_call("a", &custom(add), APPLIED),
        codex_call("b", &shell(json!(["apply_patch", change])), APPLIED),
        codex_call("c", &shell(json!(["bash", "-lc", heredoc])), APPLIED),
        codex_call("d", &custom(by_context), APPLIED),
        codex_call(
            "e",
            &custom(&refused),
            "apply_patch verification failed: no",
        ),
        codex_call(
            "f",
            &custom("*** Begin Patch\n*** Delete File: gone.txt\n*** End Patch"),
            APPLIED,
        ),
    ];
    let start = tempfile::tempdir().unwrap();
    fs::create_dir(start.path().join("src")).unwrap();
    let text = "fn a() {\n    0\n}\nfn b() {\n    1\n}\n";
    for name in ["old.txt", "src/lib.rs"] {
        fs::write(start.path().join(name), text).unwrap();
    }
    let path = start.path().join("s.jsonl");
    fs::write(&path, rows.concat()).unwrap();
    let said = session(&["diff", path.to_str().unwrap()]);
    assert_eq!(said.status, Some(8), "{}", said.messages);
    let expected = "omitted 1 change whose text is not in the session: gone.txt";
    assert!(said.messages.contains(expected), "{}", said.messages);
    assert!(
        said.messages.contains("no line numbers of 2 changes"),
        "{}",
        said.messages
    );
    assert!(
        !said.messages.contains("shell command"),
        "{}",
        said.messages
    );
    apply(&said.text, start.path());
    let read = |name| fs::read_to_string(start.path().join(name)).ok();
    let changed = text.replace('1', "2");
    for (name, expected) in [
        ("moved.txt", Some("one\n2\n")),
        ("new.txt", None),
        ("short.txt", None),
        ("refused.txt", None),
        ("old.txt", Some(changed.as_str())),
        ("src/lib.rs", Some(changed.as_str())),
    ] {
        assert_eq!(read(name).as_deref(), expected, "{name}: {}", said.text);
    }
}

/// Returns the patch of a session with these rows.
fn patch_of(name: &str, rows: &[Value]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let rows: Vec<String> = rows.iter().map(|row| format!("{row}\n")).collect();
    fs::write(&path, rows.concat()).unwrap();
    let said = session(&["diff", path.to_str().unwrap()]);
    (said.status, said.text, said.messages)
}

const EDIT: &str =
    "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n";
const NEW: &str = "diff --git a/b.py b/b.py\nnew file mode 100644\n--- /dev/null\n+++ b/b.py\n@@ -0,0 +1,1 @@\n+b\n";

#[test]
fn streams_have_the_results_of_edits() {
    let call = |id: &str, name: &str, input: Value| {
        json!({"type": "assistant", "session_id": "s", "message": {"id": id, "role": "assistant", "model": "m",
            "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}})
    };
    let result = |id: &str, result: Value| {
        json!({"type": "user", "session_id": "s", "timestamp": "2026-01-01T10:00:00Z", "tool_use_result": result, "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]}})
    };
    let edit = json!({"filePath": "/p/a.py", "oldString": "y", "newString": "z", "originalFile": "x\ny\n",
        "structuredPatch": [{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" x", "-y", "+z"]}]});
    let own =
        json!({"type": "system", "subtype": "executor", "turnpipe": {"v": 1, "call_ids": "c"}});
    let init = json!({"type": "system", "subtype": "init", "cwd": "/p", "session_id": "s", "tools": [],
        "model": "m", "claude_code_version": "2.1.0", "permissionMode": "default"});
    for (head, name) in [(&init, "/p/a.py"), (&own, "a.py")] {
        let rows = [
            head.clone(),
            call(
                "e",
                "Edit",
                json!({"file_path": name, "old_string": "y", "new_string": "z"}),
            ),
            result("e", edit.clone()),
        ];
        assert_eq!(patch_of("s.jsonl", &rows).1, EDIT, "{name}");
    }
    // Without such results, a written text is known, and what replaces a part of it.
    let rows = [
        init,
        call(
            "w",
            "Write",
            json!({"file_path": "/p/b.py", "content": "a\n"}),
        ),
        result("w", Value::Null),
        call(
            "e",
            "Edit",
            json!({"file_path": "/p/b.py", "old_string": "a", "new_string": "b"}),
        ),
        result("e", Value::Null),
        call(
            "u",
            "Edit",
            json!({"file_path": "/p/c.py", "old_string": "a", "new_string": "b"}),
        ),
        result("u", Value::Null),
    ];
    let (status, patch, messages) = patch_of("s.jsonl", &rows);
    assert!(patch.ends_with("-a\n+b\n"), "{patch}");
    assert_eq!(status, Some(8));
    assert!(
        messages.contains("whose text is not in the session: /p/c.py"),
        "{messages}"
    );
}

#[test]
fn results_of_other_agents_are_read() {
    let droid = |role: &str, block: Value| json!({"type": "message", "id": role, "message": {"role": role, "content": [block]}});
    let line = |kind: &str, text: &str, old: Value, new: Value| json!({"type": kind, "content": text, "lineNumber": {"old": old, "new": new}});
    let lines = json!([
        line("unchanged", "x", json!(1), json!(1)),
        line("removed", "y", json!(2), Value::Null),
        line("added", "z", Value::Null, json!(2))
    ]);
    let edited = json!({"success": true, "file_path": "/p/a.py", "diffLines": lines}).to_string();
    let made = json!({"success": true, "file_path": "/p/b.py"}).to_string();
    let rows = [
        json!({"type": "session_start", "id": "s", "title": "t", "cwd": "/p"}),
        droid(
            "assistant",
            json!({"type": "tool_use", "id": "e", "name": "Edit",
            "input": {"file_path": "/p/a.py", "old_str": "y", "new_str": "z"}}),
        ),
        droid(
            "user",
            json!({"type": "tool_result", "tool_use_id": "e", "content": edited}),
        ),
        droid(
            "assistant",
            json!({"type": "tool_use", "id": "c", "name": "Create",
            "input": {"file_path": "/p/b.py", "content": "b\n"}}),
        ),
        droid(
            "user",
            json!({"type": "tool_result", "tool_use_id": "c", "content": made}),
        ),
    ];
    assert_eq!(
        patch_of("s.jsonl", &rows),
        (Some(0), format!("{EDIT}{NEW}"), String::new())
    );

    let copilot = |kind: &str, data: Value| json!({"type": kind, "id": kind, "data": data});
    let patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-y\n+z\n*** Add File: b.py\n+b\n*** End Patch\n";
    let diffs = "\ndiff --git a/p/a.py b/p/a.py\n--- a/p/a.py\n+++ b/p/a.py\n@@ -1,3 +1,3 @@\n x\n-y\n+z\n \n\
        diff --git a/p/b.py b/p/b.py\ncreate file mode 100644\n--- a/dev/null\n+++ b/p/b.py\n@@ -1,0 +1,2 @@\n+b\n+\n\n";
    let edits = json!([{"path": "/p/a.py", "kind": "edit"}, {"path": "/p/b.py", "kind": "create"}]);
    for (edits, is_numbered) in [(edits, true), (Value::Null, false)] {
        let rows = [
            copilot(
                "session.start",
                json!({"sessionId": "s", "context": {"cwd": "/p"}}),
            ),
            copilot(
                "assistant.message",
                json!({"messageId": "m", "content": "",
                "toolRequests": [{"toolCallId": "c", "name": "apply_patch", "arguments": patch, "type": "custom"}]}),
            ),
            copilot(
                "tool.execution_complete",
                json!({"toolCallId": "c", "success": true, "fileEdits": edits,
                "result": {"content": "Modified 1 file(s)", "detailedContent": diffs}}),
            ),
        ];
        let (status, patch, messages) = patch_of("events.jsonl", &rows);
        assert_eq!(status, Some(0), "{messages}");
        assert_eq!(patch.starts_with(EDIT), is_numbered, "{patch}");
        assert!(patch.ends_with(NEW), "{patch}");
    }
}
