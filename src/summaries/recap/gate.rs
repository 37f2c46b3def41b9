//! Decides whether an automatic recap is due.

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;

use crate::message::{Message, Origin, Role, Thread, is_interruption};
use crate::text::names;

/// Minimum number of prompts in a session.
const MIN_PROMPTS: usize = 3;

/// Minimum number of prompts since the last recap.
const MIN_PROMPTS_SINCE_RECAP: usize = 2;

/// The reason why an automatic recap is not due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecapSkipped {
    /// Too few prompts, in total or since the last recap.
    #[error("too few prompts since the last recap")]
    NotEnoughNew,
    /// The absence was too short.
    #[error("the absence was too short")]
    NotAway,
    /// A prompt or a call is unanswered, and the agent works on it.
    #[error("a prompt or a call is unanswered")]
    Busy,
}

names! {
    RecapSkipped: NotEnoughNew = "not_enough_activity", NotAway = "not_away", Busy = "busy",
}

/// The facts about a session that decide whether a recap is due.
#[derive(Debug, Default)]
pub struct RecapGate {
    prompts: usize,
    /// Number of prompts at the last recap.
    at_recap: Option<usize>,
    unanswered: HashSet<String>,
    awaits_reply: bool,
    last: Option<Timestamp>,
}

impl RecapGate {
    /// Processes the next message.
    pub fn note(&mut self, message: &Message) {
        if message.thread == Thread::Subagent {
            return;
        }
        let is_interruption = message.role == Role::User && is_interruption(&message.text());
        match message.origin {
            _ if is_interruption => {
                self.unanswered.clear();
                self.awaits_reply = false;
            }
            Origin::Prompt => {
                self.prompts += 1;
                self.awaits_reply = true;
                // After a new prompt, interrupted calls are no longer awaited.
                self.unanswered.clear();
            }
            Origin::Reply | Origin::Error => self.awaits_reply = false,
            Origin::Recap => {
                self.at_recap = Some(self.prompts);
                return;
            }
            Origin::Results
            | Origin::Injected
            | Origin::Summary
            | Origin::Compaction
            | Origin::Label
            | Origin::Meter => {}
        }
        for call in message.calls() {
            self.unanswered.insert(call.id.clone());
        }
        for result in message.results() {
            if self.unanswered.remove(&result.id) && self.unanswered.is_empty() {
                // The model still has to reply to the results.
                self.awaits_reply = true;
            }
        }
        let time = message.time.as_deref().and_then(|time| time.parse().ok());
        self.last = time.max(self.last);
    }

    /// Whether there are enough prompts, in total and since the last recap.
    pub fn has_enough_new(&self) -> bool {
        let since = self.at_recap.map(|then| self.prompts - then);
        self.prompts >= MIN_PROMPTS && since.is_none_or(|since| since >= MIN_PROMPTS_SINCE_RECAP)
    }

    /// Whether no prompt follows the last recap.
    pub fn is_recapped(&self) -> bool {
        self.at_recap == Some(self.prompts)
    }

    /// Whether no prompt or call is unanswered.
    pub fn is_idle(&self) -> bool {
        self.unanswered.is_empty() && !self.awaits_reply
    }

    /// Checks that a recap is due `now`, after an absence of at least `away` since the last time in
    /// the file. Unanswered prompts and calls count only while an agent
    /// works on the session.
    ///
    /// # Errors
    /// Returns the reason if the recap is not due.
    pub fn decide(
        &self,
        now: Timestamp,
        away: Duration,
        has_agent: impl FnOnce() -> bool,
    ) -> Result<(), RecapSkipped> {
        if !self.has_enough_new() {
            return Err(RecapSkipped::NotEnoughNew);
        }
        if !self.is_idle() && has_agent() {
            return Err(RecapSkipped::Busy);
        }
        let since = self
            .last
            .map(|last| now.duration_since(last).unsigned_abs());
        if since.is_some_and(|since| since < away) {
            return Err(RecapSkipped::NotAway);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::message::{Block, Call, Role, ToolResult};

    const AWAY: Duration = Duration::from_mins(5);

    fn at(message: Message, second: i64) -> Message {
        Message {
            time: Some(Timestamp::from_second(second).unwrap().to_string()),
            ..message
        }
    }

    fn prompt() -> Message {
        Message::new(Role::User, Origin::Prompt)
    }

    fn reply() -> Message {
        Message::new(Role::Assistant, Origin::Reply)
    }

    fn recap() -> Message {
        Message::new(Role::System, Origin::Recap)
    }

    fn gate(messages: &[Message]) -> RecapGate {
        let mut gate = RecapGate::default();
        for message in messages {
            gate.note(message);
        }
        gate
    }

    #[test]
    fn three_prompts_and_two_since_the_last_recap() {
        let rows: [(&[Message], bool); 4] = [
            (&[prompt(), prompt()], false),
            (&[prompt(), prompt(), prompt()], true),
            (&[prompt(), prompt(), prompt(), recap(), prompt()], false),
            (
                &[prompt(), prompt(), prompt(), recap(), prompt(), prompt()],
                true,
            ),
        ];
        for (messages, expected) in rows {
            assert_eq!(gate(messages).has_enough_new(), expected, "{messages:?}");
        }
    }

    #[test]
    fn unanswered_prompts_and_calls_are_busy() {
        let call = Block::Call(Call {
            id: "1".to_owned(),
            name: "Read".to_owned(),
            input: RawValue::from_string("{}".to_owned()).unwrap(),
            signature: None,
        });
        let result = Block::Result(ToolResult {
            id: "1".to_owned(),
            parts: Vec::new(),
            failed: false,
            end: None,
        });
        let calling = Message {
            blocks: vec![call],
            ..reply()
        };
        let results = Message {
            blocks: vec![result],
            ..Message::new(Role::User, Origin::Results)
        };
        let interrupt = Message {
            blocks: vec![Block::Text("[Request interrupted by user]".to_owned())],
            ..Message::new(Role::User, Origin::Injected)
        };
        let rows: [(&[Message], bool); 8] = [
            (&[prompt()], false),
            (&[prompt(), interrupt.clone()], true),
            (&[prompt(), calling.clone(), interrupt], true),
            (&[prompt(), reply()], true),
            (&[prompt(), calling.clone()], false),
            (&[prompt(), calling.clone(), results.clone()], false),
            (&[prompt(), calling.clone(), results, reply()], true),
            (&[prompt(), calling, prompt(), reply()], true),
        ];
        for (messages, expected) in rows {
            assert_eq!(gate(messages).is_idle(), expected, "{messages:?}");
        }
    }

    #[test]
    fn the_absence_starts_at_the_last_time_in_the_file() {
        let talk: Vec<Message> = (0..3)
            .flat_map(|turn| [at(prompt(), turn * 10), at(reply(), turn * 10 + 1)])
            .collect();
        let gate = gate(&talk);
        let now = |second| Timestamp::from_second(second).unwrap();
        let decide = |second, away| gate.decide(now(second), away, || true);
        assert_eq!(decide(100, AWAY), Err(RecapSkipped::NotAway));
        assert_eq!(decide(400, AWAY), Ok(()));
        assert_eq!(decide(100, Duration::from_mins(1)), Ok(()));
    }

    #[test]
    fn nothing_is_awaited_from_an_agent_that_has_ended() {
        let talk: Vec<Message> = (0..3).map(|turn| at(prompt(), turn)).collect();
        let gate = gate(&talk);
        let now = Timestamp::from_second(400).unwrap();
        assert_eq!(gate.decide(now, AWAY, || true), Err(RecapSkipped::Busy));
        assert_eq!(gate.decide(now, AWAY, || false), Ok(()));
        let soon = Timestamp::from_second(100).unwrap();
        assert_eq!(
            gate.decide(soon, AWAY, || false),
            Err(RecapSkipped::NotAway)
        );
    }
}
