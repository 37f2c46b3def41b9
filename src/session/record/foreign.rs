//! Metadata for the session file of another agent: into it what the agent tolerates, the rest into a
//! file of ours beside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::metadata::{
    Destination, Metadata, anchor_line, destination, file_beside, metadata_line,
};
use super::target::{RecordError, Transcript, follow_file};
use super::{Chain, RenameFacts, SessionFacts};
use crate::io::{Clock, Ids};
use crate::jsonl::{FixedFile, Mapping};
use crate::session::durable::{FileSystems, LockedFile, Presence, Sync};
use crate::session::format::{Detail, Format};
use crate::session::title::{Standing, TitleRecord};
use crate::session::{Agent, Title, TitleSource, find_title};

/// How many bytes of other records may follow a title in a file of Qwen Code before it is written
/// again; that agent's own picker looks at the end only.
const ANCHOR_DISTANCE: u64 = 32 * 1024;

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// It is in the agent's file.
    Within,
    /// It is in the file beside it.
    Beside,
    /// It was not recorded: messages are the agent's own business.
    No,
    /// It was not recorded: a person chose the title that is there.
    KeptManualTitle,
}

/// The session file of another agent, and the file of ours beside it.
pub struct ForeignSession {
    path: PathBuf,
    agent: Agent,
    facts: SessionFacts,
    systems: FileSystems,
    beside: Transcript,
    within: u64,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

impl ForeignSession {
    /// The session in a file of this agent. Nothing is written yet.
    pub fn new(
        path: &Path,
        agent: Agent,
        facts: SessionFacts,
        systems: FileSystems,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        let own = (Arc::clone(&clock), Arc::clone(&ids));
        let beside = Transcript::new(file_beside(path), facts.clone(), own.0, own.1);
        Self {
            path: path.to_owned(),
            agent,
            facts,
            systems,
            beside: beside.on(systems),
            within: 0,
            clock,
            ids,
        }
    }

    /// Records one record of a stream, if it is one that has a place.
    ///
    /// # Errors
    /// It is not in the file, or nobody knows.
    pub fn record(&mut self, record: &str) -> Result<Recorded, RecordError> {
        let Ok(value) = serde_json::from_str::<Value>(record) else {
            return Ok(Recorded::No);
        };
        match destination(self.agent, &value) {
            Destination::Within(metadata) => self.write_within(metadata, &value),
            Destination::Beside => Ok(if self.beside.record(record)? {
                Recorded::Beside
            } else {
                Recorded::No
            }),
            Destination::Nowhere => Ok(Recorded::No),
        }
    }

    /// Writes a title again where it would get out of sight, and makes everything durable. Returns
    /// how many records there were.
    ///
    /// # Errors
    /// What is on the disk is unknown then.
    pub fn finish(self, sync: Sync) -> Result<u64, RecordError> {
        if self.within > 0 {
            let file = LockedFile::open_on(&self.path, Presence::Required, self.systems)?;
            if self.agent == Agent::Qwen {
                self.anchor(&file)?;
            }
            file.finish(sync).map_err(|source| self.unread(source))?;
        }
        Ok(self.within + self.beside.finish(sync)?)
    }

    fn write_within(
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
            return Ok(Recorded::Within);
        }
        // Looked at under the lock: whoever renamed the session before must win.
        let is_asked_for = format
            .read(&line, Detail::Outline)
            .and_then(|entry| entry.title)
            .is_some_and(|title| title.standing == Standing::OnRequest);
        if !is_asked_for && self.has_manual_title(&file)? {
            return Ok(Recorded::KeptManualTitle);
        }
        let size = file.size().map_err(|source| self.unread(source))?;
        let offset = self.append(&file, &line)?;
        // Agents take no lock: one of them may have renamed it just now.
        if !is_asked_for && let Some(lost) = self.manual_title_between(&file, size, offset)? {
            let again = self.manual_line(&lost, &chain);
            self.append(&file, &again)?;
        }
        Ok(Recorded::Within)
    }

    fn chain(&self, file: &LockedFile) -> Result<Chain, RecordError> {
        follow_file(file).map_err(|source| self.unread(source))
    }

    fn append(&mut self, file: &LockedFile, line: &str) -> Result<u64, RecordError> {
        let appended = file.append(line).map_err(|source| RecordError::Append {
            path: self.path.clone(),
            source,
        })?;
        self.within += 1;
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

/// The title records on the whole lines between two places, in order.
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
