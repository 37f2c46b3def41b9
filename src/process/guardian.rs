//! The guardian: a small process of our own binary that ends the sessions of our children when
//! this process is killed and cannot do it itself.
//!
//! It holds the reading end of a pipe that is never written to; the end of that pipe is our end.
//! The sessions are in a table in shared memory, so that a call costs three stores and wakes no
//! process. Orphans it has to find itself while we live, see [`WATCH`]; those that it missed have a
//! variable in their environment that all children get.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};

use super::guardian_table::{GuardedCall, Table, calls};
use super::pipes::{ChildEnds, above_standard_streams};
use super::posix_spawn::spawn;
use super::process_table::{
    ProcessTable, has_variable, living_descendants, now, parse_children, read_table, signal_if,
    stat,
};
use super::signals::END_SIGNALS;
use super::start::{Start, c_string};

/// How often the guardian looks for orphans while calls run. What is orphaned, leaves its session
/// and drops its environment less than this before we are killed escapes it.
const WATCH: Duration = Duration::from_millis(100);

/// How often it looks whether calls run.
const IDLE: Duration = Duration::from_millis(500);

/// How long it tries to end what does not end.
const ROUNDS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// How often in a row nothing must be found: what is forked while the table is read may not be in
/// it.
const LAST_LOOKS: u32 = 3;

static PLAN: OnceLock<GuardianPlan> = OnceLock::new();
static GUARDIAN: OnceLock<Option<Guardian>> = OnceLock::new();

/// How this program becomes a guardian when it is started a second time.
#[derive(Debug, Clone, Copy)]
pub struct GuardianPlan {
    /// Its first argument; the program then must call [`guard`] with the others, and end.
    pub argument: &'static str,
    /// The variable that all children have in their environment, as `NAME=value`.
    pub mark: &'static str,
}

#[derive(Debug)]
struct Guardian {
    pid: Pid,
    table: Table,
    places: Mutex<Places>,
    /// Never written to.
    _lifeline: OwnedFd,
}

#[derive(Debug, Default)]
struct Places {
    free: Vec<usize>,
    used: usize,
}

/// A child's place in the table, given up when it is dropped.
#[derive(Debug)]
pub(super) struct Entry {
    place: usize,
}

/// Has this program started a second time as a guardian, before the first child.
pub fn plan_guardian(plan: GuardianPlan) {
    // The first plan counts.
    let _ = PLAN.set(plan);
}

/// The guardian's process, if there is one.
pub(super) fn pid() -> Option<Pid> {
    GUARDIAN.get()?.as_ref().map(|guardian| guardian.pid)
}

/// Enters a call whose child is about to be started. If a guardian is planned, it is started first;
/// calls run also if that fails.
pub(super) fn enter() -> Option<Entry> {
    let plan = PLAN.get()?;
    let guardian = GUARDIAN.get_or_init(|| Guardian::start(plan).ok());
    let guardian = guardian.as_ref()?;
    let place = {
        let mut places = guardian.places();
        places.free.pop().unwrap_or_else(|| {
            places.used += 1;
            places.used - 1
        })
    };
    guardian.table.set(place, 0, now().max(1));
    Some(Entry { place })
}

impl Entry {
    /// Enters the leader of its session.
    pub(super) fn started(&self, leader: Pid) {
        if let Some(Some(guardian)) = GUARDIAN.get() {
            guardian.table.set_leader(self.place, leader.as_raw_pid());
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(Some(guardian)) = GUARDIAN.get() {
            guardian.table.set(self.place, 0, 0);
            guardian.places().free.push(self.place);
        }
    }
}

impl Guardian {
    fn start(plan: &GuardianPlan) -> io::Result<Self> {
        let (theirs, lifeline) = io::pipe()?;
        let table = Table::new()?;
        let own = rustix::process::getpid().to_string();
        let arguments = ["turnpipe-guardian", plan.argument, plan.mark, &own];
        let start = Start {
            program: CString::from(c"/proc/self/exe"),
            arguments: arguments
                .map(|argument| c_string(OsStr::new(argument)))
                .into_iter()
                .collect::<io::Result<_>>()?,
            environment: Vec::new(),
            directory: CString::from(c"/"),
            ends: ChildEnds {
                stdin: Arc::new(above_standard_streams(theirs.into())?),
                stdout: table.descriptor()?,
                stderr: above_standard_streams(
                    File::options().write(true).open("/dev/null")?.into(),
                )?,
                report: None,
            },
        };
        Ok(Self {
            pid: spawn(&start)?,
            table,
            places: Mutex::default(),
            _lifeline: lifeline.into(),
        })
    }

    fn places(&self) -> std::sync::MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the guardian, in a process that was started as one, until the process that it guards is gone
/// and what that left running is ended. `arguments` are those after the one of its
/// [`GuardianPlan`].
pub fn guard(arguments: &[OsString]) {
    let [mark, parent] = arguments else { return };
    let Some(parent) = parent
        .to_str()
        .and_then(|pid| Pid::from_raw(pid.parse().ok()?))
    else {
        return;
    };
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
            IDLE
        } else {
            watch.look();
            WATCH
        };
        if is_over(lifeline.as_fd(), pause) {
            break guarded_calls();
        }
    };
    // Its descriptors are closed a moment before its children are given away.
    for _ in 0..ROUNDS {
        if rustix::process::getppid() != Some(parent) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    watch.end(&calls, mark);
}

/// What asks us to end is meant for the process that we guard; we end after it.
fn ignore_end_signals() {
    for signal in END_SIGNALS {
        // SAFETY: installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Waits; returns whether the other end is closed.
fn is_over(lifeline: BorrowedFd<'_>, pause: Duration) -> bool {
    let mut set = [PollFd::from_borrowed_fd(lifeline, PollFlags::IN)];
    let pause = Timespec::try_from(pause).ok();
    matches!(poll(&mut set, pause.as_ref()), Ok(1..))
}

/// The calls in the table, which is our standard output.
fn guarded_calls() -> Vec<GuardedCall> {
    let table = io::stdout().as_fd().try_clone_to_owned();
    table.map_or_else(|_| Vec::new(), |table| calls(&File::from(table)))
}

/// What the guardian has seen of the guarded process.
struct Watch {
    parent: Pid,
    own_session: i32,
    /// Orphans that the guarded process adopted, with the time when they began.
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

    /// Counts as orphans what has the same parent as we have now, is marked, and began after the
    /// oldest of the calls. What another process like the guarded one runs has that as its parent.
    fn recognise(&mut self, table: &ProcessTable, mark: &OsStr, began: u64) {
        let heir = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
        for (pid, stat) in table {
            if stat.parent == heir && stat.began >= began && has_variable(*pid, mark) {
                self.orphans.insert(*pid, stat.began);
            }
        }
    }

    /// Ends everything in the sessions of these calls, the orphans, and what all of these started.
    fn end(&mut self, calls: &[GuardedCall], mark: &OsStr) {
        let began = calls.iter().map(|call| call.began).min();
        let leaders = calls.iter().map(|call| call.leader);
        let mut sessions: BTreeSet<i32> = leaders.filter(|leader| *leader > 0).collect();
        let mut rounds_without = 0;
        for _ in 0..ROUNDS {
            let table = read_table();
            // Again in each round: more may have been forked and orphaned meanwhile.
            if let Some(began) = began {
                self.recognise(&table, mark, began);
            }
            let victims = self.victims(&table, &sessions);
            if victims.is_empty() {
                rounds_without += 1;
                if rounds_without == LAST_LOOKS || calls.is_empty() {
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
            std::thread::sleep(PAUSE);
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
