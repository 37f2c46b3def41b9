//! The outermost object of a record, with every member that identifies an API or an agent.
//!
//! A record is parsed once, before its API or agent is known.

use std::borrow::Cow;

use serde::de::SeqAccess;
use serde_json::value::RawValue;

use turnpipe_core::json::{Lenient, LenientVisitor, is_array, non_null, object, text};

object! {
    /// A record, one level deep.
    owned Envelope {
        kind = "type", subtype, role, message: Message<'a>, content, event, parent_tool_use_id,
        session_id, session_id_camel = "sessionId", session_id_opencode = "sessionID", thread_id,
        turnpipe, id, uuid, name, input, tool_use_id, choices, candidates,
        response_id = "responseId", parts, tool_calls, function_call, tool_call_id, stop_reason,
        index, content_block, delta, request, request_id, parent_uuid = "parentUuid",
        sidechain = "isSidechain", cwd, system_payload = "systemPayload",
        claude_version = "claude_code_version", qwen_version = "qwen_code_version", part, payload,
        call_id, tool_id, timestamp, record_type, instructions, project_hash = "projectHash",
        set = "$set", rewind_to = "$rewindTo", info, messages, parent_id = "parentId", is_error,
        call_result = "toolCallResult", preceding_tool_use_ids, item, response, object, output,
        status, incomplete_details, done, done_reason, tool_name, model, usage, arguments,
        reasoning_content, reasoning, summary, encrypted = "encrypted_content", error, agent,
    }
}

object! {
    /// A message inside a record, of any API.
    owned Message {
        role, id, model, content: Content<'a>, parts, stop_reason, usage, tool_calls, thinking,
    }
}

object! {
    /// A content block, or a delta of one.
    Block {
        kind = "type", id, name, input, tool_use_id, text, thinking, signature, data,
        thought_signature, content, is_error, source, partial_json,
    }
}

/// The content of a message. It is most of a record, and is parsed together with it.
#[derive(Debug, Clone)]
pub(crate) enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

impl<'a> LenientVisitor<'a> for Content<'a> {
    fn read_array<A: SeqAccess<'a>>(mut array: A) -> Result<Option<Self>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(Lenient(block)) = array.next_element::<Lenient<Block<'a>>>()? {
            blocks.push(block.unwrap_or_default());
        }
        Ok(Some(Self::Blocks(blocks)))
    }

    fn read_text(text: Cow<'a, str>) -> Option<Self> {
        Some(Self::Text(text))
    }
}

impl<'a> Content<'a> {
    /// Reads a value; `None` if it is neither a string nor an array.
    pub(crate) fn from_raw(raw: Option<&'a RawValue>) -> Option<Self> {
        match text(raw) {
            Some(text) => Some(Self::Text(text)),
            None => is_array(raw).then(|| Self::Blocks(Block::read_list(raw))),
        }
    }

    /// Returns the blocks, or none if the content is text.
    pub(crate) fn blocks(&self) -> &[Block<'a>] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }
}

impl<'a> Envelope<'a> {
    /// Whether the record belongs to a subagent's conversation.
    pub(crate) fn is_of_subagent(&self) -> bool {
        non_null(self.parent_tool_use_id).is_some()
    }

    /// Returns the message in the record, or the record as a message.
    pub(crate) fn message(&self) -> Cow<'_, Message<'a>> {
        match &self.message {
            Some(message) => Cow::Borrowed(message),
            None => Cow::Owned(Message {
                role: self.role,
                id: self.id,
                model: self.model,
                content: Content::from_raw(self.content),
                parts: self.parts,
                stop_reason: self.stop_reason,
                usage: self.usage,
                tool_calls: self.tool_calls,
                ..Message::default()
            }),
        }
    }
}
