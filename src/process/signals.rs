//! What asks this process to end: signals, and a reader of its output that goes away.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

/// The signals that [`report_end_signals`] takes.
pub(super) const END_SIGNALS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Why this process is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndSignal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM, SIGHUP.
    Terminate,
}

/// How long after a signal others belong to the same request to end: a closed terminal and its shell both
/// send one.
const ONE_REQUEST: Duration = Duration::from_secs(1);

/// Signals to a stage that records or labels what another stage writes. The first request to end is for
/// that stage, whose last records must not be lost.
#[derive(Debug, Default)]
pub struct EndRequests {
    first: Option<Instant>,
}

impl EndRequests {
    /// Takes a signal. Returns whether the stage ends now.
    pub fn insist(&mut self, now: Instant) -> bool {
        let first = *self.first.get_or_insert(now);
        now.saturating_duration_since(first) >= ONE_REQUEST
    }
}

/// Has a write beyond the limit on the size of files fail, instead of ending this process. Children
/// start with the default all the same.
pub fn outlive_file_size_limit() {
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Calls `report` for each signal from now on, on its own thread, instead of dying of it.
///
/// # Errors
/// The system does not let us.
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

/// Calls `report` once when the reader of the pipe, socket or terminal behind `output` is gone;
/// never for a file. Waits on its own thread.
///
/// # Errors
/// The system grants no thread.
pub fn report_departure(output: OwnedFd, report: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new()
        .name("output".to_owned())
        .spawn(move || {
            // No event is asked for: errors and hang-ups are reported without being asked for.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{RecvTimeoutError, channel};

    #[test]
    fn signals_that_come_together_are_one_request() {
        let (mut requests, now) = (EndRequests::default(), Instant::now());
        assert!(!requests.insist(now));
        assert!(!requests.insist(now + ONE_REQUEST / 2));
        assert!(requests.insist(now + ONE_REQUEST));
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
