//! What is asked of a model, in no API's form.

use serde_json::Value;

use super::PromptId;
use crate::dialog::{Block, Role};

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which prompt it is made from. Not sent; for accounting.
    pub prompt: PromptId,
    /// The instructions; empty for none.
    pub system: String,
    /// The conversation, oldest first. Neighbours may have the same speaker; they are merged
    /// where an API wants turns.
    pub turns: Vec<Turn>,
    /// The form of the answer.
    pub answer: Answer,
    /// How many tokens the answer may have.
    pub max_output_tokens: u32,
    /// The temperature; `None` is the model's own.
    pub temperature: Option<f64>,
    /// Whether the model thinks first.
    pub thinking: Thinking,
    /// How often it is tried.
    pub attempts: Attempts,
    /// Which part of it the next request will begin with.
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

/// What one side said.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Who speaks. What the agent itself adds ([`Role::System`]) is sent as the user's.
    pub role: Role,
    /// What. Thinking is not sent back; results belong to the user's turn after their calls.
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

/// The form that the answer shall have.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Text.
    Text,
    /// The arguments of this function, which has to be called. Where a server cannot force a call
    /// it is asked for JSON; [`super::Reply::structured`] takes whatever comes.
    Forced(Function),
    /// Text, calls of these functions, or both.
    Tools(Vec<Function>),
}

/// A function that a model can call.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The JSON Schema of its parameters, an object.
    pub parameters: Value,
}

/// Whether a model thinks before it answers, where it has the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// It shall not.
    Off,
    /// Nothing is said about it.
    Unspecified,
}

/// How often a request is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempts {
    /// Once: nobody waits for the answer.
    One,
    /// Again after failures that may pass, by the retry policy. What was handed out of a streamed
    /// reply is taken back ([`super::Event::Restart`]).
    ByPolicy,
}

/// The part of a request that others are expected to begin with: where it is long enough and the
/// API wants to be told, it is marked for the prompt cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedPrefix {
    /// The functions and the instructions.
    Instructions,
    /// The whole conversation: the next request continues it.
    Conversation,
}
