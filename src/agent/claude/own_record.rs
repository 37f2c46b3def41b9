//! The records of turnpipe's own session files. They have the form of Claude Code, so that tools for
//! Claude Code can read them.

use serde_json::{Value, json};

use crate::agent::format::NewRecord;
use crate::agent::own::with_title_source;
use crate::agent::title::{ManualTitle, Title, TitleSource};

/// Returns the members of every record of the conversation.
fn base(at: &NewRecord<'_>) -> Value {
    let mut record = json!({
        "parentUuid": at.parent,
        "isSidechain": false,
        "userType": "external",
        "cwd": at.directory,
        "sessionId": at.session_id,
        "version": env!("CARGO_PKG_VERSION"),
        "uuid": at.uuid,
        "timestamp": at.timestamp,
    });
    if let Some(branch) = at.branch {
        record["gitBranch"] = branch.into();
    }
    record
}

/// Returns a message of this role. `is_injected` marks a message that the user did not type.
pub fn message(
    at: &NewRecord<'_>,
    role: Value,
    message: Value,
    is_injected: bool,
    tool_use_result: Option<Value>,
) -> Value {
    let mut record = base(at);
    record["type"] = role;
    record["message"] = message;
    if is_injected {
        record["isMeta"] = true.into();
    }
    if let Some(output) = tool_use_result {
        record["toolUseResult"] = output;
    }
    record
}

/// Returns a recap.
pub fn recap(at: &NewRecord<'_>, recap: Value) -> Value {
    let mut record = base(at);
    record["type"] = "system".into();
    record["subtype"] = "away_summary".into();
    record["content"] = recap;
    record
}

/// Returns the members of a record of replaced results.
pub fn replacements(replacements: &Value) -> Value {
    json!({"type": "content-replacement", "replacements": replacements})
}

/// Returns the members of an automatic title.
pub fn title(title: &Value, is_superseding: bool) -> Value {
    if is_superseding {
        json!({"type": "custom-title", "customTitle": title, "titleSource": "auto"})
    } else {
        json!({"type": "ai-title", "aiTitle": title})
    }
}

/// Returns a record outside of the conversation with these members.
pub fn aside(at: &NewRecord<'_>, mut record: Value) -> Value {
    record["sessionId"] = at.session_id.into();
    record["uuid"] = at.uuid.into();
    record["timestamp"] = at.timestamp.into();
    record
}

/// Returns a title. Claude Code shows the last custom title, or else the last automatic one.
pub(super) fn title_record(at: &NewRecord<'_>, title: &Title, manual_title: ManualTitle) -> Value {
    let (id, text) = (at.session_id, &title.text);
    if title.source != TitleSource::Manual && manual_title == ManualTitle::Keep {
        return json!({"type": "ai-title", "aiTitle": text, "sessionId": id});
    }
    let record = json!({"type": "custom-title", "customTitle": text, "sessionId": id});
    with_title_source(record, title.source)
}
