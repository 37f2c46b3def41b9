//! Whether this process was started with its standard input or output closed.
//!
//! Before `main`, the Rust runtime opens `/dev/null` in the place of a closed standard stream, and
//! the fact is lost: a program that prints its results would succeed and print nothing. So the
//! facts are recorded before that, by an initializer that the loader runs.

use std::sync::atomic::{AtomicU8, Ordering};

/// Nothing was recorded; the stream counts as open.
const UNKNOWN: u8 = 0;
const OPEN: u8 = 1;
const CLOSED: u8 = 2;

static STDIN: AtomicU8 = AtomicU8::new(UNKNOWN);
static STDOUT: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether standard input was closed when this process started. `false` where it cannot be known.
pub fn stdin_was_closed() -> bool {
    was_closed(&STDIN)
}

/// Whether standard output was closed when this process started. `false` where it cannot be known.
pub fn stdout_was_closed() -> bool {
    was_closed(&STDOUT)
}

fn was_closed(stream: &AtomicU8) -> bool {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    // Ties the initializer to the readers, so that no linker takes one without the other.
    std::hint::black_box(&before_main::RECORD);
    stream.load(Ordering::Relaxed) == CLOSED
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod before_main {
    use super::{CLOSED, OPEN, Ordering, STDIN, STDOUT};

    #[used]
    // SAFETY: the section holds pointers to functions that the loader calls with the C convention
    // before `main`; surplus arguments are ignored. `record` needs no part of the Rust runtime.
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    pub(super) static RECORD: extern "C" fn() = record;

    extern "C" fn record() {
        STDIN.store(state(libc::STDIN_FILENO), Ordering::Relaxed);
        STDOUT.store(state(libc::STDOUT_FILENO), Ordering::Relaxed);
    }

    /// The only error that this question has is that the descriptor is not open.
    fn state(descriptor: libc::c_int) -> u8 {
        // SAFETY: reads a flag of a number that need not be an open descriptor.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            CLOSED
        } else {
            OPEN
        }
    }
}
