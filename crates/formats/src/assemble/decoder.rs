//! The decoder: records in, events out.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::Event;
use super::identity::Identity;
use crate::agent::{Opening, PI_FILE, Sign, StreamItem, StreamReader, StreamRow, detect_sign};
use crate::api::{
    Api, AssistantText, Chunk, Contents, Delta, Envelope, Extent, RecordContent, ResultBody,
    read_content,
};
use turnpipe_core::json::{non_empty, object, text};
use turnpipe_core::jsonl::END_OF_EVENTS;
use turnpipe_core::message::{Role, SessionId, ToolUseId};

object! {
    /// The extension of an executor, or of the `init` record of `turn`.
    Extension { call_ids, session_file }
}

/// Decodes records one after the other and joins streamed deltas. Sans-I/O.
///
/// A record without any of [`crate::api::prefilter_needles`] has no events and changes nothing here,
/// so it can be skipped.
#[derive(Debug, Default)]
pub struct Decoder {
    pinned: Option<Api>,
    agent: StreamReader,
    identity: Identity,
    opening: Option<Opening>,
    session: Option<SessionId>,
    items: Items,
}

/// The treatment of calls that are items of a conversation with the Responses API: the replies that made them have
/// been read elsewhere.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Items {
    /// They make no event.
    #[default]
    Skipped,
    /// They are calls.
    Read,
    /// They are calls, and others of the same reply may follow.
    Open,
}

/// A decoded record, or an item in a row of another agent's stream.
#[derive(Debug)]
pub struct Decoded<'a> {
    /// The JSON of the record.
    pub record: &'a str,
    /// Its content.
    pub source: Source<'a>,
    /// Its meaning.
    pub events: Vec<Event>,
}

impl Decoder {
    /// Recognises the API or agent line by line.
    pub fn with_detection() -> Self {
        Self::default()
    }

    /// Reads one API only, and no agent's stream in another format. Openings, executors,
    /// `result` records, interrupts, prompts and texts are read in any case.
    pub fn for_api(api: Api) -> Self {
        Self {
            pinned: Some(api),
            ..Self::default()
        }
    }

    /// Sets the prefix of the ids of calls without one.
    #[must_use]
    pub fn with_call_ids(mut self, prefix: String) -> Self {
        self.identity.generated_ids.set_prefix(prefix);
        self
    }

    /// Reads calls that are items of a conversation too, for a stage that runs none.
    #[must_use]
    pub fn with_items(mut self) -> Self {
        self.items = Items::Read;
        self
    }

    /// Sets the prefix of message ids for the streams of agents that give messages none.
    #[must_use]
    pub fn with_message_ids(mut self, prefix: String) -> Self {
        self.agent.set_message_ids(prefix);
        self
    }

    /// Returns the events of one record: a JSON object. A record of no known kind has none.
    pub fn record(&mut self, record: &str) -> Vec<Event> {
        let mut events = Vec::new();
        self.decode(record, |decoded| events.extend(decoded.events));
        events
    }

    /// Decodes one record. `visit` receives the record, or its items, if any. Returns whether it is an
    /// object.
    pub fn decode(&mut self, record: &str, mut visit: impl FnMut(Decoded<'_>)) -> bool {
        if record == END_OF_EVENTS {
            let end = vec![Delta::Closed];
            self.identity
                .read_chunk(Chunk::single(None, Extent::More, end));
            return self.decode("{}", visit);
        }
        let Some(contents) = Contents::parse(record) else {
            return false;
        };
        let kind = text(contents.record.kind);
        let content = read_content(&contents.record, self.pinned);
        self.read_sign(kind.as_deref(), &contents.record, &content);
        let row = match (&kind, self.pinned) {
            (Some(kind), None) => self.agent.read_row(kind, record, self.opening.as_ref()),
            _ => StreamRow::default(),
        };
        for item in row.items {
            self.identity.read_item(&item);
            visit(Decoded {
                record,
                source: Source::Stream(item),
                events: self.take_events(),
            });
        }
        if !row.is_complete {
            self.apply_content(content, &contents.record);
        }
        let events = self.take_events();
        if !row.is_complete || !events.is_empty() {
            visit(Decoded {
                record,
                source: Source::Record(&contents),
                events,
            });
        }
        true
    }

    /// Reads the evidence in a record about its stream, if its kind is known.
    fn read_sign(
        &mut self,
        kind: Option<&str>,
        record: &Envelope<'_>,
        content: &RecordContent<'_>,
    ) {
        let sign = detect_sign(kind, record);
        if sign.is_none() && matches!(content, RecordContent::Nothing) {
            return;
        }
        let names_session = matches!(sign, Some(Sign::Opens(Opening::Foreign(PI_FILE))));
        let is_ours = matches!(sign, Some(Sign::Opens(Opening::Ours)));
        if let Some(sign) = sign {
            self.add_opening(sign);
        }
        let extension = Extension::from_raw(record.turnpipe).filter(|_| is_ours);
        if let Some(file) = extension.and_then(|extension| non_empty(extension.session_file)) {
            self.identity
                .events
                .push(Event::SessionFile(file.into_owned()));
        }
        // Records of a subagent have their own session.
        if !record.is_of_subagent() {
            self.read_session(record, record.id.filter(|_| names_session));
        }
    }

    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.identity.events)
    }

    /// Returns the text that was incomplete at the end of the input.
    pub fn take_unfinished(&mut self) -> Option<Source<'static>> {
        self.agent.finish().map(Source::Stream)
    }

    /// Returns the events of the end of the input: open streamed calls are cut off, the turn ends.
    pub fn finish(&mut self) -> Vec<Event> {
        self.identity.finish();
        self.take_events()
    }

    /// Adds an event for an opening record, and for a mark if it is new.
    fn add_opening(&mut self, sign: Sign) {
        let opening = match sign {
            Sign::Opens(opening) => {
                // Earlier records are cut off first: they are not part of this stream.
                self.identity.forget_message();
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
        self.identity.events.push(Event::Opening(opening));
    }

    /// Reads the id of the session, whose name differs between agents.
    fn read_session(&mut self, record: &Envelope<'_>, own_id: Option<&RawValue>) {
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
            self.identity.events.push(Event::Session(id));
        }
    }

    fn apply_content(&mut self, content: RecordContent<'_>, record: &Envelope<'_>) {
        // Records of a subagent have their own calls and results.
        if record.is_of_subagent() {
            return;
        }
        let identity = &mut self.identity;
        if self.items == Items::Open && matches!(content, RecordContent::User(_)) {
            self.items = Items::Read;
            identity.read_chunk(Chunk::single(None, Extent::More, vec![Delta::Closed]));
        }
        match content {
            RecordContent::Reply(chunk) => identity.read_chunk(chunk),
            RecordContent::Item(_) if self.items == Items::Skipped => {}
            RecordContent::Item(chunk) => {
                self.items = Items::Open;
                identity.read_chunk(chunk);
            }
            RecordContent::BareCall(call) => identity.read_bare_call(call),
            RecordContent::User(results) if results.is_empty() => identity.read_prompt(),
            RecordContent::User(results) => {
                for result in results {
                    identity.read_result(result.id.as_deref(), result.name.as_deref());
                }
            }
            RecordContent::SessionResult => identity.read_session_result(),
            RecordContent::Executor => {
                let extension = Extension::from_raw(record.turnpipe).unwrap_or_default();
                let call_ids = non_empty(extension.call_ids).map(Cow::into_owned);
                if let Some(prefix) = call_ids.clone() {
                    identity.generated_ids.set_prefix(prefix);
                }
                identity.events.push(Event::Executor { call_ids });
            }
            RecordContent::Interrupt => identity.events.push(Event::Interrupt {
                request_id: text(record.request_id).unwrap_or_default().into_owned(),
            }),
            RecordContent::ControlResponse => {
                let response = record.response.map(RawValue::get).map(serde_json::from_str);
                let response = response.and_then(Result::ok);
                identity.events.extend(response.map(Event::ControlResponse));
            }
            RecordContent::Nothing => {}
        }
    }
}

/// The source of events.
#[derive(Debug)]
pub enum Source<'a> {
    /// A record of an API or a transcript.
    Record(&'a Contents<'a>),
    /// An item of another agent's stream.
    Stream(StreamItem),
}

impl<'a> Source<'a> {
    /// Whether the record belongs to a subagent's conversation, in a transcript.
    pub fn is_sidechain(&self) -> bool {
        matches!(self, Self::Record(contents) if contents.is_sidechain())
    }

    /// Returns the working directory.
    pub fn directory(&self) -> Option<String> {
        match self {
            Self::Record(contents) => contents.directory(),
            Self::Stream(_) => None,
        }
    }

    /// Returns the calls that the record is a label for.
    pub fn labelled_calls(&self) -> Vec<ToolUseId> {
        match self {
            Self::Record(contents) => contents.labelled_calls(),
            Self::Stream(_) => Vec::new(),
        }
    }

    /// Returns the results, in the order of their events.
    pub fn results(&self) -> Vec<ResultBody<'a>> {
        match self {
            Self::Record(contents) => contents.results(),
            Self::Stream(StreamItem::Message { message, .. }) => {
                message.results().map(ResultBody::from_result).collect()
            }
            Self::Stream(_) => Vec::new(),
        }
    }

    /// Returns the text of the main conversation's model, if there is any.
    pub fn assistant_text(&self) -> Option<AssistantText> {
        match self {
            Self::Record(contents) => contents.assistant_text(),
            Self::Stream(StreamItem::Text(part)) => Some(AssistantText::Part(part.clone())),
            Self::Stream(StreamItem::Message { message, .. }) => {
                let text = message.text();
                let is_said = message.role == Role::Assistant && !text.is_empty();
                is_said.then_some(AssistantText::Whole(text))
            }
            Self::Stream(StreamItem::Start(_)) => None,
        }
    }
}
