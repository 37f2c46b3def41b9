//! The trait of a session format: each format maps its records to the same model.

use super::title::TitleRecord;
use super::{Agent, Facts};
use crate::message::{Message, Thread, Usage};

/// How the records of a file form a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// In file order.
    Sequence,
    /// Each names its parent. Some branches are abandoned.
    Tree,
    /// Later records change earlier ones.
    Replay,
}

/// How to search for title records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TitleSearch {
    /// Every title record and every summary has one of these words.
    pub words: &'static [&'static str],
    /// Which of several titles counts.
    pub precedence: Precedence,
}

/// Which of two titles counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precedence {
    /// The later title.
    Later,
    /// A manual title, wherever it is.
    Manual,
}

/// How much of a record to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What requests cost. Records that cannot say so may be passed over.
    Costs,
    /// The same, prompts, calls without their inputs, and which calls failed. Records without any may be
    /// passed over.
    Activity,
    /// Everything except messages and usage.
    Outline,
    /// Everything except the content of results, unless only it shows whether a call failed.
    Counts,
    /// Everything.
    Full,
}

/// What is seen of a line without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Glance {
    /// It holds no message and no title.
    NoMessage,
    /// It only holds results of calls that did not fail.
    Results,
    /// It holds no text, and no prompt.
    NoText,
    /// It may hold anything.
    Anything,
}

/// A file format.
#[derive(Debug)]
pub struct Format {
    /// The agent that writes this format.
    pub agent: Agent,
    /// How records form a conversation.
    pub shape: Shape,
    /// How to find title records.
    pub titles: TitleSearch,
    /// Every record about a request has one of these words. Empty if there are no such words.
    pub(super) cost_words: &'static [&'static str],
    /// The same for records about a request, a prompt or a call.
    pub(super) activity_words: &'static [&'static str],
    /// What can be said of a line in much less time than reading it takes.
    pub(super) glance: fn(&[u8]) -> Glance,
    /// Reads one record. Returns `None` if the text is not a JSON object.
    pub(super) read: fn(&str, Detail) -> Option<Entry>,
}

impl Format {
    /// Reads one record. Returns `None` if the text is not a JSON object.
    pub fn read(&self, record: &str, detail: Detail) -> Option<Entry> {
        (self.read)(record, detail)
    }

    /// The messages in a record.
    pub fn messages(&self, record: &str) -> Vec<Message> {
        let entry = self.read(record, Detail::Full);
        entry.map(Entry::into_messages).unwrap_or_default()
    }
}

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

/// How a record changes earlier messages (see [`Shape::Replay`]).
#[derive(Debug, Default)]
pub enum Change {
    /// No change.
    #[default]
    Nothing,
    /// Adds a message, or replaces the one with this id.
    Put(String),
    /// Replaces all messages. Each row has its id.
    Reset(Vec<(String, Vec<Message>)>),
    /// Removes the message with this id and all later ones.
    RewindTo(String),
}

/// The cost of a request outside the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct SideCost {
    /// The purpose of the request.
    pub prompt_id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Tokens.
    pub usage: Usage,
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
    /// The id of the record.
    pub uuid: Option<String>,
    /// The id of the parent record.
    pub parent: Option<String>,
    /// The id of the parent record across a compaction.
    pub logical_parent: Option<String>,
    /// Its role in a tree.
    pub part: Part,
    /// When it was written, according to the record.
    pub time: Option<String>,
    /// The facts in the record.
    pub facts: Facts,
    /// The title in the record.
    pub title: Option<TitleRecord>,
    /// A summary of the conversation, and the id of that conversation's last record.
    pub summary: Option<(String, String)>,
    /// The messages.
    pub messages: Vec<Message>,
    /// Messages that other records repeat. They count only in files without those records.
    pub repeats: Vec<Message>,
    /// The calls that its message labels.
    pub labelled_calls: Vec<String>,
    /// How it changes earlier messages.
    pub change: Change,
    /// The cost of a request outside the conversation.
    pub side_cost: Option<SideCost>,
}

impl Entry {
    /// The kind, for counts: `type` or `type/subtype`.
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

    /// All messages of the record.
    pub fn into_messages(self) -> Vec<Message> {
        let mut messages = self.messages;
        if let Change::Reset(rows) = self.change {
            messages.extend(rows.into_iter().flat_map(|(_, said)| said));
        }
        messages
    }

    /// The messages of each row of a record that replaces all others, or of the record.
    pub(super) fn into_rows(self) -> Vec<Vec<Message>> {
        match self.change {
            Change::Reset(rows) => rows.into_iter().map(|(_, said)| said).collect(),
            _ => vec![self.messages],
        }
    }

    /// A message with this content and the record's id, time and thread.
    pub(super) fn saying(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        let stamped = messages.into_iter().map(|message| Message {
            uuid: self.uuid.clone(),
            time: self.time.clone(),
            thread: match self.part {
                Part::Side => Thread::Subagent,
                Part::Turn | Part::Step | Part::Aside => Thread::Main,
            },
            ..message
        });
        self.messages = stamped.collect();
        self
    }
}
