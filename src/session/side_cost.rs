//! What the services beside a conversation cost, where that stands in records that say nothing:
//! titles, and requests that came to nothing.

use memchr::memmem;

use super::claude_content::{string, usage};
use super::format::Format;
use crate::dialog::Usage;
use crate::wire::object::object;

object! {
    Row {
        time = "timestamp",
        turnpipe = "turnpipe",
    }
}

object! {
    Extension {
        prompt_id = "prompt_id",
        model = "model_used",
        usage = "usage",
    }
}

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SideCost {
    /// Under which prompt the tokens count.
    pub(super) prompt_id: Option<String>,
    /// The model.
    pub(super) model: Option<String>,
    /// When it was recorded, RFC 3339.
    pub(super) time: Option<String>,
    /// Tokens.
    pub(super) usage: Usage,
}

impl SideCost {
    /// The cost that a record of this format tells of, unless its message tells of it, too.
    pub(super) fn of(record: &str, format: &dyn Format) -> Option<Self> {
        memmem::find(record.as_bytes(), b"\"turnpipe\"")?;
        let row = Row::read(record)?;
        let extension = Extension::of(row.turnpipe)?;
        let usage = usage(extension.usage).filter(|usage| !usage.is_empty())?;
        let messages = format.messages(record);
        if messages.iter().any(|message| message.usage.is_some()) {
            return None;
        }
        Some(Self {
            prompt_id: string(extension.prompt_id),
            model: string(extension.model),
            time: string(row.time),
            usage,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Agent;

    #[test]
    fn only_what_no_message_tells_is_told() {
        let usage = r#""usage":{"input_tokens":7,"output_tokens":2}"#;
        let ours =
            format!(r#""turnpipe":{{"v":1,"model_used":"m","prompt_id":"session_title",{usage}}}"#);
        let title = format!(r#"{{"type":"ai-title","aiTitle":"x",{ours}}}"#);
        let cost = SideCost::of(&title, Agent::Claude.format()).unwrap();
        assert_eq!((cost.usage.input, cost.usage.output), (7, 2));
        assert_eq!(cost.prompt_id.as_deref(), Some("session_title"));
        assert_eq!(cost.model.as_deref(), Some("m"));
        let custom = format!(
            r#"{{"type":"system","subtype":"custom_title","timestamp":"2026-01-01T00:00:00Z","systemPayload":{{"customTitle":"x"}},{ours}}}"#
        );
        let cost = SideCost::of(&custom, Agent::Qwen.format()).unwrap();
        assert_eq!(cost.time.as_deref(), Some("2026-01-01T00:00:00Z"));
        let label = format!(r#"{{"type":"tool_use_summary","summary":"x",{ours}}}"#);
        let free = r#"{"type":"ai-title","aiTitle":"x","turnpipe":{"v":1}}"#;
        let quoted = format!(r#"{{"type":"ai-title","aiTitle":"x","o":{{{ours}}}}}"#);
        for record in [label.as_str(), free, &quoted] {
            assert_eq!(
                SideCost::of(record, Agent::Claude.format()),
                None,
                "{record}"
            );
        }
    }
}
