//! Joins the records of model APIs into messages, whole ones and streamed ones, and the records of a pipe into
//! conversations: stream-json, a session file, or bare messages of an API.

use super::blocks::{BlockBuilder, Output};
use super::draft::Draft;
use super::made_ids::MadeIds;
use super::{Decoder, Event, Source};
use crate::agent::{Agent, StreamItem};
use crate::api::{AssistantText, Chunk, Envelope, Extent, Spoken, spoken};
use crate::message::{Block, Message, MessageMerger, Origin, Role, SessionId, split_typed};

/// Reads messages from the records of APIs, one after the other.
#[derive(Debug, Default)]
pub struct MessageReader {
    streamed: Option<Streamed>,
    /// The id of the last streamed message.
    last_id: Option<String>,
    made_ids: MadeIds,
    /// The number of messages so far.
    messages: u64,
    instructions: String,
}

/// A message whose deltas are still arriving.
#[derive(Debug)]
struct Streamed {
    id: Option<String>,
    model: Option<String>,
    draft: Draft,
    builder: BlockBuilder,
    blocks: Vec<Block>,
}

impl MessageReader {
    /// Sets the prefix of the ids of calls without one.
    pub fn set_call_ids(&mut self, prefix: String) {
        self.made_ids.set_prefix(prefix);
    }

    /// Returns the instructions in the records; empty if there are none.
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// Takes the next record. Returns the messages that are complete now, or `None` if it is not the
    /// record of an API.
    pub(crate) fn record(&mut self, record: &Envelope<'_>) -> Option<Vec<Message>> {
        let mut messages = Vec::new();
        match spoken(record)? {
            Spoken::Instructions(text) => self.instructions.push_str(&text),
            Spoken::User(blocks) => {
                messages.extend(self.flush());
                messages.extend(self.user(blocks));
            }
            Spoken::Reply(chunk) if chunk.extent == Extent::Whole => {
                let is_repeated =
                    chunk.id.is_some() && chunk.id.as_deref() == self.last_id.as_deref();
                if !is_repeated {
                    messages.extend(self.finish());
                    let mut whole = Streamed::new(&chunk);
                    whole.take(chunk);
                    messages.extend(self.complete(whole));
                }
            }
            Spoken::Reply(chunk) => messages.extend(self.chunk(chunk)),
        }
        Some(messages)
    }

    /// Takes a part of a streamed message. Returns messages that are complete.
    fn chunk(&mut self, chunk: Chunk<'_>) -> Vec<Message> {
        let mut messages = Vec::new();
        let open = self.streamed.as_ref();
        let has_other_id = open.is_some_and(|open| {
            open.id.is_some() && chunk.id.is_some() && open.id.as_deref() != chunk.id.as_deref()
        });
        let begins = match chunk.extent {
            Extent::Whole | Extent::Start => true,
            Extent::More => false,
            Extent::MoreOrStart => open.is_none(),
            Extent::ByRole {
                has_role,
                has_content,
                ..
            } => open.is_none() && has_content || has_role && has_other_id,
            Extent::ById { has_content, .. } => open.is_none() && has_content || has_other_id,
        };
        if begins {
            messages.extend(self.finish());
            self.streamed = Some(Streamed::new(&chunk));
        }
        if let Some(open) = &mut self.streamed {
            open.take(chunk);
            if open.draft.closed {
                messages.extend(self.finish());
            }
        }
        messages
    }

    /// Returns the complete blocks of the streamed message, before a record that follows them.
    pub fn flush(&mut self) -> Option<Message> {
        let open = self.streamed.as_mut()?;
        if open.draft.end.is_some() {
            return self.finish();
        }
        let outputs = open.builder.take_complete();
        open.blocks.extend(outputs.into_iter().filter_map(block));
        let blocks = std::mem::take(&mut open.blocks);
        let message = open.message(blocks);
        (!message.blocks.is_empty()).then(|| self.identified(message))
    }

    /// Ends the streamed message.
    pub fn finish(&mut self) -> Option<Message> {
        let open = self.streamed.take()?;
        self.last_id.clone_from(&open.id);
        self.complete(open)
    }

    fn complete(&mut self, mut open: Streamed) -> Option<Message> {
        let is_whole = open.draft.end.is_some() || open.draft.closed;
        let rest = open.builder.finish(is_whole);
        open.blocks.extend(rest.into_iter().filter_map(block));
        let blocks = std::mem::take(&mut open.blocks);
        let usage = open.draft.usage;
        let message = Message {
            usage: (!usage.is_empty()).then_some(usage),
            ..open.message(blocks)
        };
        let message = self.identified(message);
        self.messages += 1;
        (!message.blocks.is_empty() || message.usage.is_some()).then_some(message)
    }

    /// Adds ids to calls without one.
    fn identified(&mut self, mut message: Message) -> Message {
        for block in &mut message.blocks {
            if let Block::Call(call) = block
                && call.id.is_empty()
            {
                call.id = self.made_ids.make(&call.name, self.messages).0;
            }
        }
        message
    }

    /// Returns the messages of the user, each with one origin. Results without an id belong to calls
    /// without one, of the tool with this name.
    fn user(&mut self, blocks: Vec<(Block, String)>) -> Vec<Message> {
        let (mut results, mut rest) = (Vec::new(), Vec::new());
        for (mut block, name) in blocks {
            if let Block::Result(result) = &mut block {
                if result.id.is_empty() {
                    let name = Some(&*name).filter(|name| !name.is_empty());
                    let id = self.made_ids.answer(name);
                    result.id = id.map(|id| id.0).unwrap_or_default();
                }
                results.push(block);
            } else {
                rest.push(block);
            }
        }
        let (injected, own) = split_typed(rest);
        let parts = [
            (Origin::Results, results),
            (Origin::Injected, injected),
            (Origin::Prompt, own),
        ];
        let parts = parts.into_iter().filter(|(_, blocks)| !blocks.is_empty());
        let message = |(origin, blocks)| Message {
            blocks,
            ..Message::new(Role::User, origin)
        };
        parts.map(message).collect()
    }
}

impl Streamed {
    fn new(chunk: &Chunk<'_>) -> Self {
        Self {
            id: chunk.id.as_ref().map(ToString::to_string),
            model: chunk.model.as_ref().map(ToString::to_string),
            draft: Draft::without_ids(),
            builder: BlockBuilder::verbatim(),
            blocks: Vec::new(),
        }
    }

    fn take(&mut self, chunk: Chunk<'_>) {
        for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
            for delta in choice.deltas {
                self.draft.push(delta);
            }
        }
        for part in self.draft.take_parts() {
            let outputs = self.builder.take(part);
            self.blocks.extend(outputs.into_iter().filter_map(block));
        }
    }

    fn message(&self, blocks: Vec<Block>) -> Message {
        Message {
            id: self.id.clone(),
            model: self.model.clone(),
            blocks,
            ..Message::new(Role::Assistant, Origin::Reply)
        }
    }
}

fn block(output: Output) -> Option<Block> {
    match output {
        Output::Block(block) => Some(block),
        Output::Event(_) => None,
    }
}

/// Reads messages from records.
#[derive(Debug)]
pub struct DialogStream {
    decoder: Decoder,
    messages: MessageReader,
    /// `None` if the records of a message are not joined.
    merger: Option<MessageMerger>,
    /// The agent whose format matched last.
    agent: Option<Agent>,
    session_id: Option<SessionId>,
}

impl Default for DialogStream {
    fn default() -> Self {
        Self {
            merger: Some(MessageMerger::default()),
            ..Self::at_once()
        }
    }
}

impl DialogStream {
    /// Returns a stream that does not join the records of a message: every record is complete at once.
    pub fn at_once() -> Self {
        Self {
            decoder: Decoder::default(),
            messages: MessageReader::default(),
            merger: None,
            agent: None,
            session_id: None,
        }
    }

    /// Reads the next record. Calls `taken` with each message that it completes.
    pub fn record(&mut self, record: &str, taken: &mut dyn FnMut(Message)) {
        self.record_live(record, None, taken);
    }

    /// Like [`Self::record`], but also calls `said` with each fragment of text that is still being written. The
    /// message with the whole text follows.
    pub fn record_live(
        &mut self,
        record: &str,
        mut said: Option<&mut dyn FnMut(&str)>,
        taken: &mut dyn FnMut(Message),
    ) {
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.decode(record, |decoded| {
            if let Some(said) = &mut said
                && let Some(AssistantText::Part(part)) = decoded.source.assistant_text()
            {
                said(&part);
            }
            for event in decoded.events {
                match event {
                    Event::Session(id) => {
                        self.session_id.get_or_insert(id);
                    }
                    Event::Executor {
                        call_ids: Some(prefix),
                    } => self.messages.set_call_ids(prefix),
                    _ => {}
                }
            }
            for message in self.messages(record, decoded.source) {
                self.push(message, taken);
            }
        });
        self.decoder = decoder;
    }

    fn push(&mut self, message: Message, taken: &mut dyn FnMut(Message)) {
        let whole = match &mut self.merger {
            Some(merger) => merger.push(message),
            None => Some(message),
        };
        if let Some(whole) = whole {
            taken(whole);
        }
    }

    fn messages(&mut self, record: &str, source: Source<'_>) -> Vec<Message> {
        let contents = match source {
            Source::Record(contents) => contents,
            Source::Stream(StreamItem::Message { message, .. }) => return vec![*message],
            Source::Stream(_) => return Vec::new(),
        };
        if contents.record.is_of_subagent() {
            return Vec::new();
        }
        let mut empty = Vec::new();
        let mut of_agent = |agent: Agent| {
            let messages = agent.format().messages(record);
            // A format that knows the record but not its content does not count.
            if messages.iter().any(|message| !message.blocks.is_empty()) {
                return Some(messages);
            }
            if empty.is_empty() {
                empty = messages;
            }
            None
        };
        if let Some(messages) = self.agent.and_then(&mut of_agent) {
            return messages;
        }
        if let Some(messages) = self.messages.record(&contents.record) {
            return messages;
        }
        for agent in Agent::ALL {
            if let Some(messages) = of_agent(agent) {
                self.agent = Some(agent);
                return messages;
            }
        }
        empty
    }

    /// Returns the session id, if the stream contains one.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_ref().map(|id| &*id.0)
    }

    /// Returns the instructions for the model in the stream; empty if there are none.
    pub fn instructions(&self) -> &str {
        self.messages.instructions()
    }

    /// Returns the message that may still be incomplete.
    pub fn open(&self) -> Option<&Message> {
        self.merger.as_ref()?.open()
    }

    /// Calls `taken` with the remaining messages at the end of the stream.
    pub fn finish(&mut self, taken: &mut dyn FnMut(Message)) {
        let unfinished = self.decoder.unfinished_text();
        let unfinished = unfinished.map(|source| self.messages("", source));
        let streamed = self.messages.finish();
        for message in unfinished.into_iter().flatten().chain(streamed) {
            self.push(message, taken);
        }
        if let Some(last) = self.merger.as_mut().and_then(MessageMerger::finish) {
            taken(last);
        }
    }
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
