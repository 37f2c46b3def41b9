//! Waits at a terminal for the user to come back to it.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use crate::cmd::side::per_session::SessionOutput;
use crate::io::{CancelToken, Clock};
use crate::side::Excerpt;
use crate::side::recap::{Away, AwayAction, Situation};

/// Turns on focus reports.
const REPORT_FOCUS: &[u8] = b"\x1b[?1004h";

/// Turns off focus reports.
const REPORT_NO_FOCUS: &[u8] = b"\x1b[?1004l";

/// Interval between reads of the session, in nanoseconds.
const TICK_NANOS: i64 = 500_000_000;

/// A terminal with focus reports and without echo. Restores the terminal when dropped.
struct FocusTerminal {
    terminal: File,
    before: Termios,
}

/// Opens the controlling terminal.
///
/// # Errors
/// The process has no controlling terminal.
pub(crate) fn own_terminal() -> anyhow::Result<File> {
    std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .context("cannot open the terminal")
}

impl FocusTerminal {
    fn set_up(terminal: File) -> anyhow::Result<Self> {
        let before = tcgetattr(&terminal).context("cannot set up the terminal")?;
        let mut quiet = before.clone();
        quiet.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 0;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&terminal, OptionalActions::Now, &quiet).context("cannot set up the terminal")?;
        let opened = Self { terminal, before };
        (&opened.terminal)
            .write_all(REPORT_FOCUS)
            .context("cannot write to the terminal")?;
        Ok(opened)
    }

    /// Returns the bytes of one tick; `None` once the terminal is closed.
    fn read(&self) -> anyhow::Result<Option<Vec<u8>>> {
        let mut asked = [PollFd::new(&self.terminal, PollFlags::IN)];
        let tick = Timespec {
            tv_sec: 0,
            tv_nsec: TICK_NANOS,
        };
        match poll(&mut asked, Some(&tick)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(Some(Vec::new())),
            Ok(_) if asked[0].revents().contains(PollFlags::HUP) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error).context("cannot read from the terminal"),
        }
        let mut bytes = vec![0; 256];
        let read = rustix::io::read(self.terminal.as_fd(), &mut bytes)
            .context("cannot read from the terminal")?;
        bytes.truncate(read);
        Ok(Some(bytes))
    }
}

impl Drop for FocusTerminal {
    fn drop(&mut self) {
        let _ = (&self.terminal).write_all(REPORT_NO_FOCUS);
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}

/// Parses focus reports, which may be split over several reads.
#[derive(Debug, Default)]
struct FocusReports {
    /// The last bytes, which may start a report.
    rest: Vec<u8>,
}

impl FocusReports {
    /// The focus after these bytes, if they contain a report.
    fn focus_after(&mut self, bytes: &[u8]) -> Option<bool> {
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

/// Watches `terminal` until it is closed, `stop` fires, or the user types `q`. `look` reads the session,
/// `make` makes a recap, `show` prints it.
///
/// # Errors
/// The terminal cannot be used.
pub(crate) fn watch_terminal(
    terminal: File,
    away: Duration,
    clock: &Arc<dyn Clock>,
    stop: &CancelToken,
    look: &mut dyn FnMut() -> Option<Excerpt>,
    make: &mut dyn FnMut() -> SessionOutput,
    show: &mut dyn FnMut(SessionOutput) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let terminal = FocusTerminal::set_up(terminal)?;
    let mut reports = FocusReports::default();
    let mut state = Away::new(away);
    let mut focused = true;
    // Number of messages at the last recap.
    let mut recapped = None;
    while !stop.is_cancelled() {
        let Some(typed) = terminal.read()?.filter(|typed| !typed.contains(&b'q')) else {
            return Ok(());
        };
        focused = reports.focus_after(&typed).unwrap_or(focused);
        let Some(excerpt) = look() else {
            continue;
        };
        let situation = Situation {
            now: clock.now(),
            focused,
            idle: excerpt.gate().is_idle(),
            enough_new: excerpt.gate().has_enough_new() && recapped != Some(excerpt.messages()),
        };
        if state.observe(situation) == AwayAction::Start {
            let recap = make();
            if recap.result.is_ok() {
                recapped = Some(excerpt.messages());
            }
            let idle = look().is_some_and(|after| after.gate().is_idle());
            if state.finished(idle) {
                show(recap)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "recap_watch_tests.rs"]
mod tests;
