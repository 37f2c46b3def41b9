//! Recognises the kind of a record from its line alone, and reads its content.

use std::sync::LazyLock;

use super::anthropic::BlockDetail;
use super::delta::{CallDelta, Chunk, Delta, End, Extent, ResultId};
use super::dialect::Api;
use super::envelope::{Content, Envelope};
use super::gemini::Signed;
use super::{anthropic, gemini, ollama, openai_chat, responses};
use turnpipe_core::json::{has_text, is_array, is_object, non_empty, non_null, object, text};
use turnpipe_core::message::Block;

/// The content of a record.
#[derive(Debug)]
pub(crate) enum RecordContent<'a> {
    /// A reply of the model, or a part of one.
    Reply(Chunk<'a>),
    /// A call that belongs to no message.
    BareCall(CallDelta<'a>),
    /// A call of a reply that is an item of a conversation.
    Item(Chunk<'a>),
    /// The user's turn: results, or a prompt if there are none.
    User(Vec<ResultId<'a>>),
    /// A `result` record: the session ends.
    SessionResult,
    /// Another program runs the calls of this stream.
    Executor,
    /// A request to stop.
    Interrupt,
    /// A response to a control request.
    ControlResponse,
    /// Anything else.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// A whole Anthropic message of the model, or a part of one; or the text of any model.
    Assistant,
    /// A user message, of Anthropic if it has blocks.
    User,
    /// An Anthropic streaming event, wrapped.
    WrappedEvent,
    /// An Anthropic streaming event.
    StreamEvent,
    /// A `tool_use` line.
    BareCall,
    /// A `tool_result` line.
    BareResult,
    /// An assistant message of `OpenAI` with calls.
    OpenaiAssistant,
    /// A tool message of `OpenAI`.
    OpenaiResult,
    /// A completion or a chunk.
    Completion,
    /// A reply of Ollama, or a part of one.
    Ollama,
    /// A response of the Responses API.
    Response,
    /// A streaming event of that API.
    ResponseEvent,
    /// A text delta of that API.
    ResponseText,
    /// A call that is an item of a conversation with that API.
    ItemCall,
    /// A result that is an item.
    ItemResult,
    /// Content of Gemini.
    Content,
    /// A response of Gemini, or a chunk of one.
    Candidates,
    /// An error in a stream of any API.
    Failure,
    SessionResult,
    Executor,
    Interrupt,
    ControlResponse,
    Other,
}

impl RecordKind {
    /// Returns the API of the record, if only one is possible. Texts and prompts look the same in
    /// several.
    fn api(self, record: &Envelope<'_>) -> Option<Api> {
        match self {
            Self::Assistant if has_blocks(record) => Some(Api::Anthropic),
            Self::WrappedEvent | Self::StreamEvent | Self::BareCall | Self::BareResult => {
                Some(Api::Anthropic)
            }
            Self::OpenaiAssistant | Self::OpenaiResult | Self::Completion => Some(Api::OpenaiChat),
            Self::Ollama => Some(Api::Ollama),
            Self::Response
            | Self::ResponseEvent
            | Self::ResponseText
            | Self::ItemCall
            | Self::ItemResult => Some(Api::Responses),
            Self::Content | Self::Candidates => Some(Api::Gemini),
            _ => None,
        }
    }
}

fn has_blocks(record: &Envelope<'_>) -> bool {
    match &record.message {
        Some(message) => matches!(message.content, Some(Content::Blocks(_))),
        None => is_array(record.content),
    }
}

object! {
    /// A control request.
    Request { subtype }
}

/// Reads a record, including text deltas.
pub(crate) fn read_all<'a>(record: &Envelope<'a>) -> RecordContent<'a> {
    read(record, None, true)
}

/// Reads the messages and calls in a record, if it is of this API. Skips text deltas, which
/// are most of a stream.
pub(crate) fn read_content<'a>(record: &Envelope<'a>, pinned: Option<Api>) -> RecordContent<'a> {
    read(record, pinned, false)
}

fn read<'a>(record: &Envelope<'a>, pinned: Option<Api>, reads_texts: bool) -> RecordContent<'a> {
    let kind = text(record.kind);
    let record_kind = detect_kind(kind.as_deref(), record);
    if let (Some(pinned), Some(api)) = (pinned, record_kind.api(record))
        && !pinned.includes(api)
    {
        return RecordContent::Nothing;
    }
    let event = |event: &Envelope<'a>| {
        let is_read = reads_texts || anthropic::is_about_calls(event);
        let chunk = is_read.then(|| anthropic::read_event(event)).flatten();
        chunk.map_or(RecordContent::Nothing, RecordContent::Reply)
    };
    match record_kind {
        RecordKind::Assistant if responses::is_item(record) => {
            responses::read_model_item(record).map_or(RecordContent::Nothing, RecordContent::Reply)
        }
        RecordKind::Assistant => RecordContent::Reply(anthropic::read_reply(&record.message())),
        RecordKind::User => {
            let message = record.message();
            let blocks = message.content.as_ref().map_or(&[][..], Content::blocks);
            RecordContent::User(anthropic::read_result_ids(blocks))
        }
        RecordKind::WrappedEvent => {
            Envelope::from_raw(record.event).map_or(RecordContent::Nothing, |it| event(&it))
        }
        RecordKind::StreamEvent => event(record),
        RecordKind::BareCall => anthropic::read_bare_call(record)
            .map_or(RecordContent::Nothing, RecordContent::BareCall),
        RecordKind::BareResult => RecordContent::User(vec![ResultId::new(record.tool_use_id)]),
        RecordKind::OpenaiAssistant => RecordContent::Reply(openai_chat::read_message(record)),
        RecordKind::OpenaiResult => RecordContent::User(vec![ResultId {
            id: text(record.tool_call_id),
            name: text(record.name.or(record.tool_name)),
        }]),
        RecordKind::Completion => {
            RecordContent::Reply(openai_chat::read_completion(record, reads_texts))
        }
        RecordKind::Ollama => RecordContent::Reply(ollama::read_reply(record)),
        RecordKind::Response => RecordContent::Reply(responses::read_response(record)),
        RecordKind::ResponseText if !reads_texts => RecordContent::Nothing,
        RecordKind::ResponseEvent | RecordKind::ResponseText => {
            RecordContent::Reply(responses::read_event(&kind.unwrap_or_default(), record))
        }
        RecordKind::ItemCall => RecordContent::Item(responses::read_item_call(record)),
        RecordKind::ItemResult => RecordContent::User(vec![ResultId::new(record.call_id)]),
        RecordKind::Content => {
            let message = record.message();
            if has_text(message.role, "model") {
                RecordContent::Reply(gemini::read_content(message.parts, non_empty(record.uuid)))
            } else {
                RecordContent::User(gemini::read_result_ids(message.parts))
            }
        }
        RecordKind::Candidates => RecordContent::Reply(gemini::read_candidates(record)),
        RecordKind::Failure => {
            let end = vec![Delta::End(End::from_reason("error"))];
            RecordContent::Reply(Chunk::single(None, Extent::More, end))
        }
        RecordKind::SessionResult => RecordContent::SessionResult,
        RecordKind::Executor => RecordContent::Executor,
        RecordKind::Interrupt => RecordContent::Interrupt,
        RecordKind::ControlResponse => RecordContent::ControlResponse,
        RecordKind::Other => RecordContent::Nothing,
    }
}

/// The part of a conversation in a record of an API.
#[derive(Debug)]
pub(crate) enum DialogContent<'a> {
    /// The model.
    Reply(Chunk<'a>),
    /// The user, with the names of the tools that results belong to.
    User(Vec<(Block, String)>),
    /// Instructions for the model.
    Instructions(String),
}

/// Reads the part of a conversation in a record. `None` if it is not a record of an API, but, for
/// example, a record of an agent that contains one.
pub(crate) fn read_conversation<'a>(record: &Envelope<'a>) -> Option<DialogContent<'a>> {
    let kind = text(record.kind);
    let record_kind = detect_kind(kind.as_deref(), record);
    let is_wrapped = record.message.is_some()
        && !matches!(record_kind, RecordKind::Ollama | RecordKind::StreamEvent);
    if is_wrapped || record.is_of_subagent() || record_kind == RecordKind::WrappedEvent {
        return None;
    }
    let without_names = |blocks: Vec<Block>| blocks.into_iter().map(|block| (block, String::new()));
    let blocks = match record_kind {
        RecordKind::User | RecordKind::ItemCall | RecordKind::ItemResult | RecordKind::Other
            if responses::is_item(record) =>
        {
            return responses::read_model_item(record)
                .map(DialogContent::Reply)
                .or_else(|| {
                    Some(DialogContent::User(
                        without_names(responses::read_user_item(record)?).collect(),
                    ))
                });
        }
        RecordKind::Assistant if responses::is_item(record) => {
            return responses::read_model_item(record).map(DialogContent::Reply);
        }
        RecordKind::User => {
            Content::from_raw(record.content)?;
            without_names(anthropic::read_blocks(record.content, BlockDetail::Full)).collect()
        }
        RecordKind::BareResult => without_names(anthropic::read_bare_result(record)).collect(),
        RecordKind::BareCall => {
            let call = anthropic::read_bare_call(record)?;
            let chunk = Chunk::single(None, Extent::Whole, vec![Delta::Call(call)]);
            return Some(DialogContent::Reply(chunk));
        }
        RecordKind::OpenaiResult => vec![openai_chat::read_result(record)],
        RecordKind::Content if !has_text(record.role, "model") => {
            gemini::read_blocks(record.parts, Signed::Anything)
        }
        RecordKind::Other
            if has_text(record.role, "system") || has_text(record.role, "developer") =>
        {
            Content::from_raw(record.content)?;
            let blocks = anthropic::read_blocks(record.content, BlockDetail::Full);
            let texts = blocks.iter().filter_map(Block::as_text);
            return Some(DialogContent::Instructions(
                texts.collect::<Vec<_>>().join("\n"),
            ));
        }
        RecordKind::Failure => return None,
        _ => match read_all(record) {
            RecordContent::Reply(chunk) => return Some(DialogContent::Reply(chunk)),
            _ => return None,
        },
    };
    Some(DialogContent::User(blocks))
}

/// Returns the kind of a record of the type `kind`.
pub(super) fn detect_kind(kind: Option<&str>, record: &Envelope<'_>) -> RecordKind {
    let Some(kind) = kind else {
        return detect_untyped_kind(record);
    };
    if let ("assistant" | "user" | "tool_result", Some(message)) = (kind, &record.message) {
        return match kind {
            _ if message.parts.is_some() => RecordKind::Content,
            "assistant" => RecordKind::Assistant,
            "user" => RecordKind::User,
            _ => RecordKind::Other,
        };
    }
    match kind {
        "tool_use" => RecordKind::BareCall,
        "tool_result" if non_empty(record.tool_use_id).is_some() => RecordKind::BareResult,
        _ if responses::CALLS.contains(&kind) => RecordKind::ItemCall,
        _ if responses::OUTPUTS.contains(&kind) && non_empty(record.call_id).is_some() => {
            RecordKind::ItemResult
        }
        "stream_event" => RecordKind::WrappedEvent,
        _ if anthropic::STREAM_EVENTS.contains(&kind) => RecordKind::StreamEvent,
        "message" => detect_untyped_kind(record),
        "result" => RecordKind::SessionResult,
        "response.output_item.done" if is_object(record.item) => RecordKind::ResponseEvent,
        "response.output_text.delta" | "response.reasoning_summary_text.delta" => {
            RecordKind::ResponseText
        }
        "response.created" | "response.completed" | "response.incomplete" | "response.failed"
            if is_object(record.response) =>
        {
            RecordKind::ResponseEvent
        }
        "system" if has_text(record.subtype, "executor") => RecordKind::Executor,
        "control_request" if is_interrupt_request(record) => RecordKind::Interrupt,
        "control_response" => RecordKind::ControlResponse,
        _ if kind == "error" || has_text(record.object, "error") => RecordKind::Failure,
        _ => RecordKind::Other,
    }
}

/// Returns the kind of a record without a type: a message, completion or response as an API returns it.
fn detect_untyped_kind(record: &Envelope<'_>) -> RecordKind {
    if is_array(record.choices) {
        return RecordKind::Completion;
    }
    if is_array(record.candidates) {
        return RecordKind::Candidates;
    }
    if has_text(record.object, "response") {
        return RecordKind::Response;
    }
    if let (Some(message), Some(_)) = (&record.message, record.done)
        && has_text(message.role, "assistant")
    {
        return RecordKind::Ollama;
    }
    match &*text(record.role).unwrap_or_default() {
        "model" | "user" | "function" | "tool" if is_array(record.parts) => RecordKind::Content,
        "assistant" if non_null(record.tool_calls.or(record.function_call)).is_some() => {
            RecordKind::OpenaiAssistant
        }
        "assistant" => RecordKind::Assistant,
        "user" => RecordKind::User,
        "tool" | "function" => RecordKind::OpenaiResult,
        _ if non_null(record.error).is_some() || has_text(record.object, "error") => {
            RecordKind::Failure
        }
        _ => RecordKind::Other,
    }
}

fn is_interrupt_request(record: &Envelope<'_>) -> bool {
    let request = Request::from_raw(record.request).unwrap_or_default();
    has_text(request.subtype, "interrupt")
}

/// Returns texts of which every record contains at least one if it can make an event, or if a decoder needs it to join
/// later records. By line of `needles.txt`: output of the model; streaming events of Anthropic;
/// results and prompts; ends, control and openings; other agents; and escapes that may occur in the name of
/// a member: of `$` and `.`, capital letters, `_`, and small letters.
pub fn prefilter_needles() -> &'static [&'static str] {
    static NEEDLES: LazyLock<Vec<&str>> =
        LazyLock::new(|| include_str!("needles.txt").split_whitespace().collect());
    &NEEDLES
}

/// Needles of text deltas, which make no event.
pub const TEXT_NEEDLES: [&str; 2] = ["\"content_block_delta\"", "\"response."];
