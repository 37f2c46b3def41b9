//! What a hook reads.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::HookEvent;

/// The members that all events of a run share.
#[derive(Debug, Clone)]
pub struct HookInput<'a> {
    /// The session.
    pub session_id: &'a str,
    /// The session file, if it is known.
    pub transcript: Option<&'a Path>,
    /// Where the run is.
    pub directory: &'a Path,
    /// The permission mode.
    pub mode: &'static str,
}

impl HookInput<'_> {
    /// The input for an event, with the event's own members.
    pub fn of(&self, event: HookEvent, members: Value) -> Value {
        let mut input = Map::new();
        let common = json!({
            "session_id": self.session_id,
            "transcript_path": self.transcript.unwrap_or(Path::new("")),
            "cwd": self.directory,
            "permission_mode": self.mode,
            "hook_event_name": event.name(),
        });
        for part in [common, members] {
            if let Value::Object(part) = part {
                input.extend(part);
            }
        }
        Value::Object(input)
    }
}
