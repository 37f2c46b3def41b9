//! A conversation on a pipe: stream-json, a session file, or bare messages of an API.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::message::{Joiner, Message, SessionId};
use crate::session::Agent;
use crate::wire::{Decoder, Event};

/// Reads messages from records.
#[derive(Debug, Default)]
pub struct DialogStream {
    /// Translates the streams of other agents.
    decoder: Decoder,
    joiner: Joiner,
    /// The agent whose format matched last.
    agent: Option<Agent>,
    session_id: Option<SessionId>,
    instructions: String,
}

#[derive(serde::Deserialize)]
struct Bare<'a> {
    role: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    parts: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    tool_call_id: Option<String>,
    parent_tool_use_id: Option<String>,
    /// Of a whole reply of the Responses API, whose items are records of their own.
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    object: Option<String>,
}

impl DialogStream {
    /// Takes the next record; calls `taken` with each message that is complete now.
    pub fn record(&mut self, record: &str, taken: &mut dyn FnMut(Message)) {
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.decode(record, |decoded| {
            for event in decoded.events {
                if let Event::Session(id) = event {
                    self.session_id.get_or_insert(id);
                }
            }
            self.translated(decoded.record, taken);
        });
        self.decoder = decoder;
    }

    fn translated(&mut self, record: &str, taken: &mut dyn FnMut(Message)) {
        let bare: Option<Bare<'_>> = serde_json::from_str(record).ok();
        if bare
            .as_ref()
            .is_some_and(|bare| bare.parent_tool_use_id.is_some())
        {
            return;
        }
        if let Some(Bare {
            output: Some(output),
            object: Some(object),
            ..
        }) = &bare
            && object == "response"
        {
            let items: Vec<&RawValue> = serde_json::from_str(output.get()).unwrap_or_default();
            for item in items {
                self.translated(item.get(), taken);
            }
            return;
        }
        if let Some(Bare {
            role: Some(role),
            content: Some(content),
            ..
        }) = &bare
            && matches!(role.as_str(), "system" | "developer")
        {
            self.instructions.push_str(&text_of(content));
            return;
        }
        let of_api = bare.and_then(|bare| wrapped(record, &bare));
        for message in self.messages(of_api.as_deref().unwrap_or(record)) {
            if let Some(whole) = self.joiner.push(message) {
                taken(whole);
            }
        }
    }

    fn messages(&mut self, record: &str) -> Vec<Message> {
        let known = self.agent.iter().chain(&Agent::ALL);
        let mut empty = Vec::new();
        for &agent in known {
            let messages = agent.format().messages(record);
            // A format that knows the record but not its content has not understood it.
            if messages.iter().any(|message| !message.blocks.is_empty()) {
                self.agent = Some(agent);
                return messages;
            }
            if empty.is_empty() {
                empty = messages;
            }
        }
        empty
    }

    /// The session, if the stream names it.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_ref().map(|id| &*id.0)
    }

    /// What the stream tells the model before the conversation; empty if nothing.
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// The message that may not be complete.
    pub fn open(&self) -> Option<&Message> {
        self.joiner.open()
    }

    /// Calls `taken` with what is left at the end of the stream.
    pub fn finish(&mut self, taken: &mut dyn FnMut(Message)) {
        if let Some(text) = self.decoder.unfinished_text() {
            self.translated(&text, taken);
        }
        if let Some(last) = self.joiner.finish() {
            taken(last);
        }
    }
}

/// A bare message of an API in the form of a record.
fn wrapped(record: &str, bare: &Bare<'_>) -> Option<String> {
    let role = bare.role.as_deref()?;
    if let ("tool", Some(id), Some(content)) = (role, &bare.tool_call_id, bare.content) {
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": text_of(content)});
        return Some(json!({"type": "user", "message": {"content": [result]}}).to_string());
    }
    if let ("assistant", Some(calls)) = (role, bare.tool_calls) {
        let said = bare.content.map(text_of).filter(|text| !text.is_empty());
        let said = said.map(|text| json!({"type": "text", "text": text}));
        let content: Vec<Value> = said.into_iter().chain(tool_uses(calls)).collect();
        return Some(json!({"type": "assistant", "message": {"content": content}}).to_string());
    }
    let kind = match role {
        "assistant" | "model" => "assistant",
        "user" => "user",
        _ => return None,
    };
    if let Some(content) = bare.content
        && ["\"input_text\"", "\"output_text\""]
            .iter()
            .any(|part| content.get().contains(part))
    {
        // An item of the Responses API.
        let text = json!({"type": "text", "text": text_of(content)});
        return Some(json!({"type": kind, "message": {"content": [text]}}).to_string());
    }
    (bare.content.is_some() || bare.parts.is_some())
        .then(|| format!(r#"{{"type":"{kind}","message":{record}}}"#))
}

/// The text of a message of `OpenAI`'s API: a string, or a list of parts.
fn text_of(content: &RawValue) -> String {
    let content: Value = serde_json::from_str(content.get()).unwrap_or_default();
    let texts: Vec<&str> = match &content {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => Vec::new(),
    };
    texts.join("\n")
}

/// The calls of a message of `OpenAI`'s API in Anthropic's form.
fn tool_uses(calls: &RawValue) -> Vec<Value> {
    let calls: Vec<Value> = serde_json::from_str(calls.get()).unwrap_or_default();
    let call = |call: Value| {
        let arguments = call["function"]["arguments"]
            .as_str()
            .map_or(Cow::default(), Cow::from);
        let input = serde_json::from_str(&arguments).unwrap_or_else(|_| json!(arguments));
        json!({"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": input})
    };
    calls.into_iter().map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(lines: &[&str]) -> Vec<String> {
        let mut stream = DialogStream::default();
        let mut texts = Vec::new();
        let mut take = |message: Message| texts.push(message.text());
        for line in lines {
            stream.record(line, &mut take);
        }
        stream.finish(&mut take);
        texts
    }

    #[test]
    fn items_and_replies_of_the_responses_api_are_read() {
        let mut stream = DialogStream::default();
        let mut messages = Vec::new();
        for line in [
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"What is here?"}]}"#,
            r#"{"id":"resp_1","object":"response","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"c1","name":"Bash","arguments":"{\"command\":\"ls\"}"}]}"#,
            r#"{"type":"function_call_output","call_id":"c1","output":"a"}"#,
        ] {
            stream.record(line, &mut |message| messages.push(message));
        }
        stream.finish(&mut |message| messages.push(message));
        let texts: Vec<String> = messages.iter().map(Message::text).collect();
        assert_eq!(texts[..2], ["What is here?", "I look."], "{messages:?}");
        let calls = messages.iter().flat_map(Message::calls);
        let ids: Vec<String> = calls.map(|call| call.id.clone()).collect();
        assert_eq!(ids, ["c1"]);
    }

    #[test]
    fn calls_of_the_chat_api_are_read() {
        let mut stream = DialogStream::default();
        let mut messages = Vec::new();
        for line in [
            r#"{"role":"system","content":"Be brief."}"#,
            r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"Read","arguments":"{\"file_path\":\"a\"}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c1","content":"text"}"#,
        ] {
            stream.record(line, &mut |message| messages.push(message));
        }
        stream.finish(&mut |message| messages.push(message));
        assert_eq!(stream.instructions(), "Be brief.");
        assert_eq!(messages[0].text(), "hi");
        let call = messages[1].calls().next().unwrap();
        assert_eq!((&*call.id, &*call.name), ("c1", "Read"));
        assert_eq!(call.input.get(), r#"{"file_path":"a"}"#);
        let result = messages[2].results().next().unwrap();
        assert_eq!((&*result.id, result.text()), ("c1", "text".to_owned()));
    }

    #[test]
    fn streams_of_other_agents_are_read() {
        let table: [(&str, &str, &[&str]); 4] = [
            (
                include_str!("../../tests/data/wire/codex-stream.jsonl"),
                "01a1ffef-903c-7483-b6e0-47cca357d950",
                &["Two of four calls failed."],
            ),
            (
                include_str!("../../tests/data/wire/gemini-cli-stream.jsonl"),
                "2b959a4e-7a24-41cd-8f71-ece70de8d9e0",
                &["Do a mixed batch.", "Two of four calls failed."],
            ),
            (
                include_str!("../../tests/data/wire/pi-stream.jsonl"),
                "01a1fff1-5990-7566-ab9c-2aac816aa839",
                &[
                    "Run the tests.",
                    "The tests fail: `parses_quotes` panicked, exit code 3.",
                ],
            ),
            (
                include_str!("../../tests/data/wire/opencode-stream.jsonl"),
                "ses_e000dc035ffeD30LDk8C8ch6K5",
                &[
                    "I will read the three files first.",
                    "Now the fix.",
                    "Fixed: fields are now trimmed in `src/parser.rs`.",
                ],
            ),
        ];
        for (rows, session, expected) in table {
            let mut stream = DialogStream::default();
            let mut messages = Vec::new();
            for row in rows.lines() {
                stream.record(row, &mut |message| messages.push(message));
            }
            stream.finish(&mut |message| messages.push(message));
            let said: Vec<String> = messages.iter().map(Message::text).collect();
            let said: Vec<&str> = said
                .iter()
                .map(String::as_str)
                .filter(|text| !text.is_empty())
                .collect();
            assert_eq!(said, expected);
            assert_eq!(stream.session_id(), Some(session));
        }
    }

    #[test]
    fn dialogs_of_several_forms_are_read() {
        let table: [&[&str]; 4] = [
            &[
                r#"{"type":"user","message":{"role":"user","content":"hi"}}"#,
                r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"ho"}]}}"#,
            ],
            &[
                r#"{"role":"user","content":"hi"}"#,
                r#"{"role":"assistant","content":"ho"}"#,
            ],
            &[
                r#"{"role":"user","parts":[{"text":"hi"}]}"#,
                r#"{"role":"model","parts":[{"text":"ho"}]}"#,
            ],
            &[
                r#"{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","parts":[{"text":"hi"}]}}"#,
                r#"{"type":"assistant","uuid":"b","sessionId":"s","message":{"role":"model","parts":[{"text":"ho"}]}}"#,
            ],
        ];
        for lines in table {
            assert_eq!(said(lines), ["hi", "ho"], "{lines:?}");
        }
    }
}
