//! Lists and closes the descriptors that a command would inherit.

use std::fs;
use std::os::fd::{BorrowedFd, RawFd};
use std::path::PathBuf;

use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::io::{FdFlags, fcntl_getfd};

/// A descriptor that a command would inherit.
#[derive(Debug)]
pub struct InheritedDescriptor {
    /// The number of the descriptor.
    pub number: RawFd,
    /// The path of an open file, or the name of a pipe or socket.
    pub target: PathBuf,
    /// Whether it is a pipe, a socket, a character device or a regular file. Others, such as directories, give access
    /// to files that masks do not cover.
    pub is_stream: bool,
}

/// Returns the descriptors that a command would inherit; none without `/proc`.
pub fn inherited_descriptors() -> Vec<InheritedDescriptor> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        return Vec::new();
    };
    let links = entries.flatten().map(|entry| entry.path());
    let inherited = links.filter_map(|link| {
        let number: RawFd = link.file_name()?.to_str()?.parse().ok()?;
        // SAFETY: used for queries only, which fail if the descriptor has been closed.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        let is_inherited = !fcntl_getfd(descriptor).ok()?.contains(FdFlags::CLOEXEC);
        let facts = fstat(descriptor).ok()?;
        let is_path = fcntl_getfl(descriptor).ok()?.contains(OFlags::PATH);
        is_inherited.then(|| InheritedDescriptor {
            number,
            target: fs::read_link(&link).unwrap_or(link),
            is_stream: !is_path
                && matches!(
                    FileType::from_raw_mode(facts.st_mode),
                    FileType::Fifo
                        | FileType::Socket
                        | FileType::CharacterDevice
                        | FileType::RegularFile
                ),
        })
    });
    inherited.collect()
}

/// Closes all descriptors above 2 except the `kept` ones.
pub(super) fn close_all_but(kept: &[RawFd]) {
    let valid = kept.iter().filter_map(|number| u32::try_from(*number).ok());
    let mut numbers: Vec<u32> = valid.collect();
    numbers.sort_unstable();
    let mut first = 3;
    for number in numbers.into_iter().chain([u32::MAX]) {
        if number > first {
            // SAFETY: a system call on plain numbers. The descriptors came through `exec`, so no value in this
            // process owns one. A kernel without the call leaves them open, and they are closed at the next `exec`.
            unsafe { libc::syscall(libc::SYS_close_range, first, number - 1, 0) };
        }
        first = number.saturating_add(1);
    }
}
