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

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::guardian;
use super::process_table::{ProcessTable, Stat, holds_pipe, parse_children, stat};

static ADOPTING: AtomicBool = AtomicBool::new(false);

/// Held while an orphan is examined, so that no other thread waits for it and its number cannot
/// come to mean another process.
static EXAMINING: Mutex<()> = Mutex::new(());

/// How much of the list of children is read at once.
const LIST_BYTES: usize = 4096;

/// How often orphans are looked for again where some have just ended.
const LOOKS: u32 = 100;

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

/// The living orphans that belong to the call: those in its session, those that hold its pipes,
/// and those that no other running call can have made. Ended ones are waited for.
pub(super) fn of_call(claim: Claim<'_>, rivals: impl Fn() -> Vec<Rival>) -> ProcessTable {
    let mut is_wanted = owned(claim, rivals);
    // Where some have just ended, one may have started the next: it is looked for again.
    for _ in 0..LOOKS {
        let found = examine(&mut is_wanted, |_| {});
        if !found.wanted.is_empty() || !found.any_ended {
            return found.wanted;
        }
        std::thread::yield_now();
    }
    ProcessTable::new()
}

/// Kills the orphans that belong to the call as soon as each is seen: one that starts the next and
/// ends has to be hit in between. Returns whether there were any, living or ended.
pub(super) fn kill_of_call(claim: Claim<'_>, rivals: impl Fn() -> Vec<Rival>) -> bool {
    let found = examine(&mut owned(claim, rivals), kill);
    !found.wanted.is_empty() || found.any_ended
}

/// Kills all orphans, for our own exit.
pub(super) fn kill_all() {
    if rustix::process::getpid().is_init() {
        return;
    }
    for _ in 0..LOOKS {
        let found = examine(&mut |_, _| true, kill);
        if found.wanted.is_empty() && !found.any_ended {
            return;
        }
    }
}

/// Waits for the orphans that have ended, and for no others.
pub(super) fn reap() {
    examine(&mut |_, _| false, |_| {});
}

/// A number of a child that was not waited for means that child.
fn kill(pid: Pid) {
    let _ = kill_process(pid, Signal::KILL);
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
struct Found {
    wanted: ProcessTable,
    /// Some had ended, and were waited for.
    any_ended: bool,
}

/// Finds the living orphans that are wanted, and does something with each at once. Those that have
/// ended are waited for.
fn examine(is_wanted: &mut dyn FnMut(Pid, &Stat) -> bool, act: impl Fn(Pid)) -> Found {
    static OWN_SESSION: OnceLock<i32> = OnceLock::new();
    let mut found = Found::default();
    // After most calls there is none; then threads need not wait for each other.
    if !are_adopted() || orphan_numbers().is_empty() {
        return found;
    }
    let _examining = EXAMINING.lock().unwrap_or_else(PoisonError::into_inner);
    // In a separate container the leader of the session may have no number: then this is 0.
    let own_session = *OWN_SESSION.get_or_init(|| {
        let own = stat(rustix::process::getpid().as_raw_pid());
        own.map_or(0, |own| own.session)
    });
    for pid in orphan_numbers() {
        let (Some(stat), Some(raw)) = (stat(pid), Pid::from_raw(pid)) else {
            continue;
        };
        if stat.session == own_session {
            continue;
        }
        if stat.has_ended() {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
            let _ = waitid(WaitId::Pid(raw), options);
            found.any_ended = true;
        } else if is_wanted(raw, &stat) {
            act(raw);
            found.wanted.insert(pid, stat);
        }
    }
    found
}

/// The children of our first thread, to which orphans go, but for the guardian. Of very many only
/// the first: the kernel takes quadratic time for all of a long list that changes.
fn orphan_numbers() -> Vec<i32> {
    // Read after each call, so it stays open; each reading from its beginning asks the kernel anew.
    static LIST: OnceLock<Option<File>> = OnceLock::new();
    let list = LIST.get_or_init(|| {
        let own = rustix::process::getpid();
        File::open(format!("/proc/self/task/{own}/children")).ok()
    });
    let mut bytes = [0; LIST_BYTES];
    let length = list
        .as_ref()
        .and_then(|file| file.read_at(&mut bytes, 0).ok());
    let bytes = &bytes[..length.unwrap_or(0)];
    // Each number is followed by a blank; the last one may be cut.
    let whole = memchr::memrchr(b' ', bytes).map_or(0, |last| last + 1);
    let list = std::str::from_utf8(&bytes[..whole]).unwrap_or_default();
    let guardian = guardian::pid().map_or(0, Pid::as_raw_pid);
    parse_children(list)
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
