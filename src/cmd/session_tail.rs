//! `session tail`: the end of a session file, and what comes after it.

use std::path::Path;
use std::time::Duration;

use clap::Args;

use super::command::Run;
use super::output::{self, Form, FormArguments};
use super::session_source::SourceArguments;
use super::session_tail_follow::{Ended, Followed, Limits, Subagents, follow};
use super::session_tail_printer::{Cursors, Joining, LineForm, Lines, Printer, TextForm};
use super::times::parse_span;
use super::{Globals, Outcome, UsageError};
use crate::dialog::{About, Grouping, Message, Style};
use crate::io::Io;
use crate::session::{
    BackwardMessages, Follower, Scope, Seen, Session, SessionError, SessionFile, Shape,
    holds_only_lines, last_messages, open_safely, records_on, start_of_last,
};
use crate::wire::SessionId;

/// Show the end of a session file, whatever its size
///
/// Reads the file from its end. Prints messages, as text on a terminal and else as records; with
/// `--raw` the lines as they are. With `-f` it goes on with what is appended, each record as soon as its line is complete. A file
/// that is truncated, replaced or deleted is read again from its start, after a `session_switch`
/// record.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[derive(Debug, Args)]
pub(super) struct SessionTailArguments {
    /// A file, an id or the beginning of one, a title, or `latest`
    #[arg(value_name = "SESSION")]
    session: String,
    #[command(flatten)]
    source: SourceArguments,
    /// Number of messages, or with --raw of records
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    lines: u64,
    /// Print lines as they are in the file
    #[arg(long)]
    raw: bool,
    /// Continue with what is appended
    #[arg(short, long)]
    follow: bool,
    /// Switch to a newer session when one begins
    #[arg(long, requires = "follow")]
    latest: bool,
    /// Also show what subagents say from now on; their records name them
    #[arg(long, requires = "follow", conflicts_with = "raw")]
    subagents: bool,
    /// Begin at this offset in bytes (from a cursor) instead of the last messages
    #[arg(long, value_name = "OFFSET", conflicts_with = "lines")]
    from: Option<u64>,
    /// Write a cursor after each batch of records: where to continue reading
    #[arg(long)]
    cursor: bool,
    /// Stop when nothing was appended for this long (e.g. 500ms, 30s, 5m)
    #[arg(long, value_name = "TIME", requires = "follow", value_parser = parse_span)]
    until_idle: Option<Duration>,
    /// Stop after this long in any case
    #[arg(long, value_name = "TIME", requires = "follow", value_parser = parse_span)]
    timeout: Option<Duration>,
    /// Exit with 1 if --timeout ended it
    #[arg(long)]
    exit_status: bool,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for SessionTailArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let named = self.source.one(&self.session, io)?;
        let path = named.path().map_err(|error| named.named(&error))?;
        let failed = |error: SessionError| UsageError::reason(error).about(&named.name);
        let file = open_safely(path).map_err(|error| failed(error.into()))?;
        // A session that has just begun is empty. Files of nothing but lines have no other form.
        let has_only_lines = self.follow && file.size == 0
            || self.raw && holds_only_lines(&file).map_err(|error| failed(error.into()))?;
        let session = if has_only_lines {
            Err(file)
        } else {
            match Session::of_file(file) {
                Ok(session) => Ok(session),
                Err(SessionError::Unknown) if self.raw => {
                    Err(open_safely(path).map_err(|error| failed(error.into()))?)
                }
                Err(error) => return Err(failed(error).into()),
            }
        };
        if let Ok(session) = &session {
            let is_read_once = !self.raw && !self.follow && self.from.is_none();
            let has_ends = !session.is_document() && session.format().shape != Shape::Replay;
            if is_read_once && !has_ends {
                return self.whole(session, self.printer(globals, io)?);
            }
            if session.is_document() {
                let error = UsageError::new("a single document has no tail");
                return Err(error.about(path.display()).into());
            }
        }
        let printer = self.printer(globals, io)?;
        self.lines_of(session, printer, io)
    }
}

impl SessionTailArguments {
    /// The last messages of a session that must be read as a whole.
    fn whole(&self, session: &Session, mut printer: Printer) -> anyhow::Result<Outcome> {
        let wanted = usize::try_from(self.lines).unwrap_or(usize::MAX);
        let mut last = std::collections::VecDeque::new();
        session.each_message(Scope::Live, &mut |message| {
            last.push_back(message);
            if last.len() > wanted {
                last.pop_front();
            }
            std::ops::ControlFlow::Continue(())
        })?;
        let mut lines = Lines::new(None, self.about(session)?);
        printer.messages(&mut lines, last.into())?;
        printer.cursor(&session.file.path, session.file.size, 0)?;
        Ok(Outcome::Done)
    }

    fn printer(&self, globals: &Globals, io: &mut Io) -> anyhow::Result<Printer> {
        let form = match self.form.form(io.terminal) {
            // Raw lines and cursors are for programs.
            Form::Text if !self.raw && !self.cursor => {
                let style = if globals.colors_output(io) {
                    Style::Ansi
                } else {
                    Style::Plain
                };
                let grouping = if self.follow {
                    Grouping::Apart
                } else {
                    Grouping::Batches
                };
                let writer = output::writer(Form::Text, io)?;
                return Ok(Printer::new(
                    LineForm::Text(TextForm::new(style, grouping)),
                    Cursors::Left,
                    writer,
                ));
            }
            _ if self.raw => LineForm::Raw,
            _ => LineForm::Messages,
        };
        let cursors = if self.cursor {
            Cursors::Printed
        } else {
            Cursors::Left
        };
        Ok(Printer::new(form, cursors, output::record_writer(io)?))
    }

    fn lines_of(
        &self,
        session: Result<Session, SessionFile>,
        mut printer: Printer,
        io: &Io,
    ) -> anyhow::Result<Outcome> {
        if let Ok(session) = &session
            && let Some(said) = self.last_messages(session)?
        {
            let mut lines = Lines::new(Some(session.format()), self.about(session)?);
            printer.messages(&mut lines, said)?;
            return Ok(Outcome::Done);
        }
        let start = match (&session, self.from) {
            (_, Some(offset)) => offset,
            (Ok(session), None) => {
                let mut bytes = session.bytes(self.source.mapping());
                if self.raw {
                    start_of_last(&mut bytes, self.lines, &mut records_on)?
                } else {
                    let mut messages = BackwardMessages::new(session.format());
                    start_of_last(&mut bytes, self.lines, &mut |line| messages.count(line))?
                }
            }
            (Err(file), None) => {
                let mapping = self.source.mapping();
                let mut bytes = crate::jsonl::FixedFile::new(&file.file, file.size, mapping);
                start_of_last(&mut bytes, self.lines, &mut records_on)?
            }
        };
        let (file, format, about) = match session {
            Ok(session) => {
                let about = self.about(&session)?;
                let format = session.format();
                (session.file, Some(format), about)
            }
            Err(file) => (file, None, About::default()),
        };
        let subagents = match format {
            Some(format) if self.subagents => Some(Subagents::of(&file.path, format.agent)),
            Some(_) | None => None,
        };
        let mut followed = Followed {
            follower: Follower::new(file, start),
            lines: Lines::new(format, about),
        };
        if !self.follow {
            return print_to_end(&mut followed, &mut printer);
        }
        let limits = Limits {
            idle: self.until_idle,
            all: self.timeout,
        };
        let mut newer = |path: &Path| self.latest.then(|| self.newer(path, io)).flatten();
        let ended = follow(
            &mut followed,
            subagents,
            &mut printer,
            limits,
            &mut newer,
            io,
        )?;
        Ok(match ended {
            Ended::TimeUp if self.exit_status => Outcome::AnswerIsNo,
            Ended::TimeUp | Ended::Idle | Ended::ReaderIsGone => Outcome::Done,
        })
    }

    /// What records say about the session. Raw lines say nothing.
    fn about(&self, session: &Session) -> anyhow::Result<About> {
        let id = if self.raw {
            None
        } else {
            session.id(self.source.mapping())?
        };
        Ok(About {
            session_id: id.map(SessionId),
            ..About::default()
        })
    }

    /// The last messages, if nothing else is wanted and they are not large.
    fn last_messages(&self, session: &Session) -> anyhow::Result<Option<Vec<Message>>> {
        let is_more = self.raw || self.follow || self.cursor || self.from.is_some();
        if is_more {
            return Ok(None);
        }
        let mut bytes = session.bytes(self.source.mapping());
        Ok(last_messages(&mut bytes, self.lines, session.format())?)
    }

    /// A session that was changed after the one at `path`, if there is one.
    fn newer(&self, path: &Path, io: &Io) -> Option<SessionFile> {
        let newest = self.source.candidates(&io.environment).into_iter().next()?;
        let known = std::fs::symlink_metadata(path).and_then(|known| known.modified());
        if newest.path == path || known.is_ok_and(|known| known >= newest.modified) {
            return None;
        }
        let session = Session::open(&newest.path).ok()?;
        Some(session.file)
    }
}

/// Prints what is in the file; a last line without a newline too, if it is a whole record.
fn print_to_end(followed: &mut Followed, printer: &mut Printer) -> anyhow::Result<Outcome> {
    let Followed { follower, lines } = followed;
    loop {
        let path = follower.path().to_owned();
        let seen = follower.look();
        match seen.map_err(|error| UsageError::reason(error).about(path.display()))? {
            Seen::Lines(new) => printer.lines(lines, &new, Joining::Joined)?,
            Seen::Bytes => {}
            Seen::Nothing | Seen::Switch(_) => break,
        }
    }
    let rest = follower.take_rest();
    printer.rest(lines, &rest)?;
    printer.end(follower)?;
    Ok(Outcome::Done)
}
