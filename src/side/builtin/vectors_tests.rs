//! The shares of rows that the rules reach, where `TURNPIPE_TEST_DATA` names rows.

use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{FinishedCall, label, recap, title};
use crate::session::{Agent, Format};
use crate::text::display_width;

#[derive(Deserialize)]
struct Row {
    kind: String,
    id: String,
    #[serde(default)]
    cwd: Option<String>,
    input: Vec<Box<RawValue>>,
    #[serde(default)]
    must: Vec<String>,
    #[serde(default)]
    must_not: Vec<String>,
    #[serde(default)]
    accept: Vec<String>,
}

fn rows() -> Vec<Row> {
    let Some(folder) = std::env::var_os("TURNPIPE_TEST_DATA") else {
        return Vec::new();
    };
    let text = std::fs::read_to_string(Path::new(&folder).join("vectors/builtin.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn answer(row: &Row) -> String {
    if row.kind == "label" {
        return label_of(row);
    }
    let format: &Format = Agent::Claude.format();
    let messages: Vec<_> = row
        .input
        .iter()
        .flat_map(|record| format.messages(record.get()))
        .collect();
    if row.kind == "title" {
        title(&messages)
    } else {
        recap(&messages, None)
    }
}

fn label_of(row: &Row) -> String {
    let records: Vec<Value> = row
        .input
        .iter()
        .map(|record| serde_json::from_str(record.get()).unwrap())
        .collect();
    let blocks = |kind: &str| -> Vec<&Value> {
        let of_records = records
            .iter()
            .filter_map(|record| record["message"]["content"].as_array());
        of_records
            .flatten()
            .filter(|block| block["type"] == kind)
            .collect()
    };
    let results = blocks("tool_result");
    let text = |result: &Value| match &result["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    };
    let calls: Vec<(&str, Box<RawValue>, String, bool)> = blocks("tool_use")
        .into_iter()
        .filter_map(|call| {
            let result = results
                .iter()
                .find(|result| result["tool_use_id"] == call["id"])?;
            let input = serde_json::value::to_raw_value(&call["input"]).unwrap();
            let failed = result["is_error"] == true;
            Some((call["name"].as_str().unwrap(), input, text(result), failed))
        })
        .collect();
    let calls: Vec<FinishedCall<'_>> = calls
        .iter()
        .map(|(name, input, text, failed)| FinishedCall {
            name,
            input,
            text,
            failed: *failed,
        })
        .collect();
    label(&calls, row.cwd.as_deref())
}

fn contains(answer: &str, text: &str) -> bool {
    answer.to_lowercase().contains(&text.to_lowercase())
}

fn holds(row: &Row, answer: &str) -> bool {
    if row.accept == [""] {
        return answer.is_empty();
    }
    let one_of = |texts: &String| {
        let mut texts = texts.split('|').filter(|text| !text.is_empty());
        texts.any(|text| contains(answer, text))
    };
    !answer.is_empty() && row.must.iter().all(one_of)
}

#[test]
fn rows_reach_their_shares() {
    let rows = rows();
    if rows.is_empty() {
        return;
    }
    let show = std::env::var_os("TURNPIPE_SHOW").is_some();
    let mut report = String::new();
    let mut missed = false;
    for (kind, share) in [("label", 0.88), ("title", 0.88), ("recap", 0.85)] {
        let of_kind: Vec<&Row> = rows.iter().filter(|row| row.kind == kind).collect();
        let mut right = 0;
        for row in &of_kind {
            let answer = answer(row);
            let is_forbidden = row.must_not.iter().any(|text| contains(&answer, text));
            let is_long = display_width(&answer) > 60 && kind != "recap";
            missed |= is_forbidden || is_long || answer.split(' ').count() > 40;
            let is_right = holds(row, &answer) && !is_forbidden;
            right += u32::from(is_right);
            if show || !is_right {
                let mark = if is_forbidden { "FORBIDDEN" } else { "" };
                let _ = writeln!(
                    report,
                    "{}: {answer:?} {is_right} {mark} must {:?} must not {:?}",
                    row.id, row.must, row.must_not
                );
            }
        }
        let reached = f64::from(right) / f64::from(u32::try_from(of_kind.len()).unwrap());
        missed |= reached < share;
        let _ = writeln!(report, "{kind}: {right} of {}", of_kind.len());
    }
    println!("{report}");
    assert!(!missed && !show, "\n{report}");
}
