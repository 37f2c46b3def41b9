use std::fs::{File, create_dir_all, write};
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::session::{Root, discover, discover_names};

fn session(id: &str, cwd: &str, minute: u32, title: Option<&str>) -> String {
    let mut lines = vec![format!(
        r#"{{"uuid":"{id}-1","parentUuid":null,"sessionId":"{id}","timestamp":"2026-01-01T10:{minute:02}:00Z","type":"user","cwd":"{cwd}","message":{{"role":"user","parts":[{{"text":"prompt of {id}"}}]}}}}"#
    )];
    lines.extend(title.map(|title| {
        format!(r#"{{"type":"system","subtype":"custom_title","systemPayload":{{"customTitle":"{title}"}}}}"#)
    }));
    lines.join("\n") + "\n"
}

fn listing(filter: Filter) -> Listing {
    Listing {
        filter,
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
        // Changed long after the last activity, in another order.
        let base = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(base + Duration::from_secs(u64::from(number * 37 % 200)))
            .unwrap();
    }
    write(chats.join("notes.jsonl"), "{\"v\":1}\n").unwrap();
    write(chats.join("empty.jsonl"), "").unwrap();
    root
}

fn ids(root: &tempfile::TempDir, filter: Filter) -> Vec<String> {
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
fn the_last_active_come_first_whatever_the_order_of_changes() {
    let root = tree();
    let all = ids(&root, Filter::default());
    assert_eq!(all.len(), 200);
    assert_eq!(&all[..4], ["s059", "s119", "s179", "s058"]);
    let limit = |limit| Filter {
        limit: NonZeroUsize::new(limit),
        ..Filter::default()
    };
    for count in [1, 3, 70, 500] {
        assert_eq!(ids(&root, limit(count)), all[..count.min(200)]);
    }
}

#[test]
fn filters_hold_together() {
    let root = tree();
    let all = Filter::default;
    let time = |text: &str| Some(text.parse().unwrap());
    let table = [
        (
            Filter {
                cwd: Some("/even".into()),
                ..all()
            },
            100,
        ),
        (
            Filter {
                cwd: Some("/ev".into()),
                ..all()
            },
            0,
        ),
        (
            Filter {
                untitled: true,
                ..all()
            },
            150,
        ),
        (
            Filter {
                agent: Some(Agent::Pi),
                ..all()
            },
            0,
        ),
        (
            Filter {
                since: time("2026-01-01T10:58:00Z"),
                ..all()
            },
            6,
        ),
        (
            Filter {
                before: time("2026-01-01T10:01:00Z"),
                ..all()
            },
            4,
        ),
        (
            Filter {
                since: time("2026-01-01T10:58:00Z"),
                cwd: Some("/odd".into()),
                limit: NonZeroUsize::new(2),
                ..all()
            },
            2,
        ),
        (
            Filter {
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
fn codex_names_stand_in_an_index() {
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
    let (listed, _) = list(&candidates, &listing(Filter::default()));
    assert_eq!(listed[0].facts.title.as_ref().unwrap().text, "Named thread");
}

#[test]
fn sessions_written_at_once_come_in_the_same_order() {
    let root = tree();
    write(
        root.path().join("projects/p/chats/torn.jsonl"),
        "{\"uuid\":",
    )
    .unwrap();
    let roots = [Root {
        agent: None,
        path: root.path().to_owned(),
    }];
    let files = discover_names(NonZeroUsize::MIN, &roots);
    for cwd in [
        None,
        Some(PathBuf::from("/even")),
        Some(PathBuf::from("/none")),
    ] {
        let filter = Filter {
            cwd,
            ..Filter::default()
        };
        let listing = listing(filter.clone());
        let (texts, failed) = list_as_text(&files, &listing, &|listed, text| {
            text.extend_from_slice(listed.facts.session_id.unwrap().as_bytes());
            Ok::<(), ()>(())
        })
        .unwrap();
        assert!(failed.is_empty());
        let texts: Vec<_> = texts.iter().map(String::from_utf8_lossy).collect();
        assert_eq!(texts, ids(&root, filter));
    }
    let refused = list_as_text(&files, &listing(Filter::default()), &|_, _| Err("full"));
    assert_eq!(refused.unwrap_err(), "full");
}

/// Where files were changed long after the last activity, all of them are read.
#[test]
fn few_checks_are_made_in_many_files() {
    for limit in [1, 5, 1000] {
        let limit = NonZeroUsize::new(limit).unwrap();
        let (mut read, mut checks) = (0, 0);
        while read < 200_000 {
            read += step(read, limit);
            checks += 1;
        }
        assert!(checks < 20, "{checks} checks for {limit}");
    }
}
