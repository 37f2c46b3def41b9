//! The definition of an agent: each format maps its records to the same model.

use super::agent::Agent;
use super::counting::TokenCounting;
use super::entry::Entry;
use super::hook_settings::HookSettings;
use super::layout::Layout;
use super::reading::{Detail, Reading};
use super::sign::Row;
use super::title_format::TitleFormat;
use turnpipe_core::message::Message;

/// An agent's session files: how to recognise, read, find and extend them.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The agent that writes this format.
    pub agent: Agent,
    pub(super) read: fn(&str, Detail) -> Option<Entry>,
    pub(super) has_marks: fn(&Row<'_>) -> bool,
    /// The name of the stream, if files of this format are saved streams of runs.
    pub(super) stream: Option<&'static str>,
    /// The rows of the conversation.
    pub reading: Reading,
    /// The rules for tokens.
    pub counting: TokenCounting,
    /// The directories and files.
    pub layout: Layout,
    /// The titles.
    pub titles: TitleFormat,
    /// The settings that name hooks. `None` if turnpipe cannot be a hook of this agent.
    pub hook_settings: Option<HookSettings>,
}

impl Format {
    /// An agent whose files have only messages.
    pub(super) const fn new(
        agent: Agent,
        read: fn(&str, Detail) -> Option<Entry>,
        has_marks: fn(&Row<'_>) -> bool,
    ) -> Self {
        Self {
            agent,
            read,
            has_marks,
            stream: None,
            reading: Reading::SEQUENCE,
            counting: TokenCounting::REPLIES,
            layout: Layout::NONE,
            titles: TitleFormat::NONE,
            hook_settings: None,
        }
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
        entry.normalize_times();
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
