//! Writes titles, recaps, labels and costs for another agent's session. What the agent understands
//! goes into its own files, the rest into a side file. A title that a person gave always wins.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::chain::Chain;
use super::metadata::{LineFacts, side_file_path};
use super::target::{Transcript, follow};
use super::{Moment, SessionFacts, SessionName};
use crate::jsonl::{FixedFile, Mapping, split_line};
use crate::message::SessionId;
use crate::session::codex_index::{index_path, name_on};
use crate::session::durable::{FileSystems, LockedFile, Presence, RecordError, Sync};
use crate::session::format::Detail;
use crate::session::{Agent, Facts, ManualTitle, Session, Title, TitleSource, find_title};

/// How many bytes may follow a title in a Qwen Code file before the title is written again. Qwen
/// Code's own session picker reads only the end of a file.
const ANCHOR_DISTANCE: u64 = 32 * 1024;

/// What happened to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// Written to the agent's own file.
    AgentFile,
    /// Written to the side file.
    SideFile,
    /// Not written. The agent writes messages itself.
    No,
    /// Not written, because a person chose the current title.
    KeptManualTitle,
}

/// The files of another agent's session.
pub struct ForeignSession {
    path: PathBuf,
    agent: Agent,
    /// The file in which the agent keeps the title, if it keeps one.
    title_file: Option<PathBuf>,
    takes_recaps: bool,
    /// The title when the session was read.
    title: Option<Title>,
    facts: SessionFacts,
    systems: FileSystems,
    side_file: Transcript,
    /// The files that were written to, once for each record.
    written: Vec<PathBuf>,
    moment: Moment,
}

impl ForeignSession {
    /// Records into the files of this session. Nothing is written yet.
    pub fn new(session: &Session, known: &Facts, systems: FileSystems, moment: Moment) -> Self {
        let (path, agent) = (session.file.path.clone(), session.agent());
        let is_appendable = session.is_appendable();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let facts = SessionFacts {
            session_id: known
                .session_id
                .clone()
                .unwrap_or_else(|| stem.into_owned()),
            directory: known.cwd.clone().unwrap_or_default(),
        };
        let side_file = Transcript::new(
            side_file_path(&path),
            facts.clone(),
            systems,
            moment.clone(),
        );
        Self {
            title_file: match agent {
                Agent::Claude | Agent::Qwen | Agent::Pi => is_appendable.then(|| path.clone()),
                Agent::Codex => index_path(&path),
                Agent::Gemini => None,
            },
            takes_recaps: is_appendable && matches!(agent, Agent::Claude | Agent::Qwen),
            title: known.title.clone(),
            side_file,
            written: Vec::new(),
            path,
            agent,
            facts,
            systems,
            moment,
        }
    }

    /// The id of the session.
    pub fn session_id(&self) -> SessionId {
        SessionId(self.facts.session_id.clone())
    }

    /// Writes a record of a stream, if it has a place.
    ///
    /// # Errors
    /// The record is not in the file, or its state is unknown.
    pub fn record(&mut self, record: &str) -> Result<Recorded, RecordError> {
        let Ok(value) = serde_json::from_str::<Value>(record) else {
            return Ok(Recorded::No);
        };
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let turnpipe = &value["turnpipe"];
        match (text("type"), text("title"), text("content")) {
            (Some("title"), Some(title), _) if value["ok"] == true => self.title(
                title,
                ManualTitle::from(turnpipe["supersedes_manual"] == true),
                turnpipe,
            ),
            (Some("system"), _, Some(recap)) if text("subtype") == Some("away_summary") => {
                self.recap(recap, turnpipe)
            }
            (Some("user" | "assistant" | "content-replacement"), ..) => Ok(Recorded::No),
            _ => self.beside(record),
        }
    }

    /// Writes an automatic title, unless a person chose one that it is not to replace. `turnpipe`
    /// says who made it.
    ///
    /// # Errors
    /// The title is not in the file, or its state is unknown.
    pub fn title(
        &mut self,
        text: &str,
        manual_title: ManualTitle,
        turnpipe: &Value,
    ) -> Result<Recorded, RecordError> {
        let title = Title {
            text: text.to_owned(),
            source: TitleSource::Auto,
        };
        let mut turnpipe = turnpipe.clone();
        if manual_title == ManualTitle::Supersede {
            turnpipe["supersedes_manual"] = Value::from(true);
        }
        let Some(path) = self.title_file.clone() else {
            if manual_title == ManualTitle::Keep && self.title.as_ref().is_some_and(is_manual) {
                self.cost(&turnpipe)?;
                return Ok(Recorded::KeptManualTitle);
            }
            let record = json!({"type": "title", "ok": true, "title": text, "turnpipe": turnpipe});
            return self.beside(&record.to_string());
        };
        let file = self.open(&path)?;
        // Read under the lock: a person's earlier rename must win.
        if manual_title == ManualTitle::Keep
            && self.title_in(&file)?.is_some_and(|title| is_manual(&title))
        {
            self.cost(&turnpipe)?;
            return Ok(Recorded::KeptManualTitle);
        }
        let before = file.size()?;
        let offset = self.append_title(&file, &title, manual_title, Some(&turnpipe))?;
        if manual_title == ManualTitle::Supersede {
            return Ok(Recorded::AgentFile);
        }
        // Agents take no lock, so one of them may have renamed the session just now. Their readers
        // use the last record.
        let titles = self.titles_between(&file, before, offset)?;
        let Some(lost) = titles.into_iter().rfind(is_manual) else {
            return Ok(Recorded::AgentFile);
        };
        self.append_title(&file, &lost, ManualTitle::Keep, None)?;
        Ok(Recorded::KeptManualTitle)
    }

    /// Writes a name that a person gave. Returns the file with the name, or `None` if the agent
    /// keeps no names.
    ///
    /// # Errors
    /// The name is not in the file, or its state is unknown.
    pub fn rename(&mut self, name: &SessionName) -> Result<Option<PathBuf>, RecordError> {
        let Some(path) = self.title_file.clone() else {
            return Ok(None);
        };
        let title = Title {
            text: name.as_str().to_owned(),
            source: TitleSource::Manual,
        };
        let file = self.open(&path)?;
        self.append_title(&file, &title, ManualTitle::Keep, None)?;
        Ok(Some(path))
    }

    /// Writes a recap. `turnpipe` says who made it.
    ///
    /// # Errors
    /// The recap is not in the file, or its state is unknown.
    pub fn recap(&mut self, text: &str, turnpipe: &Value) -> Result<Recorded, RecordError> {
        if self.takes_recaps {
            let file = self.open(&self.path)?;
            let chain = chain_of(&file)?;
            let facts = self.line_facts(&chain, Some(turnpipe));
            if let Some(line) = facts.recap(self.agent, text) {
                self.append(&file, &line)?;
                return Ok(Recorded::AgentFile);
            }
        }
        let record = json!({"type": "system", "subtype": "away_summary", "content": text,
            "turnpipe": turnpipe});
        self.beside(&record.to_string())
    }

    /// Writes what a request cost whose answer is in no file.
    ///
    /// # Errors
    /// The cost is not in the file, or its state is unknown.
    pub fn cost(&mut self, turnpipe: &Value) -> Result<Recorded, RecordError> {
        if !turnpipe["usage"].is_object() {
            return Ok(Recorded::No);
        }
        let record = json!({"type": "system", "subtype": "usage", "turnpipe": turnpipe});
        self.beside(&record.to_string())
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
            if self.agent == Agent::Qwen {
                self.anchor(&file)?;
            }
            file.finish(sync)?;
        }
        Ok(count + self.side_file.finish(sync)?)
    }

    fn beside(&mut self, record: &str) -> Result<Recorded, RecordError> {
        Ok(if self.side_file.record(record)? {
            Recorded::SideFile
        } else {
            Recorded::No
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

    fn append(&mut self, file: &LockedFile, line: &str) -> Result<u64, RecordError> {
        let offset = file.append(line)?;
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
        let chain = chain_of(file)?;
        let facts = self.line_facts(&chain, turnpipe);
        let Some(line) = facts.title(self.agent, title, manual_title) else {
            return Ok(0);
        };
        let offset = self.append(file, &line)?;
        // An index belongs to no session.
        if file.path() != self.path
            && let Some(turnpipe) = turnpipe
        {
            self.cost(turnpipe)?;
        }
        Ok(offset)
    }

    /// The title that counts now.
    fn title_in(&self, file: &LockedFile) -> Result<Option<Title>, RecordError> {
        let size = file.size()?;
        if self.agent == Agent::Codex {
            let named = self.titles_between(file, 0, size)?.pop();
            return Ok(named.or_else(|| self.title.clone()));
        }
        let mut bytes = FixedFile::new(file.file(), size, Mapping::Refused);
        find_title(&mut bytes, self.agent.format()).map_err(|error| file.error(error))
    }

    /// The titles on the complete lines between two offsets, in order.
    fn titles_between(
        &self,
        file: &LockedFile,
        start: u64,
        end: u64,
    ) -> Result<Vec<Title>, RecordError> {
        let title_on = |record: &str| match self.agent {
            Agent::Codex => name_on(record)
                .filter(|(id, _)| *id == self.facts.session_id)
                .map(|(_, title)| title),
            agent => {
                let entry = agent.format().read(record, Detail::Outline);
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

    fn anchor(&mut self, file: &LockedFile) -> Result<(), RecordError> {
        let size = file.size()?;
        let near = size.saturating_sub(ANCHOR_DISTANCE);
        if self.titles_between(file, near, size)?.is_empty()
            && let Some(title) = self.title_in(file)?
        {
            self.append_title(file, &title, ManualTitle::Keep, None)?;
        }
        Ok(())
    }

    fn line_facts<'a>(&'a self, chain: &'a Chain, turnpipe: Option<&'a Value>) -> LineFacts<'a> {
        LineFacts {
            session: &self.facts,
            chain,
            uuid: self.moment.uuid(),
            timestamp: self.moment.now(),
            turnpipe: turnpipe.filter(|turnpipe| turnpipe.is_object()),
        }
    }
}

/// The current end of the conversation in a file.
fn chain_of(file: &LockedFile) -> Result<Chain, RecordError> {
    let mut chain = Chain::default();
    follow(&mut chain, file, 0)?;
    Ok(chain)
}

fn is_manual(title: &Title) -> bool {
    title.source == TitleSource::Manual && !title.text.is_empty()
}

#[cfg(test)]
#[path = "foreign_tests.rs"]
mod tests;
