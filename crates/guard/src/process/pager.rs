//! The pager of this process.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;

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
