//! Joins the calls of one streamed message from their parts. Pure: parts in, calls out.
//!
//! A call is let out when its arguments are complete and something after it was seen: another
//! block, another call or a stop reason (servers close calls that they cut off as `{}`). Calls
//! come out in the order in which they began. When a message begins or ends is not decided here.

use serde_json::value::RawValue;

use super::arguments::Arguments;
use super::balance::Balance;
use super::ending::Ending;
use super::{CutOff, ToolCall};
use crate::json::from_wtf8;

/// Where a streamed call stands in its message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Slot {
    /// Which of several alternative replies; 0 where there is but one.
    pub(super) choice: u64,
    /// The index of the block or call.
    pub(super) index: u64,
}

/// How the end of a call's arguments shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Closing {
    /// The stream says so ([`Joiner::close`]).
    #[default]
    Announced,
    /// It does not: once another call began, whole arguments are the end.
    Whole,
}

/// The calls of one streamed message.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    calls: Vec<Streamed>,
    /// All calls before this one are out.
    first_held: usize,
}

#[derive(Debug, Default)]
struct Streamed {
    slot: Slot,
    closing: Closing,
    id: Option<String>,
    name: String,
    /// Arguments that came in one piece; fragments win over them.
    input: Option<Box<RawValue>>,
    fragments: Vec<u8>,
    balance: Balance,
    /// The stream said that the arguments are complete.
    closed: bool,
    /// Something after this call was seen.
    followed: bool,
    out: bool,
}

impl Streamed {
    fn ready(&self) -> bool {
        self.followed
            && match self.closing {
                Closing::Announced => self.closed,
                Closing::Whole => self.closed || self.input.is_some() || self.balance.is_whole(),
            }
    }

    fn settle(&mut self) -> ToolCall {
        self.out = true;
        let fragments = std::mem::take(&mut self.fragments);
        let arguments = match &self.input {
            Some(input) if fragments.is_empty() => Arguments::Json(input),
            _ => Arguments::Text(from_wtf8(fragments)),
        };
        let call = ToolCall::seen(self.id.as_deref(), &self.name, arguments);
        self.input = None;
        call
    }
}

impl Joiner {
    /// A call begins in `slot`. An earlier one there has ended.
    pub(super) fn start(&mut self, slot: Slot, closing: Closing) {
        self.follow(slot.choice);
        if let Some(earlier) = self.held(slot) {
            earlier.closed = true;
        }
        self.calls.push(Streamed {
            slot,
            closing,
            ..Streamed::default()
        });
    }

    /// A block that is no call begins.
    pub(super) fn follow(&mut self, choice: u64) {
        for call in &mut self.calls[self.first_held..] {
            call.followed |= call.slot.choice == choice;
        }
    }

    /// The call in `slot` is named. The first id and name that are not empty count.
    pub(super) fn name(&mut self, slot: Slot, id: Option<&str>, name: Option<&str>) {
        if let Some(call) = self.held(slot) {
            if let (None, Some(id)) = (&call.id, id.filter(|id| !id.is_empty())) {
                call.id = Some(id.to_owned());
            }
            if let (true, Some(name)) = (call.name.is_empty(), name) {
                name.clone_into(&mut call.name);
            }
        }
    }

    /// All arguments of the call in `slot`, in one piece.
    pub(super) fn input(&mut self, slot: Slot, input: &RawValue) {
        if let Some(call) = self.held(slot) {
            call.input = Some(input.to_owned());
        }
    }

    /// A part of the arguments of the call in `slot`.
    pub(super) fn append(&mut self, slot: Slot, fragment: &[u8]) {
        if let Some(call) = self.held(slot) {
            call.balance.read(fragment);
            call.fragments.extend_from_slice(fragment);
        }
    }

    /// The arguments of the call in `slot` are complete.
    pub(super) fn close(&mut self, slot: Slot) {
        if let Some(call) = self.held(slot) {
            call.closed = true;
        }
    }

    /// Whether a delta in `slot` that carries `id` is the first one of a call: there is none
    /// there yet, or one with another id.
    pub(super) fn begins_call(&self, slot: Slot, id: Option<&str>) -> bool {
        let latest = self.calls.iter().rev().find(|call| call.slot == slot);
        latest.is_none_or(|call| {
            let known = call.id.as_deref();
            known.is_some() && id.is_some() && known != id
        })
    }

    /// The slot of the call with this id.
    pub(super) fn slot_of(&self, choice: u64, id: &str) -> Option<Slot> {
        let named = |call: &&Streamed| call.slot.choice == choice && call.id.as_deref() == Some(id);
        self.calls.iter().rev().find(named).map(|call| call.slot)
    }

    /// The slot of the call that began last.
    pub(super) fn last_slot(&self, choice: u64) -> Option<Slot> {
        let slots = self.calls.iter().rev().map(|call| call.slot);
        slots.into_iter().find(|slot| slot.choice == choice)
    }

    /// The slot behind it.
    pub(super) fn next_slot(&self, choice: u64) -> Slot {
        let index = self.last_slot(choice).map_or(0, |last| last.index + 1);
        Slot { choice, index }
    }

    /// Whether a call with this id was seen; an empty id stands for none.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.calls
            .iter()
            .any(|call| call.id.as_deref().unwrap_or_default() == id)
    }

    /// Whether calls are held.
    pub(super) fn holds_calls(&self) -> bool {
        self.calls[self.first_held..].iter().any(|call| !call.out)
    }

    /// Lets out the calls that are ready, in order.
    pub(super) fn release(&mut self) -> Vec<ToolCall> {
        let mut released = Vec::new();
        let mut blocked = Vec::new();
        for call in &mut self.calls[self.first_held..] {
            if call.out || blocked.contains(&call.slot.choice) {
                continue;
            }
            if call.ready() {
                released.push(call.settle());
            } else {
                blocked.push(call.slot.choice);
            }
        }
        self.skip_released();
        released
    }

    /// The reply `choice` has ended: lets out all its calls. If it was cut, the one that stood
    /// last is unusable.
    pub(super) fn stop(&mut self, choice: u64, ending: Ending) -> Vec<ToolCall> {
        let held = &mut self.calls[self.first_held..];
        let mut last = None;
        for (position, call) in held.iter_mut().enumerate() {
            if !call.out && call.slot.choice == choice {
                if !call.followed {
                    last = Some(position);
                }
                call.closed = true;
                call.followed = true;
            }
        }
        let cut = match (ending, last) {
            (Ending::Cut(reason), Some(position)) => Some((self.first_held + position, reason)),
            _ => None,
        };
        let mut released = Vec::new();
        if let Some((position, reason)) = cut {
            released.append(&mut self.release_before(position));
            released.push(self.calls[position].settle().cut_off(reason));
        }
        released.append(&mut self.release());
        released
    }

    /// The stream has ended without a stop reason: whatever is held was cut off.
    pub(super) fn cut(&mut self) -> Vec<ToolCall> {
        let mut released = Vec::new();
        for call in &mut self.calls[self.first_held..] {
            if !call.out {
                released.push(call.settle().cut_off(CutOff::EndOfStream));
            }
        }
        self.skip_released();
        released
    }

    fn release_before(&mut self, position: usize) -> Vec<ToolCall> {
        let rest = self.calls.split_off(position);
        let released = self.release();
        self.calls.extend(rest);
        released
    }

    fn skip_released(&mut self) {
        let held = &self.calls[self.first_held..];
        self.first_held += held.iter().take_while(|call| call.out).count();
    }

    /// The call that began last in `slot`, unless it is out.
    fn held(&mut self, slot: Slot) -> Option<&mut Streamed> {
        let calls = self.calls[self.first_held..].iter_mut();
        calls.rev().find(|call| call.slot == slot && !call.out)
    }
}
