//! The decoder: records in, events out.

use std::borrow::Cow;

use super::contents::Contents;
use super::envelope::Envelope;
use super::foreign::{Sign, sign};
use super::object::{non_empty, non_null, object, text};
use super::reply::Reply;
use super::shape::{Shape, shape};
use super::{Event, MessageId, Opening, SessionId};
use super::{anthropic, gemini, items, openai};

/// A vocabulary for tool calls and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Dialect {
    /// stream-json and Anthropic messages.
    Anthropic,
    /// `OpenAI` chat completions.
    Openai,
    /// Gemini contents, Qwen Code session parts.
    Gemini,
}

object! {
    /// What an executor says of itself.
    Extension { call_ids = "call_ids" }
}

/// Decodes records one after the other and joins streamed deltas. Sans-I/O.
///
/// A record without any of [`super::prefilter_needles`] has no events and changes nothing here,
/// so it can be skipped.
#[derive(Debug, Default)]
pub struct Decoder {
    pinned: Option<Dialect>,
    reply: Reply,
    opening: Option<Opening>,
    session: Option<SessionId>,
}

impl Decoder {
    /// Recognises the dialect line by line.
    pub fn detecting() -> Self {
        Self::default()
    }

    /// Reads one dialect only. Openings, executors, `result` records, interrupts, prompts and
    /// texts are read in any case.
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

    /// The events of one record: a JSON object. A record of no known dialect has none.
    pub fn record(&mut self, record: &str) -> Vec<Event> {
        let read = self.record_with_contents(record);
        read.map_or_else(Vec::new, |(events, _)| events)
    }

    /// The events of one record, and its contents; `None` if it is not an object.
    pub fn record_with_contents<'a>(
        &mut self,
        record: &'a str,
    ) -> Option<(Vec<Event>, Contents<'a>)> {
        let contents = Contents::of(record)?;
        Some((self.events(&contents), contents))
    }

    fn events(&mut self, contents: &Contents<'_>) -> Vec<Event> {
        let mut events = Vec::new();
        let record = &contents.record;
        let kind = text(record.kind);
        let sign = sign(kind.as_deref(), record);
        let shape = self.readable(shape(kind.as_deref(), record), contents.has_blocks());
        if sign.is_none() && matches!(shape, Shape::Other) {
            return events;
        }
        if let Some(sign) = sign {
            self.opening(sign, &mut events);
        }
        // The traffic of a subagent has its own calls, results and session.
        if non_null(record.parent_tool_use_id).is_none() {
            self.session(record, &mut events);
            self.content(&shape, contents, &mut events);
        }
        events
    }

    /// The events of the end of the input: open streamed calls are cut off, the turn ends.
    pub fn finish(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        self.reply.finish(&mut events);
        events
    }

    fn readable<'a>(&self, shape: Shape<'a>, has_blocks: bool) -> Shape<'a> {
        match (self.pinned, shape.dialect(has_blocks)) {
            (Some(pinned), Some(dialect)) if pinned != dialect => Shape::Other,
            _ => shape,
        }
    }

    /// An opening record always makes an event, a mark only when it says something new.
    fn opening(&mut self, sign: Sign, events: &mut Vec<Event>) {
        let opening = match sign {
            Sign::Opens(opening) => {
                // What came before is cut off first: it is not of this stream.
                self.reply.new_stream(events);
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
        events.push(Event::Opening(opening));
    }

    fn session(&mut self, record: &Envelope<'_>, events: &mut Vec<Event>) {
        let id = non_empty(record.session_id).or_else(|| non_empty(record.session_id_camel));
        if let Some(id) = id
            && self.session.as_ref().is_none_or(|known| *known.0 != *id)
        {
            let id = SessionId::from(&*id);
            self.session = Some(id.clone());
            events.push(Event::Session(id));
        }
    }

    fn content(&mut self, shape: &Shape<'_>, contents: &Contents<'_>, events: &mut Vec<Event>) {
        let reply = &mut self.reply;
        let record = &contents.record;
        match shape {
            Shape::Assistant(message) => {
                anthropic::assistant(message, contents.blocks(), reply, events);
            }
            Shape::User => anthropic::user(contents.blocks(), reply, events),
            Shape::StreamEvent(event) => anthropic::stream_event(event, reply, events),
            Shape::BareCall => {
                let call = anthropic::bare_call(record.id, record.name, record.input);
                if let Some(call) = call {
                    reply.bare(call, events);
                }
            }
            Shape::BareResult => reply.result(text(record.tool_use_id).as_deref(), None, events),
            Shape::OpenaiAssistant(message) => openai::assistant(message, reply, events),
            Shape::OpenaiResult => {
                let (id, name) = (
                    text(record.tool_call_id),
                    text(record.name.or(record.tool_name)),
                );
                reply.result(id.as_deref(), name.as_deref(), events);
            }
            Shape::Ollama(message) => {
                openai::ollama(message.tool_calls, record, reply, events);
            }
            Shape::Items => items::response(record, reply, events),
            Shape::ItemEvent => {
                items::event(
                    &text(record.kind).unwrap_or_default(),
                    record,
                    reply,
                    events,
                );
            }
            Shape::Completion => openai::completion(record.id, record.choices, reply, events),
            Shape::Content(content) => {
                let id = non_empty(record.uuid).map(|id| MessageId::from(&*id));
                gemini::content(content, id, reply, events);
            }
            Shape::Response => {
                gemini::response(record.response_id, record.candidates, reply, events);
            }
            Shape::SessionResult => reply.session_result(events),
            Shape::Executor => {
                let extension = Extension::of(record.turnpipe).unwrap_or_default();
                let call_ids = non_empty(extension.call_ids).map(Cow::into_owned);
                if let Some(prefix) = call_ids.clone() {
                    reply.made_ids.set_prefix(prefix);
                }
                events.push(Event::Executor { call_ids });
            }
            Shape::Interrupt => events.push(Event::Interrupt {
                request_id: text(record.request_id).unwrap_or_default().into_owned(),
            }),
            Shape::ControlResponse => {
                let response = record
                    .response
                    .map(serde_json::value::RawValue::get)
                    .map(serde_json::from_str);
                events.extend(response.and_then(Result::ok).map(Event::ControlResponse));
            }
            Shape::Other => {}
        }
    }
}
