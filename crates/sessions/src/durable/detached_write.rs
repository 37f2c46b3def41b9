//! A write that completes even if this process is killed during it.
//!
//! A process that is killed during `write` has written only the pages copied so far. Therefore, a child does the
//! write: it has its own session and blocks all signals, and a signal to this process, to its group or from
//! the keyboard does not reach it. Killing all processes of a container or machine can still interrupt
//! it.

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

/// Size of the child's stack, in units of 16 bytes.
#[cfg(target_os = "linux")]
const STACK: usize = 2048;

/// The child's task and its outcome.
#[cfg(target_os = "linux")]
struct DetachedWrite<'a> {
    file: c_int,
    bytes: &'a [u8],
    /// The return value of `write`, or the negated error number; `None` until then.
    outcome: Option<i64>,
}

/// Writes with one system call in a child. Returns the number of bytes written. The caller keeps its
/// descriptor, and locks on it are held until both are closed. If no child can be started, this process writes
/// itself.
///
/// # Errors
/// The write failed; or the child was killed, and an unknown part was written.
#[cfg(target_os = "linux")]
pub(super) fn write_detached(file: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let mut write = DetachedWrite {
        file: file.as_raw_fd(),
        bytes,
        outcome: None,
    };
    let mut stack = vec![0_u128; STACK];
    let previous = SignalMask::block_all()?;
    // The memory is shared, so the time does not depend on the size of this process.
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: this thread is suspended until the child has ended. Until then the child uses its own stack,
    // this thread's error number, and `write`; it only makes system calls. If this process is killed
    // meanwhile, the memory lasts as long as the child.
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
        None => Err(io::Error::other("the writing process was killed")),
        Some(count) => usize::try_from(count).map_err(|_| {
            let number = i32::try_from(-count).unwrap_or(libc::EIO);
            io::Error::from_raw_os_error(number)
        }),
    }
}

/// Writes with one system call. Other systems do not interrupt a write to a file.
///
/// # Errors
/// The write failed.
#[cfg(not(target_os = "linux"))]
pub(super) fn write_detached(file: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::write(file, bytes)?)
}

/// The main function of the child.
#[cfg(target_os = "linux")]
extern "C" fn write_and_end(write: *mut c_void) -> c_int {
    // SAFETY: plain system calls; the pointer is valid, since the caller waits.
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

/// Waits for the child, so that it does not stay a zombie.
#[cfg(target_os = "linux")]
fn reap(child: libc::pid_t) {
    let Some(child) = Pid::from_raw(child) else {
        return;
    };
    while let Err(rustix::io::Errno::INTR) = waitpid(Some(child), WaitOptions::empty()) {}
}

/// Blocks signals of this thread. Dropping it restores the previous mask.
#[cfg(target_os = "linux")]
struct SignalMask {
    previous: libc::sigset_t,
}

#[cfg(target_os = "linux")]
impl SignalMask {
    /// Blocks all signals of the calling thread and the children that it starts.
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
        // SAFETY: the set is initialised; the pointer for the previous set may be null.
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

    /// Returns for each signal whether this thread receives it.
    fn received() -> Vec<bool> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: a null set changes nothing.
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
    fn signals_are_received_again_afterwards() {
        let before = received();
        let blocked = SignalMask::block_all().unwrap();
        // SIGKILL and SIGSTOP cannot be blocked.
        assert_eq!(received().iter().filter(|received| **received).count(), 2);
        drop(blocked);
        assert_eq!(received(), before);
    }
}
