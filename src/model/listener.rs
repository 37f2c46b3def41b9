//! Forwards the deltas of a reply with secrets redacted.

use super::{ReplyEvent, ReplyPart};
use crate::http::{Redaction, StreamRedaction, Task};

/// Forwards the deltas of one reply.
pub(super) struct Listener<'a> {
    task: &'a Task<ReplyEvent>,
    redaction: Redaction,
    /// The current text and its redaction state, which holds back possible starts of secrets.
    current: Option<(Channel, StreamRedaction)>,
    has_begun: bool,
    has_block: bool,
}

/// A text that is streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    Text,
    Thinking,
    CallInput(usize),
}

impl<'a> Listener<'a> {
    /// Creates a listener.
    pub(super) fn new(task: &'a Task<ReplyEvent>, redaction: Redaction) -> Self {
        Self {
            task,
            redaction,
            current: None,
            has_begun: false,
            has_block: false,
        }
    }

    /// Whether any delta was forwarded.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether a complete block was forwarded: a later one started.
    pub(super) fn has_block(&self) -> bool {
        self.has_block
    }

    /// Forwards deltas.
    pub(super) async fn tell(&mut self, parts: Vec<ReplyPart>) {
        for part in parts {
            match part {
                ReplyPart::Text(text) => self.add(Channel::Text, &text).await,
                ReplyPart::Thinking(text) => self.add(Channel::Thinking, &text).await,
                ReplyPart::CallInput { index, fragment } => {
                    self.add(Channel::CallInput(index), &fragment).await;
                }
                ReplyPart::CallBegins { .. } | ReplyPart::RedactedThinking(_) => {
                    self.has_block |= self.has_begun;
                    self.finish().await;
                    self.send(part).await;
                }
                ReplyPart::Signature(_) => {
                    self.finish().await;
                    self.send(part).await;
                }
            }
        }
    }

    /// Forwards the text held back so far.
    pub(super) async fn finish(&mut self) {
        if let Some((channel, mut text)) = self.current.take() {
            self.send_text(channel, text.rest()).await;
        }
    }

    async fn add(&mut self, channel: Channel, part: &str) {
        if self
            .current
            .as_ref()
            .is_some_and(|(current, _)| *current != channel)
        {
            let is_input = matches!(channel, Channel::CallInput(_));
            self.has_block |= !is_input;
            self.finish().await;
        }
        let redaction = &self.redaction;
        let (_, text) = self
            .current
            .get_or_insert_with(|| (channel, StreamRedaction::new(redaction.clone())));
        let shown = text.push(part);
        self.send_text(channel, shown).await;
    }

    async fn send_text(&mut self, channel: Channel, text: String) {
        if text.is_empty() {
            return;
        }
        let part = match channel {
            Channel::Text => ReplyPart::Text(text),
            Channel::Thinking => ReplyPart::Thinking(text),
            Channel::CallInput(index) => ReplyPart::CallInput {
                index,
                fragment: text,
            },
        };
        self.send(part).await;
    }

    async fn send(&mut self, part: ReplyPart) {
        self.has_begun = true;
        // Without a receiver the reply is still read to its end.
        let _ = self.task.send(ReplyEvent::Part(part)).await;
    }
}
