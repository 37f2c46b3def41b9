//! A pager for long output.

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
    /// A pager on the terminal of standard output.
    pub fn new(command: String, sets_options: bool, terminal: Box<dyn Write + Send>) -> Self {
        Self {
            command,
            sets_options,
            terminal,
            state: State::New,
        }
    }

    fn start(&self) -> io::Result<Child> {
        // With a missing program, a shell would swallow the output.
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
        // Ctrl-C is for the pager now, which must not lose its foreground process.
        signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)))?;
        Ok(child)
    }

    fn sink(&mut self) -> &mut dyn Write {
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
        self.sink().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.state {
            State::New => Ok(()),
            State::Running(_) | State::Missing => self.sink().flush(),
        }
    }
}

impl Drop for Pager {
    /// Waits for the end of the pager.
    fn drop(&mut self) {
        if let State::Running(child) = &mut self.state {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}
