//! What becomes of an input that is missing, cannot be read or is of the wrong kind, for every
//! command: one line on standard error, the other inputs are done, and the command ends with
//! status 2. Empty input is not an error: there is nothing to do. Neither is a bad line in a list on
//! standard input: it has its record, like the others.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::mem;
use std::path::{Path, PathBuf};

use super::{Outcome, UsageError};
use crate::assemble::Understanding;
use crate::cmd::output::{Form, RecordWriter};
use crate::cmd::session::names::NamedSession;
use crate::io::{Input, Io, Messages};
use crate::jsonl::{Mapping, WriteError};
use crate::records::SessionErrorRecord;
use crate::session::Session;

/// The id that is recorded in a session file, if it can be read.
pub(super) fn recorded_id(path: &Path) -> Option<String> {
    let session = Session::open(path).ok()?;
    session.summary(Mapping::Allowed).ok()?.session_id
}

/// Reports the inputs that cannot be used.
pub(super) struct InputErrors {
    messages: Messages,
    any: bool,
}

impl InputErrors {
    /// None so far.
    pub(super) fn new(messages: &Messages) -> Self {
        Self {
            messages: messages.clone(),
            any: false,
        }
    }

    /// Reports the input `name`.
    pub(super) fn report(&mut self, name: impl Display, error: &UsageError) {
        self.any = true;
        error.about(name).report(&self.messages);
    }

    /// Reports a session. A bad line of a list is data where the error is a record, too.
    pub(super) fn report_session(&mut self, named: &NamedSession, form: Form, error: &UsageError) {
        self.any |= !named.is_listed || form == Form::Text;
        named.named(error).report(&self.messages);
    }

    /// Reports a session, with a record among other records.
    ///
    /// # Errors
    /// Writing failed.
    pub(super) fn record_session(
        &mut self,
        named: &NamedSession,
        form: Form,
        error: &UsageError,
        writer: &mut RecordWriter,
    ) -> Result<(), WriteError> {
        self.report_session(named, form, error);
        match form {
            Form::Text => Ok(()),
            Form::Jsonl => writer.record(&SessionErrorRecord {
                path: named.name.clone(),
                error: error.to_string(),
            }),
        }
    }

    /// How a command ends that would have ended as `outcome` if all inputs were usable.
    pub(super) fn outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Done | Outcome::AnswerIsNo if self.any => Outcome::UsageError,
            outcome => outcome,
        }
    }
}

/// Says that nothing in a stream was understood, so that unchanged output has an explanation.
pub(super) fn report_foreign_stream(
    understanding: Understanding,
    quiet: bool,
    messages: &Messages,
) {
    if understanding == Understanding::Nothing && !quiet {
        messages.note("no line of the input was understood");
        messages.hint(
            "`turnpipe run-tools --help` lists the dialects that streams may have under `--from`; \
             `turnpipe session show` reads the session files of agents",
        );
    }
}

/// Standard input. A terminal is refused, because records are not typed by hand.
///
/// # Errors
/// It is a terminal or a directory.
pub(super) fn take_stdin(io: &mut Io) -> Result<Input, UsageError> {
    let stdin = mem::replace(&mut io.stdin, Input::Closed);
    let kind = match &stdin {
        _ if io.terminal.stdin => "a terminal",
        Input::Descriptor(file) if is_directory(file) => "a directory",
        _ => return Ok(stdin),
    };
    Err(UsageError::new(format!("standard input is {kind}"))
        .with_hint("pipe the input in, or name a file; `--help` shows the arguments"))
}

fn is_directory(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_dir())
}

/// Whether `path` names standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// The directory that an option names, without links.
///
/// # Errors
/// There is none.
pub(super) fn directory(option: &str, path: &Path) -> Result<PathBuf, UsageError> {
    let error = match path.canonicalize() {
        Ok(found) if found.is_dir() => return Ok(found),
        Ok(_) => UsageError::new("is not a directory"),
        Err(error) => UsageError::reason(error),
    };
    Err(error.about(path.display()).about(option))
}

/// The session of another agent in a file that is to be written to.
///
/// # Errors
/// It is not such a session.
pub(super) fn session_to_write(path: &Path) -> Result<Session, UsageError> {
    Session::open(path).map_err(|error| {
        let error = UsageError::reason(error).about(path.display());
        error.with_hint("name a new file, or a session file; `turnpipe session list` shows them")
    })
}

/// The file at `path`, or standard input.
///
/// # Errors
/// It cannot be opened, or is a directory or a terminal.
pub(super) fn open_stream(path: &Path, io: &mut Io) -> Result<Box<dyn Read + Send>, UsageError> {
    if is_stdin(path) {
        return Ok(Box::new(take_stdin(io)?));
    }
    let file = File::open(path).map_err(UsageError::reason)?;
    if is_directory(&file) {
        return Err(UsageError::new("is a directory"));
    }
    Ok(Box::new(file))
}
