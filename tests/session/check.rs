//! `session check` and `session stats`.

use serde_json::json;

use crate::bench::{data, session, some_recordings, status_for};

#[test]
fn damage_is_reported_and_can_be_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("clean.jsonl").display().to_string();
    let file = data("claude-damaged.jsonl");
    let output = session(&["check", &file, "--exit-status", "--repair-to", &copy]);
    assert_eq!(output.status, Some(1));
    let records = output.records();
    let sums = records.last().unwrap();
    assert_eq!(sums["type"], "session_check");
    assert_eq!(sums["ok"], false);
    assert_eq!(sums["findings"]["line"], 1);
    assert_eq!(sums["findings"]["pending"], 1);
    assert_eq!(records[0]["type"], "session_damage");
    assert_eq!(session(&["check", &file]).status, Some(0));
    let clean = session(&["check", &copy, "--summary"]).records();
    assert_eq!(clean[0]["records"], sums["records"]);
    assert_eq!(clean[0]["findings"].get("line"), None);
    // A copy never replaces anything.
    let again = session(&["check", &file, "--repair-to", &copy]);
    assert_eq!(again.status, Some(74));
    let text = session(&["check", &file, "-o", "text"]).text;
    assert!(text.contains("damaged, 7 records on 7 lines"), "{text}");
    let sound = session(&["check", &data("pi.jsonl"), "--exit-status"]);
    assert_eq!(sound.status, Some(0), "{}", sound.text);
}

#[test]
fn as_text_only_sessions_with_findings_are_printed_and_one_line_of_totals() {
    let (damaged, sound) = (data("claude-damaged.jsonl"), data("pi.jsonl"));
    let text = |arguments: &[&str]| {
        let output = session(&[&["check", "-o", "text"], arguments].concat());
        output.text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        text(&[&sound]),
        ["1 session: 1 ok, 0 damaged, 0 unreadable"]
    );
    let sum = "3 sessions: 1 ok, 1 damaged, 1 unreadable";
    let files = [&damaged, &sound, "/nonexistent/x.jsonl"];
    assert_eq!(text(&[&files[..], &["--summary"]].concat()), [sum]);
    let lines = text(&files);
    let (last, pages) = lines.split_last().unwrap();
    assert_eq!(last, sum);
    let named: Vec<_> = pages.iter().filter(|line| !line.starts_with(' ')).collect();
    assert!(
        named.len() == 1 && named[0].starts_with(&damaged),
        "{pages:?}"
    );
    assert!(pages.len() > 1, "{pages:?}");
}

#[test]
fn without_names_only_findings_and_totals_are_written() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["claude-damaged.jsonl", "pi.jsonl"] {
        std::fs::copy(data(name), folder.path().join(name)).unwrap();
    }
    let output = session(&["check", "--root", folder.path().to_str().unwrap()]);
    let mut records = output.records();
    let totals = records.pop().unwrap();
    let expected =
        json!({"type": "session_checks", "sessions": 2, "ok": 1, "damaged": 1, "unreadable": 0});
    assert_eq!(totals, expected);
    let checked = records
        .iter()
        .filter(|record| record["type"] == "session_check");
    assert_eq!(checked.count(), 1);
}

#[test]
fn a_document_that_is_cut_off_is_read_as_far_as_possible() {
    let whole = std::fs::read_to_string(data("session-document.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session-document.json");
    let root = folder.path().to_str().unwrap();
    let cut = whole.find("\"quota\"").unwrap();
    std::fs::write(&path, &whole[..cut]).unwrap();
    let list = session(&["list", "--root", root]).records();
    assert_eq!(list[0]["title"], "A document");
    let shown = session(&["show", path.to_str().unwrap(), "-o", "text"]).text;
    assert!(
        shown.contains("Reading.") && !shown.contains("quota"),
        "{shown}"
    );
    assert!(
        shown.contains("the rest of the document is missing"),
        "{shown}"
    );
    let check = session(&["check", "--root", root]).records();
    assert_eq!(check[0]["reason"], "the document is cut off");
    assert_eq!(check[1]["ok"], false);
    // Nothing of it can be read.
    std::fs::write(&path, &whole[..20]).unwrap();
    for command in ["list", "check"] {
        let output = session(&[command, "--root", root]);
        assert_eq!(output.status, Some(2));
        assert!(
            output.messages.contains("is cut off"),
            "{}",
            output.messages
        );
    }
}

#[test]
fn tokens_are_counted_over_sessions() {
    let files = [data("claude-parallel.jsonl"), data("codex.jsonl")];
    let output = session(&["stats", &files[0], &files[1]]);
    let stats = &output.records()[0];
    assert_eq!(stats["sessions"], 2);
    assert_eq!(stats["usage"]["output_tokens"], 42);
    assert_eq!(stats["by_prompt_id"][0]["name"], "main");
    let names: Vec<_> = stats["by_model"]
        .as_array()
        .unwrap()
        .iter()
        .map(|share| share["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["model-a", "model-b", "model-c"]);
    let page = session(&["stats", &files[0], "-o", "text"]).text;
    assert!(
        page.contains("\nTOOL  CALLS  FAILED\nRead      2       1\n"),
        "{page}"
    );
}

#[test]
fn recordings_are_checked_and_counted() {
    for recording in some_recordings(&[".jsonl", ".json"]) {
        let path = recording.display().to_string();
        for command in ["check", "stats"] {
            let output = session(&[command, "-o", "jsonl", &path]);
            let expected = Some(status_for(&recording));
            assert_eq!(
                output.status, expected,
                "{command} {path}: {}",
                output.messages
            );
        }
    }
}
