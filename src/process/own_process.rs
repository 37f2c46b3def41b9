//! This process itself: standard streams that were closed at its start, signals that ask it to end, and the
//! reader of its output.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

/// The signals that [`report_end_signals`] takes.
pub(super) const END_SIGNALS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// The reason why this process is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndSignal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM, SIGHUP.
    Terminate,
}

/// Further signals within this time belong to the same request to end: a closed terminal and its shell both
/// send one.
const REQUEST_WINDOW: Duration = Duration::from_secs(1);

/// Counts requests to end, for a command that reads the output of another one. The first request is for that
/// one, whose last records must not be lost.
#[derive(Debug, Default)]
pub struct EndRequests {
    first: Option<Instant>,
}

impl EndRequests {
    /// Handles a signal. Returns whether this process has to end now.
    pub fn ends_now(&mut self, now: Instant) -> bool {
        let first = *self.first.get_or_insert(now);
        now.saturating_duration_since(first) >= REQUEST_WINDOW
    }
}

/// Makes a write beyond the limit on file sizes fail instead of ending this process. Children start with
/// the default action.
pub fn ignore_file_size_signal() {
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Calls `report` on a separate thread for each signal from now on. Signals no longer end this process.
///
/// # Errors
/// The system refuses the handler or the thread.
pub fn report_end_signals(report: impl Fn(EndSignal) + Send + 'static) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new(END_SIGNALS)?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in &mut signals {
                report(if signal == libc::SIGINT {
                    EndSignal::Interrupt
                } else {
                    EndSignal::Terminate
                });
            }
        })?;
    Ok(())
}

/// Calls `report` on a separate thread when the reader of the pipe, socket or terminal `output` is gone. Never
/// calls it for a file.
///
/// # Errors
/// The system refuses the thread.
pub fn report_departure(output: OwnedFd, report: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new()
        .name("output".to_owned())
        .spawn(move || {
            // Errors and hang-ups are reported without being requested.
            let mut watched = [PollFd::new(&output, PollFlags::empty())];
            loop {
                match poll(&mut watched, None) {
                    Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return,
                    Ok(_) => break,
                }
            }
            report();
        })?;
    Ok(())
}

/// Nothing was recorded. The stream counts as open.
const UNKNOWN: u8 = 0;
const OPEN: u8 = 1;
const CLOSED: u8 = 2;

// Static, since the loader sets them before `main`: the Rust runtime then opens `/dev/null` in place of a
// closed standard stream, and a program that prints its results would succeed and print nothing.
static STDIN: AtomicU8 = AtomicU8::new(UNKNOWN);
static STDOUT: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether standard input was closed when this process started. `false` if that is unknown.
pub fn stdin_was_closed() -> bool {
    was_closed(&STDIN)
}

/// Whether standard output was closed when this process started. `false` if that is unknown.
pub fn stdout_was_closed() -> bool {
    was_closed(&STDOUT)
}

fn was_closed(stream: &AtomicU8) -> bool {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    // Refers to the initializer, so that the linker keeps it.
    std::hint::black_box(&before_main::RECORD);
    stream.load(Ordering::Relaxed) == CLOSED
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod before_main {
    use super::{CLOSED, OPEN, Ordering, STDIN, STDOUT};

    #[used]
    // SAFETY: the section holds pointers to functions that the loader calls with the C convention before
    // `main`; surplus arguments are ignored. `record` uses nothing of the Rust runtime.
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    pub(super) static RECORD: extern "C" fn() = record;

    extern "C" fn record() {
        STDIN.store(state(libc::STDIN_FILENO), Ordering::Relaxed);
        STDOUT.store(state(libc::STDOUT_FILENO), Ordering::Relaxed);
    }

    /// The only error of this call is that the descriptor is not open.
    fn state(descriptor: libc::c_int) -> u8 {
        // SAFETY: reads a flag of a number that need not be an open descriptor.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            CLOSED
        } else {
            OPEN
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{RecvTimeoutError, channel};

    #[test]
    fn signals_within_the_window_are_one_request() {
        let (mut requests, now) = (EndRequests::default(), Instant::now());
        assert!(!requests.ends_now(now));
        assert!(!requests.ends_now(now + REQUEST_WINDOW / 2));
        assert!(requests.ends_now(now + REQUEST_WINDOW));
    }

    #[test]
    fn a_closed_pipe_is_noticed() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let (sender, noticed) = channel();
        report_departure(writer, move || sender.send(()).unwrap()).unwrap();
        let early = noticed.recv_timeout(Duration::from_millis(20));
        assert_eq!(early, Err(RecvTimeoutError::Timeout));
        drop(reader);
        noticed.recv_timeout(Duration::from_secs(10)).unwrap();
    }
}
