//! A request to a model, independent of any API.

use serde_json::Value;

use crate::message::{Block, Role, ToolResult};

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    /// The prompt that it is made from. For accounting; not sent.
    pub prompt: PromptId,
    /// The instructions; empty for none.
    pub system: String,
    /// The conversation, oldest first. Neighbours with the same role are merged.
    pub turns: Vec<Turn>,
    /// The form of the reply.
    pub answer: Answer,
    /// The token budget of the reply.
    pub max_output_tokens: u32,
    /// The temperature; `None` for the model's default.
    pub temperature: Option<f64>,
    /// Whether the model may think first.
    pub thinking: Thinking,
    /// The number of attempts.
    pub attempts: Attempts,
    /// The part that is a prefix of the next request.
    pub shared: SharedPrefix,
}

impl Request {
    /// A request for text that is tried once, without thinking.
    pub fn new(prompt: PromptId, max_output_tokens: u32) -> Self {
        Self {
            prompt,
            system: String::new(),
            turns: Vec::new(),
            answer: Answer::Text,
            max_output_tokens,
            temperature: None,
            thinking: Thinking::Off,
            attempts: Attempts::One,
            shared: SharedPrefix::Instructions,
        }
    }
}

/// Content of one role.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The role. Text that the agent adds ([`Role::System`]) is sent as the user's.
    pub role: Role,
    /// The content. Thinking is sent where the server wants it back: signed, or before calls; results
    /// belong to the user's turn after their calls.
    pub blocks: Vec<Block>,
}

impl Turn {
    /// A turn of text.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            blocks: vec![Block::Text(text.into())],
        }
    }

    /// The user says `text`.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, text)
    }

    /// The model says `text`.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, text)
    }
}

/// The form of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Text.
    Text,
    /// The arguments of a call of this function. A server that cannot force a call is asked for
    /// JSON; `Reply::structured` accepts both.
    Forced(Function),
    /// Text, calls of these functions, or both.
    Tools(Vec<Function>),
}

/// A function that a model can call.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// The JSON Schema of its parameters, an object.
    pub parameters: Value,
}

/// Whether a model thinks before it replies, where it has the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// It must not.
    Off,
    /// The request does not say.
    Unspecified,
    /// With about this many tokens.
    Tokens(u32),
}

/// The number of attempts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempts {
    /// Once, and again after waits that the server asks for.
    One,
    /// Again after temporary failures, by the retry policy. The parts of the reply so far are then
    /// void (`Event::Restart`).
    ByPolicy,
    /// Like `ByPolicy`, until the first block of a reply is complete: its effects cannot be undone.
    UntilABlock,
}

/// The prefix of a request that later requests share. It is marked for the prompt cache if it is
/// long enough and the API uses marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedPrefix {
    /// The functions and the instructions.
    Instructions,
    /// The whole conversation: the next request continues it.
    Conversation,
}

/// The result of a call, for the next request.
#[derive(Debug)]
pub(crate) struct CallResult {
    /// The tool's name as the model wrote it.
    pub(crate) name: String,
    /// Whether its model gave the call an id.
    pub(crate) has_id: bool,
    /// Whether the tool takes free text.
    pub(crate) is_custom: bool,
    /// The result for the model.
    pub(crate) result: ToolResult,
}

/// Names the prompt that a request is made from. Its tokens are accounted under this id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PromptId(pub &'static str);

impl PromptId {
    /// A label for a batch of tool calls.
    pub const TOOL_USE_SUMMARY: Self = Self("tool_use_summary_generation");
    /// A title for a session.
    pub const SESSION_TITLE: Self = Self("session_title");
    /// A recap of a session.
    pub const SESSION_RECAP: Self = Self("session_recap");
    /// A reply of the main model.
    pub const MAIN: Self = Self("main");
    /// A verdict about a call that no rule decides.
    pub const AUTO_CLASSIFIER: Self = Self("auto_classifier");
    /// Advice on what to do next.
    pub const ADVISOR: Self = Self("advisor");
}

/// The delivery of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// In one response.
    Whole,
    /// In parts.
    Streamed,
}
