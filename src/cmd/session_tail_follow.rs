//! Follows a session file, and the files of its subagents.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::UsageError;
use super::session_tail_printer::{Joining, Lines, Printer};
use crate::dialog::About;
use crate::io::Io;
use crate::session::{
    Agent, Follower, Seen, SessionFile, WakeReason, Watch, open_safely, subagent_files,
    subagent_folder,
};
use crate::wire::records::SwitchReason;

/// How often to look for newer sessions and new subagents.
const LOOK_AROUND: Duration = Duration::from_secs(1);

/// When following ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// After this long without anything new.
    pub(super) idle: Option<Duration>,
    /// After this long in any case.
    pub(super) all: Option<Duration>,
}

/// Why following ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// Nothing was appended for too long.
    Idle,
    /// Time was up.
    TimeUp,
    /// The reader of the output is gone.
    ReaderIsGone,
}

/// A file that is followed, and what was read of it.
pub(super) struct Followed {
    pub(super) follower: Follower,
    pub(super) lines: Lines,
}

/// The subagents of a session.
pub(super) struct Subagents {
    session: PathBuf,
    agent: Agent,
    known: Vec<Followed>,
}

impl Subagents {
    /// The subagents of the session in this file; what they said so far is skipped.
    pub(super) fn of(session: &Path, agent: Agent) -> Self {
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
            let about = About {
                agent_id: Some(name.strip_prefix("agent-").unwrap_or(&name).to_owned()),
                ..About::default()
            };
            self.known.push(Followed {
                follower: Follower::new(file, offset),
                lines: Lines::new(Some(self.agent.format()), about),
            });
        }
    }
}

/// Where following a file starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartAt {
    Beginning,
    End,
}

/// Prints what is appended until a limit is reached. `newer` finds the session to switch to,
/// if there is one.
///
/// # Errors
/// Reading or writing failed.
pub(super) fn follow(
    session: &mut Followed,
    mut subagents: Option<Subagents>,
    printer: &mut Printer,
    limits: Limits,
    newer: &mut dyn FnMut(&Path) -> Option<SessionFile>,
    io: &Io,
) -> anyhow::Result<Ended> {
    let mut watch = watch(session.follower.path(), subagents.as_ref());
    let output = io.stdout_watch.as_ref().map(AsFd::as_fd);
    let begun = Instant::now();
    let (mut active, mut looked) = (begun, begun);
    loop {
        let mut is_new = print_new(session, printer)?;
        for subagent in subagents.iter_mut().flat_map(|all| &mut all.known) {
            is_new |= print_new(subagent, printer)?;
        }
        if is_new {
            active = Instant::now();
            continue;
        }
        printer.caught_up(&session.follower)?;
        let left = |limit: Option<Duration>, since: Instant| {
            limit.map_or(Duration::MAX, |limit| limit.saturating_sub(since.elapsed()))
        };
        let (idle, all) = (left(limits.idle, active), left(limits.all, begun));
        if idle.is_zero() || all.is_zero() {
            printer.end(&session.follower)?;
            return Ok(if idle.is_zero() {
                Ended::Idle
            } else {
                Ended::TimeUp
            });
        }
        if looked.elapsed() >= LOOK_AROUND {
            looked = Instant::now();
            if let Some(file) = newer(session.follower.path()) {
                let path = file.path.clone();
                session.follower = Follower::new(file, 0);
                printer.switch(&mut session.lines, SwitchReason::Newer, &path)?;
                subagents = subagents.map(|of| Subagents::of(&path, of.agent));
                watch = self::watch(&path, subagents.as_ref());
                continue;
            }
        }
        if let Some(subagents) = &mut subagents {
            subagents.look(StartAt::Beginning);
            watch_folder(&mut watch, subagents);
        }
        if watch.wait(idle.min(all), output) == WakeReason::ReaderGone {
            return Ok(Ended::ReaderIsGone);
        }
    }
}

fn watch(path: &Path, subagents: Option<&Subagents>) -> Watch {
    let mut watch = Watch::folder_of(path);
    if let Some(subagents) = subagents {
        watch_folder(&mut watch, subagents);
    }
    watch
}

/// The folder of subagents appears with the first of them; until then the session's folder is
/// watched.
fn watch_folder(watch: &mut Watch, subagents: &Subagents) {
    if let Some(folder) = subagent_folder(&subagents.session, subagents.agent) {
        watch.add(&folder);
    }
}

/// Prints what is new in a file, if there is anything.
fn print_new(followed: &mut Followed, printer: &mut Printer) -> anyhow::Result<bool> {
    let path = followed.follower.path().to_owned();
    let seen = followed.follower.look();
    match seen.map_err(|error| UsageError::reason(error).about(path.display()))? {
        Seen::Lines(lines) => printer.lines(&mut followed.lines, &lines, Joining::AtOnce)?,
        Seen::Bytes => {}
        Seen::Switch(reason) => printer.switch(&mut followed.lines, reason, &path)?,
        Seen::Nothing => return Ok(false),
    }
    Ok(true)
}
