//! Token counts of the Anthropic API.

use serde_json::value::RawValue;

use crate::agent::content::count;
use crate::json::object;
use crate::message::Usage;

object! {
    AnthropicTokens {
        input = "input_tokens", output = "output_tokens",
        cache_write = "cache_creation_input_tokens",
        cache_writes: CacheWrites<'a> = "cache_creation", cache_read = "cache_read_input_tokens",
        cost = "cost_usd",
    }
}

object! { CacheWrites { for_an_hour = "ephemeral_1h_input_tokens" } }

/// Token counts of the Anthropic API, and the cost that turnpipe adds if the server states it.
pub(in crate::agent) fn anthropic_usage(raw: Option<&RawValue>) -> Option<Usage> {
    let tokens = AnthropicTokens::of(raw)?;
    let for_an_hour = tokens.cache_writes.and_then(|writes| writes.for_an_hour);
    Some(Usage {
        input: count(tokens.input),
        output: count(tokens.output),
        cache_read: count(tokens.cache_read),
        cache_write: count(tokens.cache_write),
        cache_write_1h: count(for_an_hour).min(count(tokens.cache_write)),
        cost: tokens.cost.and_then(|cost| cost.get().parse().ok()),
        ..Usage::default()
    })
}
