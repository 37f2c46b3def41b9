//! The formats of saved streams: of runs of agents, two of which write stream-json while the others have their own
//! formats, and of `session show`.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::agent::Agent;
use super::claude::CLAUDE;
use super::content::{is_true, new_text, read_count, read_decimal, string};
use super::counting::{IdScope, SideCost, TokenCounting, TokenSource};
use super::entry::{Entry, Part, ReportedEnd};
use super::entry_reader::read_row;
use super::format::Format;
use super::reading::{Detail, LineClass, Reading};
use super::sign::{
    CLAUDE_STREAM, CODEX_STREAM, GEMINI_STREAM, OPENCODE_STREAM, Opening, PI_STREAM,
    PRINTED_SESSION, QWEN_STREAM, Sign, UNNAMED_STREAM, detect_sign,
};
use crate::api::{Envelope, read_anthropic_usage};
use turnpipe_core::json::{elements, non_null, number, object, text};
use turnpipe_core::message::{Origin, Role, Thread};

object! {
    ResultRow {
        session = "session_id", parent_call = "parent_tool_use_id", synthetic = "isSynthetic",
        is_error, result, errors, error: Failure<'a>, usage,
        turns = "num_turns", duration = "duration_ms", cost = "total_cost_usd",
        denials = "permission_denials", model, models = "modelUsage",
    }
}

object! { Failure { message } }

/// The beginning of records with deltas, which whole messages repeat.
const DELTA: &[u8] = b"{\"type\":\"stream_event\"";

const GLOBAL_IDS: TokenCounting = TokenCounting {
    ids: IdScope::Global,
    ..TokenCounting::REPLIES
};

static STREAMS: [Format; 6] = [
    Format {
        counting: GLOBAL_IDS,
        ..new_stream(Agent::Claude, CLAUDE_STREAM, read)
    },
    Format {
        counting: GLOBAL_IDS,
        ..new_stream(Agent::Qwen, QWEN_STREAM, read_qwen)
    },
    Format {
        counting: TokenCounting {
            tokens: TokenSource::Totals,
            has_split_replies: true,
            ..TokenCounting::REPLIES
        },
        ..new_stream(Agent::Codex, CODEX_STREAM, |record, _| {
            read_row(CODEX_STREAM, record)
        })
    },
    new_stream(Agent::Gemini, GEMINI_STREAM, |record, _| {
        read_row(GEMINI_STREAM, record)
    }),
    new_stream(Agent::Opencode, OPENCODE_STREAM, |record, _| {
        read_row(OPENCODE_STREAM, record)
    }),
    new_stream(Agent::Pi, PI_STREAM, |record, _| {
        read_row(PI_STREAM, record)
    }),
];

const fn new_stream(
    agent: Agent,
    name: &'static str,
    read: fn(&str, Detail) -> Option<Entry>,
) -> Format {
    Format {
        reading: Reading {
            classify: |line| {
                if line.starts_with(DELTA) {
                    LineClass::NoMessage
                } else {
                    LineClass::Anything
                }
            },
            ..Reading::SEQUENCE
        },
        stream: Some(name),
        ..Format::new(agent, read, |_| false)
    }
}

/// Returns the format of the stream that a record belongs to, if the record shows it.
pub(super) fn detect_stream(record: &str) -> Option<&'static Format> {
    let record = Envelope::read(record)?;
    let name = match detect_sign(text(record.kind).as_deref(), &record)? {
        Sign::Opens(Opening::Ours | Opening::Foreign(UNNAMED_STREAM)) => CLAUDE_STREAM,
        Sign::Opens(Opening::Foreign(name)) | Sign::Marks(name) => name,
        Sign::Hints(_) => return None,
    };
    STREAMS.iter().find(|format| format.stream == Some(name))
}

/// Returns the format of what `session show` prints of sessions of this format.
pub(super) fn new_printed_format(format: &Format) -> Format {
    Format {
        counting: TokenCounting {
            ids: format.counting.ids,
            has_split_replies: format.counting.has_split_replies,
            ..TokenCounting::REPLIES
        },
        ..new_stream(format.agent, PRINTED_SESSION, read)
    }
}

/// Returns the agent whose session `session show` printed, if this is the first record.
pub(super) fn read_printed_agent(record: &str) -> Option<Agent> {
    let record = Envelope::read(record)?;
    let sign = detect_sign(text(record.kind).as_deref(), &record)?;
    let is_printed = sign == Sign::Opens(Opening::Foreign(PRINTED_SESSION));
    let agent = text(record.agent).filter(|_| is_printed)?;
    Some(Agent::by_name(&agent).unwrap_or(CLAUDE.agent))
}

/// Reads a record. The cost of a `result` covers the whole run.
pub(super) fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = ResultRow::read(record)?;
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
            message.parent_call = string(row.parent_call);
        }
        if is_true(row.synthetic) && message.origin == Origin::Prompt {
            message.origin = Origin::Injected;
        }
    }
    if entry.kind == "result" {
        add_result(&row, &mut entry);
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

fn add_result(row: &ResultRow<'_>, entry: &mut Entry) {
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
    entry.recorded_cost = read_decimal(row.cost);
    entry.side_cost = read_anthropic_usage(row.usage).map(|usage| SideCost {
        model: find_main_model(row.models),
        ..SideCost::from_run(usage)
    });
    if is_true(row.is_error) {
        entry
            .messages
            .push(new_text(Role::System, Origin::Error, read_failure(row)));
    }
}

object! { ModelUsage { input = "inputTokens", output = "outputTokens", cached = "cacheReadInputTokens" } }

/// Returns the model with most tokens.
fn find_main_model(models: Option<&RawValue>) -> Option<String> {
    let models: BTreeMap<String, &RawValue> = serde_json::from_str(models?.get()).ok()?;
    let size = |(_, raw): &(String, &RawValue)| {
        let used = ModelUsage::from_raw(Some(raw)).unwrap_or_default();
        [used.input, used.output, used.cached]
            .map(read_count)
            .iter()
            .sum::<u64>()
    };
    let (model, _) = models.into_iter().max_by_key(size)?;
    Some(model)
}

fn read_failure(row: &ResultRow<'_>) -> String {
    let errors: Vec<String> = elements(row.errors)
        .into_iter()
        .filter_map(|raw| string(Some(raw)))
        .collect();
    let error = row.error.and_then(|error| string(error.message));
    let said = error.or_else(|| string(row.result));
    match said {
        Some(said) if errors.is_empty() => said,
        _ => errors.join("\n"),
    }
}
