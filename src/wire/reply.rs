//! What the decoder remembers between records: the message that is open, its streamed calls, and
//! whether the turn has ended. Knows no dialect.
//!
//! A message id begins one message, however many records carry it:
//!
//! | what comes | message | turn |
//! |---|---|---|
//! | the start of a streamed message | a new one | the open one ends (`NewMessage`) |
//! | a whole record, id of the open message or of one of the last few | the same one | goes on |
//! | a whole record inside of a streamed message, none of whose calls is unknown | the same one (an agent may give each kind of block its own id) | goes on |
//! | any other whole record | a new one | the open one ends (`NewMessage`) |
//! | a stop reason | the same one | ends (`Stop`) |
//! | a new call after that | the same one | opens again, so that an end follows every call |
//! | a prompt, a `result` record, the end of the input | none | ends |
//!
//! A turn is open from a message's or call's begin to its end; only an open turn ends. The
//! exception is a `result` record, which is always followed by `TurnEnd(SessionResult)`.
//!
//! A call is let out once. Within one message the same id, name and input is the same call, if it
//! stands in another record, until a result for it comes. In another message it is another call. Of
//! calls that came as deltas or were cut off, whole records tell nothing new.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

use super::deltas::Joiner;
use super::ending::Ending;
use super::made_ids::MadeIds;
use super::{Event, ToolCall, TurnEnd};
use crate::message::{MessageId, ToolUseId};

/// This many earlier messages are recognised by their id.
const REMEMBERED: usize = 16;

/// The message that is open, and what went before.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// The calls of the streamed message.
    pub(super) joiner: Joiner,
    pub(super) made_ids: MadeIds,
    /// What the record means that is being read, so far.
    pub(super) events: Vec<Event>,
    message: Option<Open>,
    earlier: VecDeque<MessageId>,
    turn_is_open: bool,
    /// How many messages began so far.
    messages: u64,
    hasher: RandomState,
    /// The calls let out since the last prompt, as keyed hashes: a few bytes a call.
    calls: HashSet<u64>,
    /// The ids of those of them of which whole records tell nothing new.
    settled: HashSet<u64>,
    /// How many results came since then for each id.
    results: HashMap<u64, u64>,
}

#[derive(Debug)]
struct Open {
    id: Option<MessageId>,
    /// Deltas of it may still come.
    streaming: bool,
    /// The hashes of its streamed calls.
    streamed: Vec<u64>,
}

/// What a call belongs to.
#[derive(Debug, Clone, Copy, Hash)]
enum Place<'a> {
    /// A message with an id, however many records it has.
    Named(&'a MessageId),
    /// The message that began as this one, and has no id.
    Unnamed(u64),
    /// No message, but the lines after this one.
    Bare(u64),
}

/// A record with content of a message: all of it, or a part.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// The message's id.
    pub(super) id: Option<MessageId>,
    /// The calls in it, in order.
    pub(super) calls: Vec<ToolCall>,
    /// Whether the last of the calls is the last of all that is in it: if the message was cut,
    /// this call is unusable.
    pub(super) last_block_is_call: bool,
    /// The stop reason, if there is one.
    pub(super) ending: Option<Ending>,
}

impl Reply {
    /// Whether deltas belong to a message.
    pub(super) fn is_streaming(&self) -> bool {
        self.message.as_ref().is_some_and(|open| open.streaming)
    }

    /// Whether a message is open, and nothing says that `id` is another one's.
    pub(super) fn may_be_open(&self, id: Option<&MessageId>) -> bool {
        let same = |open: &Open| open.id.is_none() || id.is_none() || open.id.as_ref() == id;
        self.message.as_ref().is_some_and(same)
    }

    /// A streamed message begins.
    pub(super) fn begin_stream(&mut self, id: Option<MessageId>) {
        self.begin(id);
        if let Some(open) = &mut self.message {
            open.streaming = true;
        }
    }

    /// More deltas of the open message come after all.
    pub(super) fn resume_stream(&mut self) {
        if let Some(open) = &mut self.message {
            open.streaming = true;
        }
    }

    /// A record with content of a message.
    pub(super) fn whole(&mut self, whole: Whole) {
        let Whole {
            mut id,
            calls,
            last_block_is_call,
            ending,
        } = whole;
        if self.is_of_stream(&calls) {
            id = self.message.as_ref().and_then(|open| open.id.clone());
        } else if !id.as_ref().is_some_and(|id| self.earlier.contains(id)) {
            self.begin(id.clone());
        }
        let is_open = self.message.as_ref().is_some_and(|open| open.id == id);
        let place = id
            .as_ref()
            .map_or(Place::Unnamed(self.messages), Place::Named);
        let mut before = Vec::new();
        let mut new = Vec::new();
        let count = calls.len();
        for (position, call) in calls.into_iter().enumerate() {
            let is_streamed = is_open && self.is_streamed(&call);
            if is_streamed || self.is_settled(place, &call) {
                continue;
            }
            let hash = self.call_hash(place, &call, &before);
            before.push(hash.0);
            if self.calls.insert(hash.1) {
                new.push((position, call));
            }
        }
        for (position, mut call) in new {
            if let (Some(Ending::Cut(reason)), true) = (&ending, last_block_is_call)
                && position + 1 == count
            {
                call = call.cut_off(reason.clone());
            }
            if call.input.is_err() {
                self.settle(place, &call);
            }
            self.out(call, id.clone());
        }
        if let Some(ending) = ending {
            self.stop(0, ending);
        }
    }

    /// A call that stands alone, in no message.
    pub(super) fn bare(&mut self, call: ToolCall) {
        let (_, hash) = self.call_hash(Place::Bare(self.messages), &call, &[]);
        if self.calls.insert(hash) {
            self.out(call, None);
        }
    }

    /// A result for the call with this id. Without an id it answers a call that had none either,
    /// of the tool with this name if there is one.
    pub(super) fn result(&mut self, id: Option<&str>, name: Option<&str>) {
        let id = match id.filter(|id| !id.is_empty()) {
            Some(id) => {
                self.made_ids.answered(id);
                Some(ToolUseId::from(id))
            }
            None => self.made_ids.answer(name.filter(|name| !name.is_empty())),
        };
        if let Some(id) = id {
            *self.results.entry(self.hasher.hash_one(&id)).or_default() += 1;
            self.events.push(Event::Result(id));
        }
    }

    /// Lets out the streamed calls that are ready.
    pub(super) fn release(&mut self) {
        for call in self.joiner.release() {
            self.out_of_stream(call);
        }
    }

    /// A stop reason, or the end of a streamed message.
    pub(super) fn stop(&mut self, choice: u64, ending: Ending) {
        for call in self.joiner.stop(choice, ending) {
            self.out_of_stream(call);
        }
        if self.joiner.holds_calls() {
            return;
        }
        if let Some(open) = &mut self.message {
            open.streaming = false;
        }
        self.end_turn(TurnEnd::Stop);
    }

    /// A user record without results.
    pub(super) fn prompt(&mut self) {
        self.forget_message();
        self.end_turn(TurnEnd::Prompt);
        self.events.push(Event::Prompt);
    }

    /// A `result` record.
    pub(super) fn session_result(&mut self) {
        self.forget_message();
        self.events.push(Event::SessionResult);
        self.events.push(Event::TurnEnd(TurnEnd::SessionResult));
        self.turn_is_open = false;
    }

    /// An opening record: what comes now is another stream or another turn of it.
    pub(super) fn new_stream(&mut self) {
        self.forget_message();
    }

    /// The input has ended.
    pub(super) fn finish(&mut self) {
        self.forget_message();
        self.end_turn(TurnEnd::EndOfInput);
    }

    /// Whether a whole record with these calls belongs to the message that is streamed: all of them
    /// are known from its deltas.
    fn is_of_stream(&self, calls: &[ToolCall]) -> bool {
        self.is_streaming() && calls.iter().all(|call| self.is_streamed(call))
    }

    /// Whether deltas of the streamed message tell of this call.
    fn is_streamed(&self, call: &ToolCall) -> bool {
        self.joiner.knows(call.id.as_str())
    }

    /// A hash of the call, and another one that tells it from the same calls `before` it.
    fn call_hash(&self, place: Place<'_>, call: &ToolCall, before: &[u64]) -> (u64, u64) {
        let results = self.results.get(&self.hasher.hash_one(&call.id));
        let hash = (place, &call.id, call.content(), results);
        let hash = self.hasher.hash_one(hash);
        let same = before.iter().filter(|before| **before == hash).count();
        (hash, self.hasher.hash_one((hash, same)))
    }

    fn is_settled(&self, place: Place<'_>, call: &ToolCall) -> bool {
        self.settled
            .contains(&self.hasher.hash_one((place, &call.id)))
    }

    /// Whole records tell nothing new of this call.
    fn settle(&mut self, place: Place<'_>, call: &ToolCall) {
        let hash = self.hasher.hash_one((place, &call.id));
        self.settled.insert(hash);
    }

    fn begin(&mut self, id: Option<MessageId>) {
        self.cut_streamed();
        self.joiner = Joiner::default();
        self.end_turn(TurnEnd::NewMessage);
        self.turn_is_open = true;
        self.messages += 1;
        if let Some(id) = &id {
            if self.earlier.len() == REMEMBERED {
                self.earlier.pop_front();
            }
            self.earlier.push_back(id.clone());
        }
        self.message = Some(Open {
            id: id.clone(),
            streaming: false,
            streamed: Vec::new(),
        });
        self.events.push(Event::Message(id));
    }

    /// Lets a streamed call out.
    fn out_of_stream(&mut self, call: ToolCall) {
        let Some(mut open) = self.message.take() else {
            return self.out(call, None);
        };
        let place = open
            .id
            .as_ref()
            .map_or(Place::Unnamed(self.messages), Place::Named);
        let (hash, unique) = self.call_hash(place, &call, &open.streamed);
        self.settle(place, &call);
        open.streamed.push(hash);
        let id = open.id.clone();
        self.message = Some(open);
        if self.calls.insert(unique) {
            self.out(call, id);
        }
    }

    /// Lets out a call of the message `message`.
    fn out(&mut self, mut call: ToolCall, message: Option<MessageId>) {
        if call.id.as_str().is_empty() {
            call.id = self.made_ids.make(&call.name, self.messages);
        }
        self.turn_is_open = true;
        call.message = message;
        self.events.push(Event::Call(call));
    }

    fn end_turn(&mut self, end: TurnEnd) {
        if self.turn_is_open {
            self.turn_is_open = false;
            self.events.push(Event::TurnEnd(end));
        }
    }

    fn forget_message(&mut self) {
        self.cut_streamed();
        self.message = None;
        self.messages += 1;
        self.earlier.clear();
        self.calls.clear();
        self.settled.clear();
        self.results.clear();
    }

    fn cut_streamed(&mut self) {
        for call in self.joiner.cut() {
            self.out_of_stream(call);
        }
    }
}
