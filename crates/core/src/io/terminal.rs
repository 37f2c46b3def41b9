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
pub const REPORT_FOCUS: &[u8] = b"\x1b[?1004h";

/// Turns off focus reports.
pub const REPORT_NO_FOCUS: &[u8] = b"\x1b[?1004l";

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
pub fn read_typed(terminal: &File, limit: usize, wait: Duration) -> io::Result<TerminalInput> {
    let mut descriptors = [PollFd::new(terminal, PollFlags::IN)];
    // Fails only for waits of more than 2^63 seconds.
    let wait = Timespec::try_from(wait).unwrap_or_default();
    match poll(&mut descriptors, Some(&wait)) {
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
    reports: FocusReports,
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
        let opened = Self {
            terminal,
            original_modes,
            reports: FocusReports::default(),
            is_focused: true,
        };
        (&opened.terminal).write_all(REPORT_FOCUS)?;
        Ok(opened)
    }

    /// Waits for input, at most for `wait`. Returns whether the terminal has the focus; `None` once it is closed or the user
    /// typed `key`.
    ///
    /// # Errors
    /// Reading failed.
    pub fn wait_for_focus(&mut self, wait: Duration, key: u8) -> io::Result<Option<bool>> {
        let typed = read_typed(&self.terminal, 256, wait).map_err(|error| {
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
        let _ = (&self.terminal).write_all(REPORT_NO_FOCUS);
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.original_modes);
    }
}

/// Parses focus reports, which may be split over several reads.
#[derive(Debug, Default)]
struct FocusReports {
    /// The last bytes, which may be the start of a report.
    rest: Vec<u8>,
}

impl FocusReports {
    /// Parses more bytes. Returns whether the terminal has the focus according to the last report in them.
    fn parse(&mut self, bytes: &[u8]) -> Option<bool> {
        self.rest.extend_from_slice(bytes);
        let focus = self.rest.windows(3).rev().find_map(|report| match report {
            b"\x1b[I" => Some(true),
            b"\x1b[O" => Some(false),
            _ => None,
        });
        self.rest.drain(..self.rest.len().saturating_sub(2));
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
            assert_eq!(FocusReports::default().parse(bytes), expected, "{bytes:?}");
            let mut reports = FocusReports::default();
            let told = bytes.iter().filter_map(|byte| reports.parse(&[*byte]));
            assert_eq!(told.last(), expected, "{bytes:?}, byte by byte");
        }
    }
}
