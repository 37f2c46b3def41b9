//! This process itself: standard streams that were closed at its start, signals that request its end, the reader of its
//! output, and the pager.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::SIGINT;

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

/// Options of `less` unless `LESS` is set: exit if the output fits on one screen, show colors, and keep the
/// screen. git uses the same.
const LESS_OPTIONS: &str = "FRX";

/// Output through a pager, which starts with the first byte.
pub struct Pager {
    /// A program, or a command for the shell.
    command: String,
    /// Whether to set `LESS`.
    sets_options: bool,
    /// Receives the output if no pager can be started.
    terminal: Box<dyn Write + Send>,
    state: State,
}

enum State {
    New,
    Running(Child),
    Missing,
}

impl Pager {
    /// Creates a pager. `terminal` receives the output if the pager cannot be started.
    pub fn new(command: String, sets_options: bool, terminal: Box<dyn Write + Send>) -> Self {
        Self {
            command,
            sets_options,
            terminal,
            state: State::New,
        }
    }

    /// Starts the pager.
    fn start(&self) -> io::Result<Child> {
        // A shell would discard the output if the program is missing.
        let is_in_path = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
        let mut pager = if self.command.bytes().all(is_in_path) {
            Command::new(&self.command)
        } else {
            let mut shell = Command::new("sh");
            shell.args(["-c", &self.command]);
            shell
        };
        if self.sets_options {
            pager.env("LESS", LESS_OPTIONS);
        }
        let child = pager.stdin(Stdio::piped()).spawn()?;
        // Ctrl-C is meant for the pager now, which must not lose its foreground process.
        signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)))?;
        Ok(child)
    }

    /// Returns the pager or the terminal. Starts the pager at the first call.
    fn open_sink(&mut self) -> &mut dyn Write {
        if matches!(self.state, State::New) {
            self.state = self.start().map_or(State::Missing, State::Running);
        }
        match &mut self.state {
            State::Running(Child {
                stdin: Some(pipe), ..
            }) => pipe,
            State::New | State::Running(_) | State::Missing => &mut self.terminal,
        }
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open_sink().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.state {
            State::New => Ok(()),
            State::Running(_) | State::Missing => self.open_sink().flush(),
        }
    }
}

impl Drop for Pager {
    /// Waits for the end of the pager.
    fn drop(&mut self) {
        if let State::Running(child) = &mut self.state {
            drop(child.stdin.take());
            // The exit status of the pager does not matter.
            let _ = child.wait();
        }
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
