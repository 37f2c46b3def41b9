//! What is known of a session.

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::Title;
use crate::dialog::{Message, Origin, Pairs, Role, Thread, Usage};
use crate::wire::object::text;

/// How much of the first prompt is kept, in characters.
const PROMPT_CHARACTERS: usize = 200;

/// What is known of a session. Absent is what the file (or the part that was read) does not tell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The session.
    pub session_id: Option<String>,
    /// Its title.
    pub title: Option<Title>,
    /// The beginning of the first prompt that a person typed.
    pub first_prompt: Option<String>,
    /// The directory in which it began.
    pub first_cwd: Option<String>,
    /// The directory that was named last.
    pub cwd: Option<String>,
    /// A hash of the directory, where the agent tells no more.
    pub cwd_hash: Option<String>,
    /// The branch that was named last.
    pub branch: Option<String>,
    /// The model that spoke last.
    pub model: Option<String>,
    /// The session that it was forked from.
    pub forked_from: Option<String>,
    /// What it begins with, if that stands in another file.
    pub history: Option<History>,
    /// The earliest time in its records.
    pub started: Option<Timestamp>,
    /// The latest time in its records.
    pub last_activity: Option<Timestamp>,
    /// Whether it is the file of a subagent.
    pub is_subagent: bool,
}

/// The beginning of another session's file, which is the beginning of this one too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The other session.
    pub session_id: String,
    /// How much of its file, in bytes.
    pub end: u64,
}

/// How much of what is in a session.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// Records.
    pub records: u64,
    /// Prompts.
    pub prompts: u64,
    /// Replies.
    pub replies: u64,
    /// Calls.
    pub calls: u64,
    /// Results.
    pub results: u64,
    /// Results that tell of a failure.
    pub failed: u64,
    /// Calls without a result.
    pub unanswered: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Compactions.
    pub compactions: u64,
    /// Tokens.
    pub usage: Usage,
}

impl Facts {
    /// Takes the time of a record.
    pub(super) fn note_time(&mut self, time: Option<&RawValue>) {
        let Some(time) = text(time).and_then(|time| time.parse::<Timestamp>().ok()) else {
            return;
        };
        self.started = Some(self.started.map_or(time, |known| known.min(time)));
        self.last_activity = Some(self.last_activity.map_or(time, |known| known.max(time)));
    }

    /// Takes the model that speaks.
    pub(super) fn note_model(&mut self, model: Option<String>) {
        if model.is_some() {
            self.model = model;
        }
    }

    /// Takes the directory that a record names.
    pub(super) fn note_cwd(&mut self, cwd: Option<String>) {
        if let Some(cwd) = cwd {
            self.first_cwd.get_or_insert_with(|| cwd.clone());
            self.cwd = Some(cwd);
        }
    }

    /// Takes what a message tells.
    pub(super) fn note_message(&mut self, message: &Message) {
        if message.thread == Thread::Subagent {
            return;
        }
        self.note_model(message.model.clone());
        if self.first_prompt.is_none() && message.origin == Origin::Prompt {
            let text = message.text();
            if !text.trim().is_empty() {
                self.first_prompt = Some(beginning(text.trim()));
            }
        }
    }
}

/// The first characters, and an ellipsis if there are more.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(PROMPT_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Counts whole messages.
#[derive(Debug, Default)]
pub(super) struct Counter {
    counts: Counts,
    pairs: Pairs,
    /// The last reading of a meter.
    meter: Option<Usage>,
}

impl Counter {
    /// Takes the next whole message.
    pub(super) fn note(&mut self, message: &Message) {
        let counts = &mut self.counts;
        match (message.role, message.origin) {
            (_, Origin::Prompt) => counts.prompts += 1,
            (Role::Assistant, Origin::Reply) => counts.replies += 1,
            (_, Origin::Error) => counts.errors += 1,
            (_, Origin::Compaction) => counts.compactions += 1,
            _ => {}
        }
        counts.calls += message.calls().count() as u64;
        for result in message.results() {
            counts.results += 1;
            counts.failed += u64::from(result.failed);
        }
        self.pairs.note(message);
        counts.usage += metered(message, &mut self.meter);
    }

    /// The sums.
    pub(super) fn finish(mut self, records: u64) -> Counts {
        self.counts.records = records;
        self.counts.unanswered = self.pairs.unanswered().len() as u64;
        self.counts
    }
}

/// What a message adds to the tokens of its session. A meter tells the sum so far.
pub(super) fn metered(message: &Message, meter: &mut Option<Usage>) -> Usage {
    let Some(usage) = message.usage else {
        return Usage::default();
    };
    if message.origin != Origin::Meter {
        return usage;
    }
    let before = meter.replace(usage).unwrap_or_default();
    usage.since(&before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialog::Block;

    #[test]
    fn times_may_run_backwards() {
        let mut facts = Facts::default();
        for time in [
            "2026-01-01T00:00:02Z",
            "2026-01-01T00:00:01.5Z",
            "nonsense",
            "2026-01-01T00:00:03Z",
            "2026-01-01T00:00:01.7Z",
        ] {
            let time = RawValue::from_string(format!("\"{time}\"")).unwrap();
            facts.note_time(Some(&time));
        }
        assert_eq!(facts.started.unwrap().to_string(), "2026-01-01T00:00:01.5Z");
        assert_eq!(
            facts.last_activity.unwrap().to_string(),
            "2026-01-01T00:00:03Z"
        );
    }

    #[test]
    fn long_prompts_are_cut_between_characters() {
        let mut facts = Facts::default();
        let prompt = Message {
            blocks: vec![Block::Text("😀".repeat(300))],
            ..Message::new(Role::User, Origin::Prompt)
        };
        facts.note_message(&prompt);
        let kept = facts.first_prompt.unwrap();
        assert_eq!(kept.chars().count(), PROMPT_CHARACTERS + 1);
    }

    #[test]
    fn a_meter_that_repeats_itself_adds_nothing() {
        let mut counter = Counter::default();
        for input in [5, 5, 9] {
            counter.note(&Message {
                usage: Some(Usage {
                    input,
                    ..Usage::default()
                }),
                ..Message::new(Role::System, Origin::Meter)
            });
        }
        assert_eq!(counter.finish(3).usage.input, 9);
    }
}
