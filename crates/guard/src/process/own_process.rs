//! This process itself: standard streams that were closed at its start, signals that request its end, and the reader of
//! its output.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

/// The signals that [`report_end_signals`] handles.
pub(super) const END_SIGNALS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// A signal that requests the end of this process.
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

/// Counts requests to end, for a command that reads the output of another one. The first request is meant for
/// the other command, whose last records must not be lost.
#[derive(Debug, Default)]
pub struct EndRequests {
    first: Option<Instant>,
}

impl EndRequests {
    /// Handles a signal. Returns whether this process must end now.
    pub fn ends_now(&mut self, now: Instant) -> bool {
        let first = *self.first.get_or_insert(now);
        now.saturating_duration_since(first) >= REQUEST_WINDOW
    }
}

/// Makes a write beyond the limit on file sizes fail instead of ending this process. Children start with
/// the default action.
pub fn ignore_file_size_signal() {
    // SAFETY: ignoring a signal installs no handler.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Calls `report` on a separate thread for each signal from now on. Signals no longer end this process.
///
/// # Errors
/// The handler or the thread cannot be created.
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

/// Returns a flag that is set whenever this process continues after a stop.
///
/// # Errors
/// The handler cannot be created.
pub fn report_continuation() -> io::Result<Arc<AtomicBool>> {
    let has_continued = Arc::default();
    signal_hook::flag::register(libc::SIGCONT, Arc::clone(&has_continued))?;
    Ok(has_continued)
}

/// Calls `report` on a separate thread when the reader of the pipe, socket or terminal `output` is gone. Never
/// calls it for a file.
///
/// # Errors
/// The thread cannot be created.
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

// Static, since the loader sets it before `main`: the Rust runtime then opens `/dev/null` in place of a
// closed standard stream, and a program that prints its results would succeed and print nothing.
static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when this process started. `false` if that is unknown.
pub fn stdout_was_closed() -> bool {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    // Refers to the initializer, so that the linker keeps it.
    std::hint::black_box(&before_main::RECORD);
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod before_main {
    use super::{Ordering, STDOUT_WAS_CLOSED};

    #[used]
    // SAFETY: the section holds pointers to functions that the loader calls with the C convention before
    // `main`; surplus arguments are ignored. `record` uses nothing of the Rust runtime.
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    pub(super) static RECORD: extern "C" fn() = record;

    extern "C" fn record() {
        // SAFETY: reads a flag of a number that need not be an open descriptor; it only fails if it is none.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        STDOUT_WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{RecvTimeoutError, channel};

    use super::*;

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
