//! Builds the blocks of a reply as it arrives. Pure.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;
use serde_json::value::RawValue;

use super::ReplyPart;
use super::fragments::without_think_tags;
use super::made_ids::own_id;
use crate::api::{Arguments, BlockDelta, BlockStart, block_delta, block_start, block_stop};
use turnpipe_core::message::{Block, Call, Thought};

/// Builds the blocks of a reply from its parts.
#[derive(Debug, Clone)]
pub struct BlockBuilder {
    /// Blocks that are not complete, and the blocks after them.
    open: VecDeque<Open>,
    /// The number of blocks before these.
    done: usize,
    /// The ids of calls in the conversation, each with the number that was last appended to it. `None`
    /// keeps ids as they are, without events.
    taken: Option<HashMap<String, usize>>,
}

/// A part of a reply, as it arrives.
#[derive(Debug)]
pub enum Output {
    /// A block that is complete.
    Block(Block),
    /// An event of Anthropic's streaming format.
    Event(Value),
}

/// A block that is growing.
#[derive(Debug, Clone)]
enum Open {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(String),
    Call {
        /// The server's number.
        index: usize,
        id: String,
        name: String,
        input: String,
        signature: Option<String>,
    },
}

impl BlockBuilder {
    /// Creates a builder for a reply in a conversation that has calls with these ids.
    pub fn new<'a>(taken: impl Iterator<Item = &'a str>) -> Self {
        Self {
            open: VecDeque::new(),
            done: 0,
            taken: Some(taken.map(|id| (id.to_owned(), 1)).collect()),
        }
    }

    /// Creates a builder that keeps the ids of calls and makes no events.
    pub fn with_verbatim_ids() -> Self {
        Self {
            open: VecDeque::new(),
            done: 0,
            taken: None,
        }
    }

    /// Takes the next part of the reply.
    pub fn take(&mut self, part: ReplyPart) -> Vec<Output> {
        let mut outputs = Vec::new();
        match part {
            ReplyPart::Text(more) => {
                if let Some(Open::Text(text)) = self.open.back_mut() {
                    text.push_str(&more);
                } else {
                    self.begin(Open::Text(more.clone()), &mut outputs);
                }
                outputs.extend(self.delta(self.newest(), &BlockDelta::Text(&more)));
            }
            ReplyPart::Thinking(more) => {
                if let Some(Open::Thinking { text, signature }) = self.open.back_mut()
                    && signature.is_empty()
                {
                    text.push_str(&more);
                } else {
                    self.begin_thinking(more.clone(), &mut outputs);
                }
                outputs.extend(self.delta(self.newest(), &BlockDelta::Thinking(&more)));
            }
            ReplyPart::Signature(proof) => self.sign(proof, &mut outputs),
            ReplyPart::RedactedThinking(data) => {
                self.begin(Open::Redacted(data), &mut outputs);
            }
            ReplyPart::CallBegins { index, id, name } => {
                let id = match &mut self.taken {
                    Some(taken) => own_id(&id, taken),
                    None => id,
                };
                let call = Open::Call {
                    index,
                    id,
                    name,
                    input: String::new(),
                    signature: None,
                };
                self.begin(call, &mut outputs);
            }
            ReplyPart::CallInput { index, fragment } => {
                let is_it =
                    |open: &Open| matches!(open, Open::Call { index: own, .. } if *own == index);
                if let Some(position) = self.open.iter().rposition(is_it) {
                    let position_in_reply = self.done + position;
                    outputs.extend(self.delta(position_in_reply, &BlockDelta::Input(&fragment)));
                    if let Open::Call { input, .. } = &mut self.open[position] {
                        input.push_str(&fragment);
                    }
                }
            }
        }
        outputs
    }

    /// Returns the complete blocks: those followed by another one, and whole calls.
    pub fn take_complete(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        while let Some(first) = self.open.front() {
            let is_last = self.open.len() == 1;
            let is_call = matches!(first, Open::Call { .. });
            if is_last && !is_call || !first.is_complete(false) {
                break;
            }
            if let Some(first) = self.open.pop_front() {
                self.close(first, &mut outputs);
            }
        }
        outputs
    }

    /// Starts the reply again.
    pub fn restart(&mut self) {
        self.open.clear();
        self.done = 0;
    }

    /// Returns the remaining output at the end of the reply. If it was cut off, incomplete calls are
    /// omitted, and so is a call that nothing follows: they must not run.
    pub fn finish(&mut self, is_whole: bool) -> Vec<Output> {
        let mut outputs = Vec::new();
        while let Some(open) = self.open.pop_front() {
            if is_whole || open.is_complete(self.open.is_empty()) {
                self.close(open, &mut outputs);
            }
        }
        outputs
    }

    fn begin_thinking(&mut self, text: String, outputs: &mut Vec<Output>) {
        let signature = String::new();
        self.begin(Open::Thinking { text, signature }, outputs);
    }

    /// Starts another block, which may complete the blocks before it.
    fn begin(&mut self, open: Open, outputs: &mut Vec<Output>) {
        while let Some(first) = self.open.pop_front() {
            if !first.is_complete(false) {
                self.open.push_front(first);
                break;
            }
            self.close(first, outputs);
        }
        let start = match &open {
            Open::Text(_) => BlockStart::Text,
            Open::Thinking { .. } => BlockStart::Thinking,
            Open::Redacted(data) => BlockStart::RedactedThinking(data),
            Open::Call { id, name, .. } => BlockStart::Call { id, name },
        };
        let index = self.done + self.open.len();
        outputs.extend(self.event(|| block_start(index, &start)));
        self.open.push_back(open);
    }

    /// Returns the position of the newest block in the reply.
    fn newest(&self) -> usize {
        self.done + self.open.len() - 1
    }

    /// Adds a signature to the call or the thinking before it. Hidden thinking has only a
    /// signature.
    fn sign(&mut self, proof: String, outputs: &mut Vec<Output>) {
        if let Some(Open::Call { signature, .. }) = self.open.back_mut() {
            *signature = Some(proof);
            return;
        }
        if !matches!(self.open.back(), Some(Open::Thinking { .. })) {
            self.begin_thinking(String::new(), outputs);
        }
        outputs.extend(self.delta(self.newest(), &BlockDelta::Signature(&proof)));
        if let Some(Open::Thinking { signature, .. }) = self.open.back_mut() {
            signature.push_str(&proof);
        }
    }

    /// Makes an event, which only clients of a streamed reply need.
    fn event(&self, make: impl FnOnce() -> Value) -> Option<Output> {
        self.taken.is_some().then(|| Output::Event(make()))
    }

    fn delta(&self, index: usize, delta: &BlockDelta<'_>) -> Option<Output> {
        self.event(|| block_delta(index, delta))
    }

    fn close(&mut self, open: Open, outputs: &mut Vec<Output>) {
        outputs.extend(self.event(|| block_stop(self.done)));
        self.done += 1;
        outputs.extend(open.into_blocks().into_iter().map(Output::Block));
    }
}

impl Open {
    /// Whether the block is complete. A call may be cut off although its input is whole.
    fn is_complete(&self, is_last: bool) -> bool {
        match self {
            Self::Text(_) | Self::Redacted(_) => true,
            Self::Thinking { signature, .. } => !is_last || !signature.is_empty(),
            Self::Call { input, .. } => {
                !is_last
                    && input.trim_start().starts_with('{')
                    && serde_json::from_str::<serde::de::IgnoredAny>(input).is_ok()
            }
        }
    }

    fn into_blocks(self) -> Vec<Block> {
        match self {
            Self::Text(text) => {
                let (text, thought) = without_think_tags(text);
                let thought = (!thought.trim().is_empty()).then(|| Block::thinking(thought));
                let text = (!text.trim().is_empty()).then_some(Block::Text(text));
                thought.into_iter().chain(text).collect()
            }
            Self::Thinking { text, signature } if signature.is_empty() => {
                vec![Block::thinking(text)]
            }
            Self::Thinking { text, signature } => {
                vec![Block::Thinking(Thought::Signed { text, signature })]
            }
            Self::Redacted(data) => vec![Block::Thinking(Thought::Redacted { data })],
            Self::Call {
                id,
                name,
                input,
                signature,
                ..
            } => vec![Block::Call(Call {
                id,
                name,
                input: json_of(&input),
                signature,
            })],
        }
    }
}

/// Returns the input of a call; anything other than an object becomes a string, which no tool accepts.
fn json_of(input: &str) -> Box<RawValue> {
    let object = Arguments::Text(input.as_bytes().into()).object();
    object.unwrap_or_else(|_| {
        let text = Value::String(input.trim().to_owned());
        // A string is valid JSON.
        RawValue::from_string(text.to_string()).unwrap_or_default()
    })
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
