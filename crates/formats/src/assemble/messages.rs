//! Joins the records of model APIs into messages: whole ones, and streamed ones.

use super::blocks::{BlockBuilder, Output};
use super::draft::Draft;
use super::generated_ids::GeneratedIds;
use crate::api::{Chunk, Contents, DialogContent, Extent, read_conversation};
use turnpipe_core::message::{Block, Message, Origin, Role, split_blocks};

/// Reads messages from the records of APIs, one after the other.
#[derive(Debug, Default)]
pub struct MessageReader {
    streamed: Option<StreamedMessage>,
    /// The id of the last streamed message.
    last_id: Option<String>,
    generated_ids: GeneratedIds,
    /// The number of messages so far.
    message_count: u64,
    instructions: String,
}

/// A message whose deltas are still arriving.
#[derive(Debug)]
struct StreamedMessage {
    id: Option<String>,
    model: Option<String>,
    draft: Draft,
    builder: BlockBuilder,
    blocks: Vec<Block>,
}

impl MessageReader {
    /// Sets the prefix of the ids of calls without one.
    pub fn set_call_ids(&mut self, prefix: String) {
        self.generated_ids.set_prefix(prefix);
    }

    /// Returns the instructions in the records; empty if there are none.
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// Takes the next record. Returns the messages that are complete now, or `None` if it is not the
    /// record of an API.
    pub fn read(&mut self, record: &Contents<'_>) -> Option<Vec<Message>> {
        let mut messages = Vec::new();
        match read_conversation(&record.record)? {
            DialogContent::Instructions(text) => self.instructions.push_str(&text),
            DialogContent::User(blocks) => {
                messages.extend(self.flush());
                messages.extend(self.read_user(blocks));
            }
            DialogContent::Reply(chunk) if chunk.extent == Extent::Whole => {
                let is_repeated =
                    chunk.id.is_some() && chunk.id.as_deref() == self.last_id.as_deref();
                if !is_repeated {
                    messages.extend(self.finish());
                    let mut whole = StreamedMessage::new(&chunk);
                    whole.add_chunk(chunk);
                    messages.extend(self.complete_message(whole));
                }
            }
            DialogContent::Reply(chunk) => messages.extend(self.read_chunk(chunk)),
        }
        Some(messages)
    }

    /// Takes a part of a streamed message. Returns messages that are complete.
    fn read_chunk(&mut self, chunk: Chunk<'_>) -> Vec<Message> {
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
            self.streamed = Some(StreamedMessage::new(&chunk));
        }
        if let Some(open) = &mut self.streamed {
            open.add_chunk(chunk);
            if open.draft.is_closed {
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
        open.blocks
            .extend(outputs.into_iter().filter_map(into_block));
        let blocks = std::mem::take(&mut open.blocks);
        let message = open.to_message(blocks);
        (!message.blocks.is_empty()).then(|| self.add_ids(message))
    }

    /// Ends the streamed message.
    pub fn finish(&mut self) -> Option<Message> {
        let open = self.streamed.take()?;
        self.last_id.clone_from(&open.id);
        self.complete_message(open)
    }

    fn complete_message(&mut self, mut open: StreamedMessage) -> Option<Message> {
        let is_whole = open.draft.end.is_some() || open.draft.is_closed;
        // A call whose input is whole has a result, even if it was cut off.
        let mut rest = open.builder.take_complete();
        rest.extend(open.builder.finish(is_whole));
        open.blocks.extend(rest.into_iter().filter_map(into_block));
        let blocks = std::mem::take(&mut open.blocks);
        let usage = open.draft.usage;
        let message = Message {
            usage: (!usage.is_empty()).then_some(usage),
            ..open.to_message(blocks)
        };
        let message = self.add_ids(message);
        self.message_count += 1;
        (!message.blocks.is_empty() || message.usage.is_some()).then_some(message)
    }

    /// Adds ids to calls without one.
    fn add_ids(&mut self, mut message: Message) -> Message {
        for block in &mut message.blocks {
            if let Block::Call(call) = block
                && call.id.is_empty()
            {
                call.id = self.generated_ids.make_id(&call.name, self.message_count).0;
            }
        }
        message
    }

    /// Returns the messages of the user, each with one origin. Results without an id belong to calls
    /// without one, of the tool with this name.
    fn read_user(&mut self, blocks: Vec<(Block, String)>) -> Vec<Message> {
        let (mut results, mut rest) = (Vec::new(), Vec::new());
        for (mut block, name) in blocks {
            if let Block::Result(result) = &mut block {
                if result.id.is_empty() {
                    let name = Some(&*name).filter(|name| !name.is_empty());
                    let id = self.generated_ids.take_open_id(name);
                    result.id = id.map(|id| id.0).unwrap_or_default();
                }
                results.push(block);
            } else {
                rest.push(block);
            }
        }
        let (injected, own) = split_blocks(rest);
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

impl StreamedMessage {
    fn new(chunk: &Chunk<'_>) -> Self {
        Self {
            id: chunk.id.as_ref().map(ToString::to_string),
            model: chunk.model.as_ref().map(ToString::to_string),
            draft: Draft::default(),
            builder: BlockBuilder::with_verbatim_ids(),
            blocks: Vec::new(),
        }
    }

    fn add_chunk(&mut self, chunk: Chunk<'_>) {
        for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
            for delta in choice.deltas {
                self.draft.push(delta);
            }
        }
        for part in self.draft.take_parts() {
            let outputs = self.builder.take(part);
            self.blocks
                .extend(outputs.into_iter().filter_map(into_block));
        }
    }

    fn to_message(&self, blocks: Vec<Block>) -> Message {
        Message {
            id: self.id.clone(),
            model: self.model.clone(),
            blocks,
            ..Message::new(Role::Assistant, Origin::Reply)
        }
    }
}

fn into_block(output: Output) -> Option<Block> {
    match output {
        Output::Block(block) => Some(block),
        Output::Event(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages in a record: role, model, input tokens, and blocks.
    fn read(record: &str) -> Option<Vec<String>> {
        let messages = MessageReader::default().read(&Contents::parse(record)?)?;
        let outline = |message: Message| {
            let blocks = message.blocks.iter().map(|block| match block {
                Block::Text(text) => text.clone(),
                Block::Thinking(thought) => format!("({})", thought.text()),
                Block::Call(call) => format!("{} {}", call.id, call.name),
                Block::Result(result) => {
                    let mark = if result.failed { "!" } else { "=" };
                    format!("{}{mark}{}", result.id, result.text())
                }
                Block::Media(media) => media.media_type.clone(),
            });
            let blocks: Vec<String> = blocks.collect();
            let input = message.usage.map_or(0, |usage| usage.input);
            let model = message.model.as_deref().unwrap_or("-");
            format!("{:?} {model} {input} {}", message.role, blocks.join(", "))
        };
        Some(messages.into_iter().map(outline).collect())
    }

    #[test]
    fn whole_records_of_all_dialects_are_messages() {
        for (record, expected) in [
            (
                r#"{"role":"assistant","id":"m","model":"a","content":"hi","usage":{"input_tokens":3}}"#,
                "Assistant a 3 hi",
            ),
            (
                r#"{"type":"tool_use","id":"c","name":"f","input":{"a":1}}"#,
                "Assistant - 0 c f",
            ),
            (
                r#"{"type":"tool_result","tool_use_id":"c","content":"x","is_error":true}"#,
                "User - 0 c!x",
            ),
            (
                r#"{"object":"response","id":"r","model":"a","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}"#,
                "Assistant a 0 hi",
            ),
            (
                r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#,
                "Assistant - 0 c f",
            ),
            (
                r#"{"type":"function_call_output","call_id":"c","output":"x"}"#,
                "User - 0 c=x",
            ),
            (
                r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"e"}"#,
                "Assistant - 0 (s)",
            ),
            (
                r#"{"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":{"rows":1}}}]}"#,
                r#"User - 0 c={"rows":1}"#,
            ),
        ] {
            let found = read(record).map(|messages| messages.join("\n"));
            assert_eq!(found.as_deref(), Some(expected), "{record}");
        }
    }
}
