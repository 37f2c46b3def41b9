//! stream-json, the streams of Claude Code and Qwen Code: their messages, and a `result` at the end of
//! each run.

use serde_json::value::RawValue;

use super::claude::CLAUDE;
use super::content::{is_true, note, string};
use super::format::{Detail, Entry, Part, ReportedEnd, SideCost};
use crate::api::anthropic_usage;
use crate::json::{elements, non_null, number, object};
use crate::message::{Origin, Role, Thread};

object! {
    Row {
        session = "session_id", parent_call = "parent_tool_use_id", synthetic = "isSynthetic",
        is_error, result, errors, error: Failure<'a>, usage,
        turns = "num_turns", duration = "duration_ms", cost = "total_cost_usd",
        denials = "permission_denials", model,
    }
}

object! { Failure { message } }

/// Reads a record. The cost of a `result` is that of the whole run.
pub(super) fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = Row::read(record)?;
    let mut entry = CLAUDE.read(record, detail)?;
    entry.is_known |= matches!(
        entry.kind.as_str(),
        "stream_event" | "rate_limit_event" | "control_request" | "control_response"
    );
    entry.uuid = None;
    entry.facts.session_id = string(row.session);
    if entry.kind == "system" {
        entry.facts.model = string(row.model);
    }
    if non_null(row.parent_call).is_some() {
        entry.part = Part::Side;
    }
    for message in &mut entry.messages {
        if entry.part == Part::Side {
            message.thread = Thread::Subagent;
        }
        if is_true(row.synthetic) && message.origin == Origin::Prompt {
            message.origin = Origin::Injected;
        }
    }
    if entry.kind == "result" {
        result(&row, &mut entry);
    }
    Some(entry)
}

/// Reads a record of Qwen Code, whose counts of input include the cached part.
pub(super) fn read_qwen(record: &str, detail: Detail) -> Option<Entry> {
    let mut entry = read(record, detail)?;
    let replies = entry
        .messages
        .iter_mut()
        .filter_map(|message| message.usage.as_mut());
    let run = entry.side_cost.as_mut().map(|cost| &mut cost.usage);
    for usage in replies.chain(run) {
        usage.input = usage.input.saturating_sub(usage.cache_read);
    }
    Some(entry)
}

fn result(row: &Row<'_>, entry: &mut Entry) {
    entry.end = Some(ReportedEnd {
        reason: entry.subtype.clone().unwrap_or_else(|| {
            let reason = if is_true(row.is_error) {
                "error"
            } else {
                "success"
            };
            reason.to_owned()
        }),
        turns: number(row.turns),
        duration: number(row.duration),
        denials: elements(row.denials).len() as u64,
    });
    entry.recorded_cost = row.cost.and_then(|cost| cost.get().parse().ok());
    entry.side_cost = anthropic_usage(row.usage).map(|usage| SideCost {
        id: None,
        prompt_id: None,
        model: None,
        usage,
    });
    if is_true(row.is_error) {
        entry
            .messages
            .push(note(Role::System, Origin::Error, failure(row)));
    }
}

fn failure(row: &Row<'_>) -> String {
    let errors: Vec<String> = elements(row.errors).into_iter().filter_map(text).collect();
    let error = row.error.and_then(|error| string(error.message));
    let said = error.or_else(|| string(row.result));
    match said {
        Some(said) if errors.is_empty() => said,
        _ => errors.join("\n"),
    }
}

fn text(raw: &RawValue) -> Option<String> {
    string(Some(raw))
}
