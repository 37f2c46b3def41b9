//! A manual title against automatic ones.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use turnpipe::io::{RandomIds, SystemClock};
use turnpipe::jsonl::Mapping;
use turnpipe::session::record::{Kept, Moment, keep_title};
use turnpipe::session::{ManualTitle, Session, TitleSource};

use crate::files::{TALK, claude, qwen, write};

/// Rounds unless `TURNPIPE_RACE_ROUNDS` says otherwise.
const ROUNDS: usize = 300;

/// Appends as agents do: one write, no lock.
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
        let (text, manual) = if round % 2 == 0 {
            (
                qwen(&TALK),
                json!({"uuid": "u", "parentUuid": null, "sessionId": "22222222-2222-4222-8222-222222222222", "timestamp": now, "type": "system", "subtype": "custom_title", "cwd": "/w", "version": "0.24.4", "systemPayload": {"customTitle": "Mine", "titleSource": "manual"}}),
            )
        } else {
            (
                claude(&TALK),
                json!({"type": "custom-title", "customTitle": "Mine", "sessionId": "11111111-1111-4111-8111-111111111111"}),
            )
        };
        let path = write(folder.path(), "s.jsonl", &text);
        let manual = manual.to_string();
        std::thread::scope(|scope| {
            let auto = scope.spawn(|| {
                keep_title(
                    &path,
                    "Automatic",
                    ManualTitle::Keep,
                    &json!({"v": 1}),
                    &moment,
                )
                .unwrap()
            });
            // A little later each round, so that the two meet in every order.
            for _ in 0..(round * 37) % 4000 {
                std::hint::spin_loop();
            }
            rename_like_an_agent(&path, &manual);
            raced += usize::from(auto.join().unwrap() != Kept::Written);
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
