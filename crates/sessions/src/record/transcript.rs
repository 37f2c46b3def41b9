//! The transcript that records a stream.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::recorder::{Recorder, SessionFacts};
use crate::durable::{FileSystems, LockedFile, Presence, RecordError, Sync};
use crate::files::open::{SessionError, open_safely};
use turnpipe_core::io::Moment;
use turnpipe_core::text::{terminal_safe_line, utf16_length};
use turnpipe_formats::agent::own_format;

/// Maximum length of the first line of turnpipe's own files, in bytes.
const MAX_FIRST_LINE: u64 = 1024 * 1024;

/// The program that wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// No program: the file is missing or empty.
    None,
    /// turnpipe: its first record has the key `turnpipe`.
    Ours,
    /// Another program.
    AnotherAgent,
}

/// A session file of turnpipe that grows by the records of a stream. Other programs may append at the same
/// time: each record goes to the current end of the file.
pub struct Transcript {
    path: PathBuf,
    systems: FileSystems,
    recorder: Recorder,
    /// The offset up to which the file was followed, in bytes.
    followed_to: u64,
    record_count: u64,
}

/// Finds the program that wrote a file, by the first record.
///
/// # Errors
/// The path is not a regular file, or cannot be read.
pub fn find_owner(path: &Path) -> Result<Ownership, SessionError> {
    let file = match open_safely(path) {
        Ok(file) => file.file,
        Err(SessionError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Ownership::None);
        }
        Err(error) => return Err(error),
    };
    let mut start = Vec::new();
    file.take(MAX_FIRST_LINE).read_to_end(&mut start)?;
    let mut lines = start
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    let Some(first) = lines.next() else {
        return Ok(Ownership::None);
    };
    let is_ours =
        serde_json::from_slice::<Value>(first).is_ok_and(|record| record.get("turnpipe").is_some());
    Ok(if is_ours {
        Ownership::Ours
    } else {
        Ownership::AnotherAgent
    })
}

impl Transcript {
    /// Continues a file of turnpipe, or starts one. Writes nothing yet.
    pub fn new(
        path: impl Into<PathBuf>,
        facts: SessionFacts,
        systems: FileSystems,
        moment: Moment,
    ) -> Self {
        Self {
            path: path.into(),
            systems,
            recorder: Recorder::new(facts, moment),
            followed_to: 0,
            record_count: 0,
        }
    }

    /// Writes a record of the stream, if it is to be kept. Returns whether it was written.
    ///
    /// # Errors
    /// The record is not in the file, or its state is unknown.
    pub fn record(&mut self, record: Value) -> Result<bool, RecordError> {
        if !Recorder::keeps(&record) {
            return Ok(false);
        }
        let file = LockedFile::open(&self.path, Presence::CreatedIfMissing, self.systems)?;
        // Other programs may have appended since the last time.
        self.followed_to =
            self.recorder
                .chain
                .follow_file(own_format(), &file, self.followed_to)?;
        let is_new = self.followed_to == 0;
        let Some(line) = self.recorder.format_line(record) else {
            return Ok(false);
        };
        file.append(&line)?;
        if let Some(title) = self.recorder.format_title_line().filter(|_| is_new) {
            file.append(&title)?;
        }
        self.record_count += 1;
        Ok(true)
    }

    /// Makes all written records durable. Returns their number.
    ///
    /// # Errors
    /// The state on disk is then unknown.
    pub fn finish(self, sync: Sync) -> Result<u64, RecordError> {
        if self.record_count > 0 {
            LockedFile::open(&self.path, Presence::Required, self.systems)?.finish(sync)?;
        }
        Ok(self.record_count)
    }
}

/// Maximum length of a name, in UTF-16 code units.
const MAX_NAME_LENGTH: usize = 200;

/// A name that is safe for terminals, not empty, and short enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionName(String);

/// An invalid name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing is left after cleaning.
    #[error("the name is empty")]
    Empty,
    /// The name is too long.
    #[error("the name is longer than {MAX_NAME_LENGTH} characters")]
    TooLong,
}

impl SessionName {
    /// Cleans and checks a name that the user typed.
    ///
    /// # Errors
    /// See [`NameError`].
    pub fn new(text: &str) -> Result<Self, NameError> {
        let name = terminal_safe_line(text);
        if name.is_empty() {
            return Err(NameError::Empty);
        }
        if utf16_length(&name) > MAX_NAME_LENGTH {
            return Err(NameError::TooLong);
        }
        Ok(Self(name))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use turnpipe_core::io::{FixedClock, SeededIds};

    fn transcript(path: &Path) -> Transcript {
        let facts = SessionFacts::new("s", "/w");
        let clock = FixedClock("2026-01-02T03:04:05Z".parse().unwrap());
        let moment = Moment {
            clock: Arc::new(clock),
            ids: Arc::new(SeededIds::new(7)),
        };
        Transcript::new(path, facts, FileSystems::Local, moment)
    }

    fn lines(path: &Path) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines()
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    const PROMPT: &str = r#"{"type":"user","message":{"role":"user","content":"hi"}}"#;
    const REPLY: &str =
        r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[]}}"#;

    #[test]
    fn a_second_run_continues_the_chain() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        assert_eq!(find_owner(&path).unwrap(), Ownership::None);
        let mut first = transcript(&path);
        assert!(first.record(serde_json::from_str(PROMPT).unwrap()).unwrap());
        assert!(!first.record(serde_json::json!({"type": "result"})).unwrap());
        assert_eq!(first.finish(Sync::Data).unwrap(), 1);
        assert_eq!(find_owner(&path).unwrap(), Ownership::Ours);
        let mut second = transcript(&path);
        second.record(serde_json::from_str(REPLY).unwrap()).unwrap();
        let lines = lines(&path);
        assert_eq!(lines[1]["parentUuid"], lines[0]["uuid"]);
    }

    #[test]
    fn a_record_of_another_program_becomes_the_parent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let mut ours = transcript(&path);
        ours.record(serde_json::from_str(PROMPT).unwrap()).unwrap();
        let theirs = r#"{"type":"user","parentUuid":null,"uuid":"theirs","message":{}}"#;
        LockedFile::open(&path, Presence::Required, FileSystems::Local)
            .unwrap()
            .append(theirs)
            .unwrap();
        ours.record(serde_json::from_str(REPLY).unwrap()).unwrap();
        assert_eq!(lines(&path)[2]["parentUuid"], "theirs");
    }

    #[test]
    fn files_of_other_programs_are_recognised() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, "\n{\"type\":\"user\",\"sessionId\":\"x\"}\n").unwrap();
        assert_eq!(find_owner(&path).unwrap(), Ownership::AnotherAgent);
    }
}

#[cfg(test)]
mod session_name_tests {
    use super::*;

    #[test]
    fn names_are_cleaned_or_refused() {
        let name = SessionName::new("  \u{1b}[31mFix\u{1b}[0m the\nlogin ").unwrap();
        assert_eq!(name.as_str(), "Fix the login");
        assert_eq!(SessionName::new(" \u{1b}[0m"), Err(NameError::Empty));
        assert_eq!(SessionName::new(&"é".repeat(201)), Err(NameError::TooLong));
        assert!(SessionName::new(&"é".repeat(200)).is_ok());
    }
}
