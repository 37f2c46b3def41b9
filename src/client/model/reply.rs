//! Replies of models, independent of the API.

use serde_json::value::RawValue;

use crate::client::http::Redaction;
use crate::message::Usage;

/// A reply. Incomplete and empty replies are failures.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    pub text: String,
    /// The thinking, if the server returns it. Not part of the text.
    pub thinking: String,
    /// Tool calls, in order.
    pub calls: Vec<ReplyCall>,
    /// Token counts; zero if the server does not return them.
    pub usage: Usage,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyCall {
    /// Id of the call; generated if the server returns none.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    pub input: CallInput,
}

/// Arguments of a tool call.
#[derive(Debug, Clone)]
pub enum CallInput {
    /// A JSON object.
    Object(Box<RawValue>),
    /// Any other text.
    Unusable(String),
}

impl Reply {
    /// Returns the reply with secrets redacted: a server may echo what it was sent.
    pub(super) fn into_redacted(mut self, redaction: &Redaction) -> Self {
        self.text = redaction.clean(&self.text);
        self.thinking = redaction.clean(&self.thinking);
        for call in &mut self.calls {
            call.input = match &call.input {
                // The mask needs no escaping, and secrets occur only in strings.
                CallInput::Object(raw) => CallInput::parse(&redaction.clean(raw.get())),
                CallInput::Unusable(text) => CallInput::Unusable(redaction.clean(text)),
            };
        }
        self
    }
}

impl PartialEq for CallInput {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Object(first), Self::Object(second)) => first.get() == second.get(),
            (Self::Unusable(first), Self::Unusable(second)) => first == second,
            _ => false,
        }
    }
}

impl CallInput {
    /// Parses arguments written by a model. An empty text is an empty object.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let json = if text.is_empty() { "{}" } else { text };
        match RawValue::from_string(json.to_owned()) {
            Ok(raw) if raw.get().starts_with('{') => Self::Object(raw),
            Ok(_) | Err(_) => Self::Unusable(text.to_owned()),
        }
    }
}
