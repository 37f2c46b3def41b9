//! A write that is done whole even if this process is killed meanwhile.
//!
//! A process that is killed inside of `write` leaves the pages behind that were copied so far. So a
//! child does the write: it is in its own session and takes no signals, and what kills us, by
//! id, by group or from the keyboard, does not reach it. What ends every process of a container or
//! the machine still tears it. What the bytes mean is not this file's business.

use std::io::{self, PipeReader};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, waitpid};

/// Bytes of a child's report: what `write` returned, or the negated error number.
const REPORT: usize = size_of::<i64>();

/// Writes with one system call in a child; returns how many bytes were written. The caller keeps
/// its descriptor, and locks on it last until both are done. Where no child can be started, this
/// process writes itself.
///
/// # Errors
/// As the system reports for the write, or that the child was killed: what was written is unknown
/// then.
pub fn write_detached(file: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let (reading, writing) = io::pipe()?;
    let previous = SignalMask::block_all()?;
    // SAFETY: the child only makes system calls that are safe after a fork of a process with
    // threads, on memory that it owns a copy of, and ends without returning.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above; the descriptors are open in the child too.
        unsafe { write_and_end(file.as_raw_fd(), bytes, writing.as_raw_fd()) }
    }
    drop(previous);
    if child < 0 {
        return Ok(rustix::io::write(file, bytes)?);
    }
    drop(writing);
    let report = read_report(&reading);
    reap(child);
    match report? {
        None => Err(io::Error::other("the process that wrote was killed")),
        Some(count) => usize::try_from(count).map_err(|_| {
            let number = i32::try_from(-count).unwrap_or(libc::EIO);
            io::Error::from_raw_os_error(number)
        }),
    }
}

/// What the child does.
///
/// # Safety
/// Only for a child that was just forked; both descriptors must be open.
unsafe fn write_and_end(file: i32, bytes: &[u8], report_to: i32) -> ! {
    // SAFETY: plain system calls; `bytes` is valid for its length, `report` for its own.
    unsafe {
        libc::setsid();
        let written = libc::write(file, bytes.as_ptr().cast(), bytes.len());
        let report = if written < 0 {
            let error = io::Error::last_os_error();
            -i64::from(error.raw_os_error().unwrap_or(libc::EIO))
        } else {
            written as i64
        };
        let report = report.to_ne_bytes();
        libc::write(report_to, report.as_ptr().cast(), report.len());
        libc::_exit(0)
    }
}

/// The child's report; `None` if it ended without one.
fn read_report(from: &PipeReader) -> io::Result<Option<i64>> {
    let mut report = [0; REPORT];
    // A pipe passes so few bytes on in one piece.
    loop {
        match rustix::io::read(from, &mut report) {
            Ok(REPORT) => return Ok(Some(i64::from_ne_bytes(report))),
            Ok(_) => return Ok(None),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Waits until the child with this number has ended, so that it does not stay a zombie.
fn reap(child: libc::pid_t) {
    let Some(child) = Pid::from_raw(child) else {
        return;
    };
    while let Err(Errno::INTR) = waitpid(Some(child), WaitOptions::empty()) {}
}

/// The signals that this thread took before; it takes them again when this is dropped.
struct SignalMask {
    previous: libc::sigset_t,
}

impl SignalMask {
    /// Has the calling thread, and what it starts, take no signal.
    fn block_all() -> io::Result<Self> {
        let mut all = MaybeUninit::uninit();
        let mut previous = MaybeUninit::uninit();
        // SAFETY: `sigfillset` initialises `all`, a successful `pthread_sigmask` `previous`.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            match libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), previous.as_mut_ptr()) {
                0 => Ok(Self {
                    previous: previous.assume_init(),
                }),
                number => Err(io::Error::from_raw_os_error(number)),
            }
        }
    }
}

impl Drop for SignalMask {
    fn drop(&mut self) {
        let previous = &raw const self.previous;
        // SAFETY: the set is initialised; a null pointer for the one before is allowed.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, previous, ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn the_bytes_are_appended_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "before ").unwrap();
        let file = OpenOptions::new().append(true).open(&path).unwrap();
        let bytes = vec![b'x'; 100_000];
        assert_eq!(write_detached(file.as_fd(), &bytes).unwrap(), bytes.len());
        assert_eq!(fs::read(&path).unwrap(), [b"before ", &bytes[..]].concat());
    }

    #[test]
    fn an_error_of_the_write_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        let file = fs::File::open(&path).unwrap();
        let error = write_detached(file.as_fd(), b"x").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
        let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let error = write_detached(full.as_fd(), b"x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    fn taken() -> Vec<bool> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: a null set only asks.
        let set = unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), set.as_mut_ptr());
            set.assume_init()
        };
        (1..32)
            // SAFETY: the set is initialised.
            .map(|signal| unsafe { libc::sigismember(&raw const set, signal) } == 0)
            .collect()
    }

    #[test]
    fn signals_are_taken_again_afterwards() {
        let before = taken();
        let blocked = SignalMask::block_all().unwrap();
        // KILL and STOP cannot be kept away.
        assert_eq!(taken().iter().filter(|taken| **taken).count(), 2);
        drop(blocked);
        assert_eq!(taken(), before);
    }
}
