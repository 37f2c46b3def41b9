//! Prints the lines at the end of session files as they come.

use std::path::Path;

use super::output::RecordWriter;
use crate::dialog::{
    About, Density, Grouping, Joiner, Message, Outline, PlainText, Selection, Style, Thinking,
    ToolDetail, to_record,
};
use crate::jsonl::WriteError;
use crate::session::{Follower, Format, MessageLines};
use crate::text::terminal_safe_line;
use crate::wire::records::{SessionCursorRecord, SessionSwitchRecord, SwitchReason};

/// What is printed of lines.
#[derive(Debug)]
pub(super) enum LineForm {
    /// As they are in the file.
    Raw,
    /// The messages on them, as records.
    Messages,
    /// The messages on them, for people.
    Text(TextForm),
}

/// Messages as text.
#[derive(Debug)]
pub(super) struct TextForm {
    style: Style,
    outline: Outline,
    /// The subagent that spoke last.
    speaker: Option<String>,
}

impl TextForm {
    /// Nothing has been shown. `grouping` says whether calls wait for their results.
    pub(super) fn new(style: Style, grouping: Grouping) -> Self {
        Self {
            style,
            outline: Outline::new(grouping),
            speaker: None,
        }
    }

    /// A message, or what is left at the end.
    fn lines(&mut self, message: Option<Message>, about: &About) -> String {
        const SELECTION: Selection = Selection {
            tools: ToolDetail::Summary,
            thinking: Thinking::Hidden,
        };
        let mut page = String::new();
        if message.is_some() && about.agent_id != self.speaker {
            self.speaker.clone_from(&about.agent_id);
            page = match &self.speaker {
                Some(name) => format!("--- subagent {}\n\n", terminal_safe_line(name)),
                None => "--- session\n\n".to_owned(),
            };
        }
        let pieces = match message {
            Some(message) => SELECTION
                .apply(message)
                .map(|message| self.outline.push(message))
                .unwrap_or_default(),
            None => self.outline.finish(),
        };
        let plain = PlainText {
            style: self.style,
            density: Density::Full,
            tools: SELECTION.tools,
        };
        page.extend(pieces.iter().map(|piece| plain.piece(piece)));
        page
    }
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

    /// The file starts over, perhaps as another session.
    pub(super) fn restart(&mut self) {
        self.messages.restart();
        if self.about.agent_id.is_none() {
            self.about = About::default();
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
        if matches!(self.form, LineForm::Raw) {
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
        self.flush()
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        if let LineForm::Text(text) = &mut self.form {
            let last = text.lines(None, &About::default());
            self.writer.echo(last.as_bytes())?;
        }
        self.writer.flush()
    }

    fn message(&mut self, message: Message, about: &About) -> Result<(), WriteError> {
        match &mut self.form {
            LineForm::Raw | LineForm::Messages => self.writer.record(&to_record(message, about)),
            LineForm::Text(text) => self
                .writer
                .echo(text.lines(Some(message), about).as_bytes()),
        }
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
    pub(super) fn switch(&mut self, reason: SwitchReason, path: &Path) -> Result<(), WriteError> {
        let path = path.display().to_string();
        if matches!(self.form, LineForm::Text(_)) {
            let path = terminal_safe_line(&path);
            let line = match reason {
                SwitchReason::Deleted => format!("--- {path} was deleted\n\n"),
                SwitchReason::Truncated | SwitchReason::Rewritten | SwitchReason::Replaced => {
                    format!("--- {path} starts again\n\n")
                }
                SwitchReason::Newer => format!("--- {path}\n\n"),
            };
            return self.writer.echo(line.as_bytes());
        }
        self.writer.record(&SessionSwitchRecord::new(reason, path))
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
        self.cursor(follower.path(), follower.offset(), follower.pending())
    }

    /// Everything before `offset` was printed.
    pub(super) fn cursor(
        &mut self,
        path: &Path,
        offset: u64,
        pending: u64,
    ) -> Result<(), WriteError> {
        if self.cursors == Cursors::Printed {
            let path = path.display().to_string();
            self.writer
                .record(&SessionCursorRecord::new(path, offset, pending))?;
        }
        self.flush()
    }
}
