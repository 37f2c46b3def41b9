//! `recap`: where a person left off.

use std::fmt::Display;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::cmd::command::Run;
use crate::cmd::model_arguments::{Occasion, StandIn};
use crate::cmd::output::{self, RecordWriter};
use crate::cmd::session::conversation::Conversation;
use crate::cmd::side::per_session::{
    Made, PerSession, PerSessionArguments, Plan, Runner, Written, of_named,
};
use crate::cmd::side::recap_watch::{own_terminal, watch_terminal};
use crate::cmd::side::side_arguments::extension;
use crate::cmd::{Globals, Outcome, UsageError};
use crate::flow::{Excerpt, NoResult, Product, Reason};
use crate::io::Io;
use crate::jsonl::WriteError;
use crate::model::Request;
use crate::records::{AwaySummary, AwaySummaryRecord, RecapRecord};
use crate::session::record::ForeignSession;
use crate::side::prompts;
use crate::side::recap::{AWAY, Held};
use crate::side::title::TitleStyle;

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
pub(crate) struct RecapArguments {
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
    #[arg(long, conflicts_with = "dry_run")]
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
}

impl Run for RecapArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        self.run_at(own_terminal, globals, io)
    }
}

impl RecapArguments {
    /// Watches this terminal if it is to watch one.
    pub(crate) fn run_at(
        self,
        terminal: impl FnOnce() -> anyhow::Result<File>,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<Outcome> {
        let plan = Plan {
            prompt: prompts::RECAP,
            style: TitleStyle::Sentence,
            occasion: if self.auto {
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
        };
        if self.watch {
            recaps.watch(terminal, io)
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
        self.may_start(&session.excerpt)?;
        let maker = &self.runner.maker;
        let made = session
            .make(maker, |excerpt| maker.recap(excerpt))
            .and_then(|product| self.still_due(path, session, product));
        if !self.arguments.write {
            return Ok((made?, None));
        }
        let product = made.map_err(|nothing| self.runner.write_cost(session, nothing))?;
        let write = |files: &mut ForeignSession, text: &str, ours: &Value| files.recap(text, ours);
        self.runner.write(session, product, write)
    }

    fn request(&self, excerpt: &Excerpt) -> Option<Request> {
        self.runner.maker.recap_question(excerpt)
    }

    fn write_text(&self, made: &Made, writer: &mut RecordWriter) -> Result<(), WriteError> {
        let text = match &made.result {
            Ok((Product { text, .. }, _)) => text,
            Err(nothing) => {
                if !self.arguments.auto {
                    let why: &dyn Display = match &nothing.reason {
                        Reason::EmptyResult => &"there is nothing to recap",
                        other => other,
                    };
                    self.runner.note_nothing(made, nothing, why);
                }
                return Ok(());
            }
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
                let moment = &self.runner.moment;
                let (uuid, now) = (moment.uuid(), moment.now());
                writer.record(&AwaySummaryRecord {
                    subtype: AwaySummary::Only,
                    content: product.text,
                    written: recorded.map(|_| true),
                    uuid,
                    session_id: made.session_id,
                    path: made.path,
                    timestamp: now,
                    turnpipe,
                })
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

    /// A recap that nobody asked for is of no use once somebody has gone on: perhaps while it was
    /// made.
    fn still_due(
        &self,
        path: &Path,
        session: &Conversation,
        product: Product,
    ) -> Result<Product, NoResult> {
        if self.arguments.auto || self.arguments.watch {
            let now = self.read(path)?.excerpt;
            if now.messages() != session.excerpt.messages() || !now.gate().is_idle() {
                return Err(NoResult::from(Reason::Gate(Held::Busy)).at_cost(product.cost));
            }
        }
        Ok(product)
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
    fn watch(
        &self,
        terminal: impl FnOnce() -> anyhow::Result<File>,
        io: &mut Io,
    ) -> anyhow::Result<Outcome> {
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
            terminal()?,
            self.away(),
            &io.clock,
            &stop.stop,
            &mut || self.read(path).ok().map(|session| session.excerpt),
            &mut || of_named(self, &session, &common.source),
            &mut |made| self.runner.print(self, made, &mut writer),
        )?;
        Ok(stop.or(Outcome::Done))
    }
}
