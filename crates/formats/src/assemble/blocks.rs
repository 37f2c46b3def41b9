//! Builds the blocks of a reply as it arrives. Pure.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;
use serde_json::value::RawValue;

use super::ReplyPart;
use super::fragments::split_think_tags;
use super::generated_ids::make_unique_id;
use crate::api::{
    Arguments, BlockDelta, BlockStart, encode_block_delta, encode_block_start, encode_block_stop,
};
use turnpipe_core::message::{Block, Call, Thought};

/// Builds the blocks of a reply from its parts.
#[derive(Debug, Clone)]
pub struct BlockBuilder {
    /// Blocks that are not complete, and the blocks after them.
    open: VecDeque<OpenBlock>,
    /// The number of blocks before these.
    done_count: usize,
    /// The ids of calls in the conversation, each with the number that was last appended to it. `None`
    /// keeps ids as they are, without events.
    used_ids: Option<HashMap<String, usize>>,
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
enum OpenBlock {
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
    pub fn new<'a>(used_ids: impl Iterator<Item = &'a str>) -> Self {
        Self {
            open: VecDeque::new(),
            done_count: 0,
            used_ids: Some(used_ids.map(|id| (id.to_owned(), 1)).collect()),
        }
    }

    /// Creates a builder that keeps the ids of calls and makes no events.
    pub fn with_verbatim_ids() -> Self {
        Self {
            open: VecDeque::new(),
            done_count: 0,
            used_ids: None,
        }
    }

    /// Takes the next part of the reply.
    pub fn take(&mut self, part: ReplyPart) -> Vec<Output> {
        let mut outputs = Vec::new();
        match part {
            ReplyPart::Text(more) => {
                if let Some(OpenBlock::Text(text)) = self.open.back_mut() {
                    text.push_str(&more);
                } else {
                    self.start_block(OpenBlock::Text(more.clone()), &mut outputs);
                }
                outputs.extend(self.make_delta(self.newest_index(), &BlockDelta::Text(&more)));
            }
            ReplyPart::Thinking(more) => {
                if let Some(OpenBlock::Thinking { text, signature }) = self.open.back_mut()
                    && signature.is_empty()
                {
                    text.push_str(&more);
                } else {
                    self.start_thinking(more.clone(), &mut outputs);
                }
                outputs.extend(self.make_delta(self.newest_index(), &BlockDelta::Thinking(&more)));
            }
            ReplyPart::Signature(proof) => self.add_signature(proof, &mut outputs),
            ReplyPart::RedactedThinking(data) => {
                self.start_block(OpenBlock::Redacted(data), &mut outputs);
            }
            ReplyPart::CallBegins { index, id, name } => {
                let id = match &mut self.used_ids {
                    Some(used_ids) => make_unique_id(&id, used_ids),
                    None => id,
                };
                let call = OpenBlock::Call {
                    index,
                    id,
                    name,
                    input: String::new(),
                    signature: None,
                };
                self.start_block(call, &mut outputs);
            }
            ReplyPart::CallInput { index, fragment } => {
                let is_same_call = |open: &OpenBlock| matches!(open, OpenBlock::Call { index: own, .. } if *own == index);
                if let Some(position) = self.open.iter().rposition(is_same_call) {
                    let position_in_reply = self.done_count + position;
                    outputs
                        .extend(self.make_delta(position_in_reply, &BlockDelta::Input(&fragment)));
                    if let OpenBlock::Call { input, .. } = &mut self.open[position] {
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
            let is_call = matches!(first, OpenBlock::Call { .. });
            if is_last && !is_call || !first.is_complete(false) {
                break;
            }
            if let Some(first) = self.open.pop_front() {
                self.finish_block(first, &mut outputs);
            }
        }
        outputs
    }

    /// Starts the reply again.
    pub fn restart(&mut self) {
        self.open.clear();
        self.done_count = 0;
    }

    /// Returns the remaining output at the end of the reply. If it was cut off, incomplete calls are
    /// omitted, and so is a call that nothing follows: they must not run.
    pub fn finish(&mut self, is_whole: bool) -> Vec<Output> {
        let mut outputs = Vec::new();
        while let Some(open) = self.open.pop_front() {
            if is_whole || open.is_complete(self.open.is_empty()) {
                self.finish_block(open, &mut outputs);
            }
        }
        outputs
    }

    fn start_thinking(&mut self, text: String, outputs: &mut Vec<Output>) {
        let signature = String::new();
        self.start_block(OpenBlock::Thinking { text, signature }, outputs);
    }

    /// Starts another block, which may complete the blocks before it.
    fn start_block(&mut self, open: OpenBlock, outputs: &mut Vec<Output>) {
        while let Some(first) = self.open.pop_front() {
            if !first.is_complete(false) {
                self.open.push_front(first);
                break;
            }
            self.finish_block(first, outputs);
        }
        let start = match &open {
            OpenBlock::Text(_) => BlockStart::Text,
            OpenBlock::Thinking { .. } => BlockStart::Thinking,
            OpenBlock::Redacted(data) => BlockStart::RedactedThinking(data),
            OpenBlock::Call { id, name, .. } => BlockStart::Call { id, name },
        };
        let index = self.done_count + self.open.len();
        outputs.extend(self.make_event(|| encode_block_start(index, &start)));
        self.open.push_back(open);
    }

    /// Returns the position of the newest block in the reply.
    fn newest_index(&self) -> usize {
        self.done_count + self.open.len() - 1
    }

    /// Adds a signature to the call or the thinking before it. Hidden thinking has only a
    /// signature.
    fn add_signature(&mut self, proof: String, outputs: &mut Vec<Output>) {
        if let Some(OpenBlock::Call { signature, .. }) = self.open.back_mut() {
            *signature = Some(proof);
            return;
        }
        if !matches!(self.open.back(), Some(OpenBlock::Thinking { .. })) {
            self.start_thinking(String::new(), outputs);
        }
        outputs.extend(self.make_delta(self.newest_index(), &BlockDelta::Signature(&proof)));
        if let Some(OpenBlock::Thinking { signature, .. }) = self.open.back_mut() {
            signature.push_str(&proof);
        }
    }

    /// Makes an event, which only clients of a streamed reply need.
    fn make_event(&self, make: impl FnOnce() -> Value) -> Option<Output> {
        self.used_ids.is_some().then(|| Output::Event(make()))
    }

    fn make_delta(&self, index: usize, delta: &BlockDelta<'_>) -> Option<Output> {
        self.make_event(|| encode_block_delta(index, delta))
    }

    fn finish_block(&mut self, open: OpenBlock, outputs: &mut Vec<Output>) {
        outputs.extend(self.make_event(|| encode_block_stop(self.done_count)));
        self.done_count += 1;
        outputs.extend(open.into_blocks().into_iter().map(Output::Block));
    }
}

impl OpenBlock {
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
                let (text, thought) = split_think_tags(text);
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
                input: parse_input(&input),
                signature,
            })],
        }
    }
}

/// Returns the input of a call; anything other than an object becomes a string, which no tool accepts.
fn parse_input(input: &str) -> Box<RawValue> {
    let object = Arguments::Text(input.as_bytes().into()).into_object();
    object.unwrap_or_else(|_| {
        let text = Value::String(input.trim().to_owned());
        // A string is valid JSON.
        RawValue::from_string(text.to_string()).unwrap_or_default()
    })
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
