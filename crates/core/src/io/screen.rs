//! The terminal that output, progress and questions share.

use std::fs::File;
use std::io::{self, Seek as _, Write};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use rustix::process::{FlockType, fcntl_getlk, getpgid, getpgrp};
use tempfile::{SpooledTempFile, spooled_tempfile};

use super::{CancelToken, Lock};

/// Maximum size of queued output in memory, in bytes. Larger output goes to a temporary file.
const MEMORY_LIMIT: usize = 8 * 1024 * 1024;

/// Interval between attempts to open a question, and to write queued output at exit.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Lines below the output. `draw` and `clear` are called only while this process may write to the terminal, `forget` at
/// any time.
pub trait Footer: Send + Sync {
    /// Draws the lines.
    fn draw(&self);
    /// Removes the lines until they are drawn again.
    fn clear(&self);
    /// Stops drawing without erasing: other text may now follow the lines.
    fn forget(&self);
}

/// The terminal of the standard streams; clones share it. While a question is open nothing else is drawn, and
/// output waits. This includes questions of other processes of the job whose standard error, or else standard
/// output, is the same terminal.
#[derive(Clone, Default)]
pub struct Screen {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    terminal: Option<File>,
    is_asking: bool,
    queued_output: Option<SpooledTempFile>,
    /// Whether the output ends in an incomplete line.
    is_within_line: bool,
    footer: Option<Arc<dyn Footer>>,
}

impl Screen {
    /// Returns the screen of a terminal; with `None`, output is discarded.
    pub fn new(terminal: Option<File>) -> Self {
        let screen = Self::default();
        screen.state.lock_anyway().terminal = terminal;
        screen
    }

    /// Returns a writer to the terminal.
    pub fn writer(&self) -> ScreenWriter {
        ScreenWriter {
            screen: self.clone(),
            starts_line: false,
        }
    }

    /// Returns a writer to the terminal. Each write starts a line.
    pub fn line_writer(&self) -> ScreenWriter {
        ScreenWriter {
            screen: self.clone(),
            starts_line: true,
        }
    }

    /// Changes the lines below the output by `change`, and draws them unless a question is open. Returns whether
    /// they were drawn.
    pub fn update(&self, change: impl FnOnce(&mut Option<Arc<dyn Footer>>)) -> bool {
        let mut state = self.state.lock_anyway();
        let is_free = state.acquire();
        change(&mut state.footer);
        if is_free {
            state.release();
        }
        is_free
    }

    /// Waits until no other question is open, and opens one until the returned value is dropped. `None` if `cancel`
    /// fires first.
    pub fn ask(&self, cancel: &CancelToken) -> Option<OpenQuestion> {
        while !cancel.is_cancelled() {
            let mut state = self.state.lock_anyway();
            if state.acquire() {
                if state.apply_lock(FlockOperation::NonBlockingLockExclusive) {
                    state.is_asking = true;
                    return Some(OpenQuestion(self.clone()));
                }
                state.release();
            }
            drop(state);
            sleep(RETRY_INTERVAL);
        }
        None
    }

    /// Abandons an open question and writes the queued output, at the end of this process. Blocks while another process
    /// asks a question.
    pub fn finish(&self) {
        self.state.lock_anyway().is_asking = false;
        while self.state.lock_anyway().queued_output.is_some() && !self.update(|_| ()) {
            sleep(RETRY_INTERVAL);
        }
    }
}

impl State {
    /// Removes the lines below the output, and writes the queued output. Returns false during a question: then
    /// the terminal must not be written to.
    fn acquire(&mut self) -> bool {
        let is_free = !self.is_asking && self.apply_lock(FlockOperation::NonBlockingLockShared);
        if let Some(footer) = &self.footer {
            if is_free {
                footer.clear();
            } else {
                footer.forget();
            }
        }
        if is_free
            && let (Some(mut output), Some(file)) = (self.queued_output.take(), &self.terminal)
        {
            // A closed terminal is reported by the next write.
            let _ = output
                .rewind()
                .and_then(|()| io::copy(&mut output, &mut &*file));
        }
        is_free
    }

    /// Draws the lines below the output, unless its last line is incomplete, and unlocks the terminal.
    fn release(&self) {
        if let Some(footer) = self.footer.as_ref().filter(|_| !self.is_within_line) {
            footer.draw();
        }
        self.apply_lock(FlockOperation::Unlock);
    }

    /// Locks or unlocks the terminal. Returns false if another process of this job has locked it. Other jobs do not
    /// count: they may be stopped at a question.
    fn apply_lock(&self, operation: FlockOperation) -> bool {
        let Some(terminal) = &self.terminal else {
            return true;
        };
        loop {
            match fcntl_lock(terminal, operation) {
                Err(Errno::AGAIN | Errno::ACCESS) => {}
                // The terminal does not support locks.
                _ => return true,
            }
            match fcntl_getlk(terminal, &FlockType::WriteLock.into()) {
                // It was released in between.
                Ok(None) => {}
                Ok(Some(lock)) => return getpgid(lock.pid).ok() != Some(getpgrp()),
                Err(_) => return true,
            }
        }
    }
}

/// An open question. Dropping it draws the footer and writes the queued output.
pub struct OpenQuestion(Screen);

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.0.state.lock_anyway().is_asking = false;
        self.0.update(|_| ());
    }
}

/// Writes to a terminal, now or after the open question.
pub struct ScreenWriter {
    screen: Screen,
    /// Whether each write starts a line.
    starts_line: bool,
}

impl Write for ScreenWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let state = &mut *self.screen.state.lock_anyway();
        let is_free = state.acquire();
        let start: &[u8] = if self.starts_line && state.is_within_line {
            b"\n"
        } else {
            b""
        };
        state.is_within_line = !bytes.ends_with(b"\n");
        let output: &mut dyn Write = match &mut state.terminal {
            Some(terminal) if is_free => terminal,
            _ => {
                let new = || spooled_tempfile(MEMORY_LIMIT);
                state.queued_output.get_or_insert_with(new)
            }
        };
        let written = output.write_all(&[start, bytes].concat());
        if is_free {
            state.release();
        }
        written.map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const FILE: &str = "TURNPIPE_TEST_LOCKED_FILE";

    fn on(path: &std::ffi::OsStr) -> State {
        let file = File::options().read(true).write(true).open(path);
        State {
            terminal: Some(file.unwrap()),
            ..State::default()
        }
    }

    /// The other process of the next test.
    #[test]
    fn another_process_locks_and_unlocks() {
        let Some(path) = std::env::var_os(FILE) else {
            return;
        };
        let state = on(&path);
        while std::fs::metadata(&path).is_ok_and(|file| file.len() == 0) {
            for _ in 0..1_000 {
                state.apply_lock(FlockOperation::NonBlockingLockShared);
                state.apply_lock(FlockOperation::Unlock);
            }
        }
    }

    #[test]
    fn a_terminal_is_taken_only_by_its_lock() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let state = on(file.path().as_os_str());
        let mut other = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "io::screen::tests::another_process_locks_and_unlocks",
            ])
            .env(FILE, file.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let (mut taken, mut refused) = (0, 0);
        while taken < 20_000 || refused < 20_000 {
            if state.apply_lock(FlockOperation::NonBlockingLockExclusive) {
                let terminal = state.terminal.as_ref().unwrap();
                // Succeeds again if this process has the lock.
                let lock = fcntl_lock(terminal, FlockOperation::NonBlockingLockExclusive);
                lock.expect("the lock is held");
                taken += 1;
                state.apply_lock(FlockOperation::Unlock);
            } else {
                refused += 1;
            }
        }
        std::fs::write(file.path(), "end").unwrap();
        assert!(other.wait().unwrap().success());
    }
}
