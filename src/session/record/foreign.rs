//! Writes metadata for another agent's session file: records that the agent understands go into its
//! file, all others into a side file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::metadata::{
    Destination, Metadata, anchor_line, destination, metadata_line, side_file_path,
};
use super::target::{RecordError, Transcript, follow_file};
use super::{Chain, RenameFacts, SessionFacts};
use crate::io::{Clock, Ids};
use crate::jsonl::{FixedFile, Mapping};
use crate::session::durable::{FileSystems, LockedFile, Presence, Sync};
use crate::session::format::{Detail, Format};
use crate::session::title::{ManualTitle, TitleRecord};
use crate::session::{Agent, Title, TitleSource, find_title};

/// How many bytes may follow a title in a Qwen Code file before the title is written again. Qwen
/// Code's own session picker reads only the end of a file.
const ANCHOR_DISTANCE: u64 = 32 * 1024;

/// What happened to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// Written to the agent's session file.
    SessionFile,
    /// Written to the side file.
    SideFile,
    /// Not written. The agent writes messages itself.
    No,
    /// Not written, because a person chose the current title.
    KeptManualTitle,
}

/// Another agent's session file and its side file.
pub struct ForeignSession {
    path: PathBuf,
    agent: Agent,
    facts: SessionFacts,
    systems: FileSystems,
    side_file: Transcript,
    written: u64,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

impl ForeignSession {
    /// Records into the session file of this agent. Nothing is written yet.
    pub fn new(
        path: &Path,
        agent: Agent,
        facts: SessionFacts,
        systems: FileSystems,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        let own = (Arc::clone(&clock), Arc::clone(&ids));
        let side_file = Transcript::new(side_file_path(path), facts.clone(), own.0, own.1);
        Self {
            path: path.to_owned(),
            agent,
            facts,
            systems,
            side_file: side_file.on(systems),
            written: 0,
            clock,
            ids,
        }
    }

    /// Writes a record of the stream, if it has a destination.
    ///
    /// # Errors
    /// The record is not in the file, or its state is unknown.
    pub fn record(&mut self, record: &str) -> Result<Recorded, RecordError> {
        let Ok(value) = serde_json::from_str::<Value>(record) else {
            return Ok(Recorded::No);
        };
        match destination(self.agent, &value) {
            Destination::SessionFile(metadata) => self.write_to_session_file(metadata, &value),
            Destination::SideFile => Ok(if self.side_file.record(record)? {
                Recorded::SideFile
            } else {
                Recorded::No
            }),
            Destination::Nowhere => Ok(Recorded::No),
        }
    }

    /// Writes the title again if it is too far from the end, and makes everything durable. Returns
    /// the number of records.
    ///
    /// # Errors
    /// The state on disk is then unknown.
    pub fn finish(self, sync: Sync) -> Result<u64, RecordError> {
        if self.written > 0 {
            let file = LockedFile::open_on(&self.path, Presence::Required, self.systems)?;
            if self.agent == Agent::Qwen {
                self.anchor(&file)?;
            }
            file.finish(sync).map_err(|source| self.unread(source))?;
        }
        Ok(self.written + self.side_file.finish(sync)?)
    }

    fn write_to_session_file(
        &mut self,
        metadata: Metadata,
        record: &Value,
    ) -> Result<Recorded, RecordError> {
        let file = LockedFile::open_on(&self.path, Presence::Required, self.systems)?;
        let format = self.agent.format();
        let chain = self.chain(&file)?;
        let Some(line) = metadata_line(self.agent, metadata, record, &self.line_facts(), &chain)
        else {
            return Ok(Recorded::No);
        };
        if metadata == Metadata::Recap {
            self.append(&file, &line)?;
            return Ok(Recorded::SessionFile);
        }
        // Checked under the lock: a person's earlier rename must win.
        let is_asked_for = format
            .read(&line, Detail::Outline)
            .and_then(|entry| entry.title)
            .is_some_and(|title| title.manual_title == ManualTitle::Supersede);
        if !is_asked_for && self.has_manual_title(&file)? {
            return Ok(Recorded::KeptManualTitle);
        }
        let size = file.size().map_err(|source| self.unread(source))?;
        let offset = self.append(&file, &line)?;
        // Agents take no lock, so one of them may have renamed the session just now.
        if !is_asked_for && let Some(lost) = self.manual_title_between(&file, size, offset)? {
            let again = self.manual_line(&lost, &chain);
            self.append(&file, &again)?;
        }
        Ok(Recorded::SessionFile)
    }

    fn chain(&self, file: &LockedFile) -> Result<Chain, RecordError> {
        follow_file(file).map_err(|source| self.unread(source))
    }

    fn append(&mut self, file: &LockedFile, line: &str) -> Result<u64, RecordError> {
        let appended = file.append(line).map_err(|source| RecordError::Append {
            path: self.path.clone(),
            source,
        })?;
        self.written += 1;
        Ok(appended.offset)
    }

    fn title(&self, file: &LockedFile) -> Result<Option<Title>, RecordError> {
        let size = file.size().map_err(|source| self.unread(source))?;
        let mut bytes = FixedFile::new(file.file(), size, Mapping::Refused);
        find_title(&mut bytes, self.agent.format()).map_err(|source| self.unread(source))
    }

    fn has_manual_title(&self, file: &LockedFile) -> Result<bool, RecordError> {
        let title = self.title(file)?;
        Ok(
            title
                .is_some_and(|title| title.source == TitleSource::Manual && !title.text.is_empty()),
        )
    }

    fn manual_title_between(
        &self,
        file: &LockedFile,
        start: u64,
        end: u64,
    ) -> Result<Option<Title>, RecordError> {
        let titles = titles_in(file, self.agent.format(), start, end)
            .map_err(|source| self.unread(source))?;
        let manual = titles
            .into_iter()
            .map(|record| record.title)
            .rfind(|title| title.source == TitleSource::Manual);
        Ok(manual)
    }

    fn manual_line(&self, title: &Title, chain: &Chain) -> String {
        match self.agent {
            Agent::Qwen => anchor_line(&title.text, "manual", &self.line_facts(), chain),
            Agent::Claude | Agent::Codex | Agent::Gemini | Agent::Pi => serde_json::json!({
                "type": "custom-title",
                "customTitle": title.text,
                "sessionId": self.facts.session_id,
            })
            .to_string(),
        }
    }

    fn anchor(&self, file: &LockedFile) -> Result<(), RecordError> {
        let size = file.size().map_err(|source| self.unread(source))?;
        let near = size.saturating_sub(ANCHOR_DISTANCE);
        let format = self.agent.format();
        let is_near = !titles_in(file, format, near, size)
            .map_err(|source| self.unread(source))?
            .is_empty();
        if is_near {
            return Ok(());
        }
        if let Some(title) = self.title(file)? {
            let chain = self.chain(file)?;
            let line = anchor_line(&title.text, title.source.name(), &self.line_facts(), &chain);
            file.append(&line).map_err(|source| RecordError::Append {
                path: self.path.clone(),
                source,
            })?;
        }
        Ok(())
    }

    fn line_facts(&self) -> RenameFacts {
        RenameFacts {
            session_id: self.facts.session_id.clone(),
            directory: Some(self.facts.directory.clone()),
            uuid: self.ids.uuid().to_string(),
            timestamp: format!("{:.3}", self.clock.now()),
        }
    }

    fn unread(&self, source: std::io::Error) -> RecordError {
        RecordError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

/// The title records on the complete lines between two offsets, in order.
fn titles_in(
    file: &LockedFile,
    format: &dyn Format,
    start: u64,
    end: u64,
) -> std::io::Result<Vec<TitleRecord>> {
    let mut bytes = FixedFile::new(file.file(), end, Mapping::Refused);
    let window = bytes.window(start..end)?;
    let titles = window.split(|byte| *byte == b'\n').flat_map(|line| {
        let (records, _) = crate::jsonl::split_line(line);
        let entries = records
            .iter()
            .filter_map(|record| format.read(record.text(line), Detail::Outline));
        let titles = entries.filter_map(|entry| entry.title);
        titles.collect::<Vec<_>>()
    });
    Ok(titles.collect())
}

#[cfg(test)]
#[path = "foreign_tests.rs"]
mod tests;
