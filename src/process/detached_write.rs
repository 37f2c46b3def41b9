//! A write that is done whole even if this process is killed meanwhile.
//!
//! A process that is killed inside of `write` leaves the pages behind that were copied so far. So a
//! child does the write: it is in its own session and takes no signals, and what kills us, by
//! id, by group or from the keyboard, does not reach it. What ends every process of a container or
//! the machine still tears it. What the bytes mean is not this file's business.

#[cfg(target_os = "linux")]
use std::ffi::{c_int, c_void};
use std::io;
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
#[cfg(target_os = "linux")]
use std::{os::fd::AsRawFd, ptr};

#[cfg(target_os = "linux")]
use rustix::process::{Pid, WaitOptions, waitpid};

/// How much memory the child has for its stack, in units of 16 bytes.
#[cfg(target_os = "linux")]
const STACK: usize = 2048;

/// What the child is to do, and what came of it.
#[cfg(target_os = "linux")]
struct DetachedWrite<'a> {
    file: c_int,
    bytes: &'a [u8],
    /// What `write` returned, or the negated error number; nothing until then.
    outcome: Option<i64>,
}

/// Writes with one system call in a child; returns how many bytes were written. The caller keeps
/// its descriptor, and locks on it last until both are done. Where no child can be started, this
/// process writes itself.
///
/// # Errors
/// As the system reports for the write, or that the child was killed: what was written is unknown
/// then.
#[cfg(target_os = "linux")]
pub fn write_detached(file: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let mut write = DetachedWrite {
        file: file.as_raw_fd(),
        bytes,
        outcome: None,
    };
    let mut stack = vec![0_u128; STACK];
    let previous = SignalMask::block_all()?;
    // The memory is shared, so that nothing has to be copied however large this process is.
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: this thread stands still until the child has ended. Until then the child has its own
    // stack, this thread's error number, and `write`; it only makes system calls. If this process
    // is killed meanwhile, the memory lasts as long as the child.
    let child = unsafe {
        let top = stack.as_mut_ptr().add(STACK);
        libc::clone(write_and_end, top.cast(), flags, (&raw mut write).cast())
    };
    drop(previous);
    if child < 0 {
        return Ok(rustix::io::write(file, bytes)?);
    }
    reap(child);
    match write.outcome {
        None => Err(io::Error::other("the process that wrote was killed")),
        Some(count) => usize::try_from(count).map_err(|_| {
            let number = i32::try_from(-count).unwrap_or(libc::EIO);
            io::Error::from_raw_os_error(number)
        }),
    }
}

/// Other systems do not end a write to a file before it is done.
///
/// # Errors
/// As the system reports.
#[cfg(not(target_os = "linux"))]
pub fn write_detached(file: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::write(file, bytes)?)
}

/// What the child does.
#[cfg(target_os = "linux")]
extern "C" fn write_and_end(write: *mut c_void) -> c_int {
    // SAFETY: plain system calls; the pointer is that of the call, which waits.
    unsafe {
        let write = &mut *write.cast::<DetachedWrite<'_>>();
        libc::setsid();
        let written = libc::write(write.file, write.bytes.as_ptr().cast(), write.bytes.len());
        write.outcome = Some(if written < 0 {
            let error = io::Error::last_os_error();
            -i64::from(error.raw_os_error().unwrap_or(libc::EIO))
        } else {
            written as i64
        });
        libc::_exit(0)
    }
}

/// Waits until the child with this number has ended, so that it does not stay a zombie.
#[cfg(target_os = "linux")]
fn reap(child: libc::pid_t) {
    let Some(child) = Pid::from_raw(child) else {
        return;
    };
    while let Err(rustix::io::Errno::INTR) = waitpid(Some(child), WaitOptions::empty()) {}
}

/// The signals that this thread took before; it takes them again when this is dropped.
#[cfg(target_os = "linux")]
struct SignalMask {
    previous: libc::sigset_t,
}

#[cfg(target_os = "linux")]
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

#[cfg(target_os = "linux")]
impl Drop for SignalMask {
    fn drop(&mut self) {
        let previous = &raw const self.previous;
        // SAFETY: the set is initialised; a null pointer for the one before is allowed.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, previous, ptr::null_mut()) };
    }
}

#[cfg(target_os = "linux")]
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
