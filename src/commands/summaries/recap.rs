//! `recap`: writes recaps of sessions.

use std::fmt::Display;
use std::fs::File;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use crate::commands::model_arguments::{Fallback, NoModel};
use crate::commands::summaries::per_session::{PerSessionArguments, Plan, Runner, SessionOutput};
use crate::commands::{Form, Globals, RecordWriter, Run, Status, UsageError, output};
use crate::io::{FocusTerminal, Io, open_terminal};
use crate::jsonl::WriteResult;
use crate::records::RecapRecord;
use crate::render::Style;
use crate::session::ManualTitle;
use crate::summaries::recap::{PERIOD_PROMPT, PROMPT, watch_terminal};
use crate::summaries::{Auto, GeneratedText, Kind, Reason, SessionExcerpt, extension};

/// Summarize where a session left off
///
/// Takes session files, ids, titles or `latest`, records of `session list` on standard input, or one
/// conversation there, which is copied. Writes a record for each: the goal and the next step in one
/// or two sentences, or the reason why there is no recap. Without a model, built-in rules write the
/// recaps.
///
/// With a filter such as `--since` and no names, writes one recap over the selected sessions: by
/// project, what was asked, reported and left open, changed files, times and costs. With `--since`
/// and `--until`, only messages, calls and requests of that time count; titles are of the whole
/// session. Files that only shell commands changed are not known. A model gets this list in one
/// request. `--write` and `--auto` recap each session.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe recap latest
  turnpipe recap --since yesterday
  turnpipe list --since 1d --json | turnpipe recap -o text")]
pub(crate) struct RecapArguments {
    /// Write the recap into the session file
    ///
    /// The agent shows it when the session is resumed. Sessions that are not named get none if no prompt follows their
    /// last one.
    #[arg(long)]
    write: bool,
    /// Recap only sessions that an agent would recap by itself
    ///
    /// These have at least three prompts, two of them since the last recap, and no prompt that their agent is
    /// answering, and the user was away for `--away-minutes`.
    #[arg(long)]
    auto: bool,
    /// Minutes of absence that --auto and --watch wait for
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u64).range(1..), hide_short_help = true)]
    away_minutes: u64,
    /// Keep running, and print a recap each time you come back
    ///
    /// Requires a terminal that reports focus changes.
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
    #[command(flatten)]
    common: PerSessionArguments,
}

/// The form of printed recaps.
struct RecapForm {
    /// Whether recaps are automatic. Missing automatic recaps are not reported.
    is_automatic: bool,
    /// The style of text.
    style: Style,
}

impl Run for RecapArguments {
    reads_sessions!(common.source);

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        self.run_at(open_own_terminal, globals, io)
    }
}

impl RecapArguments {
    /// Runs the command; `terminal` opens the terminal of `--watch`.
    pub(crate) fn run_at(
        mut self,
        terminal: impl FnOnce() -> anyhow::Result<File>,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        self.common.name_latest(io);
        let covers_period = self.common.selects() && !self.write && !self.auto && !self.watch;
        let away = Duration::from_mins(self.away_minutes);
        let plan = Plan {
            tag: "SESSION_RECAP",
            work: "writing a recap",
            prompt: if covers_period { PERIOD_PROMPT } else { PROMPT },
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
            only_stale: false,
            write: self.write.then_some(ManualTitle::Keep),
        };
        let Some(runner) = self.common.create_runner(plan, globals, io)? else {
            return Ok(Status::Done);
        };
        let form = RecapForm {
            is_automatic: self.auto,
            style: globals.style(io),
        };
        if covers_period {
            runner.recap_period(&self.common, form.style, io)
        } else if self.watch {
            self.watch(&runner, &form, terminal, io)
        } else {
            runner.run(&self.common, io, |output, writer| {
                print_recap(output, &runner, &form, writer)
            })
        }
    }

    /// Prints recaps of one session at a terminal.
    fn watch(
        &self,
        runner: &Runner,
        form: &RecapForm,
        terminal: impl FnOnce() -> anyhow::Result<File>,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let [name] = self.common.sessions.as_slice() else {
            return Err(UsageError::new("--watch: name one session").into());
        };
        if !io.terminal.stdin || !io.terminal.stdout {
            return Err(UsageError::new("--watch: needs a terminal").into());
        }
        let session = self.common.source.resolve_one(name, io)?;
        let path = session
            .permanent_path()
            .map_err(|error| session.name_error(&error))?;
        let mut writer = output::open_writer(runner.form, io)?;
        let read =
            || SessionExcerpt::read(path, &runner.driver.named_roots, runner.driver.mapping).ok();
        let terminal = FocusTerminal::set_up(terminal()?);
        let mut terminal = terminal.context("cannot set up the terminal")?;
        watch_terminal(
            &mut terminal,
            Duration::from_mins(self.away_minutes),
            &io.clock,
            &runner.stop.stop,
            &mut || read().map(|session| session.excerpt),
            &mut || {
                let output = runner.generate(&session);
                let is_written = output.result.is_ok();
                (output, is_written)
            },
            &mut |output| -> anyhow::Result<()> {
                runner.log(&output);
                print_recap(output, runner, form, &mut writer)?;
                Ok(writer.flush()?)
            },
        )?;
        Ok(runner.stop.or(Status::Done))
    }
}

/// Prints a recap, or reports why there is none.
fn print_recap(
    output: SessionOutput,
    runner: &Runner,
    form: &RecapForm,
    writer: &mut RecordWriter,
) -> WriteResult {
    if runner.form == Form::Jsonl {
        return writer.record(&new_recap_record(output, runner));
    }
    match &output.result {
        Ok(GeneratedText { text, .. }) => {
            let line = form.style.recap_line(&text.text);
            writer.echo(format!("{}{line}\n", output.text_prefix()).as_bytes())
        }
        Err(_) if form.is_automatic => Ok(()),
        Err(no_text) => {
            let why: &dyn Display = match &no_text.reason {
                Reason::EmptyResult => &"there is nothing to recap",
                other => other,
            };
            runner.report_no_text(&output, no_text, why);
            Ok(())
        }
    }
}

/// Returns the record of a recap.
pub(super) fn new_recap_record(output: SessionOutput, runner: &Runner) -> RecapRecord {
    let session_fields = RecapRecord {
        session_id: output.session_id,
        path: output.path,
        ..RecapRecord::default()
    };
    match output.result {
        Ok(GeneratedText {
            text: recap,
            record_outcome,
        }) => RecapRecord {
            ok: true,
            turnpipe: extension(Some(recap.model), recap.cost.as_ref()),
            recap: Some(recap.text),
            written: record_outcome.map(|_| true),
            uuid: Some(runner.driver.moment.uuid()),
            timestamp: Some(runner.driver.moment.now()),
            ..session_fields
        },
        Err(no_text) => RecapRecord {
            turnpipe: extension(None, no_text.cost.as_deref()),
            reason: Some(no_text.reason.name().to_owned()),
            error: no_text.error,
            ..session_fields
        },
    }
}

/// Opens the terminal of this process.
fn open_own_terminal() -> anyhow::Result<File> {
    open_terminal().context("cannot open the terminal")
}

#[cfg(test)]
#[path = "recap_watch_tests.rs"]
mod tests;
