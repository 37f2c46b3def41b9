//! The content of one record, in the same form for all agents.

use jiff::Timestamp;

use super::content::timestamp;
use super::counting::{Meter, SideCost};
use super::facts::Facts;
use super::title::StoredTitle;
use turnpipe_core::message::{Message, Thread, Tier};

/// The role of a record in a conversation tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Part {
    /// A message. A branch may end here.
    Turn,
    /// A record between turns at which a branch may end.
    Step,
    /// A record between turns at which no branch ends.
    #[default]
    Aside,
    /// A record of a subagent.
    Side,
}

/// A row of a log with its id, by which later records change it.
#[derive(Debug)]
pub struct LoggedRow {
    /// The id.
    pub id: String,
    /// The messages.
    pub messages: Vec<Message>,
}

/// The effect of a record on earlier messages (see [`super::Shape::Replay`]).
#[derive(Debug, Default)]
pub enum Change {
    /// No change.
    #[default]
    Nothing,
    /// Adds a message, or replaces the one with this id.
    Put(String),
    /// Replaces all messages by these rows.
    Reset(Vec<LoggedRow>),
    /// Removes the message with this id and all later ones.
    RewindTo(String),
}

/// The end of a run, as its stream reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportedEnd {
    /// The reason as the agent states it.
    pub reason: String,
    /// The number of turns.
    pub turns: Option<u64>,
    /// The duration in milliseconds.
    pub duration: Option<u64>,
    /// The number of calls that were denied.
    pub denials: u64,
}

/// A summary of a conversation.
#[derive(Debug)]
pub struct Summary {
    /// The id of the conversation's last record.
    pub last_record: String,
    /// The summary.
    pub text: String,
}

/// The web searches of a call.
#[derive(Debug)]
pub struct WebSearches {
    /// The id of the call.
    pub call: String,
    /// Their number.
    pub count: u64,
}

/// The content of one record.
#[derive(Debug, Default)]
pub struct Entry {
    /// The type, or empty if there is none.
    pub kind: String,
    /// The subtype.
    pub subtype: Option<String>,
    /// Whether this kind of record is known.
    pub is_known: bool,
    /// Whether it only annotates the conversation: a title, a recap or a label.
    pub is_annotation: bool,
    /// The id of the record.
    pub uuid: Option<String>,
    /// The id of the parent record.
    pub parent: Option<String>,
    /// The id of the subagent that the record belongs to, if its records have one.
    pub subagent: Option<String>,
    /// The call that started the subagent.
    pub started_by: Option<String>,
    /// The id of the parent record across a compaction.
    pub logical_parent: Option<String>,
    /// Its role in a tree.
    pub part: Part,
    /// The time in the record.
    pub time: Option<String>,
    /// The facts in the record.
    pub facts: Facts,
    /// The title in the record.
    pub title: Option<StoredTitle>,
    /// A summary of a conversation.
    pub summary: Option<Summary>,
    /// The messages.
    pub messages: Vec<Message>,
    /// Messages that other records repeat. They count only in files without those records.
    pub repeats: Vec<Message>,
    /// The effect on earlier messages.
    pub change: Change,
    /// Tokens of requests. Messages with readings of the same meter repeat them.
    pub meters: Vec<Meter>,
    /// The service tier of the requests that follow.
    pub tier: Option<Tier>,
    /// The web searches of a call, unless the usage of its reply states them.
    pub searches: Option<WebSearches>,
    /// The cost of the session so far as recorded by the agent, in US dollars.
    pub recorded_cost: Option<f64>,
    /// The cost of a request outside the conversation.
    pub side_cost: Option<SideCost>,
    /// The end of a run.
    pub end: Option<ReportedEnd>,
}

impl Entry {
    /// Returns the time in the record.
    pub fn timestamp(&self) -> Option<Timestamp> {
        timestamp(self.time.as_deref())
    }

    /// Converts the times to RFC 3339 in UTC, and removes those that cannot be parsed.
    pub(super) fn normalize_times(&mut self) {
        let times = self.messages.iter_mut().chain(&mut self.repeats);
        for time in times
            .map(|message| &mut message.time)
            .chain([&mut self.time])
        {
            let is_usual = |time: &String| time.ends_with('Z') && time.get(10..11) == Some("T");
            if !time.as_ref().is_some_and(is_usual) {
                *time = timestamp(time.as_deref()).map(|time| time.to_string());
            }
        }
    }

    /// Returns the kind, for counts: `type` or `type/subtype`.
    pub fn label(&self) -> String {
        let kind = match self.kind.as_str() {
            "" => "(none)",
            kind => kind,
        };
        match &self.subtype {
            Some(subtype) => format!("{kind}/{subtype}"),
            None => kind.to_owned(),
        }
    }

    /// Returns all messages of the record.
    pub fn into_messages(self) -> Vec<Message> {
        let mut messages = self.messages;
        if let Change::Reset(rows) = self.change {
            messages.extend(rows.into_iter().flat_map(|row| row.messages));
        }
        messages
    }

    /// Returns the rows of a record that replaces all others, or the record.
    pub fn into_rows(self) -> Vec<Self> {
        let Change::Reset(rows) = self.change else {
            return vec![self];
        };
        let rows = rows.into_iter().map(|row| Self {
            messages: row.messages,
            ..Self::default()
        });
        rows.collect()
    }

    /// Sets the messages. They get the record's id, time and thread.
    pub(super) fn with_messages(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        let stamped = messages.into_iter().map(|message| Message {
            uuid: self.uuid.clone(),
            time: self.time.clone(),
            thread: match self.part {
                Part::Side => Thread::Subagent,
                Part::Turn | Part::Step | Part::Aside => Thread::Main,
            },
            parent_call: self.started_by.clone(),
            ..message
        });
        self.messages = stamped.collect();
        self
    }
}
