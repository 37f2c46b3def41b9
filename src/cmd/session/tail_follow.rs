//! Follows session files, and the files of their subagents.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cmd::UsageError;
use crate::cmd::session::tail_printer::{Joining, Lines, Printer};
use crate::io::Io;
use crate::records::{MessageContext, SwitchReason};
use crate::session::{Agent, Follower, Seen, WakeReason, Watch, open_safely, subagent_files};

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
