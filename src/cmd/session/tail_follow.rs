//! Follows session files and the files of their subagents, and prints their lines as they arrive.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cmd::UsageError;
use crate::cmd::session::printer::{self, DialogForm};
use crate::io::Io;
use crate::jsonl::WriteResult;
use crate::message::{Message, MessageMerger, SessionId};
use crate::records::{
    CursorSubtype, MessageContext, SessionCursorRecord, SessionSwitchRecord, SwitchReason,
    SwitchSubtype, VersionOnly,
};
use crate::session::{
    Agent, Follower, Format, MessageLines, Seen, WakeReason, Watch, open_safely, subagent_files,
};
use crate::text::terminal_safe_line;

/// Interval between two searches for newer sessions and new subagents.
const LOOK_AROUND: Duration = Duration::from_secs(1);

/// The conditions that end following.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FollowLimits {
    /// After this long without anything new.
    pub(crate) idle: Option<Duration>,
    /// After this long in any case.
    pub(crate) all: Option<Duration>,
}

/// The reason why following ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FollowEnd {
    /// Nothing was appended for too long.
    Idle,
    /// Time was up.
    TimeUp,
    /// The reader of the output is gone.
    ReaderIsGone,
}

/// A followed file, and the state of reading it.
pub(crate) struct Followed {
    pub(crate) follower: Follower,
    pub(crate) lines: Lines,
}

/// A session that is followed, with its subagents if they are wanted.
pub(crate) struct FollowedSession {
    pub(crate) file: Followed,
    pub(crate) subagents: Option<Subagents>,
}

/// The subagents of a session.
pub(crate) struct Subagents {
    session: PathBuf,
    agent: Agent,
    known: Vec<Followed>,
}

impl Subagents {
    /// Returns the subagents of the session in this file; their messages so far are skipped.
    pub(crate) fn of(session: &Path, agent: Agent) -> Self {
        let mut subagents = Self {
            session: session.to_owned(),
            agent,
            known: Vec::new(),
        };
        subagents.look(StartAt::End);
        subagents
    }

    /// Adds the files that are new.
    fn look(&mut self, start: StartAt) {
        for path in subagent_files(&self.session, self.agent) {
            let is_known = |followed: &Followed| followed.follower.path() == path;
            if self.known.iter().any(is_known) {
                continue;
            }
            let Ok(file) = open_safely(&path) else {
                continue;
            };
            let offset = match start {
                StartAt::Beginning => 0,
                StartAt::End => file.size,
            };
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let about = MessageContext {
                agent_id: Some(name.strip_prefix("agent-").unwrap_or(&name).to_owned()),
                ..MessageContext::default()
            };
            if let Ok(follower) = Follower::new(file, offset) {
                self.known.push(Followed {
                    follower,
                    lines: Lines::new(Some(self.agent.format()), about),
                });
            }
        }
    }
}

/// The offset at which following a file starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartAt {
    Beginning,
    End,
}

/// Prints what is appended until a limit is reached. `others` finds further sessions to follow.
///
/// # Errors
/// Reading or writing failed.
pub(crate) fn follow(
    session: FollowedSession,
    printer: &mut Printer,
    limits: FollowLimits,
    others: &mut dyn FnMut() -> Vec<FollowedSession>,
    io: &Io,
) -> anyhow::Result<FollowEnd> {
    let mut watch = Watch::folder_of(session.file.follower.path());
    let output = io.stdout_watch.as_ref().map(AsFd::as_fd);
    let begun = Instant::now();
    let (mut active, mut looked) = (begun, begun);
    let mut sessions = vec![session];
    // The session whose records were printed last.
    let mut current = 0;
    loop {
        let mut is_new = false;
        for place in 0..sessions.len() {
            if print_new(&mut sessions[place], place, &mut current, printer)? {
                is_new = true;
                if sessions.len() > 1 {
                    printer.caught_up(&sessions[place].file.follower)?;
                }
            }
        }
        if is_new {
            active = Instant::now();
        }
        let left = |limit: Option<Duration>, since: Instant| {
            limit.map_or(Duration::MAX, |limit| limit.saturating_sub(since.elapsed()))
        };
        let (idle, all) = (left(limits.idle, active), left(limits.all, begun));
        let follower = &sessions[current].file.follower;
        if idle.is_zero() || all.is_zero() {
            printer.end(follower)?;
            return Ok(if all.is_zero() {
                FollowEnd::TimeUp
            } else {
                FollowEnd::Idle
            });
        }
        if is_new {
            continue;
        }
        printer.caught_up(follower)?;
        if looked.elapsed() >= LOOK_AROUND {
            looked = Instant::now();
            let more = others();
            for folder in more
                .iter()
                .filter_map(|one| one.file.follower.path().parent())
            {
                watch.add(folder);
            }
            if !more.is_empty() {
                sessions.extend(more);
                continue;
            }
        }
        for FollowedSession { subagents, .. } in &mut sessions {
            if let Some(subagents) = subagents {
                subagents.look(StartAt::Beginning);
                // The session is named before its first record.
                if let Some(folder) = (subagents.agent.format().subagent_dir)(&subagents.session) {
                    watch.add(&folder);
                }
            }
        }
        if watch.wait(idle.min(all), output) == WakeReason::ReaderGone {
            return Ok(FollowEnd::ReaderIsGone);
        }
    }
}

/// Prints what is new in the files of a session, if there is anything.
fn print_new(
    session: &mut FollowedSession,
    place: usize,
    current: &mut usize,
    printer: &mut Printer,
) -> anyhow::Result<bool> {
    let mut is_new = false;
    let subagents = session.subagents.iter_mut().flat_map(|all| &mut all.known);
    for Followed { follower, lines } in std::iter::once(&mut session.file).chain(subagents) {
        let path = follower.path().to_owned();
        let seen = follower.look();
        let seen = seen.map_err(|error| UsageError::reason(error).about(path.display()))?;
        is_new |= seen != Seen::Nothing;
        if matches!(seen, Seen::Lines(_)) && std::mem::replace(current, place) != place {
            printer.switch(SwitchReason::Newer, &path)?;
        }
        match seen {
            Seen::Lines(new) => printer.lines(lines, &new, Joining::AtOnce)?,
            Seen::Switch(reason) => {
                lines.restart();
                *current = place;
                printer.switch(reason, &path)?;
            }
            Seen::Bytes | Seen::Nothing => {}
        }
    }
    Ok(is_new)
}

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
