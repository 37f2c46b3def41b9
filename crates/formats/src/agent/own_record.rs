//! The members that turnpipe adds to records in session files.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::content::{is_true, string};
use super::counting::{Repeats, SideCost};
use super::title::{ManualTitle, Title, TitleSource};
use super::title_format::NewRecord;
use crate::api::read_anthropic_usage;
use turnpipe_core::json::{object, text};
use turnpipe_core::message::Message;

object! { Extension { supersedes_manual, prompt_id, model = "model", usage, origin } }

/// Returns the source of a title. A record without a source is from the user.
pub(super) fn read_title_source(source: Option<&RawValue>) -> TitleSource {
    match text(source).as_deref() {
        Some("auto") => TitleSource::Auto,
        _ => TitleSource::Manual,
    }
}

/// Marks the record of an automatic title as such.
pub(super) fn with_title_source(mut record: Value, source: TitleSource) -> Value {
    if source != TitleSource::Manual {
        record["titleSource"] = "auto".into();
    }
    record
}

/// Whether a title record replaces a manual title.
pub(super) fn read_manual_title(turnpipe: Option<&RawValue>) -> ManualTitle {
    let extension = Extension::from_raw(turnpipe).unwrap_or_default();
    ManualTitle::from(is_true(extension.supersedes_manual))
}

/// Returns the origin of a message in turnpipe's own files, if it is not the usual one.
pub(super) fn read_origin(turnpipe: Option<&RawValue>) -> Option<String> {
    string(Extension::from_raw(turnpipe)?.origin)
}

/// Returns the cost of a request of turnpipe itself, unless a message in the record states it.
pub(super) fn read_side_cost(ours: Option<&RawValue>, messages: &[Message]) -> Option<SideCost> {
    if messages.iter().any(|message| message.usage.is_some()) {
        return None;
    }
    let extension = Extension::from_raw(ours)?;
    Some(SideCost {
        id: None,
        repeats: Repeats::Nothing,
        prompt_id: string(extension.prompt_id),
        model: string(extension.model),
        usage: read_anthropic_usage(extension.usage).filter(|usage| !usage.is_empty())?,
    })
}

/// Returns the members of every record of the conversation.
fn new_record(at: &NewRecord<'_>) -> Value {
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
pub fn new_message(
    at: &NewRecord<'_>,
    role: Value,
    message: Value,
    is_injected: bool,
    tool_use_result: Option<Value>,
) -> Value {
    let mut record = new_record(at);
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
pub fn new_recap(at: &NewRecord<'_>, recap: Value) -> Value {
    let mut record = new_record(at);
    record["type"] = "system".into();
    record["subtype"] = "away_summary".into();
    record["content"] = recap;
    record
}

/// Returns the members of a record of replaced results.
pub fn new_replacements(replacements: &Value) -> Value {
    json!({"type": "content-replacement", "replacements": replacements})
}

/// Returns the members of a title. Claude Code shows the last custom title, or else the last automatic one.
pub fn new_title(title: &Title, manual_title: ManualTitle) -> Value {
    let text = &title.text;
    if title.source != TitleSource::Manual && manual_title == ManualTitle::Keep {
        return json!({"type": "ai-title", "aiTitle": text});
    }
    with_title_source(
        json!({"type": "custom-title", "customTitle": text}),
        title.source,
    )
}

/// Returns a record outside of the conversation with these members.
pub fn into_side_record(at: &NewRecord<'_>, mut record: Value) -> Value {
    record["sessionId"] = at.session_id.into();
    record["uuid"] = at.uuid.into();
    record["timestamp"] = at.timestamp.into();
    record
}

/// Returns a title record of Claude Code.
pub(super) fn new_claude_title(at: &NewRecord<'_>, title: &Title, manual: ManualTitle) -> Value {
    let mut record = new_title(title, manual);
    record["sessionId"] = at.session_id.into();
    record
}
