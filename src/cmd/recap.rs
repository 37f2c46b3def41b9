//! `recap`: where somebody left off.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::model_arguments::ModelArguments;
use super::recap_watch::{own_terminal, watch_terminal};
use super::session_source::SourceArguments;
use super::side_arguments::{
    Chosen, Occasion, SideArguments, SideForm, StandIn, choose, extension,
};
use super::side_bodies::print_bodies;
use super::side_progress::SideProgress;
use super::side_stop::StopWatch;
use super::title::{parse_language, provider_of, source_of};
use super::title_sources::{Conversation, Echo, Sources, Wanted, read, sources};
use super::{Globals, Outcome, UsageError, output, usage};
use crate::flow::{Digest, Maker, Nothing, Product, Reason, each_in_order};
use crate::io::{Ids, Io, Messages};
use crate::jsonl::Writer;
use crate::model::Delivery;
use crate::session::record::{Kept, Moment, has_place, keep_recap};
use crate::side::recap::AWAY;
use crate::side::title::TitleStyle;
use crate::side::{LanguageChoice, prompts};
use crate::wire::SessionId;
use crate::wire::records::{AwaySummaryRecord, RecapRecord};

/// Tell where somebody left off
///
/// Takes session files, ids, titles or `latest`; or records of `session list` on standard input, or
/// one conversation there, which is copied. Writes one record each: the goal and the next step in
/// one or two sentences, or the reason why there is nothing to tell. Without a model the recaps
/// follow built-in rules.
#[derive(Debug, Args)]
pub(super) struct RecapArguments {
    /// Files, ids or beginnings of ids, titles, or `latest`; `-` is standard input
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// Write the recap into the session file, so that it is shown on resuming
    #[arg(long)]
    write: bool,
    /// Do it only where an agent would on its own: three prompts, two since the last recap, nothing
    /// unanswered, and nobody there for five minutes
    #[arg(long)]
    auto: bool,
    /// How long somebody must have been away, in minutes
    #[arg(long, value_name = "N", default_value = "5")]
    away_minutes: u64,
    /// Stay at this terminal, and print the recap whenever somebody comes back to it
    #[arg(long)]
    watch: bool,
    /// The language of recaps: `auto` for that of the conversation, or a code like `de`
    #[arg(long, value_name = "LANGUAGE", default_value = "auto", value_parser = parse_language)]
    language: LanguageChoice,
    /// At most so many requests a minute
    #[arg(long, value_name = "N")]
    rpm: Option<u32>,
    /// What to print [default: text on a terminal, else jsonl]
    #[arg(short, long, value_enum, value_name = "FORM")]
    output: Option<SideForm>,
    #[command(flatten)]
    side: SideArguments,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    source: SourceArguments,
}

/// What the work on one session needs.
struct Work<'a> {
    arguments: &'a RecapArguments,
    maker: Maker,
    moment: Moment,
}

/// What came of one session.
struct Recapped {
    path: Option<String>,
    session_id: Option<SessionId>,
    result: Result<(Product, Option<Kept>), Nothing>,
}

impl RecapArguments {
    /// Tells it.
    ///
    /// # Errors
    /// The arguments or the configuration make no sense, or reading or writing failed.
    pub(super) fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let instructions = self.side.instructions(prompts::RECAP)?;
        if self.model.print_prompt {
            output::print(io, &instructions)?;
            return Ok(Outcome::Done);
        }
        let reads_stdin = self.sessions.is_empty() || self.sessions == ["-"];
        if reads_stdin && io.terminal.stdin {
            return Ok(usage::expects_piped_input(&["recap"], io));
        }
        let stop = StopWatch::listen(io);
        let models = self.model.models(globals, io)?;
        let occasion = if self.auto || self.watch {
            Occasion::Automatic
        } else {
            Occasion::Request
        };
        let hints = (!globals.quiet).then_some(&*io);
        let chosen = choose(&models, occasion, StandIn::MainModel, hints)?;
        let work = Work {
            arguments: &self,
            maker: Maker {
                source: source_of(&chosen, &stop, self.rpm),
                instructions,
                language: self.language,
                style: TitleStyle::Sentence,
            },
            moment: Moment {
                clock: Arc::clone(&io.clock),
                ids: Arc::clone(&io.ids),
            },
        };
        let form = SideForm::or_usual(self.output, io);
        let printer = Printer {
            form,
            verbose: globals.verbose,
            styled: globals.color.applies(io.terminal.stdout, &io.environment),
            messages: io.messages.clone(),
            ids: Arc::clone(&io.ids),
            now: format!("{:.3}", io.clock.now()),
        };
        if self.watch {
            return self.watch(&work, &printer, &stop, io);
        }
        let echo = match (form, self.model.dry_run) {
            (SideForm::Jsonl, false) => Echo::Copied,
            _ => Echo::Left,
        };
        let found = sources(&self.sessions, &self.source, echo, io)?;
        if self.model.dry_run {
            return self.dry_run(&work, &chosen, found, io);
        }
        let nothing = self.each(&work, &printer, found, globals, io)?;
        let done = if self.side.exit_status && nothing > 0 {
            Outcome::AnswerIsNo
        } else {
            Outcome::Done
        };
        Ok(stop.or(done))
    }

    /// Tells of each; returns of how many there was nothing to tell.
    fn each(
        &self,
        work: &Work<'_>,
        printer: &Printer,
        found: Sources,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<usize> {
        let mut nothing = 0;
        match found {
            Sources::Dialog {
                digest,
                session_id,
                mut writer,
            } => {
                let result = work.of_dialog(&digest);
                nothing += usize::from(result.is_err());
                let recapped = Recapped {
                    path: None,
                    session_id: session_id.map(SessionId),
                    result: result.map(|product| (product, None)),
                };
                printer.print(&mut writer, recapped)?;
                writer.flush()?;
            }
            Sources::Sessions(wanted) => {
                let mut writer = output::record_writer(io)?;
                let mut progress = SideProgress::new(wanted.len(), globals, io.terminal);
                each_in_order(
                    &wanted,
                    self.source.waiting_jobs(),
                    |wanted| work.of_session(wanted),
                    |_, recapped| -> anyhow::Result<()> {
                        progress.advance();
                        nothing += usize::from(recapped.result.is_err());
                        printer.print(&mut writer, recapped)?;
                        writer.flush()?;
                        Ok(())
                    },
                )?;
                progress.finish();
            }
        }
        Ok(nothing)
    }

    /// Prints the bodies of the requests.
    fn dry_run(
        &self,
        work: &Work<'_>,
        chosen: &Chosen,
        found: Sources,
        io: &mut Io,
    ) -> anyhow::Result<Outcome> {
        let provider = provider_of(chosen)?;
        let body = |digest: &Digest| {
            let request = work.maker.recap_question(digest)?;
            Some(provider.body(&request, Delivery::Whole))
        };
        print_bodies(found, &self.source, io, body)
    }

    fn watch(
        &self,
        work: &Work<'_>,
        printer: &Printer,
        stop: &StopWatch,
        io: &mut Io,
    ) -> anyhow::Result<Outcome> {
        let [name] = self.sessions.as_slice() else {
            return Err(UsageError::new("--watch: name one session").into());
        };
        if !io.terminal.stdin || !io.terminal.stdout {
            return Err(UsageError::new("--watch: needs a terminal").into());
        }
        let path = self
            .source
            .find(name, io)
            .map_err(|error| super::session_source::not_found(name, &error))?;
        let mut writer = output::record_writer(io)?;
        watch_terminal(
            own_terminal()?,
            self.away(),
            &io.clock,
            &stop.stop,
            &mut || read(&path, &self.source).ok().map(|read| read.digest),
            &mut |digest| {
                let result = work.maker.recap(digest);
                let still = read(&path, &self.source).ok();
                (result, still.map(|read| read.digest))
            },
            &mut |result| {
                let recapped = Recapped {
                    path: Some(path.display().to_string()),
                    session_id: None,
                    result: result.map(|product| (product, None)),
                };
                printer.print(&mut writer, recapped)?;
                writer.flush()?;
                Ok(())
            },
        )?;
        Ok(stop.or(Outcome::Done))
    }

    fn away(&self) -> Duration {
        match self.away_minutes {
            0 => AWAY,
            minutes => Duration::from_mins(minutes),
        }
    }
}

impl Work<'_> {
    fn of_dialog(&self, digest: &Digest) -> Result<Product, Nothing> {
        self.gated(digest)?;
        self.maker.recap(digest)
    }

    /// The gate of recaps that nobody asked for.
    fn gated(&self, digest: &Digest) -> Result<(), Nothing> {
        if !self.arguments.auto {
            return Ok(());
        }
        let now = self.moment.clock.now();
        digest
            .gate()
            .decide(now, self.arguments.away())
            .map_err(|held| Reason::Gate(held).into())
    }

    fn of_session(&self, wanted: &Wanted) -> Recapped {
        let path = match wanted {
            Wanted::File(path) => path,
            Wanted::Missing { path, error } => {
                return Recapped {
                    path: Some(path.clone()).filter(|path| !path.is_empty()),
                    session_id: None,
                    result: Err(Nothing::from(Reason::Unreadable).because(error)),
                };
            }
        };
        let read = read(path, &self.arguments.source);
        let session_id = read
            .as_ref()
            .ok()
            .and_then(|read| read.facts.session_id.clone());
        Recapped {
            path: Some(path.display().to_string()),
            session_id: session_id.map(SessionId),
            result: read.and_then(|read| self.of_conversation(path, &read)),
        }
    }

    fn of_conversation(
        &self,
        path: &Path,
        found: &Conversation,
    ) -> Result<(Product, Option<Kept>), Nothing> {
        let arguments = self.arguments;
        self.gated(&found.digest)?;
        if arguments.write && (!has_place(found.session.agent()) || found.session.is_document()) {
            return Err(Reason::UnsupportedFormat.into());
        }
        let product = found.make(&self.maker, |digest| self.maker.recap(digest))?;
        if arguments.auto {
            // Somebody may have come back and gone on meanwhile.
            let now = read(path, &arguments.source)?;
            if now.digest.messages() != found.digest.messages() || !now.digest.gate().is_idle() {
                let held = Reason::Gate(crate::side::recap::Held::Busy);
                return Err(Nothing::from(held).at_cost(product.cost));
            }
        }
        if !arguments.write {
            return Ok((product, None));
        }
        let ours = extension(Some(product.model.clone()), product.cost.as_ref());
        let ours = serde_json::to_value(ours).unwrap_or_default();
        let kept = keep_recap(path, &product.text, &ours, &self.moment)
            .map_err(|error| Nothing::from(Reason::Unreadable).because(error.to_string()))?;
        Ok((product, Some(kept)))
    }
}

struct Printer {
    form: SideForm,
    verbose: bool,
    /// Dim, bold and italic.
    styled: bool,
    messages: Messages,
    ids: Arc<dyn Ids>,
    now: String,
}

impl Printer {
    fn print(
        &self,
        writer: &mut Writer<Box<dyn Write + Send>>,
        recapped: Recapped,
    ) -> anyhow::Result<()> {
        let Recapped {
            path,
            session_id,
            result,
        } = recapped;
        if let Err(nothing) = &result {
            let named = path
                .as_deref()
                .map(|path| format!("{path}: "))
                .unwrap_or_default();
            if self.verbose {
                let why = nothing.error.as_deref().unwrap_or(nothing.reason.advice());
                self.messages.note(&format!(
                    "[SESSION_RECAP] {named}{}: {why}",
                    nothing.reason.name()
                ));
            }
        }
        if self.form == SideForm::Text {
            if let Ok((product, _)) = &result {
                writer.echo(self.for_people(&product.text).as_bytes())?;
            }
            return Ok(());
        }
        match result {
            Ok((product, kept)) => {
                let turnpipe = extension(Some(product.model), product.cost.as_ref());
                let uuid = self.ids.uuid().to_string();
                let mut record =
                    AwaySummaryRecord::new(product.text, uuid, self.now.clone(), turnpipe);
                record.written = kept.map(|kept| kept == Kept::Written);
                record.session_id = session_id;
                record.path = path;
                writer.record(&record)?;
            }
            Err(nothing) => writer.record(&RecapRecord {
                ok: false,
                reason: nothing.reason.name().to_owned(),
                error: nothing.error,
                session_id,
                path,
                turnpipe: extension(None, nothing.cost.as_deref()),
            })?,
        }
        Ok(())
    }

    fn for_people(&self, recap: &str) -> String {
        if self.styled {
            format!("\u{1b}[2m※ \u{1b}[1mrecap: \u{1b}[22;2;3m{recap}\u{1b}[0m\n")
        } else {
            format!("※ recap: {recap}\n")
        }
    }
}
