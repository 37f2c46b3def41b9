//! Content parts and token counts of the Gemini API, which Gemini CLI and Qwen Code record.

use serde_json::value::RawValue;

use super::content::{count, input_of, is_true, result_parts, shell_failed, string};
use crate::json::{number, object, text};
use crate::message::{Block, Call, Media, ResultPart, ToolResult, Usage};

object! {
    Gemini {
        text, thought, signature = "thoughtSignature", call = "functionCall",
        response = "functionResponse", inline = "inlineData", file = "fileData",
    }
}

object! { FunctionCall { id, name, args } }
object! { FunctionResponse { id, response, parts } }
object! { Response { output, error, result, content } }
object! { Data { media_type = "mimeType", data } }

object! {
    GeminiTokens {
        prompt = "promptTokenCount", candidates = "candidatesTokenCount",
        cached = "cachedContentTokenCount", total = "totalTokenCount",
    }
}

/// Content blocks of the Gemini API: a string or a list of parts.
pub(super) fn gemini_blocks(raw: Option<&RawValue>) -> Vec<Block> {
    if let Some(content) = text(raw) {
        return vec![Block::Text(content.into_owned())];
    }
    let parts = Gemini::list(raw).into_iter();
    let blocks = parts.filter_map(|part| gemini_block(&part, is_true(part.thought)));
    blocks.collect()
}

/// The parts of a message of Qwen Code, which signs nothing but thoughts.
pub(super) fn qwen_blocks(raw: Option<&RawValue>) -> Vec<Block> {
    let parts = Gemini::list(raw).into_iter();
    let blocks = parts
        .filter_map(|part| gemini_block(&part, is_true(part.thought) || part.signature.is_some()));
    blocks.collect()
}

fn gemini_block(part: &Gemini<'_>, is_thought: bool) -> Option<Block> {
    if let Some(said) = text(part.text) {
        return Some(if is_thought {
            Block::thinking(said)
        } else {
            Block::Text(said.into_owned())
        });
    }
    if let Some(call) = FunctionCall::of(part.call) {
        return Some(Block::Call(Call {
            id: string(call.id).unwrap_or_default(),
            name: string(call.name).unwrap_or_default(),
            input: input_of(call.args),
            signature: string(part.signature),
        }));
    }
    if let Some(response) = FunctionResponse::of(part.response) {
        return Some(Block::Result(gemini_result(&response)));
    }
    let data = Data::of(part.inline).or_else(|| Data::of(part.file))?;
    Some(Block::Media(Media {
        media_type: string(data.media_type).unwrap_or_default(),
        data: string(data.data),
    }))
}

fn gemini_result(function: &FunctionResponse<'_>) -> ToolResult {
    let response = Response::of(function.response).unwrap_or_default();
    let error = string(response.error);
    let has_error = error.is_some();
    let output = [response.output, response.result, response.content]
        .into_iter()
        .find_map(|raw| Some(text(raw)?.into_owned()));
    let whole = || function.response.map(|raw| raw.get().to_owned());
    let answer = error.or(output).or_else(whole).unwrap_or_default();
    let mut parts = vec![ResultPart::Text(answer)];
    let failed = has_error || shell_failed(&parts);
    parts.extend(result_parts(gemini_blocks(function.parts)));
    ToolResult {
        id: string(function.id).unwrap_or_default(),
        parts,
        failed,
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
