//! `recap`: writes recaps of sessions.

use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use crate::cmd::model_arguments::{Fallback, NoModel};
use crate::cmd::session::source::SourceArguments;
use crate::cmd::side::per_session::{PerSessionArguments, Plan, Printer, Runner, SessionOutput};
use crate::cmd::{Globals, RecordWriter, Run, Status, UsageError, output};
use crate::io::{CancelToken, Clock, Io};
use crate::jsonl::WriteResult;
use crate::records::RecapRecord;
use crate::session::ManualTitle;
use crate::side::recap::{Away, AwayAction, PROMPT, Situation};
use crate::side::{Auto, Excerpt, Kind, Reason, SessionExcerpt, Text, extension};

/// Summarize where a session left off
///
/// Takes session files, ids, titles or `latest`; or records of `session list` on standard input, or
/// one conversation there, which is copied. Writes a record for each: the goal and the next step in
/// one or two sentences, or the reason why there is no recap. Without a model,
/// built-in rules write the recaps.
#[derive(Debug, Args)]
pub(crate) struct RecapArguments {
    /// Write the recap into the session file
    ///
    /// The agent shows it when the session is resumed.
    #[arg(long)]
    write: bool,
    /// Recap only sessions that an agent would recap by itself
    ///
    /// These have at least three prompts, two of them since the last recap, and no unanswered
    /// prompt, and the user was away for `--away-minutes`.
    #[arg(long)]
    auto: bool,
    /// Minutes of absence that --auto and --watch wait for
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u64).range(1..))]
    away_minutes: u64,
    /// Keep running, and print a recap each time you come back
    ///
    /// Requires a terminal that reports focus changes.
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
    #[command(flatten)]
    common: PerSessionArguments,
}

/// Prints recaps.
struct Recaps {
    /// Whether recaps are automatic; missing ones are then not reported.
    auto: bool,
    /// Whether text is dim, bold and italic.
    styled: bool,
}

impl Run for RecapArguments {
    fn source(&mut self) -> Option<&mut SourceArguments> {
        Some(&mut self.common.source)
    }

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        self.run_at(own_terminal, globals, io)
    }
}

impl RecapArguments {
    /// Runs the command; `terminal` opens the terminal of `--watch`.
    pub(crate) fn run_at(
        self,
        terminal: impl FnOnce() -> anyhow::Result<File>,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let away = Duration::from_mins(self.away_minutes);
        let plan = Plan {
            prompt: PROMPT,
            kind: Kind::Recap,
            fallback: Fallback::MainModel,
            no_model: if self.auto {
                NoModel::Skip
            } else {
                NoModel::UseRules
            },
            auto: if self.auto || self.watch {
                Auto::Recaps {
                    away: self.auto.then_some(away),
                }
            } else {
                Auto::Off
            },
            write: self.write.then_some(ManualTitle::Keep),
        };
        let Some(runner) = self.common.runner(plan, globals, io)? else {
            return Ok(Status::Done);
        };
        let recaps = Recaps {
            auto: self.auto,
            styled: globals.colors_output(io),
        };
        if self.watch {
            self.watch(&runner, &recaps, terminal, io)
        } else {
            runner.run(&recaps, &self.common, io)
        }
    }

    /// Prints recaps of one session at a terminal.
    fn watch(
        &self,
        runner: &Runner,
        recaps: &Recaps,
        terminal: impl FnOnce() -> anyhow::Result<File>,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let [name] = self.common.sessions.as_slice() else {
            return Err(UsageError::new("--watch: name one session").into());
        };
        if !io.terminal.stdin || !io.terminal.stdout {
            return Err(UsageError::new("--watch: needs a terminal").into());
        }
        let session = self.common.source.one(name, io)?;
        let path = session
            .lasting_path()
            .map_err(|error| session.named(&error))?;
        let mut writer = output::writer(runner.form, io)?;
        let read =
            || SessionExcerpt::read(path, &runner.driver.named_roots, runner.driver.mapping).ok();
        watch_terminal(
            terminal()?,
            Duration::from_mins(self.away_minutes),
            &io.clock,
            &runner.stop.stop,
            &mut || read().map(|session| session.excerpt),
            &mut || runner.output(&session),
            &mut |output| runner.print(recaps, output, &mut writer),
        )?;
        Ok(runner.stop.or(Status::Done))
    }
}

impl Printer for Recaps {
    const TAG: &'static str = "SESSION_RECAP";
    const WORK: &'static str = "writing a recap";

    fn line(&self, runner: &Runner, output: &SessionOutput) -> Option<String> {
        let session = output.text_prefix();
        match &output.result {
            Ok((Text { text, .. }, _)) => Some(if self.styled {
                format!("{session}\u{1b}[2m※ \u{1b}[1mrecap: \u{1b}[22;2;3m{text}\u{1b}[0m\n")
            } else {
                format!("{session}※ recap: {text}\n")
            }),
            Err(_) if self.auto => None,
            Err(no_text) => {
                let why: &dyn Display = match &no_text.reason {
                    Reason::EmptyResult => &"there is nothing to recap",
                    other => other,
                };
                runner.note_no_text(output, no_text, why);
                None
            }
        }
    }

    fn write_record(
        &self,
        runner: &Runner,
        output: SessionOutput,
        writer: &mut RecordWriter,
    ) -> WriteResult {
        let mut record = RecapRecord {
            ok: output.result.is_ok(),
            session_id: output.session_id,
            path: output.path,
            ..RecapRecord::default()
        };
        match output.result {
            Ok((recap, recorded)) => {
                let moment = &runner.driver.moment;
                record.turnpipe = extension(Some(recap.model), recap.cost.as_ref());
                record.recap = Some(recap.text);
                record.written = recorded.map(|_| true);
                (record.uuid, record.timestamp) = (Some(moment.uuid()), Some(moment.now()));
            }
            Err(no_text) => {
                record.turnpipe = extension(None, no_text.cost.as_deref());
                record.reason = Some(no_text.reason.name().to_owned());
                record.error = no_text.error;
            }
        }
        writer.record(&record)
    }
}

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
    /// Returns the focus after these bytes, if they contain a report.
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
