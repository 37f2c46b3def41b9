//! Byte strings by which a line can be skipped without being parsed.

use std::sync::LazyLock;

/// At least one of these occurs in every record that makes events, or that a decoder needs to join
/// later ones. They are names and values of members together with their quotes. By line: what the
/// model said; streaming events of Anthropic; results and prompts; ends, control and openings; other
/// agents; and the escapes in which the name of a member may hide: of `$` and `.`, capital letters,
/// `_`, and small letters.
const OF_EVENTS: &str = r#"
    "assistant" "tool_use" "choices" "candidates" "parts" "response" "response.output_item.done"
    "message_start" "content_block_start" "partial_json" "content_block_stop" "message_delta" "message_stop"
    "user" "tool_result" "tool" "function"
    "result" "interrupt" "executor" "init" "session_start"
    "parentUuid" "parentId" "sessionID" "session_meta" "response_item" "event_msg" "turn_context"
    "call_id" "thread.started" "turn. "item. "record_type" "instructions" "projectHash"
    "$set" "$rewindTo" "gemini" "messages" "session" "agent_start" "turn_start" "message_update"
    "tool_execution_start" "message_end" "error"
    \u002 \u004 \u005 \u006 \u007
"#;

/// The needles of which at least one occurs in every record that can make an event, or that a
/// [`super::Decoder`] needs to join later ones, however it is spelled.
pub fn prefilter_needles() -> &'static [&'static str] {
    static NEEDLES: LazyLock<Vec<&str>> = LazyLock::new(|| OF_EVENTS.split_whitespace().collect());
    &NEEDLES
}

/// The needle of the deltas that make no event, but are parts of what the model said.
pub const API_MESSAGE_NEEDLE: &str = "\"content_block_delta\"";
