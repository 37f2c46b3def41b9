//! Prints the lines at the end of session files as they arrive.

use std::path::Path;

use crate::cmd::session::printer::{self, DialogForm};
use crate::jsonl::WriteResult;
use crate::message::{Message, MessageMerger, SessionId};
use crate::records::{
    CursorSubtype, MessageContext, SessionCursorRecord, SessionSwitchRecord, SwitchReason,
    SwitchSubtype, VersionOnly,
};
use crate::session::{Follower, Format, MessageLines};
use crate::text::terminal_safe_line;

/// Whether the records of one message are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joining {
    /// Each is printed at once.
    AtOnce,
    /// They are joined into one.
    Joined,
}

/// The state of reading one file.
pub(crate) struct Lines {
    messages: MessageLines,
    merger: MessageMerger,
    about: MessageContext,
}

impl Lines {
    /// Lines of a file of this format; if it is not known yet, the first records decide.
    pub(crate) fn new(format: Option<&'static Format>, about: MessageContext) -> Self {
        Self {
            messages: MessageLines::new(format),
            merger: MessageMerger::default(),
            about,
        }
    }

    /// Resets the state for a file that starts over, perhaps as another session.
    pub(crate) fn restart(&mut self) {
        self.messages.restart();
        if self.about.agent_id.is_none() {
            self.about = MessageContext::default();
        }
    }
}

/// Prints the lines of the files that are followed.
pub(crate) struct Printer {
    /// Whether lines are printed as they are in the file, instead of the messages on them.
    pub(crate) is_raw: bool,
    /// Whether a cursor is printed after each batch of records.
    pub(crate) prints_cursors: bool,
    pub(crate) dialog: printer::Printer,
    /// The session and subagent of the last message.
    pub(crate) speaker: Option<(Option<SessionId>, Option<String>)>,
}

impl Printer {
    fn is_text(&self) -> bool {
        self.dialog.look.form == DialogForm::Text
    }

    /// Prints whole lines.
    pub(crate) fn lines(&mut self, of: &mut Lines, lines: &[u8], joining: Joining) -> WriteResult {
        if self.is_raw {
            return self.dialog.writer.echo(lines);
        }
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            for message in of.messages.messages(line) {
                let whole = match joining {
                    Joining::AtOnce => Some(message),
                    Joining::Joined => of.merger.push(message),
                };
                if let Some(whole) = whole {
                    self.message(whole, &of.about)?;
                }
            }
        }
        Ok(())
    }

    /// Prints messages that have already been read.
    pub(crate) fn messages(&mut self, of: &mut Lines, said: Vec<Message>) -> WriteResult {
        for message in said {
            if let Some(whole) = of.merger.push(message) {
                self.message(whole, &of.about)?;
            }
        }
        self.rest(of, &[])?;
        self.dialog.finish()
    }

    fn message(&mut self, message: Message, about: &MessageContext) -> WriteResult {
        let speaker = Some((about.session_id.clone(), about.agent_id.clone()));
        if self.is_text() && self.speaker != speaker {
            let is_first = std::mem::replace(&mut self.speaker, speaker).is_none();
            let name = match (&about.agent_id, &about.session_id) {
                (Some(agent), _) => Some(format!("subagent {agent}")),
                (None, Some(session)) if !is_first => Some(format!("session {session}")),
                (None, _) => None,
            };
            if let Some(name) = name {
                let line = format!("--- {}\n\n", terminal_safe_line(&name));
                self.dialog.writer.echo(line.as_bytes())?;
            }
        }
        self.dialog.message(message, about)
    }

    /// Prints a last line without a newline, if it is a whole record.
    pub(crate) fn rest(&mut self, of: &mut Lines, rest: &[u8]) -> WriteResult {
        if !rest.is_empty() {
            self.lines(of, rest, Joining::Joined)?;
        }
        match of.merger.finish() {
            Some(last) => self.message(last, &of.about),
            None => Ok(()),
        }
    }

    /// Reports that the output continues with another file, or from the start of this one.
    pub(crate) fn switch(&mut self, reason: SwitchReason, path: &Path) -> WriteResult {
        let path = path.display().to_string();
        if self.is_text() {
            let path = terminal_safe_line(&path);
            let line = match reason {
                SwitchReason::Deleted => format!("--- {path} was deleted\n\n"),
                SwitchReason::Truncated | SwitchReason::Rewritten | SwitchReason::Replaced => {
                    format!("--- {path} starts again\n\n")
                }
                SwitchReason::Newer => format!("--- {path}\n\n"),
            };
            return self.dialog.writer.echo(line.as_bytes());
        }
        self.dialog.writer.record(&SessionSwitchRecord {
            subtype: SwitchSubtype::Only,
            reason,
            path,
            turnpipe: VersionOnly::default(),
        })
    }

    /// Ends a batch: the whole file has been printed.
    pub(crate) fn caught_up(&mut self, follower: &Follower) -> WriteResult {
        if self.dialog.writer.has_buffered() {
            self.end(follower)?;
        }
        Ok(())
    }

    /// Ends the output.
    pub(crate) fn end(&mut self, follower: &Follower) -> WriteResult {
        self.cursor(follower.path(), follower.offset(), follower.pending())
    }

    /// Writes a cursor: everything before `offset` has been printed.
    pub(crate) fn cursor(&mut self, path: &Path, offset: u64, pending: u64) -> WriteResult {
        if self.prints_cursors {
            self.dialog.writer.record(&SessionCursorRecord {
                subtype: CursorSubtype::Only,
                path: path.display().to_string(),
                offset,
                pending,
                turnpipe: VersionOnly::default(),
            })?;
        }
        self.dialog.finish()
    }
}
