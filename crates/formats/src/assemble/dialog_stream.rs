//! A conversation on a pipe: stream-json, a session file, or bare messages of an API.

use std::io::{self, Read};

use super::messages::MessageReader;
use super::{Decoder, Event, Source, Understanding};
use crate::agent::{Agent, StreamItem};
use crate::api::AssistantText;
use turnpipe_core::jsonl::{Prefilter, Reader, RecordWriter, WriteError};
use turnpipe_core::message::{Message, MessageMerger, SessionId};

/// Reads messages from records.
#[derive(Debug)]
pub struct DialogStream {
    decoder: Decoder,
    messages: MessageReader,
    /// `None` if the records of a message are not joined.
    merger: Option<MessageMerger>,
    /// The agent whose format matched last.
    agent: Option<Agent>,
    session_id: Option<SessionId>,
}

impl Default for DialogStream {
    fn default() -> Self {
        Self {
            merger: Some(MessageMerger::default()),
            ..Self::without_joining()
        }
    }
}

/// A conversation cannot be read, or its copy cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// Reading failed.
    #[error("cannot read the conversation: {0}")]
    Read(#[from] io::Error),
    /// Writing failed.
    #[error("{0}")]
    Write(#[from] WriteError),
}

impl DialogStream {
    /// Reads a conversation to its end. Calls `on_record` with each record and `on_message` with each message. A `copy` gets every
    /// byte, and is flushed before each wait for more.
    ///
    /// # Errors
    /// Reading or writing failed.
    pub fn read_all(
        stream: impl Read + Send + 'static,
        mut copy: Option<&mut RecordWriter>,
        on_record: &mut dyn FnMut(&str),
        on_message: &mut dyn FnMut(Message),
    ) -> Result<(Self, Understanding), CopyError> {
        let mut conversation = Self::default();
        let mut understanding = Understanding::default();
        // Every line may be a message.
        let every_object = Prefilter::new(&["{"]).map_err(io::Error::other)?;
        let mut reader = Reader::new(stream, every_object);
        while let Some(piece) = reader.next_piece()? {
            understanding.update(piece.raw(), &[]);
            if let Some(copy) = &mut copy {
                copy.echo(piece.raw())?;
            }
            for record in piece.records().0 {
                let text = record.text(piece.raw());
                on_record(text);
                conversation.read_record(text, on_message);
            }
            if let Some(copy) = &mut copy
                && !reader.has_piece()
            {
                copy.flush()?;
            }
        }
        conversation.finish(on_message);
        Ok((conversation, understanding))
    }

    /// Returns a stream that does not join the records of a message: every record is complete at once.
    pub fn without_joining() -> Self {
        Self {
            decoder: Decoder::default(),
            messages: MessageReader::default(),
            merger: None,
            agent: None,
            session_id: None,
        }
    }

    /// Reads the next record. Calls `on_message` with each message that it completes.
    pub fn read_record(&mut self, record: &str, on_message: &mut dyn FnMut(Message)) {
        self.read_live_record(record, None, on_message);
    }

    /// Like [`Self::read_record`], but also calls `on_fragment` with each fragment of text that is still being written. The
    /// message with the whole text follows.
    pub fn read_live_record(
        &mut self,
        record: &str,
        mut on_fragment: Option<&mut dyn FnMut(&str)>,
        on_message: &mut dyn FnMut(Message),
    ) {
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.decode(record, |decoded| {
            if let Some(on_fragment) = &mut on_fragment
                && let Some(AssistantText::Part(part)) = decoded.source.assistant_text()
            {
                on_fragment(&part);
            }
            for event in decoded.events {
                match event {
                    Event::Session(id) => {
                        self.session_id.get_or_insert(id);
                    }
                    Event::Executor {
                        call_ids: Some(prefix),
                    } => self.messages.set_call_ids(prefix),
                    _ => {}
                }
            }
            for message in self.read_messages(record, decoded.source) {
                self.push(message, on_message);
            }
        });
        self.decoder = decoder;
    }

    fn push(&mut self, message: Message, on_message: &mut dyn FnMut(Message)) {
        let whole = match &mut self.merger {
            Some(merger) => merger.push(message),
            None => Some(message),
        };
        if let Some(whole) = whole {
            on_message(whole);
        }
    }

    fn read_messages(&mut self, record: &str, source: Source<'_>) -> Vec<Message> {
        let contents = match source {
            Source::Record(contents) => contents,
            Source::Stream(StreamItem::Message { message, .. }) => return vec![*message],
            Source::Stream(_) => return Vec::new(),
        };
        if contents.record.is_of_subagent() {
            return Vec::new();
        }
        let mut empty = Vec::new();
        let mut read_as = |agent: Agent| {
            let messages = agent.format().messages(record);
            // A format that knows the record but not its content does not count.
            if messages.iter().any(|message| !message.blocks.is_empty()) {
                return Some(messages);
            }
            if empty.is_empty() {
                empty = messages;
            }
            None
        };
        if let Some(messages) = self.agent.and_then(&mut read_as) {
            return messages;
        }
        if let Some(messages) = self.messages.read(contents) {
            return messages;
        }
        for agent in Agent::ALL {
            if let Some(messages) = read_as(agent) {
                self.agent = Some(agent);
                return messages;
            }
        }
        empty
    }

    /// Returns the session id, if the stream contains one.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_ref().map(|id| &*id.0)
    }

    /// Returns the instructions for the model in the stream; empty if there are none.
    pub fn instructions(&self) -> &str {
        self.messages.instructions()
    }

    /// Returns the message that may still be incomplete.
    pub fn open_message(&self) -> Option<&Message> {
        self.merger.as_ref()?.open()
    }

    /// Calls `on_message` with the remaining messages at the end of the stream.
    pub fn finish(&mut self, on_message: &mut dyn FnMut(Message)) {
        let unfinished = self.decoder.take_unfinished();
        let unfinished = unfinished.map(|source| self.read_messages("", source));
        let streamed = self.messages.finish();
        for message in unfinished.into_iter().flatten().chain(streamed) {
            self.push(message, on_message);
        }
        if let Some(last) = self.merger.as_mut().and_then(MessageMerger::finish) {
            on_message(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_texts(lines: &[&str]) -> Vec<String> {
        let mut stream = DialogStream::default();
        let mut texts = Vec::new();
        let mut take = |message: Message| texts.push(message.text());
        for line in lines {
            stream.read_record(line, &mut take);
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
            stream.read_record(line, &mut |message| messages.push(message));
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
            stream.read_record(line, &mut |message| messages.push(message));
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
                include_str!("../../../../tests/data/wire/codex-stream.jsonl"),
                "01a1ffef-903c-7483-b6e0-47cca357d950",
                &["Two of four calls failed."],
            ),
            (
                include_str!("../../../../tests/data/wire/gemini-cli-stream.jsonl"),
                "2b959a4e-7a24-41cd-8f71-ece70de8d9e0",
                &["Do a mixed batch.", "Two of four calls failed."],
            ),
            (
                include_str!("../../../../tests/data/wire/pi-stream.jsonl"),
                "01a1fff1-5990-7566-ab9c-2aac816aa839",
                &[
                    "Run the tests.",
                    "The tests fail: `parses_quotes` panicked, exit code 3.",
                ],
            ),
            (
                include_str!("../../../../tests/data/wire/opencode-stream.jsonl"),
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
                stream.read_record(row, &mut |message| messages.push(message));
            }
            stream.finish(&mut |message| messages.push(message));
            let on_fragment: Vec<String> = messages.iter().map(Message::text).collect();
            let on_fragment: Vec<&str> = on_fragment
                .iter()
                .map(String::as_str)
                .filter(|text| !text.is_empty())
                .collect();
            assert_eq!(on_fragment, expected);
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
            assert_eq!(read_texts(lines), ["hi", "ho"], "{lines:?}");
        }
    }

    #[test]
    fn the_text_of_a_reply_without_a_role_is_read_from_its_first_chunk() {
        let chunks = [
            r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"b"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        ];
        assert_eq!(read_texts(&chunks), ["ab"]);
    }
}
