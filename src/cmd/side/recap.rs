//! `recap`: where the user left off.

use std::fmt::Display;
use std::fs::File;
use std::time::Duration;

use clap::Args;

use crate::cmd::command::Run;
use crate::cmd::model_arguments::{Fallback, NoModel};
use crate::cmd::output::{self, RecordWriter};
use crate::cmd::side::per_session::{PerSessionArguments, Plan, Printer, Runner, SessionOutput};
use crate::cmd::side::recap_watch::{own_terminal, watch_terminal};
use crate::cmd::{Globals, Outcome, UsageError};
use crate::io::Io;
use crate::jsonl::WriteError;
use crate::records::{AwaySummary, AwaySummaryRecord, RecapRecord};
use crate::session::ManualTitle;
use crate::side::recap::PROMPT;
use crate::side::{Auto, Kind, Reason, SessionExcerpt, extension};

/// Say where you left off
///
/// Takes session files, ids, titles or `latest`; or records of `session list` on standard input, or
/// one conversation there, which is copied. Writes a record for each: the goal and the next step in
/// one or two sentences, or the reason why there is no recap. Without a model the recaps follow
/// built-in rules.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe recap latest
  turnpipe session list --since 1d --json | turnpipe recap -o text")]
pub(crate) struct RecapArguments {
    /// Write the recap into the session file, so that the agent shows it on resuming
    #[arg(long)]
    write: bool,
    /// Write a recap only when an agent would: after three prompts, two of them since the last recap,
    /// with nothing unanswered, and after `--away-minutes` of absence
    #[arg(long)]
    auto: bool,
    /// Minutes of absence that --auto and --watch wait for
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u64).range(1..))]
    away_minutes: u64,
    /// Stay at this terminal and print a recap each time you come back to it
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
    #[command(flatten)]
    common: PerSessionArguments,
}

/// Prints recaps.
struct Recaps {
    /// Recaps were not asked for, so missing ones are not reported.
    auto: bool,
    /// Dim, bold and italic.
    styled: bool,
}

impl Run for RecapArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
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
    ) -> anyhow::Result<Outcome> {
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
            return Ok(Outcome::Done);
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
    ) -> anyhow::Result<Outcome> {
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
        let read = || SessionExcerpt::read(path, runner.driver.mapping).ok();
        watch_terminal(
            terminal()?,
            Duration::from_mins(self.away_minutes),
            &io.clock,
            &runner.stop.stop,
            &mut || read().map(|session| session.excerpt),
            &mut || runner.output(&session),
            &mut |output| runner.print(recaps, output, &mut writer),
        )?;
        Ok(runner.stop.or(Outcome::Done))
    }
}

impl Printer for Recaps {
    const TAG: &'static str = "SESSION_RECAP";
    const WORK: &'static str = "writing a recap";

    fn write_text(
        &self,
        runner: &Runner,
        output: &SessionOutput,
        writer: &mut RecordWriter,
    ) -> Result<(), WriteError> {
        let text = match &output.result {
            Ok((recap, _)) => &recap.text,
            Err(no_text) => {
                if !self.auto {
                    let why: &dyn Display = match &no_text.reason {
                        Reason::EmptyResult => &"there is nothing to recap",
                        other => other,
                    };
                    runner.note_no_text(output, no_text, why);
                }
                return Ok(());
            }
        };
        let session = output.text_prefix();
        let line = if self.styled {
            format!("{session}\u{1b}[2m※ \u{1b}[1mrecap: \u{1b}[22;2;3m{text}\u{1b}[0m\n")
        } else {
            format!("{session}※ recap: {text}\n")
        };
        writer.echo(line.as_bytes())
    }

    fn write_record(
        &self,
        runner: &Runner,
        output: SessionOutput,
        writer: &mut RecordWriter,
    ) -> Result<(), WriteError> {
        match output.result {
            Ok((recap, recorded)) => {
                let turnpipe = extension(Some(recap.model), recap.cost.as_ref());
                let moment = &runner.driver.moment;
                let (uuid, now) = (moment.uuid(), moment.now());
                writer.record(&AwaySummaryRecord {
                    subtype: AwaySummary::Only,
                    content: recap.text,
                    written: recorded.map(|_| true),
                    uuid,
                    session_id: output.session_id,
                    path: output.path,
                    timestamp: now,
                    turnpipe,
                })
            }
            Err(no_text) => writer.record(&RecapRecord {
                ok: false,
                reason: no_text.reason.name().to_owned(),
                error: no_text.error,
                session_id: output.session_id,
                path: output.path,
                turnpipe: extension(None, no_text.cost.as_deref()),
            }),
        }
    }
}
