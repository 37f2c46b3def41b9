//! Deltas: replies of a model as contained in the records of any API.

use std::borrow::Cow;

use serde_json::value::RawValue;

use turnpipe_core::json::{bytes, from_wtf8, text};
use turnpipe_core::message::Usage;

/// A whole reply, or a part of one.
#[derive(Debug)]
pub struct Chunk<'a> {
    /// The id of the message.
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) model: Option<Cow<'a, str>>,
    /// The relation to other records.
    pub(crate) extent: Extent,
    /// The alternative replies.
    pub(crate) choices: Vec<Choice<'a>>,
}

/// One of several alternative replies. Only the choice 0 is used, but calls of others get results.
#[derive(Debug)]
pub(crate) struct Choice<'a> {
    pub index: u64,
    pub deltas: Vec<Delta<'a>>,
}

/// The relation of a record to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A whole message, or whole blocks of one.
    Whole,
    /// The start of a streamed message.
    Start,
    /// More of a streamed message: the open one.
    More,
    /// More of the streamed message that is open, or the start of one.
    MoreOrStart,
    /// Like `MoreOrStart`; the role marks the first chunk, and ids of chunks may differ.
    ByRole {
        /// Whether the chunk has a role.
        has_role: bool,
        /// Whether it has parts of calls.
        has_calls: bool,
        /// Whether it has text or thinking.
        has_content: bool,
    },
    /// Like `MoreOrStart`; chunks have the id of their message or no id.
    ById {
        /// Whether it has text or thinking.
        has_content: bool,
        /// Whether it has a stop reason.
        has_end: bool,
    },
}

/// A fragment of a message. A string that may be cut within a character is WTF-8: a lone surrogate is
/// three bytes.
#[derive(Debug)]
pub enum Delta<'a> {
    /// A block starts that is not a call.
    Block,
    /// More text.
    Text(Cow<'a, [u8]>),
    /// The text of a block that is complete. It may repeat earlier deltas.
    WholeText(Cow<'a, [u8]>),
    /// More thinking.
    Thinking(Cow<'a, [u8]>),
    /// The signature of the thinking or call before it.
    Signature(Cow<'a, str>),
    /// Encrypted thinking.
    RedactedThinking(Cow<'a, str>),
    /// More of a refusal.
    Refusal(Cow<'a, [u8]>),
    /// A whole call.
    Call(CallDelta<'a>),
    /// A call starts; its end is announced.
    CallStart(CallDelta<'a>),
    /// A call, or more of one.
    CallPart(CallDelta<'a>),
    /// More arguments of a call; without an index, of the last call.
    CallArguments(Option<u64>, Cow<'a, [u8]>),
    /// A call is complete.
    CallEnd(Option<u64>),
    /// Token counts; a count of 0 means unknown.
    Usage(Usage),
    /// The reason why the reply ends.
    End(End),
    /// The reply is complete: nothing follows.
    Closed,
}

/// A call, or a part of one.
#[derive(Debug)]
pub struct CallDelta<'a> {
    /// The number of the call or block in its message.
    pub(crate) index: Option<u64>,
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) arguments: Arguments<'a>,
}

/// The end of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// The reason as the API states it.
    pub(crate) reason: String,
    pub(crate) kind: EndKind,
}

/// The reason why a message ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndKind {
    /// The model is done, or waits for results. Unknown reasons count as this.
    Regular,
    /// A token limit.
    Budget,
    /// A filter or the model refused, with an explanation.
    Declined(String),
    /// The server failed, with an explanation.
    Failed(String),
}
impl End {
    /// Reads a stop reason of any API, in upper or lower case. The reason is the explanation, too.
    pub(crate) fn from_reason(reason: &str) -> Self {
        Self::with_explanation(reason, reason)
    }

    /// Reads a stop reason that the API explains.
    pub(crate) fn with_explanation(reason: &str, explanation: impl Into<String>) -> Self {
        let kind = match reason.to_ascii_lowercase().as_str() {
            "max_tokens"
            | "length"
            | "max_output_tokens"
            | "model_length"
            | "model_context_window_exceeded" => EndKind::Budget,
            "content_filter" | "refusal" | "safety" | "recitation" | "language" | "blocklist"
            | "prohibited_content" | "spii" | "image_safety" => {
                EndKind::Declined(explanation.into())
            }
            "error"
            | "error_finish"
            | "other"
            | "failed"
            | "cancelled"
            | "insufficient_system_resource"
            | "malformed_function_call"
            | "unexpected_tool_call"
            | "too_many_tool_calls" => EndKind::Failed(explanation.into()),
            _ => EndKind::Regular,
        };
        let reason = reason.to_owned();
        Self { reason, kind }
    }
}

impl<'a> Chunk<'a> {
    /// Creates a chunk of the choice 0.
    pub(crate) fn single(id: Option<Cow<'a, str>>, extent: Extent, deltas: Vec<Delta<'a>>) -> Self {
        Self {
            id,
            model: None,
            extent,
            choices: vec![Choice { index: 0, deltas }],
        }
    }
}

impl Delta<'_> {
    /// Whether it is content. The content before an end may be cut off.
    pub(crate) fn is_content(&self) -> bool {
        !matches!(
            self,
            Self::Usage(_) | Self::End(_) | Self::Closed | Self::Signature(_)
        )
    }
}

/// The call that a result belongs to, as far as the record names it.
#[derive(Debug)]
pub(crate) struct ResultId<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    /// The name of the tool.
    pub(crate) name: Option<Cow<'a, str>>,
}

impl<'a> ResultId<'a> {
    /// Reads the id of a call.
    pub(crate) fn new(id: Option<&'a RawValue>) -> Self {
        let (id, name) = (text(id), None);
        Self { id, name }
    }
}

/// The argument with the free text of a custom tool.
pub const FREE_TEXT: &str = "input";

/// The arguments of a call, or a part of them.
#[derive(Debug, Clone)]
pub enum Arguments<'a> {
    /// No arguments, which the API allows.
    None,
    /// No arguments, although the API requires them.
    Missing,
    /// A JSON value.
    Json(&'a RawValue),
    /// JSON text, or a part of it; blank text counts as `{}`. A lone surrogate is three bytes.
    Text(Cow<'a, [u8]>),
}

/// The reason why a call is incomplete or unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CutOff {
    /// The reply reached its token limit inside this call, or in the block before the end.
    #[error("the reply was cut off by its token limit (`{0}`) before the call was complete")]
    TokenLimit(String),
    /// The reply was stopped inside this call, or in the block before the end, by a content
    /// filter, a refusal, or a failing server.
    #[error("the reply was stopped (`{0}`) before the call was complete")]
    Stopped(String),
    /// The stream ended before the call was complete.
    #[error("the stream ended before the call was complete")]
    EndOfStream,
    /// The arguments are not JSON.
    #[error("the arguments are not valid JSON: {0}")]
    Unparsable(String),
    /// The arguments are JSON, but not an object.
    #[error("the arguments are not a JSON object but {0}")]
    NotAnObject(&'static str),
    /// The call has no tool name.
    #[error("the call names no tool")]
    NoName,
}

impl<'a> Arguments<'a> {
    /// Reads arguments that are JSON text in a string, or a JSON value.
    pub(crate) fn from_raw(raw: Option<&'a RawValue>) -> Self {
        match (raw, bytes(raw)) {
            (_, Some(text)) if text.is_empty() => Self::None,
            (_, Some(text)) => Self::Text(text),
            (Some(json), None) => Self::Json(json),
            (None, None) => Self::None,
        }
    }

    /// Wraps the free text of a custom tool in an object, as Codex does.
    pub(crate) fn from_free_text(text: &RawValue) -> Self {
        let object = format!("{{\"{FREE_TEXT}\":{text}}}");
        Self::Text(Cow::Owned(object.into_bytes()))
    }

    /// Converts the arguments to an object.
    ///
    /// # Errors
    /// The arguments are not an object.
    pub(crate) fn into_object(self) -> Result<Box<RawValue>, CutOff> {
        match self {
            Self::None => parse("{}".to_owned()),
            Self::Missing => Err(CutOff::NotAnObject("absent")),
            Self::Json(raw) => check_json(raw.to_owned()),
            Self::Text(bytes) => match from_wtf8(bytes.into_owned()) {
                text if text.trim().is_empty() => parse("{}".to_owned()),
                text => parse(text),
            },
        }
    }
}

fn parse(text: String) -> Result<Box<RawValue>, CutOff> {
    RawValue::from_string(text)
        .map_err(|error| CutOff::Unparsable(error.to_string()))
        .and_then(check_json)
}

fn check_json(raw: Box<RawValue>) -> Result<Box<RawValue>, CutOff> {
    Err(CutOff::NotAnObject(match raw.get().as_bytes().first() {
        Some(b'{') => return Ok(raw),
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }))
}

#[cfg(test)]
#[path = "delta_tests.rs"]
mod tests;
