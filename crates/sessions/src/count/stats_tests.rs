use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::*;
use crate::{Agent, Depth, Prices, Root, Selection, discover};
use turnpipe_core::jsonl::Mapping;
use turnpipe_formats::records::{Dimension, SessionStatsRecord, ToolShare, UsageShare};

fn stats(name: &str) -> SessionStatsRecord {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/session")
        .join(name);
    stats_of(&[&path])
}

fn finished(tally: Tally) -> SessionStatsRecord {
    let all = tally
        .sum_costs(&[], &TimeZone::UTC)
        .pop()
        .unwrap_or_default();
    tally.finish(all, &TimeZone::UTC)
}

fn stats_of(paths: &[&Path]) -> SessionStatsRecord {
    let mut tally = Tally::default();
    for path in paths {
        tally.add(&Session::open(path).unwrap()).unwrap();
    }
    finished(tally)
}

fn listing() -> Listing {
    Listing {
        selection: Selection::default(),
        depth: Depth::Whole,
        prices: None,
        mapping: Mapping::Refused,
        jobs: NonZeroUsize::MIN,
        examined: Arc::default(),
    }
}

fn share<'a>(shares: &'a [UsageShare], name: &str) -> &'a UsageShare {
    shares
        .iter()
        .find(|share| share.name.as_deref() == Some(name))
        .unwrap()
}

fn tool<'a>(stats: &'a SessionStatsRecord, name: &str) -> &'a ToolShare {
    stats
        .by_tool
        .iter()
        .find(|share| share.tool == name)
        .unwrap()
}

#[test]
fn the_last_usage_of_a_reply_counts_once() {
    let stats = stats("claude-parallel.jsonl");
    assert_eq!((stats.prompts, stats.replies), (1, 2));
    assert_eq!(stats.spending.usage.input, 30);
    assert_eq!(
        share(&stats.by_model, "model-a").spending.usage.cache_read,
        3
    );
    assert_eq!(share(&stats.by_model, "model-b").spending.usage.output, 5);
    assert_eq!(share(&stats.by_day, "2026-01-01").replies, 2);
    assert_eq!(share(&stats.by_prompt_id, "main").replies, 2);
    let read = tool(&stats, "Read");
    assert_eq!((read.calls, read.failed), (2, 1));
}

#[test]
fn a_reply_in_two_files_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = include_str!("../../../../tests/data/session/claude-parallel-results.jsonl");
    let (one, other) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
    std::fs::write(&one, text).unwrap();
    std::fs::write(&other, text.replace("\"s2\"", "\"s9\"")).unwrap();
    let stats = stats_of(&[&one, &other]);
    assert_eq!((stats.sessions, stats.replies), (2, 1));
    assert_eq!(
        (stats.spending.usage.input, stats.spending.usage.output),
        (10, 7)
    );
}

/// A checkpoint may have copied a reply before it was complete.
#[test]
fn the_most_complete_copy_counts_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let text = include_str!("../../../../tests/data/session/claude-parallel-results.jsonl");
    let beginning: Vec<&str> = text.lines().take(3).collect();
    let (one, other) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
    std::fs::write(&one, text).unwrap();
    std::fs::write(&other, beginning.join("\n")).unwrap();
    for paths in [[&one, &other], [&other, &one]] {
        let stats = stats_of(&paths.map(PathBuf::as_path));
        assert_eq!((stats.prompts, stats.spending.usage.output), (1, 7));
        assert_eq!(tool(&stats, "Read").calls, 2);
    }
}

#[test]
fn a_period_limits_requests_not_sessions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/session/claude-parallel.jsonl");
    let session = Session::open(&path).unwrap();
    let within = |since: &str, until: &str| {
        let mut tally = Tally::with_period(
            since.parse().unwrap()..until.parse().unwrap(),
            Detail::Counts,
        );
        tally.add(&session).unwrap();
        let stats = finished(tally);
        (stats.sessions, stats.prompts, stats.replies)
    };
    let (start, end) = ("2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z");
    assert_eq!(within(start, end), (1, 1, 2));
    assert_eq!(within("2026-01-01T10:00:01Z", end).1, 0);
    assert_eq!(within(start, "2026-01-01T10:00:01Z"), (1, 1, 0));
    assert_eq!(within(end, "2027-01-01T00:00:00Z"), (0, 0, 0));
}

#[test]
fn sessions_of_subagents_only_add_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let row = |id: &str, parent: &str| {
        [
            format!(r#"{{"timestamp":"2026-01-01T10:00:00Z","type":"session_meta","payload":{{"id":"{id}"{parent},"cwd":"/x"}}}}"#),
            r#"{"timestamp":"2026-01-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}"#.to_owned(),
            r#"{"timestamp":"2026-01-01T10:00:02Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":7,"output_tokens":1}}}}"#.to_owned(),
        ]
        .join("\n")
    };
    std::fs::write(folder.path().join("a.jsonl"), row("a", "")).unwrap();
    let parent = r#","parent_thread_id":"a""#;
    std::fs::write(folder.path().join("b.jsonl"), row("b", parent)).unwrap();
    let root = Root {
        agent: None,
        path: folder.path().to_owned(),
    };
    let mut tally = Tally::default();
    assert!(tally.add_all(&discover(&[root]), &listing()).is_empty());
    let stats = finished(tally);
    assert_eq!((stats.sessions, stats.prompts), (1, 1));
    assert_eq!(stats.spending.usage.input, 14);
}

#[test]
fn calls_count_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let call = |id| format!(r#"{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}"#);
    let calls = ["a", "b", "c"].map(call).join(",");
    let reply = format!(
        r#"{{"type":"assistant","uuid":"u","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{{"id":"m","role":"assistant","content":[{calls}]}}}}"#
    );
    std::fs::write(&path, reply).unwrap();
    let year = "2026-01-01T00:00:00Z".parse().unwrap().."2027-01-01T00:00:00Z".parse().unwrap();
    let mut tally = Tally::with_period(year, Detail::Counts);
    tally.add(&Session::open(&path).unwrap()).unwrap();
    let stats = finished(tally);
    assert_eq!((stats.sessions, tool(&stats, "Read").calls), (1, 3));
}

#[test]
fn subagents_count_with_their_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let row = |id: &str, input: u64| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","parentUuid":null,"sessionId":"s","message":{{"id":"m{id}","role":"assistant","model":"x","content":[],"usage":{{"input_tokens":{input},"output_tokens":1}}}}}}"#
        )
    };
    std::fs::write(&path, row("a", 10)).unwrap();
    let subagents = folder.path().join("s/subagents");
    std::fs::create_dir_all(&subagents).unwrap();
    std::fs::write(subagents.join("agent-b.jsonl"), row("b", 1000)).unwrap();
    let stats = stats_of(&[&path]);
    assert_eq!((stats.sessions, stats.spending.usage.input), (1, 1010));
}

/// Older transcripts contain the replies of subagents only in progress records.
#[test]
fn replies_to_subagents_in_progress_records_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let reply = r#"{"id":"m9","role":"assistant","model":"claude-haiku-4-5","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":5,"output_tokens":2}}"#;
    let head = r#""sessionId":"s","cwd":"/w","timestamp":"2026-01-01T00:00:00Z""#;
    let progress = format!(
        r#"{{{head},"type":"progress","uuid":"p","data":{{"type":"agent_progress","message":{{"type":"assistant","message":{reply}}}}}}}"#
    );
    let prompt = format!(
        r#"{{{head},"type":"user","uuid":"a","parentUuid":null,"message":{{"role":"user","content":"hi"}}}}"#
    );
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, [&*prompt, &*progress, &*progress].join("\n")).unwrap();
    let alone = stats_of(&[&path]);
    assert_eq!((alone.replies, alone.spending.usage.total()), (1, 7));
    let subagents = folder.path().join("s/subagents");
    std::fs::create_dir_all(&subagents).unwrap();
    let record =
        format!(r#"{{{head},"type":"assistant","isSidechain":true,"uuid":"b","message":{reply}}}"#);
    std::fs::write(subagents.join("agent-1.jsonl"), record).unwrap();
    assert_eq!(stats_of(&[&path]), alone);
}

/// A snapshot of the settings applies until the next one; without a tier it resets the tier.
#[test]
fn codex_requests_have_the_tier_of_the_last_settings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let settings = |tier: &str| {
        format!(
            r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{{"type":"thread_settings_applied","thread_settings":{{"model":"m"{tier}}}}}}}"#
        )
    };
    let request = |id: &str| {
        format!(
            r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"token_usage_record","payload":{{"response_id":"{id}","usage":{{"input_tokens":1000000,"output_tokens":0}}}}}}"#
        )
    };
    let lines = [
        r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"x"}}"#.to_owned(),
        r#"{"timestamp":"2026-01-01T00:00:00Z","type":"turn_context","payload":{"model":"gpt-5.2"}}"#.to_owned(),
        settings(r#","service_tier":"priority""#),
        request("a"),
        request("b"),
        settings(r#","service_tier":"flex""#),
        request("c"),
        settings(""),
        request("d"),
    ];
    std::fs::write(&path, lines.join("\n")).unwrap();
    let mut tally = Tally::default();
    tally.add(&Session::open(&path).unwrap()).unwrap();
    tally.price(&Prices::built_in());
    let cost = finished(tally).spending.usage.cost.unwrap();
    assert!(
        (cost - 1.75 * (2.0 + 2.0 + 0.5 + 1.0)).abs() < 1e-9,
        "{cost}"
    );
}

#[test]
fn a_meter_counts_by_its_differences() {
    let stats = stats("codex.jsonl");
    assert_eq!(
        stats.spending.usage.input + stats.spending.usage.cache_read,
        300
    );
    assert_eq!(stats.spending.usage.output, 30);
    assert_eq!(share(&stats.by_model, "model-c").spending.usage.output, 30);
    assert_eq!(tool(&stats, "shell").failed, 1);
}

#[test]
fn titles_count_under_their_prompt_id_in_any_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let title = |input: u64| {
        format!(
            r#"{{"type":"ai-title","aiTitle":"x","turnpipe":{{"v":1,"model":"m","prompt_id":"session_title","usage":{{"input_tokens":{input},"output_tokens":1,"cost_usd":0.25}}}}}}"#
        )
    };
    let prompt = r#"{"type":"user","parentUuid":null,"sessionId":"s","uuid":"a","message":{"role":"user","content":"go"}}"#;
    std::fs::write(&path, format!("{prompt}\n{}\n", title(10))).unwrap();
    std::fs::write(crate::record::side_file_path(&path), title(200)).unwrap();
    let stats = stats_of(&[&path]);
    let titles = share(&stats.by_prompt_id, "session_title");
    assert_eq!(
        (
            titles.replies,
            titles.spending.usage.input,
            titles.spending.usage.output
        ),
        (0, 210, 2)
    );
    assert_eq!(stats.spending.usage.input, 210);
    assert_eq!(share(&stats.by_model, "m").spending.usage.input, 210);
    assert_eq!(titles.spending.usage.cost, Some(0.5));
}

/// Tokens written to the cache are part of the input too.
#[test]
fn a_meter_separates_kinds_of_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let rows = [
        r#"{"timestamp":"2026-01-01T10:00:00Z","type":"session_meta","payload":{"id":"a","cwd":"/x"}}"#,
        r#"{"timestamp":"2026-01-01T10:00:02Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":100,"cached_input_tokens":60,"cache_write_input_tokens":30,"output_tokens":1}}}}"#,
    ];
    std::fs::write(&path, rows.join("\n")).unwrap();
    let usage = stats_of(&[&path]).spending.usage;
    assert_eq!(
        (usage.input, usage.cache_read, usage.cache_write),
        (10, 60, 30)
    );
}

#[test]
fn a_meter_that_repeats_itself_adds_nothing() {
    let (mut tally, mut current) = (Tally::default(), FileState::default());
    for input in [5, 5, 9] {
        let message = Message {
            usage: Some(Usage {
                input,
                ..Usage::default()
            }),
            ..Message::new(Role::System, Origin::Meter)
        };
        tally.add_message(&message, &mut current);
    }
    assert_eq!(tally.total().spending.usage.input, 9);
}

#[test]
fn days_weeks_and_months_begin_in_the_zone() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/costs/claude.jsonl");
    let mut tally = Tally::default();
    tally.add(&Session::open(&path).unwrap()).unwrap();
    let names = |dimension, hours| {
        let zone = TimeZone::fixed(jiff::tz::offset(hours));
        let costs = tally.sum_costs(&[dimension], &zone).into_iter();
        let names = costs.map(|cost| {
            format!(
                "{} {}",
                cost.dimensions[&dimension].as_deref().unwrap_or("-"),
                cost.replies
            )
        });
        names.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(names(Dimension::Day, 0), "2026-01-01 3, 2026-01-02 9");
    assert_eq!(names(Dimension::Day, 2), "2026-01-01 1, 2026-01-02 11");
    assert_eq!(names(Dimension::Month, -22), "2025-12 1, 2026-01 11");
    assert_eq!(names(Dimension::Week, 0), "2026-W01 12");
    // A block from 21:00 to 02:00, then one from the next request.
    assert_eq!(
        names(Dimension::Block, 1),
        "2026-01-01 22:00 4, 2026-01-02 09:00 8"
    );
}

/// Only the new replies of a fork that copied its first ones belong to it.
#[test]
fn copies_count_once_in_the_first_session() {
    let folder = tempfile::tempdir().unwrap();
    let text = include_str!("../../../../tests/data/costs/claude.jsonl");
    let (one, other) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
    std::fs::write(&one, text.lines().take(5).collect::<Vec<_>>().join("\n")).unwrap();
    std::fs::write(&other, text.replace("000001\"", "000009\"")).unwrap();
    let now = std::time::SystemTime::now();
    for (path, hours) in [(&one, 2), (&other, 1)] {
        let file = std::fs::File::options().append(true).open(path).unwrap();
        let modified = now - std::time::Duration::from_hours(hours);
        file.set_modified(modified).unwrap();
    }
    let root = Root {
        agent: None,
        path: folder.path().to_owned(),
    };
    let mut tally = Tally::default();
    assert!(tally.add_all(&discover(&[root]), &listing()).is_empty());
    tally.price(&Prices::built_in());
    let by = [Dimension::Session, Dimension::Model];
    let costs = tally.sum_costs(&by, &TimeZone::UTC);
    let replies: Vec<u64> = costs.iter().map(|cost| cost.replies).collect();
    assert_eq!(replies, [4, 4, 4]);
    assert_eq!(
        costs[0].dimensions[&Dimension::Session].as_deref(),
        Some("c0575000-0000-4000-8000-000000000001")
    );
    let sum: f64 = costs
        .iter()
        .filter_map(|cost| cost.spending.usage.cost)
        .sum();
    assert_eq!(format!("{sum:.4}"), "4.6672");
}

#[test]
fn subagents_belong_to_the_directory_of_their_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let row = |id: &str, cwd: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","parentUuid":null,"sessionId":"s","cwd":"{cwd}","message":{{"id":"m{id}","role":"assistant","model":"x","content":[],"usage":{{"input_tokens":1,"output_tokens":1}}}}}}"#
        )
    };
    std::fs::write(&path, row("a", "/p")).unwrap();
    let subagents = folder.path().join("s/subagents");
    std::fs::create_dir_all(&subagents).unwrap();
    std::fs::write(subagents.join("agent-b.jsonl"), row("b", "/p/deep")).unwrap();
    let mut tally = Tally::default();
    tally.add(&Session::open(&path).unwrap()).unwrap();
    let costs = tally.sum_costs(&[Dimension::Cwd], &TimeZone::UTC);
    assert_eq!((costs.len(), costs[0].spending.usage.input), (1, 2));
    assert_eq!(costs[0].dimensions[&Dimension::Cwd].as_deref(), Some("/p"));
}

/// Requests of forks, subagents and pages count once, whether records or meters state them.
#[test]
fn each_request_of_a_family_counts_once() {
    let row = |time: u32, kind: &str, payload: &str| {
        format!(
            r#"{{"timestamp":"2026-01-01T10:{:02}:{:02}.000Z","type":"{kind}","payload":{payload}}}"#,
            time / 60,
            time % 60
        )
    };
    let head = |time: u32, id: &str, parent: &str| {
        let parent = match parent {
            "" => String::new(),
            parent => format!(r#","forked_from_id":"{parent}""#),
        };
        row(
            time,
            "session_meta",
            &format!(r#"{{"id":"{id}","cwd":"/w"{parent}}}"#),
        )
    };
    let tokens = |input: u32| format!(r#"{{"input_tokens":{input},"output_tokens":1}}"#);
    let reading = |time: u32, last: u32, total: u32| {
        let info = format!(
            r#"{{"type":"token_count","info":{{"last_token_usage":{},"total_token_usage":{}}}}}"#,
            tokens(last),
            tokens(total)
        );
        row(time, "event_msg", &info)
    };
    let request = |time: u32, id: &str, usage: u32, total: u32| {
        let record = format!(
            r#"{{"response_id":"{id}","usage":{},"thread_token_usage":{}}}"#,
            tokens(usage),
            tokens(total)
        );
        row(time, "token_usage_record", &record)
    };
    let parent = [head(0, "a", ""), reading(5, 10, 10), reading(9, 20, 30)];
    // A copy of the parent's readings, then an own request on the inherited meter.
    let fork = [
        head(30, "b", "a"),
        reading(31, 10, 10),
        reading(33, 20, 30),
        reading(40, 5, 35),
    ];
    // A meter that restarts, two equal requests of siblings, and a copy of one of them.
    let fresh = [head(50, "c", "a"), reading(59, 7, 7)];
    let other = [head(50, "d", "a"), reading(58, 7, 7)];
    let same = [head(50, "i", "a"), reading(58, 7, 7)];
    // The parent is gone; its readings were copied at once.
    let orphan = [
        head(70, "e", "gone"),
        reading(70, 90, 90),
        reading(80, 3, 93),
    ];
    // Records with ids, one of them copied; an estimate and copied readings do not count.
    let records = [
        head(90, "f", ""),
        request(91, "r1", 100, 100),
        reading(91, 100, 100),
        request(92, "r2", 200, 300),
        reading(92, 200, 300),
        reading(92, 999, 300),
    ];
    let copy = [
        head(95, "g", "f"),
        request(95, "r1", 100, 100),
        request(99, "r3", 4, 304),
    ];
    let subagent = [
        head(97, "h", "f"),
        reading(97, 100, 100),
        request(99, "r4", 6, 6),
    ];
    let folder = tempfile::tempdir().unwrap();
    let sessions: [(&str, &[String]); 9] = [
        ("a", &parent),
        ("b", &fork),
        ("c", &fresh),
        ("d", &other),
        ("e", &orphan),
        ("f", &records),
        ("g", &copy),
        ("h", &subagent),
        ("i", &same),
    ];
    for (name, rows) in sessions {
        let path = folder.path().join(format!("rollout-{name}.jsonl"));
        std::fs::write(path, rows.join("\n") + "\n").unwrap();
    }
    let root = Root {
        agent: None,
        path: folder.path().to_owned(),
    };
    let mut tally = Tally::default();
    assert!(tally.add_all(&discover(&[root]), &listing()).is_empty());
    let own = 30 + 5 + 7 + 7 + 3 + 300 + 4 + 6;
    assert_eq!(finished(tally).spending.usage.input, own);
}

/// Calls `visit` with the session files below a directory.
fn each_session(dir: &Path, visit: &mut dyn FnMut(&Session)) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            each_session(&path, visit);
        } else if let Ok(session) = Session::open(&path) {
            visit(&session);
        }
    }
}

#[test]
fn skipped_records_do_not_change_costs() {
    use Dimension::{Day, Model, Prompt};
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let mut with_skipped = Vec::new();
    each_session(&data, &mut |session| {
        let costs = |detail| {
            let mut tally = Tally::new(detail);
            tally.add(session).unwrap();
            let by = [&[][..], &[Day], &[Model], &[Dimension::Session], &[Prompt]];
            let costs = by.map(|by| tally.sum_costs(by, &TimeZone::UTC));
            serde_json::to_string_pretty(&costs).unwrap()
        };
        let path = session.file.path.display();
        assert_eq!(costs(Detail::Costs), costs(Detail::Counts), "{path}");
        let agent = session.agent();
        if !session.words(Detail::Costs).is_empty() && !with_skipped.contains(&agent) {
            with_skipped.push(agent);
        }
    });
    let mut agents = Agent::ALL.into_iter();
    let is_tested =
        |agent| with_skipped.contains(&agent) || agent.format().reading.cost_words.is_empty();
    assert!(agents.all(is_tested), "{with_skipped:?}");
}
