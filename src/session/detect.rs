//! Detects the agent that wrote a file by its content, not its name.

use super::Agent;
use super::content::is_in;
use crate::json::{is_object, non_null, object, text};

object! {
    Row {
        kind = "type", id, uuid, time = "timestamp", session = "sessionId", project = "projectHash",
        set = "$set", rewind_to = "$rewindTo", payload, instructions, record_type, cwd,
        parent = "parentUuid", parent_id = "parentId", message, system_payload = "systemPayload",
        provenance, messages,
    }
}

object! { Said { parts, content, role } }

/// Row types that only Claude Code writes.
const CLAUDE_KINDS: &str = "agent-name ai-title attachment bridge-session custom-title \
    file-history-delta file-history-snapshot last-prompt mode permission-mode pr-link progress \
    queue-operation relocated summary worktree-state";

/// Types of the bare items in old Codex files.
const CODEX_ITEMS: &str = "function_call function_call_output custom_tool_call local_shell_call";

/// The agent that wrote a record, if the record shows it.
pub(super) fn agent_of(record: &str) -> Option<Agent> {
    let row = Row::read(record)?;
    let kind = text(row.kind);
    let kind = kind.as_deref();
    let said = Said::of(row.message);
    if kind.is_some() && is_object(row.payload) || row.record_type.is_some() {
        return Some(Agent::Codex);
    }
    if kind.is_none() && row.instructions.is_some() && non_null(row.id).is_some() {
        return Some(Agent::Codex);
    }
    if kind.is_some_and(|kind| is_in(CODEX_ITEMS, kind)) && row.uuid.is_none() {
        return Some(Agent::Codex);
    }
    if kind == Some("session") && non_null(row.cwd).is_some() {
        return Some(Agent::Pi);
    }
    if row.parent_id.is_some() && row.id.is_some() && row.uuid.is_none() {
        return Some(Agent::Pi);
    }
    // With its messages in it, it is no record but a whole session.
    if row.project.is_some() && row.session.is_some() && row.messages.is_none()
        || row.set.is_some()
        || row.rewind_to.is_some()
        || kind == Some("gemini") && row.id.is_some()
    {
        return Some(Agent::Gemini);
    }
    if row.system_payload.is_some()
        || row.provenance.is_some() && row.uuid.is_some()
        || said.is_some_and(|said| said.parts.is_some()) && row.uuid.is_some()
    {
        return Some(Agent::Qwen);
    }
    if kind.is_some_and(|kind| is_in(CLAUDE_KINDS, kind)) {
        return Some(Agent::Claude);
    }
    let speaks = matches!(kind, Some("user" | "assistant" | "system"));
    let has_content = said.is_some_and(|said| said.content.is_some());
    let is_marked = row.parent.is_some() || row.session.is_some() || row.time.is_some();
    (speaks && is_marked && (has_content || kind == Some("system") && row.session.is_some()))
        .then_some(Agent::Claude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_is_known_by_its_records() {
        let rows = [
            (
                r#"{"type":"session_meta","payload":{"id":"x"}}"#,
                Some(Agent::Codex),
            ),
            (
                r#"{"id":"x","timestamp":"t","instructions":null}"#,
                Some(Agent::Codex),
            ),
            (r#"{"record_type":"state"}"#, Some(Agent::Codex)),
            (
                r#"{"type":"session","version":3,"id":"x","cwd":"/"}"#,
                Some(Agent::Pi),
            ),
            (
                r#"{"sessionId":"x","projectHash":"y"}"#,
                Some(Agent::Gemini),
            ),
            (r#"{"$set":{}}"#, Some(Agent::Gemini)),
            (
                r#"{"uuid":"u","type":"user","message":{"parts":[]}}"#,
                Some(Agent::Qwen),
            ),
            (
                r#"{"type":"summary","summary":"s","leafUuid":"u"}"#,
                Some(Agent::Claude),
            ),
            (
                r#"{"type":"user","parentUuid":null,"message":{"content":"x"}}"#,
                Some(Agent::Claude),
            ),
            (
                r#"{"type":"user","message":{"content":"x"},"session_id":"s"}"#,
                None,
            ),
            (
                r#"{"type":"system","subtype":"init","session_id":"s"}"#,
                None,
            ),
            (r#"{"v":1}"#, None),
            ("7", None),
        ];
        for (record, agent) in rows {
            assert_eq!(agent_of(record), agent, "{record}");
        }
    }
}
