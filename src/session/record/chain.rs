//! The chain of messages in a transcript: each names its parent.

use crate::json::{non_empty, object};

/// The end of the live conversation.
#[derive(Debug, Clone, Default)]
pub(super) struct Chain {
    /// The id of the last message.
    pub(super) leaf: Option<String>,
}

object! {
    /// A row; those of pi have the members that stand last.
    Link { uuid, parent = "parentUuid", sidechain = "isSidechain", id, parent_id = "parentId" }
}

impl Chain {
    /// Follows a line of the file. A record without a field for its parent is no part of the chain.
    pub(super) fn follow(&mut self, line: &str) {
        let Some(record) = Link::read(line) else {
            return;
        };
        let is_side = record.sidechain.is_some_and(|raw| raw.get() == "true");
        let uuid = non_empty(record.uuid).filter(|_| record.parent.is_some() && !is_side);
        let id = non_empty(record.id).filter(|_| record.parent_id.is_some());
        if let Some(leaf) = uuid.or(id) {
            self.leaf = Some(leaf.into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leaf_is_the_last_message_of_the_main_conversation() {
        let mut chain = Chain::default();
        for line in [
            r#"{"type":"user","parentUuid":null,"uuid":"a","sessionId":"s"}"#,
            r#"{"type":"assistant","parentUuid":"a","uuid":"b","sessionId":"s"}"#,
            r#"{"type":"ai-title","aiTitle":"x","sessionId":"s"}"#,
            r#"{"type":"tool_use_summary","summary":"x","uuid":"z"}"#,
            r#"{"type":"assistant","parentUuid":"b","uuid":"side","isSidechain":true}"#,
            "{torn",
        ] {
            chain.follow(line);
        }
        assert_eq!(chain.leaf.as_deref(), Some("b"));
    }
}
