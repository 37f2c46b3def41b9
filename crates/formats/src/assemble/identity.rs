//! Decides which call is which: tracks the open message, its streamed calls, and whether the turn
//! has ended. Independent of APIs.
//!
//! A message id starts one message, however many records have it:
//!
//! | input | message | turn |
//! |---|---|---|
//! | the start of a streamed message | a new one | the open one ends (`NewMessage`) |
//! | a whole record, id of the open message or of one of the last few | the same one | continues |
//! | a whole record inside a streamed message, all of whose calls are known | the same one (an agent may give each kind of block its own id) | continues |
//! | any other whole record | a new one | the open one ends (`NewMessage`) |
//! | a stop reason | the same one | ends (`Stop`) |
//! | a new call after that | the same one | opens again, so that an end follows every call |
//! | a prompt, a `result` record, the end of the input | none | ends |
//!
//! A turn is open from the start of a message or call to its end; only an open turn ends. The
//! exception is a `result` record, which is always followed by `TurnEnd(SessionResult)`.
//!
//! A call is emitted once. Within one message the same id, name and input in another record is the
//! same call, until its result comes. In another message it is another call. Whole records add
//! nothing to calls that came as deltas or were cut off.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

use super::generated_ids::GeneratedIds;
use super::joiner::Joiner;
use super::{Event, ToolCall, TurnEnd};
use crate::agent::StreamItem;
use crate::api::{Arguments, CallDelta, Chunk, CutOff, Delta, End, EndKind, Extent};
use turnpipe_core::message::{Block, MessageId, Role, ToolUseId};

/// The number of earlier messages that are recognised by their id.
const MAX_EARLIER: usize = 16;

/// The open message, and facts about earlier ones.
#[derive(Debug, Default)]
pub(super) struct Identity {
    /// The calls of the streamed message.
    joiner: Joiner,
    pub(super) generated_ids: GeneratedIds,
    /// The events of the current record so far.
    pub(super) events: Vec<Event>,
    message: Option<OpenMessage>,
    earlier: VecDeque<MessageId>,
    is_turn_open: bool,
    /// The number of messages so far.
    message_count: u64,
    hasher: RandomState,
    /// The calls emitted since the last prompt, as keyed hashes: a few bytes per call.
    calls: HashSet<u64>,
    /// Calls whose whole records add nothing.
    settled: HashSet<u64>,
    /// The number of results since then, by id.
    results: HashMap<u64, u64>,
}

#[derive(Debug)]
struct OpenMessage {
    id: Option<MessageId>,
    /// Whether more deltas may follow.
    is_streaming: bool,
    /// The hashes of its streamed calls.
    streamed_calls: Vec<u64>,
}

/// The owner of a call.
#[derive(Debug, Clone, Copy, Hash)]
enum Owner<'a> {
    /// A message with an id, however many records it has.
    Named(&'a MessageId),
    /// The message of this number, without an id.
    Unnamed(u64),
    /// No message, but the lines after this one.
    Bare(u64),
}

/// Returns the cut-off caused by an end.
fn to_cut_off(end: &End) -> Option<CutOff> {
    match end.kind {
        EndKind::Regular => None,
        EndKind::Budget => Some(CutOff::TokenLimit(end.reason.clone())),
        EndKind::Declined(_) | EndKind::Failed(_) => Some(CutOff::Stopped(end.reason.clone())),
    }
}

fn to_delta(block: &Block) -> Delta<'_> {
    match block {
        Block::Call(call) => Delta::Call(CallDelta {
            index: None,
            id: Some(Cow::Borrowed(&call.id)),
            name: Some(Cow::Borrowed(&call.name)),
            arguments: Arguments::Json(&call.input),
        }),
        _ => Delta::Block,
    }
}

impl Identity {
    /// Takes the replies in a record.
    pub(super) fn read_chunk(&mut self, chunk: Chunk<'_>) {
        let id = chunk.id.map(|id| MessageId(id.into_owned()));
        if chunk.extent == Extent::Whole {
            for choice in chunk.choices {
                self.read_whole(id.clone(), choice.deltas);
            }
        } else if self.open_message(chunk.extent, id) {
            for choice in chunk.choices {
                for delta in choice.deltas {
                    self.read_delta(choice.index, delta);
                }
                self.emit_ready();
            }
        }
    }

    /// Takes an item of an agent's stream.
    pub(super) fn read_item(&mut self, item: &StreamItem) {
        match item {
            StreamItem::Start(id) => {
                let id = id.as_ref().map(|id| id.as_str().into());
                self.read_chunk(Chunk::single(id, Extent::Start, Vec::new()));
            }
            StreamItem::Text(_) => {}
            StreamItem::Message {
                message,
                stop_reason,
            } if message.role == Role::Assistant => {
                let mut deltas: Vec<Delta<'_>> = message.blocks.iter().map(to_delta).collect();
                let end = stop_reason.as_deref().map(End::from_reason);
                deltas.extend(end.map(Delta::End));
                let id = message.id.as_deref().map(Cow::Borrowed);
                self.read_chunk(Chunk::single(id, Extent::Whole, deltas));
            }
            StreamItem::Message { message, .. } => {
                let mut results = message.results().peekable();
                if results.peek().is_none() {
                    self.read_prompt();
                }
                for result in results {
                    self.read_result(Some(&result.id), None);
                }
            }
        }
    }

    fn read_delta(&mut self, choice: u64, delta: Delta<'_>) {
        match delta {
            Delta::End(end) => {
                self.emit_ready();
                self.end_reply(choice, to_cut_off(&end));
            }
            Delta::Closed => self.end_reply(choice, None),
            delta => {
                self.joiner.push(choice, delta);
            }
        }
    }

    /// Opens a streamed message for deltas if they need one. Some servers give each chunk its own id,
    /// some send usage or a second stop reason after the end, some repeat the role. Returns whether
    /// the deltas are read.
    fn open_message(&mut self, extent: Extent, id: Option<MessageId>) -> bool {
        let is_same = self.is_open_message(id.as_ref());
        let is_streaming = self.is_streaming();
        let begins = match extent {
            Extent::Whole | Extent::Start => true,
            Extent::More => return true,
            Extent::MoreOrStart => {
                if !is_streaming {
                    self.begin_stream(None);
                }
                return true;
            }
            Extent::ByRole {
                has_role,
                has_calls,
                has_content,
            } => {
                if is_streaming {
                    if has_role && !is_same {
                        self.begin_stream(id);
                    }
                    return true;
                }
                if is_same && !has_role {
                    return self.reopen_if(has_calls);
                }
                has_content
            }
            Extent::ById {
                has_content,
                has_end,
            } => {
                if is_streaming && is_same {
                    return true;
                }
                // After the end, the same id only has usage or another candidate.
                if is_same && id.is_some() {
                    return self.reopen_if(has_content);
                }
                has_content || has_end
            }
        };
        if begins {
            self.begin_stream(id);
        }
        begins
    }

    /// Reopens the message for deltas after its end, if they have `content`.
    fn reopen_if(&mut self, content: bool) -> bool {
        if let Some(open) = self.message.as_mut().filter(|_| content) {
            open.is_streaming = true;
        }
        content
    }

    fn is_streaming(&self) -> bool {
        self.message.as_ref().is_some_and(|open| open.is_streaming)
    }

    /// Whether a message is open, and does not have another id.
    fn is_open_message(&self, id: Option<&MessageId>) -> bool {
        let same = |open: &OpenMessage| open.id.is_none() || id.is_none() || open.id.as_ref() == id;
        self.message.as_ref().is_some_and(same)
    }

    fn begin_stream(&mut self, id: Option<MessageId>) {
        self.begin_message(id);
        if let Some(open) = &mut self.message {
            open.is_streaming = true;
        }
    }

    /// Handles a record with a whole message, or with whole blocks of one.
    fn read_whole(&mut self, mut id: Option<MessageId>, deltas: Vec<Delta<'_>>) {
        let mut calls = Vec::new();
        let mut last_is_call = false;
        let mut end = None;
        for delta in deltas {
            if delta.is_content() {
                last_is_call = matches!(delta, Delta::Call(_));
            }
            match delta {
                Delta::Call(call) => calls.push(ToolCall::from_delta(call)),
                Delta::End(reason) => end = Some(reason),
                _ => {}
            }
        }
        if self.is_of_stream(&calls) {
            id = self.message.as_ref().and_then(|open| open.id.clone());
        } else if !id.as_ref().is_some_and(|id| self.earlier.contains(id)) {
            self.begin_message(id.clone());
        }
        let is_open = self.message.as_ref().is_some_and(|open| open.id == id);
        let owner = id
            .as_ref()
            .map_or(Owner::Unnamed(self.message_count), Owner::Named);
        let mut before = Vec::new();
        let mut new = Vec::new();
        let count = calls.len();
        for (position, call) in calls.into_iter().enumerate() {
            let is_streamed = is_open && self.is_streamed(&call);
            if is_streamed || self.is_settled(owner, &call) {
                continue;
            }
            let hash = self.hash_call(owner, &call, &before);
            before.push(hash.0);
            if self.calls.insert(hash.1) {
                new.push((position, call));
            }
        }
        let cut = end.as_ref().and_then(to_cut_off).filter(|_| last_is_call);
        for (position, mut call) in new {
            if let Some(reason) = cut.clone().filter(|_| position + 1 == count) {
                call = call.with_cut_off(reason);
            }
            if call.input.is_err() {
                self.mark_settled(owner, &call);
            }
            self.emit(call, id.clone());
        }
        if let Some(end) = end {
            self.end_reply(0, self::to_cut_off(&end));
        }
    }

    /// Handles a call that belongs to no message.
    pub(super) fn read_bare_call(&mut self, call: CallDelta<'_>) {
        let call = ToolCall::from_delta(call);
        let (_, hash) = self.hash_call(Owner::Bare(self.message_count), &call, &[]);
        if self.calls.insert(hash) {
            self.emit(call, None);
        }
    }

    /// Handles a result for the call with this id. Without an id it belongs to a call without an
    /// id, of the tool with this name if there is one.
    pub(super) fn read_result(&mut self, id: Option<&str>, name: Option<&str>) {
        let id = match id.filter(|id| !id.is_empty()) {
            Some(id) => {
                self.generated_ids.record_result(id);
                Some(ToolUseId::from(id))
            }
            None => self
                .generated_ids
                .take_open_id(name.filter(|name| !name.is_empty())),
        };
        if let Some(id) = id {
            *self.results.entry(self.hasher.hash_one(&id)).or_default() += 1;
            self.events.push(Event::Result(id));
        }
    }

    /// Emits the streamed calls that are ready.
    fn emit_ready(&mut self) {
        for call in self.joiner.release_ready() {
            self.emit_streamed(call);
        }
    }

    /// Handles a stop reason, or the end of a streamed message.
    fn end_reply(&mut self, choice: u64, cut: Option<CutOff>) {
        for call in self.joiner.end_reply(choice, cut) {
            self.emit_streamed(call);
        }
        if self.joiner.has_calls() {
            return;
        }
        if let Some(open) = &mut self.message {
            open.is_streaming = false;
        }
        self.end_turn(TurnEnd::Stop);
    }

    /// Handles a user record without results.
    pub(super) fn read_prompt(&mut self) {
        self.forget_message();
        self.end_turn(TurnEnd::Prompt);
        self.events.push(Event::Prompt);
    }

    /// Handles a `result` record.
    pub(super) fn read_session_result(&mut self) {
        self.forget_message();
        self.events.push(Event::SessionResult);
        self.events.push(Event::TurnEnd(TurnEnd::SessionResult));
        self.is_turn_open = false;
    }

    /// Handles the end of the input.
    pub(super) fn finish(&mut self) {
        self.forget_message();
        self.end_turn(TurnEnd::EndOfInput);
    }

    /// Whether a whole record with these calls belongs to the message that is streamed: all of them
    /// are known from its deltas.
    fn is_of_stream(&self, calls: &[ToolCall]) -> bool {
        self.is_streaming() && calls.iter().all(|call| self.is_streamed(call))
    }

    /// Whether deltas of the streamed message contain this call.
    fn is_streamed(&self, call: &ToolCall) -> bool {
        self.joiner.has_id(call.id.as_str())
    }

    /// Returns a hash of the call, and another one that distinguishes it from equal calls `before` it.
    fn hash_call(&self, owner: Owner<'_>, call: &ToolCall, before: &[u64]) -> (u64, u64) {
        let results = self.results.get(&self.hasher.hash_one(&call.id));
        let hash = (owner, &call.id, call.to_key(), results);
        let hash = self.hasher.hash_one(hash);
        let same = before.iter().filter(|before| **before == hash).count();
        (hash, self.hasher.hash_one((hash, same)))
    }

    fn is_settled(&self, owner: Owner<'_>, call: &ToolCall) -> bool {
        self.settled
            .contains(&self.hasher.hash_one((owner, &call.id)))
    }

    /// Marks a call whose whole records add nothing.
    fn mark_settled(&mut self, owner: Owner<'_>, call: &ToolCall) {
        let hash = self.hasher.hash_one((owner, &call.id));
        self.settled.insert(hash);
    }

    fn begin_message(&mut self, id: Option<MessageId>) {
        self.emit_cut_off_calls();
        self.joiner = Joiner::default();
        self.end_turn(TurnEnd::NewMessage);
        self.is_turn_open = true;
        self.message_count += 1;
        if let Some(id) = &id {
            if self.earlier.len() == MAX_EARLIER {
                self.earlier.pop_front();
            }
            self.earlier.push_back(id.clone());
        }
        self.message = Some(OpenMessage {
            id: id.clone(),
            is_streaming: false,
            streamed_calls: Vec::new(),
        });
        self.events.push(Event::Message(id));
    }

    /// Emits a streamed call.
    fn emit_streamed(&mut self, call: ToolCall) {
        let Some(mut open) = self.message.take() else {
            return self.emit(call, None);
        };
        let owner = open
            .id
            .as_ref()
            .map_or(Owner::Unnamed(self.message_count), Owner::Named);
        let (hash, unique) = self.hash_call(owner, &call, &open.streamed_calls);
        self.mark_settled(owner, &call);
        open.streamed_calls.push(hash);
        let id = open.id.clone();
        self.message = Some(open);
        if self.calls.insert(unique) {
            self.emit(call, id);
        }
    }

    /// Emits a call of the message `message`.
    fn emit(&mut self, mut call: ToolCall, message: Option<MessageId>) {
        if call.id.as_str().is_empty() {
            call.id = self.generated_ids.make_id(&call.name, self.message_count);
        }
        self.is_turn_open = true;
        call.message = message;
        self.events.push(Event::Call(call));
    }

    fn end_turn(&mut self, end: TurnEnd) {
        if self.is_turn_open {
            self.is_turn_open = false;
            self.events.push(Event::TurnEnd(end));
        }
    }

    /// Ends the open message and forgets earlier ones, since another stream or turn starts.
    pub(super) fn forget_message(&mut self) {
        self.emit_cut_off_calls();
        self.message = None;
        self.message_count += 1;
        self.earlier.clear();
        self.calls.clear();
        self.settled.clear();
        self.results.clear();
    }

    fn emit_cut_off_calls(&mut self) {
        for call in self.joiner.release_cut_off() {
            self.emit_streamed(call);
        }
    }
}
