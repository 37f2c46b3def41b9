use std::sync::Arc;

use super::*;
use turnpipe_core::io::{FixedClock, SeededIds};

const PROMPT: &str = r#"{"uuid":"a","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","type":"user","cwd":"/w","message":{"role":"user","parts":[{"text":"fix it"}]}}"#;

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn with(lines: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bench = Self { folder };
        std::fs::write(bench.path(), lines.join("\n") + "\n").unwrap();
        bench
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("s.jsonl")
    }

    fn session(&self) -> ForeignSession {
        let clock = FixedClock("2026-01-02T03:04:05Z".parse().unwrap());
        let moment = Moment {
            clock: Arc::new(clock),
            ids: Arc::new(SeededIds::new(7)),
        };
        let session = Session::open(&self.path()).unwrap();
        let known = session.summary(Mapping::Refused).unwrap();
        ForeignSession::new(&session, &known, FileSystems::Local, moment)
    }

    fn title(&self) -> Option<(String, TitleSource)> {
        let session = Session::open(&self.path()).unwrap();
        let title = session.title(Mapping::Refused).unwrap();
        title.map(|title| (title.text, title.source))
    }

    fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path()).unwrap();
        let lines = text.lines().filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn title(text: &str) -> Value {
    json!({"type": "title", "ok": true, "title": text, "title_source": "auto", "turnpipe": {"v": 1}})
}

fn manual(text: &str) -> String {
    json!({"uuid": "m", "parentUuid": "a", "sessionId": "s", "type": "system", "subtype": "custom_title",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "systemPayload": {"customTitle": text, "titleSource": "manual"}})
    .to_string()
}

#[test]
fn titles_and_recaps_go_into_the_file_labels_next_to_it_and_messages_nowhere() {
    let bench = Bench::with(&[PROMPT]);
    let mut session = bench.session();
    let label =
        json!({"type": "tool_use_summary", "summary": "Looked", "preceding_tool_use_ids": ["t"]});
    let recap = json!({"type": "recap", "ok": true, "recap": "All done."});
    let message = json!({"type": "user", "message": {"role": "user", "content": "x"}});
    assert_eq!(
        session.record(title("Fix it")).unwrap(),
        RecordOutcome::AgentFile
    );
    assert_eq!(
        session.record(recap.clone()).unwrap(),
        RecordOutcome::AgentFile
    );
    assert_eq!(session.record(label).unwrap(), RecordOutcome::SideFile);
    assert_eq!(session.record(message).unwrap(), RecordOutcome::Skipped);
    assert_eq!(session.finish(Sync::Never).unwrap(), 3);
    let lines = bench.lines();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[1]["parentUuid"], "a");
    assert_eq!(lines[2]["parentUuid"], lines[1]["uuid"]);
    assert_eq!(
        bench.title(),
        Some(("Fix it".to_owned(), TitleSource::Auto))
    );
    let side_file = std::fs::read_to_string(side_file_path(&bench.path())).unwrap();
    assert!(side_file.contains(r#""summary":"Looked""#), "{side_file}");
}

#[test]
fn a_title_set_by_the_user_stays_unless_replaced_on_request() {
    let bench = Bench::with(&[PROMPT, &manual("Mine")]);
    let mut session = bench.session();
    let became = session.record(title("Theirs")).unwrap();
    assert_eq!(became, RecordOutcome::KeptManualTitle);
    let asked = json!({"type": "title", "ok": true, "title": "Asked for", "title_source": "auto",
        "turnpipe": {"v": 1, "supersedes_manual": true}});
    assert_eq!(session.record(asked).unwrap(), RecordOutcome::AgentFile);
    assert_eq!(
        bench.title(),
        Some(("Asked for".to_owned(), TitleSource::Auto))
    );
}

#[test]
fn a_title_is_repeated_before_it_is_too_far_from_the_end() {
    let filler = PROMPT
        .replace("fix it", &"x".repeat(40_000))
        .replace(r#""a""#, r#""b""#);
    let recap = json!({"type": "system", "subtype": "away_summary", "content": "Done."});
    let bench = Bench::with(&[&manual("Mine"), PROMPT, &filler]);
    let mut session = bench.session();
    session.record(recap.clone()).unwrap();
    session.finish(Sync::Never).unwrap();
    let lines = bench.lines();
    assert_eq!(lines.len(), 5);
    assert_eq!(
        lines[4]["systemPayload"],
        json!({"customTitle": "Mine", "titleSource": "manual"})
    );
    // Now it is near.
    let mut session = bench.session();
    session.record(recap.clone()).unwrap();
    session.finish(Sync::Never).unwrap();
    assert_eq!(bench.lines().len(), 6);
}

/// A file outside Codex's home has no index; an older version of Codex kept the name in the file.
#[test]
fn a_title_goes_next_to_a_file_that_cannot_contain_it() {
    let bench = Bench::with(&[
        r#"{"timestamp":"2026-01-02T03:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}"#,
        r#"{"timestamp":"2026-01-02T03:00:01Z","type":"event_msg","payload":{"type":"thread_name_updated","thread_id":"s","thread_name":"Mine"}}"#,
    ]);
    let before = bench.lines();
    let ours = json!({"v": 1});
    let mut session = bench.session();
    let mut write = |manual_title| session.write_title("Theirs", manual_title, &ours).unwrap();
    assert_eq!(write(ManualTitle::Keep), RecordOutcome::KeptManualTitle);
    assert_eq!(bench.title().unwrap().0, "Mine");
    assert_eq!(write(ManualTitle::Supersede), RecordOutcome::SideFile);
    assert_eq!(
        bench.title(),
        Some(("Theirs".to_owned(), TitleSource::Auto))
    );
    assert_eq!(bench.lines(), before);
}

/// Nothing is appended to a file compressed by its agent.
#[test]
fn an_archive_is_not_changed() {
    let bench = Bench::with(&[]);
    let text = PROMPT.to_owned() + "\n";
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let packed = ruzstd::encoding::compress_to_vec(text.as_bytes(), level);
    std::fs::write(bench.path(), &packed).unwrap();
    let mut session = bench.session();
    assert_eq!(
        session.record(title("Fix it")).unwrap(),
        RecordOutcome::SideFile
    );
    session.finish(Sync::Never).unwrap();
    assert_eq!(std::fs::read(bench.path()).unwrap(), packed);
    assert_eq!(bench.title().unwrap().0, "Fix it");
}

/// Only recaps are written into the agent's file; other records with a text go next to it.
#[test]
fn other_records_with_a_text_are_no_recaps() {
    let bench = Bench::with(&[PROMPT]);
    let mut session = bench.session();
    for record in [
        json!({"type": "system", "subtype": "informational", "content": "a note"}),
        json!({"type": "note", "recap": "not this kind"}),
        json!({"type": "title", "ok": false, "title": "failed", "content": "x"}),
    ] {
        let written = session.record(record.clone()).unwrap();
        assert_ne!(written, RecordOutcome::AgentFile, "{record}");
    }
    session.finish(Sync::Never).unwrap();
    assert_eq!(bench.lines().len(), 1);
}
