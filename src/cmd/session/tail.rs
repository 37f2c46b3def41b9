//! `session tail`: prints the end of a session file and follows it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::cmd::session::printer::{self, DialogForm, Look};
use crate::cmd::session::source::SourceArguments;
use crate::cmd::session::tail_follow::{
    FollowLimits, Followed, FollowedSession, Joining, Lines, Printer, Subagents, follow,
};
use crate::cmd::times::parse_span;
use crate::cmd::{Form, FormArguments, Globals, Run, Status, UsageError, output};
use crate::io::{Environment, Io};
use crate::jsonl::{FixedFile, Mapping};
use crate::message::{Message, SessionId};
use crate::records::MessageContext;
use crate::session::{
    BackwardMessages, Follower, Format, Scope, Seen, Session, SessionError, SessionFile, Shape,
    holds_only_lines, last_messages, open_safely, open_to_follow, records_on, start_of_last,
};
use crate::view::{Density, DisplayOptions, Grouping, ToolDetail};

/// Show the end of a session file of any size
///
/// Reads the file from its end. Prints messages as text on a terminal, otherwise as records; with
/// `--raw`, prints the lines of the file. With `-f`, also prints appended records as soon as their
/// lines are complete. A file that is truncated, rewritten, replaced or deleted is read again from
/// its start, after a `session_switch` record.
#[derive(Debug, Args)]
pub(crate) struct SessionTailArguments {
    /// The session: a path, an id or a prefix of it, a title, or `latest`
    session: String,
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
    #[arg(long, requires = "follow", conflicts_with = "raw")]
    subagents: bool,
    /// Start at this byte offset, e.g. from a cursor
    #[arg(long, alias = "from", value_name = "OFFSET", conflicts_with = "limit")]
    offset: Option<u64>,
    /// Write a cursor record after each batch: the offset at which to continue reading
    #[arg(long)]
    cursor: bool,
    /// Stop when nothing has been appended for this long (e.g. 500ms, 30s, 5m)
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
    fn source(&mut self) -> Option<&mut SourceArguments> {
        Some(&mut self.source)
    }

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let named = self.source.one(&self.session, io)?.for_reading()?;
        let path = named.path().map_err(|error| named.named(&error))?;
        let failed = |error: SessionError| UsageError::reason(error).about(&named.name);
        let file = if self.follow {
            open_to_follow(path)
        } else {
            open_safely(path)
        };
        let file = file.map_err(failed)?;
        // A new session is empty.
        let has_only_lines = self.follow && file.size == 0
            || self.raw && holds_only_lines(&file).map_err(|error| failed(error.into()))?;
        let session = if has_only_lines {
            Err(file)
        } else {
            match Session::of_file(file, &self.source.named_roots) {
                Ok(session) => Ok(session),
                Err(SessionError::Unknown(_)) if self.raw => {
                    Err(open_safely(path).map_err(failed)?)
                }
                Err(error) => return Err(failed(error).into()),
            }
        };
        if let Ok(session) = &session {
            let is_read_once = !self.raw && !self.follow && self.offset.is_none();
            let has_ends = !session.is_document()
                && session.format().shape != Shape::Replay
                && !session.format().is_stream();
            if is_read_once && !has_ends {
                return self.whole(session, self.printer(globals, io)?);
            }
            if session.is_document() {
                let error = UsageError::new("a file that is one JSON document cannot be followed")
                    .with_hint("without `-f`, `--raw` and `--offset` its last messages are shown");
                return Err(error.about(path.display()).into());
            }
        }
        let printer = self.printer(globals, io)?;
        self.lines_of(session, printer, io)
    }
}

impl SessionTailArguments {
    /// Returns the last messages of a session that must be read as a whole.
    fn whole(&self, session: &Session, mut printer: Printer) -> anyhow::Result<Status> {
        let wanted = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let mut last = std::collections::VecDeque::new();
        for message in session.messages(Scope::Live)? {
            last.push_back(message?);
            if last.len() > wanted {
                last.pop_front();
            }
        }
        let mut lines = Lines::new(None, self.about(session)?);
        printer.messages(&mut lines, last.into())?;
        printer.cursor(&session.file.path, session.file.size, 0)?;
        Ok(Status::Done)
    }

    fn printer(&self, globals: &Globals, io: &mut Io) -> anyhow::Result<Printer> {
        // Only programs use raw lines and cursors.
        let form = match self.form.form(io.terminal) {
            Form::Text if !self.raw && !self.cursor => Form::Text,
            _ => Form::Jsonl,
        };
        let dialog_form = match form {
            Form::Text => DialogForm::Text,
            Form::Jsonl => DialogForm::Jsonl,
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
            is_raw: self.raw,
            prints_cursors: self.cursor,
            dialog: printer::Printer::new(look, grouping, output::writer(form, io)?),
            speaker: None,
        })
    }

    fn lines_of(
        &self,
        session: Result<Session, SessionFile>,
        mut printer: Printer,
        io: &Io,
    ) -> anyhow::Result<Status> {
        if let Ok(session) = &session
            && let Some(said) = self.last_messages(session)?
        {
            let mut lines = Lines::new(Some(session.format()), self.about(session)?);
            printer.messages(&mut lines, said)?;
            return Ok(Status::Done);
        }
        let start = match (&session, self.offset) {
            (_, Some(offset)) => offset,
            (Ok(session), None) => {
                let mut bytes = session.bytes(self.source.mapping());
                if self.raw {
                    start_of_last(&mut bytes, self.limit, &mut records_on)?
                } else {
                    let mut messages = BackwardMessages::new(session.format());
                    start_of_last(&mut bytes, self.limit, &mut |line| messages.count(line))?
                }
            }
            (Err(file), None) => {
                let mapping = self.source.mapping();
                let mut bytes = FixedFile::new(&file.file, file.size, mapping);
                start_of_last(&mut bytes, self.limit, &mut records_on)?
            }
        };
        let (file, format, about) = match session {
            Ok(session) => {
                let about = self.about(&session)?;
                let format = session.format();
                (session.file, Some(format), about)
            }
            Err(file) => (file, None, MessageContext::default()),
        };
        let mut others = Others {
            arguments: self,
            sizes: HashMap::new(),
            named: file.path.clone(),
        };
        if self.latest {
            let known = self.source.candidates(&io.environment).into_iter();
            others.sizes = known.map(|one| (one.path, Some(one.size))).collect();
        }
        let mut session = self.followed(file, start, format, about)?;
        if !self.follow {
            return print_to_end(&mut session.file, &mut printer);
        }
        let limits = FollowLimits {
            idle: self.until_idle,
            all: self.timeout,
        };
        let mut find = || {
            if self.latest {
                others.find(&io.environment)
            } else {
                Vec::new()
            }
        };
        let is_time_up = follow(session, &mut printer, limits, &mut find, io)?;
        Ok(Status::negative_if(is_time_up && self.exit_status))
    }

    /// Returns the facts of the session for records. `None` for raw lines.
    fn about(&self, session: &Session) -> anyhow::Result<MessageContext> {
        if self.raw {
            return Ok(MessageContext::default());
        }
        let facts = session.first_facts(self.source.mapping())?;
        Ok(MessageContext {
            session_id: facts.session_id.map(SessionId),
            cwd: facts.cwd,
            ..MessageContext::default()
        })
    }

    /// Returns the last messages, unless other output is requested or they are large.
    fn last_messages(&self, session: &Session) -> anyhow::Result<Option<Vec<Message>>> {
        let is_more = self.raw || self.follow || self.cursor || self.offset.is_some();
        if is_more {
            return Ok(None);
        }
        let mut bytes = session.bytes(self.source.mapping());
        Ok(last_messages(&mut bytes, self.limit, session.format())?)
    }

    /// Follows a session from the offset `start`.
    fn followed(
        &self,
        file: SessionFile,
        start: u64,
        format: Option<&'static Format>,
        about: MessageContext,
    ) -> std::io::Result<FollowedSession> {
        let format_of_subagents = format.filter(|_| self.subagents);
        Ok(FollowedSession {
            subagents: format_of_subagents.map(|of| Subagents::of(&file.path, of.agent)),
            file: Followed {
                follower: Follower::new(file, start)?,
                lines: Lines::new(format, about),
            },
        })
    }
}

/// The sessions that are not followed yet.
struct Others<'a> {
    arguments: &'a SessionTailArguments,
    /// Length of the part of each file that is not shown, in bytes; `None` for followed files.
    sizes: HashMap<PathBuf, Option<u64>>,
    /// The file that was followed first, as it was named.
    named: PathBuf,
}

impl Others<'_> {
    /// Returns the sessions that started or continued.
    fn find(&mut self, environment: &Environment) -> Vec<FollowedSession> {
        let mut found = Vec::new();
        for candidate in self.arguments.source.candidates(environment) {
            let known = self.sizes.get(&candidate.path).copied();
            let Some(size) = known.unwrap_or(Some(0)) else {
                continue;
            };
            if size == candidate.size {
                continue;
            }
            if is_same_file(&candidate.path, &self.named) {
                self.sizes.insert(candidate.path, None);
            } else if let Some(session) = self.open(&candidate.path, size) {
                self.sizes.insert(candidate.path, None);
                found.push(session);
            }
        }
        found
    }

    /// Follows the session in a file starting at the line that extends beyond this size. A file that is
    /// not a session yet may become one.
    fn open(&self, path: &Path, size: u64) -> Option<FollowedSession> {
        let session = Session::open_with(path, &self.arguments.source.named_roots)
            .ok()
            .filter(Session::is_appendable)?;
        let about = self.arguments.about(&session).ok()?;
        // A file that has become shorter was replaced.
        let size = if size <= session.file.size { size } else { 0 };
        let mut bytes = FixedFile::new(&session.file.file, size, Mapping::Refused);
        let is_whole = &mut |line: &[u8]| u64::from(line.ends_with(b"\n"));
        let start = start_of_last(&mut bytes, 0, is_whole).ok()?;
        let format = Some(session.format());
        let followed = self.arguments.followed(session.file, start, format, about);
        followed.ok()
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path| open_safely(path).ok().map(|file| file.identity);
    one == other || identity(one).is_some_and(|one| Some(one) == identity(other))
}

/// Prints what is in the file; a last line without a newline too, if it is a whole record.
fn print_to_end(followed: &mut Followed, printer: &mut Printer) -> anyhow::Result<Status> {
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
    Ok(Status::Done)
}
