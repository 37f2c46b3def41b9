//! What stands in records besides calls: what results say, and what the model says aloud.
//!
//! Events tell that there is a result; few stages want to know more, and those ask here.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::object::{given, object, text};

object! {
    /// The members of a record that hold contents.
    Holder {
        kind = "type",
        role = "role",
        message = "message",
        content = "content",
        event = "event",
        delta = "delta",
        parts = "parts",
        choices = "choices",
        candidates = "candidates",
        tool_use_id = "tool_use_id",
        is_error = "is_error",
        call_result = "toolCallResult",
        sidechain = "isSidechain",
        parent_tool_use_id = "parent_tool_use_id",
        cwd = "cwd",
    }
}

object! {
    /// A block of a message or a part of a content.
    Block {
        kind = "type",
        text = "text",
        thought = "thought",
        content = "content",
        is_error = "is_error",
        response = "functionResponse",
    }
}

object! {
    /// A response to a function call.
    Response {
        response = "response",
    }
}

object! {
    /// What is inside of the response.
    Inner {
        output = "output",
        error = "error",
    }
}

object! {
    /// How Qwen Code says that a call ended.
    CallResult {
        status = "status",
    }
}

/// What a result says.
#[derive(Debug, Clone)]
pub struct ResultContent<'a> {
    /// What the model gets, as JSON; `None` if there is nothing.
    pub content: Option<&'a RawValue>,
    /// Whether it says that the call failed.
    pub failed: bool,
}

/// What stands in a record, read once for all questions.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    holder: Holder<'a>,
    /// The message in it, if it has one.
    message: Option<Holder<'a>>,
}

impl<'a> Contents<'a> {
    /// Those of a record; `None` if it is no object.
    pub fn of(record: &'a RawValue) -> Option<Self> {
        let holder = Holder::of_record(record.get())?;
        let message = Holder::of(holder.message);
        Some(Self { holder, message })
    }

    /// Whether the record is of a subagent's conversation, in a transcript.
    pub fn is_sidechain(&self) -> bool {
        is_true(self.holder.sidechain)
    }

    /// The working directory.
    pub fn directory(&self) -> Option<String> {
        text(self.holder.cwd).map(Cow::into_owned)
    }

    /// The results, in the order of their events.
    pub fn results(&self) -> Vec<ResultContent<'a>> {
        let holder = &self.holder;
        let is_bare = is(holder.kind, "tool_result") && holder.tool_use_id.is_some();
        if is_bare || is(holder.role, "tool") {
            return vec![ResultContent {
                content: given(holder.content),
                failed: is_true(holder.is_error),
            }];
        }
        let failed = CallResult::of(holder.call_result)
            .and_then(|result| text(result.status))
            .is_some_and(|status| status != "success");
        let message = self.message.unwrap_or(*holder);
        let of_parts = Block::list(message.parts.or(holder.parts))
            .into_iter()
            .filter_map(|part| {
                let response = Response::of(part.response)?;
                let has_error = Inner::of(response.response)
                    .is_some_and(|inner| inner.error.is_some() && inner.output.is_none());
                Some(ResultContent {
                    content: given(response.response),
                    failed: failed || has_error,
                })
            });
        let of_blocks = Block::list(message.content)
            .into_iter()
            .filter(|block| is(block.kind, "tool_result"))
            .map(|block| ResultContent {
                content: given(block.content),
                failed: is_true(block.is_error),
            });
        of_blocks.chain(of_parts).collect()
    }

    /// What the model of the main conversation says, if anything.
    pub fn aloud(&self) -> Option<Aloud> {
        let holder = &self.holder;
        if given(holder.parent_tool_use_id).is_some() || self.is_sidechain() {
            return None;
        }
        let event = Holder::of(holder.event).unwrap_or(*holder);
        if is(event.kind, "content_block_delta") {
            let delta = Block::of(event.delta)?;
            return text(delta.text).map(|more| Aloud::More(more.into_owned()));
        }
        if let Some(choice) = Holder::list(holder.choices).first() {
            if let Some(delta) = Holder::of(choice.delta) {
                return text(delta.content).map(|more| Aloud::More(more.into_owned()));
            }
            let message = Holder::of(choice.message)?;
            return text(message.content).map(|said| Aloud::Whole(said.into_owned()));
        }
        if let Some(candidate) = Holder::list(holder.candidates).first() {
            let content = Holder::of(candidate.content)?;
            return Some(Aloud::More(texts(&Block::list(content.parts))));
        }
        let message = self.message.unwrap_or(*holder);
        let is_from_model = is(holder.kind, "assistant")
            || is(message.role, "assistant")
            || is(message.role, "model");
        if !is_from_model {
            return None;
        }
        let said = match text(message.content) {
            Some(said) => said.into_owned(),
            None => texts(&Block::list(
                message.content.or(message.parts).or(holder.parts),
            )),
        };
        (!said.is_empty()).then_some(Aloud::Whole(said))
    }
}

/// The text of a result: of blocks the texts, a line each; of an object its output.
pub fn result_text(content: Option<&RawValue>) -> Cow<'_, str> {
    let Some(raw) = content else {
        return Cow::Borrowed("");
    };
    match raw.get().as_bytes().first() {
        Some(b'"') => text(Some(raw)).unwrap_or_default(),
        Some(b'[') => {
            let blocks = Block::list(Some(raw));
            let texts: Vec<Cow<'_, str>> =
                blocks.iter().filter_map(|block| text(block.text)).collect();
            Cow::Owned(texts.join("\n"))
        }
        Some(b'{') => {
            let inner = Inner::of(Some(raw)).unwrap_or_default();
            match inner.output.or(inner.error) {
                Some(output) => text(Some(output)).unwrap_or_else(|| Cow::Borrowed(output.get())),
                None => Cow::Borrowed(raw.get()),
            }
        }
        _ => Cow::Borrowed(raw.get()),
    }
}

/// What the model says aloud in a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Aloud {
    /// All of it, or a whole part.
    Whole(String),
    /// More of what came before.
    More(String),
}

fn texts(blocks: &[Block<'_>]) -> String {
    let said = blocks.iter().filter(|block| {
        !is_true(block.thought) && (block.kind.is_none() || is(block.kind, "text"))
    });
    said.filter_map(|block| text(block.text)).collect()
}

fn is(raw: Option<&RawValue>, name: &str) -> bool {
    text(raw).is_some_and(|given| given == name)
}

fn is_true(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_dialects_are_read() {
        let table = [
            (
                r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a\nb","is_error":true}]}}"#,
                "a\nb",
                true,
            ),
            (
                r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}}"#,
                "a\nb",
                false,
            ),
            (
                r#"{"type":"tool_result","tool_use_id":"1","content":"a"}"#,
                "a",
                false,
            ),
            (
                r#"{"role":"tool","tool_call_id":"1","content":"a"}"#,
                "a",
                false,
            ),
            (
                r#"{"role":"user","parts":[{"functionResponse":{"id":"1","name":"x","response":{"output":"a"}}}]}"#,
                "a",
                false,
            ),
            (
                r#"{"role":"user","parts":[{"functionResponse":{"name":"x","response":{"error":"a"}}}]}"#,
                "a",
                true,
            ),
            (
                r#"{"type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"1","name":"x","response":{"output":"a"}}}]},"toolCallResult":{"status":"error"}}"#,
                "a",
                true,
            ),
        ];
        for (record, said, failed) in table {
            let raw: &RawValue = serde_json::from_str(record).unwrap();
            let contents = Contents::of(raw).unwrap().results();
            assert_eq!(contents.len(), 1, "{record}");
            assert_eq!(result_text(contents[0].content), said, "{record}");
            assert_eq!(contents[0].failed, failed, "{record}");
        }
    }

    #[test]
    fn what_the_model_says_is_read() {
        let whole = |text: &str| Some(Aloud::Whole(text.to_owned()));
        let more = |text: &str| Some(Aloud::More(text.to_owned()));
        let table = [
            (
                r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"a"}]}}"#,
                whole("a"),
            ),
            (
                r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}}"#,
                more("a"),
            ),
            (r#"{"choices":[{"delta":{"content":"a"}}]}"#, more("a")),
            (r#"{"role":"assistant","content":"a"}"#, whole("a")),
            (
                r#"{"role":"model","parts":[{"text":"x","thought":true},{"text":"a"}]}"#,
                whole("a"),
            ),
            (
                r#"{"type":"user","message":{"role":"user","content":"a"}}"#,
                None,
            ),
            (
                r#"{"type":"assistant","parent_tool_use_id":"t","message":{"role":"assistant","content":"a"}}"#,
                None,
            ),
        ];
        for (record, expected) in table {
            let raw: &RawValue = serde_json::from_str(record).unwrap();
            assert_eq!(Contents::of(raw).unwrap().aloud(), expected, "{record}");
        }
    }
}
