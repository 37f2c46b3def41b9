//! Inputs of all commands. An unusable input is reported on standard error, the others are processed, and
//! the command exits with 2. Empty input is a no-op. A bad line in a list on standard input becomes a
//! record.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::mem;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{Status, UsageError};
use crate::assemble::Understanding;
use crate::io::{InputStream, Io, Messages};
use crate::jsonl::Mapping;
use crate::session::{Session, SessionError};

/// Returns the id that is recorded in a session file, if it can be read.
pub(super) fn read_recorded_id(path: &Path) -> Option<String> {
    let session = Session::open(path).ok()?;
    session.summary(Mapping::Allowed).ok()?.session_id
}

/// Reports unusable inputs.
pub(super) struct InputErrors {
    pub(super) messages: Messages,
    pub(super) any: bool,
}

impl InputErrors {
    /// Creates an empty collection.
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

    /// Reports files that could not be read.
    pub(super) fn report_all(&mut self, failed: Vec<(PathBuf, SessionError)>) {
        for (path, error) in failed {
            self.report(path.display(), &UsageError::reason(error));
        }
    }

    /// Returns the status of a command, given its `status` for the usable inputs.
    pub(super) fn to_status(&self, status: Status) -> Status {
        match status {
            Status::Done | Status::Negative if self.any => Status::UsageError,
            status => status,
        }
    }
}

/// Explains that no line of a stream was understood, so that the output is unchanged.
pub(super) fn report_foreign_stream(understanding: Understanding, messages: &Messages) {
    if understanding == Understanding::Nothing {
        messages.warn("no line of the input was understood");
        messages.hint(
            "`turnpipe run-tools --help` lists the dialects that streams may have under `--from`; \
             `turnpipe show` reads the session files of agents",
        );
    }
}

/// Takes standard input.
///
/// # Errors
/// Standard input is a terminal or a directory.
pub(super) fn take_stdin(io: &mut Io) -> Result<InputStream, UsageError> {
    let stdin = mem::replace(&mut io.stdin, InputStream::Closed);
    let kind = match &stdin {
        _ if io.terminal.stdin => "a terminal",
        InputStream::Descriptor(file) if is_directory(file) => "a directory",
        _ => return Ok(stdin),
    };
    Err(UsageError::new(format!("standard input is {kind}"))
        .with_hint("pipe the input in; `--help` shows the arguments"))
}

fn is_directory(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_dir())
}

/// Returns the working directory.
///
/// # Errors
/// It cannot be found, for example because it was deleted.
pub(super) fn working_directory() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("cannot find the working directory")
}

/// Reads the file that an option names.
///
/// # Errors
/// It is unreadable, or not UTF-8.
pub(super) fn read_option_file(option: &str, path: &Path) -> Result<String, UsageError> {
    std::fs::read_to_string(path)
        .map_err(|error| UsageError::reason(error).with_option(option, path))
}

/// Whether `path` names standard input or output.
pub(super) fn is_standard_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns the directory given by an option, with links resolved.
///
/// # Errors
/// The path is not a directory.
pub(super) fn directory(option: &str, path: &Path) -> Result<PathBuf, UsageError> {
    let error = match path.canonicalize() {
        Ok(found) if found.is_dir() => return Ok(found),
        Ok(_) => UsageError::new("is not a directory"),
        Err(error) => UsageError::reason(error),
    };
    Err(error.with_option(option, path))
}

/// Opens a session file for appending.
///
/// # Errors
/// It is not a session file.
pub(super) fn open_session_to_append(path: &Path) -> Result<Session, UsageError> {
    Session::open(path).map_err(|error| {
        let error = UsageError::reason(error).about(path.display());
        error.with_hint("name a new file, or a session file; `turnpipe list` shows them")
    })
}

/// Opens the file at `path`, or standard input.
///
/// # Errors
/// It cannot be opened, or is a directory or a terminal.
pub(super) fn open_stream(path: &Path, io: &mut Io) -> Result<Box<dyn Read + Send>, UsageError> {
    if is_standard_stream(path) {
        return Ok(Box::new(take_stdin(io)?));
    }
    let file = File::open(path).map_err(UsageError::reason)?;
    if is_directory(&file) {
        return Err(UsageError::new("is a directory"));
    }
    Ok(Box::new(file))
}
