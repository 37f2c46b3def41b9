//! How a format reads its records: each once, into the same model.

use super::title::TitleRecord;
use super::{Agent, Facts};
use crate::dialog::{Message, Thread, Usage};

/// How the records of a file make a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One after the other.
    Sequence,
    /// Each names the one before it; some branches are abandoned.
    Tree,
    /// They change what earlier ones said.
    Replay,
}

/// The title records of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TitleSearch {
    /// Part of every record that gives a title.
    pub needle: &'static str,
    /// Which of several titles counts.
    pub precedence: Precedence,
}

/// Which of two titles counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precedence {
    /// The later one.
    Later,
    /// The manual one, wherever it is.
    Manual,
}

/// How much of a record is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Everything but what was said and what it cost.
    Outline,
    /// Everything.
    Full,
}

/// A file format.
pub trait Format: std::fmt::Debug + Sync {
    /// The agent that writes it.
    fn agent(&self) -> Agent;

    /// How records make a conversation.
    fn shape(&self) -> Shape;

    /// Which records give titles.
    fn title_search(&self) -> TitleSearch;

    /// Reads the text of one record; `None` if it is no JSON object.
    fn read(&self, record: &str, detail: Detail) -> Option<Entry>;

    /// The messages in a record.
    fn messages(&self, record: &str) -> Vec<Message> {
        let entry = self.read(record, Detail::Full);
        entry.map(Entry::into_messages).unwrap_or_default()
    }
}

/// How a record takes part in the conversation of a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Part {
    /// Something was said: a branch may end here.
    Turn,
    /// It stands between turns, and a branch may end here.
    Step,
    /// It stands between turns, and no branch ends here.
    #[default]
    Aside,
    /// It belongs to a subagent.
    Side,
}

/// What a record does to the messages before it (see [`Shape::Replay`]).
#[derive(Debug, Default)]
pub enum Change {
    /// Nothing.
    #[default]
    Nothing,
    /// It adds a message, or replaces the one with this id.
    Put(String),
    /// These messages replace all others; each row with its id.
    Reset(Vec<(String, Vec<Message>)>),
    /// The message with this id is removed, and all after it.
    RewindTo(String),
}

/// What a request beside the conversation cost, if no message of its record carries it.
#[derive(Debug, Clone, PartialEq)]
pub struct SideCost {
    /// What the model was asked for.
    pub prompt_id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Tokens.
    pub usage: Usage,
}

/// What one record says.
#[derive(Debug, Default)]
pub struct Entry {
    /// Its type; empty if it has none.
    pub kind: String,
    /// What refines the type.
    pub subtype: Option<String>,
    /// Whether records of this kind are known.
    pub is_known: bool,
    /// Names the record.
    pub uuid: Option<String>,
    /// The record that it follows.
    pub parent: Option<String>,
    /// The record that it follows across a compaction.
    pub logical_parent: Option<String>,
    /// How it takes part in a tree.
    pub part: Part,
    /// When it was written, as it says.
    pub time: Option<String>,
    /// What it says about the session.
    pub facts: Facts,
    /// The title that it gives.
    pub title: Option<TitleRecord>,
    /// A summary of the conversation that ends with the record of this id.
    pub summary: Option<(String, String)>,
    /// What was said in it.
    pub messages: Vec<Message>,
    /// Messages that other records say again; they count in files that lack those.
    pub repeats: Vec<Message>,
    /// The calls that its message is a label of.
    pub labelled_calls: Vec<String>,
    /// What it does to the messages before it.
    pub change: Change,
    /// What a request beside the conversation cost.
    pub side_cost: Option<SideCost>,
}

impl Entry {
    /// The kind for counts: `type` or `type/subtype`.
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

    /// The messages of one of the rows of a record that replaces all others.
    pub(super) fn into_row(self, row: u32) -> Vec<Message> {
        match self.change {
            Change::Reset(rows) => {
                let row = rows.into_iter().nth(row as usize);
                row.map(|(_, said)| said).unwrap_or_default()
            }
            _ => self.messages,
        }
    }

    /// The same with these messages, which share the record's id, time and thread.
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
