//! Keeping all signals from a thread for a while.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// The signals that this thread took before; it takes them again when this is dropped.
pub(super) struct SignalMask {
    previous: libc::sigset_t,
}

impl SignalMask {
    /// Has the calling thread, and what it starts, take no signal.
    ///
    /// # Errors
    /// None that a system is known for.
    pub(super) fn block_all() -> io::Result<Self> {
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
    use super::*;

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
