//! `session tail`: prints the end of a session file and follows it.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use clap::Args;

use crate::commands::session::names::LATEST;
use crate::commands::session::source::SourceArguments;
use crate::commands::times::parse_span_or_seconds;
use crate::commands::{Form, FormArguments, Globals, Run, Status, UsageError, output};
use crate::io::Io;
use crate::jsonl::WriteResult;
use crate::message::{Message, MessageMerger, Origin, SessionId};
use crate::records::{
    CursorSubtype, MessageContext, SessionCursorRecord, SessionSwitchRecord, SwitchReason,
    SwitchSubtype, VersionOnly,
};
use crate::render::{
    Density, DialogForm, DialogPrinter, DisplayOptions, Grouping, Look, ToolDetail, speaker_line,
    switch_line,
};
use crate::session::{
    FollowOptions, FollowOutput, FollowedSession, Follower, NewerSessions, Scope, Session,
    SessionError, SessionFile, Shape, find_last_records, follow, has_only_lines, open_safely,
    open_to_follow, read_last_messages,
};
use crate::summaries::builtin::label_group;

/// Show the end of a session file of any size
///
/// Reads the file from its end. Prints messages as text on a terminal, otherwise as records; with
/// `--raw`, prints the lines of the file. With `-f`, also prints appended records as soon as their
/// lines are complete. A file that is truncated, rewritten, replaced or deleted is read again from
/// its start, after a `session_switch` record.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe session tail latest
  turnpipe session tail latest -n 20 -o text
  turnpipe session tail latest --follow --until-idle 1s")]
pub(crate) struct SessionTailArguments {
    /// The session: a path, an id or a prefix of it, a title, or `latest` [default: the file on standard input, else
    /// `latest`]
    session: Option<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// Number of messages, or of records with `--raw`
    #[arg(
        short = 'n',
        long,
        alias = "lines",
        value_name = "N",
        default_value_t = 10
    )]
    limit: u64,
    /// Print lines as they are in the file
    #[arg(long)]
    raw: bool,
    /// Keep printing as the file grows
    #[arg(short, long)]
    follow: bool,
    /// Also show sessions that start or continue from now on
    #[arg(long, requires = "follow")]
    latest: bool,
    /// Also show new messages of subagents; their records name the subagent
    #[arg(
        long,
        requires = "follow",
        conflicts_with = "raw",
        hide_short_help = true
    )]
    subagents: bool,
    /// Start at this byte offset, e.g. from a cursor
    #[arg(long, value_name = "OFFSET", conflicts_with = "limit")]
    offset: Option<u64>,
    /// Write a cursor record after each batch: the offset at which to continue reading
    #[arg(long, hide_short_help = true)]
    cursor: bool,
    /// Stop when nothing has been appended for this long (e.g. 500ms, 30s, 5m)
    #[arg(long, value_name = "TIME", requires = "follow", value_parser = parse_span_or_seconds)]
    until_idle: Option<Duration>,
    /// Stop after this long in any case
    #[arg(long, value_name = "TIME", requires = "follow", value_parser = parse_span_or_seconds, hide_short_help = true)]
    timeout: Option<Duration>,
    /// Exit with 1 if --timeout ended it
    #[arg(long, hide_short_help = true)]
    exit_status: bool,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for SessionTailArguments {
    reads_sessions!(source, one session);

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let named = self
            .source
            .resolve_one(self.session.as_deref().unwrap_or(LATEST), io)?
            .prepare_for_reading()?;
        let path = named.path().map_err(|error| named.name_error(&error))?;
        let failed = |error: SessionError| UsageError::reason(error).about(&named.name);
        let file = if self.follow {
            open_to_follow(path)
        } else {
            open_safely(path)
        };
        let file = file.map_err(failed)?;
        // A new session is empty.
        let has_only_lines = self.follow && file.size == 0
            || self.raw && has_only_lines(&file).map_err(|error| failed(error.into()))?;
        let session = if has_only_lines {
            Err(file)
        } else {
            match Session::from_file(file, &self.source.named_roots) {
                Ok(session) => Ok(named.with_files(session)),
                Err(SessionError::Unknown(_)) if self.raw => {
                    Err(open_safely(path).map_err(failed)?)
                }
                Err(error) => return Err(failed(error).into()),
            }
        };
        if let Ok(session) = &session {
            let is_read_once = !self.raw && !self.follow && self.offset.is_none();
            let has_ends = !session.is_document()
                && session.format().reading.shape != Shape::Replay
                && !session.format().is_stream();
            let mut earlier = Vec::new();
            if is_read_once {
                let facts = session.read_first_facts(self.source.file_mapping())?;
                earlier = (self.source).ancestors(session, &facts, &io.environment, &io.messages);
            }
            if is_read_once && !(has_ends && earlier.is_empty()) {
                let mut printer = self.printer(globals, io)?;
                let messages = self.read_last_messages(earlier.iter().chain([session]))?;
                printer.print_messages(messages, &self.options().read_context(session)?)?;
                printer.print_cursor(&session.file.path, session.file.size, 0)?;
                return Ok(Status::Done);
            }
            if session.is_document() {
                let error = UsageError::new("a file that is one JSON document cannot be followed")
                    .with_hint("without `-f`, `--raw` and `--offset` its last messages are shown");
                return Err(error.about(path.display()).into());
            }
        }
        let printer = self.printer(globals, io)?;
        self.print_end(session, printer, io)
    }
}

impl SessionTailArguments {
    fn options(&self) -> FollowOptions {
        FollowOptions {
            is_raw: self.raw,
            with_subagents: self.subagents,
            mapping: self.source.file_mapping(),
            idle: self.until_idle,
            all: self.timeout,
        }
    }

    /// Returns the last messages of a session whose files must be read as a whole.
    fn read_last_messages<'a>(
        &self,
        files: impl Iterator<Item = &'a Session>,
    ) -> anyhow::Result<Vec<Message>> {
        let wanted = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let mut last = VecDeque::new();
        for file in files {
            for message in file.messages(Scope::Live)? {
                last.push_back(message?);
                if last.back().is_some_and(|last| last.origin == Origin::Meter) {
                    last.pop_back();
                }
                if last.len() > wanted {
                    last.pop_front();
                }
            }
        }
        Ok(last.into())
    }

    fn printer(&self, globals: &Globals, io: &mut Io) -> anyhow::Result<Printer> {
        // Raw lines and cursors are for programs.
        let (form, dialog_form) = match self.form.form(io.terminal) {
            Form::Text if !self.raw && !self.cursor => (Form::Text, DialogForm::Text),
            _ => (Form::Jsonl, DialogForm::Jsonl),
        };
        let look = Look {
            form: dialog_form,
            selection: DisplayOptions {
                tools: ToolDetail::Full,
                ..dialog_form.options()
            },
            density: Density::Folded,
            style: globals.style(io),
        };
        // A followed file is printed without a pager.
        let grouping = if self.follow {
            Grouping::Apart
        } else {
            Grouping::Batches
        };
        Ok(Printer {
            prints_cursors: self.cursor,
            dialog: DialogPrinter::new(look, grouping, label_group, output::open_writer(form, io)?),
            speaker: None,
        })
    }

    /// Prints the end of a session or of a file without a known format, and follows it with `--follow`.
    fn print_end(
        &self,
        session: Result<Session, SessionFile>,
        mut printer: Printer,
        io: &Io,
    ) -> anyhow::Result<Status> {
        let options = self.options();
        if let Ok(session) = &session
            && let Some(messages) = self.last_messages(session)?
        {
            printer.print_messages(messages, &options.read_context(session)?)?;
            return Ok(Status::Done);
        }
        let start = match (&session, self.offset) {
            (_, Some(offset)) => offset,
            (Ok(session), None) if !self.raw => {
                session.find_last_messages(self.limit, options.mapping)?
            }
            (Ok(Session { file, .. }) | Err(file), None) => {
                find_last_records(file, self.limit, options.mapping)?
            }
        };
        let (file, format, about) = match session {
            Ok(session) => {
                let about = options.read_context(&session)?;
                let format = session.format();
                (session.file, Some(format), about)
            }
            Err(file) => (file, None, MessageContext::default()),
        };
        let candidates = || self.source.candidates(&io.environment);
        let newer = || NewerSessions::new(&candidates, &self.source.named_roots);
        let newer = self.latest.then(newer);
        let session = FollowedSession::new(file, start, format, about, &options)?;
        let failed = UsageError::from_print_error;
        if !self.follow {
            session.read_to_end(&mut printer).map_err(failed)?;
            return Ok(Status::Done);
        }
        let reader = io.stdout_watch.as_ref().map(AsFd::as_fd);
        let is_time_up = follow(session, newer, &options, &mut printer, reader).map_err(failed)?;
        Ok(Status::negative_if(is_time_up && self.exit_status))
    }

    /// Returns the last messages; `None` if they are large, or if the output is more than messages.
    fn last_messages(&self, session: &Session) -> anyhow::Result<Option<Vec<Message>>> {
        let has_other_output = self.raw || self.follow || self.cursor || self.offset.is_some();
        if has_other_output {
            return Ok(None);
        }
        let mut bytes = session.bytes(self.source.file_mapping());
        let with_repeats = session.has_only_repeats();
        Ok(read_last_messages(
            &mut bytes,
            self.limit,
            session.format(),
            with_repeats,
        )?)
    }
}

/// Prints the lines of the files that are followed.
struct Printer {
    /// Whether a cursor is printed after each batch of records.
    prints_cursors: bool,
    dialog: DialogPrinter,
    /// The session and subagent of the last message.
    speaker: Option<(Option<SessionId>, Option<String>)>,
}

impl Printer {
    fn is_text(&self) -> bool {
        self.dialog.look.form == DialogForm::Text
    }

    /// Prints messages that have already been read.
    fn print_messages(&mut self, messages: Vec<Message>, about: &MessageContext) -> WriteResult {
        let mut merger = MessageMerger::default();
        for message in messages {
            if let Some(whole) = merger.push(message) {
                self.write_message(whole, about)?;
            }
        }
        if let Some(last) = merger.finish() {
            self.write_message(last, about)?;
        }
        self.dialog.finish()
    }

    /// Prints a cursor with `--cursor`: everything before `offset` has been printed.
    fn print_cursor(&mut self, path: &Path, offset: u64, pending: u64) -> WriteResult {
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

impl FollowOutput for Printer {
    fn write_raw(&mut self, lines: &[u8]) -> WriteResult {
        self.dialog.writer.echo(lines)
    }

    fn write_message(&mut self, message: Message, about: &MessageContext) -> WriteResult {
        let speaker = Some((about.session_id.clone(), about.agent_id.clone()));
        if self.is_text() && self.speaker != speaker {
            let is_first = std::mem::replace(&mut self.speaker, speaker).is_none();
            let line = speaker_line(about, is_first);
            self.dialog.writer.echo(line.as_bytes())?;
        }
        self.dialog.print_message(message, about)
    }

    fn report_switch(&mut self, reason: SwitchReason, path: &Path) -> WriteResult {
        let path = path.display().to_string();
        if self.is_text() {
            return self
                .dialog
                .writer
                .echo(switch_line(reason, &path).as_bytes());
        }
        self.dialog.writer.record(&SessionSwitchRecord {
            subtype: SwitchSubtype::Only,
            reason,
            path,
            turnpipe: VersionOnly::default(),
        })
    }

    fn report_end(&mut self, follower: &Follower, is_last: bool) -> WriteResult {
        if !is_last && !self.dialog.writer.has_buffered() {
            return Ok(());
        }
        self.print_cursor(follower.path(), follower.offset(), follower.pending_bytes())
    }
}
