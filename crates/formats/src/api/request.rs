//! A request to a model, independent of any API, and its conversation in the form that APIs accept:
//! alternating turns without empty parts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;
use serde_json::value::RawValue;

use turnpipe_core::json::replace_lone_surrogates;
use turnpipe_core::message::{Block, Call, Media, ResultPart, Role, Thought, ToolResult};

/// A request for one reply of a model.
#[derive(Debug, Clone)]
pub struct Request {
    /// The prompt template, for accounting; not sent.
    pub prompt: PromptId,
    /// The instructions; empty for none.
    pub system: String,
    /// The conversation, oldest first. Consecutive turns with the same role are merged.
    pub turns: Vec<Turn>,
    /// The form of the reply.
    pub form: ReplyForm,
    /// The schema of a reply without calls.
    pub output: Option<OutputSchema>,
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
    /// Returns a request for text that is tried once, without thinking.
    pub fn new(prompt: PromptId, max_output_tokens: u32) -> Self {
        Self {
            prompt,
            system: String::new(),
            turns: Vec::new(),
            form: ReplyForm::Text,
            output: None,
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
    /// The content. Thinking is sent if the server requires it: signed, or before calls; results
    /// belong to the user's turn after their calls.
    pub blocks: Vec<Block>,
}

impl Turn {
    /// Returns a turn of text.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            blocks: vec![Block::Text(text.into())],
        }
    }

    /// Creates a turn of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, text)
    }
}

/// The form of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyForm {
    /// Text alone.
    Text,
    /// The arguments of a call of this function. If a server cannot force a call, JSON is
    /// requested; `Reply::structured_request` accepts both.
    Forced(Function),
    /// Text, calls of these functions, or both.
    Tools(Vec<Function>),
}

/// The JSON Schema of a reply without calls. Replies may differ from it: servers may not enforce it.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSchema {
    /// The schema, with a name.
    pub schema: Function,
    /// Whether an earlier reply did not match the schema. Servers that accept a schema only without tools get
    /// no tools.
    pub is_retry: bool,
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

/// Thinking before a reply, for models that allow the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// No thinking.
    Off,
    /// The request does not specify it.
    Unspecified,
    /// With about this many tokens.
    Tokens(u32),
}

/// The number of attempts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempts {
    /// Once, and again after a wait that the server requests.
    One,
    /// Again after temporary failures, by the retry policy. The reply so far is then
    /// discarded (`Event::Restart`).
    ByPolicy,
    /// Like `ByPolicy`, but only until the first block of a reply is complete, because its effects cannot be undone.
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
pub struct CallResult {
    /// The tool's name as the model wrote it.
    pub(crate) name: String,
    /// Whether its model gave the call an id.
    pub(crate) has_id: bool,
    /// Whether the tool takes free text.
    pub(crate) is_custom: bool,
    /// The result for the model.
    pub(crate) result: ToolResult,
}

/// The id of a prompt template, for accounting of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PromptId(pub &'static str);

impl PromptId {
    /// A label for a batch of tool calls.
    pub const TOOL_USE_SUMMARY: Self = Self("tool_use_summary_generation");
    /// The title of a session.
    pub const SESSION_TITLE: Self = Self("session_title");
    /// The recap of a session.
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

/// Consecutive turns of one role.
#[derive(Debug)]
pub(super) struct MergedTurn<'a> {
    pub(super) role: Role,
    pub(super) blocks: Vec<&'a Block>,
}

/// Replacement for omitted turns, if the first turn must be the user's.
static EARLIER: LazyLock<Block> =
    LazyLock::new(|| Block::Text("[earlier messages omitted]".to_owned()));

/// Replacement for an attachment that cannot be sent.
const ATTACHMENT: &str = "[attachment]";

/// Returns the turns of a request. Consecutive turns with the same role are merged; blank text and turns that
/// only contain unsigned thinking are omitted.
pub(super) fn merge_turns(request: &Request) -> Vec<MergedTurn<'_>> {
    let mut merged: Vec<MergedTurn<'_>> = Vec::new();
    for turn in &request.turns {
        let has_content = |block: &&Block| match block {
            Block::Text(text) | Block::Thinking(Thought::Plain(text)) => !text.trim().is_empty(),
            Block::Thinking(_) | Block::Call(_) | Block::Result(_) | Block::Media(_) => true,
        };
        let mut blocks: Vec<&Block> = turn.blocks.iter().filter(has_content).collect();
        let is_plain_thought = |block: &&Block| matches!(block, Block::Thinking(Thought::Plain(_)));
        if blocks.iter().all(is_plain_thought) {
            continue;
        }
        match merged.last_mut() {
            Some(last) if last.role == turn.role => last.blocks.append(&mut blocks),
            _ => merged.push(MergedTurn {
                role: turn.role,
                blocks,
            }),
        }
    }
    merged
}

/// Returns the turns of a request, preceded by a turn of the user if the first is the model's.
pub(super) fn merge_turns_from_user(request: &Request) -> Vec<MergedTurn<'_>> {
    let mut turns = merge_turns(request);
    if turns
        .first()
        .is_some_and(|first| first.role == Role::Assistant)
    {
        let earlier = MergedTurn {
            role: Role::User,
            blocks: vec![&*EARLIER],
        };
        turns.insert(0, earlier);
    }
    turns
}

impl<'a> MergedTurn<'a> {
    /// Returns the text, its blocks joined by blank lines.
    pub(super) fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| block.as_text());
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the unsigned thinking of the model; empty if there is none.
    pub(super) fn thoughts(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Thinking(Thought::Plain(text)) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &'a Call> {
        self.blocks.iter().filter_map(|block| block.as_call())
    }

    /// Returns the results of calls.
    pub(super) fn results(&self) -> impl Iterator<Item = &'a ToolResult> {
        self.blocks.iter().filter_map(|block| block.as_result())
    }

    pub(super) fn result_attachments(&self) -> impl Iterator<Item = Attachment<'a>> {
        self.results()
            .flat_map(|result| filter_attachments(&result.parts))
    }

    /// Returns the attachments outside of results.
    pub(super) fn attachments(&self) -> impl Iterator<Item = Attachment<'a>> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Media(media) => as_attachment(media),
            Block::Text(_) | Block::Thinking(_) | Block::Call(_) | Block::Result(_) => None,
        })
    }
}

/// An attachment that can be sent.
#[derive(Clone, Copy)]
pub(super) struct Attachment<'a> {
    pub(super) media_type: &'a str,
    /// The bytes in base64.
    pub(super) data: &'a str,
}

/// Returns the attachment if its media type and its bytes are known.
pub(super) fn as_attachment(media: &Media) -> Option<Attachment<'_>> {
    let data = media.data.as_deref()?;
    (!media.media_type.is_empty()).then_some(Attachment {
        media_type: &media.media_type,
        data,
    })
}

/// Returns the attachments in a result.
pub(super) fn filter_attachments(parts: &[ResultPart]) -> impl Iterator<Item = Attachment<'_>> {
    parts.iter().filter_map(|part| match part {
        ResultPart::Text(_) => None,
        ResultPart::Media(media) => as_attachment(media),
    })
}

/// Returns an attachment as a `data:` URL.
pub(super) fn format_data_url(Attachment { media_type, data }: Attachment<'_>) -> String {
    format!("data:{media_type};base64,{data}")
}

/// Maps the ids of calls to the names of the called functions.
pub(super) fn map_call_names<'a>(conversation: &[MergedTurn<'a>]) -> HashMap<&'a str, &'a str> {
    let calls = conversation.iter().flat_map(MergedTurn::calls);
    calls.map(|call| (&*call.id, &*call.name)).collect()
}

/// Formats a result as text, with a placeholder for each attachment.
pub(super) fn format_result(parts: &[ResultPart]) -> String {
    let texts = parts.iter().map(|part| match part {
        ResultPart::Text(text) => Cow::from(text),
        ResultPart::Media(media) if as_attachment(media).is_some() => {
            format!("[image: {}]", media.media_type).into()
        }
        ResultPart::Media(_) => ATTACHMENT.into(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns the arguments of a call; an empty object if they are unusable.
pub(super) fn parse_arguments(input: &RawValue) -> Value {
    let json = input.get();
    let repaired = replace_lone_surrogates(json);
    serde_json::from_str(repaired.as_deref().unwrap_or(json))
        .ok()
        .filter(Value::is_object)
        .unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}
