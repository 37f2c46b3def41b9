//! Content in the form of the Gemini API.

use serde_json::value::RawValue;

use super::claude_content::{input_of, string};
use crate::dialog::{Block, Call, CallResult, Media, Part, Usage, exit_code};
use crate::wire::object::{number, object, text};

object! {
    Content {
        text = "text",
        thought = "thought",
        call = "functionCall",
        response = "functionResponse",
        inline = "inlineData",
        file = "fileData",
    }
}

object! {
    FunctionCall {
        id = "id",
        name = "name",
        args = "args",
    }
}

object! {
    FunctionResponse {
        id = "id",
        response = "response",
        parts = "parts",
    }
}

object! {
    Response {
        output = "output",
        error = "error",
        result = "result",
        content = "content",
    }
}

object! {
    Data {
        media_type = "mimeType",
        data = "data",
    }
}

object! {
    Tokens {
        prompt = "promptTokenCount",
        candidates = "candidatesTokenCount",
        thoughts = "thoughtsTokenCount",
        cached = "cachedContentTokenCount",
        total = "totalTokenCount",
    }
}

/// The blocks of a content: a string or a list of parts.
pub(super) fn blocks(raw: Option<&RawValue>) -> Vec<Block> {
    if let Some(content) = text(raw) {
        return vec![Block::Text(content.into_owned())];
    }
    let parts = Content::list(raw).into_iter();
    parts.filter_map(|part| block(&part)).collect()
}

fn block(part: &Content<'_>) -> Option<Block> {
    if let Some(said) = text(part.text) {
        let is_thought = part.thought.is_some_and(|raw| raw.get() == "true");
        return Some(if is_thought {
            Block::Thinking(said.into_owned())
        } else {
            Block::Text(said.into_owned())
        });
    }
    if let Some(call) = FunctionCall::of(part.call) {
        return Some(Block::Call(Call {
            id: string(call.id).unwrap_or_default(),
            name: string(call.name).unwrap_or_default(),
            input: input_of(call.args),
        }));
    }
    if let Some(response) = FunctionResponse::of(part.response) {
        return Some(Block::Result(result(&response)));
    }
    let data = Data::of(part.inline).or_else(|| Data::of(part.file))?;
    Some(Block::Media(Media {
        media_type: string(data.media_type).unwrap_or_default(),
        data: string(data.data),
    }))
}

fn result(function: &FunctionResponse<'_>) -> CallResult {
    let response = Response::of(function.response).unwrap_or_default();
    let error = string(response.error);
    let output = [response.output, response.result, response.content]
        .into_iter()
        .find_map(text)
        .map(std::borrow::Cow::into_owned);
    let told = error.clone().or(output).unwrap_or_else(|| {
        function
            .response
            .map_or_else(String::new, |raw| raw.get().to_owned())
    });
    let failed = error.is_some() || exit_code(&told).is_some_and(|code| code != 0);
    let mut parts = vec![Part::Text(told)];
    for block in blocks(function.parts) {
        match block {
            Block::Text(text) => parts.push(Part::Text(text)),
            Block::Media(media) => parts.push(Part::Media(media)),
            Block::Thinking(_) | Block::Call(_) | Block::Result(_) => {}
        }
    }
    CallResult {
        id: string(function.id).unwrap_or_default(),
        parts,
        failed,
    }
}

/// Token counts. What comes from a cache is a part of the prompt's count.
pub(super) fn usage(raw: Option<&RawValue>) -> Option<Usage> {
    let tokens = Tokens::of(raw)?;
    let count = |raw| number(raw).unwrap_or_default();
    let (prompt, cached) = (count(tokens.prompt), count(tokens.cached));
    let (candidates, thinking) = (count(tokens.candidates), count(tokens.thoughts));
    // Whether thoughts are counted among the candidates differs; the total tells.
    let output = match number(tokens.total) {
        Some(total) if total >= prompt + candidates => total - prompt,
        _ => candidates,
    };
    Some(Usage {
        input: prompt.saturating_sub(cached),
        output,
        cache_read: cached,
        thinking,
        ..Usage::default()
    })
}
