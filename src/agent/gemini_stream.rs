//! `gemini --output-format stream-json`: texts in fragments whose last one is not marked, calls and
//! results on separate lines, tokens at the end.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::stream::{StreamConversation, blocks};
use crate::json::{is, non_empty, number, object, text};
use crate::message::{Block, ResultPart, Usage};

object! {
    Row {
        role, content, time = "timestamp", model, id = "tool_id", name = "tool_name", parameters,
        output, status, error, message, stats,
    }
}

object! { Failure { message } }
object! { Stats { models, duration = "duration_ms" } }

object! {
    /// The tokens of one model, or of all.
    Tokens { total = "total_tokens", input = "input_tokens", cached }
}

/// The types of rows.
const KINDS: [&str; 6] = [
    "init",
    "message",
    "tool_use",
    "tool_result",
    "error",
    "result",
];

/// The state between rows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The open text.
    said: String,
}

impl Rows {
    /// Translates a row; `None` if it is of another type.
    pub(super) fn row(
        &mut self,
        kind: &str,
        row: &str,
        conversation: &mut StreamConversation,
    ) -> Option<()> {
        let row = Row::read(row)?;
        let is_reply = kind == "message" && is(row.role, "assistant");
        // No fragment of a text is marked as the last.
        if !is_reply && KINDS.contains(&kind) {
            self.end_text(conversation);
        }
        conversation.set_time(row.time);
        match kind {
            "init" => {
                conversation.model = text(row.model).map(Cow::into_owned);
                return None;
            }
            "message" if is(row.role, "user") => conversation.prompt(blocks(row.content)),
            "message" if is_reply => {
                let part = text(row.content)?;
                if !part.is_empty() {
                    conversation.part_of_text(&part, self.said.is_empty());
                    self.said.push_str(&part);
                }
            }
            "tool_use" => {
                conversation.call(&text(row.id)?, &text(row.name)?, row.parameters);
            }
            "tool_result" => {
                let failure = Failure::of(row.error).and_then(|failure| text(failure.message));
                let said = non_empty(row.output).or(failure).unwrap_or_default();
                let said = vec![ResultPart::Text(said.into_owned())];
                conversation.result(&text(row.id)?, said, is(row.status, "error"));
            }
            "error" => conversation.failure(&text(row.message)?),
            "result" => {
                if let Some(failure) = Failure::of(row.error) {
                    conversation.failure(&text(failure.message)?);
                }
                used(row.stats, conversation);
                conversation.end_run(text(row.status).as_deref());
                if let Some(end) = &mut conversation.end {
                    end.duration = Stats::of(row.stats).and_then(|stats| number(stats.duration));
                }
                // For readers of the stream, it also ends the session.
                return None;
            }
            _ => return None,
        }
        Some(())
    }

    /// Ends the open text.
    pub(super) fn end_text(&mut self, conversation: &mut StreamConversation) {
        if !self.said.is_empty() {
            let text = std::mem::take(&mut self.said);
            conversation.reply(vec![Block::Text(text)]);
        }
    }
}

/// Adds the tokens of each model in the whole run. The open message can have the tokens of one model.
fn used(stats: Option<&RawValue>, conversation: &mut StreamConversation) {
    let models = Stats::of(stats).and_then(|stats| stats.models);
    let models = models.and_then(|models| serde_json::from_str(models.get()).ok());
    let models: BTreeMap<String, &RawValue> = models.unwrap_or_default();
    if models.is_empty()
        && let Some(all) = Tokens::of(stats)
    {
        conversation.used(tokens(&all), None);
    }
    for (position, (model, used)) in models.into_iter().enumerate() {
        if position > 0 {
            conversation.begin();
        }
        conversation.model = Some(model);
        let used = Tokens::of(Some(used)).unwrap_or_default();
        conversation.used(tokens(&used), None);
    }
}

fn tokens(tokens: &Tokens<'_>) -> Usage {
    let [total, input, cached] =
        [tokens.total, tokens.input, tokens.cached].map(|count| number(count).unwrap_or_default());
    Usage {
        input: input.saturating_sub(cached),
        // Only the total includes thinking.
        output: total.saturating_sub(input),
        cache_read: cached,
        ..Usage::default()
    }
}
