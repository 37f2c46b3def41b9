//! Waiting for a child whose end is certain and of no interest.

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, waitpid};

/// Waits until the child with this number has ended, so that it does not stay a zombie.
pub(super) fn reap(child: libc::pid_t) {
    let Some(child) = Pid::from_raw(child) else {
        return;
    };
    while let Err(Errno::INTR) = waitpid(Some(child), WaitOptions::empty()) {}
}
