//! Joins the calls of one message from deltas. Pure: deltas in, calls out.
//!
//! A call is released when its arguments are complete and something after it was seen: another block,
//! another call or a stop reason (servers close calls that they cut off as `{}`). Calls are released
//! in the order of their starts. The start and end of a message are decided elsewhere.
//!
//! Anthropic's API, the Responses API, Gemini and Ollama mark each call. A delta of chat completions has an
//! index, an id or both, but servers omit them, give all calls the same ones, repeat them with every delta,
//! or send them late. So its place decides as well. It belongs to the latest call with its index; without an
//! index, to the latest call with its id, or else to the last call. There it starts another call if
//!
//! - it has a name, and another id than the call;
//! - it has a name, and the arguments of the call are whole, unless it only repeats index or id and name;
//! - the arguments of the call are whole, and it has another id, or arguments after a repeated name;
//! - it has another name, and the call has a part of its arguments;
//! - it has a name, but no index and no id, and the call has no arguments.
//!
//! Otherwise it continues the call: the first id counts, another name before the arguments is a piece of the
//! name, and arguments are appended.

use serde_json::value::RawValue;

use super::ToolCall;
use super::fragments::{Balance, SplitText};
use crate::api::{Arguments, CallDelta, CutOff, Delta};

/// The calls of one message.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    calls: Vec<JoinedCall>,
    /// Position of the first call that is not released.
    first_held: usize,
}

/// A call that may be incomplete.
#[derive(Debug, Default)]
pub(super) struct JoinedCall {
    /// The alternative reply.
    choice: u64,
    /// The number of the call or block.
    index: u64,
    /// Whether the stream announces the end of its arguments. Otherwise they end when they are whole and
    /// another call starts.
    has_announced_end: bool,
    pub(super) id: Option<String>,
    /// The id of the call in the parts of a draft.
    pub(super) sent_id: Option<String>,
    pub(super) name: String,
    /// Arguments that arrived whole; fragments override them.
    pub(super) input: Option<Box<RawValue>>,
    pub(super) fragments: SplitText,
    balance: Balance,
    /// Whether the name was repeated after the arguments.
    is_repeated: bool,
    /// Whether the arguments are complete.
    is_closed: bool,
    /// Whether something followed this call.
    is_followed: bool,
    is_released: bool,
}

impl JoinedCall {
    fn is_ready(&self) -> bool {
        let is_whole = !self.has_announced_end && self.balance.is_whole();
        self.is_followed && (self.is_closed || is_whole)
    }

    /// Whether no piece of its name can follow.
    pub(super) fn has_whole_name(&self) -> bool {
        let is_part = !(self.has_announced_end || self.is_followed || self.balance.has_begun());
        !is_part && !self.name.is_empty()
    }

    /// Whether a delta at its place continues it.
    fn is_continued_by(&self, delta: &CallDelta<'_>) -> bool {
        let (own_id, id) = (self.id.as_deref(), delta.id.as_deref());
        let has_other_id = own_id.is_some() && id.is_some() && own_id != id;
        let has_arguments = !matches!(delta.arguments, Arguments::None);
        let is_marked = delta.index.is_some() || id.is_some();
        let is_whole = self.balance.is_whole();
        match delta.name.as_deref() {
            None => !(is_whole && (has_other_id || self.is_repeated && has_arguments)),
            Some(_) if has_other_id || self.name.is_empty() => !has_other_id,
            Some(name) if is_whole => name == self.name && is_marked && !has_arguments,
            Some(name) if self.balance.has_begun() => name == self.name,
            Some(_) => is_marked,
        }
    }

    fn release(&mut self) -> ToolCall {
        self.is_released = true;
        let fragments = std::mem::take(&mut self.fragments).into_bytes();
        let arguments = match &self.input {
            Some(input) if fragments.is_empty() => Arguments::Json(input),
            _ => Arguments::Text(fragments.into()),
        };
        let call = ToolCall::new(self.id.as_deref(), &self.name, arguments);
        self.input = None;
        call
    }

    fn add_delta(&mut self, delta: CallDelta<'_>) {
        if let (None, Some(id)) = (&self.id, delta.id.filter(|id| !id.is_empty())) {
            self.id = Some(id.into_owned());
        }
        if let Some(name) = delta.name {
            self.is_repeated = self.balance.is_whole();
            if self.name.is_empty() || self.name != name && !self.balance.has_begun() {
                self.name.push_str(&name);
            }
        }
        match delta.arguments {
            Arguments::Text(fragment) => self.append_arguments(&fragment),
            Arguments::Json(input) => {
                self.balance.read(input.get().as_bytes());
                self.input = Some(input.to_owned());
            }
            Arguments::None | Arguments::Missing => {}
        }
    }

    fn append_arguments(&mut self, fragment: &[u8]) {
        self.balance.read(fragment);
        self.fragments.push(fragment);
    }
}

impl Joiner {
    /// Takes a delta of the reply `choice`. Returns the position of the call that it belongs to.
    pub(super) fn push(&mut self, choice: u64, delta: Delta<'_>) -> Option<usize> {
        match delta {
            Delta::Block => drop(self.mark_followed(choice)),
            Delta::Call(call) => {
                let index = self.next_index(choice);
                let position = self.start_call(choice, index, true);
                self.calls[position].add_delta(call);
                self.calls[position].is_closed = true;
                return Some(position);
            }
            Delta::CallStart(call) => {
                let index = call.index.unwrap_or_else(|| self.next_index(choice));
                let position = self.start_call(choice, index, true);
                self.calls[position].add_delta(call);
                return Some(position);
            }
            Delta::CallPart(call) => {
                let position = self.find_or_start(choice, &call);
                if self.calls[position].is_released {
                    return None;
                }
                self.calls[position].add_delta(call);
                return Some(position);
            }
            Delta::CallArguments(index, fragment) => {
                let position = self.find_call(choice, index)?;
                self.calls[position].append_arguments(&fragment);
                return Some(position);
            }
            Delta::CallEnd(index) => {
                let position = self.find_call(choice, index)?;
                self.calls[position].is_closed = true;
            }
            _ => {}
        }
        None
    }

    /// Whether there is a call with this id; an empty id matches calls without one.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.calls
            .iter()
            .any(|call| call.id.as_deref().unwrap_or_default() == id)
    }

    /// Whether calls are held.
    pub(super) fn has_calls(&self) -> bool {
        self.calls[self.first_held..]
            .iter()
            .any(|call| !call.is_released)
    }

    /// Returns the call at a position.
    pub(super) fn call_mut(&mut self, position: usize) -> Option<&mut JoinedCall> {
        self.calls.get_mut(position)
    }

    /// Returns all calls.
    pub(super) fn into_calls(self) -> Vec<JoinedCall> {
        self.calls
    }

    /// Releases the calls that are ready, in order.
    pub(super) fn release_ready(&mut self) -> Vec<ToolCall> {
        let mut released = Vec::new();
        let mut blocked = Vec::new();
        for call in &mut self.calls[self.first_held..] {
            if call.is_released || blocked.contains(&call.choice) {
                continue;
            }
            if call.is_ready() {
                released.push(call.release());
            } else {
                blocked.push(call.choice);
            }
        }
        self.skip_released();
        released
    }

    /// Ends the reply `choice` and releases all its calls. If it was cut, the last one is unusable
    /// unless something follows it.
    pub(super) fn end_reply(&mut self, choice: u64, cut: Option<CutOff>) -> Vec<ToolCall> {
        let held = &mut self.calls[self.first_held..];
        let mut last = None;
        for (position, call) in held.iter_mut().enumerate() {
            if !call.is_released && call.choice == choice {
                if !call.is_followed {
                    last = Some(position);
                }
                call.is_closed = true;
                call.is_followed = true;
            }
        }
        let mut released = Vec::new();
        if let (Some(reason), Some(position)) = (cut, last) {
            let after = self.calls.split_off(self.first_held + position);
            released.append(&mut self.release_ready());
            let position = self.calls.len();
            self.calls.extend(after);
            released.push(self.calls[position].release().with_cut_off(reason));
        }
        released.append(&mut self.release_ready());
        released
    }

    /// Ends a stream without a stop reason: held calls are cut off.
    pub(super) fn release_cut_off(&mut self) -> Vec<ToolCall> {
        let mut released = Vec::new();
        for call in &mut self.calls[self.first_held..] {
            if !call.is_released {
                released.push(call.release().with_cut_off(CutOff::EndOfStream));
            }
        }
        self.skip_released();
        released
    }

    /// Starts a call. An earlier one with the same index is complete.
    fn start_call(&mut self, choice: u64, index: u64, has_announced_end: bool) -> usize {
        self.mark_followed(choice);
        if let Some(earlier) = self.find_call(choice, Some(index)) {
            self.calls[earlier].is_closed = true;
        }
        self.calls.push(JoinedCall {
            choice,
            index,
            has_announced_end,
            ..JoinedCall::default()
        });
        self.calls.len() - 1
    }

    /// Notes that something follows the calls of this reply. Returns the position of the last call.
    pub(super) fn mark_followed(&mut self, choice: u64) -> Option<usize> {
        for call in &mut self.calls[self.first_held..] {
            call.is_followed |= call.choice == choice;
        }
        self.calls.len().checked_sub(1)
    }

    /// Returns the position of the call that a delta continues, or starts.
    fn find_or_start(&mut self, choice: u64, delta: &CallDelta<'_>) -> usize {
        let has_place = |call: &JoinedCall| match delta.index {
            Some(index) => call.index == index,
            None => delta.id.is_some() && call.id.as_deref() == delta.id.as_deref(),
        };
        let calls = || self.calls.iter().enumerate().rev();
        let own = || calls().filter(|(_, call)| call.choice == choice);
        let last = || own().next().filter(|_| delta.index.is_none());
        let earlier = own().find(|(_, call)| has_place(call)).or_else(last);
        if let Some((position, _)) = earlier.filter(|(_, call)| call.is_continued_by(delta)) {
            return position;
        }
        // A name that was repeated belongs to the call that follows.
        let is_repeated = earlier.filter(|(_, call)| call.is_repeated && delta.name.is_none());
        let name = is_repeated.map(|(_, call)| call.name.clone());
        let index = delta.index.unwrap_or_else(|| self.next_index(choice));
        let position = self.start_call(choice, index, false);
        self.calls[position].name = name.unwrap_or_default();
        position
    }

    /// Returns the latest call with this index, or the last call, unless it is released.
    fn find_call(&self, choice: u64, index: Option<u64>) -> Option<usize> {
        let index = index.or_else(|| self.last_call(choice).map(|call| call.index))?;
        self.calls
            .iter()
            .rposition(|call| call.choice == choice && call.index == index && !call.is_released)
    }

    fn last_call(&self, choice: u64) -> Option<&JoinedCall> {
        self.calls.iter().rev().find(|call| call.choice == choice)
    }

    fn next_index(&self, choice: u64) -> u64 {
        self.last_call(choice).map_or(0, |last| last.index + 1)
    }

    fn skip_released(&mut self) {
        let held = &self.calls[self.first_held..];
        self.first_held += held.iter().take_while(|call| call.is_released).count();
    }
}
