//! Races between manual and automatic titles.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use turnpipe::io::{Moment, RandomIds, SystemClock};
use turnpipe::jsonl::Mapping;
use turnpipe::session::durable::{FileSystems, Sync};
use turnpipe::session::record::{ForeignSession, Recorded};
use turnpipe::session::{ManualTitle, Session, TitleSource};

use crate::files::{TALK, claude, pi, qwen, write};

/// Default number of rounds (`TURNPIPE_RACE_ROUNDS`).
const ROUNDS: usize = 300;

/// Appends like agents: one write, no lock.
fn rename_like_an_agent(path: &Path, record: &str) {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(format!("{record}\n").as_bytes()).unwrap();
}

#[test]
fn a_manual_title_wins_every_race() {
    let rounds = std::env::var("TURNPIPE_RACE_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(ROUNDS);
    let folder = tempfile::tempdir().unwrap();
    let moment = Moment {
        clock: Arc::new(SystemClock::default()),
        ids: Arc::new(RandomIds),
    };
    let mut raced = 0;
    for round in 0..rounds {
        let now = format!("{:.3}", jiff::Timestamp::now());
        let (text, manual) = match round % 3 {
            0 => (
                qwen(&TALK),
                json!({"uuid": "u", "parentUuid": null, "sessionId": "22222222-2222-4222-8222-222222222222", "timestamp": now, "type": "system", "subtype": "custom_title", "cwd": "/w", "version": "0.24.4", "systemPayload": {"customTitle": "Mine", "titleSource": "manual"}}),
            ),
            1 => (
                claude(&TALK),
                json!({"type": "custom-title", "customTitle": "Mine", "sessionId": "11111111-1111-4111-8111-111111111111"}),
            ),
            _ => (
                pi(&TALK),
                json!({"type": "session_info", "id": "u", "parentId": "00000001", "timestamp": now, "name": "Mine"}),
            ),
        };
        let path = write(folder.path(), "s.jsonl", &text);
        let manual = manual.to_string();
        std::thread::scope(|scope| {
            let auto = scope.spawn(|| {
                let session = Session::open(&path).unwrap();
                let known = session.summary(Mapping::Refused).unwrap();
                let systems = FileSystems::Local;
                let mut files = ForeignSession::new(&session, &known, systems, moment.clone());
                let title = files.title("Automatic", ManualTitle::Keep, &json!({"v": 1}));
                let recorded = title.unwrap();
                files.finish(Sync::Never).unwrap();
                recorded
            });
            // A little later in each round, so that both orders occur.
            for _ in 0..(round * 37) % 4000 {
                std::hint::spin_loop();
            }
            rename_like_an_agent(&path, &manual);
            raced += usize::from(auto.join().unwrap() == Recorded::KeptManualTitle);
        });
        let title = Session::open(&path)
            .unwrap()
            .title(Mapping::Refused)
            .unwrap()
            .unwrap();
        assert_eq!(
            (title.text.as_str(), title.source),
            ("Mine", TitleSource::Manual),
            "round {round}"
        );
    }
    println!("in {raced} of {rounds} rounds the manual title was seen in time");
}
