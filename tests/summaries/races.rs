//! Manual and automatic titles of one session, written by several processes.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use turnpipe::io::{Moment, RandomIds, SystemClock};
use turnpipe::jsonl::Mapping;
use turnpipe::session::durable::{FileSystems, Sync};
use turnpipe::session::record::{ForeignSession, RecordOutcome};
use turnpipe::session::{ManualTitle, Session, TitleSource};

use crate::files::{TALK, claude, pi, qwen, write};
use crate::skip::is_full_run;

/// A session of each agent that has titles in its file, and the record of its rename to "Mine".
fn sessions() -> [(String, Value); 3] {
    let now = format!("{:.3}", jiff::Timestamp::now());
    [
        (
            qwen(&TALK),
            json!({"uuid": "u", "parentUuid": null, "sessionId": "22222222-2222-4222-8222-222222222222", "timestamp": now, "type": "system", "subtype": "custom_title", "cwd": "/w", "version": "0.24.4", "systemPayload": {"customTitle": "Mine", "titleSource": "manual"}}),
        ),
        (
            claude(&TALK),
            json!({"type": "custom-title", "customTitle": "Mine", "sessionId": "11111111-1111-4111-8111-111111111111"}),
        ),
        (
            pi(&TALK),
            json!({"type": "session_info", "id": "u", "parentId": "00000001", "timestamp": now, "name": "Mine"}),
        ),
    ]
}

/// Appends like agents: one write, no lock.
fn write_agent_title(path: &Path, record: &Value) {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(format!("{record}\n").as_bytes()).unwrap();
}

fn write_automatic_title(path: &Path) -> RecordOutcome {
    let moment = Moment {
        clock: Arc::new(SystemClock::default()),
        ids: Arc::new(RandomIds),
    };
    let session = Session::open(path).unwrap();
    let known = session.summary(Mapping::Refused).unwrap();
    let mut files = ForeignSession::new(&session, &known, FileSystems::Local, moment);
    let title = files.write_title("Automatic", ManualTitle::Keep, &json!({"v": 1}));
    let recorded = title.unwrap();
    files.finish(Sync::Never).unwrap();
    recorded
}

#[track_caller]
fn assert_manual_title(path: &Path) {
    let session = Session::open(path).unwrap();
    let title = session.title(Mapping::Refused).unwrap().unwrap();
    assert_eq!(
        (title.text.as_str(), title.source),
        ("Mine", TitleSource::Manual)
    );
}

#[test]
fn a_manual_title_wins_before_and_after_an_automatic_one() {
    let folder = tempfile::tempdir().unwrap();
    for (text, manual) in sessions() {
        let path = write(folder.path(), "s.jsonl", &text);
        write_agent_title(&path, &manual);
        assert_eq!(write_automatic_title(&path), RecordOutcome::KeptManualTitle);
        assert_manual_title(&path);

        let path = write(folder.path(), "s.jsonl", &text);
        assert_eq!(write_automatic_title(&path), RecordOutcome::AgentFile);
        write_agent_title(&path, &manual);
        assert_manual_title(&path);
    }
}

#[test]
fn a_manual_title_wins_every_race() {
    let rounds = if is_full_run() { 100 } else { 10 };
    let folder = tempfile::tempdir().unwrap();
    for round in 0..rounds {
        for (text, manual) in sessions() {
            let path = write(folder.path(), "s.jsonl", &text);
            std::thread::scope(|scope| {
                scope.spawn(|| write_automatic_title(&path));
                // A little later in each round, so that both orders occur.
                for _ in 0..(round * 37) % 4000 {
                    std::hint::spin_loop();
                }
                write_agent_title(&path, &manual);
            });
            assert_manual_title(&path);
        }
    }
}
