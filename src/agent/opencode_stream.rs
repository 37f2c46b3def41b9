//! `opencode run --format json`: a row for each finished part of a message. A call comes with its
//! result.

use super::stream::StreamConversation;
use crate::json::{is, non_empty, non_null, number, object, text};
use crate::message::{Block, Media, ResultPart, Usage};

object! { Row { time = "timestamp", part, error } }

object! {
    Part { id, message = "messageID", text, tool, call = "callID", state, reason, tokens, cost }
}

object! { State { status, input, output, error, metadata, attachments } }
object! { Metadata { exit } }
object! { Attachment { media_type = "mime", address = "url" } }
object! { Tokens { input, output, reasoning, cache } }
object! { Cache { read, write } }
object! { Failure { name, message, data } }

/// Translates a row; `None` if it is of another type.
pub(super) fn row(kind: &str, row: &str, conversation: &mut StreamConversation) -> Option<()> {
    let row = Row::read(row)?;
    conversation.set_time(row.time);
    if kind == "error" {
        let failure = Failure::of(row.error)?;
        let inner = Failure::of(failure.data).unwrap_or_default().message;
        conversation.failure(&text(inner.or(failure.message).or(failure.name))?);
        conversation.end_run(Some("error"));
        return Some(());
    }
    let part = Part::of(row.part)?;
    if let Some(id) = non_empty(part.message) {
        conversation.continue_message(&id);
    }
    let said = || Some(text(part.text)?.into_owned());
    match kind {
        "text" => conversation.reply(vec![Block::Text(said()?)]),
        "reasoning" => conversation.reply(vec![Block::thinking(said()?)]),
        "tool_use" => {
            let state = State::of(part.state).unwrap_or_default();
            let id = text(non_null(part.call).or(part.id))?;
            conversation.call(&id, &text(part.tool)?, state.input);
            // A running call has no result yet.
            if !is(state.status, "running") {
                conversation.result(&id, result(&state), has_failed(&state));
            }
        }
        "step_finish" => {
            let reason = text(part.reason);
            conversation.used(used(&part), reason.as_deref());
            if reason.as_deref() != Some("tool-calls") {
                conversation.end_run(None);
            }
        }
        _ => return None,
    }
    Some(())
}

fn result(state: &State<'_>) -> Vec<ResultPart> {
    let said = text(state.output.or(state.error)).unwrap_or_default();
    let images = Attachment::list(state.attachments).into_iter();
    let images = images.filter_map(|attachment| {
        let address = text(attachment.address)?;
        let (_, data) = address.strip_prefix("data:")?.split_once(";base64,")?;
        Some(ResultPart::Media(Media {
            media_type: text(attachment.media_type)?.into_owned(),
            data: Some(data.to_owned()),
        }))
    });
    std::iter::once(ResultPart::Text(said.into_owned()))
        .chain(images)
        .collect()
}

/// Whether a call failed. opencode marks a failed command as completed.
fn has_failed(state: &State<'_>) -> bool {
    let metadata = Metadata::of(state.metadata).unwrap_or_default();
    let is_zero = |code: &serde_json::value::RawValue| matches!(code.get(), "0" | "null");
    is(state.status, "error") || !metadata.exit.is_none_or(is_zero)
}

fn used(part: &Part<'_>) -> Usage {
    let tokens = Tokens::of(part.tokens).unwrap_or_default();
    let cache = Cache::of(tokens.cache).unwrap_or_default();
    let [input, output, reasoning, read, write] = [
        tokens.input,
        tokens.output,
        tokens.reasoning,
        cache.read,
        cache.write,
    ]
    .map(|count| number(count).unwrap_or_default());
    Usage {
        input,
        output: output + reasoning,
        cache_read: read,
        cache_write: write,
        cost: part.cost.and_then(|cost| cost.get().parse().ok()),
        ..Usage::default()
    }
}
