//! Writes titles and recaps into session files that others write to as well. A manual title always
//! wins.

use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Metadata, RenameFacts, SessionName, follow_file, metadata_line, name_record};
use crate::io::{Clock, Ids};
use crate::jsonl::{FixedFile, Mapping};
use crate::session::durable::{AppendError, LockedFile, OpenError, Presence, Sync};
use crate::session::{
    Agent, Facts, ManualTitle, Session, SessionError, Title, TitleSource, find_title, open_safely,
};

/// What happened to a title or a recap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Written to the file.
    Written,
    /// Not written, because a person chose this title.
    ManualTitle(String),
    /// Not written, because the format has no record for it.
    NoPlace,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The file must not be written to.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Writing failed.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// It is not a readable session.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Reading or syncing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file names no session id.
    #[error("the file names no session id")]
    NoSession,
}

/// The source of timestamps and ids.
#[derive(Clone)]
pub struct Moment {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn Ids>,
}

impl Moment {
    fn facts(&self, facts: &Facts) -> Result<RenameFacts, KeepError> {
        Ok(RenameFacts {
            session_id: facts.session_id.clone().ok_or(KeepError::NoSession)?,
            directory: facts.cwd.clone(),
            uuid: self.ids.uuid().to_string(),
            timestamp: format!("{:.3}", self.clock.now()),
        })
    }
}

/// Writes an automatic title, unless a person chose one. The title is read under the lock, and
/// again after the record is in the file: agents take no locks, and their own readers use the last
/// record.
///
/// # Errors
/// See [`KeepError`].
pub fn keep_title(
    path: &Path,
    title: &str,
    manual_title: ManualTitle,
    ours: &Value,
    moment: &Moment,
) -> Result<Kept, KeepError> {
    let session = Session::open(path)?;
    let agent = session.agent();
    let known = session.summary(Mapping::Refused)?;
    if session.is_document() || !has_place(agent) {
        return Ok(Kept::NoPlace);
    }
    let facts = moment.facts(&known)?;
    let file = LockedFile::open(path, Presence::Required)?;
    let before = title_in(path, agent)?;
    if let (Some(manual), ManualTitle::Keep) = (manual(before), manual_title) {
        return Ok(Kept::ManualTitle(manual));
    }
    let chain = follow_file(&file)?;
    let mut fields = json!({"title": title, "title_source": "auto", "turnpipe": ours});
    if manual_title == ManualTitle::Supersede {
        fields["turnpipe"]["supersedes_manual"] = Value::from(true);
    }
    let Some(record) = metadata_line(agent, Metadata::Title, &fields, &facts, &chain) else {
        return Ok(Kept::NoPlace);
    };
    file.append(&record)?;
    let after = title_in(path, agent)?;
    let outcome = match (manual(after), manual_title) {
        (Some(manual), ManualTitle::Keep) => {
            let again = moment.facts(&known)?;
            if let Ok(name) = SessionName::new(&manual)
                && let Some(record) = name_record(agent, &name, &again, &follow_file(&file)?)
            {
                file.append(&record)?;
            }
            Kept::ManualTitle(manual)
        }
        _ => Kept::Written,
    };
    file.finish(Sync::Data)?;
    Ok(outcome)
}

/// Writes a recap.
///
/// # Errors
/// See [`KeepError`].
pub fn keep_recap(
    path: &Path,
    recap: &str,
    ours: &Value,
    moment: &Moment,
) -> Result<Kept, KeepError> {
    let session = Session::open(path)?;
    let agent = session.agent();
    if session.is_document() || !has_place(agent) {
        return Ok(Kept::NoPlace);
    }
    let facts = moment.facts(&session.summary(Mapping::Refused)?)?;
    let file = LockedFile::open(path, Presence::Required)?;
    let chain = follow_file(&file)?;
    let fields = json!({"content": recap, "turnpipe": ours});
    match metadata_line(agent, Metadata::Recap, &fields, &facts, &chain) {
        Some(record) => {
            file.append(&record)?;
            file.finish(Sync::Data)?;
            Ok(Kept::Written)
        }
        None => Ok(Kept::NoPlace),
    }
}

/// Whether an agent's format has records for titles and recaps.
pub fn has_place(agent: Agent) -> bool {
    matches!(agent, Agent::Claude | Agent::Qwen)
}

fn title_in(path: &Path, agent: Agent) -> Result<Option<Title>, KeepError> {
    let file = open_safely(path).map_err(SessionError::Open)?;
    let mut bytes = FixedFile::new(&file.file, file.size, Mapping::Refused);
    Ok(find_title(&mut bytes, agent.format())?)
}

fn manual(title: Option<Title>) -> Option<String> {
    title
        .filter(|title| title.source == TitleSource::Manual)
        .map(|title| title.text)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{FixedClock, SeededIds};

    fn moment() -> Moment {
        Moment {
            clock: Arc::new(FixedClock("2026-01-02T03:04:05Z".parse().unwrap())),
            ids: Arc::new(SeededIds::new(7)),
        }
    }

    fn session(folder: &Path, records: &str) -> std::path::PathBuf {
        let path = folder.join("s.jsonl");
        std::fs::write(&path, records).unwrap();
        path
    }

    const CLAUDE: &str = "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":null,\"sessionId\":\"s\",\"isSidechain\":false,\"cwd\":\"/w\",\"version\":\"2.1.0\",\"timestamp\":\"2026-01-02T03:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";

    #[test]
    fn a_title_is_written_unless_a_person_gave_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = session(folder.path(), CLAUDE);
        let keep = |manual_title| {
            keep_title(&path, "Auto", manual_title, &json!({"v": 1}), &moment()).unwrap()
        };
        assert_eq!(keep(ManualTitle::Keep), Kept::Written);
        let manual = "{\"type\":\"custom-title\",\"customTitle\":\"Mine\",\"sessionId\":\"s\"}";
        LockedFile::open(&path, Presence::Required)
            .unwrap()
            .append(manual)
            .unwrap();
        assert_eq!(
            keep(ManualTitle::Keep),
            Kept::ManualTitle("Mine".to_owned())
        );
        assert_eq!(keep(ManualTitle::Supersede), Kept::Written);
    }

    #[test]
    fn a_recap_is_written_at_the_end_of_the_chain() {
        let folder = tempfile::tempdir().unwrap();
        let path = session(folder.path(), CLAUDE);
        let kept = keep_recap(&path, "Here.", &json!({"v": 1}), &moment()).unwrap();
        assert_eq!(kept, Kept::Written);
        let text = std::fs::read_to_string(&path).unwrap();
        let last: Value = serde_json::from_str(text.trim_end().lines().last().unwrap()).unwrap();
        assert_eq!(
            (&last["parentUuid"], &last["content"]),
            (&json!("a"), &json!("Here."))
        );
    }
}
