//! The decoder: records in, events out.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::agents::{Translation, Translator};
use super::contents::Contents;
use super::envelope::Envelope;
use super::foreign::{PI_FILE, Sign, sign};
use super::reply::Reply;
use super::shape::{Shape, shape};
use super::{Event, Opening, anthropic, gemini, items, openai};
use crate::json::{non_empty, non_null, object, text};
use crate::message::{MessageId, SessionId};

/// A vocabulary for tool calls and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Dialect {
    /// stream-json and Anthropic messages.
    Anthropic,
    /// OpenAI chat completions.
    Openai,
    /// Gemini contents, Qwen Code session parts.
    Gemini,
}

object! {
    /// The extension of an executor, or of the `init` record of `turn`.
    Extension { call_ids, session_file }
}

/// Decodes records one after the other and joins streamed deltas. Sans-I/O.
///
/// A record without any of [`super::prefilter_needles`] has no events and changes nothing here,
/// so it can be skipped.
#[derive(Debug, Default)]
pub struct Decoder {
    pinned: Option<Dialect>,
    translator: Translator,
    reply: Reply,
    opening: Option<Opening>,
    session: Option<SessionId>,
}

/// A record as it was decoded: as it stands in the input, or in stream-json what a row of another
/// agent's stream says.
#[derive(Debug)]
pub struct Decoded<'a> {
    /// Its text.
    pub record: &'a str,
    /// What it means.
    pub events: Vec<Event>,
    /// What stands in it.
    pub contents: Contents<'a>,
}

impl Decoder {
    /// Recognises the dialect line by line.
    pub fn detecting() -> Self {
        Self::default()
    }

    /// Reads one dialect only, and no agent's stream that has a vocabulary of its own. Openings,
    /// executors, `result` records, interrupts, prompts and texts are read in any case.
    pub fn pinned(dialect: Dialect) -> Self {
        Self {
            pinned: Some(dialect),
            ..Self::default()
        }
    }

    /// Sets how the ids begin that calls without one get.
    #[must_use]
    pub fn with_call_ids(mut self, prefix: String) -> Self {
        self.reply.made_ids.set_prefix(prefix);
        self
    }

    /// Sets how the ids of messages begin that a row of another agent's stream is translated to, if
    /// that agent gives them none.
    #[must_use]
    pub fn with_message_ids(mut self, prefix: String) -> Self {
        self.translator.set_message_ids(prefix);
        self
    }

    /// The events of one record: a JSON object. A record of no known dialect has none.
    pub fn record(&mut self, record: &str) -> Vec<Event> {
        let mut events = Vec::new();
        self.decode(record, |decoded| events.extend(decoded.events));
        events
    }

    /// Decodes one record. It is visited as it is, or as the records that it stands for, of which
    /// there may be none. Returns whether it is an object.
    pub fn decode(&mut self, record: &str, mut visit: impl FnMut(Decoded<'_>)) -> bool {
        let Some(contents) = Contents::of(record) else {
            return false;
        };
        let kind = text(contents.record.kind);
        self.signs(kind.as_deref(), &contents);
        let translation = match (&kind, self.pinned) {
            (Some(kind), None) => {
                let opening = self.opening.as_ref();
                self.translator.row(kind, record, opening)
            }
            _ => Translation::default(),
        };
        for record in &translation.records {
            if let Some(contents) = Contents::of(record) {
                self.content(&contents);
                visit(Decoded {
                    record,
                    events: self.take_events(),
                    contents,
                });
            }
        }
        if !translation.is_all {
            self.content(&contents);
        }
        let events = self.take_events();
        if !translation.is_all || !events.is_empty() {
            visit(Decoded {
                record,
                events,
                contents,
            });
        }
        true
    }

    /// Takes what a record says about its stream, if it is of a known kind.
    fn signs(&mut self, kind: Option<&str>, contents: &Contents<'_>) {
        let record = &contents.record;
        let sign = sign(kind, record);
        if sign.is_none() && matches!(self.shape(contents), Shape::Other) {
            return;
        }
        let names_session = matches!(sign, Some(Sign::Opens(Opening::Foreign(PI_FILE))));
        let is_ours = matches!(sign, Some(Sign::Opens(Opening::Ours)));
        if let Some(sign) = sign {
            self.opening(sign);
        }
        let extension = Extension::of(record.turnpipe).filter(|_| is_ours);
        if let Some(file) = extension.and_then(|extension| non_empty(extension.session_file)) {
            self.reply
                .events
                .push(Event::SessionFile(file.into_owned()));
        }
        // The traffic of a subagent has its own session.
        if non_null(record.parent_tool_use_id).is_none() {
            self.session(record, record.id.filter(|_| names_session));
        }
    }

    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.reply.events)
    }

    /// The record of a text whose end the input did not reach, to be asked for at its end.
    pub fn unfinished_text(&mut self) -> Option<String> {
        self.translator.finish()
    }

    /// The events of the end of the input: open streamed calls are cut off, the turn ends.
    pub fn finish(&mut self) -> Vec<Event> {
        self.reply.finish();
        self.take_events()
    }

    /// What stands in a record that is to be read.
    fn shape<'a>(&self, contents: &Contents<'a>) -> Shape<'a> {
        let kind = text(contents.record.kind);
        let shape = shape(kind.as_deref(), &contents.record);
        match (self.pinned, shape.dialect(contents.has_blocks())) {
            (Some(pinned), Some(dialect)) if pinned != dialect => Shape::Other,
            _ => shape,
        }
    }

    /// An opening record always makes an event, a mark only when it says something new.
    fn opening(&mut self, sign: Sign) {
        let opening = match sign {
            Sign::Opens(opening) => {
                // What came before is cut off first: it is not of this stream.
                self.reply.new_stream();
                opening
            }
            Sign::Marks(name) => {
                let opening = Opening::Foreign(name);
                if self.opening.as_ref() == Some(&opening) {
                    return;
                }
                opening
            }
            Sign::Hints(_) if self.opening.is_some() => return,
            Sign::Hints(name) => Opening::Foreign(name),
        };
        self.opening = Some(opening.clone());
        self.reply.events.push(Event::Opening(opening));
    }

    /// Takes the id of the session, which agents call by several names.
    fn session(&mut self, record: &Envelope<'_>, own_id: Option<&RawValue>) {
        let ids = [
            record.session_id,
            record.session_id_camel,
            record.session_id_opencode,
            record.thread_id,
            own_id,
        ];
        if let Some(id) = ids.into_iter().find_map(non_empty)
            && self.session.as_ref().is_none_or(|known| *known.0 != *id)
        {
            let id = SessionId::from(&*id);
            self.session = Some(id.clone());
            self.reply.events.push(Event::Session(id));
        }
    }

    fn content(&mut self, contents: &Contents<'_>) {
        let record = &contents.record;
        // The traffic of a subagent has its own calls and results.
        if non_null(record.parent_tool_use_id).is_some() {
            return;
        }
        let shape = self.shape(contents);
        let reply = &mut self.reply;
        match shape {
            Shape::Assistant(message) => {
                anthropic::assistant(&message, contents.blocks(), reply);
            }
            Shape::User => anthropic::user(contents.blocks(), reply),
            Shape::StreamEvent(event) => anthropic::stream_event(&event, reply),
            Shape::BareCall => {
                if let Some(call) = anthropic::bare_call(record) {
                    reply.bare(call);
                }
            }
            Shape::BareResult => reply.result(text(record.tool_use_id).as_deref(), None),
            Shape::OpenaiAssistant(message) => openai::assistant(&message, reply),
            Shape::OpenaiResult => {
                let (id, name) = (
                    text(record.tool_call_id),
                    text(record.name.or(record.tool_name)),
                );
                reply.result(id.as_deref(), name.as_deref());
            }
            Shape::Ollama(message) => {
                openai::ollama(message.tool_calls, record, reply);
            }
            Shape::Items => items::response(record, reply),
            Shape::ItemEvent => {
                items::event(&text(record.kind).unwrap_or_default(), record, reply);
            }
            Shape::Completion => openai::completion(record.id, record.choices, reply),
            Shape::Content(content) => {
                let id = non_empty(record.uuid).map(|id| MessageId::from(&*id));
                gemini::content(&content, id, reply);
            }
            Shape::Response => {
                gemini::response(record.response_id, record.candidates, reply);
            }
            Shape::SessionResult => reply.session_result(),
            Shape::Executor => {
                let extension = Extension::of(record.turnpipe).unwrap_or_default();
                let call_ids = non_empty(extension.call_ids).map(Cow::into_owned);
                if let Some(prefix) = call_ids.clone() {
                    reply.made_ids.set_prefix(prefix);
                }
                reply.events.push(Event::Executor { call_ids });
            }
            Shape::Interrupt => reply.events.push(Event::Interrupt {
                request_id: text(record.request_id).unwrap_or_default().into_owned(),
            }),
            Shape::ControlResponse => {
                let response = record.response.map(RawValue::get).map(serde_json::from_str);
                reply
                    .events
                    .extend(response.and_then(Result::ok).map(Event::ControlResponse));
            }
            Shape::Other => {}
        }
    }
}
