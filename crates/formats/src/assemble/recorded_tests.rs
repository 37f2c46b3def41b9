//! Recorded turns in `tests/data/wire/*.jsonl`: each file's events must be those in the file of
//! the same name with the extension `.events`, one per line after the number of its input line.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::*;
use crate::agent::Opening;
use crate::api::{Api, prefilter_needles};
use turnpipe_core::message::MessageId;

/// Returns an event on one line, readable.
pub(super) fn line(event: &Event) -> String {
    fn at(message: Option<&MessageId>) -> String {
        message.map(|id| format!(" @{id}")).unwrap_or_default()
    }
    match event {
        Event::Opening(Opening::Ours) => "opening: ours".to_owned(),
        Event::Opening(Opening::Foreign(name)) => format!("opening: {name}"),
        Event::Session(id) => format!("session {id}"),
        Event::SessionFile(digest) => format!("session file {digest}"),
        Event::Executor { .. } => "executor".to_owned(),
        Event::Message(None) => "message".to_owned(),
        Event::Message(Some(id)) => format!("message {id}"),
        Event::Call(call) => {
            let (id, name, message) = (&call.id, &call.name, at(call.message.as_ref()));
            match &call.input {
                Ok(input) => format!("call {id} {name} {}{message}", input.get()),
                Err(reason) => format!("invalid {id} {name}: {reason}{message}"),
            }
        }
        Event::Result(id) => format!("result {id}"),
        Event::Prompt => "prompt".to_owned(),
        Event::TurnEnd(end) => format!("turn ends: {end:?}"),
        Event::SessionResult => "session result".to_owned(),
        Event::ControlResponse(response) => format!("control response {response:?}"),
        Event::Interrupt { request_id } => format!("interrupt {request_id}"),
    }
}

fn events_of(records: &str, mut decoder: Decoder) -> String {
    let mut lines = String::new();
    let mut add = |place: &str, events: Vec<Event>| {
        for event in events {
            writeln!(lines, "{place}: {}", line(&event)).unwrap();
        }
    };
    for (number, record) in records.lines().enumerate() {
        add(&(number + 1).to_string(), decoder.record(record));
    }
    add("end", decoder.finish());
    lines
}

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/wire");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn recorded_turns_have_the_expected_events() {
    let paths = recordings();
    assert!(paths.len() >= 14, "{paths:?}");
    for path in paths {
        let records = std::fs::read_to_string(&path).unwrap();
        let expected = std::fs::read_to_string(path.with_extension("events")).unwrap_or_default();
        let found = events_of(&records, Decoder::with_detection());
        assert_eq!(found, expected, "{}:\n{found}", path.display());
    }
}

/// A server may omit the role and every other part of a chunk.
#[test]
fn the_first_chunk_with_a_part_of_a_reply_begins_it() {
    let begins = |chunk: &str| {
        let events = Decoder::with_detection().record(chunk);
        events
            .iter()
            .any(|event| matches!(event, Event::Message(_)))
    };
    for (choice, expected) in [
        (r#""delta":{"content":"a"}"#, true),
        (r#""delta":{"role":"assistant"}"#, true),
        (
            r#""delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}"#,
            true,
        ),
        (r#""delta":{},"finish_reason":"stop""#, true),
        (r#""delta":{"content":""}"#, false),
        (r#""delta":{"content":null,"tool_calls":[]}"#, false),
        (r#""delta":{}"#, false),
    ] {
        let chunk = format!(r#"{{"choices":[{{"index":0,{choice}}}]}}"#);
        assert_eq!(begins(&chunk), expected, "{chunk}");
    }
    for (candidate, expected) in [
        (r#""content":{"role":"model","parts":[{"text":"a"}]}"#, true),
        (r#""content":{"role":"model","parts":[]}"#, false),
    ] {
        let chunk = format!(r#"{{"candidates":[{{{candidate}}}]}}"#);
        assert_eq!(begins(&chunk), expected, "{chunk}");
    }
}

#[test]
fn a_line_without_a_needle_changes_nothing() {
    for path in recordings() {
        let records = std::fs::read_to_string(&path).unwrap();
        let (mut all, mut filtered) = (Decoder::with_detection(), Decoder::with_detection());
        for record in records.lines() {
            let expected: Vec<String> = all.record(record).iter().map(line).collect();
            let wanted = prefilter_needles()
                .iter()
                .any(|needle| record.contains(needle));
            let events = if wanted {
                filtered.record(record)
            } else {
                Vec::new()
            };
            let found: Vec<String> = events.iter().map(line).collect();
            assert_eq!(found, expected, "{record}");
        }
    }
}

/// Returns the record with each occurrence of one character in strings escaped.
fn with_escape(record: &str, spelled: char) -> String {
    let mut out = String::new();
    let (mut in_string, mut after_backslash) = (false, false);
    for character in record.chars() {
        if in_string && !after_backslash && character == spelled {
            write!(out, "\\u{:04x}", u32::from(character)).unwrap();
        } else {
            out.push(character);
        }
        in_string ^= character == '"' && !after_backslash;
        after_backslash = in_string && !after_backslash && character == '\\';
    }
    out
}

#[test]
fn escapes_hide_no_record_from_the_prefilter() {
    let spelled: std::collections::BTreeSet<char> = prefilter_needles()
        .iter()
        .filter(|needle| needle.starts_with('"'))
        .flat_map(|needle| needle.chars())
        .filter(|character| *character != '"')
        .collect();
    for path in recordings() {
        let records = std::fs::read_to_string(&path).unwrap();
        for record in records.lines().filter(|record| !record.contains("\\u")) {
            let expected = Decoder::with_detection().record(record);
            for character in &spelled {
                let record = with_escape(record, *character);
                let events = Decoder::with_detection().record(&record);
                assert_eq!(events.len(), expected.len(), "{record}");
                let has_needle = prefilter_needles()
                    .iter()
                    .any(|needle| record.contains(needle));
                assert!(events.is_empty() || has_needle, "{record}");
            }
        }
    }
}

#[test]
fn a_pinned_dialect_ignores_the_others() {
    let rows = [
        (
            r#"{"type":"tool_use","id":"a","name":"n","input":{}}"#,
            Api::Anthropic,
        ),
        (
            r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n"}}]}"#,
            Api::OpenaiChat,
        ),
        (
            r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"n"}}]}"#,
            Api::Gemini,
        ),
    ];
    for (record, dialect) in rows {
        for pinned in [Api::Anthropic, Api::OpenaiChat, Api::Gemini] {
            let events = Decoder::for_api(pinned).record(record);
            let is_whole = |event: &Event| matches!(event, Event::Call(call) if call.input.is_ok());
            let calls = events.iter().any(is_whole);
            assert_eq!(calls, pinned == dialect, "{record} as {pinned:?}");
        }
    }
    for pinned in [Api::Anthropic, Api::OpenaiChat, Api::Gemini] {
        let mut decoder = Decoder::for_api(pinned);
        let user = decoder.record(r#"{"role":"user","content":"hi"}"#);
        let said = decoder.record(r#"{"role":"assistant","content":"hi"}"#);
        assert_eq!((user.len(), said.len()), (1, 1));
    }
}

#[test]
fn most_records_of_other_kinds_have_no_needle() {
    let rows = [
        r#"{"type":"unknown_kind","session_id":"s","data":{"a":[1,2],"text":"a tool_use"}}"#,
        r#"{"level":"info","msg":"request done","status":200,"user_id":7}"#,
        r#"{"type":"tool_progress","tool_use_id":"t","tool_name":"Bash","elapsed_time_seconds":1}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#,
        r#"{"type":"system","subtype":"status","status":"requesting","uuid":"u"}"#,
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}"#,
        r#"{"type":"telemetry","name":"x","value":1.5,"text":"\u001b[31mred\u00e9\u3042\n"}"#,
    ];
    for record in rows {
        let needle = prefilter_needles()
            .iter()
            .find(|needle| record.contains(**needle));
        assert_eq!(needle, None, "{record}");
        assert!(
            Decoder::with_detection().record(record).is_empty(),
            "{record}"
        );
    }
}

#[test]
fn needles_are_distinct_and_none_contains_another() {
    let needles = prefilter_needles();
    for (position, needle) in needles.iter().enumerate() {
        for other in &needles[position + 1..] {
            assert!(
                !needle.contains(other) && !other.contains(needle),
                "{needle} {other}"
            );
        }
    }
}

#[test]
fn depth_does_not_matter() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let record =
        format!(r#"{{"type":"tool_use","id":"a","name":"n","x":{deep},"input":{{"a":{deep}}}}}"#);
    let [Event::Call(call)] = &Decoder::with_detection().record(&record)[..] else {
        panic!("no call");
    };
    assert_eq!(
        call.input.as_ref().unwrap().get(),
        format!(r#"{{"a":{deep}}}"#)
    );
}

/// Returns the ids and names of the calls in records, with calls that were cut off.
fn calls_of<'a>(records: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut decoder = Decoder::with_detection();
    let mut events: Vec<Event> = records.flat_map(|record| decoder.record(record)).collect();
    events.extend(decoder.finish());
    let call = |event: &Event| match event {
        Event::Call(call) => Some(format!("{} {}", call.id, call.name)),
        _ => None,
    };
    events.iter().filter_map(call).collect()
}

#[test]
fn replies_are_sent_back_with_the_same_calls() {
    let rows = [
        ("anthropic-stream", Api::Anthropic),
        ("anthropic-partial-and-whole", Api::Anthropic),
        ("anthropic-whole", Api::Anthropic),
        ("openai-chunks", Api::OpenaiChat),
        ("openai-chunk-quirks", Api::OpenaiChat),
        ("openai-responses", Api::OpenaiChat),
        ("openai-responses", Api::Responses),
        ("openai-whole", Api::OpenaiChat),
        ("ollama", Api::OpenaiChat),
        ("gemini-stream", Api::Gemini),
        ("gemini-contents", Api::Gemini),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/wire");
    for (name, api) in rows {
        let records = std::fs::read_to_string(folder.join(name).with_extension("jsonl")).unwrap();
        let (mut decoder, mut messages) = (Decoder::with_detection(), VerbatimReply::new(api));
        let mut sent = Vec::new();
        for record in records.lines() {
            let events = decoder.record(record);
            if events
                .iter()
                .any(|event| matches!(event, Event::Message(_)))
            {
                sent.extend(messages.take_reply());
            }
            messages.push_record(record);
            if events
                .iter()
                .any(|event| matches!(event, Event::TurnEnd(_)))
            {
                sent.extend(messages.take_reply());
            }
        }
        sent.extend(messages.take_reply());
        let sent: Vec<String> = match name {
            // Items are not records, but all of them together are.
            "openai-responses" => vec![json!({"object": "response", "output": sent}).to_string()],
            _ => sent.iter().map(ToString::to_string).collect(),
        };
        let found = calls_of(sent.iter().map(String::as_str));
        assert_eq!(found, calls_of(records.lines()), "{name}: {sent:#?}");
    }
}
