use std::path::Path;

use super::*;
use crate::search::{Case, PatternOptions};

const ANY: PatternOptions = PatternOptions {
    is_fixed: false,
    case: Case::Exact,
    whole_words: false,
};

fn found(text: &str, query: &Query) -> Vec<(u64, String)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, text).unwrap();
    all(&path, query)
        .into_iter()
        .map(|found| (found.line.unwrap(), found.excerpt.text()))
        .collect()
}

fn all(path: &Path, query: &Query) -> Vec<SearchHit> {
    let session = Session::open(path).unwrap();
    let mut all = Vec::new();
    session
        .search(query, &mut |found| {
            all.push(found);
            ControlFlow::Continue(())
        })
        .unwrap();
    all
}

fn user(text: &str) -> String {
    format!(
        r#"{{"type":"user","parentUuid":null,"sessionId":"s","uuid":"u","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

const CALL: &str = r#"{"type":"assistant","parentUuid":"u","uuid":"a","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Looking"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"grep -n \"login\" src","n":1}}]}}"#;
const RESULT: &str = r#"{"type":"user","parentUuid":"a","uuid":"b","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"src/a.rs: fn login()"}]}}"#;

#[test]
fn text_is_matched_unescaped() {
    let text = [
        &*user(r#"say \"hi\"\nto th\u0065 team"#),
        &user("plain team"),
        "{torn team",
        &user("TEAM"),
    ]
    .join("\n");
    let lines = |pattern: &str, options| -> Vec<u64> {
        let query = Query::new(pattern, options).unwrap();
        found(&text, &query).iter().map(|(line, _)| *line).collect()
    };
    assert_eq!(lines("team", ANY), [1, 2]);
    assert_eq!(lines("^to the", ANY), [1]);
    assert_eq!(lines("\"hi\"", ANY), [1]);
    assert_eq!(lines("message|uuid|role", ANY), [0_u64; 0]);
    let ignored = PatternOptions {
        case: Case::Ignored,
        ..ANY
    };
    assert_eq!(lines("team", ignored), [1, 2, 4]);
    let whole = PatternOptions {
        whole_words: true,
        ..ANY
    };
    assert_eq!(lines("tea", whole), [0_u64; 0]);
    let fixed = PatternOptions {
        is_fixed: true,
        ..ANY
    };
    assert_eq!(lines(".*", fixed), [0_u64; 0]);
    assert_eq!(lines("\"\nto", fixed), [1]);
    assert!(Query::new("(", ANY).is_err());
}

#[test]
fn a_byte_order_mark_hides_no_match() {
    let text = format!("\u{feff}{}\n{}\n", user("the team"), user("a team"));
    let query = Query::new("team", ANY).unwrap();
    let lines: Vec<u64> = found(&text, &query).iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 2]);
}

#[test]
fn calls_and_results_are_searched_on_request() {
    let text = [&*user("the login"), CALL, RESULT].join("\n");
    let mut query = Query::new("login", ANY).unwrap();
    assert_eq!(found(&text, &query), [(1, "the login".to_owned())]);
    query.places = vec![HitBlock::Call, HitBlock::Result];
    let expected = [
        (2, "grep -n \"login\" src".to_owned()),
        (3, "src/a.rs: fn login()".to_owned()),
    ];
    assert_eq!(found(&text, &query), expected);
    query.roles = vec![Role::Assistant];
    assert_eq!(found(&text, &query), expected[..1]);
}

#[test]
fn a_search_stops_when_it_has_enough() {
    let text = [&*user("one one"), &user("one"), &user("one")].join("\n");
    let mut query = Query::new("one", ANY).unwrap();
    assert_eq!(found(&text, &query).len(), 3);
    query.max_hits = Some(NonZeroUsize::MIN);
    assert_eq!(found(&text, &query).len(), 1);
}

/// The prefilter skips no matches: real files, searched with and without it.
#[test]
fn skipped_lines_contain_no_match() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let roots = ["session", "agents"].map(|name| data.join(name));
    let places = [
        HitBlock::Text,
        HitBlock::Thinking,
        HitBlock::Call,
        HitBlock::Result,
    ];
    let mut total = 0;
    for candidate in roots
        .into_iter()
        .flat_map(|path| crate::discover(&[crate::Root { agent: None, path }]))
    {
        let Ok(session) = Session::open(&candidate.path) else {
            continue;
        };
        drop(session);
        for (pattern, case) in [
            ("file", Case::Exact),
            ("error|fix", Case::Ignored),
            ("a b", Case::Exact),
            ("the \\w+ing", Case::Ignored),
        ] {
            let options = PatternOptions { case, ..ANY };
            let query = Query {
                places: places.to_vec(),
                ..Query::new(pattern, options).unwrap()
            };
            let slow = Query {
                needles: None,
                ..query.clone()
            };
            let (quick, slow) = (all(&candidate.path, &query), all(&candidate.path, &slow));
            let summary = |found: &[SearchHit]| -> Vec<(Option<u64>, String)> {
                let hits = found.iter();
                hits.map(|found| (found.line, found.excerpt.text()))
                    .collect()
            };
            let name = format!("{pattern} in {}", candidate.path.display());
            assert_eq!(summary(&quick), summary(&slow), "{name}");
            for place in places {
                let query = Query {
                    places: vec![place],
                    ..query.clone()
                };
                let there = quick.iter().filter(|found| found.place == place).cloned();
                let there: Vec<SearchHit> = there.collect();
                let found = all(&candidate.path, &query);
                assert_eq!(summary(&found), summary(&there), "{place:?}: {name}");
            }
            total += quick.len();
        }
    }
    assert!(total > 50, "only {total}");
}
