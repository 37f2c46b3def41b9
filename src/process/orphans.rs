//! Orphans of our children. Once this process adopts them, whatever a call started and lost sight
//! of (`setsid`, a double fork) becomes a child of our first thread when its parent ends, instead
//! of one of the system's first process.
//!
//! Then it can be ended with its call, and it must be waited for, or it stays a zombie. Only such
//! orphans are touched here: children of the first thread that no call started and that left our
//! session. The children of calls are children of the threads that started them, never of the
//! first one; what other code of this process starts is in our session.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::escalation::Treatment;
use super::guardian;
use super::process_table::{ProcessTable, Stat, holds_pipe, parse_children, stat};

static ADOPTING: AtomicBool = AtomicBool::new(false);

/// Held while an orphan is examined, so that no other thread waits for it and its number cannot
/// come to mean another process.
static EXAMINING: Mutex<()> = Mutex::new(());

/// How much of the list of children is read at once: what the kernel gives at most.
const LIST_BYTES: usize = 4096;

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

/// Whether orphans come to us, and can be found.
pub(super) fn are_adopted() -> bool {
    ADOPTING.load(Ordering::Relaxed) && list().is_some()
}

/// Whose an orphan may be: what is known of the calls that run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim<'a> {
    /// The leader of the call that asks.
    pub(super) leader: Pid,
    /// When the call began, on the clock of the process table.
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

/// Finds the living orphans that belong to the call: those in its session, those that hold its
/// pipes, and those that no other running call can have made. Ended ones are waited for.
pub(super) fn of_call(
    claim: Claim<'_>,
    rivals: impl Fn() -> Vec<Rival>,
    treatment: Treatment,
) -> Found {
    examine(&mut owned(claim, rivals), treatment)
}

/// Kills all orphans, for our own exit, if they can be killed before the given moment.
pub(super) fn kill_all(until: Instant) {
    if rustix::process::getpid().is_init() {
        return;
    }
    while examine(&mut |_, _| true, Treatment::Killed).any() && Instant::now() < until {}
}

/// Waits for the orphans that have ended, and for no others. Returns whether there were any.
pub(super) fn reap() -> bool {
    examine(&mut |_, _| false, Treatment::Spared).any_ended
}

/// Whether an orphan belongs to the call. The others are asked for at the first orphan.
fn owned<'a>(
    claim: Claim<'a>,
    rivals: impl Fn() -> Vec<Rival> + 'a,
) -> impl FnMut(Pid, &Stat) -> bool + 'a {
    let mut known = None;
    move |pid, stat| belongs(pid, stat, claim, known.get_or_insert_with(&rivals))
}

fn belongs(orphan: Pid, stat: &Stat, claim: Claim<'_>, rivals: &[Rival]) -> bool {
    if stat.session == claim.leader.as_raw_pid() {
        return true;
    }
    let is_of_rival = rivals.iter().any(|rival| {
        let leads = rival
            .leader
            .is_some_and(|leader| leader.as_raw_pid() == stat.session);
        leads || rival.began <= stat.began
    });
    // The first process of a system or container inherits orphans from everywhere.
    let is_only_ours =
        !is_of_rival && claim.began <= stat.began && !rustix::process::getpid().is_init();
    is_only_ours || holds_pipe(orphan.as_raw_pid(), claim.pipes)
}

/// What was found among the orphans.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Those that live.
    pub(super) living: ProcessTable,
    /// Some had ended, and were waited for.
    any_ended: bool,
}

impl Found {
    /// Whether something may be left: one that has ended may have started the next.
    pub(super) fn any(&self) -> bool {
        self.any_ended || !self.living.is_empty()
    }
}

/// Finds the living orphans that are wanted. Those that have ended are waited for.
///
/// An orphan that is to be killed may start the next one and end while we find out whose it is. So
/// all are stopped first, and those of others continued. The number of a child that was not waited
/// for means that child.
fn examine(is_wanted: &mut dyn FnMut(Pid, &Stat) -> bool, treatment: Treatment) -> Found {
    let mut found = Found::default();
    // After most calls there is none; then threads need not wait for each other.
    if !are_adopted() || orphan_numbers().is_empty() {
        return found;
    }
    let _examining = EXAMINING.lock().unwrap_or_else(PoisonError::into_inner);
    // The first process of a container inherits orphans from everywhere.
    let stops = treatment == Treatment::Killed && !rustix::process::getpid().is_init();
    let send = |pid, signal| {
        let _ = kill_process(pid, signal);
    };
    let own_session = session(0);
    let mut living = Vec::new();
    // The newest stand last, and they are the ones that live.
    for number in orphan_numbers().into_iter().rev() {
        let Some(pid) = Pid::from_raw(number).filter(|_| session(number) != own_session) else {
            continue;
        };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        if !matches!(waitid(WaitId::Pid(pid), options), Ok(None)) {
            found.any_ended = true;
            continue;
        }
        if stops {
            send(pid, Signal::STOP);
        }
        living.push(pid);
    }
    for pid in living {
        let Some(stat) = stat(pid.as_raw_pid()) else {
            continue;
        };
        if stat.has_ended() {
            found.any_ended = true;
        } else if is_wanted(pid, &stat) {
            if treatment == Treatment::Killed {
                send(pid, Signal::KILL);
            }
            found.living.insert(pid.as_raw_pid(), stat);
        } else if stops {
            send(pid, Signal::CONT);
        }
    }
    found
}

/// The session of a child, or our own for 0. It is 0 if its leader is outside of our container.
fn session(process: i32) -> i32 {
    // SAFETY: takes a number and returns one.
    unsafe { libc::getsid(process) }
}

/// The kernel's list of the children of our first thread, if it has one. It is read after each call, so
/// it stays open; each reading from its beginning asks the kernel anew.
fn list() -> Option<&'static File> {
    static LIST: OnceLock<Option<File>> = OnceLock::new();
    let list = LIST.get_or_init(|| {
        let own = rustix::process::getpid();
        File::open(format!("/proc/self/task/{own}/children")).ok()
    });
    list.as_ref()
}

/// The children of our first thread, to which orphans go, but for the guardian.
fn orphan_numbers() -> Vec<i32> {
    let mut bytes = Vec::new();
    let mut page = [0; LIST_BYTES];
    while let Some(Ok(length @ 1..)) =
        list().map(|file| file.read_at(&mut page, bytes.len() as u64))
    {
        bytes.extend_from_slice(&page[..length]);
    }
    let guardian = guardian::pid().map_or(0, Pid::as_raw_pid);
    parse_children(std::str::from_utf8(&bytes).unwrap_or_default())
        .filter(|pid| *pid != guardian)
        .collect()
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
            // In its own session: no other process, one that came later, one that was there.
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
            let belongs = belongs(pid(i32::MAX), &stat, claim, rivals);
            assert_eq!(belongs, *expected, "{session} {began} {rivals:?}");
        }
    }
}
