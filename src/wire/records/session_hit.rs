//! `session_hit`: where a pattern matches in what was said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session_message::MessageOrigin;
use super::tagged::tagged;
use crate::wire::SessionId;

/// A part of a message in which a pattern matches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_hit")]
#[schemars(transform = tagged("session_hit"))]
pub struct SessionHitRecord {
    /// The session; absent if the file does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Whose file it is.
    pub agent: String,
    /// The file.
    pub path: String,
    /// The title of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The line, counted from 1; absent in files that are one document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Names the record in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Who speaks.
    pub role: HitRole,
    /// What the message is there for.
    pub origin: MessageOrigin,
    /// Whether a subagent's conversation is meant.
    pub subagent: bool,
    /// When, as it stands in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The part of the message.
    #[serde(rename = "in")]
    pub place: HitPlace,
    /// The tool, where it is a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The first match and what stands around it.
    pub snippet: String,
    /// What of that matched; at most 400 bytes of it.
    #[serde(rename = "match")]
    pub matched: String,
    /// How many matches there are in the part.
    pub matches: u64,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HitRole {
    /// A person, or the agent on their behalf.
    User,
    /// The model.
    Assistant,
    /// The agent, to whoever reads the file.
    System,
}

/// The part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HitPlace {
    /// What was said.
    Text,
    /// What the model thought.
    Thinking,
    /// The input of a call.
    Call,
    /// The result of a call.
    Result,
}
