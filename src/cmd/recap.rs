//! `recap`: where a person left off.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::command::Run;
use super::conversation::{Conversation, unreadable};
use super::output::{self, RecordWriter};
use super::per_session::{
    Made, PerSession, PerSessionArguments, Plan, Runner, Written, provenance, write_cost,
    write_into,
};
use super::recap_watch::{own_terminal, watch_terminal};
use super::side_arguments::{Occasion, StandIn, extension};
use super::{Globals, Outcome, UsageError};
use crate::flow::{Excerpt, NoResult, Product, Reason};
use crate::io::{Ids, Io};
use crate::jsonl::WriteError;
use crate::model::Request;
use crate::side::prompts;
use crate::side::recap::{AWAY, Held};
use crate::side::title::TitleStyle;
use crate::wire::records::{AwaySummaryRecord, RecapRecord};

/// Say where you left off
///
/// Takes session files, ids, titles or `latest`; or records of `session list` on standard input, or
/// one conversation there, which is copied. Writes one record each: the goal and the next step in
/// one or two sentences, or the reason why there is no recap. Without a model the recaps follow
/// built-in rules.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe recap latest
  turnpipe session list --since 1d --json | turnpipe recap -o text")]
pub(super) struct RecapArguments {
    /// Write the recap into the session file, so that it is shown on resuming
    #[arg(long)]
    write: bool,
    /// Write a recap only where an agent would: after three prompts, two since the last recap, with
    /// nothing unanswered, and five minutes of absence
    #[arg(long)]
    auto: bool,
    /// Minutes of absence that --auto and --watch wait for
    #[arg(long, value_name = "N", default_value = "5")]
    away_minutes: u64,
    /// Stay at this terminal, and print a recap each time you come back to it
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    common: PerSessionArguments,
}

/// What it takes to recap one session.
struct Recaps<'a> {
    arguments: &'a RecapArguments,
    runner: &'a Runner,
    /// Dim, bold and italic.
    styled: bool,
    ids: Arc<dyn Ids>,
    now: String,
}

impl Run for RecapArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let plan = Plan {
            prompt: prompts::RECAP,
            style: TitleStyle::Sentence,
            occasion: if self.auto || self.watch {
                Occasion::Automatic
            } else {
                Occasion::Request
            },
            stand_in: StandIn::MainModel,
        };
        let Some(runner) = self.common.runner(&plan, globals, io)? else {
            return Ok(Outcome::Done);
        };
        let recaps = Recaps {
            arguments: &self,
            runner: &runner,
            styled: globals.colors_output(io),
            ids: Arc::clone(&io.ids),
            now: format!("{:.3}", io.clock.now()),
        };
        if self.watch {
            recaps.watch(io)
        } else {
            runner.run(&recaps, &self.common, io)
        }
    }
}

impl PerSession for Recaps<'_> {
    const TAG: &'static str = "SESSION_RECAP";
    const WORK: &'static str = "writing a recap";

    fn of_stream(&self, excerpt: &Excerpt) -> Result<Product, NoResult> {
        self.may_start(excerpt)?;
        self.runner.maker.recap(excerpt)
    }

    fn of_session(&self, path: &Path, session: &Conversation) -> Result<Written, NoResult> {
        let arguments = self.arguments;
        self.may_start(&session.excerpt)?;
        let (maker, moment) = (&self.runner.maker, &self.runner.moment);
        let made = session.make(maker, |excerpt| maker.recap(excerpt));
        let product = match made {
            Err(nothing) if arguments.write => return Err(write_cost(session, moment, nothing)),
            made => made?,
        };
        if arguments.auto {
            // Somebody may have come back and gone on meanwhile.
            let now = self.read(path)?.excerpt;
            if now.messages() != session.excerpt.messages() || !now.gate().is_idle() {
                let nothing = NoResult::from(Reason::Gate(Held::Busy)).at_cost(product.cost);
                return Err(if arguments.write {
                    write_cost(session, moment, nothing)
                } else {
                    nothing
                });
            }
        }
        if !arguments.write {
            return Ok((product, None));
        }
        let ours = provenance(&product);
        match write_into(session, moment, |files| files.recap(&product.text, &ours)) {
            Ok(recorded) => Ok((product, Some(recorded))),
            Err(error) => Err(unreadable(error).at_cost(product.cost)),
        }
    }

    fn request(&self, excerpt: &Excerpt) -> Option<Request> {
        self.runner.maker.recap_question(excerpt)
    }

    fn write_text(&self, made: &Made, writer: &mut RecordWriter) -> Result<(), WriteError> {
        let Ok((Product { text, .. }, _)) = &made.result else {
            return Ok(());
        };
        let session = made.text_prefix();
        let line = if self.styled {
            format!("{session}\u{1b}[2m※ \u{1b}[1mrecap: \u{1b}[22;2;3m{text}\u{1b}[0m\n")
        } else {
            format!("{session}※ recap: {text}\n")
        };
        writer.echo(line.as_bytes())
    }

    fn write_record(&self, made: Made, writer: &mut RecordWriter) -> Result<(), WriteError> {
        match made.result {
            Ok((product, recorded)) => {
                let turnpipe = extension(Some(product.model), product.cost.as_ref());
                let uuid = self.ids.uuid().to_string();
                let mut record =
                    AwaySummaryRecord::new(product.text, uuid, self.now.clone(), turnpipe);
                record.written = recorded.map(|_| true);
                record.session_id = made.session_id;
                record.path = made.path;
                writer.record(&record)
            }
            Err(nothing) => writer.record(&RecapRecord {
                ok: false,
                reason: nothing.reason.name().to_owned(),
                error: nothing.error,
                session_id: made.session_id,
                path: made.path,
                turnpipe: extension(None, nothing.cost.as_deref()),
            }),
        }
    }
}

impl Recaps<'_> {
    /// The guards of `--auto`.
    fn may_start(&self, excerpt: &Excerpt) -> Result<(), NoResult> {
        if !self.arguments.auto {
            return Ok(());
        }
        let now = self.runner.moment.clock.now();
        let decided = excerpt.gate().decide(now, self.away());
        decided.map_err(|held| Reason::Gate(held).into())
    }

    fn read(&self, path: &Path) -> Result<Conversation, NoResult> {
        Conversation::read(path, self.arguments.common.source.mapping())
    }

    fn away(&self) -> Duration {
        match self.arguments.away_minutes {
            0 => AWAY,
            minutes => Duration::from_mins(minutes),
        }
    }

    /// Prints recaps of one session at a terminal.
    fn watch(&self, io: &mut Io) -> anyhow::Result<Outcome> {
        let common = &self.arguments.common;
        let [name] = common.sessions.as_slice() else {
            return Err(UsageError::new("--watch: name one session").into());
        };
        if !io.terminal.stdin || !io.terminal.stdout {
            return Err(UsageError::new("--watch: needs a terminal").into());
        }
        let session = common.source.one(name, io)?;
        let path = session
            .lasting_path()
            .map_err(|error| session.named(&error))?;
        let mut writer = output::writer(self.runner.form, io)?;
        let stop = &self.runner.stop;
        watch_terminal(
            own_terminal()?,
            self.away(),
            &io.clock,
            &stop.stop,
            &mut || self.read(path).ok().map(|session| session.excerpt),
            &mut |_| {
                let session = self.read(path);
                let result = session.and_then(|session| self.of_session(path, &session));
                (result, self.read(path).ok().map(|session| session.excerpt))
            },
            &mut |result| {
                let made = Made {
                    is_alone: true,
                    path: Some(path.display().to_string()),
                    session_id: None,
                    result,
                };
                self.runner.print(self, made, &mut writer)
            },
        )?;
        Ok(stop.or(Outcome::Done))
    }
}
