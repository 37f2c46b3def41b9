//! The guardian: a small process of this binary that kills the sessions of our children if this process is killed and
//! cannot do so itself. The first half of this file runs in the guarded process, the second half in the guardian.
//!
//! The guardian holds the reading end of a pipe, which is never written to and closes with this process.
//! The sessions are in a table in shared memory: this process writes it through a mapping, so that a call
//! costs three stores and no system call; the guardian reads it as a file.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memmap2::{MmapOptions, MmapRaw};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};

use super::command::{ChildEnds, raise_descriptor};
use super::own_process::END_SIGNALS;
use super::posix_spawn::spawn;
use super::start::{Start, c_string};
use turnpipe_core::io::Lock;
use turnpipe_core::process_table::{
    ProcessTable, clock_ticks, find_living_descendants, has_variable, parse_children, read_table,
    signal_if, stat,
};

/// First argument of a guardian process.
pub(super) const GUARDIAN_ARGUMENT: &str = "__guardian";

/// Size of an entry, in bytes: the process id of the leader (0 before it is started), four unused bytes, and the start
/// time of the call (0 if the entry is free).
const ENTRY_SIZE: usize = 16;

/// Offset of the start time in an entry, in bytes.
const START_OFFSET: usize = 8;

/// Maximum number of calls in the table. Further calls are not guarded.
const MAX_ENTRIES: usize = 4096;

/// Size of the table, in bytes.
const TABLE_SIZE: usize = MAX_ENTRIES * ENTRY_SIZE;

/// The guardian of this process.
#[derive(Debug)]
pub(super) struct Guardian {
    pid: Pid,
    table: CallTable,
    entries: Mutex<Entries>,
    /// The writing end of the pipe; never written to.
    _lifeline: OwnedFd,
}

/// The allocation of entries.
#[derive(Debug, Default)]
struct Entries {
    /// Numbers of entries that were removed.
    free: Vec<usize>,
    /// Number of entries that were ever used.
    used: usize,
}

impl Guardian {
    /// Starts this binary a second time as the guardian of this process.
    ///
    /// # Errors
    /// Memory, descriptors or processes are exhausted.
    pub(super) fn start(mark: &str) -> io::Result<Self> {
        let (theirs, lifeline) = io::pipe()?;
        let table = CallTable::new()?;
        let own = rustix::process::getpid().to_string();
        let words = ["turnpipe-guardian", GUARDIAN_ARGUMENT, mark, &own].into_iter();
        let arguments = words.map(|word| c_string(OsStr::new(word)));
        let start = Start {
            program: CString::from(c"/proc/self/exe"),
            arguments: arguments.collect::<io::Result<_>>()?,
            environment: Vec::new(),
            directory: CString::from(c"/"),
            ends: ChildEnds {
                stdin: Arc::new(raise_descriptor(theirs.into())?),
                stdout: table.descriptor()?,
                stderr: raise_descriptor(File::options().write(true).open("/dev/null")?.into())?,
                report: None,
            },
        };
        Ok(Self {
            pid: spawn(&start)?,
            table,
            entries: Mutex::default(),
            _lifeline: lifeline.into(),
        })
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Adds an entry for a call whose child is about to be started. Returns the number of the entry.
    pub(super) fn add_call(&self) -> usize {
        let entry = {
            let mut entries = self.entries.lock_anyway();
            entries.free.pop().unwrap_or_else(|| {
                entries.used += 1;
                entries.used - 1
            })
        };
        self.table.set_entry(entry, 0, clock_ticks().max(1));
        entry
    }

    /// Sets the leader of the session of a call.
    pub(super) fn set_leader(&self, entry: usize, leader: Pid) {
        self.table.set_leader(entry, leader.as_raw_pid());
    }

    /// Frees an entry.
    pub(super) fn remove_call(&self, entry: usize) {
        self.table.set_entry(entry, 0, 0);
        self.entries.lock_anyway().free.push(entry);
    }
}

/// The table of calls, as the guarded process writes it.
#[derive(Debug)]
struct CallTable {
    file: File,
    mapping: MmapRaw,
}

/// A call in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GuardedCall {
    /// The process id of the leader of its session; 0 while it is being started.
    pub(super) leader: i32,
    /// Start time, on the clock of the process table.
    pub(super) start_time: u64,
}

impl CallTable {
    /// Creates an empty table.
    ///
    /// # Errors
    /// Memory or descriptors are exhausted.
    fn new() -> io::Result<Self> {
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let memory = rustix::fs::memfd_create("turnpipe-sessions", flags)?;
        let file = File::from(raise_descriptor(memory)?);
        file.set_len(TABLE_SIZE as u64)?;
        let mapping = MmapOptions::new().len(TABLE_SIZE).map_raw(&file)?;
        Ok(Self { file, mapping })
    }

    fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    /// Fills an entry, or frees it with zeros.
    fn set_entry(&self, entry: usize, leader: i32, start_time: u64) {
        self.set_leader(entry, leader);
        if entry < MAX_ENTRIES {
            // SAFETY: the eight bytes lie inside the mapping, which lives as long as `self`, and are
            // aligned, since a mapping starts at a page boundary. They are only accessed atomically here; the
            // other process only reads them.
            let word = unsafe { AtomicU64::from_ptr(self.pointer(entry, START_OFFSET).cast()) };
            word.store(start_time, Ordering::Release);
        }
    }

    fn set_leader(&self, entry: usize, leader: i32) {
        if entry < MAX_ENTRIES {
            // SAFETY: as above, for the four bytes at the beginning of the entry.
            let word = unsafe { AtomicI32::from_ptr(self.pointer(entry, 0).cast()) };
            word.store(leader, Ordering::Release);
        }
    }

    /// Returns a pointer into an entry of the mapping. `offset` is in bytes.
    fn pointer(&self, entry: usize, offset: usize) -> *mut u8 {
        self.mapping
            .as_mut_ptr()
            .wrapping_add(entry * ENTRY_SIZE + offset)
    }
}

/// Reads the calls in the table in `file`; none if it cannot be read.
pub(super) fn read_calls(file: &File) -> Vec<GuardedCall> {
    let mut bytes = vec![0; TABLE_SIZE];
    if file.read_exact_at(&mut bytes, 0).is_err() {
        return Vec::new();
    }
    let (entries, _) = bytes.as_chunks::<ENTRY_SIZE>();
    entries
        .iter()
        .filter_map(|entry| {
            let (leader, rest) = entry.split_first_chunk::<4>()?;
            let start_time = rest.last_chunk::<8>()?;
            Some(GuardedCall {
                leader: i32::from_ne_bytes(*leader),
                start_time: u64::from_ne_bytes(*start_time),
            })
        })
        .filter(|call| call.start_time > 0)
        .collect()
}

/// Interval at which the guardian looks for orphans while calls run. A process that is orphaned, leaves its
/// session and clears its environment within the last interval escapes.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// Interval at which the guardian checks whether calls run.
const IDLE_INTERVAL: Duration = Duration::from_millis(500);

/// Maximum number of kill rounds.
const MAX_ROUNDS: u32 = 500;

/// Pause between kill rounds.
const ROUND_INTERVAL: Duration = Duration::from_millis(10);

/// Number of consecutive empty rounds after which the guardian exits. One is not enough, because a process
/// that is forked while the table is read may be missing from it.
const MIN_EMPTY_ROUNDS: u32 = 3;

/// Runs the guardian if `arguments`, which include the name of the program, say that this process is one. Returns
/// whether it is; the program must then exit.
pub fn run_as_guardian(arguments: &[OsString]) -> bool {
    match arguments {
        [_, first, mark, parent] if first == GUARDIAN_ARGUMENT => {
            let pid = parent.to_str().and_then(|pid| pid.parse().ok());
            if let Some(parent) = pid.and_then(Pid::from_raw) {
                guard(parent, mark);
            }
            true
        }
        _ => false,
    }
}

/// Watches the guarded process until it ends, and then kills its calls.
fn guard(parent: Pid, mark: &OsStr) {
    // The name only helps users who list processes.
    let _ = rustix::thread::set_name(c"turnpipe-guard");
    ignore_end_signals();
    let mut guarded = GuardedProcess {
        parent,
        own_session: stat(parent.as_raw_pid()).map_or(0, |parent| parent.session),
        orphans: BTreeMap::new(),
    };
    let lifeline = io::stdin();
    let calls = loop {
        let calls = read_guarded_calls();
        let pause = if calls.is_empty() {
            IDLE_INTERVAL
        } else {
            guarded.find_orphans();
            WATCH_INTERVAL
        };
        if wait_for_close(lifeline.as_fd(), pause) {
            break read_guarded_calls();
        }
    };
    // The kernel closes the descriptors of a process a moment before it reparents the children.
    for _ in 0..MAX_ROUNDS {
        if rustix::process::getppid() != Some(parent) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    guarded.kill_all(&calls, mark);
}

/// Ignores signals that request an exit: they are meant for the guarded process, and the guardian exits after it.
fn ignore_end_signals() {
    for signal in END_SIGNALS {
        // SAFETY: installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Waits for at most `pause`. Returns whether the other end of the pipe is closed.
fn wait_for_close(lifeline: BorrowedFd<'_>, pause: Duration) -> bool {
    let mut set = [PollFd::from_borrowed_fd(lifeline, PollFlags::IN)];
    let timeout = Timespec::try_from(pause).ok();
    matches!(poll(&mut set, timeout.as_ref()), Ok(1..))
}

/// Reads the calls in the table, which is the standard output of this process.
fn read_guarded_calls() -> Vec<GuardedCall> {
    let table = io::stdout().as_fd().try_clone_to_owned();
    table.map_or_else(|_| Vec::new(), |table| read_calls(&File::from(table)))
}

/// The guarded process, observed by the guardian.
struct GuardedProcess {
    parent: Pid,
    own_session: i32,
    /// Orphans that the guarded process adopted, by process id, with their start times.
    orphans: BTreeMap<i32, u64>,
}

impl GuardedProcess {
    /// Updates the orphans from the children of the guarded process.
    fn find_orphans(&mut self) {
        let parent = self.parent;
        let list = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
        let own = rustix::process::getpid().as_raw_pid();
        self.orphans = parse_children(&list.unwrap_or_default())
            .filter(|child| *child != own)
            .filter_map(|child| Some((child, stat(child)?)))
            .filter(|(_, stat)| stat.session != self.own_session)
            .map(|(child, stat)| (child, stat.start_time))
            .collect();
    }

    /// Adds the orphans that were reparented when the guarded process ended: marked processes that have the same parent
    /// as the guardian now and started after the oldest call. The children of another turnpipe process have another
    /// parent.
    fn add_reparented_orphans(&mut self, table: &ProcessTable, mark: &OsStr, start_time: u64) {
        let new_parent = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
        for (pid, stat) in table {
            let is_orphan = stat.parent == new_parent && stat.start_time >= start_time;
            if is_orphan && has_variable(*pid, mark) {
                self.orphans.insert(*pid, stat.start_time);
            }
        }
    }

    /// Kills all processes in the sessions of the calls, the orphans, and the descendants of both.
    fn kill_all(&mut self, calls: &[GuardedCall], mark: &OsStr) {
        let start_time = calls.iter().map(|call| call.start_time).min();
        let leaders = calls.iter().map(|call| call.leader);
        let mut sessions: BTreeSet<i32> = leaders.filter(|leader| *leader > 0).collect();
        let mut empty_rounds = 0;
        for _ in 0..MAX_ROUNDS {
            let table = read_table();
            // More processes may have been forked and orphaned in the last round.
            if let Some(start_time) = start_time {
                self.add_reparented_orphans(&table, mark, start_time);
            }
            let victims = self.find_victims(&table, &sessions);
            if victims.is_empty() {
                empty_rounds += 1;
                if empty_rounds == MIN_EMPTY_ROUNDS || calls.is_empty() {
                    return;
                }
            } else {
                empty_rounds = 0;
            }
            for (pid, seen) in victims {
                if seen.session == pid {
                    sessions.insert(pid);
                }
                signal_if(pid, |now| now.start_time == seen.start_time, Signal::KILL);
            }
            std::thread::sleep(ROUND_INTERVAL);
        }
    }

    /// Returns the living processes to kill.
    fn find_victims(&self, table: &ProcessTable, sessions: &BTreeSet<i32>) -> ProcessTable {
        let own = rustix::process::getpid().as_raw_pid();
        let mut victims = find_living_descendants(table, |pid, stat| {
            sessions.contains(&stat.session) || self.orphans.get(&pid) == Some(&stat.start_time)
        });
        victims.remove(&own);
        victims
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpipe_core::process_table::Stat;

    #[test]
    fn the_guardian_reads_the_entries() {
        let table = CallTable::new().unwrap();
        let seen = File::from(table.descriptor().unwrap());
        assert_eq!(read_calls(&seen), []);
        table.set_entry(0, 0, 7);
        table.set_entry(MAX_ENTRIES - 1, 12, 8);
        table.set_entry(MAX_ENTRIES, 13, 9);
        let call = |leader, start_time| GuardedCall { leader, start_time };
        assert_eq!(read_calls(&seen), [call(0, 7), call(12, 8)]);
        table.set_leader(0, 11);
        assert_eq!(read_calls(&seen), [call(11, 7), call(12, 8)]);
        table.set_entry(MAX_ENTRIES - 1, 0, 0);
        assert_eq!(read_calls(&seen), [call(11, 7)]);
    }

    fn table(rows: &[(i32, i32, i32, u64)]) -> ProcessTable {
        rows.iter()
            .map(|(pid, parent, session, start_time)| {
                let stat = Stat {
                    state: b'S',
                    parent: *parent,
                    group: *session,
                    session: *session,
                    start_time: *start_time,
                };
                (*pid, stat)
            })
            .collect()
    }

    #[test]
    fn sessions_orphans_and_their_descendants_are_found() {
        let guarded = GuardedProcess {
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
        let victims = guarded.find_victims(&table, &[10].into());
        assert!(victims.into_keys().eq([10, 11, 12, 13, 30, 31]));
    }
}
