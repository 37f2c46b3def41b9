//! What a model answered, in no API's form.

use serde_json::value::RawValue;

use crate::dialog::Usage;

/// A whole answer. Answers that were cut off, or have nothing in them, are failures.
#[derive(Debug, Clone)]
pub struct Reply {
    /// What was said aloud.
    pub text: String,
    /// What was thought, where the server tells; never part of the answer.
    pub thinking: String,
    /// Calls, in order.
    pub calls: Vec<ToolCall>,
    /// Why the answer ends.
    pub finish: Finish,
    /// What it cost. Zeros if the server does not tell.
    pub usage: Usage,
}

/// Why a whole answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The model had said all.
    Said,
    /// It waits for results of its calls.
    CalledTools,
}

/// A call of a function.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Names the call; made up where the server gives none.
    pub id: String,
    /// The function.
    pub name: String,
    /// Its arguments.
    pub input: Input,
}

/// The arguments of a call.
#[derive(Debug, Clone)]
pub enum Input {
    /// A JSON object.
    Object(Box<RawValue>),
    /// Something else: models write what they like.
    Unusable(String),
}

impl Input {
    /// The arguments that a model wrote; none at all are an empty object.
    pub fn of_text(text: &str) -> Self {
        let text = text.trim();
        let json = if text.is_empty() { "{}" } else { text };
        match RawValue::from_string(json.to_owned()) {
            Ok(raw) if raw.get().starts_with('{') => Self::Object(raw),
            Ok(_) | Err(_) => Self::Unusable(text.to_owned()),
        }
    }
}
