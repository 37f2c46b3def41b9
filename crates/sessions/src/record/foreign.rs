//! Writes titles, recaps, labels and costs for another agent's session. Records that the agent
//! supports go into its own files, the rest into a side file. A title set by the user always wins.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::chain::Chain;
use super::recorder::SessionFacts;
use super::transcript::{SessionName, Transcript};
use crate::durable::{FileSystems, LockedFile, Presence, RecordError, RecordFailure, Sync};
use crate::files::side_file::side_file_path;
use crate::read::session::Session;
use crate::read::title::find_title;
use turnpipe_core::io::Moment;
use turnpipe_core::jsonl::{FixedFile, Mapping, split_line};
use turnpipe_core::message::SessionId;
use turnpipe_formats::agent::{
    Detail, Facts, Format, ManualTitle, NewRecord, Title, TitleSource, TitleStore,
};

/// The outcome for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordOutcome {
    /// Written to turnpipe's own file.
    OwnFile,
    /// Written to the agent's own file.
    AgentFile,
    /// Written to the side file.
    SideFile,
    /// Not written. The agent writes messages itself.
    Skipped,
    /// Not written, because the user chose the current title.
    KeptManualTitle,
    /// Not written, because the agent would not show it, for this reason.
    NotShown(&'static str),
}

/// The files of another agent's session.
pub struct ForeignSession {
    path: PathBuf,
    format: &'static Format,
    /// The file that the agent reads titles from, if there is one.
    title_file: Option<PathBuf>,
    is_appendable: bool,
    /// The title when the session was read.
    title: Option<Title>,
    facts: SessionFacts,
    systems: FileSystems,
    side_file: Transcript,
    /// The files that were written to, one entry per record.
    written: Vec<PathBuf>,
    moment: Moment,
}

impl ForeignSession {
    /// Prepares recording into the files of this session. Writes nothing yet.
    pub fn new(session: &Session, known: &Facts, systems: FileSystems, moment: Moment) -> Self {
        let (path, format) = (session.file.path.clone(), session.format());
        let is_appendable = session.is_appendable();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let session_id = known
            .session_id
            .clone()
            .unwrap_or_else(|| stem.into_owned());
        let facts = SessionFacts::new(session_id, known.cwd.clone().unwrap_or_default());
        let side_file = Transcript::new(
            side_file_path(&path),
            facts.clone(),
            systems,
            moment.clone(),
        );
        Self {
            title_file: match format.titles.store {
                TitleStore::SessionFile => is_appendable.then(|| path.clone()),
                TitleStore::Index(index) => (index.path)(&path),
                TitleStore::None => None,
            },
            is_appendable,
            title: known.title.clone(),
            side_file,
            written: Vec::new(),
            path,
            format,
            facts,
            systems,
            moment,
        }
    }

    /// Returns the id of the session.
    pub fn session_id(&self) -> SessionId {
        SessionId(self.facts.session_id.clone())
    }

    /// Writes a record of a stream, if it has a place.
    ///
    /// # Errors
    /// The record is not in the file, or its state is unknown.
    pub fn record(&mut self, value: Value) -> Result<RecordOutcome, RecordError> {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let turnpipe = &value["turnpipe"];
        match (
            text("type"),
            text("title"),
            text("recap").or(text("content")),
        ) {
            (Some("title"), Some(title), _) if value["ok"] == true => self.write_title(
                title,
                ManualTitle::from(turnpipe["supersedes_manual"] == true),
                turnpipe,
            ),
            (Some(kind), _, Some(recap))
                if kind == "recap" || text("subtype") == Some("away_summary") =>
            {
                self.write_recap(recap, turnpipe)
            }
            (Some("user" | "assistant" | "content_replacement" | "content-replacement"), ..) => {
                Ok(RecordOutcome::Skipped)
            }
            _ => self.append_beside(value),
        }
    }

    /// Writes an automatic title, unless the user chose one that must stay. `turnpipe` names the source.
    ///
    /// # Errors
    /// The title is not in the file, or its state is unknown.
    pub fn write_title(
        &mut self,
        text: &str,
        manual_title: ManualTitle,
        turnpipe: &Value,
    ) -> Result<RecordOutcome, RecordError> {
        let title = Title {
            text: text.to_owned(),
            source: TitleSource::Auto,
        };
        let mut turnpipe = turnpipe.clone();
        if manual_title == ManualTitle::Supersede {
            turnpipe["supersedes_manual"] = Value::from(true);
        }
        let Some(path) = self.title_file.clone() else {
            if manual_title == ManualTitle::Keep
                && self.title.as_ref().is_some_and(Title::is_manual)
            {
                self.write_cost(&turnpipe)?;
                return Ok(RecordOutcome::KeptManualTitle);
            }
            let record = json!({"type": "title", "ok": true, "title": text, "turnpipe": turnpipe});
            return self.append_beside(record);
        };
        let file = self.open(&path)?;
        // Read under the lock: an earlier rename by the user must win.
        if manual_title == ManualTitle::Keep
            && self
                .find_title_in(&file)?
                .is_some_and(|title| title.is_manual())
        {
            self.write_cost(&turnpipe)?;
            return Ok(RecordOutcome::KeptManualTitle);
        }
        if let Err(reason) = self.show(&path, text) {
            self.write_cost(&turnpipe)?;
            return Ok(RecordOutcome::NotShown(reason));
        }
        let before = file.size()?;
        let offset = self.append_title(&file, &title, manual_title, Some(&turnpipe))?;
        if manual_title == ManualTitle::Supersede {
            return Ok(RecordOutcome::AgentFile);
        }
        // Agents take no lock, so the session may have just been renamed. Agents show the last
        // title.
        let titles = self.read_titles_between(&file, before, offset)?;
        let Some(lost) = titles.into_iter().rfind(Title::is_manual) else {
            return Ok(RecordOutcome::AgentFile);
        };
        self.append_title(&file, &lost, ManualTitle::Keep, None)?;
        // The title is in the file already.
        let _ = self.show(&path, &lost.text);
        Ok(RecordOutcome::KeptManualTitle)
    }

    /// Makes the agent show a title, if it does not read it from the file at `path`.
    fn show(&self, path: &Path, title: &str) -> Result<(), &'static str> {
        match self.format.titles.store {
            TitleStore::Index(index) => (index.show)(path, &self.facts.session_id, title),
            TitleStore::SessionFile | TitleStore::None => Ok(()),
        }
    }

    /// Writes a name that the user chose. Returns the file with the name: the side file if the agent does not
    /// support names.
    ///
    /// # Errors
    /// The name is not in the file, or its state is unknown.
    pub fn rename(&mut self, name: &SessionName) -> Result<PathBuf, RecordError> {
        let Some(path) = self.title_file.clone() else {
            let source = TitleSource::Manual.name();
            self.append_beside(json!({"type": "title", "ok": true, "title": name.as_str(), "title_source": source}))?;
            return Ok(side_file_path(&self.path));
        };
        let title = Title {
            text: name.as_str().to_owned(),
            source: TitleSource::Manual,
        };
        let file = self.open(&path)?;
        let shown = self.show(&path, &title.text);
        shown.map_err(|reason| file.error(RecordFailure::Refused(reason)))?;
        self.append_title(&file, &title, ManualTitle::Keep, None)?;
        Ok(path)
    }

    /// Writes a recap. `turnpipe` names the source.
    ///
    /// # Errors
    /// The recap is not in the file, or its state is unknown.
    pub fn write_recap(
        &mut self,
        text: &str,
        turnpipe: &Value,
    ) -> Result<RecordOutcome, RecordError> {
        if let Some(recap) = self.format.titles.new_recap.filter(|_| self.is_appendable) {
            let file = self.open(&self.path)?;
            let line = self.format_line(&file, Some(turnpipe), |at| recap(at, text))?;
            self.append(&file, &line)?;
            return Ok(RecordOutcome::AgentFile);
        }
        let record = json!({"type": "system", "subtype": "away_summary", "content": text,
            "turnpipe": turnpipe});
        self.append_beside(record)
    }

    /// Writes the cost of a request whose response is not in any file.
    ///
    /// # Errors
    /// The cost is not in the file, or its state is unknown.
    pub fn write_cost(&mut self, turnpipe: &Value) -> Result<RecordOutcome, RecordError> {
        if !turnpipe["usage"].is_object() {
            return Ok(RecordOutcome::Skipped);
        }
        let record = json!({"type": "system", "subtype": "usage", "turnpipe": turnpipe});
        self.append_beside(record)
    }

    /// Writes the title again if it is too far from the end, and makes everything durable. Returns
    /// the number of records.
    ///
    /// # Errors
    /// The state on disk is then unknown.
    pub fn finish(mut self, sync: Sync) -> Result<u64, RecordError> {
        let count = self.written.len() as u64;
        self.written.dedup();
        for path in std::mem::take(&mut self.written) {
            let file = self.open(&path)?;
            if let Some(distance) = self.format.titles.distance {
                self.repeat_title(&file, distance)?;
            }
            file.finish(sync)?;
        }
        Ok(count + self.side_file.finish(sync)?)
    }

    fn append_beside(&mut self, record: Value) -> Result<RecordOutcome, RecordError> {
        Ok(if self.side_file.record(record)? {
            RecordOutcome::SideFile
        } else {
            RecordOutcome::Skipped
        })
    }

    fn open(&self, path: &Path) -> Result<LockedFile, RecordError> {
        let presence = if path == self.path {
            Presence::Required
        } else {
            Presence::CreatedIfMissing
        };
        LockedFile::open(path, presence, self.systems)
    }

    /// Appends a line. A title or a recap is not activity, so a session file keeps its modification
    /// time: agents sort their sessions by it.
    fn append(&mut self, file: &LockedFile, line: &str) -> Result<u64, RecordError> {
        let offset = if file.path() == self.path {
            file.append_quietly(line)?
        } else {
            file.append(line)?
        };
        self.written.push(file.path().to_owned());
        Ok(offset)
    }

    fn append_title(
        &mut self,
        file: &LockedFile,
        title: &Title,
        manual_title: ManualTitle,
        turnpipe: Option<&Value>,
    ) -> Result<u64, RecordError> {
        let Some(create) = self.format.titles.new_title else {
            return Ok(0);
        };
        let line = self.format_line(file, turnpipe, |at| create(at, title, manual_title))?;
        let offset = self.append(file, &line)?;
        // An index has no records of costs.
        if file.path() != self.path
            && let Some(turnpipe) = turnpipe
        {
            self.write_cost(turnpipe)?;
        }
        Ok(offset)
    }

    /// Returns the title that currently applies.
    fn find_title_in(&self, file: &LockedFile) -> Result<Option<Title>, RecordError> {
        let size = file.size()?;
        if matches!(self.format.titles.store, TitleStore::Index(_)) {
            let named = self.read_titles_between(file, 0, size)?.pop();
            return Ok(named.or_else(|| self.title.clone()));
        }
        let mut bytes = FixedFile::new(file.file(), size, Mapping::Refused);
        find_title(&mut bytes, self.format).map_err(|error| file.error(error))
    }

    /// Returns the titles on the complete lines between two offsets, in order.
    fn read_titles_between(
        &self,
        file: &LockedFile,
        start: u64,
        end: u64,
    ) -> Result<Vec<Title>, RecordError> {
        let title_on = |record: &str| match self.format.titles.store {
            TitleStore::Index(index) => (index.read)(record)
                .filter(|(id, _)| *id == self.facts.session_id)
                .map(|(_, record)| record.title),
            TitleStore::SessionFile | TitleStore::None => {
                let entry = self.format.read(record, Detail::Outline);
                Some(entry?.title?.title)
            }
        };
        let mut bytes = FixedFile::new(file.file(), end, Mapping::Refused);
        let window = bytes.window(start..end);
        let window = window.map_err(|error| file.error(error))?;
        let titles = window.split(|byte| *byte == b'\n').flat_map(|line| {
            let (records, _) = split_line(line);
            let titles = records.iter().map(|record| title_on(record.text(line)));
            titles.collect::<Vec<_>>()
        });
        Ok(titles.flatten().collect())
    }

    /// Writes the title again if more than `distance` bytes follow it.
    fn repeat_title(&mut self, file: &LockedFile, distance: u64) -> Result<(), RecordError> {
        let size = file.size()?;
        let near = size.saturating_sub(distance);
        if self.read_titles_between(file, near, size)?.is_empty()
            && let Some(title) = self.find_title_in(file)?
        {
            self.append_title(file, &title, ManualTitle::Keep, None)?;
        }
        Ok(())
    }

    /// Returns a new line after the current end of the conversation.
    fn format_line(
        &self,
        file: &LockedFile,
        turnpipe: Option<&Value>,
        create: impl FnOnce(&NewRecord<'_>) -> Value,
    ) -> Result<String, RecordError> {
        let mut chain = Chain::default();
        chain.follow_file(self.format, file, 0)?;
        let mut record = create(&NewRecord {
            session_id: &self.facts.session_id,
            directory: &self.facts.directory,
            branch: None,
            parent: chain.leaf.as_deref(),
            uuid: &self.moment.uuid(),
            timestamp: &self.moment.now(),
        });
        if let Some(turnpipe) = turnpipe.filter(|turnpipe| turnpipe.is_object()) {
            record["turnpipe"] = turnpipe.clone();
        }
        Ok(record.to_string())
    }
}

#[cfg(test)]
#[path = "foreign_tests.rs"]
mod tests;
