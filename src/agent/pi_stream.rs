//! `pi --mode json`: every message is repeated when it is complete, and only that is read. Rows
//! with the output of tools and the message so far precede it.

use super::stream::{StreamConversation, blocks, call, part, parts};
use crate::json::{is, is_true, non_empty, number, object, text};
use crate::message::{Block as MessageBlock, Origin, Usage};

object! { Row { message: Said<'a> } }

object! {
    Said {
        role, content, model, usage, stop_reason = "stopReason", error = "errorMessage",
        time = "timestamp", call = "toolCallId", is_error = "isError",
    }
}

object! { Block { kind = "type", thinking, id, name, arguments } }
object! { Tokens { input, output, read = "cacheRead", write = "cacheWrite", cost } }
object! { Cost { total } }

/// Translates a row; `None` if it is of another type.
pub(super) fn row(kind: &str, row: &str, conversation: &mut StreamConversation) -> Option<()> {
    if kind == "agent_end" {
        conversation.end_run(None);
    }
    // Most rows repeat the whole message so far.
    if !matches!(kind, "message_start" | "message_end") {
        return None;
    }
    let said = Row::read(row)?.message?;
    conversation.set_time(said.time);
    match (kind, &*text(said.role)?) {
        ("message_start", "assistant") => {
            conversation.begin();
            conversation.message_start();
        }
        ("message_end", "assistant") => assistant(&said, conversation),
        ("message_end", "user") => conversation.prompt(blocks(said.content)),
        ("message_end", "toolResult") => {
            let parts = parts(said.content);
            conversation.result(&text(said.call)?, parts, is_true(said.is_error));
        }
        _ => return None,
    }
    Some(())
}

fn assistant(said: &Said<'_>, conversation: &mut StreamConversation) {
    let mut content = Vec::new();
    for raw in crate::json::elements(said.content) {
        let block = Block::of(Some(raw)).unwrap_or_default();
        match text(block.kind).as_deref() {
            Some("thinking") => {
                content.extend(text(block.thinking).map(MessageBlock::thinking));
            }
            Some("toolCall") => {
                let (id, name) = (text(block.id), text(block.name));
                let (id, name) = (id.unwrap_or_default(), name.unwrap_or_default());
                content.push(call(&id, &name, block.arguments));
            }
            _ => content.extend(part(raw).map(MessageBlock::from)),
        }
    }
    let failure = non_empty(said.error).filter(|_| is(said.stop_reason, "error"));
    let origin = if failure.is_some() {
        Origin::Error
    } else {
        Origin::Reply
    };
    content.extend(failure.map(|reason| MessageBlock::Text(reason.into_owned())));
    conversation.model = text(said.model).map(std::borrow::Cow::into_owned);
    let usage = Tokens::of(said.usage).as_ref().map(used);
    conversation.end(content, usage, text(said.stop_reason).as_deref(), origin);
}

fn used(tokens: &Tokens<'_>) -> Usage {
    let [input, output, read, write] = [tokens.input, tokens.output, tokens.read, tokens.write]
        .map(|count| number(count).unwrap_or_default());
    Usage {
        input,
        output,
        cache_read: read,
        cache_write: write,
        cost: Cost::of(tokens.cost).and_then(|cost| cost.total?.get().parse().ok()),
        ..Usage::default()
    }
}
