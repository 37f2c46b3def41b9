//! Records a stream in a session file. Each record is parsed once.

use std::path::PathBuf;

use serde_json::Value;

use super::continuation::{Continuation, TurnWatch};
use super::foreign::{ForeignSession, Recorded};
use super::recorder::{Moment, SessionFacts};
use super::transcript::Transcript;
use crate::session::durable::{FileSystems, RecordError, Sync};
use crate::text::redact_strings;
use crate::wire::Event;

/// Where a recording is written.
pub enum Target {
    /// A file of turnpipe, which is created with its first record.
    Own {
        /// The file.
        path: PathBuf,
        /// The file systems on which it may be.
        systems: FileSystems,
    },
    /// The files of another agent's session.
    Foreign(Box<ForeignSession>),
}

/// The open files of a recording.
enum Files {
    /// A file of turnpipe that has no record yet.
    Unopened(PathBuf, FileSystems),
    Own(Transcript),
    Foreign(Box<ForeignSession>),
}

/// A recording in progress.
pub struct Recording {
    files: Files,
    facts: SessionFacts,
    /// Whether the session id is final.
    is_named: bool,
    redact: bool,
    watch: TurnWatch,
    moment: Moment,
    messages_left_out: u64,
}

impl Recording {
    /// Records into `target`. With an `is_named` session, `facts` has the final id; otherwise the stream
    /// may name another one. If `redact` is set, text that looks like a secret is masked.
    pub fn new(
        target: Target,
        facts: SessionFacts,
        is_named: bool,
        redact: bool,
        moment: Moment,
    ) -> Self {
        Self {
            files: match target {
                Target::Own { path, systems } => Files::Unopened(path, systems),
                Target::Foreign(session) => Files::Foreign(session),
            },
            facts,
            is_named,
            redact,
            watch: TurnWatch::default(),
            moment,
            messages_left_out: 0,
        }
    }

    /// Takes the events of a record.
    pub fn events(&mut self, events: &[Event]) {
        for event in events {
            if let Event::Session(id) = event
                && !std::mem::replace(&mut self.is_named, true)
            {
                self.facts.session_id.clone_from(&id.0);
            }
            self.watch.event(event);
        }
    }

    /// Takes a record of the stream and writes it, if it is one to keep.
    ///
    /// # Errors
    /// The record is not in the file, or its state is unknown.
    pub fn record(&mut self, text: &str) -> Result<Recorded, RecordError> {
        // Records that are nested too deeply to parse are not kept either.
        let record = serde_json::from_str::<Value>(text).unwrap_or_default();
        self.watch.record(&record);
        self.write(record)
    }

    /// Writes a record that was put together from the stream, if it is one to keep.
    ///
    /// # Errors
    /// The record is not in the file, or its state is unknown.
    pub fn assembled(&mut self, text: &str) -> Result<Recorded, RecordError> {
        self.write(serde_json::from_str(text).unwrap_or_default())
    }

    fn write(&mut self, mut record: Value) -> Result<Recorded, RecordError> {
        self.facts.start(&record);
        if let Files::Unopened(path, systems) = &self.files {
            // Until there is a record to keep, the stream may still name the session.
            if !Transcript::keeps(&record) {
                return Ok(Recorded::No);
            }
            let (facts, moment) = (self.facts.clone(), self.moment.clone());
            self.files = Files::Own(Transcript::new(path, facts, *systems, moment));
        }
        if self.redact {
            redact_strings(&mut record);
        }
        match &mut self.files {
            Files::Unopened(..) => Ok(Recorded::No),
            Files::Own(transcript) => Ok(if transcript.record(record)? {
                Recorded::OwnFile
            } else {
                Recorded::No
            }),
            Files::Foreign(session) => {
                let is_message = matches!(record["type"].as_str(), Some("user" | "assistant"));
                let recorded = session.record(record)?;
                self.messages_left_out += u64::from(is_message && recorded == Recorded::No);
                Ok(recorded)
            }
        }
    }

    /// The number of messages that another agent's file did not get.
    pub fn messages_left_out(&self) -> u64 {
        self.messages_left_out
    }

    /// Whether the turn continues.
    pub fn continuation(&self) -> Continuation {
        self.watch.continuation()
    }

    /// Makes all written records durable.
    ///
    /// # Errors
    /// The state on disk is then unknown.
    pub fn finish(self, sync: Sync) -> Result<(), RecordError> {
        match self.files {
            Files::Unopened(..) => Ok(()),
            Files::Own(transcript) => transcript.finish(sync).map(|_| ()),
            Files::Foreign(session) => session.finish(sync).map(|_| ()),
        }
    }
}
