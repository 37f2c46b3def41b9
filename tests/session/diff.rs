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
    git.args(["apply", "changes.patch"]).current_dir(directory);
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
        let said = session(&["list", "--root", root.to_str().unwrap(), "--touched", path]);
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
