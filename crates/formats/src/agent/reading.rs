//! The rows of an agent: the form of the conversation, and facts about a row that need no parsing.

use super::database::DatabaseFormat;
use super::edits::{FileEdit, PathOfCall};
use crate::api::BlockDetail;

/// The way records of a file form a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// In file order.
    Sequence,
    /// Each names its parent. Some branches are abandoned.
    Tree,
    /// Later records change earlier ones.
    Replay,
}

/// The part of a record to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The costs of requests. Records without costs may be skipped.
    Costs,
    /// Costs, prompts, calls without their inputs, and failures of calls. Records without any of these
    /// may be skipped.
    Activity,
    /// Everything except messages and token counts.
    Outline,
    /// Everything except the content of results, unless it is needed for the outcome of a call.
    Counts,
    /// Everything.
    Full,
}

impl Detail {
    /// Returns the parts of blocks to read.
    pub(super) fn block_detail(self) -> BlockDetail {
        match self {
            Self::Full => BlockDetail::Full,
            Self::Costs | Self::Outline | Self::Counts => BlockDetail::Inputs,
            Self::Activity => BlockDetail::Names,
        }
    }
}

/// The possible content of a line, found without parsing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineClass {
    /// No message and no title.
    NoMessage,
    /// No message and no title, but the cost of a request.
    Cost,
    /// Only results of calls that did not fail.
    Results,
    /// No text, and no prompt.
    NoText,
    /// Anything.
    Anything,
}

/// Reads the rows of a document.
pub(super) type ReadDocument = fn(&str) -> Option<Vec<String>>;

/// The rows of an agent. An empty list of words excludes no row.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// The structure of the conversation.
    pub shape: Shape,
    /// The rows of a session that is a single JSON document.
    pub(super) document: Option<ReadDocument>,
    /// The databases with many sessions.
    pub(super) database: Option<&'static DatabaseFormat>,
    /// Classifies a line in much less time than parsing it takes.
    pub classify: fn(&[u8]) -> LineClass,
    /// Every record that costs depend on contains one of these words.
    pub cost_words: &'static [&'static str],
    /// Every other record about a prompt or a call contains one of these words.
    pub activity_words: &'static [&'static str],
    /// Returns the id of a record that the next record of the conversation may name as its parent.
    pub read_link: fn(&str) -> Option<String>,
    /// Returns the changes of files in a record, with their texts.
    pub read_edits: fn(&str, &PathOfCall<'_>) -> Vec<FileEdit>,
    /// Returns the call and the whole text of a file that was read, if the record contains them.
    pub read_whole_file: fn(&str) -> Option<(String, String)>,
}

impl Reading {
    /// Messages in file order.
    pub(super) const SEQUENCE: Self = Self {
        shape: Shape::Sequence,
        document: None,
        database: None,
        classify: |_| LineClass::Anything,
        cost_words: &[],
        activity_words: &[],
        read_link: |_| None,
        read_edits: |_, _| Vec::new(),
        read_whole_file: |_| None,
    };
}
