//! The chain of messages in a transcript: each names its parent.

use serde::Deserialize;

/// The end of the live conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain {
    leaf: Option<String>,
    session: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Link {
    uuid: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
    session_id: Option<String>,
    /// Distinguished from an absent field: a record without the field is not part of the chain.
    #[serde(default, deserialize_with = "present")]
    parent_uuid: Presence,
    /// In pi's rows.
    id: Option<String>,
    #[serde(default, deserialize_with = "present")]
    parent_id: Presence,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Presence {
    #[default]
    Absent,
    Present,
}

fn present<'de, Source: serde::Deserializer<'de>>(
    source: Source,
) -> Result<Presence, Source::Error> {
    serde::de::IgnoredAny::deserialize(source).map(|_| Presence::Present)
}

impl Chain {
    /// Follows a line of the file. Lines of other kinds change nothing.
    pub fn follow(&mut self, line: &str) {
        let Ok(found) = serde_json::from_str::<Link>(line) else {
            return;
        };
        if let Some(session) = found.session_id {
            self.session.get_or_insert(session);
        }
        if found.parent_uuid == Presence::Present && !found.is_sidechain && found.uuid.is_some() {
            self.leaf = found.uuid;
        } else if found.parent_id == Presence::Present && found.id.is_some() {
            self.leaf = found.id;
        }
    }

    /// The last message, if there is one.
    pub fn leaf(&self) -> Option<&str> {
        self.leaf.as_deref()
    }

    /// The session id in the file.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    pub(super) fn append(&mut self, uuid: &str) -> Option<String> {
        self.leaf.replace(uuid.to_owned())
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
        assert_eq!(chain.leaf(), Some("b"));
        assert_eq!(chain.session(), Some("s"));
    }
}
