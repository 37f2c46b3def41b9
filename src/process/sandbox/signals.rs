//! The signals of a process that waits for them.

use std::ffi::c_int;
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

/// All signals, blocked.
pub(super) struct Signals {
    blocked: libc::sigset_t,
    before: libc::sigset_t,
}

impl Signals {
    pub(super) fn block() -> io::Result<Self> {
        // SAFETY: the sets are plain data, filled before their use.
        unsafe {
            let (mut blocked, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut blocked);
            if libc::sigprocmask(libc::SIG_BLOCK, &raw const blocked, &raw mut before) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self { blocked, before })
        }
    }

    /// Lets signals through again, as before.
    pub(super) fn restore(&self) {
        // SAFETY: the set is plain data.
        unsafe {
            libc::sigprocmask(
                libc::SIG_SETMASK,
                &raw const self.before,
                std::ptr::null_mut(),
            )
        };
    }

    /// Returns a descriptor from which signals are read.
    pub(super) fn descriptor(&self) -> io::Result<OwnedFd> {
        // SAFETY: the set is plain data; the descriptor is new.
        unsafe {
            match libc::signalfd(-1, &raw const self.blocked, libc::SFD_CLOEXEC) {
                -1 => Err(io::Error::last_os_error()),
                descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
            }
        }
    }

    /// Waits for a signal. Returns its number, and whether a process sent it: not the kernel, for a terminal or the
    /// end of a child.
    pub(super) fn wait(&self) -> Option<(c_int, bool)> {
        // SAFETY: the result is plain data.
        let (signal, facts) = unsafe {
            let mut facts: libc::siginfo_t = std::mem::zeroed();
            (
                libc::sigwaitinfo(&raw const self.blocked, &raw mut facts),
                facts,
            )
        };
        (signal > 0).then_some((signal, facts.si_code <= 0))
    }
}
