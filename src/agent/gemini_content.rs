//! Token counts of the Gemini API, which Gemini CLI and Qwen Code record.

use serde_json::value::RawValue;

use super::content::count;
use crate::json::{number, object};
use crate::message::Usage;

object! {
    GeminiTokens {
        prompt = "promptTokenCount", candidates = "candidatesTokenCount",
        cached = "cachedContentTokenCount", total = "totalTokenCount",
    }
}

/// Token counts of the Gemini API. Cached tokens are part of the prompt count.
pub(super) fn gemini_usage(raw: Option<&RawValue>) -> Option<Usage> {
    let tokens = GeminiTokens::of(raw)?;
    let (prompt, cached) = (count(tokens.prompt), count(tokens.cached));
    let candidates = count(tokens.candidates);
    // Thoughts may or may not be included in the candidates' count. The total shows which.
    let output = match number(tokens.total) {
        Some(total) if total >= prompt + candidates => total - prompt,
        _ => candidates,
    };
    Some(Usage {
        input: prompt.saturating_sub(cached),
        output,
        cache_read: cached,
        ..Usage::default()
    })
}
