//! What the guardian knows of the calls that run: a table in memory that both processes share.
//!
//! The guarded process writes it through a mapping, without a system call; the guardian reads it as
//! a file.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};

use super::pipes::above_standard_streams;

/// Bytes of a place: the leader's process id (0 before it is started), four unused ones, and when
/// the call began (0 if the place is free).
const PLACE: usize = 16;
const BEGAN: usize = 8;

/// Calls that the table has room for. More at a time are not guarded.
const PLACES: usize = 4096;

/// The table, as the guarded process has it.
#[derive(Debug)]
pub(super) struct Table {
    file: File,
    mapping: MmapRaw,
}

/// A call in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GuardedCall {
    /// 0 while it is being started.
    pub(super) leader: i32,
    /// On the clock of the process table.
    pub(super) began: u64,
}

impl Table {
    /// An empty one.
    ///
    /// # Errors
    /// The system lacks memory or descriptors.
    pub(super) fn new() -> io::Result<Self> {
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let memory = rustix::fs::memfd_create("turnpipe-sessions", flags)?;
        let file = File::from(above_standard_streams(memory)?);
        file.set_len((PLACES * PLACE) as u64)?;
        let mapping = MmapOptions::new().len(PLACES * PLACE).map_raw(&file)?;
        Ok(Self { file, mapping })
    }

    /// A descriptor for the guardian.
    ///
    /// # Errors
    /// There is none left.
    pub(super) fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    /// Fills a place, or frees it with zeros.
    pub(super) fn set(&self, place: usize, leader: i32, began: u64) {
        self.set_leader(place, leader);
        if place < PLACES {
            // SAFETY: the eight bytes lie inside of the mapping, which lives as long as `self`, and
            // are aligned, since a mapping begins with a page. They are only accessed atomically
            // here; the other process only reads them.
            let word = unsafe { AtomicU64::from_ptr(self.at(place * PLACE + BEGAN).cast()) };
            word.store(began, Ordering::Release);
        }
    }

    /// Enters the leader of a call.
    pub(super) fn set_leader(&self, place: usize, leader: i32) {
        if place < PLACES {
            // SAFETY: as above, for the four bytes at the beginning of the place.
            let word = unsafe { AtomicI32::from_ptr(self.at(place * PLACE).cast()) };
            word.store(leader, Ordering::Release);
        }
    }

    fn at(&self, offset: usize) -> *mut u8 {
        self.mapping.as_mut_ptr().wrapping_add(offset)
    }
}

/// The calls in the table that `file` is.
pub(super) fn calls(file: &File) -> Vec<GuardedCall> {
    let mut bytes = vec![0; PLACES * PLACE];
    if file.read_exact_at(&mut bytes, 0).is_err() {
        return Vec::new();
    }
    let (places, _) = bytes.as_chunks::<PLACE>();
    places
        .iter()
        .filter_map(|place| {
            let (leader, rest) = place.split_first_chunk::<4>()?;
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
    fn the_other_process_sees_what_is_entered() {
        let table = Table::new().unwrap();
        let seen = File::from(table.descriptor().unwrap());
        assert_eq!(calls(&seen), []);
        table.set(0, 0, 7);
        table.set(PLACES - 1, 12, 8);
        table.set(PLACES, 13, 9);
        let call = |leader, began| GuardedCall { leader, began };
        assert_eq!(calls(&seen), [call(0, 7), call(12, 8)]);
        table.set_leader(0, 11);
        assert_eq!(calls(&seen), [call(11, 7), call(12, 8)]);
        table.set(PLACES - 1, 0, 0);
        assert_eq!(calls(&seen), [call(11, 7)]);
    }
}
