//! A conversation as an API accepts it (`docs/records.md`, Replies of the main model): every reply is one
//! message, every call has one result right after it, and no id occurs twice.

use std::collections::{BTreeMap, HashMap};

use crate::assemble::make_unique_id;
use crate::client::model::Turn;
use crate::message::{Block, Call, Message, Origin, ResultPart, Role, Thread, ToolResult};
use crate::run::results::{BudgetAction, BudgetCandidate, MAX_REPLACEMENT, TURN_BUDGET, decide};
use crate::text::utf16_length;

/// The prefix of a message from a Stop hook that makes the model continue, as Claude Code writes it. Records have no
/// other mark of such a message.
pub(super) const FEEDBACK: &str = "Stop hook feedback:";

/// The text of a missing result.
const NO_RESULT: &str = "There is no result: the call was not finished.";

/// Length of the start of a result that its replacement must contain, in bytes. An id alone does not
/// identify a result: other calls may have the same one.
const SHOWN: usize = 64;

/// A conversation, message by message.
#[derive(Debug, Default)]
pub struct History {
    rounds: Vec<Round>,
    /// Replacements of results, by the ids of their calls.
    replacements: BTreeMap<String, String>,
    /// The number of replies since the last prompt.
    replies: u64,
    /// The number of continuations by hooks since the last prompt.
    continuations: u64,
}

/// A reply, and the input that follows it.
#[derive(Debug, Default)]
struct Round {
    id: Option<String>,
    model: Option<String>,
    reply: Vec<Block>,
    /// The results, by the position of the call in the reply.
    results: BTreeMap<usize, ToolResult>,
    input: Vec<Block>,
}

/// The reason why a conversation has no message to reply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NothingToAnswer {
    /// The conversation has no messages.
    #[error("the conversation is empty")]
    Empty,
    /// The last message is from the model, without calls.
    #[error("the last message of the conversation is from the model")]
    Answered,
}

impl History {
    /// Adds the next message. Skips messages that were not sent to the model: errors, labels, recaps, and
    /// messages of subagents.
    pub fn add(&mut self, message: Message) {
        let is_sent = matches!(
            message.origin,
            Origin::Prompt | Origin::Reply | Origin::Results | Origin::Injected | Origin::Summary
        );
        if !is_sent || message.thread != Thread::Main {
            return;
        }
        match message.role {
            Role::Assistant => self.add_message_of_model(message),
            Role::User | Role::System => {
                match message.origin {
                    Origin::Prompt => (self.replies, self.continuations) = (0, 0),
                    Origin::Injected if message.text().starts_with(FEEDBACK) => {
                        self.continuations += 1;
                    }
                    _ => {}
                }
                for block in message.blocks {
                    match block {
                        Block::Result(result) => self.add_result(result),
                        other => self.last_round().input.push(other),
                    }
                }
            }
        }
    }

    /// Adds a replacement from an earlier request.
    pub fn add_replacement(&mut self, id: String, text: String) {
        self.replacements.insert(id, text);
    }

    /// Returns the number of replies since the last prompt.
    pub fn replies(&self) -> u64 {
        self.replies
    }

    /// Returns the number of continuations by hooks since the last prompt.
    pub fn continuations(&self) -> u64 {
        self.continuations
    }

    /// Whether the result of a call of this tool mentions this text.
    pub fn mentions(&self, tool: &str, text: &str) -> bool {
        self.rounds.iter().any(|round| {
            round.results.iter().any(|(position, result)| {
                matches!(&round.reply[*position], Block::Call(call) if call.name == tool)
                    && result.text().contains(text)
            })
        })
    }

    /// Returns the ids of all calls.
    pub fn call_ids(&self) -> impl Iterator<Item = &str> {
        let blocks = self.rounds.iter().flat_map(|round| &round.reply);
        let calls = blocks.filter_map(Block::as_call);
        calls.map(|call| call.id.as_str())
    }

    fn last_round(&mut self) -> &mut Round {
        if self.rounds.is_empty() {
            self.rounds.push(Round::default());
        }
        let last = self.rounds.len() - 1;
        &mut self.rounds[last]
    }

    /// Adds a reply. Records of one message have the same id, and results may come between them.
    fn add_message_of_model(&mut self, mut message: Message) {
        // The results of calls that the server ran are in the reply.
        let is_result = |block: &mut Block| matches!(block, Block::Result(_));
        let results: Vec<Block> = message.blocks.extract_if(.., is_result).collect();
        self.add_reply(message);
        for block in results {
            if let Block::Result(result) = block {
                self.add_result(result);
            }
        }
    }

    fn add_reply(&mut self, message: Message) {
        let open = self.rounds.last_mut().filter(|round| {
            !round.reply.is_empty()
                && round.input.is_empty()
                && round.id == message.id
                && (round.id.is_some() || round.results.is_empty())
        });
        if let Some(round) = open {
            round.reply.extend(message.blocks);
            return;
        }
        self.replies += 1;
        self.rounds.push(Round {
            id: message.id,
            model: message.model,
            reply: message.blocks,
            ..Round::default()
        });
    }

    /// Adds a result. It belongs to the latest call with its id that has no result.
    fn add_result(&mut self, result: ToolResult) {
        for round in self.rounds.iter_mut().rev() {
            let open = round.reply.iter().enumerate().find(|(position, block)| {
                matches!(block, Block::Call(call) if call.id == result.id)
                    && !round.results.contains_key(position)
            });
            if let Some((position, _)) = open {
                round.results.insert(position, result);
                return;
            }
        }
    }

    /// Replaces results that were replaced before, and decides on the results of the last reply, which
    /// were not sent yet. `replace` is called with the id and text of a result if the results together
    /// exceed the limit; it returns the replacement.
    pub fn shorten(&mut self, mut replace: impl FnMut(&str, &str) -> Option<String>) {
        for result in self
            .rounds
            .iter_mut()
            .flat_map(|round| round.results.values_mut())
        {
            let text = result.text();
            let beginning = &text[..text.floor_char_boundary(SHOWN)];
            if let Some(replacement) = self.replacements.get(&result.id)
                && replacement.len() < text.len()
                && replacement.contains(beginning)
            {
                result.parts = vec![ResultPart::Text(replacement.clone())];
            }
        }
        let Some(last) = self.rounds.last_mut() else {
            return;
        };
        let candidates: Vec<BudgetCandidate> = last.results.values().map(candidate).collect();
        let actions = decide(&candidates, &BTreeMap::new(), TURN_BUDGET, MAX_REPLACEMENT);
        for (result, action) in last.results.values_mut().zip(actions) {
            if action == BudgetAction::Replace
                && let Some(text) = replace(&result.id, &result.text())
            {
                result.parts = vec![ResultPart::Text(text)];
            }
        }
    }

    /// Returns the conversation for a request to this model. Thinking is included for the model that signed
    /// it.
    ///
    /// # Errors
    /// There is nothing to reply to.
    pub fn into_turns(self, model: &str) -> Result<Vec<Turn>, NothingToAnswer> {
        let Some(last) = self.rounds.last() else {
            return Err(NothingToAnswer::Empty);
        };
        if last.input.is_empty() && !last.reply.iter().any(|block| block.as_call().is_some()) {
            return Err(NothingToAnswer::Answered);
        }
        let mut ids = HashMap::new();
        let mut turns = Vec::new();
        for round in self.rounds {
            let keeps_thoughts = round.model.as_deref() == Some(model);
            let (mut reply, mut input) = (Vec::new(), Vec::new());
            let mut results = round.results;
            for (position, block) in round.reply.into_iter().enumerate() {
                match block {
                    Block::Call(call) => {
                        let id = make_unique_id(&call.id, &mut ids);
                        let result = results.remove(&position);
                        input.push(Block::Result(ToolResult {
                            id: id.clone(),
                            ..result.unwrap_or_else(missing_result)
                        }));
                        reply.push(Block::Call(Call { id, ..call }));
                    }
                    Block::Thinking(_) if !keeps_thoughts => {}
                    other => reply.push(other),
                }
            }
            input.extend(round.input);
            turns.push(Turn {
                role: Role::Assistant,
                blocks: reply,
            });
            turns.push(Turn {
                role: Role::User,
                blocks: input,
            });
        }
        turns.retain(|turn| !turn.blocks.is_empty());
        Ok(turns)
    }
}

fn candidate(result: &ToolResult) -> BudgetCandidate {
    let is_text = |part: &ResultPart| matches!(part, ResultPart::Text(_));
    let text = result.text();
    BudgetCandidate {
        key: result.id.clone(),
        units: utf16_length(&text),
        is_replaceable: result.parts.iter().all(is_text) && !text.starts_with("<persisted-output>"),
    }
}

fn missing_result() -> ToolResult {
    ToolResult {
        id: String::new(),
        parts: vec![ResultPart::Text(NO_RESULT.to_owned())],
        failed: true,
        end: None,
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
