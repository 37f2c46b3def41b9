//! Prints the lines at the end of session files as they come.

use std::path::Path;

use super::output::RecordWriter;
use crate::dialog::{About, Joiner, Message, to_record};
use crate::jsonl::WriteError;
use crate::session::{Follower, Format, MessageLines};
use crate::wire::records::{SessionCursorRecord, SessionSwitchRecord, SwitchReason};

/// What is printed of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineForm {
    /// As they are in the file.
    Raw,
    /// The messages on them.
    Messages,
}

/// Whether the records of one message are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joining {
    /// Each is printed at once.
    AtOnce,
    /// They are joined into one.
    Joined,
}

/// Whether cursors are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cursors {
    /// After each batch of records.
    Printed,
    /// Not at all.
    Left,
}

/// What is read of one file so far.
pub(super) struct Lines {
    messages: MessageLines,
    joiner: Joiner,
    about: About,
}

impl Lines {
    /// Lines of a file of this format; if it is not known yet, the first records decide.
    pub(super) fn new(format: Option<&'static dyn Format>, about: About) -> Self {
        Self {
            messages: MessageLines::new(format),
            joiner: Joiner::default(),
            about,
        }
    }
}

/// Prints the lines of the files that are followed.
pub(super) struct Printer {
    form: LineForm,
    cursors: Cursors,
    writer: RecordWriter,
}

impl Printer {
    /// Prints to `writer`.
    pub(super) fn new(form: LineForm, cursors: Cursors, writer: RecordWriter) -> Self {
        Self {
            form,
            cursors,
            writer,
        }
    }

    /// Prints whole lines.
    pub(super) fn lines(
        &mut self,
        of: &mut Lines,
        lines: &[u8],
        joining: Joining,
    ) -> Result<(), WriteError> {
        if self.form == LineForm::Raw {
            return self.writer.echo(lines);
        }
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            for message in of.messages.messages(line) {
                match joining {
                    Joining::AtOnce => self.message(message, &of.about)?,
                    Joining::Joined => {
                        if let Some(whole) = of.joiner.push(message) {
                            self.message(whole, &of.about)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Prints messages that were read already.
    pub(super) fn messages(
        &mut self,
        of: &mut Lines,
        said: Vec<Message>,
    ) -> Result<(), WriteError> {
        for message in said {
            if let Some(whole) = of.joiner.push(message) {
                self.message(whole, &of.about)?;
            }
        }
        self.rest(of, &[])?;
        self.writer.flush()
    }

    fn message(&mut self, message: Message, about: &About) -> Result<(), WriteError> {
        self.writer.record(&to_record(message, about))
    }

    /// Prints a last line without a newline, if it is a whole record.
    pub(super) fn rest(&mut self, of: &mut Lines, rest: &[u8]) -> Result<(), WriteError> {
        if !rest.is_empty() {
            self.lines(of, rest, Joining::Joined)?;
        }
        match of.joiner.finish() {
            Some(last) => self.message(last, &of.about),
            None => Ok(()),
        }
    }

    /// Says that what follows comes from another file, or from its start again.
    pub(super) fn switch(
        &mut self,
        of: &mut Lines,
        reason: SwitchReason,
        path: &Path,
    ) -> Result<(), WriteError> {
        of.messages.restart();
        if of.about.agent_id.is_none() {
            of.about = About::default();
        }
        self.writer.record(&SessionSwitchRecord::new(
            reason,
            path.display().to_string(),
        ))
    }

    /// Everything that is in the file was printed.
    pub(super) fn caught_up(&mut self, follower: &Follower) -> Result<(), WriteError> {
        if self.writer.has_buffered() {
            self.end(follower)?;
        }
        Ok(())
    }

    /// Nothing more is printed.
    pub(super) fn end(&mut self, follower: &Follower) -> Result<(), WriteError> {
        if self.cursors == Cursors::Printed {
            self.writer.record(&SessionCursorRecord::new(
                follower.path().display().to_string(),
                follower.offset(),
                follower.pending(),
            ))?;
        }
        self.writer.flush()
    }
}
