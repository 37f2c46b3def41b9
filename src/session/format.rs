//! What a format can tell of its records, one at a time.

use super::node::Node;
use super::title_rule::TitleRecord;
use super::{Agent, Envelope, Facts};
use crate::dialog::Message;

/// How the records of a file make a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One after the other.
    Sequence,
    /// Each names the one before it; branches may be dead.
    Tree,
    /// They change what was there before.
    Replay,
}

/// The title records of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TitleSearch {
    /// Stands in every record that gives a title.
    pub needle: &'static str,
    /// Whether a manual title stands above an automatic one wherever it is.
    pub precedence: Precedence,
}

/// Which of two titles counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precedence {
    /// The later one.
    Later,
    /// The manual one.
    Manual,
}

/// A file format. All methods take the text of one record, a whole JSON object; one that is
/// not of the format yields nothing.
pub trait Format: std::fmt::Debug + Sync {
    /// Whose format it is.
    fn agent(&self) -> Agent;

    /// How records make a conversation.
    fn shape(&self) -> Shape;

    /// The outside of a record.
    fn envelope(&self, record: &str) -> Envelope;

    /// Whether records of this kind are known.
    fn knows(&self, envelope: &Envelope) -> bool;

    /// What is said in a record: no message, one, or more.
    fn messages(&self, record: &str) -> Vec<Message>;

    /// What is said in one of several items of a record (see [`Shape::Replay`]).
    fn item_messages(&self, record: &str, _item: u32) -> Vec<Message> {
        self.messages(record)
    }

    /// Messages that repeat what other records say, but for files that lack those.
    fn echoes(&self, _record: &str) -> Vec<Message> {
        Vec::new()
    }

    /// Takes what a record tells about the session, its time and the model that speaks included.
    fn facts(&self, record: &str, facts: &mut Facts);

    /// Which records give titles.
    fn title_search(&self) -> TitleSearch;

    /// The title that a record gives.
    fn title(&self, record: &str) -> Option<TitleRecord>;

    /// The record as a node of the tree, if the format has one.
    fn node(&self, _record: &str) -> Option<Node> {
        None
    }
}
