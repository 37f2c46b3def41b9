//! Byte strings by which a line can be passed over without being parsed.

/// Needles of which at least one occurs in every record that answers a call.
const RESULT_NEEDLES: [&str; 8] = [
    "\"tool_result\"",
    "\"tool_call_id\"",
    "\"functionResponse\"",
    "\\u002",
    "\\u004",
    "\\u005",
    "\\u006",
    "\\u007",
];

/// See [`prefilter_needles`]; for those who only look for results.
pub fn result_needles() -> &'static [&'static str] {
    &RESULT_NEEDLES
}

/// Needles of which at least one occurs in every record that has events or that a decoder must
/// see to join later ones. They are member names and values together with their quotes; the last
/// ones are the escapes in which such a name might hide.
const NEEDLES: [&str; 47] = [
    // What the model said, in any dialect.
    "\"assistant\"",
    "\"tool_use\"",
    "\"choices\"",
    "\"candidates\"",
    "\"parts\"",
    // Anthropic streaming events.
    "\"message_start\"",
    "\"content_block_start\"",
    "\"partial_json\"",
    "\"content_block_stop\"",
    "\"message_delta\"",
    "\"message_stop\"",
    // Results and prompts.
    "\"user\"",
    "\"tool_result\"",
    "\"tool_call_id\"",
    // Ends, control, openings.
    "\"result\"",
    "\"interrupt\"",
    "\"executor\"",
    "\"init\"",
    "\"session_start\"",
    // Other agents.
    "\"parentUuid\"",
    "\"parentId\"",
    "\"sessionID\"",
    "\"session_meta\"",
    "\"response_item\"",
    "\"event_msg\"",
    "\"turn_context\"",
    "\"call_id\"",
    "\"thread.started\"",
    "\"turn.",
    "\"item.",
    "\"record_type\"",
    "\"instructions\"",
    "\"projectHash\"",
    "\"$set\"",
    "\"$rewindTo\"",
    "\"gemini\"",
    "\"messages\"",
    "\"session\"",
    "\"agent_start\"",
    "\"turn_start\"",
    "\"message_update\"",
    "\"tool_execution_start\"",
    // `$` and `.`, capital letters, `_`, small letters.
    "\\u002",
    "\\u004",
    "\\u005",
    "\\u006",
    "\\u007",
];

/// Needles of which at least one occurs in every record that can yield an event, or that a
/// [`super::Decoder`] must see to join later ones, whatever its spelling: escapes of ASCII letters
/// are needles themselves.
pub fn prefilter_needles() -> &'static [&'static str] {
    &NEEDLES
}
