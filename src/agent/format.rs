//! The definition of an agent: each format maps its records to the same model.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::agent::Agent;
use super::content::{home_dir, timestamp};
use super::edits::{FileEdit, PathOfCall};
use super::facts::Facts;
use super::hook_settings::HookSettings;
use super::sign::Row;
use super::title::{ManualTitle, Precedence, StoredTitle, Title};
use crate::api::BlockDetail;
use crate::io::Environment;
use crate::message::{Message, Thread, Tier, Usage};

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

/// Where the ids of messages are unique. A copy of a message keeps its id, and counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IdScope {
    /// Over all sessions of the agent.
    Global,
    /// Over all sessions of the agent, together with their times.
    Timed,
    /// In their session, which may have several files.
    Session,
    /// In their file.
    #[default]
    File,
}

/// Where the tokens of requests are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TokenSource {
    /// In the replies.
    #[default]
    Replies,
    /// In replies, for all of the session so far.
    Totals,
    /// In records apart from the replies.
    Records,
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
    pub(super) fn of_blocks(self) -> BlockDetail {
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

/// The place where an agent looks for the title of a session.
#[derive(Debug, Clone, Copy)]
pub enum TitleStore {
    /// In the session file.
    SessionFile,
    /// In an index of all sessions.
    Index(&'static NameIndex),
    /// The agent has no titles that others can set.
    None,
}

/// A file that holds the names of many sessions. The last record of a session counts, unless the agent
/// shows another name.
#[derive(Debug)]
pub struct NameIndex {
    /// The path of the index for a session file.
    pub path: fn(&Path) -> Option<PathBuf>,
    /// The session id and the name in a record of the index.
    pub read: fn(&str) -> Option<(String, Title)>,
    /// Replaces names of the index by the names that the agent shows.
    pub shown: fn(&Path, &mut HashMap<String, Title>),
    /// Makes the agent show a name for a session. Returns the reason if it cannot.
    pub show: fn(&Path, &str, &str) -> Result<(), &'static str>,
}

/// The session and position of a record that turnpipe adds.
#[derive(Debug, Clone, Copy)]
pub struct NewRecord<'a> {
    /// The session id.
    pub session_id: &'a str,
    /// The working directory.
    pub directory: &'a str,
    /// The branch.
    pub branch: Option<&'a str>,
    /// The id of the last record of the conversation.
    pub parent: Option<&'a str>,
    /// A new id.
    pub uuid: &'a str,
    /// The current time, RFC 3339.
    pub timestamp: &'a str,
}

/// Reads the rows of a document.
pub(super) type ReadDocument = fn(&str) -> Option<Vec<String>>;

/// Creates a title record.
pub(super) type NewTitle = fn(&NewRecord<'_>, &Title, ManualTitle) -> Value;

/// Creates a recap record.
pub(super) type NewRecap = fn(&NewRecord<'_>, &str) -> Value;

/// An agent's session files: how to recognise, read, find and extend them.
#[derive(Debug)]
pub struct Format {
    /// The agent that writes this format.
    pub agent: Agent,
    /// The structure of the conversation.
    pub shape: Shape,
    /// Every title record and every summary contains one of these words.
    pub title_words: &'static [&'static str],
    /// The rule to choose among several titles.
    pub title_precedence: Precedence,
    /// Every record that costs depend on contains one of these words. Empty if there are no such words.
    pub cost_words: &'static [&'static str],
    /// The words of other records about a prompt or a call. Empty if there are no such words.
    pub activity_words: &'static [&'static str],
    /// Classifies a line in much less time than parsing it takes.
    pub line_class: fn(&[u8]) -> LineClass,
    pub(super) read: fn(&str, Detail) -> Option<Entry>,
    pub(super) wrote: fn(&Row<'_>) -> bool,
    /// The name of the stream, if files of this format are saved streams of runs.
    pub(super) stream: Option<&'static str>,
    /// The rows of a session that is a single JSON document.
    pub(super) document: Option<ReadDocument>,
    /// Where the ids of messages are unique.
    pub ids: IdScope,
    /// Whether records that a fork copied keep their times, which are before its start.
    pub copies_are_older: bool,
    /// Where the tokens of requests are.
    pub tokens: TokenSource,
    /// Whether the parts of a reply are messages of their own.
    pub has_split_replies: bool,
    /// The environment variables that name the agent's directory.
    pub home_variables: &'static [&'static str],
    /// The default of that directory, below the user's home directory.
    pub(super) home: &'static str,
    /// The directories with sessions in it.
    pub(super) session_dirs: &'static [&'static str],
    pub(super) roots: fn(&Self, &Environment) -> Vec<PathBuf>,
    /// Records derived from files next to a session file, or from its name.
    pub beside: fn(&Path) -> Vec<String>,
    /// The directory for the subagent files of a session, whether or not it exists. `None` if the
    /// agent has no such directory.
    pub subagent_dir: fn(&Path) -> Option<PathBuf>,
    /// Whether subagents are sessions of their own that name the session that started them.
    pub has_separate_subagents: bool,
    /// A record about the start of a subagent whose records are in the same file contains one of these words.
    pub subagent_words: &'static [&'static str],
    /// The beginning of the names of subagent files.
    pub subagent_prefix: &'static str,
    /// The files and directories that belong only to the session with this file and this id, whether or not
    /// they exist.
    pub belongings: fn(&Path, &str) -> Vec<PathBuf>,
    /// The files that reading a session requires and that other sessions share, whether or not they exist.
    pub shared_files: fn(&Path) -> Vec<PathBuf>,
    /// The setting with the number of days after which the agent deletes sessions, and its default.
    pub retention: Option<(&'static str, u64)>,
    pub(super) resume: fn(&str, &Path) -> Option<String>,
    /// The place where the agent looks for titles.
    pub title_store: TitleStore,
    /// Maximum number of bytes after a title. Beyond it the title is written again, because the agent reads
    /// only the end of a file.
    pub title_distance: Option<u64>,
    /// Returns the changes of files in a record, with their texts.
    pub edits: fn(&str, &PathOfCall<'_>) -> Vec<FileEdit>,
    /// Returns the call and the whole text of a file that was read, if the record contains them.
    pub text_read: fn(&str) -> Option<(String, String)>,
    /// Creates a title record in the form of the agent.
    pub title_record: Option<NewTitle>,
    /// Creates a recap record in the form of the agent.
    pub recap_record: Option<NewRecap>,
    /// The id of a record that the next record of the conversation may name as its parent.
    pub link: fn(&str) -> Option<String>,
    /// The settings that name hooks. `None` if turnpipe cannot be a hook of this agent.
    pub hook_settings: Option<HookSettings>,
}

impl Format {
    /// An agent whose files have only messages. Titles are searched for with a text that no line contains.
    pub(super) const fn new(
        agent: Agent,
        read: fn(&str, Detail) -> Option<Entry>,
        wrote: fn(&Row<'_>) -> bool,
    ) -> Self {
        Self {
            agent,
            shape: Shape::Sequence,
            title_words: &["\0"],
            title_precedence: Precedence::Later,
            cost_words: &[],
            activity_words: &[],
            line_class: |_| LineClass::Anything,
            read,
            wrote,
            document: None,
            stream: None,
            ids: IdScope::File,
            copies_are_older: false,
            tokens: TokenSource::Replies,
            has_split_replies: false,
            home_variables: &[],
            home: "",
            session_dirs: &[],
            roots: Self::usual_roots,
            beside: |_| Vec::new(),
            subagent_dir: |_| None,
            has_separate_subagents: false,
            subagent_words: &[],
            subagent_prefix: "agent-",
            belongings: |_, _| Vec::new(),
            shared_files: |_| Vec::new(),
            retention: None,
            resume: |_, _| None,
            title_store: TitleStore::None,
            title_distance: None,
            edits: |_, _| Vec::new(),
            text_read: |_| None,
            title_record: None,
            recap_record: None,
            link: |_| None,
            hook_settings: None,
        }
    }

    pub(super) fn usual_roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = home_dir(environment, self.home_variables, self.home);
        let dirs = home
            .iter()
            .flat_map(|home| self.session_dirs.iter().map(|dir| home.join(dir)));
        dirs.collect()
    }

    /// Reads one record. Returns `None` if the text is not a JSON object.
    ///
    /// An annotation is not activity of the session: its time does not count.
    pub fn read(&self, record: &str, detail: Detail) -> Option<Entry> {
        let mut entry = (self.read)(record, detail)?;
        if entry.is_annotation {
            entry.facts.started = None;
            entry.facts.last_activity = None;
        }
        entry.use_rfc_3339();
        Some(entry)
    }

    /// Whether it is a saved stream of a run. Nothing is appended to such a file.
    pub fn is_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// Returns the messages in a record.
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

/// The effect of a record on earlier messages (see [`Shape::Replay`]).
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
    /// The id of the request, which other records and files may repeat.
    pub id: Option<String>,
    /// What other records may repeat.
    pub repeats: Repeats,
    /// The purpose of the request.
    pub prompt_id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Tokens.
    pub usage: Usage,
}

impl SideCost {
    /// Returns the tokens of a whole run.
    pub(super) fn of_run(usage: Usage) -> Self {
        Self {
            id: None,
            repeats: Repeats::Nothing,
            prompt_id: None,
            model: None,
            usage: Usage {
                is_sum: true,
                ..usage
            },
        }
    }
}

/// The relation of the cost of a request to replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// There is no such reply.
    Nothing,
    /// It is a reply to a subagent, which its file repeats under the same id.
    SubagentReply,
    /// A reply of the session or of a subagent may have the same tokens.
    AnyReply,
}

/// Tokens that a record states apart from messages.
#[derive(Debug, Clone, PartialEq)]
pub enum Meter {
    /// The tokens of one request.
    Request {
        /// The id of the response, unique over all sessions.
        id: String,
        /// The tokens.
        usage: Usage,
        /// Whether it is the first request of its session.
        is_first: bool,
        /// The session that made it, if the record names it.
        session: Option<String>,
    },
    /// The tokens of a reply that the model wrote. Counts if the file states no other tokens.
    Output {
        /// The id of the reply.
        id: String,
        /// The tokens.
        output: u64,
    },
    /// The tokens of all requests of the session to one model so far. Of copies of a session, the largest count.
    Total {
        /// The model.
        model: Option<String>,
        /// The tokens.
        usage: Usage,
    },
    /// A reading of a meter that counts up. The first readings of a fork may be copies from its parent.
    Reading {
        /// The tokens of the last request.
        last: Option<Usage>,
        /// The tokens of all requests so far.
        total: Usage,
    },
}

/// The end of a run, as its stream reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportedEnd {
    /// The reason, in the agent's words.
    pub reason: String,
    /// The number of turns.
    pub turns: Option<u64>,
    /// The duration in milliseconds.
    pub duration: Option<u64>,
    /// The number of calls that were denied.
    pub denials: u64,
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
    /// The id of the subagent whose record it is, if its records have one.
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
    /// A summary of the conversation, and the id of that conversation's last record.
    pub summary: Option<(String, String)>,
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
    /// A call that made web searches, and their number, unless the usage of its reply states them.
    pub searches: Option<(String, u64)>,
    /// The cost of the session so far as recorded by the agent, in US dollars.
    pub recorded_cost: Option<f64>,
    /// The cost of a request outside the conversation.
    pub side_cost: Option<SideCost>,
    /// The end of a run.
    pub end: Option<ReportedEnd>,
}

impl Entry {
    /// Returns the time in the record.
    pub(crate) fn timestamp(&self) -> Option<Timestamp> {
        timestamp(self.time.as_deref())
    }

    /// Rewrites the times in it, or removes what is not a time.
    pub(super) fn use_rfc_3339(&mut self) {
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
            messages.extend(rows.into_iter().flat_map(|(_, said)| said));
        }
        messages
    }

    /// Returns the rows of a record that replaces all others, or the record.
    pub(crate) fn into_rows(self) -> Vec<Self> {
        let Change::Reset(rows) = self.change else {
            return vec![self];
        };
        let rows = rows.into_iter().map(|(_, messages)| Self {
            messages,
            ..Self::default()
        });
        rows.collect()
    }

    /// Sets the messages. They get the record's id, time and thread.
    pub(super) fn saying(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
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
