//! The calls of one message and their results, as much of them as labels are made of.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::side::builtin::{CallOutcome, FinishedCall};
use crate::side::label::shown;
use crate::wire::{ResultBody, SessionId, ToolCall, ToolUseId, result_text};

/// So much of the beginning and of the end of a result is kept for the rules, in bytes.
const KEPT: usize = 64 * 1024;

/// Arguments of more bytes are kept in part.
const LARGE_INPUT: usize = 64 * 1024;

/// So much of a text in large arguments is kept, in bytes.
const KEPT_ARGUMENT: usize = 16 * 1024;

/// So many calls of a batch are kept for a model, more would only make its prompt long.
const MOST_CALLS: usize = 128;

/// For whom a batch is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// For the rules.
    Rules,
    /// For a model.
    Model,
    /// For both.
    Both,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Counted from 0.
    pub number: u64,
    /// In their order.
    pub calls: Vec<BatchCall>,
    /// What the model said last, as far as prompts show it.
    pub said: String,
    /// The session.
    pub session: Option<SessionId>,
    /// The working directory, if the stream tells.
    pub cwd: Option<String>,
}

/// A call.
#[derive(Debug, Clone)]
pub struct BatchCall {
    /// Its id.
    pub id: ToolUseId,
    /// The tool.
    pub name: String,
    /// The arguments, perhaps with texts cut short.
    pub input: Box<RawValue>,
    /// The arguments as prompts show them.
    pub input_shown: String,
    /// What came of it.
    pub result: Option<BatchResult>,
}

/// What came of a call.
#[derive(Debug, Clone)]
pub struct BatchResult {
    /// The text: the beginning and the end of a long one.
    pub text: String,
    /// As prompts show it.
    pub shown: String,
    /// It says that it failed.
    pub failed: bool,
}

impl Batch {
    /// Whether every call has a result, and there is one.
    pub fn is_complete(&self) -> bool {
        !self.calls.is_empty() && self.calls.iter().all(|call| call.result.is_some())
    }

    /// Whether a call has a result.
    pub fn has_results(&self) -> bool {
        self.calls.iter().any(|call| call.result.is_some())
    }

    /// Whether there is room for another call.
    pub fn has_room(&self) -> bool {
        self.calls.len() < MOST_CALLS
    }

    /// The calls with results, as the rules read them.
    pub fn finished_calls(&self) -> Vec<FinishedCall<'_>> {
        let calls = self.calls.iter().map(|call| FinishedCall {
            name: &call.name,
            input: &call.input,
            outcome: call.result.as_ref().map(|result| CallOutcome {
                text: &result.text,
                failed: result.failed,
            }),
        });
        calls.collect()
    }
}

impl BatchCall {
    /// A call that was just made.
    pub fn new(call: ToolCall, need: Need) -> Self {
        let input_shown = match need {
            Need::Rules => String::new(),
            Need::Model | Need::Both => shown(call.input.get()),
        };
        let input = match need {
            Need::Model => RawValue::NULL.to_owned(),
            Need::Rules | Need::Both => bounded(call.input),
        };
        Self {
            id: call.id,
            name: call.name,
            input,
            input_shown,
            result: None,
        }
    }

    /// Whether its result is a success that a model is shown. Reading or setting one's own goal is
    /// no work.
    pub fn is_shown(&self) -> bool {
        let is_own = matches!(self.name.as_str(), "get_goal" | "update_goal");
        !is_own && self.result.as_ref().is_some_and(|result| !result.failed)
    }
}

impl BatchResult {
    /// What a result says.
    pub fn new(content: &ResultBody<'_>, need: Need) -> Self {
        let text = match need {
            Need::Model => String::new(),
            Need::Rules | Need::Both => beginning_and_end(&result_text(content.content)),
        };
        let shown = match need {
            Need::Rules => String::new(),
            Need::Model | Need::Both => match content.content {
                Some(raw) => shown(raw.get()),
                None => "\"\"".to_owned(),
            },
        };
        Self {
            text,
            shown,
            failed: content.failed,
        }
    }
}

fn beginning_and_end(text: &str) -> String {
    if text.len() <= 2 * KEPT {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(KEPT);
    let tail = text.ceil_char_boundary(text.len() - KEPT);
    format!("{}\n{}", &text[..head], &text[tail..])
}

/// Arguments of which long texts are cut.
fn bounded(input: Box<RawValue>) -> Box<RawValue> {
    if input.get().len() <= LARGE_INPUT {
        return input;
    }
    let Ok(Value::Object(members)) = serde_json::from_str(input.get()) else {
        return RawValue::NULL.to_owned();
    };
    let members: Map<String, Value> = members
        .into_iter()
        .filter_map(|(name, value)| match value {
            Value::String(text) => {
                let end = text.floor_char_boundary(KEPT_ARGUMENT);
                Some((name, Value::from(&text[..end])))
            }
            other => (other.to_string().len() <= LARGE_INPUT).then_some((name, other)),
        })
        .collect();
    serde_json::value::to_raw_value(&members).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
