//! Content of the Anthropic and Gemini APIs, and helpers that all formats share.

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::format::Detail;
use crate::json::{non_empty, number, object, text};
use crate::message::{
    Block, Call, Media, Message, Origin, ResultPart, Role, Thought, ToolResult, Usage, split_typed,
};
use crate::view::exit_code;

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
        cost = "cost_usd",
    }
}

object! { CacheWrites { for_an_hour = "ephemeral_1h_input_tokens" } }

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

/// A string that is present and not empty.
pub(super) fn string(raw: Option<&RawValue>) -> Option<String> {
    non_empty(raw).map(std::borrow::Cow::into_owned)
}

/// A timestamp.
pub(super) fn time_in(raw: Option<&RawValue>) -> Option<Timestamp> {
    text(raw)?.parse().ok()
}

/// Whether the word is in a list of words separated by blanks.
pub(super) fn is_in(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

pub(super) fn is_true(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// A count, or 0 if it is absent.
pub(super) fn count(raw: Option<&RawValue>) -> u64 {
    number(raw).unwrap_or_default()
}

/// The input of a call, or the empty object if there is none.
pub(super) fn input_of(raw: Option<&RawValue>) -> Box<RawValue> {
    match raw {
        Some(raw) => raw.to_owned(),
        None => RawValue::from_string("{}".to_owned()).unwrap_or_default(),
    }
}

/// A message with a single text block.
pub(super) fn note(role: Role, origin: Origin, text: String) -> Message {
    message(role, origin, vec![Block::Text(text)])
}

/// A message with these blocks.
pub(super) fn message(role: Role, origin: Origin, blocks: Vec<Block>) -> Message {
    Message {
        blocks,
        ..Message::new(role, origin)
    }
}

/// Splits a user row into messages of one origin each: results, text that the agent injected, and
/// text that a person typed.
pub(super) fn user_messages(origin: Origin, content: Vec<Block>) -> Vec<Message> {
    if content.is_empty() {
        return vec![message(Role::User, origin, content)];
    }
    let is_result = |block: &Block| matches!(block, Block::Result(_));
    let is_text = |block: &Block| matches!(block, Block::Text(_));
    let (mut results, mut rest): (Vec<_>, Vec<_>) = content.into_iter().partition(is_result);
    if !results.is_empty() && !rest.iter().any(is_text) {
        results.append(&mut rest);
    }
    let (injected, own) = match origin {
        Origin::Prompt => split_typed(rest),
        _ => (Vec::new(), rest),
    };
    let parts = [
        (Origin::Results, results),
        (Origin::Injected, injected),
        (origin, own),
    ];
    let parts = parts.into_iter().filter(|(_, blocks)| !blocks.is_empty());
    parts
        .map(|(origin, blocks)| message(Role::User, origin, blocks))
        .collect()
}

/// The blocks that may be part of a result.
pub(super) fn result_parts(blocks: Vec<Block>) -> Vec<ResultPart> {
    let parts = blocks.into_iter().filter_map(|block| match block {
        Block::Text(text) => Some(ResultPart::Text(text)),
        Block::Media(media) => Some(ResultPart::Media(media)),
        Block::Thinking(_) | Block::Call(_) | Block::Result(_) => None,
    });
    parts.collect()
}

/// Whether the output of a shell tool reports a failure. Agents record such calls as successful.
pub(super) fn shell_failed(parts: &[ResultPart]) -> bool {
    let code = parts.iter().find_map(|part| match part {
        ResultPart::Text(text) => exit_code(text),
        ResultPart::Media(_) => None,
    });
    code.is_some_and(|code| code != 0)
}

/// Content blocks of the Anthropic API: a string or a list.
pub(super) fn anthropic_blocks(raw: Option<&RawValue>, detail: Detail) -> Vec<Block> {
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

/// Token counts of the Anthropic API, and the cost that turnpipe adds where a server tells it.
pub(super) fn anthropic_usage(raw: Option<&RawValue>) -> Option<Usage> {
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
