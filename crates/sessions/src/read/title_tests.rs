use std::io::Write;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::Agent;
use turnpipe_core::jsonl::Mapping;

fn title_of(agent: Agent, text: &str) -> Option<(String, TitleSource)> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let mut fixed = FixedFile::new(file, text.len() as u64, Mapping::Allowed);
    let title = find_title(&mut fixed, agent.format()).unwrap();
    title.map(|title| (title.text, title.source))
}

fn qwen(title: &str, source: &str, second: u32) -> String {
    format!(
        r#"{{"type":"system","subtype":"custom_title","timestamp":"2026-01-01T00:{:02}:{:02}Z","systemPayload":{{"customTitle":"{title}","titleSource":"{source}"}}}}"#,
        second / 60,
        second % 60,
    )
}

/// Returns a record of about this many bytes, without a title.
fn filler(bytes: usize) -> String {
    format!(
        r#"{{"type":"user","message":{{"parts":[{{"text":"{}"}}]}}}}"#,
        "x".repeat(bytes)
    )
}

#[test]
fn only_whole_title_records_give_titles() {
    let auto = qwen("A", "auto", 0);
    let table: [(&str, String, Option<&str>); 11] = [
        ("nothing", String::new(), None),
        ("one", auto.clone(), Some("A")),
        (
            "a torn record after a whole one",
            format!("{auto}\n{}", &qwen("B", "manual", 99)[..100]),
            Some("A"),
        ),
        (
            "a torn line before another record",
            format!("{auto}\n{}\n{}\n", r#"{"subtype":"custom_title","customTitle":"B\"#, filler(3)),
            Some("A"),
        ),
        (
            "user text",
            format!(
                "{auto}\n{}\n",
                r#"{"type":"user","message":{"parts":[{"text":"\"subtype\":\"custom_title\",\"customTitle\":\"evil\""}]}}"#
            ),
            Some("A"),
        ),
        (
            "a nested object",
            format!(
                "{auto}\n{}\n",
                r#"{"type":"user","x":{"subtype":"custom_title","customTitle":"nested"}}"#
            ),
            Some("A"),
        ),
        (
            "a nested object in a record of the kind",
            r#"{"type":"user","subtype":"custom_title","systemPayload":{"customTitle":"x"}}"#.to_owned(),
            None,
        ),
        (
            "spaces",
            r#"{ "type" : "system", "subtype" : "custom_title", "systemPayload" : {"customTitle" : "S"} }"#.to_owned(),
            Some("S"),
        ),
        ("glued", format!("{auto}{}\n", filler(3)), Some("A")),
        ("glued the other way", format!("{}{auto}\n", filler(3)), Some("A")),
        (
            "no string",
            format!("{auto}\n{}\n", r#"{"subtype":"custom_title","customTitle":5}"#),
            Some("A"),
        ),
    ];
    for (what, text, expected) in table {
        let title = title_of(Agent::Qwen, &text).map(|(title, _)| title);
        assert_eq!(title.as_deref(), expected, "{what}");
    }
}

#[test]
fn titles_are_found_at_any_distance() {
    for depth in [10_000, 200_000, 3_000_000, 9_000_000] {
        let mut lines = vec![filler(5), qwen("Deep", "manual", 0)];
        lines.extend((0..depth / 10_000).map(|_| filler(10_000)));
        let text = lines.join("\n") + "\n";
        let expected = Some(("Deep".to_owned(), TitleSource::Manual));
        assert_eq!(title_of(Agent::Qwen, &text), expected, "{depth}");
    }
}

#[test]
fn a_manual_title_that_lost_a_race_wins_within_a_mebibyte() {
    let race = |between: usize, seconds: u32| {
        let manual = qwen("M", "manual", 0);
        let auto = qwen("A", "auto", seconds);
        let text = [manual, filler(between), auto].join("\n") + "\n";
        title_of(Agent::Qwen, &text).map(|(title, _)| title)
    };
    assert_eq!(race(10, 59).as_deref(), Some("M"));
    assert_eq!(race(10, 61).as_deref(), Some("A"));
    assert_eq!(race(1_000_000, 59).as_deref(), Some("M"));
    assert_eq!(race(1_100_000, 59).as_deref(), Some("A"));
}

#[test]
fn custom_titles_take_precedence_in_claude_files() {
    let custom = r#"{"type":"custom-title","customTitle":"Mine","sessionId":"s"}"#;
    let ai = r#"{"type":"ai-title","aiTitle":"Theirs","sessionId":"s"}"#;
    let far = vec![filler(10_000); 300].join("\n");
    let rows = [
        (
            format!("{custom}\n{far}\n{ai}\n"),
            "Mine",
            TitleSource::Manual,
        ),
        (format!("{ai}\n{far}\n"), "Theirs", TitleSource::Auto),
        (format!("{ai}\n{custom}\n"), "Mine", TitleSource::Manual),
    ];
    for (text, title, source) in rows {
        assert_eq!(
            title_of(Agent::Claude, &text),
            Some((title.to_owned(), source))
        );
    }
}

proptest! {
    /// The window search gives the same result as reading every line.
    #[test]
    fn the_last_manual_title_wins_for_all_windows(
        sizes in prop::collection::vec(0_usize..90_000, 1..8),
        titled in prop::collection::vec(any::<bool>(), 8),
    ) {
        let mut lines = Vec::new();
        let mut last = None;
        for (number, size) in sizes.iter().enumerate() {
            lines.push(filler(*size));
            if titled[number] {
                lines.push(qwen(&format!("T{number}"), "manual", 0));
                last = Some(format!("T{number}"));
            }
        }
        let text = lines.join("\n");
        prop_assert_eq!(title_of(Agent::Qwen, &text).map(|(title, _)| title), last);
    }
}

/// The rule alone, without a file.
mod rule {
    use super::*;

    fn record(text: &str, source: TitleSource, second: Option<i64>) -> StoredTitle {
        StoredTitle {
            title: Title {
                text: text.to_owned(),
                source,
            },
            time: second.map(|second| Timestamp::from_second(1000 + second).unwrap()),
            manual_title: ManualTitle::Keep,
        }
    }

    fn manual(text: &str, second: i64) -> StoredTitle {
        record(text, TitleSource::Manual, Some(second))
    }

    fn auto(text: &str, second: i64) -> StoredTitle {
        record(text, TitleSource::Auto, Some(second))
    }

    /// Offers records in reverse order until the rule stops.
    fn winner(precedence: Precedence, records: &[StoredTitle]) -> Option<String> {
        let mut rule = TitleRule::new(precedence);
        for record in records {
            if rule.offer(record.clone(), 9) == SearchControl::Stop {
                break;
            }
        }
        rule.finish().map(|record| record.title.text)
    }

    #[test]
    fn the_last_title_applies_except_for_lost_races() {
        let on_request = StoredTitle {
            manual_title: ManualTitle::Supersede,
            ..auto("a", 50)
        };
        let timeless = record("a", TitleSource::Auto, None);
        let rows: [(&[StoredTitle], Option<&str>); 11] = [
            (&[], None),
            (&[manual("m", 0), auto("a", -5)], Some("m")),
            (&[auto("a", 0)], Some("a")),
            (&[auto("a", 59), manual("m", 0)], Some("m")),
            (&[auto("a", 60), manual("m", 0)], Some("a")),
            (&[on_request, manual("m", 0)], Some("a")),
            (&[timeless, manual("m", 0)], Some("a")),
            (&[auto("b", 70), auto("a", 59), manual("m", 0)], Some("b")),
            // The second one repeats the first, at the end of the session.
            (&[auto("a", 900), auto("a", 30), manual("m", 0)], Some("m")),
            (&[manual("", 0), manual("m", 0)], None),
            (
                &[auto("a", 100), manual("m", 0), manual("n", 99)],
                Some("a"),
            ),
        ];
        for (records, expected) in rows {
            assert_eq!(
                winner(Precedence::Later, records).as_deref(),
                expected,
                "{records:?}"
            );
        }
    }

    #[test]
    fn a_manual_title_may_take_precedence() {
        let rows: [(&[StoredTitle], &str); 3] = [
            (&[auto("a", 900), auto("b", 30), manual("m", 0)], "m"),
            (&[auto("a", 900), auto("b", 30)], "a"),
            (&[manual("m", 900), auto("b", 930)], "m"),
        ];
        for (records, expected) in rows {
            assert_eq!(
                winner(Precedence::Manual, records).as_deref(),
                Some(expected)
            );
        }
    }

    #[test]
    fn the_search_continues_a_mebibyte_before_an_automatic_title() {
        let mut rule = TitleRule::new(Precedence::Later);
        let place = 3 * RACE_DISTANCE;
        assert_eq!(
            rule.offer(auto("a", 0), place),
            SearchControl::DownTo(2 * RACE_DISTANCE)
        );
        let mut rule = TitleRule::new(Precedence::Manual);
        assert_eq!(rule.offer(auto("a", 0), place), SearchControl::Continue);
    }
}
