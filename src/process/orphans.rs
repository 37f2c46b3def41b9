//! Orphans of our children. Once this process adopts them, whatever a call started and lost sight
//! of (`setsid`, a double fork) becomes a child of ours when its parent ends, instead of one of
//! the system's first process.
//!
//! Then it can be ended with its call, and it must be waited for, or it stays a zombie. Only such
//! orphans are touched here: children of the main thread that no call started and that left our
//! session. Our own children are children of the threads that started them, never of the main one;
//! what other code of this process starts is in our session.

use std::fs::File;
use std::io;
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, waitid};

use super::guardian;
use super::process_table::{HeldProcess, Stat, holds_pipe, parse_children, stat};

static ADOPTING: AtomicBool = AtomicBool::new(false);

/// Held while an orphan is looked at, so that nobody waits for it meanwhile and its number cannot
/// come to mean another process.
static LOOKING: Mutex<()> = Mutex::new(());

/// Lets this process adopt the orphans of its children from now on, so that they end with the calls
/// that made them. For a program whose children are all run by [`super::Spawners`], or stay in its
/// own session.
///
/// # Errors
/// The kernel does not let us.
pub fn adopt_orphans() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    ADOPTING.store(true, Ordering::Relaxed);
    Ok(())
}

/// Whether orphans come to us.
pub(super) fn are_adopted() -> bool {
    ADOPTING.load(Ordering::Relaxed)
}

/// Whose an orphan may be: what is known of the calls that run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim<'a> {
    /// The leader of the call that asks.
    pub(super) leader: Pid,
    /// When the call began, as [`now`].
    pub(super) began: u64,
    /// The pipes that it reads, by inode.
    pub(super) pipes: &'a [u64],
}

/// Another call that runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rival {
    /// `None` while it is being started.
    pub(super) leader: Option<Pid>,
    pub(super) began: u64,
}

/// The living orphans that belong to the call: those in its session, those that hold its pipes,
/// and those that no other running call can have made. Ended ones are waited for.
pub(super) fn of_call(claim: Claim<'_>, rivals: impl Fn() -> Vec<Rival>) -> Vec<HeldProcess> {
    let mut orphans = living();
    if orphans.is_empty() {
        return Vec::new();
    }
    let rivals = rivals();
    orphans.retain(|(process, stat)| belongs(process.pid, *stat, claim, &rivals));
    orphans.into_iter().map(|(process, _)| process).collect()
}

fn belongs(orphan: Pid, stat: Stat, claim: Claim<'_>, rivals: &[Rival]) -> bool {
    if stat.session == claim.leader.as_raw_pid() || holds_pipe(orphan, claim.pipes) {
        return true;
    }
    let is_of_rival = rivals.iter().any(|rival| {
        let leads = rival
            .leader
            .is_some_and(|leader| leader.as_raw_pid() == stat.session);
        leads || rival.began <= stat.began
    });
    // The first process of a system or container inherits orphans from everywhere.
    !is_of_rival && claim.began <= stat.began && !rustix::process::getpid().is_init()
}

/// Waits for the orphans that have ended, and for no others.
pub(super) fn reap() {
    if are_adopted() {
        living();
    }
}

/// Ends all orphans, for our own exit.
pub(super) fn kill_all() {
    if !are_adopted() || rustix::process::getpid().is_init() {
        return;
    }
    for (orphan, _) in living() {
        for process in orphan.descendants().iter().chain([&orphan]) {
            let _ = rustix::process::pidfd_send_signal(&process.descriptor, Signal::KILL);
        }
    }
}

/// The orphans that live, each held; those that have ended are waited for.
fn living() -> Vec<(HeldProcess, Stat)> {
    if !are_adopted() {
        return Vec::new();
    }
    // After most calls there is nothing to look at; then threads need not wait for each other.
    if !may_have_orphans() {
        return Vec::new();
    }
    let _looking = LOOKING.lock().unwrap_or_else(PoisonError::into_inner);
    let own = rustix::process::getpid();
    let Some(list) = children_of_first_thread() else {
        return Vec::new();
    };
    let mut pids = parse_children(&list).peekable();
    if pids.peek().is_none() {
        return Vec::new();
    }
    let own_session = stat(own.as_raw_pid()).map(|own| own.session);
    let mut living = Vec::new();
    for pid in pids.filter(|pid| guardian::pid() != Some(*pid)) {
        let Some(stat) = stat(pid.as_raw_pid()) else {
            continue;
        };
        if Some(stat.session) == own_session {
            continue;
        }
        if stat.has_ended() {
            let _ = waitid(
                WaitId::Pid(pid),
                WaitIdOptions::EXITED | WaitIdOptions::NOHANG,
            );
        } else if let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) {
            living.push((HeldProcess { pid, descriptor }, stat));
        }
    }
    living
}

/// Whether our first thread has any child but the guardian.
fn may_have_orphans() -> bool {
    let mut bytes = [0; 64];
    let Some(length) = children_file().and_then(|file| file.read_at(&mut bytes, 0).ok()) else {
        return false;
    };
    let list = std::str::from_utf8(&bytes[..length]).unwrap_or_default();
    length == bytes.len() || parse_children(list).any(|pid| guardian::pid() != Some(pid))
}

/// The list of the children of our first thread, to which orphans go. Looked at after each call, so
/// it stays open; each reading from its beginning asks the kernel anew.
fn children_file() -> Option<&'static File> {
    static LIST: OnceLock<Option<File>> = OnceLock::new();
    let open = || {
        let own = rustix::process::getpid();
        File::open(format!("/proc/self/task/{own}/children")).ok()
    };
    LIST.get_or_init(open).as_ref()
}

/// The children of our first thread.
fn children_of_first_thread() -> Option<String> {
    let mut file = children_file()?;
    let mut bytes = [0; 512];
    let length = file.read_at(&mut bytes, 0).ok()?;
    if length < bytes.len() {
        return Some(std::str::from_utf8(&bytes[..length]).ok()?.to_owned());
    }
    // The caller holds the lock, so nobody else moves the position.
    let mut list = String::new();
    file.rewind().ok()?;
    file.read_to_string(&mut list).ok()?;
    Some(list)
}

/// The present moment on the clock of [`Stat::began`].
pub(super) fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let ticks = rustix::param::clock_ticks_per_second();
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds * ticks + nanoseconds * ticks / 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pid(number: i32) -> Pid {
        Pid::from_raw(number).unwrap()
    }

    #[test]
    fn an_orphan_belongs_to_the_only_call_that_can_have_made_it() {
        let claim = Claim {
            leader: pid(100),
            began: 50,
            pipes: &[],
        };
        let rival = |leader, began| Rival { leader, began };
        let rows: &[(i32, u64, Vec<Rival>, bool)] = &[
            // In its session, whatever else runs.
            (100, 60, vec![rival(Some(pid(200)), 10)], true),
            // In the session of another.
            (200, 60, vec![rival(Some(pid(200)), 70)], false),
            // In a session of its own: nobody else, somebody who came later, somebody who was there.
            (300, 60, vec![], true),
            (300, 60, vec![rival(Some(pid(200)), 61)], true),
            (300, 60, vec![rival(Some(pid(200)), 60)], false),
            (300, 60, vec![rival(None, 55)], false),
            // Older than the call.
            (300, 49, vec![], false),
        ];
        for (session, began, rivals, expected) in rows {
            let stat = Stat {
                state: b'S',
                parent: 1,
                group: *session,
                session: *session,
                began: *began,
            };
            // No process has this number.
            let belongs = belongs(pid(i32::MAX), stat, claim, rivals);
            assert_eq!(belongs, *expected, "{session} {began} {rivals:?}");
        }
    }

    #[test]
    fn the_clock_is_that_of_the_process_table() {
        let own = stat(rustix::process::getpid().as_raw_pid()).unwrap();
        let now = now();
        // This test began a moment ago.
        assert!(
            own.began <= now && now - own.began < 100 * 3600,
            "{own:?} {now}"
        );
    }
}
