use std::fs::{File, create_dir_all, write};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::*;
use crate::{Agent, Root, discover};

fn session(id: &str, cwd: &str, minute: u32, title: Option<&str>) -> String {
    let mut lines = vec![format!(
        r#"{{"uuid":"{id}-1","parentUuid":null,"sessionId":"{id}","timestamp":"2026-01-01T10:{minute:02}:00Z","type":"user","cwd":"{cwd}","message":{{"role":"user","parts":[{{"text":"prompt of {id}"}}]}}}}"#
    )];
    lines.extend(title.map(|title| {
        format!(r#"{{"type":"system","subtype":"custom_title","systemPayload":{{"customTitle":"{title}"}}}}"#)
    }));
    lines.join("\n") + "\n"
}

fn listing(filter: Selection) -> Listing {
    Listing {
        selection: filter,
        depth: Depth::Ends,
        prices: None,
        mapping: Mapping::Allowed,
        jobs: NonZeroUsize::new(3).unwrap(),
        examined: Arc::default(),
    }
}

fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let chats = root.path().join("projects/p/chats");
    create_dir_all(&chats).unwrap();
    for number in 0..200_u32 {
        let id = format!("s{number:03}");
        let cwd = if number % 2 == 0 { "/even/x" } else { "/odd" };
        let title = (number % 4 == 0).then_some("named");
        let path = chats.join(format!("{id}.jsonl"));
        write(&path, session(&id, cwd, number % 60, title)).unwrap();
        // Modified in another order.
        let base = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(base + Duration::from_secs(u64::from(number * 37 % 200)))
            .unwrap();
    }
    write(chats.join("notes.jsonl"), "{\"v\":1}\n").unwrap();
    write(chats.join("empty.jsonl"), "").unwrap();
    root
}

fn ids(root: &tempfile::TempDir, filter: Selection) -> Vec<String> {
    let candidates = discover(&[Root {
        agent: None,
        path: root.path().to_owned(),
    }]);
    let (listed, failed) = list(&candidates, &listing(filter));
    assert!(failed.is_empty());
    let ids = listed
        .into_iter()
        .map(|session| session.facts.session_id.unwrap());
    ids.collect()
}

#[test]
fn the_last_active_are_first_in_any_order_of_changes() {
    let root = tree();
    let all = ids(&root, Selection::default());
    assert_eq!(all.len(), 200);
    assert_eq!(&all[..4], ["s059", "s119", "s179", "s058"]);
    let limit = |limit| Selection {
        limit: NonZeroUsize::new(limit),
        ..Selection::default()
    };
    for count in [1, 3, 70, 500] {
        assert_eq!(ids(&root, limit(count)), all[..count.min(200)]);
    }
}

#[test]
fn filters_are_combined() {
    let root = tree();
    let all = Selection::default;
    let time = |text: &str| Some(text.parse().unwrap());
    let table = [
        (
            Selection {
                cwd: Some("/even".into()),
                ..all()
            },
            100,
        ),
        (
            Selection {
                cwd: Some("/ev".into()),
                ..all()
            },
            0,
        ),
        (
            Selection {
                untitled: true,
                ..all()
            },
            150,
        ),
        (
            Selection {
                agent: Some(Agent::Pi),
                ..all()
            },
            0,
        ),
        (
            Selection {
                since: time("2026-01-01T10:58:00Z"),
                ..all()
            },
            6,
        ),
        (
            Selection {
                until: time("2026-01-01T10:01:00Z"),
                ..all()
            },
            4,
        ),
        (
            Selection {
                since: time("2026-01-01T10:58:00Z"),
                cwd: Some("/odd".into()),
                limit: NonZeroUsize::new(2),
                ..all()
            },
            2,
        ),
        (
            Selection {
                since: time("2037-01-01T00:00:00Z"),
                ..all()
            },
            0,
        ),
    ];
    for (filter, count) in table {
        assert_eq!(ids(&root, filter.clone()).len(), count, "{filter:?}");
    }
}

#[test]
fn codex_names_come_from_an_index() {
    let home = tempfile::tempdir().unwrap();
    let day = home.path().join("sessions/2026/01/01");
    create_dir_all(&day).unwrap();
    let line = r#"{"timestamp":"2026-01-01T10:00:00Z","type":"session_meta","payload":{"id":"t1","cwd":"/x"}}"#;
    write(day.join("rollout-2026-01-01T10-00-00-t1.jsonl"), line).unwrap();
    let index = r#"{"id":"t1","thread_name":"Named thread","updated_at":"2026-01-01T10:00:00Z"}"#;
    write(home.path().join("session_index.jsonl"), index).unwrap();
    let candidates = discover(&[Root {
        agent: Some(Agent::Codex),
        path: home.path().join("sessions"),
    }]);
    let (listed, _) = list(&candidates, &listing(Selection::default()));
    assert_eq!(listed[0].facts.title.as_ref().unwrap().text, "Named thread");
}

/// If files were changed long after the last activity, all of them are read.
#[test]
fn few_checks_are_made_in_many_files() {
    for limit in [1, 5, 1000] {
        let limit = NonZeroUsize::new(limit).unwrap();
        let (mut read, mut checks) = (0, 0);
        while read < 200_000 {
            read += next_step_size(read, limit);
            checks += 1;
        }
        assert!(checks < 20, "{checks} checks for {limit}");
    }
}

/// A program may set the modification time to one before the last record.
#[test]
fn limits_do_not_rely_on_modification_times() {
    let root = tempfile::tempdir().unwrap();
    for (id, minute, modified) in [("old", 10, 9_000), ("new", 50, 1_000)] {
        let path = root.path().join(format!("{id}.jsonl"));
        write(&path, session(id, "/x", minute, None)).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(modified);
        file.set_modified(time).unwrap();
    }
    let one = Selection {
        limit: NonZeroUsize::new(1),
        ..Selection::default()
    };
    assert_eq!(ids(&root, Selection::default()), ["new", "old"]);
    assert_eq!(ids(&root, one), ["new"]);
    let since = Selection {
        since: Some("2026-01-01T00:00:00Z".parse().unwrap()),
        ..Selection::default()
    };
    assert_eq!(ids(&root, since).len(), 2);
}

/// The clock of the machine that wrote a file can be ahead.
#[test]
fn limits_do_not_rely_on_times_in_the_future() {
    let root = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    for (id, minute, age) in [("later", 50, 9), ("early", 10, 3), ("earlier", 5, 6)] {
        let path = root.path().join(format!("{id}.jsonl"));
        let text = session(id, "/x", minute, None).replace("2026-01", "2199-01");
        write(&path, text).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(now + Duration::from_secs(3600 - age))
            .unwrap();
    }
    let one = Selection {
        limit: NonZeroUsize::new(1),
        ..Selection::default()
    };
    assert_eq!(ids(&root, one), ["later"]);
}

/// Naming a session is not activity, and keeps the modification time that agents sort by.
#[test]
fn naming_does_not_move_a_session() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("s.jsonl");
    write(&path, session("s", "/x", 10, None)).unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_hours(400_000);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(time).unwrap();
    let opened = Session::open(&path).unwrap();
    let before = opened.summary(Mapping::Allowed).unwrap();
    let moment = turnpipe_core::io::Moment {
        clock: Arc::new(turnpipe_core::io::FixedClock(
            "2026-09-09T00:00:00Z".parse().unwrap(),
        )),
        ids: Arc::new(turnpipe_core::io::SeededIds::new(7)),
    };
    let systems = crate::durable::FileSystems::Any;
    let mut files = crate::record::ForeignSession::new(&opened, &before, systems, moment);
    let name = crate::record::SessionName::new("Named").unwrap();
    files.rename(&name).unwrap();
    files
        .write_recap("It was fixed.", &serde_json::json!({"v": 1}))
        .unwrap();
    files.finish(crate::durable::Sync::Never).unwrap();
    let after = Session::open(&path).unwrap();
    let after = after.summary(Mapping::Allowed).unwrap();
    assert_eq!(after.title.unwrap().text, "Named");
    assert_eq!(after.last_activity, before.last_activity);
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), time);
}
