//! The terminal at which the user types, apart from the standard streams.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// Turns on focus reports.
pub const ENABLE_FOCUS_REPORTS: &[u8] = b"\x1b[?1004h";

/// Turns off focus reports.
pub const DISABLE_FOCUS_REPORTS: &[u8] = b"\x1b[?1004l";

/// Opens the controlling terminal.
///
/// # Errors
/// The process has no controlling terminal.
pub fn open_terminal() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/tty")
}

/// The result of [`read_typed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalInput {
    /// Nothing was typed in time.
    Nothing,
    /// The bytes read; empty at the end of input.
    Bytes(Vec<u8>),
    /// The terminal is closed.
    Closed,
}

/// Waits for bytes that the user types, and returns at most `limit` of them.
///
/// # Errors
/// Reading failed.
pub fn read_typed(terminal: &File, limit: usize, timeout: Duration) -> io::Result<TerminalInput> {
    let mut descriptors = [PollFd::new(terminal, PollFlags::IN)];
    // Fails only for waits of more than 2^63 seconds.
    let timeout = Timespec::try_from(timeout).unwrap_or_default();
    match poll(&mut descriptors, Some(&timeout)) {
        Ok(0) | Err(Errno::INTR) => return Ok(TerminalInput::Nothing),
        Ok(_) if descriptors[0].revents().contains(PollFlags::HUP) => {
            return Ok(TerminalInput::Closed);
        }
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let mut bytes = vec![0; limit];
    let read = rustix::io::read(terminal.as_fd(), &mut bytes)?;
    bytes.truncate(read);
    Ok(TerminalInput::Bytes(bytes))
}

/// A terminal with focus reports and without echo. Restores the terminal when dropped.
pub struct FocusTerminal {
    terminal: File,
    original_modes: Termios,
    reports: FocusReportParser,
    is_focused: bool,
}

impl FocusTerminal {
    /// Sets up a terminal, which counts as focused until it reports otherwise.
    ///
    /// # Errors
    /// It is not a terminal, or cannot be written to.
    pub fn set_up(terminal: File) -> io::Result<Self> {
        let original_modes = tcgetattr(&terminal)?;
        let mut quiet = original_modes.clone();
        quiet.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 0;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&terminal, OptionalActions::Now, &quiet)?;
        let focus_terminal = Self {
            terminal,
            original_modes,
            reports: FocusReportParser::default(),
            is_focused: true,
        };
        (&focus_terminal.terminal).write_all(ENABLE_FOCUS_REPORTS)?;
        Ok(focus_terminal)
    }

    /// Waits for input, at most for `wait`. Returns whether the terminal has the focus; `None` once it is closed or the user
    /// typed `key`.
    ///
    /// # Errors
    /// Reading failed.
    pub fn poll_focus(&mut self, timeout: Duration, key: u8) -> io::Result<Option<bool>> {
        let typed = read_typed(&self.terminal, 256, timeout).map_err(|error| {
            let problem = format!("cannot read from the terminal: {error}");
            io::Error::new(error.kind(), problem)
        });
        match typed? {
            TerminalInput::Bytes(bytes) if bytes.contains(&key) => return Ok(None),
            TerminalInput::Bytes(bytes) => {
                let focus = self.reports.parse(&bytes);
                self.is_focused = focus.unwrap_or(self.is_focused);
            }
            TerminalInput::Nothing => {}
            TerminalInput::Closed => return Ok(None),
        }
        Ok(Some(self.is_focused))
    }
}

impl Drop for FocusTerminal {
    fn drop(&mut self) {
        // The terminal may be gone.
        let _ = (&self.terminal).write_all(DISABLE_FOCUS_REPORTS);
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.original_modes);
    }
}

/// Parses focus reports, which may be split over several reads.
#[derive(Debug, Default)]
struct FocusReportParser {
    /// The last bytes, which may be the start of a report.
    pending: Vec<u8>,
}

impl FocusReportParser {
    /// Parses more bytes. Returns whether the terminal has the focus according to the last report in them.
    fn parse(&mut self, bytes: &[u8]) -> Option<bool> {
        self.pending.extend_from_slice(bytes);
        let mut reports = self.pending.windows(3).rev();
        let focus = reports.find_map(|report| match report {
            b"\x1b[I" => Some(true),
            b"\x1b[O" => Some(false),
            _ => None,
        });
        self.pending.drain(..self.pending.len().saturating_sub(2));
        focus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_report_counts() {
        let table: [(&[u8], Option<bool>); 5] = [
            (b"", None),
            (b"\x1b[I", Some(true)),
            (b"\x1b[O", Some(false)),
            (b"x\x1b[O\x1b[Iy", Some(true)),
            (b"\x1b[A", None),
        ];
        for (bytes, expected) in table {
            let focus = FocusReportParser::default().parse(bytes);
            assert_eq!(focus, expected, "{bytes:?}");
            let mut reports = FocusReportParser::default();
            let told = bytes.iter().filter_map(|byte| reports.parse(&[*byte]));
            assert_eq!(told.last(), expected, "{bytes:?}, byte by byte");
        }
    }
}
