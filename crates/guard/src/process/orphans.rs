//! Orphans of our children. If this process adopts them, a process whose parent ends (`setsid`, a double
//! fork) becomes a child of our first thread instead of the system's first process.
//!
//! It can then be ended with its call, and must be waited for, or it stays a zombie. Only orphans are
//! touched here: children of the first thread that left our session. Children of calls are never children
//! of the first thread, since other threads start them; children that other code of this process starts stay
//! in our session.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::escalation::OrphanAction;
use turnpipe_core::io::Lock;
use turnpipe_core::process_table::{ProcessTable, Stat, has_open_pipe, parse_children, stat};

/// Maximum size of the list of children that the kernel returns at once, in bytes.
const LIST_BYTES: usize = 4096;

/// The orphans of this process.
#[derive(Debug, Default)]
pub(super) struct Orphans {
    adopting: AtomicBool,
    /// Locked while orphans are examined, so that no other thread waits for one and frees its number for
    /// reuse.
    examining: Mutex<()>,
    /// The kernel's list of the children of the first thread; `None` if it has no such list. It stays open,
    /// since it is read after each call.
    list: OnceLock<Option<File>>,
}

/// The facts about a call that identify its orphans.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim<'a> {
    pub(super) leader: Pid,
    /// The start of the call, on the clock of the process table.
    pub(super) start_time: u64,
    /// The pipes that the call reads, by inode.
    pub(super) pipes: &'a [u64],
}

/// Another running call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rival {
    /// `None` while it is being started.
    pub(super) leader: Option<Pid>,
    pub(super) start_time: u64,
}

/// The orphans of a call.
#[derive(Debug, Default)]
pub(super) struct FoundOrphans {
    pub(super) living: ProcessTable,
    /// Whether some had ended and were waited for.
    any_ended: bool,
}

impl FoundOrphans {
    /// Whether an orphan may be left: an ended one may have started another.
    pub(super) fn any(&self) -> bool {
        self.any_ended || !self.living.is_empty()
    }
}

impl Orphans {
    /// Adopts the orphans of our children from now on.
    ///
    /// # Errors
    /// The kernel does not allow it.
    pub(super) fn adopt(&self) -> io::Result<()> {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        self.adopting.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether orphans are adopted and can be listed.
    pub(super) fn are_adopted(&self) -> bool {
        self.adopting.load(Ordering::Relaxed) && self.list().is_some()
    }

    /// Finds the living orphans of a call: orphans in its session, orphans that hold its pipes, and orphans that
    /// no other running call can have made. Ended ones are waited for. `except` is a child that is not an
    /// orphan.
    pub(super) fn of_call(
        &self,
        claim: Claim<'_>,
        rivals: impl Fn() -> Vec<Rival>,
        action: OrphanAction,
        except: Option<Pid>,
    ) -> FoundOrphans {
        // Rivals are looked up for the first orphan only.
        let mut known = None;
        let mut is_owned =
            |pid, stat: &Stat| belongs(pid, stat, claim, known.get_or_insert_with(&rivals));
        self.examine(&mut is_owned, action, except)
    }

    /// Kills all orphans until none is left, or until the given moment.
    pub(super) fn kill_all(&self, until: Instant, except: Option<Pid>) {
        if rustix::process::getpid().is_init() {
            return;
        }
        let kill = || self.examine(&mut |_, _| true, OrphanAction::Kill, except);
        while kill().any() && Instant::now() < until {}
    }

    /// Waits for the orphans that have ended. Returns whether there were any.
    pub(super) fn reap(&self, except: Option<Pid>) -> bool {
        let found = self.examine(&mut |_, _| false, OrphanAction::Keep, except);
        found.any_ended
    }

    /// Finds the living orphans that are wanted. Ended ones are waited for.
    ///
    /// An orphan that is to be killed may start another one and end before its owner is known. So all
    /// orphans are stopped first, and orphans of other calls are continued. The number of a child that was not
    /// waited for is not reused.
    fn examine(
        &self,
        is_wanted: &mut dyn FnMut(Pid, &Stat) -> bool,
        action: OrphanAction,
        except: Option<Pid>,
    ) -> FoundOrphans {
        let mut found = FoundOrphans::default();
        // After most calls there is none, and threads need not wait for each other.
        if !self.are_adopted() || self.numbers(except).is_empty() {
            return found;
        }
        let _examining = self.examining.lock_anyway();
        // The first process of a container inherits orphans that no call made.
        let stops = action == OrphanAction::Kill && !rustix::process::getpid().is_init();
        let send = |pid, signal| {
            // It may have ended.
            let _ = kill_process(pid, signal);
        };
        let own_session = session(0);
        let mut living = Vec::new();
        // The newest ones, which are most likely to be alive, are last in the list.
        for number in self.numbers(except).into_iter().rev() {
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
                if action == OrphanAction::Kill {
                    send(pid, Signal::KILL);
                }
                found.living.insert(pid.as_raw_pid(), stat);
            } else if stops {
                send(pid, Signal::CONT);
            }
        }
        found
    }

    /// Returns the list of children. Each read from its beginning gets the current list.
    fn list(&self) -> Option<&File> {
        let list = self.list.get_or_init(|| {
            let own = rustix::process::getpid();
            File::open(format!("/proc/self/task/{own}/children")).ok()
        });
        list.as_ref()
    }

    /// Returns the children of the first thread, orphans among them.
    fn numbers(&self, except: Option<Pid>) -> Vec<i32> {
        let mut bytes = Vec::new();
        let mut page = [0; LIST_BYTES];
        while let Some(Ok(length @ 1..)) = self
            .list()
            .map(|file| file.read_at(&mut page, bytes.len() as u64))
        {
            bytes.extend_from_slice(&page[..length]);
        }
        let except = except.map_or(0, Pid::as_raw_pid);
        parse_children(std::str::from_utf8(&bytes).unwrap_or_default())
            .filter(|pid| *pid != except)
            .collect()
    }
}

/// Whether an orphan belongs to the call with this claim.
fn belongs(orphan: Pid, stat: &Stat, claim: Claim<'_>, rivals: &[Rival]) -> bool {
    if stat.session == claim.leader.as_raw_pid() {
        return true;
    }
    let is_of_rival = rivals.iter().any(|rival| {
        let leads = rival
            .leader
            .is_some_and(|leader| leader.as_raw_pid() == stat.session);
        leads || rival.start_time <= stat.start_time
    });
    // The first process of a system or container inherits orphans that no call made.
    let is_only_ours =
        !is_of_rival && claim.start_time <= stat.start_time && !rustix::process::getpid().is_init();
    is_only_ours || has_open_pipe(orphan.as_raw_pid(), claim.pipes)
}

/// Returns the session of a process, or our own for 0. Returns 0 if its leader is outside our container.
fn session(process: i32) -> i32 {
    // SAFETY: takes a number and returns one.
    unsafe { libc::getsid(process) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pid(number: i32) -> Pid {
        Pid::from_raw(number).unwrap()
    }

    #[test]
    fn an_orphan_belongs_to_the_only_call_that_can_have_started_it() {
        let claim = Claim {
            leader: pid(100),
            start_time: 50,
            pipes: &[],
        };
        let rival = |leader, start_time| Rival { leader, start_time };
        let rows: &[(i32, u64, Vec<Rival>, bool)] = &[
            // In its session.
            (100, 60, vec![rival(Some(pid(200)), 10)], true),
            // In the session of another.
            (200, 60, vec![rival(Some(pid(200)), 70)], false),
            // In its own session: with no other call, a later call, an earlier call.
            (300, 60, vec![], true),
            (300, 60, vec![rival(Some(pid(200)), 61)], true),
            (300, 60, vec![rival(Some(pid(200)), 60)], false),
            (300, 60, vec![rival(None, 55)], false),
            // Older than the call.
            (300, 49, vec![], false),
        ];
        for (session, start_time, rivals, expected) in rows {
            let stat = Stat {
                state: b'S',
                parent: 1,
                group: *session,
                session: *session,
                start_time: *start_time,
            };
            // No process has this number.
            let belongs = belongs(pid(i32::MAX), &stat, claim, rivals);
            assert_eq!(belongs, *expected, "{session} {start_time} {rivals:?}");
        }
    }
}
