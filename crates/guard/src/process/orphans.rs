//! Orphans of our children. If this process adopts them, a process whose parent ends (`setsid`, a double fork) becomes
//! a child of our first thread instead of the first process of the system.
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
    is_adopter: AtomicBool,
    /// Locked while orphans are examined, so that no other thread waits for one and frees its process id for reuse.
    examination_lock: Mutex<()>,
    /// The list of the children of the first thread; `None` if the kernel has no such list. It stays open, since it is
    /// read after each call.
    list: OnceLock<Option<File>>,
}

/// The properties of a call that identify its orphans.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallIdentity<'a> {
    pub(super) leader: Pid,
    /// The start of the call, on the clock of the process table.
    pub(super) start_time: u64,
    /// The pipes that the call reads, by inode.
    pub(super) pipes: &'a [u64],
}

/// Another running call.
#[derive(Debug, Clone, Copy)]
pub(super) struct OtherCall {
    /// The leader of its session; `None` while it is being started.
    pub(super) leader: Option<Pid>,
    pub(super) start_time: u64,
}

/// The orphans of a call.
#[derive(Debug, Default)]
pub(super) struct FoundOrphans {
    pub(super) living: ProcessTable,
    /// Whether ended orphans were waited for.
    any_ended: bool,
}

impl FoundOrphans {
    /// Whether an orphan may remain: an ended one may have started another.
    pub(super) fn may_remain(&self) -> bool {
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
        self.is_adopter.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether orphans are adopted and can be listed.
    pub(super) fn is_adopting(&self) -> bool {
        self.is_adopter.load(Ordering::Relaxed) && self.open_list().is_some()
    }

    /// Finds the living orphans of a call: those in its session, those that hold its pipes, and those that no other
    /// running call can have started. Ended orphans are waited for. `except` is a child that is not an orphan.
    pub(super) fn find_of_call(
        &self,
        call: CallIdentity<'_>,
        other_calls: impl Fn() -> Vec<OtherCall>,
        action: OrphanAction,
        except: Option<Pid>,
    ) -> FoundOrphans {
        // Other calls are looked up for the first orphan only.
        let mut known = None;
        let mut is_owned =
            |pid, stat: &Stat| is_of_call(pid, stat, call, known.get_or_insert_with(&other_calls));
        self.examine(&mut is_owned, action, except)
    }

    /// Kills all orphans until none is left, or until the given moment.
    pub(super) fn kill_all(&self, until: Instant, except: Option<Pid>) {
        if rustix::process::getpid().is_init() {
            return;
        }
        let kill = || self.examine(&mut |_, _| true, OrphanAction::Kill, except);
        while kill().may_remain() && Instant::now() < until {}
    }

    /// Waits for the orphans that have ended. Returns whether there were any.
    pub(super) fn reap(&self, except: Option<Pid>) -> bool {
        let found = self.examine(&mut |_, _| false, OrphanAction::Keep, except);
        found.any_ended
    }

    /// Finds the living orphans that satisfy `is_wanted`. Ended orphans are waited for.
    ///
    /// An orphan that is to be killed may start another one and end before its call is known. So all orphans are
    /// stopped first, and orphans of other calls are continued. The process id of a child that was not waited for is
    /// not reused.
    fn examine(
        &self,
        is_wanted: &mut dyn FnMut(Pid, &Stat) -> bool,
        action: OrphanAction,
        except: Option<Pid>,
    ) -> FoundOrphans {
        let mut found = FoundOrphans::default();
        // After most calls there are no orphans, and threads need not wait for each other.
        if !self.is_adopting() || self.list_children(except).is_empty() {
            return found;
        }
        let _examining = self.examination_lock.lock_anyway();
        // The first process of a container inherits orphans that no call started.
        let stops = action == OrphanAction::Kill && !rustix::process::getpid().is_init();
        let send = |pid, signal| {
            // The orphan may have ended.
            let _ = kill_process(pid, signal);
        };
        let own_session = session(0);
        let mut living = Vec::new();
        // The newest ones, which are most likely to be alive, are last in the list.
        for number in self.list_children(except).into_iter().rev() {
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

    /// Returns the list of children. Each read from its start gets the current list.
    fn open_list(&self) -> Option<&File> {
        let list = self.list.get_or_init(|| {
            let own = rustix::process::getpid();
            File::open(format!("/proc/self/task/{own}/children")).ok()
        });
        list.as_ref()
    }

    /// Returns the process ids of the children of the first thread, which include the orphans.
    fn list_children(&self, except: Option<Pid>) -> Vec<i32> {
        let mut bytes = Vec::new();
        let mut page = [0; LIST_BYTES];
        while let Some(Ok(length @ 1..)) = self
            .open_list()
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

/// Whether an orphan belongs to a call.
fn is_of_call(orphan: Pid, stat: &Stat, call: CallIdentity<'_>, others: &[OtherCall]) -> bool {
    if stat.session == call.leader.as_raw_pid() {
        return true;
    }
    let may_be_of_other = others.iter().any(|other| {
        let leads = |leader: Pid| leader.as_raw_pid() == stat.session;
        other.leader.is_some_and(leads) || other.start_time <= stat.start_time
    });
    // The first process of a system or container inherits orphans that no call started.
    let is_newer = call.start_time <= stat.start_time;
    let is_only_ours = !may_be_of_other && is_newer && !rustix::process::getpid().is_init();
    is_only_ours || has_open_pipe(orphan.as_raw_pid(), call.pipes)
}

/// Returns the session of a process; our own for 0. A session whose leader is outside our container is 0.
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
        let call = CallIdentity {
            leader: pid(100),
            start_time: 50,
            pipes: &[],
        };
        let other_call = |leader, start_time| OtherCall { leader, start_time };
        let rows: &[(i32, u64, Vec<OtherCall>, bool)] = &[
            // In its session.
            (100, 60, vec![other_call(Some(pid(200)), 10)], true),
            // In the session of another.
            (200, 60, vec![other_call(Some(pid(200)), 70)], false),
            // In its own session: with no other call, a later call, an earlier call.
            (300, 60, vec![], true),
            (300, 60, vec![other_call(Some(pid(200)), 61)], true),
            (300, 60, vec![other_call(Some(pid(200)), 60)], false),
            (300, 60, vec![other_call(None, 55)], false),
            // Older than the call.
            (300, 49, vec![], false),
        ];
        for (session, start_time, other_calls, expected) in rows {
            let stat = Stat {
                state: b'S',
                parent: 1,
                group: *session,
                session: *session,
                start_time: *start_time,
            };
            // No process has this number.
            let is_of_call = is_of_call(pid(i32::MAX), &stat, call, other_calls);
            assert_eq!(
                is_of_call, *expected,
                "{session} {start_time} {other_calls:?}"
            );
        }
    }
}
