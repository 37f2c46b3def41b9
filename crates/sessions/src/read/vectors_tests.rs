//! Comparison with recorded results of Qwen Code's own readers.

use std::io::Write;

use serde_json::Value;

use crate::Agent;
use crate::read::title::find_title;
use turnpipe_core::jsonl::{FixedFile, Mapping};

const ROWS: &str = include_str!("../../../../tests/data/qwen-code.jsonl");

/// Rows with a different result here, by a part of their note, with the reason.
const DIFFERENT: [(&str, &str); 5] = [
    ("nested object", "a nested object is no title record"),
    ("a space after the colon", "a space hides no title"),
    (
        "starts 13 byte",
        "there is no window beyond which titles are not found",
    ),
    (
        "starts 28 byte",
        "there is no window beyond which titles are not found",
    ),
    (
        "head window is trimmed",
        "the longer record is whole and the last one",
    ),
];

/// Decodes text in the encoding of the rows.
fn decoded(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            if let Some(Value::Array(parts)) = members.get("$concat") {
                return parts.iter().map(decoded).collect();
            }
            if let Some([text, count]) = members
                .get("$repeat")
                .and_then(Value::as_array)
                .map(Vec::as_slice)
            {
                let count = usize::try_from(count.as_u64().unwrap()).unwrap();
                return decoded(text).repeat(count);
            }
            String::new()
        }
        _ => String::new(),
    }
}

fn title_of(text: &str) -> (Option<String>, Option<&'static str>) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let mut fixed = FixedFile::new(file, text.len() as u64, Mapping::Refused);
    match find_title(&mut fixed, Agent::Qwen.format()).unwrap() {
        Some(title) => (Some(title.text), Some(title.source.name())),
        None => (None, None),
    }
}

#[test]
fn titles_match_those_of_the_agent() {
    let mut compared = 0;
    for row in ROWS.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let (input, expected) = (&row["input"], &row["expected"]);
        let note = row["note"].as_str().unwrap_or_default();
        let area = row["area"].as_str().unwrap_or_default();
        let marker = input["lineContains"].as_str().unwrap_or_default();
        let is_title = marker.contains("custom_title");
        let (text, title, source) = match area {
            "storage.extractLastJsonStringField" if is_title => (&input["text"], expected, None),
            "storage.extractLastJsonStringFields" if is_title => (
                &input["text"],
                &expected["customTitle"],
                Some(&expected["titleSource"]),
            ),
            "storage.readLastJsonStringField" if is_title => (&input["file"], expected, None),
            "storage.readSessionTitleInfo" => (
                &input["file"],
                &expected["title"],
                Some(&expected["source"]),
            ),
            _ => continue,
        };
        let differs = DIFFERENT.iter().any(|(part, _)| note.contains(part));
        let (found, found_source) = title_of(&decoded(text));
        let same_title = found.as_deref() == title.as_str();
        assert_eq!(same_title, !differs, "{row}: found {found:?}");
        // A missing source counts as manual.
        if let (Some(source), false) = (source, differs) {
            let expected = title.as_str().map(|_| source.as_str().unwrap_or("manual"));
            assert_eq!(found_source, expected, "{row}");
        }
        compared += 1;
    }
    assert!(compared > 20, "only {compared} rows");
}

/// Returns the rows of an area.
fn rows_of(area: &str) -> Vec<Value> {
    let rows = ROWS.lines().map(|row| serde_json::from_str(row).unwrap());
    let rows: Vec<Value> = rows.filter(|row: &Value| row["area"] == area).collect();
    assert!(!rows.is_empty(), "{area}");
    rows
}

/// Lines from which the agent itself reads a part of a torn record. Here such a record stays lost,
/// because a part of a record is not a record.
#[test]
fn records_on_a_line_match_those_of_the_agent() {
    for row in rows_of("jsonl.parseLineTolerant") {
        let line = decoded(&row["input"]);
        let (records, _) = crate::files::recover::find_records_on(line.as_bytes());
        let found: Vec<Value> = records
            .iter()
            .map(|record| serde_json::from_str(record.text(line.as_bytes())).unwrap())
            .collect();
        assert_eq!(Value::from(found), row["expected"], "{row}");
    }
}

#[test]
fn hashes_of_directories_match_those_of_the_agent() {
    for row in rows_of("storage.projectDirName") {
        let directory = decoded(&row["input"]);
        let hash = crate::hash_project(std::path::Path::new(&directory));
        assert_eq!(row["expected"]["projectHash"], hash, "{row}");
    }
}
