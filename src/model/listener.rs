//! Who is told the parts of a reply as they come, without secrets.

use super::{Delivery, Event};
use crate::http::{Redaction, StreamRedaction, Task};

/// Tells the parts of one reply.
pub(super) struct Listener<'a> {
    delivery: Delivery,
    task: &'a Task<Event>,
    redaction: Redaction,
    /// The text that is being told, and what is held back of it.
    current: Option<(Channel, StreamRedaction)>,
    told: bool,
}

/// A text that events add to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    Text,
    Thinking,
    Input(usize),
}

impl<'a> Listener<'a> {
    /// Tells nothing if the reply is wanted at once.
    pub(super) fn new(delivery: Delivery, task: &'a Task<Event>, redaction: Redaction) -> Self {
        Self {
            delivery,
            task,
            redaction,
            current: None,
            told: false,
        }
    }

    /// Whether anything was told.
    pub(super) fn has_told(&self) -> bool {
        self.told
    }

    /// Tells events.
    pub(super) async fn tell(&mut self, events: Vec<Event>) {
        if self.delivery == Delivery::Whole {
            return;
        }
        for event in events {
            match event {
                Event::Text(text) => self.add(Channel::Text, &text).await,
                Event::Thinking(text) => self.add(Channel::Thinking, &text).await,
                Event::CallInput { index, fragment } => {
                    self.add(Channel::Input(index), &fragment).await;
                }
                Event::CallBegins { .. } | Event::Restart => {
                    self.finish().await;
                    self.send(event).await;
                }
            }
        }
    }

    /// Tells what was held back.
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
        let event = match channel {
            Channel::Text => Event::Text(text),
            Channel::Thinking => Event::Thinking(text),
            Channel::Input(index) => Event::CallInput {
                index,
                fragment: text,
            },
        };
        self.send(event).await;
    }

    async fn send(&mut self, event: Event) {
        self.told = true;
        // Nobody listens any more: the reply is read to its end all the same.
        let _ = self.task.send(event).await;
    }
}
