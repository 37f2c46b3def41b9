//! The members that distinguish agents. Each agent's file has its rule (`Format::wrote`).

use super::content::is_in;
use crate::json::{non_null, object, text};

object! {
    Row {
        kind = "type", id, uuid, time = "timestamp", session = "sessionId", project = "projectHash",
        set = "$set", rewind_to = "$rewindTo", payload, instructions, record_type, cwd,
        parent = "parentUuid", parent_id = "parentId", message: RowMessage<'a>,
        system_payload = "systemPayload", provenance, messages,
        role, data, info,
    }
}

object! { RowMessage { parts, content, role } }

impl Row<'_> {
    /// Whether the type is `kind`.
    pub(super) fn is(&self, kind: &str) -> bool {
        text(self.kind).is_some_and(|known| known == kind)
    }

    /// Whether the type is one of these words.
    pub(super) fn is_any(&self, kinds: &str) -> bool {
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
