//! The content of a record other than calls: results, and the text of the model.
//!
//! Events only announce a result; stages that need its content read it here.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::delta::{Delta, Extent};
use super::envelope::{Content, Envelope};
use super::responses::OUTPUTS;
use super::shape::{RecordContent, read_all};
use super::{anthropic, gemini};
use turnpipe_core::json::{
    elements, from_wtf8, has_text, is_true, non_null, object, text, unescape,
};
use turnpipe_core::message::{ToolResult, ToolUseId};

object! {
    /// The value of a response.
    Inner { output, error }
}

object! {
    /// The text in a block of a result.
    TextBlock { text }
}

object! {
    /// The outcome of a call, in Qwen Code's sessions.
    EndOfCall { status }
}

/// The content of a result in the input.
#[derive(Debug, Clone)]
pub struct ResultBody<'a> {
    content: Body<'a>,
    /// Whether it reports that the call failed.
    pub failed: bool,
    /// The exit status of its process, if that is stated apart from the content.
    pub status: Option<i64>,
}

#[derive(Debug, Clone)]
enum Body<'a> {
    /// The value that the model gets.
    Json(Option<&'a RawValue>),
    Text(String),
}

impl<'a> ResultBody<'a> {
    /// Creates the body of a result; `failed` if it is an error.
    pub fn new(content: Option<&'a RawValue>, failed: bool) -> Self {
        let content = Body::Json(non_null(content));
        Self {
            content,
            failed,
            status: None,
        }
    }

    /// Returns the content of a result that has already been read.
    pub(crate) fn from_result(result: &ToolResult) -> Self {
        Self {
            content: Body::Text(result.text()),
            failed: result.failed,
            status: result.status(),
        }
    }

    /// Returns the content as JSON.
    pub fn json(&self) -> Cow<'_, str> {
        match &self.content {
            Body::Json(json) => Cow::Borrowed(json.map_or("\"\"", RawValue::get)),
            Body::Text(text) => Cow::Owned(serde_json::Value::from(&**text).to_string()),
        }
    }

    /// Returns the text of the result. If it has more than `needed` characters, it may be
    /// truncated.
    pub fn text(&self, needed: usize) -> Cow<'_, str> {
        match &self.content {
            Body::Json(json) => read_result_text(*json, needed),
            Body::Text(text) => Cow::Borrowed(text),
        }
    }
}

/// A record, parsed once.
#[derive(Debug, Clone, Default)]
pub struct Contents<'a> {
    pub(crate) record: Envelope<'a>,
}

impl<'a> Contents<'a> {
    /// Reads a record; `None` if it is not an object.
    pub(crate) fn parse(record: &'a str) -> Option<Self> {
        Some(Self {
            record: Envelope::read(record)?,
        })
    }

    /// Returns the record's `type`.
    pub fn kind(&self) -> Option<Cow<'a, str>> {
        text(self.record.kind)
    }

    /// Whether the record is of a subagent's conversation, in a transcript.
    pub fn is_sidechain(&self) -> bool {
        is_true(self.record.sidechain)
    }

    /// Returns the working directory.
    pub fn directory(&self) -> Option<String> {
        text(self.record.cwd).map(Cow::into_owned)
    }

    /// Returns the calls that the record is a label for.
    pub fn labelled_calls(&self) -> Vec<ToolUseId> {
        if !has_text(self.record.kind, "tool_use_summary") {
            return Vec::new();
        }
        let ids = elements(self.record.preceding_tool_use_ids).into_iter();
        ids.filter_map(|id| text(Some(id)))
            .map(|id| ToolUseId(id.into_owned()))
            .collect()
    }

    /// Returns the results, in the order of their events.
    pub fn results(&self) -> Vec<ResultBody<'a>> {
        let record = &self.record;
        let is_bare = has_text(record.kind, "tool_result") && record.tool_use_id.is_some();
        if is_bare || has_text(record.role, "tool") || has_text(record.role, "function") {
            return vec![ResultBody::new(record.content, is_true(record.is_error))];
        }
        if text(record.kind).is_some_and(|kind| OUTPUTS.contains(&&*kind)) {
            return vec![ResultBody::new(record.output, false)];
        }
        let message = record.message();
        let blocks = message.content.as_ref().map_or(&[][..], Content::blocks);
        let failed = EndOfCall::from_raw(record.call_result)
            .and_then(|end| text(end.status))
            .is_some_and(|status| status != "success");
        let mut results: Vec<ResultBody<'a>> = anthropic::read_result_bodies(blocks)
            .map(|(content, failed)| ResultBody::new(content, failed))
            .collect();
        for body in gemini::read_result_bodies(message.parts.or(record.parts)) {
            let inner = Inner::from_raw(body).unwrap_or_default();
            let has_error = inner.error.is_some() && inner.output.is_none();
            results.push(ResultBody::new(body, failed || has_error));
        }
        results
    }

    /// Returns the text of the main conversation's model, if there is any.
    pub fn assistant_text(&self) -> Option<AssistantText> {
        let record = &self.record;
        if record.is_of_subagent() || self.is_sidechain() {
            return None;
        }
        let RecordContent::Reply(chunk) = read_all(record) else {
            return None;
        };
        let choice = chunk.choices.into_iter().find(|choice| choice.index == 0)?;
        let mut bytes: Option<Vec<u8>> = None;
        for delta in choice.deltas {
            if let Delta::Text(text) | Delta::WholeText(text) = delta {
                bytes.get_or_insert_default().extend_from_slice(&text);
            }
        }
        let text = from_wtf8(bytes?);
        match chunk.extent {
            Extent::Whole if text.is_empty() => None,
            Extent::Whole => Some(AssistantText::Whole(text)),
            _ => Some(AssistantText::Part(text)),
        }
    }
}

/// Returns the text of a result: the texts of blocks, one per line, or the output of an object. A
/// text of more than `needed` characters may be truncated.
fn read_result_text(content: Option<&RawValue>, needed: usize) -> Cow<'_, str> {
    let Some(raw) = content else {
        return Cow::Borrowed("");
    };
    match raw.get().as_bytes().first() {
        Some(b'"') => read_text_prefix(raw, needed).unwrap_or_default(),
        Some(b'[') => {
            let blocks = TextBlock::read_list(Some(raw));
            let texts: Vec<Cow<'_, str>> = blocks
                .iter()
                .filter_map(|block| read_text_prefix(block.text?, needed))
                .collect();
            Cow::Owned(texts.join("\n"))
        }
        Some(b'{') => {
            let inner = Inner::from_raw(Some(raw)).unwrap_or_default();
            match inner.output.or(inner.error) {
                Some(output) => {
                    read_text_prefix(output, needed).unwrap_or_else(|| Cow::Borrowed(output.get()))
                }
                None => Cow::Borrowed(raw.get()),
            }
        }
        _ => Cow::Borrowed(raw.get()),
    }
}

fn read_text_prefix(raw: &RawValue, needed: usize) -> Option<Cow<'_, str>> {
    match truncate_json_string(raw.get(), needed) {
        Cow::Borrowed(whole) => unescape(whole),
        Cow::Owned(beginning) => unescape(&beginning).map(|text| Cow::Owned(text.into_owned())),
    }
}

/// Returns the first `count` characters and escapes of a longer JSON string, as a JSON string; any
/// other value unchanged.
pub fn truncate_json_string(json: &str, count: usize) -> Cow<'_, str> {
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
                r#"{"type":"function_call_output","call_id":"1","output":"a"}"#,
                "a",
                false,
            ),
            (
                r#"{"type":"custom_tool_call_output","call_id":"1","output":[{"type":"input_text","text":"a"}]}"#,
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
        for (record, text, failed) in table {
            let contents = Contents::parse(record).unwrap().results();
            assert_eq!(contents.len(), 1, "{record}");
            assert_eq!(contents[0].text(9), text, "{record}");
            assert_eq!(contents[0].failed, failed, "{record}");
        }
    }

    #[test]
    fn an_empty_reply_has_no_text() {
        let text = |record| Contents::parse(record).unwrap().assistant_text();
        let reply = r#"{"role":"assistant","content":[{"type":"text","text":"a"}]}"#;
        assert!(matches!(text(reply), Some(AssistantText::Whole(text)) if text == "a"));
        assert!(text(r#"{"role":"assistant","content":[{"type":"text","text":""}]}"#).is_none());
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
            let beginning = truncate_json_string(&json, count);
            let whole = unescape(&json).unwrap();
            // A pair of surrogates may be cut in half.
            let kept = unescape(&beginning).unwrap();
            let is_begun = whole.starts_with(kept.trim_end_matches('\u{FFFD}'));
            prop_assert!(is_begun, "{kept}");
            prop_assert!(kept == whole || kept.encode_utf16().count() >= count);
        }
    }

    #[test]
    fn text_of_the_model_is_read() {
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
                r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}"#,
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
                Contents::parse(record).unwrap().assistant_text(),
                expected,
                "{record}"
            );
        }
    }
}
