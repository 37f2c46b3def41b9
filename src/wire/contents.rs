//! What stands in records apart from calls: the contents of results, and the text of the model.
//!
//! Events say that there is a result; the few stages that need more read it here.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde::de::{MapAccess, SeqAccess};
use serde_json::value::RawValue;

use super::anthropic::{Block, Message};
use super::envelope::Envelope;
use crate::json::{
    Member, Members, Object, Perhaps, Wanted, elements, is, is_array, is_true, non_null, object,
    read, text, unescaped,
};
use crate::message::ToolUseId;

object! {
    /// The members that hold contents in the inner objects of a record.
    Holder { kind = "type", role, message, content, delta, parts }
}

object! {
    /// A response to a function call.
    Response { response }
}

object! {
    /// The value of the response.
    Inner { output, error }
}

object! {
    /// How Qwen Code says that a call ended.
    CallResult { status }
}

/// The contents of a result in the input.
#[derive(Debug, Clone)]
pub struct ResultBody<'a> {
    /// What the model gets, as JSON.
    pub content: Option<&'a RawValue>,
    /// Whether it says that the call failed.
    pub failed: bool,
}

/// What stands in a record, read once.
#[derive(Debug, Clone, Default)]
pub struct Contents<'a> {
    pub(super) record: Envelope<'a>,
    /// The blocks of the message.
    blocks: OnceCell<Vec<Block<'a>>>,
    /// The text of a wrapped message that has no blocks.
    text: Option<Cow<'a, str>>,
}

/// A message in a record of its own, and its content.
#[derive(Default)]
struct Wrapped<'a> {
    message: Message<'a>,
    content: Option<Content<'a>>,
}

/// What a message holds.
enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

impl<'a> Wanted<'a> for Content<'a> {
    fn of_array<A: SeqAccess<'a>>(mut array: A) -> Result<Option<Self>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(Perhaps(block)) = array.next_element()? {
            let block = block.map(|Members(block)| block);
            blocks.push(block.unwrap_or_default());
        }
        Ok(Some(Self::Blocks(blocks)))
    }

    fn of_text(text: Cow<'a, str>) -> Option<Self> {
        Some(Self::Text(text))
    }
}

/// The content is nearly all of a record. It is read together with the record, not once more.
impl<'a> Object<'a> for Contents<'a> {
    fn member<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        if key != "message" {
            return self.record.member(key, map);
        }
        let wrapped: Option<Wrapped<'a>> = Member::next(map)?;
        self.record.message = wrapped.as_ref().map(|wrapped| wrapped.message);
        match wrapped.and_then(|wrapped| wrapped.content) {
            Some(Content::Blocks(blocks)) => self.blocks = OnceCell::from(blocks),
            Some(Content::Text(text)) => self.text = Some(text),
            None => {}
        }
        Ok(())
    }
}

impl<'a> Object<'a> for Wrapped<'a> {
    fn member<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        if key != "content" {
            return self.message.member(key, map);
        }
        Perhaps(self.content) = map.next_value()?;
        Ok(())
    }
}

impl<'a> Contents<'a> {
    /// Those of a record; `None` if it is not an object.
    pub(super) fn of(record: &'a str) -> Option<Self> {
        read(record)
    }

    /// The blocks of the message.
    pub(super) fn blocks(&self) -> &[Block<'a>] {
        let bare = || {
            Block::list(
                self.record
                    .content
                    .filter(|_| self.record.message.is_none()),
            )
        };
        self.blocks.get_or_init(bare)
    }

    /// Whether the message consists of blocks.
    pub(super) fn has_blocks(&self) -> bool {
        match self.record.message {
            Some(_) => self.blocks.get().is_some(),
            None => is_array(self.record.content),
        }
    }

    /// The message, or the record if it is one itself.
    fn innermost(&self) -> Message<'a> {
        self.record
            .message
            .unwrap_or_else(|| self.record.as_message())
    }

    /// Whether the record is of a subagent's conversation, in a transcript.
    pub fn is_sidechain(&self) -> bool {
        is_true(self.record.sidechain)
    }

    /// The working directory.
    pub fn directory(&self) -> Option<String> {
        text(self.record.cwd).map(Cow::into_owned)
    }

    /// The calls that the record is a label for.
    pub fn labelled_calls(&self) -> Vec<ToolUseId> {
        if !is(self.record.kind, "tool_use_summary") {
            return Vec::new();
        }
        let ids = elements(self.record.preceding_tool_use_ids).into_iter();
        ids.filter_map(|id| text(Some(id)))
            .map(|id| ToolUseId(id.into_owned()))
            .collect()
    }

    /// The results, in the order of their events.
    pub fn results(&self) -> Vec<ResultBody<'a>> {
        let record = &self.record;
        let is_bare = is(record.kind, "tool_result") && record.tool_use_id.is_some();
        if is_bare || is(record.role, "tool") || is(record.role, "function") {
            return vec![ResultBody {
                content: non_null(record.content),
                failed: is_true(record.is_error),
            }];
        }
        let failed = CallResult::of(record.call_result)
            .and_then(|result| text(result.status))
            .is_some_and(|status| status != "success");
        let message = self.innermost();
        let of_parts = Block::list(message.parts.or(record.parts))
            .into_iter()
            .filter_map(|part| {
                let response = Response::of(part.response)?;
                let has_error = Inner::of(response.response)
                    .is_some_and(|inner| inner.error.is_some() && inner.output.is_none());
                Some(ResultBody {
                    content: non_null(response.response),
                    failed: failed || has_error,
                })
            });
        let of_blocks = self
            .blocks()
            .iter()
            .filter(|block| block.is("tool_result"))
            .map(|block| ResultBody {
                content: non_null(block.content),
                failed: is_true(block.is_error),
            });
        of_blocks.chain(of_parts).collect()
    }

    /// The text of the main conversation's model, if there is any.
    pub fn assistant_text(&self) -> Option<AssistantText> {
        let record = &self.record;
        if non_null(record.parent_tool_use_id).is_some() || self.is_sidechain() {
            return None;
        }
        let event = Holder::of(record.event);
        let (kind, delta) = event.map_or((record.kind, record.delta), |event| {
            (event.kind, event.delta)
        });
        if is(kind, "content_block_delta") {
            let delta = Block::of(delta)?;
            return text(delta.text).map(|more| AssistantText::Part(more.into_owned()));
        }
        if let Some(choice) = Holder::list(record.choices).first() {
            if let Some(delta) = Holder::of(choice.delta) {
                return text(delta.content).map(|more| AssistantText::Part(more.into_owned()));
            }
            let message = Holder::of(choice.message)?;
            return text(message.content).map(|said| AssistantText::Whole(said.into_owned()));
        }
        if let Some(candidate) = Holder::list(record.candidates).first() {
            let content = Holder::of(candidate.content)?;
            return Some(AssistantText::Part(texts(&Block::list(content.parts))));
        }
        let message = self.innermost();
        let is_from_model = is(record.kind, "assistant")
            || is(message.role, "assistant")
            || is(message.role, "model");
        if !is_from_model {
            return None;
        }
        let bare = || text(record.content.filter(|_| record.message.is_none()));
        let said = match self.text.clone().or_else(bare) {
            Some(said) => said.into_owned(),
            None if self.has_blocks() => texts(self.blocks()),
            None => texts(&Block::list(message.parts.or(record.parts))),
        };
        let said = match record.done {
            // Ollama's replies come in parts.
            Some(_) => AssistantText::Part(said),
            None if said.is_empty() => return None,
            None => AssistantText::Whole(said),
        };
        Some(said)
    }
}

/// The text of a result: the texts of blocks, one a line, or the output of an object. Of a text of
/// more than `needed` characters only the beginning may come.
pub fn result_text(content: Option<&RawValue>, needed: usize) -> Cow<'_, str> {
    let Some(raw) = content else {
        return Cow::Borrowed("");
    };
    match raw.get().as_bytes().first() {
        Some(b'"') => beginning_of_text(raw, needed).unwrap_or_default(),
        Some(b'[') => {
            let blocks = Block::list(Some(raw));
            let texts: Vec<Cow<'_, str>> = blocks
                .iter()
                .filter_map(|block| beginning_of_text(block.text?, needed))
                .collect();
            Cow::Owned(texts.join("\n"))
        }
        Some(b'{') => {
            let inner = Inner::of(Some(raw)).unwrap_or_default();
            match inner.output.or(inner.error) {
                Some(output) => {
                    beginning_of_text(output, needed).unwrap_or_else(|| Cow::Borrowed(output.get()))
                }
                None => Cow::Borrowed(raw.get()),
            }
        }
        _ => Cow::Borrowed(raw.get()),
    }
}

fn beginning_of_text(raw: &RawValue, needed: usize) -> Option<Cow<'_, str>> {
    match beginning_of_string(raw.get(), needed) {
        Cow::Borrowed(whole) => unescaped(whole),
        Cow::Owned(beginning) => unescaped(&beginning).map(|text| Cow::Owned(text.into_owned())),
    }
}

/// The first `count` characters and escapes of a longer string in JSON, as a string in JSON; any
/// other value as it is.
pub fn beginning_of_string(json: &str, count: usize) -> Cow<'_, str> {
    if json.len() <= count || !json.starts_with('"') {
        return Cow::Borrowed(json);
    }
    let mut characters = json.char_indices().skip(1);
    for _ in 0..count {
        let is_escape = characters.next().is_some_and(|(_, first)| first == '\\');
        if is_escape && characters.next().is_some_and(|(_, kind)| kind == 'u') {
            characters.nth("0000".len() - 1);
        }
    }
    match characters.next() {
        Some((end, _)) => Cow::Owned(format!("{}\"", &json[..end])),
        None => Cow::Borrowed(json),
    }
}

/// Text of the model in a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssistantText {
    /// All of it, or whole blocks.
    Whole(String),
    /// A part that continues what came before.
    Part(String),
}

fn texts(blocks: &[Block<'_>]) -> String {
    let said = blocks.iter().filter(|block| {
        let is_thought = is_true(block.thought) || block.signature.is_some();
        !is_thought && (block.kind.is_none() || is(block.kind, "text"))
    });
    said.filter_map(|block| text(block.text)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            let contents = Contents::of(record).unwrap().results();
            assert_eq!(contents.len(), 1, "{record}");
            assert_eq!(result_text(contents[0].content, 9), said, "{record}");
            assert_eq!(contents[0].failed, failed, "{record}");
        }
    }

    proptest! {
        #[test]
        fn the_beginning_of_a_string_is_a_string(
            parts in prop::collection::vec(
                prop::sample::select(vec!["a", "é", "😀", r"\n", r"\\", r#"\""#, r"\u00e9", r"\ud83d\ude00"]),
                0..40,
            ),
            count in 0..40_usize,
        ) {
            let json = format!("\"{}\"", parts.concat());
            let beginning = beginning_of_string(&json, count);
            let whole = unescaped(&json).unwrap();
            // A pair of surrogates may be cut in half.
            let kept = unescaped(&beginning).unwrap();
            let is_begun = whole.starts_with(kept.trim_end_matches('\u{FFFD}'));
            prop_assert!(is_begun, "{kept}");
            prop_assert!(kept == whole || kept.encode_utf16().count() >= count);
        }
    }

    #[test]
    fn what_the_model_says_is_read() {
        let whole = |text: &str| Some(AssistantText::Whole(text.to_owned()));
        let more = |text: &str| Some(AssistantText::Part(text.to_owned()));
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
                r#"{"role":"model","parts":[{"text":"x","thought":true},{"text":"y","thoughtSignature":"s"},{"text":"a"}]}"#,
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
            assert_eq!(
                Contents::of(record).unwrap().assistant_text(),
                expected,
                "{record}"
            );
        }
    }
}
