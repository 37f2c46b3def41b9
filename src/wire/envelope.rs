//! The outermost object of a record, with every member that identifies a dialect or an agent.

use super::anthropic::{Message, StreamEvent};
use crate::json::object;

object! {
    /// A record, one level deep.
    Envelope {
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
        status, incomplete_details, done, done_reason, tool_name,
    }
}

impl<'a> Envelope<'a> {
    /// The members that a bare Anthropic message has.
    pub(super) fn as_message(&self) -> Message<'a> {
        Message {
            role: self.role,
            id: self.id,
            parts: self.parts,
            stop_reason: self.stop_reason,
            tool_calls: self.tool_calls,
        }
    }

    /// The members that a bare streaming event has.
    pub(super) fn as_stream_event(&self) -> StreamEvent<'a> {
        StreamEvent {
            kind: self.kind,
            message: self.message,
            index: self.index,
            content_block: self.content_block,
            delta: self.delta,
        }
    }
}
