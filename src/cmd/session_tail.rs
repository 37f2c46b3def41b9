//! `session tail`: the end of a session file, and what comes after it.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;

use super::session_source::{SourceArguments, unreadable};
use super::{Outcome, UsageError, output};
use crate::dialog::{About, Joiner, Message, to_record};
use crate::io::Io;
use crate::jsonl::{WriteError, Writer};
use crate::session::{
    BackwardMessages, Follower, MessageLines, Scope, Seen, Session, SessionError, SessionFile,
    Shape, open_safely, records_on, start_of_last,
};
use crate::wire::SessionId;
use crate::wire::records::{SessionCursorRecord, SessionSwitchRecord, SwitchReason};

/// How long one waits between two looks at a file.
const POLL: Duration = Duration::from_millis(50);

/// How long one waits between two looks for a newer session.
const LOOK_FOR_NEWER: Duration = Duration::from_secs(1);

/// Show the end of a session file, whatever its size
///
/// The file is read from its end. Messages come as records (`--raw`: the lines as they stand);
/// with `-f` what is appended follows, each record as soon as its line is whole. A file that is cut
/// short, replaced or deleted is read anew, which a `session_switch` record says.
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
    /// How many messages (with --raw: records)
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    lines: u64,
    /// Print lines as they stand in the file
    #[arg(long)]
    raw: bool,
    /// Go on with what is appended
    #[arg(short, long)]
    follow: bool,
    /// Go over to a newer session when one begins
    #[arg(long, requires = "follow")]
    latest: bool,
    /// Begin at this place (a cursor's offset in bytes) instead of the last messages
    #[arg(long, value_name = "OFFSET", conflicts_with = "lines")]
    from: Option<u64>,
    /// After each batch of records write a cursor: where reading can go on
    #[arg(long)]
    cursor: bool,
    /// End when nothing was appended for this long (e.g. 500ms, 30s, 5m)
    #[arg(long, value_name = "TIME", requires = "follow", value_parser = parse_duration)]
    until_idle: Option<Duration>,
    /// End after this long in any case
    #[arg(long, value_name = "TIME", requires = "follow", value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// Exit 1 if it was `--timeout` that ended it
    #[arg(long)]
    exit_status: bool,
}

impl SessionTailArguments {
    /// Shows it.
    ///
    /// # Errors
    /// There is no such session, or reading or writing failed.
    pub(super) fn run(self, io: &mut Io) -> anyhow::Result<Outcome> {
        let path = self
            .source
            .find(&self.session, io)
            .map_err(|error| super::session_source::not_found(&self.session, &error))?;
        let failed = |error: SessionError| unreadable(&path, error);
        let session = match open_safely(&path).map_err(|error| failed(error.into()))? {
            // A session that has just begun holds nothing yet.
            file if self.follow && file.size == 0 => Err(file),
            file => match Session::of_file(file) {
                Ok(session) => Ok(session),
                Err(SessionError::Unknown) if self.raw => {
                    Err(open_safely(&path).map_err(|error| failed(error.into()))?)
                }
                Err(error) => return Err(failed(error)),
            },
        };
        if let Ok(session) = &session
            && session.is_document()
        {
            if self.raw || self.follow || self.from.is_some() {
                let problem = format!("{}: is one document, which has no tail", path.display());
                return Err(UsageError::new(problem).into());
            }
            return self.whole(session, io);
        }
        if let Ok(session) = &session
            && session.format().shape() == Shape::Replay
            && !self.raw
            && !self.follow
            && self.from.is_none()
        {
            return self.whole(session, io);
        }
        self.lines_of(session, io)
    }

    /// The last messages of a session that must be read as a whole.
    fn whole(&self, session: &Session, io: &mut Io) -> anyhow::Result<Outcome> {
        let wanted = usize::try_from(self.lines).unwrap_or(usize::MAX);
        let mut last = std::collections::VecDeque::new();
        session.each_message(Scope::Live, &mut |message| {
            last.push_back(message);
            if last.len() > wanted {
                last.pop_front();
            }
            std::ops::ControlFlow::Continue(())
        })?;
        let facts = session.quick_facts(self.source.mapping())?;
        let about = About {
            session_id: facts.session_id.map(SessionId),
        };
        let mut writer = output::record_writer(io)?;
        for message in last {
            writer.record(&to_record(message, &about))?;
        }
        if self.cursor {
            let path = session.file.path.display().to_string();
            writer.record(&SessionCursorRecord::new(path, session.file.size, 0))?;
        }
        writer.flush()?;
        Ok(Outcome::Done)
    }

    fn lines_of(
        &self,
        session: Result<Session, SessionFile>,
        io: &mut Io,
    ) -> anyhow::Result<Outcome> {
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
                let facts = session.quick_facts(self.source.mapping())?;
                let format = session.format();
                let about = About {
                    session_id: facts.session_id.map(SessionId),
                };
                (session.file, Some(format), about)
            }
            Err(file) => (file, None, About::default()),
        };
        let mut printer = Printer {
            raw: self.raw,
            cursor: self.cursor,
            messages: MessageLines::new(format),
            joiner: Joiner::default(),
            about,
            writer: output::record_writer(io)?,
        };
        let mut follower = Follower::new(file, start);
        self.follow(&mut follower, &mut printer, io)
    }

    fn follow<Sink: Write>(
        &self,
        follower: &mut Follower,
        printer: &mut Printer<Sink>,
        io: &Io,
    ) -> anyhow::Result<Outcome> {
        let begun = Instant::now();
        let mut active = begun;
        let mut looked = begun;
        loop {
            let path = follower.path().to_owned();
            let seen = follower.look();
            match seen.map_err(|error| unreadable(&path, error.into()))? {
                Seen::Lines(lines) => {
                    active = Instant::now();
                    printer.lines(&lines, self.follow)?;
                    continue;
                }
                Seen::Bytes => {
                    active = Instant::now();
                    continue;
                }
                Seen::Switch(reason) => {
                    active = Instant::now();
                    if self.follow {
                        printer.switch(reason, &path)?;
                    }
                    continue;
                }
                Seen::Nothing => {}
            }
            if !self.follow {
                let rest = follower.take_rest();
                printer.rest(&rest)?;
                printer.end(follower)?;
                return Ok(Outcome::Done);
            }
            printer.caught_up(follower)?;
            if self.until_idle.is_some_and(|idle| active.elapsed() >= idle) {
                printer.end(follower)?;
                return Ok(Outcome::Done);
            }
            if self
                .timeout
                .is_some_and(|timeout| begun.elapsed() >= timeout)
            {
                printer.end(follower)?;
                return Ok(if self.exit_status {
                    Outcome::AnswerIsNo
                } else {
                    Outcome::Done
                });
            }
            if reader_is_gone(io) {
                return Ok(Outcome::Done);
            }
            if self.latest && looked.elapsed() >= LOOK_FOR_NEWER {
                looked = Instant::now();
                if let Some(newer) = self.newer(&path, io) {
                    let path = newer.path.clone();
                    *follower = Follower::new(newer, 0);
                    printer.switch(SwitchReason::Newer, &path)?;
                    continue;
                }
            }
            std::thread::sleep(POLL);
        }
    }

    /// A session that was changed after the one at `path`, if there is one.
    fn newer(&self, path: &Path, io: &Io) -> Option<SessionFile> {
        let newest = self.source.candidates(io).into_iter().next()?;
        let known = std::fs::symlink_metadata(path).and_then(|known| known.modified());
        if newest.path == path || known.is_ok_and(|known| known >= newest.modified) {
            return None;
        }
        let session = Session::open(&newest.path).ok()?;
        Some(session.file)
    }
}

/// Whether whoever reads our output went away.
fn reader_is_gone(io: &Io) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let Some(stdout) = &io.stdout_watch else {
        return false;
    };
    let mut watched = [PollFd::new(stdout, PollFlags::empty())];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    match poll(&mut watched, Some(&at_once)) {
        Ok(_) => watched[0]
            .revents()
            .intersects(PollFlags::ERR | PollFlags::HUP),
        Err(_) => false,
    }
}

struct Printer<Sink: Write> {
    raw: bool,
    cursor: bool,
    messages: MessageLines,
    joiner: Joiner,
    about: About,
    writer: Writer<Sink>,
}

impl<Sink: Write> Printer<Sink> {
    /// Prints whole lines. While following, each record is printed at once; else the records of
    /// one message are joined.
    fn lines(&mut self, lines: &[u8], is_followed: bool) -> Result<(), WriteError> {
        if self.raw {
            return self.writer.echo(lines);
        }
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            for message in self.messages.messages(line) {
                if is_followed {
                    self.message(message)?;
                } else if let Some(whole) = self.joiner.push(message) {
                    self.message(whole)?;
                }
            }
        }
        Ok(())
    }

    fn message(&mut self, message: Message) -> Result<(), WriteError> {
        self.writer.record(&to_record(message, &self.about))
    }

    /// Prints a last line without a newline, if it is a whole record.
    fn rest(&mut self, rest: &[u8]) -> Result<(), WriteError> {
        if !rest.is_empty() {
            self.lines(rest, false)?;
        }
        match self.joiner.finish() {
            Some(last) => self.message(last),
            None => Ok(()),
        }
    }

    fn switch(&mut self, reason: SwitchReason, path: &Path) -> Result<(), WriteError> {
        self.messages.restart();
        self.about = About::default();
        self.writer.record(&SessionSwitchRecord::new(
            reason,
            path.display().to_string(),
        ))
    }

    /// Everything that is there was printed.
    fn caught_up(&mut self, follower: &Follower) -> Result<(), WriteError> {
        if self.writer.has_buffered() {
            if self.cursor {
                self.cursor(follower)?;
            }
            self.writer.flush()?;
        }
        Ok(())
    }

    fn end(&mut self, follower: &Follower) -> Result<(), WriteError> {
        if self.cursor {
            self.cursor(follower)?;
        }
        self.writer.flush()
    }

    fn cursor(&mut self, follower: &Follower) -> Result<(), WriteError> {
        self.writer.record(&SessionCursorRecord::new(
            follower.path().display().to_string(),
            follower.offset(),
            follower.pending(),
        ))
    }
}

/// A whole number with a unit: `ms`, `s`, `m`, `h`.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits
        .parse()
        .map_err(|_| "not a number with a unit".to_owned())?;
    let milliseconds = match &text[digits.len()..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60 * 1000,
        "h" => 60 * 60 * 1000,
        _ => return Err("name a unit: ms, s, m or h".to_owned()),
    };
    number
        .checked_mul(milliseconds)
        .map(Duration::from_millis)
        .ok_or_else(|| "too long".to_owned())
}
