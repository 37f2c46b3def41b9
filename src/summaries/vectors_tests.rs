//! Results of Qwen Code, and of turnpipe if it differs on purpose (the member `ours` of a row;
//! docs/records.md, Labels, titles and recaps).

use serde_json::{Value, json};

use super::label::{CallsEnded, ShownCall, clean_label, excerpt, json_excerpt, label_question};
use super::recap::{RECAP_MESSAGES, RecapGate, clean_recap};
use super::title::{MIN_MESSAGES, is_example, sanitize, tail, title_question};
use super::{MessageTexts, TextCollector};
use crate::config::is_true;
use crate::message::{Message, Origin, Role};
use crate::session::Agent;
use crate::text::terminal_safe_line;

/// Whether two texts spell the same JSON value.
fn is_same_json(found: &Value, expected: &Value) -> bool {
    let value = |text: &Value| serde_json::from_str::<Value>(text.as_str()?).ok();
    value(found).is_some_and(|found| Some(found) == value(expected))
}

fn rows() -> Vec<Value> {
    include_str!("../../tests/data/qwen-code.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Decodes the text of a row; half a character becomes U+FFFD.
fn text(value: &Value) -> Option<String> {
    if let Some(parts) = value.get("$concat").and_then(Value::as_array) {
        return parts.iter().map(text).collect();
    }
    if let Some([what, times]) = value
        .get("$repeat")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        let times = usize::try_from(times.as_u64()?).ok()?;
        return Some(what.as_str()?.repeat(times));
    }
    if let Some(units) = value.get("$utf16").and_then(Value::as_array) {
        let units: Vec<u16> = units
            .iter()
            .filter_map(|unit| u16::try_from(unit.as_u64()?).ok())
            .collect();
        return Some(String::from_utf16_lossy(&units));
    }
    value.as_str().map(str::to_owned)
}

/// Decodes all texts in a value.
fn plain(value: &Value) -> Value {
    if let Some(text) = text(value) {
        return Value::from(text);
    }
    match value {
        Value::Array(elements) => elements.iter().map(plain).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), plain(value)))
            .collect(),
        other => other.clone(),
    }
}

fn messages(history: &Value) -> Vec<Message> {
    let entries = history.as_array().unwrap();
    entries.iter().flat_map(recorded).collect()
}

/// Returns the messages of an entry, as recorded by Qwen Code and read by the program.
fn recorded(entry: &Value) -> Vec<Message> {
    let parts = entry["parts"].as_array();
    let has_result = |part: &Value| part.get("functionResponse").is_some();
    let kind = match entry["role"].as_str() {
        Some("user") if parts.is_some_and(|parts| parts.iter().any(has_result)) => "tool_result",
        Some("user") => "user",
        Some("model") => "assistant",
        _ => return vec![Message::new(Role::System, Origin::Injected)],
    };
    let record = serde_json::json!({"type": kind, "uuid": "u", "message": plain(entry)});
    Agent::Qwen.format().messages(&record.to_string())
}

fn spoken(history: &Value) -> TextCollector {
    let mut spoken = TextCollector::default();
    for message in messages(history) {
        spoken.note(&message);
    }
    spoken
}

fn as_contents(said: &[MessageTexts]) -> Value {
    let contents = said.iter().map(|said| {
        let role = match said.role {
            Role::User | Role::System => "user",
            Role::Assistant => "model",
        };
        let parts: Vec<Value> = said
            .parts
            .iter()
            .map(|text| serde_json::json!({"text": text}))
            .collect();
        serde_json::json!({"role": role, "parts": parts})
    });
    contents.collect()
}

/// Our result for a row; `None` if the row is about a feature that does not exist here.
fn ours(area: &str, input: &Value) -> Option<Value> {
    let line = || text(input).unwrap_or_default();
    Some(match area {
        "toolUseSummary.cleanSummary" => clean_label(&line(), CallsEnded::Well)
            .unwrap_or_default()
            .into(),
        "toolUseSummary.truncateJson" => {
            let limit = usize::try_from(input["max"].as_u64()?).ok()?;
            let json = match input["valueJson"].as_str() {
                Some(json) => json.to_owned(),
                None if input["value"].get("$circular").is_some() => return None,
                None => plain(&input["value"]).to_string(),
            };
            excerpt(&json, limit).into()
        }
        "toolUseSummary.generate" => return label_of(input),
        "sessionTitle.sanitize" => sanitize(&line()).into(),
        "sessionTitle.isPromptExampleEcho" => is_example(&line()).into(),
        "sessionTitle.filterToDialog" | "sessionRecap.filterToDialog" => {
            as_contents(spoken(input).texts())
        }
        "sessionTitle.takeRecentDialog" => recent(input)?,
        "sessionTitle.flattenToTail" => {
            let units = usize::try_from(input["max"].as_u64()?).ok()?;
            tail(spoken(&input["history"]).texts(), units).into()
        }
        "sessionTitle.generate" if input.get("display").is_none() => {
            let spoken = spoken(&input["history"]);
            let question = title_question(spoken.recent(super::excerpt::TITLE_MESSAGES));
            question
                .filter(|_| spoken.message_count() >= MIN_MESSAGES)
                .into()
        }
        "sessionRecap.generate" => as_contents(spoken(&input["history"]).recent(RECAP_MESSAGES)),
        "sessionRecap.extract" => clean_recap(&line()).unwrap_or_default().into(),
        "sessionRecap.shouldFire" => should_fire(input).into(),
        "autoTitle.disabledByEnv" => is_true(input.as_str()).into(),
        "terminalSafe.stripTerminalControlSequences" | "terminalSafe.stripDisplayControlChars" => {
            terminal_safe_line(&line()).into()
        }
        _ => return None,
    })
}

fn label_of(input: &Value) -> Option<Value> {
    let raw = |value: &Value| json_excerpt(&plain(value).to_string());
    let tools = input["tools"].as_array()?;
    let parts: Vec<_> = tools
        .iter()
        .map(|tool| (raw(&tool["input"]), raw(&tool["output"])))
        .collect();
    let calls: Vec<ShownCall<'_>> = tools
        .iter()
        .zip(&parts)
        .map(|(tool, (input, output))| ShownCall {
            name: tool["name"].as_str().unwrap_or_default(),
            input,
            output,
        })
        .collect();
    let said = text(&input["lastAssistantText"]).unwrap_or_default();
    Some(label_question(&calls, &said).into())
}

fn recent(input: &Value) -> Option<Value> {
    let mut all = TextCollector::default();
    for (number, role) in input["roles"].as_str()?.chars().enumerate() {
        let role_name = if role == 'u' { "user" } else { "model" };
        let content =
            serde_json::json!({"role": role_name, "parts": [{"text": format!("{role}{number}")}]});
        for message in recorded(&content) {
            all.note(&message);
        }
    }
    let count = usize::try_from(input["window"].as_u64()?).ok()?;
    Some(all.recent(count).iter().map(MessageTexts::text).collect())
}

fn should_fire(input: &Value) -> bool {
    let mut gate = RecapGate::default();
    for item in input.as_array().unwrap() {
        let message = match item.as_str() {
            Some("user") => Message::new(Role::User, Origin::Prompt),
            Some("away_recap") => Message::new(Role::System, Origin::Recap),
            // Never sent to the model.
            _ => Message::new(Role::User, Origin::Injected),
        };
        gate.note(&message);
    }
    gate.has_enough_new()
}

/// Returns the expected result of a row, in the form of [`ours`].
fn theirs(area: &str, expected: &Value) -> Option<Value> {
    let question = |expected: &Value| text(&expected["request"]["contents"][0]["parts"][0]["text"]);
    match area {
        "toolUseSummary.generate" => question(expected).map(Value::from),
        "sessionTitle.generate" => match question(expected) {
            Some(question) => Some(question.into()),
            None if expected["outcome"]["reason"] == "empty_history" => Some(Value::Null),
            None => None,
        },
        "sessionRecap.generate" => {
            let contents = expected["request"]["contents"].as_array()?;
            Some(contents[..contents.len() - 1].iter().cloned().collect())
        }
        _ => Some(text(expected).map_or_else(|| expected.clone(), Value::from)),
    }
}

#[test]
fn results_match_those_of_qwen_code_or_the_recorded_ones() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for row in rows() {
        let area = row["area"].as_str().unwrap();
        let Some(theirs) = theirs(area, &row["expected"]) else {
            continue;
        };
        let Some(found) = ours(area, &row["input"]) else {
            continue;
        };
        checked += 1;
        let is_right = match row.get("ours") {
            Some(recorded) => found == *recorded && found != theirs,
            None => found == theirs || is_same_json(&found, &theirs),
        };
        if !is_right {
            let row =
                json!({"area": area, "input": row["input"], "found": found, "theirs": theirs});
            wrong.push(row.to_string());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(checked, 217);
}
