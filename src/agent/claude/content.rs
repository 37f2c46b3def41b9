//! Content blocks and token counts of the Anthropic API.

use serde_json::value::RawValue;

use crate::agent::content::{count, input_of, is_true, result_parts, string};
use crate::agent::format::Detail;
use crate::json::{object, text};
use crate::message::{Block, Call, Media, Thought, Tier, ToolResult, Usage};

object! {
    Anthropic {
        kind = "type", text, thinking, signature, data, thought_signature, id, name, input,
        tool_use_id, content, is_error, source,
    }
}

object! { Source { media_type, data } }

object! {
    AnthropicTokens {
        input = "input_tokens", output = "output_tokens",
        cache_write = "cache_creation_input_tokens",
        cache_writes: CacheWrites<'a> = "cache_creation", cache_read = "cache_read_input_tokens",
        cost = "cost_usd", speed, tier = "service_tier", region = "inference_geo",
        tools: ServerTools<'a> = "server_tool_use",
    }
}

object! { ServerTools { searches = "web_search_requests" } }
object! { CacheWrites { for_an_hour = "ephemeral_1h_input_tokens" } }

/// Content blocks of the Anthropic API: a string or a list.
pub(in crate::agent) fn anthropic_blocks(raw: Option<&RawValue>, detail: Detail) -> Vec<Block> {
    if let Some(content) = text(raw) {
        return vec![Block::Text(content.into_owned())];
    }
    let list = Anthropic::list(raw).into_iter();
    list.filter_map(|block| match text(block.kind)?.as_ref() {
        "text" => Some(Block::Text(text(block.text)?.into_owned())),
        "thinking" | "redacted_thinking" if detail == Detail::Activity => None,
        "thinking" => {
            let text = text(block.thinking)?.into_owned();
            Some(Block::Thinking(match string(block.signature) {
                Some(signature) => Thought::Signed { text, signature },
                None => Thought::Plain(text),
            }))
        }
        "redacted_thinking" => Some(Block::Thinking(Thought::Redacted {
            data: string(block.data).unwrap_or_default(),
        })),
        "tool_use" | "server_tool_use" => Some(Block::Call(Call {
            id: string(block.id)?,
            name: string(block.name).unwrap_or_default(),
            input: input_of(block.input.filter(|_| detail != Detail::Activity)),
            signature: string(block.thought_signature),
        })),
        "tool_result" => Some(Block::Result(ToolResult {
            id: string(block.tool_use_id)?,
            parts: match detail {
                Detail::Costs | Detail::Activity | Detail::Outline | Detail::Counts => Vec::new(),
                Detail::Full => result_parts(anthropic_blocks(block.content, detail)),
            },
            failed: is_true(block.is_error),
        })),
        "image" | "document" => {
            let source = Source::of(block.source).unwrap_or_default();
            Some(Block::Media(Media {
                media_type: string(source.media_type).unwrap_or_default(),
                data: string(source.data),
            }))
        }
        _ => None,
    })
    .collect()
}

/// Token counts of the Anthropic API, and the cost that turnpipe adds if the server states it.
pub(in crate::agent) fn anthropic_usage(raw: Option<&RawValue>) -> Option<Usage> {
    let tokens = AnthropicTokens::of(raw)?;
    let for_an_hour = tokens.cache_writes.and_then(|writes| writes.for_an_hour);
    let tier = match text(tokens.speed).as_deref() {
        Some("fast") => Tier::Fast,
        _ => Tier::of(&text(tokens.tier).unwrap_or_default()),
    };
    Some(Usage {
        input: count(tokens.input),
        output: count(tokens.output),
        cache_read: count(tokens.cache_read),
        cache_write: count(tokens.cache_write),
        cache_write_1h: count(for_an_hour).min(count(tokens.cache_write)),
        cost: tokens.cost.and_then(|cost| cost.get().parse().ok()),
        web_searches: count(tokens.tools.and_then(|tools| tools.searches)),
        tier,
        is_us_only: text(tokens.region).as_deref() == Some("us"),
        ..Usage::default()
    })
}
