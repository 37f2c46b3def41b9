//! Joins the calls of one message from deltas. Pure: deltas in, calls out.
//!
//! A call is released when its arguments are complete and something after it was seen: another block,
//! another call or a stop reason (servers close calls that they cut off as `{}`). Calls are released
//! in the order of their starts. The start and end of a message are decided elsewhere.

use serde_json::value::RawValue;

use super::ToolCall;
use super::fragments::{Balance, SplitText};
use crate::api::{Arguments, CallDelta, CallMarks, CutOff, Delta};

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
    end_is_announced: bool,
    pub(super) id: Option<String>,
    pub(super) name: String,
    /// Arguments that arrived whole; fragments override them.
    pub(super) input: Option<Box<RawValue>>,
    pub(super) fragments: SplitText,
    balance: Balance,
    /// Whether the arguments are complete.
    closed: bool,
    /// Whether something followed this call.
    followed: bool,
    released: bool,
}

impl JoinedCall {
    fn is_ready(&self) -> bool {
        let is_whole = !self.end_is_announced && (self.input.is_some() || self.balance.is_whole());
        self.followed && (self.closed || is_whole)
    }

    fn marks(&self) -> CallMarks<'_> {
        CallMarks {
            index: Some(self.index),
            id: self.id.as_deref(),
            has_name: !self.name.is_empty(),
        }
    }

    fn release(&mut self) -> ToolCall {
        self.released = true;
        let fragments = std::mem::take(&mut self.fragments).into_bytes();
        let arguments = match &self.input {
            Some(input) if fragments.is_empty() => Arguments::Json(input),
            _ => Arguments::Text(fragments.into()),
        };
        let call = ToolCall::new(self.id.as_deref(), &self.name, arguments);
        self.input = None;
        call
    }

    /// Adds a delta. The first id and name that are not empty count.
    fn add(&mut self, delta: CallDelta<'_>) {
        if let (None, Some(id)) = (&self.id, delta.id.filter(|id| !id.is_empty())) {
            self.id = Some(id.into_owned());
        }
        if let (true, Some(name)) = (self.name.is_empty(), delta.name) {
            self.name = name.into_owned();
        }
        match delta.arguments {
            Arguments::Text(fragment) => self.append(&fragment),
            Arguments::Json(input) => self.input = Some(input.to_owned()),
            Arguments::None | Arguments::Missing => {}
        }
    }

    fn append(&mut self, fragment: &[u8]) {
        self.balance.read(fragment);
        self.fragments.push(fragment);
    }
}

impl Joiner {
    /// Takes a delta of the reply `choice`. Returns the position of the call that it belongs to.
    pub(super) fn push(&mut self, choice: u64, delta: Delta<'_>) -> Option<usize> {
        match delta {
            Delta::Block => self.follow(choice),
            Delta::Call(call) => {
                let index = self.next_index(choice);
                let position = self.start(choice, index, true);
                self.calls[position].add(call);
                self.calls[position].closed = true;
                return Some(position);
            }
            Delta::CallStart(call) => {
                let index = call.index.unwrap_or_else(|| self.next_index(choice));
                let position = self.start(choice, index, true);
                self.calls[position].add(call);
                return Some(position);
            }
            Delta::CallPart(call) => {
                let continued = self.continued_by(choice, &call);
                let position = continued.unwrap_or_else(|| {
                    let index = call.index.unwrap_or_else(|| self.next_index(choice));
                    self.start(choice, index, false)
                });
                if self.calls[position].released {
                    return None;
                }
                self.calls[position].add(call);
                return Some(position);
            }
            Delta::CallArguments(index, fragment) => {
                let position = self.held(choice, index)?;
                self.calls[position].append(&fragment);
                return Some(position);
            }
            Delta::CallEnd(index) => {
                let position = self.held(choice, index)?;
                self.calls[position].closed = true;
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
    pub(super) fn holds_calls(&self) -> bool {
        self.calls[self.first_held..]
            .iter()
            .any(|call| !call.released)
    }

    /// Returns the call at a position.
    pub(super) fn call(&mut self, position: usize) -> Option<&mut JoinedCall> {
        self.calls.get_mut(position)
    }

    /// Returns all calls.
    pub(super) fn into_calls(self) -> Vec<JoinedCall> {
        self.calls
    }

    /// Releases the calls that are ready, in order.
    pub(super) fn release(&mut self) -> Vec<ToolCall> {
        let mut released = Vec::new();
        let mut blocked = Vec::new();
        for call in &mut self.calls[self.first_held..] {
            if call.released || blocked.contains(&call.choice) {
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
    pub(super) fn stop(&mut self, choice: u64, cut: Option<CutOff>) -> Vec<ToolCall> {
        let held = &mut self.calls[self.first_held..];
        let mut last = None;
        for (position, call) in held.iter_mut().enumerate() {
            if !call.released && call.choice == choice {
                if !call.followed {
                    last = Some(position);
                }
                call.closed = true;
                call.followed = true;
            }
        }
        let mut released = Vec::new();
        if let (Some(reason), Some(position)) = (cut, last) {
            let after = self.calls.split_off(self.first_held + position);
            released.append(&mut self.release());
            let position = self.calls.len();
            self.calls.extend(after);
            released.push(self.calls[position].release().cut_off(reason));
        }
        released.append(&mut self.release());
        released
    }

    /// Ends a stream without a stop reason: held calls are cut off.
    pub(super) fn cut(&mut self) -> Vec<ToolCall> {
        let mut released = Vec::new();
        for call in &mut self.calls[self.first_held..] {
            if !call.released {
                released.push(call.release().cut_off(CutOff::EndOfStream));
            }
        }
        self.skip_released();
        released
    }

    /// Starts a call. An earlier one with the same index is complete.
    fn start(&mut self, choice: u64, index: u64, end_is_announced: bool) -> usize {
        self.follow(choice);
        if let Some(earlier) = self.held(choice, Some(index)) {
            self.calls[earlier].closed = true;
        }
        self.calls.push(JoinedCall {
            choice,
            index,
            end_is_announced,
            ..JoinedCall::default()
        });
        self.calls.len() - 1
    }

    fn follow(&mut self, choice: u64) {
        for call in &mut self.calls[self.first_held..] {
            call.followed |= call.choice == choice;
        }
    }

    /// Returns the call that a delta continues.
    fn continued_by(&self, choice: u64, delta: &CallDelta<'_>) -> Option<usize> {
        let calls = self.calls.iter().enumerate();
        let calls = calls.filter(|(_, call)| call.choice == choice);
        let marks = CallMarks {
            index: delta.index,
            id: delta.id.as_deref(),
            has_name: delta.name.is_some(),
        };
        marks.continued(calls.map(|(position, call)| (position, call.marks())))
    }

    /// Returns the latest call with this index, or the last call, unless it is released.
    fn held(&self, choice: u64, index: Option<u64>) -> Option<usize> {
        let index = index.or_else(|| self.last(choice).map(|call| call.index))?;
        self.calls
            .iter()
            .rposition(|call| call.choice == choice && call.index == index && !call.released)
    }

    fn last(&self, choice: u64) -> Option<&JoinedCall> {
        self.calls.iter().rev().find(|call| call.choice == choice)
    }

    fn next_index(&self, choice: u64) -> u64 {
        self.last(choice).map_or(0, |last| last.index + 1)
    }

    fn skip_released(&mut self) {
        let held = &self.calls[self.first_held..];
        self.first_held += held.iter().take_while(|call| call.released).count();
    }
}
