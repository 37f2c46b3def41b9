//! The outermost object of a record, with every member that identifies a dialect or an agent.

use super::anthropic::{Message, StreamEvent};
use super::object::object;

object! {
    /// A record, one level deep.
    Envelope {
        kind = "type", subtype = "subtype", role = "role", message: Message<'a> = "message",
        content = "content", event = "event", parent_tool_use_id = "parent_tool_use_id",
        session_id = "session_id", session_id_camel = "sessionId",
        session_id_opencode = "sessionID", thread_id = "thread_id", turnpipe = "turnpipe", id = "id", uuid = "uuid",
        name = "name", input = "input", tool_use_id = "tool_use_id", choices = "choices",
        candidates = "candidates", response_id = "responseId", parts = "parts",
        tool_calls = "tool_calls", function_call = "function_call", tool_call_id = "tool_call_id",
        stop_reason = "stop_reason", index = "index", content_block = "content_block",
        delta = "delta", request = "request", request_id = "request_id",
        parent_uuid = "parentUuid", sidechain = "isSidechain", cwd = "cwd",
        system_payload = "systemPayload", claude_version = "claude_code_version",
        qwen_version = "qwen_code_version", part = "part", payload = "payload",
        call_id = "call_id", tool_id = "tool_id", timestamp = "timestamp",
        record_type = "record_type", instructions = "instructions", project_hash = "projectHash",
        set = "$set", rewind_to = "$rewindTo", info = "info", messages = "messages",
        parent_id = "parentId", is_error = "is_error", call_result = "toolCallResult",
        preceding_tool_use_ids = "preceding_tool_use_ids",
        item = "item", response = "response", object = "object", output = "output",
        status = "status", incomplete_details = "incomplete_details", done = "done",
        done_reason = "done_reason", tool_name = "tool_name",
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
