//! Recognizes the agent that wrote a record, with one table for all agents.
//!
//! A sign *opens* if it is the first record of a stream or file; it *marks* if many or all records
//! carry it. Callers decide how to treat the stream of another agent.

use super::content::is_in;
use crate::api::Envelope;
use turnpipe_core::json::{is_object, non_empty, non_null, object, text};

/// Owner of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opening {
    /// `system/init` with a `turnpipe` key: turnpipe runs the calls.
    Ours,
    /// Another agent's stream or session file, with its name for the hint, e.g. `Codex stream`.
    Foreign(&'static str),
}

/// Evidence in a record about its stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sign {
    /// The opening record of a stream or file.
    Opens(Opening),
    /// A record that only one agent writes.
    Marks(&'static str),
    /// A record that other programs may write too; used without better evidence.
    Hints(&'static str),
}

const CLAUDE_FILE: &str = "Claude Code transcript";
pub(super) const CLAUDE_STREAM: &str = "Claude Code stream";
const QWEN_FILE: &str = "Qwen Code session";
pub(super) const QWEN_STREAM: &str = "Qwen Code stream";
const CODEX_FILE: &str = "Codex session";
pub(super) const CODEX_STREAM: &str = "Codex stream";
const GEMINI_FILE: &str = "Gemini CLI session";
pub(super) const GEMINI_STREAM: &str = "Gemini CLI stream";
pub(super) const OPENCODE_STREAM: &str = "opencode stream";
const OPENCODE_FILE: &str = "opencode export";
pub(crate) const PI_FILE: &str = "pi session";
pub(super) const ATIF_FILE: &str = "ATIF trajectory";
pub(super) const PI_STREAM: &str = "pi stream";
/// The output of `session show`.
pub(super) const PRINTED_SESSION: &str = "printed session";
pub(super) const UNNAMED_STREAM: &str = "another agent's stream";

/// A requirement on a record in addition to its type.
#[derive(Debug, Clone, Copy)]
enum Requires {
    Nothing,
    /// `payload`, an object.
    Payload,
    /// `session_id` without a subtype.
    SessionId,
    /// `call_id`.
    CallId,
    /// `id` and `timestamp`.
    IdAndTimestamp,
    /// `tool_id`.
    ToolId,
}

/// Rows of type, further requirement, whether it opens, and name.
const BY_TYPE: [(&str, Requires, bool, &str); 25] = [
    ("thread.started", Requires::Nothing, true, CODEX_STREAM),
    ("turn.started", Requires::Nothing, false, CODEX_STREAM),
    ("turn.completed", Requires::Nothing, false, CODEX_STREAM),
    ("turn.failed", Requires::Nothing, false, CODEX_STREAM),
    ("item.started", Requires::Nothing, false, CODEX_STREAM),
    ("item.updated", Requires::Nothing, false, CODEX_STREAM),
    ("item.completed", Requires::Nothing, false, CODEX_STREAM),
    ("session_meta", Requires::Payload, true, CODEX_FILE),
    ("response_item", Requires::Payload, false, CODEX_FILE),
    ("event_msg", Requires::Payload, false, CODEX_FILE),
    ("turn_context", Requires::Payload, false, CODEX_FILE),
    ("function_call", Requires::CallId, false, CODEX_FILE),
    ("function_call_output", Requires::CallId, false, CODEX_FILE),
    ("custom_tool_call", Requires::CallId, false, CODEX_FILE),
    ("local_shell_call", Requires::CallId, false, CODEX_FILE),
    ("init", Requires::SessionId, true, GEMINI_STREAM),
    ("tool_use", Requires::ToolId, false, GEMINI_STREAM),
    ("tool_result", Requires::ToolId, false, GEMINI_STREAM),
    ("gemini", Requires::IdAndTimestamp, false, GEMINI_FILE),
    ("session", Requires::IdAndTimestamp, true, PI_FILE),
    ("agent_start", Requires::Nothing, false, PI_STREAM),
    ("turn_start", Requires::Nothing, false, PI_STREAM),
    ("message_update", Requires::Nothing, false, PI_STREAM),
    ("message_end", Requires::Nothing, false, PI_STREAM),
    ("tool_execution_start", Requires::Nothing, false, PI_STREAM),
];

impl Requires {
    fn is_met_by(self, record: &Envelope<'_>) -> bool {
        match self {
            Self::Nothing => true,
            Self::Payload => is_object(record.payload),
            Self::SessionId => non_empty(record.session_id).is_some() && record.subtype.is_none(),
            Self::CallId => non_empty(record.call_id).is_some(),
            Self::IdAndTimestamp => is_stamped(record),
            Self::ToolId => non_empty(record.tool_id).is_some(),
        }
    }
}

/// Returns the sign of a record of the type `kind`.
pub(crate) fn detect_sign(kind: Option<&str>, record: &Envelope<'_>) -> Option<Sign> {
    match kind {
        None => detect_untyped(record),
        Some("system") => detect_system(record),
        Some(kind) => detect_by_type(kind, record).or_else(|| detect_by_members(kind, record)),
    }
}

fn detect_untyped(record: &Envelope<'_>) -> Option<Sign> {
    if non_null(record.record_type).is_some() {
        return Some(Sign::Marks(CODEX_FILE));
    }
    if record.instructions.is_some() && is_stamped(record) {
        return Some(Sign::Opens(Opening::Foreign(CODEX_FILE)));
    }
    if record.project_hash.is_some() && record.session_id_camel.is_some() {
        return Some(Sign::Opens(Opening::Foreign(GEMINI_FILE)));
    }
    if record.set.is_some() || record.rewind_to.is_some() {
        return Some(Sign::Marks(GEMINI_FILE));
    }
    (is_object(record.info) && record.messages.is_some())
        .then_some(Sign::Opens(Opening::Foreign(OPENCODE_FILE)))
}

fn is_stamped(record: &Envelope<'_>) -> bool {
    non_empty(record.id).is_some() && non_null(record.timestamp).is_some()
}

fn detect_by_type(kind: &str, record: &Envelope<'_>) -> Option<Sign> {
    BY_TYPE
        .iter()
        .find(|(known, requires, ..)| *known == kind && requires.is_met_by(record))
        .map(|&(_, _, opens, name)| {
            if opens {
                Sign::Opens(Opening::Foreign(name))
            } else {
                Sign::Marks(name)
            }
        })
}

fn detect_system(record: &Envelope<'_>) -> Option<Sign> {
    let subtype = text(record.subtype)?;
    let is_ours = non_null(record.turnpipe).is_some();
    let opening = match &*subtype {
        "init" | "session_start" if is_ours => Opening::Ours,
        "init" if record.parent_uuid.is_some() => Opening::Foreign(CLAUDE_FILE),
        "init" if record.claude_version.is_some() => Opening::Foreign(CLAUDE_STREAM),
        "init" if record.qwen_version.is_some() => Opening::Foreign(QWEN_STREAM),
        "init" => Opening::Foreign(UNNAMED_STREAM),
        "session_start" if record.agent.is_some() => Opening::Foreign(PRINTED_SESSION),
        "session_start" if record.parent_uuid.is_none() => Opening::Foreign(QWEN_STREAM),
        _ => return detect_by_members("system", record),
    };
    Some(Sign::Opens(opening))
}

fn detect_by_members(kind: &str, record: &Envelope<'_>) -> Option<Sign> {
    if record.parent_uuid.is_some() {
        let has_parts = record
            .message
            .as_ref()
            .is_some_and(|message| message.parts.is_some());
        let is_qwen = has_parts || record.system_payload.is_some();
        return Some(Sign::Marks(if is_qwen { QWEN_FILE } else { CLAUDE_FILE }));
    }
    let is_opencode = is_object(record.part) || kind == "error";
    if record.session_id_opencode.is_some() && is_opencode {
        return Some(Sign::Marks(OPENCODE_STREAM));
    }
    match kind {
        "message" if record.parent_id.is_some() && record.message.is_some() => {
            Some(Sign::Marks(PI_FILE))
        }
        "message" if has_response_items(record) => Some(Sign::Marks(CODEX_FILE)),
        "user" | "assistant" if record.message.is_some() && has_file_member(record) => {
            Some(Sign::Hints(CLAUDE_FILE))
        }
        _ => None,
    }
}

/// Whether a record has members that occur in transcripts, but not in streams.
fn has_file_member(record: &Envelope<'_>) -> bool {
    let members = [record.session_id_camel, record.sidechain, record.cwd];
    members.iter().any(Option::is_some)
}

object! {
    /// A block, by its type.
    Typed { kind = "type" }
}

/// Whether a record has blocks of the Responses API, which old files of Codex contain without a wrapper.
fn has_response_items(record: &Envelope<'_>) -> bool {
    Typed::read_list(record.content).iter().any(|block| {
        text(block.kind).is_some_and(|kind| kind == "output_text" || kind == "input_text")
    })
}

object! {
    /// The members by which [`super::Format`]s recognize their records.
    Row {
        kind = "type", id, uuid, time = "timestamp", session = "sessionId", project = "projectHash",
        set = "$set", rewind_to = "$rewindTo", payload, instructions, record_type, cwd,
        parent = "parentUuid", parent_id = "parentId", message: RowMessage<'a>,
        system_payload = "systemPayload", provenance, messages,
        role, data, info, schema_version, content, turnpipe, protocol = "protocol_version", created = "created_at",
        working_dir, message_count, content_json,
    }
}

object! { RowMessage { parts, content, role } }

impl Row<'_> {
    /// Whether the type is `kind`.
    pub(super) fn is_kind(&self, kind: &str) -> bool {
        text(self.kind).is_some_and(|known| known == kind)
    }

    /// Whether the type is one of these words.
    pub(super) fn is_one_of(&self, kinds: &str) -> bool {
        text(self.kind).is_some_and(|kind| is_in(kinds, &kind))
    }

    /// Whether the record has a message with content.
    pub(super) fn has_content(&self) -> bool {
        self.message
            .is_some_and(|message| message.content.is_some())
    }

    /// Whether the record has an id that is not null.
    pub(super) fn has_id(&self) -> bool {
        non_null(self.id).is_some()
    }
}
