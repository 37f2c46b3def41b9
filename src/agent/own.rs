//! The members that turnpipe adds to records in session files.

use serde_json::Value;
use serde_json::value::RawValue;

use super::content::{is_true, string};
use super::format::SideCost;
use super::title::{ManualTitle, TitleSource};
use crate::api::anthropic_usage;
use crate::json::{object, text};
use crate::message::Message;

object! { Extension { supersedes_manual, prompt_id, model = "model_used", usage, origin } }

/// Returns the source of a title. A record without a source is from the user.
pub(super) fn title_source(source: Option<&RawValue>) -> TitleSource {
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
pub(super) fn manual_title(turnpipe: Option<&RawValue>) -> ManualTitle {
    let extension = Extension::of(turnpipe).unwrap_or_default();
    ManualTitle::from(is_true(extension.supersedes_manual))
}

/// Returns the origin of a message in turnpipe's own files, if it is not the usual one.
pub(super) fn recorded_origin(turnpipe: Option<&RawValue>) -> Option<String> {
    string(Extension::of(turnpipe)?.origin)
}

/// Returns the cost of a request of turnpipe itself, unless a message in the record states it.
pub(super) fn side_cost_in(turnpipe: Option<&RawValue>, messages: &[Message]) -> Option<SideCost> {
    if messages.iter().any(|message| message.usage.is_some()) {
        return None;
    }
    let extension = Extension::of(turnpipe)?;
    Some(SideCost {
        id: None,
        prompt_id: string(extension.prompt_id),
        model: string(extension.model),
        usage: anthropic_usage(extension.usage).filter(|usage| !usage.is_empty())?,
    })
}
