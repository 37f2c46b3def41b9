//! The guardian: a small process of this binary that ends the sessions of our children if this process is
//! killed and cannot do so itself. This file is the side of the guarded process; see `guardian_process` for
//! the other one.
//!
//! The guardian holds the reading end of a pipe that is never written to and that closes with this process.
//! The sessions are in a table in shared memory: this process writes it through a mapping, so that a call
//! costs three stores and no system call; the guardian reads it as a file.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memmap2::{MmapOptions, MmapRaw};
use rustix::process::Pid;

use super::pipes::{ChildEnds, above_standard_streams};
use super::posix_spawn::spawn;
use super::process_table::now;
use super::start::{Start, c_string};

/// First argument of a guardian process.
pub(super) const ARGUMENT: &str = "__guardian";

/// Size of an entry in bytes: the leader's process id (0 before it is started), four unused bytes, and the
/// start of the call (0 if the entry is free).
const ENTRY: usize = 16;
const BEGAN: usize = 8;

/// Most calls in the table. Further calls are not guarded.
const MAX_ENTRIES: usize = 4096;

/// The guardian of this process.
#[derive(Debug)]
pub(super) struct Guardian {
    pid: Pid,
    table: Table,
    entries: Mutex<Entries>,
    /// The writing end of the pipe; never written to.
    _lifeline: OwnedFd,
}

#[derive(Debug, Default)]
struct Entries {
    free: Vec<usize>,
    used: usize,
}

impl Guardian {
    /// Starts this binary a second time as the guardian of this process.
    ///
    /// # Errors
    /// The system lacks memory, descriptors or processes.
    pub(super) fn start(mark: &str) -> io::Result<Self> {
        let (theirs, lifeline) = io::pipe()?;
        let table = Table::new()?;
        let own = rustix::process::getpid().to_string();
        let arguments = ["turnpipe-guardian", ARGUMENT, mark, &own];
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
            entries: Mutex::default(),
            _lifeline: lifeline.into(),
        })
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Enters a call whose child is about to be started. Returns its entry.
    pub(super) fn enter(&self) -> usize {
        let entry = {
            let mut entries = self.entries();
            entries.free.pop().unwrap_or_else(|| {
                entries.used += 1;
                entries.used - 1
            })
        };
        self.table.set(entry, 0, now().max(1));
        entry
    }

    /// Sets the leader of the session of a call.
    pub(super) fn set_leader(&self, entry: usize, leader: Pid) {
        self.table.set_leader(entry, leader.as_raw_pid());
    }

    /// Frees an entry.
    pub(super) fn leave(&self, entry: usize) {
        self.table.set(entry, 0, 0);
        self.entries().free.push(entry);
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The table as the guarded process has it.
#[derive(Debug)]
struct Table {
    file: File,
    mapping: MmapRaw,
}

/// A call in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GuardedCall {
    /// The leader of its session; 0 while it is being started.
    pub(super) leader: i32,
    /// On the clock of the process table.
    pub(super) began: u64,
}

impl Table {
    /// An empty table.
    ///
    /// # Errors
    /// The system lacks memory or descriptors.
    fn new() -> io::Result<Self> {
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let memory = rustix::fs::memfd_create("turnpipe-sessions", flags)?;
        let file = File::from(above_standard_streams(memory)?);
        file.set_len((MAX_ENTRIES * ENTRY) as u64)?;
        let mapping = MmapOptions::new().len(MAX_ENTRIES * ENTRY).map_raw(&file)?;
        Ok(Self { file, mapping })
    }

    /// A descriptor for the guardian.
    fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    /// Fills an entry, or frees it with zeros.
    fn set(&self, entry: usize, leader: i32, began: u64) {
        self.set_leader(entry, leader);
        if entry < MAX_ENTRIES {
            // SAFETY: the eight bytes lie inside the mapping, which lives as long as `self`, and are
            // aligned, since a mapping starts at a page boundary. They are only accessed atomically here; the
            // other process only reads them.
            let word = unsafe { AtomicU64::from_ptr(self.at(entry * ENTRY + BEGAN).cast()) };
            word.store(began, Ordering::Release);
        }
    }

    fn set_leader(&self, entry: usize, leader: i32) {
        if entry < MAX_ENTRIES {
            // SAFETY: as above, for the four bytes at the beginning of the entry.
            let word = unsafe { AtomicI32::from_ptr(self.at(entry * ENTRY).cast()) };
            word.store(leader, Ordering::Release);
        }
    }

    fn at(&self, offset: usize) -> *mut u8 {
        self.mapping.as_mut_ptr().wrapping_add(offset)
    }
}

/// The calls in the table in `file`.
pub(super) fn calls(file: &File) -> Vec<GuardedCall> {
    let mut bytes = vec![0; MAX_ENTRIES * ENTRY];
    if file.read_exact_at(&mut bytes, 0).is_err() {
        return Vec::new();
    }
    let (entries, _) = bytes.as_chunks::<ENTRY>();
    entries
        .iter()
        .filter_map(|entry| {
            let (leader, rest) = entry.split_first_chunk::<4>()?;
            let began = rest.last_chunk::<8>()?;
            Some(GuardedCall {
                leader: i32::from_ne_bytes(*leader),
                began: u64::from_ne_bytes(*began),
            })
        })
        .filter(|call| call.began > 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guardian_reads_the_entries() {
        let table = Table::new().unwrap();
        let seen = File::from(table.descriptor().unwrap());
        assert_eq!(calls(&seen), []);
        table.set(0, 0, 7);
        table.set(MAX_ENTRIES - 1, 12, 8);
        table.set(MAX_ENTRIES, 13, 9);
        let call = |leader, began| GuardedCall { leader, began };
        assert_eq!(calls(&seen), [call(0, 7), call(12, 8)]);
        table.set_leader(0, 11);
        assert_eq!(calls(&seen), [call(11, 7), call(12, 8)]);
        table.set(MAX_ENTRIES - 1, 0, 0);
        assert_eq!(calls(&seen), [call(11, 7)]);
    }
}
