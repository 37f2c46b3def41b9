//! The part of a conversation that titles and recaps need, in bounded memory.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Read;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::recap::RecapGate;
use super::{Language, dominant_language};
use crate::assemble::{CopyError, DialogStream, Understanding};
use crate::jsonl::RecordWriter;
use crate::message::{
    Block, Message, Origin, ResultPart, Role, SessionId, Thread, without_injected,
};
use crate::text::redact;

/// Number of last messages in the question for a title.
pub(super) const TITLE_MESSAGES: usize = 20;

/// Number of messages with text that are kept from the start.
const HEAD_MESSAGES: usize = 64;

/// Number of messages with text that are kept from the end.
const TAIL_MESSAGES: usize = 128;

/// Number of messages with calls or results that are kept.
const MAX_STEPS: usize = 64;

/// Mark of a cut in a result. Rules count nothing in a result with this mark.
pub(super) const TRUNCATED: &str = "\n[truncated]\n";

/// Maximum size of uncut arguments, in bytes.
const MAX_INPUT_BYTES: usize = 64 * 1024;

/// Bytes kept of each text in arguments above that size.
const KEPT_ARGUMENT_BYTES: usize = 16 * 1024;

/// Bytes kept of the start and of the end of a text.
const KEPT_BYTES: usize = 16 * 1024;

/// The start and the end of a conversation.
#[derive(Debug, Default)]
pub struct Excerpt {
    head: Vec<Message>,
    tail: VecDeque<Message>,
    gate: RecapGate,
    messages: usize,
    compacted: bool,
    /// Calls and results after the last text of the user or the model, and the calls of that text.
    steps: VecDeque<Message>,
}

/// A conversation read from a stream.
pub struct StreamedConversation {
    /// The start and the end of the conversation.
    pub excerpt: Excerpt,
    /// The session id, if the stream contains one.
    pub session_id: Option<SessionId>,
    /// The records that were understood.
    pub understanding: Understanding,
}

impl StreamedConversation {
    /// Reads a conversation to its end, and writes every byte to `copy`.
    ///
    /// # Errors
    /// Reading or writing failed.
    pub fn read(
        stream: impl Read + Send + 'static,
        copy: Option<&mut RecordWriter>,
    ) -> Result<Self, CopyError> {
        let mut excerpt = Excerpt::default();
        let mut note = |message| excerpt.note(message);
        let read = DialogStream::read_all(stream, copy, &mut |_| (), &mut note);
        let (conversation, understanding) = read?;
        Ok(Self {
            understanding: match excerpt.message_count() {
                0 => understanding,
                _ => Understanding::Something,
            },
            excerpt,
            session_id: conversation.session_id().map(|id| SessionId(id.to_owned())),
        })
    }
}

impl Excerpt {
    /// Adds a message.
    pub fn note(&mut self, message: Message) {
        self.gate.note(&message);
        self.messages += 1;
        self.compacted |= message.origin == Origin::Compaction;
        let (reduced, steps) = split_steps(message);
        let has_text = !reduced.blocks.is_empty() && reduced.thread == Thread::Main;
        if has_text && matches!(reduced.origin, Origin::Prompt | Origin::Reply) {
            self.steps.clear();
        }
        if !steps.blocks.is_empty() && steps.thread == Thread::Main {
            if self.steps.len() == MAX_STEPS {
                self.steps.pop_front();
            }
            self.steps.push_back(steps);
        }
        if reduced.blocks.is_empty() {
            return;
        }
        if self.head.len() < HEAD_MESSAGES {
            self.head.push(reduced);
            return;
        }
        if self.tail.len() == TAIL_MESSAGES {
            // The latest prompt may be far from the end.
            let is_reply = |message: &Message| message.origin != Origin::Prompt;
            let oldest = self.tail.iter().position(is_reply);
            self.tail.remove(oldest.unwrap_or_default());
        }
        self.tail.push_back(reduced);
    }

    /// Returns the first and the last messages with text, and the calls and results that follow them.
    pub fn to_messages(&self) -> Vec<Message> {
        let with_text = self.head.iter().chain(&self.tail);
        with_text.chain(&self.steps).cloned().collect()
    }

    /// Joins the start and the prompts of a whole conversation with `end`, the part that the model sees.
    #[must_use]
    pub fn followed_by(self, end: &Self) -> Self {
        let prompts = self.tail.into_iter();
        let prompts = prompts.filter(|message| message.origin == Origin::Prompt);
        Self {
            head: self.head,
            tail: prompts.chain(end.to_messages()).collect(),
            gate: self.gate,
            steps: VecDeque::new(),
            ..self
        }
    }

    /// Returns the texts of the user and the model.
    pub fn collect_texts(&self) -> TextCollector {
        let mut texts = TextCollector::default();
        for message in self.head.iter().chain(&self.tail) {
            texts.note(message);
        }
        texts
    }

    /// Returns the language of the user's last texts, or of the model's last texts if that is not recognised.
    pub fn language(&self) -> Option<Language> {
        let collected = self.collect_texts();
        let language_of = |role: Role| {
            let recent = collected.texts().iter().rev().take(TITLE_MESSAGES);
            let texts = recent
                .filter(|texts| texts.role == role)
                .map(MessageTexts::text);
            dominant_language(&texts.collect::<Vec<_>>().join("\n\n"))
        };
        language_of(Role::User).or_else(|| language_of(Role::Assistant))
    }

    /// Returns the number of messages of any kind.
    pub fn message_count(&self) -> usize {
        self.messages
    }

    /// Whether the agent has compacted the conversation.
    pub fn is_compacted(&self) -> bool {
        self.compacted
    }

    /// Returns the state that decides on automatic recaps.
    pub fn gate(&self) -> &RecapGate {
        &self.gate
    }
}

/// Separates the texts of a message from its calls and results. Returns both parts, with long texts cut.
fn split_steps(message: Message) -> (Message, Message) {
    let mut steps = Message::new(message.role, message.origin);
    steps.thread = message.thread;
    let mut texts = Message {
        blocks: Vec::new(),
        ..message
    };
    for block in message.blocks {
        match block {
            Block::Text(text) => {
                let text = beginning_and_end(&text, KEPT_BYTES, "\n").into_owned();
                texts.blocks.push(Block::Text(text));
            }
            Block::Call(mut call) => {
                call.input = bound_input(call.input);
                steps.blocks.push(Block::Call(call));
            }
            Block::Result(mut result) => {
                let text = result.text();
                let text = beginning_and_end(&text, KEPT_BYTES, TRUNCATED).into_owned();
                result.parts = vec![ResultPart::Text(text)];
                steps.blocks.push(Block::Result(result));
            }
            Block::Thinking(_) | Block::Media(_) => {}
        }
    }
    (texts, steps)
}

/// Cuts long texts in arguments.
pub(super) fn bound_input(input: Box<RawValue>) -> Box<RawValue> {
    if input.get().len() <= MAX_INPUT_BYTES {
        return input;
    }
    let Ok(Value::Object(members)) = serde_json::from_str(input.get()) else {
        return RawValue::NULL.to_owned();
    };
    let members: Map<String, Value> = members
        .into_iter()
        .filter_map(|(name, value)| match value {
            Value::String(text) => {
                let end = text.floor_char_boundary(KEPT_ARGUMENT_BYTES);
                Some((name, Value::from(&text[..end])))
            }
            other => (other.to_string().len() <= MAX_INPUT_BYTES).then_some((name, other)),
        })
        .collect();
    serde_json::value::to_raw_value(&members).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Returns the first and the last `kept` bytes of a longer text, with `gap` between them.
pub(super) fn beginning_and_end<'a>(text: &'a str, kept: usize, gap: &str) -> Cow<'a, str> {
    if text.len() <= 2 * kept {
        return text.into();
    }
    let head = text.floor_char_boundary(kept);
    let tail = text.ceil_char_boundary(text.len() - kept);
    format!("{}{gap}{}", &text[..head], &text[tail..]).into()
}

/// The reply of Qwen Code's model to the context at the start of a session, in older versions.
const ACKNOWLEDGED_CONTEXT: &str = "Got it. Thanks for the context!";

/// The texts of a message. No part is blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageTexts {
    /// The speaker.
    pub role: Role,
    /// The parts of the text.
    pub parts: Vec<String>,
}

impl MessageTexts {
    /// Returns the joined parts, with secrets masked, because models see the text.
    pub fn text(&self) -> String {
        redact(&self.parts.concat()).into_owned()
    }
}

/// Collects the texts of a conversation.
#[derive(Debug, Default)]
pub struct TextCollector {
    texts: Vec<MessageTexts>,
    /// Number of messages of any kind.
    messages: usize,
}

impl TextCollector {
    /// Adds a message.
    pub fn note(&mut self, message: &Message) {
        if message.thread == Thread::Subagent {
            return;
        }
        let role = match (message.role, message.origin) {
            (Role::User, Origin::Prompt) => Role::User,
            (Role::Assistant, Origin::Reply) => Role::Assistant,
            (Role::User, Origin::Results | Origin::Injected) => {
                self.messages += 1;
                return;
            }
            _ => return,
        };
        self.messages += 1;
        let texts = MessageTexts {
            role,
            parts: text_parts(message),
        };
        let acknowledges =
            role == Role::Assistant && self.messages == 2 && texts.parts == [ACKNOWLEDGED_CONTEXT];
        if acknowledges {
            self.texts.clear();
            return;
        }
        if !texts.parts.is_empty() {
            self.texts.push(texts);
        }
    }

    /// Returns the number of messages, including messages without text.
    pub fn message_count(&self) -> usize {
        self.messages
    }

    /// Returns the texts.
    pub fn texts(&self) -> &[MessageTexts] {
        &self.texts
    }

    /// Returns the last `count` texts, starting with a text of the user unless these are all texts.
    pub fn recent(&self, count: usize) -> &[MessageTexts] {
        let start = self.texts.len().saturating_sub(count);
        let recent = &self.texts[start..];
        if start == 0 {
            return recent;
        }
        let prompt = recent.iter().position(|texts| texts.role == Role::User);
        prompt.map_or(&[], |prompt| &recent[prompt..])
    }

    /// Returns the last texts, preceded by the last prompt if it is older.
    pub fn recent_since_prompt(&self, count: usize) -> Cow<'_, [MessageTexts]> {
        let recent = self.recent(count);
        let last = self.texts.iter().rfind(|texts| texts.role == Role::User);
        match last.filter(|_| recent.is_empty()) {
            None => Cow::Borrowed(recent),
            Some(prompt) => {
                let start = self.texts.len().saturating_sub(count.saturating_sub(1));
                let texts = std::iter::once(prompt).chain(&self.texts[start..]);
                Cow::Owned(texts.cloned().collect())
            }
        }
    }
}

/// Returns the texts of a message, without texts injected by the agent.
fn text_parts(message: &Message) -> Vec<String> {
    let texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(without_injected(text).into_owned()),
        _ => None,
    });
    texts.filter(|text| !text.trim().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;

    fn text(role: Role, origin: Origin, text: &str) -> Message {
        Message {
            blocks: vec![Block::Text(text.to_owned())],
            ..Message::new(role, origin)
        }
    }

    #[test]
    fn the_latest_prompts_are_kept() {
        let mut excerpt = Excerpt::default();
        let prompt = |number: usize| text(Role::User, Origin::Prompt, &number.to_string());
        excerpt.note(prompt(0));
        let reply = || text(Role::Assistant, Origin::Reply, "step");
        let replies = |excerpt: &mut Excerpt| {
            for _ in 0..1000 {
                excerpt.note(reply());
            }
        };
        replies(&mut excerpt);
        excerpt.note(prompt(1));
        replies(&mut excerpt);
        let mut compacted = Excerpt::default();
        compacted.note(reply());
        let texts = excerpt.followed_by(&compacted).to_messages();
        let prompts = texts.iter().filter(|text| text.origin == Origin::Prompt);
        assert_eq!(prompts.map(Message::text).collect::<Vec<_>>(), ["0", "1"]);
    }

    #[test]
    fn a_long_conversation_is_cut() {
        let mut excerpt = Excerpt::default();
        for number in 0..1000 {
            excerpt.note(Message {
                blocks: vec![Block::Text(format!("{number} {}", "x".repeat(100_000)))],
                ..Message::new(Role::User, Origin::Prompt)
            });
        }
        let texts = excerpt.to_messages();
        assert_eq!(texts.len(), HEAD_MESSAGES + TAIL_MESSAGES);
        assert!(texts[0].text().starts_with("0 "));
        assert!(
            texts[HEAD_MESSAGES + TAIL_MESSAGES - 1]
                .text()
                .starts_with("999 ")
        );
        assert!(texts[0].text().len() < 3 * KEPT_BYTES);
        assert_eq!(excerpt.message_count(), 1000);
    }
}

#[cfg(test)]
mod spoken_tests {
    use super::*;

    fn message(role: Role, texts: &[&str]) -> Message {
        let origin = match role {
            Role::User => Origin::Prompt,
            Role::Assistant | Role::System => Origin::Reply,
        };
        Message {
            blocks: texts
                .iter()
                .map(|text| Block::Text((*text).to_owned()))
                .collect(),
            ..Message::new(role, origin)
        }
    }

    fn spoken(messages: &[Message]) -> TextCollector {
        let mut spoken = TextCollector::default();
        for message in messages {
            spoken.note(message);
        }
        spoken
    }

    #[test]
    fn reminders_contexts_and_thinking_are_omitted() {
        let mut reply = message(Role::Assistant, &["visible"]);
        reply.blocks.insert(0, Block::thinking("hidden"));
        let messages = [
            message(Role::User, &["ctx"]),
            message(Role::Assistant, &[ACKNOWLEDGED_CONTEXT]),
            message(
                Role::User,
                &["<system-reminder>x</system-reminder>", "fix it"],
            ),
            reply,
            message(Role::User, &["<system-reminder>x</system-reminder>"]),
            message(
                Role::User,
                &[
                    "go",
                    "<qwen:user-prompt-submit-context>\nx\n</qwen:user-prompt-submit-context>",
                ],
            ),
        ];
        let texts: Vec<String> = spoken(&messages)
            .texts()
            .iter()
            .map(MessageTexts::text)
            .collect();
        assert_eq!(texts, ["fix it", "visible", "go"]);
    }

    #[test]
    fn recent_messages_start_with_a_prompt() {
        let user = || message(Role::User, &["u"]);
        let model = || message(Role::Assistant, &["m"]);
        let few = spoken(&[model(), user()]);
        assert_eq!(few.recent(2).len(), 2);
        let more = spoken(&[user(), model(), model(), user(), model()]);
        assert_eq!(more.recent(4).len(), 2);
        let lost = spoken(&[user(), model(), model()]);
        assert!(lost.recent(2).is_empty());
        let texts = |said: &[MessageTexts]| said.iter().map(MessageTexts::text).collect::<Vec<_>>();
        assert_eq!(texts(&lost.recent_since_prompt(2)), ["u", "m"]);
        assert_eq!(lost.recent_since_prompt(3).len(), 3);
        let silent = spoken(&[model(), model(), model()]);
        assert!(silent.recent_since_prompt(2).is_empty());
    }
}
