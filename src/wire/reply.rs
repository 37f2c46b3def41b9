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

use std::collections::{HashSet, VecDeque};

use super::arguments::{call_id, cut_off};
use super::deltas::Joiner;
use super::ending::Ending;
use super::{Event, MessageId, ToolUseId, TurnEnd};

/// This many earlier messages are recognised by their id.
const REMEMBERED: usize = 16;

/// The message that is open, and what went before.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// The calls of the streamed message.
    pub(super) joiner: Joiner,
    message: Option<Open>,
    earlier: VecDeque<MessageId>,
    turn_is_open: bool,
}

#[derive(Debug)]
struct Open {
    id: Option<MessageId>,
    /// Deltas of it may still come.
    streaming: bool,
    calls: HashSet<ToolUseId>,
}

/// A record with content of a message: all of it, or a part.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// The message's id.
    pub(super) id: Option<MessageId>,
    /// The calls in it, in order.
    pub(super) calls: Vec<Event>,
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
    pub(super) fn begin_stream(&mut self, id: Option<MessageId>, events: &mut Vec<Event>) {
        self.begin(id.clone(), events);
        self.joiner.begin(id);
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
    pub(super) fn whole(&mut self, whole: Whole, events: &mut Vec<Event>) {
        let Whole {
            id,
            mut calls,
            last_block_is_call,
            ending,
        } = whole;
        if !self.is_known(id.as_ref(), &calls) {
            self.begin(id, events);
        }
        // Of a call that is out already more is known than that it stands last in this record.
        if let (Some(Ending::Cut(reason)), true) = (&ending, last_block_is_call)
            && let Some(last) = calls.pop_if(|last| !self.is_out(last))
        {
            calls.push(cut_off(last, reason.clone()));
        }
        for call in calls {
            let held = self.is_streaming();
            if let Some(call) = if held {
                self.joiner.hold(call)
            } else {
                Some(call)
            } {
                self.out(call, events);
            }
        }
        if let Some(ending) = ending {
            self.stop(0, ending, events);
        }
    }

    /// A call that stands alone, in no message.
    pub(super) fn bare(&mut self, call: Event, events: &mut Vec<Event>) {
        self.turn_is_open = true;
        events.push(call);
    }

    /// Lets out the streamed calls that are ready.
    pub(super) fn release(&mut self, events: &mut Vec<Event>) {
        for call in self.joiner.release() {
            self.out(call, events);
        }
    }

    /// A stop reason, or the end of a streamed message.
    pub(super) fn stop(&mut self, choice: u64, ending: Ending, events: &mut Vec<Event>) {
        for call in self.joiner.stop(choice, ending) {
            self.out(call, events);
        }
        if self.joiner.holds_calls() {
            return;
        }
        if let Some(open) = &mut self.message {
            open.streaming = false;
        }
        self.end_turn(TurnEnd::Stop, events);
    }

    /// A user record without results.
    pub(super) fn prompt(&mut self, events: &mut Vec<Event>) {
        self.forget_message(events);
        self.end_turn(TurnEnd::Prompt, events);
        events.push(Event::Prompt);
    }

    /// A `result` record.
    pub(super) fn session_result(&mut self, events: &mut Vec<Event>) {
        self.forget_message(events);
        events.push(Event::SessionResult);
        events.push(Event::TurnEnd(TurnEnd::SessionResult));
        self.turn_is_open = false;
    }

    /// An opening record: what comes now is another stream or another turn of it.
    pub(super) fn new_stream(&mut self, events: &mut Vec<Event>) {
        self.forget_message(events);
    }

    /// The input has ended.
    pub(super) fn finish(&mut self, events: &mut Vec<Event>) {
        self.forget_message(events);
        self.end_turn(TurnEnd::EndOfInput, events);
    }

    fn is_known(&self, id: Option<&MessageId>, calls: &[Event]) -> bool {
        if id.is_some_and(|id| self.earlier.contains(id)) {
            return true;
        }
        let known = |call: &Event| {
            let joining = call_id(call).is_none_or(|id| self.joiner.knows(id.as_str()));
            joining || self.is_out(call)
        };
        self.is_streaming() && calls.iter().all(known)
    }

    /// Whether a call with the same id of the open message was let out.
    fn is_out(&self, call: &Event) -> bool {
        let calls = self.message.as_ref().map(|open| &open.calls);
        let id = call_id(call);
        calls.is_some_and(|calls| id.is_some_and(|id| calls.contains(id)))
    }

    fn begin(&mut self, id: Option<MessageId>, events: &mut Vec<Event>) {
        self.cut_streamed(events);
        self.end_turn(TurnEnd::NewMessage, events);
        self.turn_is_open = true;
        if let Some(id) = &id {
            if self.earlier.len() == REMEMBERED {
                self.earlier.pop_front();
            }
            self.earlier.push_back(id.clone());
        }
        self.message = Some(Open {
            id: id.clone(),
            streaming: false,
            calls: HashSet::new(),
        });
        events.push(Event::Message(id));
    }

    fn out(&mut self, call: Event, events: &mut Vec<Event>) {
        let is_new = match (call_id(&call), &mut self.message) {
            (Some(id), Some(open)) => open.calls.insert(id.clone()),
            (Some(_) | None, _) => true,
        };
        self.turn_is_open |= is_new;
        events.push(call);
    }

    fn end_turn(&mut self, end: TurnEnd, events: &mut Vec<Event>) {
        if self.turn_is_open {
            self.turn_is_open = false;
            events.push(Event::TurnEnd(end));
        }
    }

    fn forget_message(&mut self, events: &mut Vec<Event>) {
        self.cut_streamed(events);
        self.message = None;
        self.earlier.clear();
    }

    fn cut_streamed(&mut self, events: &mut Vec<Event>) {
        for call in self.joiner.cut() {
            self.out(call, events);
        }
    }
}
