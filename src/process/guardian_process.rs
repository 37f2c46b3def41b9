//! The guardian process: it waits until the process that it guards is gone, and ends the processes that are
//! left running.
//!
//! Sessions are in the shared table. Orphans the guardian finds itself while the guarded process lives, see
//! [`WATCH_INTERVAL`]; further ones are recognised by a variable in the environment of all children.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};

use super::guardian::{ARGUMENT, GuardedCall, calls};
use super::own_process::END_SIGNALS;
use super::process_table::{
    ProcessTable, has_variable, living_descendants, parse_children, read_table, signal_if, stat,
};

/// Interval at which the guardian looks for orphans while calls run. A process that is orphaned, leaves its
/// session and clears its environment within the last interval escapes.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// Interval at which the guardian checks whether calls run.
const IDLE_INTERVAL: Duration = Duration::from_millis(500);

/// Most rounds of killing, and the pause between them.
const MAX_ROUNDS: u32 = 500;
const ROUND_INTERVAL: Duration = Duration::from_millis(10);

/// Consecutive rounds without a process that end the work: a process that is forked while the table is read
/// may be missing in it.
const EMPTY_ROUNDS: u32 = 3;

/// Runs the guardian if this process was started as one, by its `arguments` (the program's name first).
/// Returns whether it was; the program must exit then.
pub fn run_as_guardian(arguments: &[OsString]) -> bool {
    match arguments {
        [_, first, mark, parent] if first == ARGUMENT => {
            let pid = parent.to_str().and_then(|pid| pid.parse().ok());
            if let Some(parent) = pid.and_then(Pid::from_raw) {
                guard(parent, mark);
            }
            true
        }
        _ => false,
    }
}

fn guard(parent: Pid, mark: &OsStr) {
    let _ = rustix::thread::set_name(c"turnpipe-guard");
    ignore_end_signals();
    let mut watch = Watch {
        parent,
        own_session: stat(parent.as_raw_pid()).map_or(0, |parent| parent.session),
        orphans: BTreeMap::new(),
    };
    let lifeline = io::stdin();
    let calls = loop {
        let calls = guarded_calls();
        let pause = if calls.is_empty() {
            IDLE_INTERVAL
        } else {
            watch.look();
            WATCH_INTERVAL
        };
        if is_closed(lifeline.as_fd(), pause) {
            break guarded_calls();
        }
    };
    // The kernel closes the descriptors of a process a moment before it reparents the children.
    for _ in 0..MAX_ROUNDS {
        if rustix::process::getppid() != Some(parent) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    watch.end(&calls, mark);
}

/// Ignores requests to end: they are meant for the guarded process, and the guardian ends after it.
fn ignore_end_signals() {
    for signal in END_SIGNALS {
        // SAFETY: installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Waits for at most `pause`. Returns whether the other end of the pipe is closed.
fn is_closed(lifeline: BorrowedFd<'_>, pause: Duration) -> bool {
    let mut set = [PollFd::from_borrowed_fd(lifeline, PollFlags::IN)];
    let pause = Timespec::try_from(pause).ok();
    matches!(poll(&mut set, pause.as_ref()), Ok(1..))
}

/// The calls in the table, which is the standard output of this process.
fn guarded_calls() -> Vec<GuardedCall> {
    let table = io::stdout().as_fd().try_clone_to_owned();
    table.map_or_else(|_| Vec::new(), |table| calls(&File::from(table)))
}

/// The guarded process as the guardian sees it.
struct Watch {
    parent: Pid,
    own_session: i32,
    /// Orphans that the guarded process adopted, with the time of their start.
    orphans: BTreeMap<i32, u64>,
}

impl Watch {
    fn look(&mut self) {
        let parent = self.parent;
        let list = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
        let own = rustix::process::getpid().as_raw_pid();
        self.orphans = parse_children(&list.unwrap_or_default())
            .filter(|child| *child != own)
            .filter_map(|child| Some((child, stat(child)?)))
            .filter(|(_, stat)| stat.session != self.own_session)
            .map(|(child, stat)| (child, stat.began))
            .collect();
    }

    /// Adds orphans of the guarded process: marked processes that have the same parent as the guardian now
    /// and started after the oldest call. The children of another turnpipe process have another parent.
    fn recognise(&mut self, table: &ProcessTable, mark: &OsStr, began: u64) {
        let heir = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
        for (pid, stat) in table {
            if stat.parent == heir && stat.began >= began && has_variable(*pid, mark) {
                self.orphans.insert(*pid, stat.began);
            }
        }
    }

    /// Ends all processes in the sessions of these calls, the orphans, and the descendants of both.
    fn end(&mut self, calls: &[GuardedCall], mark: &OsStr) {
        let began = calls.iter().map(|call| call.began).min();
        let leaders = calls.iter().map(|call| call.leader);
        let mut sessions: BTreeSet<i32> = leaders.filter(|leader| *leader > 0).collect();
        let mut rounds_without = 0;
        for _ in 0..MAX_ROUNDS {
            let table = read_table();
            // More processes may have been forked and orphaned in the last round.
            if let Some(began) = began {
                self.recognise(&table, mark, began);
            }
            let victims = self.victims(&table, &sessions);
            if victims.is_empty() {
                rounds_without += 1;
                if rounds_without == EMPTY_ROUNDS || calls.is_empty() {
                    return;
                }
            } else {
                rounds_without = 0;
            }
            for (pid, seen) in victims {
                if seen.session == pid {
                    sessions.insert(pid);
                }
                signal_if(pid, |now| now.began == seen.began, Signal::KILL);
            }
            std::thread::sleep(ROUND_INTERVAL);
        }
    }

    fn victims(&self, table: &ProcessTable, sessions: &BTreeSet<i32>) -> ProcessTable {
        let own = rustix::process::getpid().as_raw_pid();
        let mut victims = living_descendants(table, |pid, stat| {
            sessions.contains(&stat.session) || self.orphans.get(&pid) == Some(&stat.began)
        });
        victims.remove(&own);
        victims
    }
}

#[cfg(test)]
mod tests {
    use super::super::process_table::Stat;
    use super::*;

    fn table(rows: &[(i32, i32, i32, u64)]) -> ProcessTable {
        rows.iter()
            .map(|(pid, parent, session, began)| {
                let stat = Stat {
                    state: b'S',
                    parent: *parent,
                    group: *session,
                    session: *session,
                    began: *began,
                };
                (*pid, stat)
            })
            .collect()
    }

    #[test]
    fn sessions_orphans_and_their_descendants_are_found() {
        let watch = Watch {
            parent: Pid::INIT,
            own_session: 1,
            orphans: [(30, 7), (40, 7)].into(),
        };
        let table = table(&[
            (1, 0, 1, 0),
            // A session, a member without its parent, one that left it.
            (10, 1, 10, 5),
            (11, 1, 10, 5),
            (12, 11, 12, 5),
            (13, 12, 12, 5),
            // An orphan with a child; a process that got the number of another orphan.
            (30, 1, 30, 7),
            (31, 30, 30, 8),
            (40, 1, 40, 9),
            // Others.
            (50, 1, 50, 5),
            (51, 50, 50, 5),
        ]);
        let victims = watch.victims(&table, &[10].into());
        assert!(victims.into_keys().eq([10, 11, 12, 13, 30, 31]));
    }
}
