//! Runs `title` and `recap`: one line of text about each session.

use std::fmt::Display;
use std::io::BufReader;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use clap::Args;

use crate::client::model::{Delivery, Pace, Request};
use crate::commands::error::ModelFailures;
use crate::commands::inputs::report_foreign_stream;
use crate::commands::model_arguments::{
    Fallback, MODEL_OPTIONS, NoModel, SideArguments, StopWatch, check_price,
    new_nothing_to_send_error,
};
use crate::commands::session::gates::{parse_amount, report_failed_gates};
use crate::commands::session::names::{LATEST, NamedSession, StandardInput};
use crate::commands::session::source::{FilterArguments, LimitArguments, SourceArguments, selects};
use crate::commands::{Form, Globals, InputErrors, RecordWriter, Status, UsageError, output};
use crate::io::{Clock, InputStream, Io, MessageLevel, Messages, Moment};
use crate::jsonl::WriteResult;
use crate::message::SessionId;
use crate::records::GateResult;
use crate::render::ProgressLine;
use crate::session::record::RecordOutcome;
use crate::session::{Depth, ManualTitle, Prices, Selection, process_in_order};
use crate::summaries::{
    Asker, Auto, CostLimit, Driver, Estimate, GeneratedText, Generator, Kind, Language,
    LanguageChoice, NoText, Reason, SessionExcerpt, StreamedConversation, TextEngine,
    format_amount,
};
use crate::text::format_count;

/// Arguments of `title` and `recap`.
#[derive(Debug, Args)]
pub(crate) struct PerSessionArguments {
    /// Sessions: paths, ids or their prefixes, titles, or `latest`; `-` is standard input
    #[arg(value_name = "SESSION")]
    pub(crate) sessions: Vec<String>,
    /// Language of the text: a code like `de`, or `auto` for the language of the conversation
    #[arg(long, value_name = "LANGUAGE", default_value = "auto", value_parser = parse_language, hide_short_help = true)]
    language: LanguageChoice,
    /// Send at most N requests per minute [default: no limit]
    #[arg(long, value_name = "N", hide_short_help = true)]
    rpm: Option<NonZeroU32>,
    /// Send no requests that would cost more than this many US dollars
    ///
    /// Exits with 6 before the first request if the estimate is above it, and once the tokens that the server reports
    /// cost more. What is written by then stays. `--dry-run` prints the estimate, and so does a batch at a terminal.
    #[arg(long, value_name = "AMOUNT", value_parser = parse_amount, help_heading = MODEL_OPTIONS, hide_short_help = true)]
    max_cost: Option<f64>,
    #[command(flatten)]
    pub(super) side: SideArguments,
    #[command(flatten)]
    pub(crate) source: SourceArguments,
    #[command(flatten)]
    filter: FilterArguments,
    #[command(flatten)]
    limit: LimitArguments,
}

fn parse_language(name: &str) -> Result<LanguageChoice, String> {
    if name == "auto" {
        return Ok(LanguageChoice::Conversation);
    }
    Language::named(name)
        .map(LanguageChoice::Named)
        .ok_or_else(|| "unknown language; use a code like `en`, `de`, `zh`".to_owned())
}

/// The settings of a command.
pub(crate) struct Plan {
    /// The tag of messages with `--verbose`.
    pub(crate) tag: &'static str,
    /// The text of the progress line.
    pub(crate) work: &'static str,
    /// The built-in instructions for a model.
    pub(crate) prompt: &'static str,
    pub(crate) kind: Kind,
    pub(crate) fallback: Fallback,
    pub(crate) no_model: NoModel,
    pub(crate) auto: Auto,
    pub(crate) only_stale: bool,
    pub(crate) write: Option<ManualTitle>,
}

/// The outcome for one session.
pub(crate) struct SessionOutput {
    /// Whether it is the only named session.
    pub(crate) is_alone: bool,
    pub(crate) path: Option<String>,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) result: Result<GeneratedText, NoText>,
}

/// A command that is ready to read its first session.
pub(crate) struct Runner {
    tag: &'static str,
    pub(super) work: &'static str,
    pub(crate) driver: Driver,
    pub(crate) stop: StopWatch,
    pub(crate) form: Form,
    messages: Messages,
    pub(super) prices: Prices,
    max_cost: Option<f64>,
}

impl PerSessionArguments {
    /// Names the latest session if the arguments name and select none, and nothing is piped in.
    pub(crate) fn name_latest(&mut self, io: &Io) {
        if self.sessions.is_empty() && !self.selects() && io.terminal.stdin {
            self.sessions.push(LATEST.to_owned());
        }
    }

    /// Whether the arguments select sessions without naming them.
    pub(crate) fn selects(&self) -> bool {
        self.sessions.is_empty() && selects(&self.source, &self.filter, &self.limit)
    }

    /// Adds the filters and the limit to a selection.
    pub(super) fn apply(&self, selection: &mut Selection, clock: &dyn Clock) {
        self.filter.apply(selection, clock);
        self.limit.apply(selection);
    }

    /// Returns the sessions that the arguments name or select, else standard input.
    fn find_input(&self, inputs: &mut InputErrors, io: &mut Io) -> anyhow::Result<StandardInput> {
        let source = &self.source;
        match self.sessions.as_slice() {
            [] if self.selects() => {
                source.check_roots(inputs);
                let paths = source.select_files(&self.filter, &self.limit, io);
                if paths.is_empty() && !inputs.any {
                    source.report_none_found(0, io);
                }
                Ok(StandardInput::List(source.name_files(paths)))
            }
            [] => source.read_stdin(io),
            [name] if name == "-" => source.read_stdin(io),
            names => {
                let mut listing = source.listing(Depth::Ends);
                self.filter.apply(&mut listing.selection, io.clock.as_ref());
                let sessions = source.resolve_in(&listing, names, io)?;
                Ok(StandardInput::List(sessions))
            }
        }
    }

    /// Prepares the command; `None` with `--print-prompt`.
    ///
    /// # Errors
    /// The arguments or the configuration are invalid, or the prompt cannot be printed.
    pub(crate) fn create_runner(
        &self,
        plan: Plan,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<Option<Runner>> {
        let Some(instructions) = self.side.load_instructions(plan.prompt, io)? else {
            return Ok(None);
        };
        let stop = StopWatch::listen(io.stdout_watch.take());
        let mut engine = self.side.model.create_engine(
            plan.no_model,
            plan.fallback,
            Pace::per_minute(self.rpm),
            &stop.stop,
            globals,
            io,
        )?;
        let prices = globals.prices(None, io)?;
        if let (TextEngine::Model(asker), Some(limit)) = (&mut engine, self.max_cost) {
            check_price(asker.provider.name(), &prices)
                .map_err(|error| error.with_hint("add a price to the configuration"))?;
            asker.limit = Some(Arc::new(CostLimit::new(limit, prices.clone())));
        }
        Ok(Some(Runner {
            tag: plan.tag,
            work: plan.work,
            driver: Driver {
                generator: Generator {
                    kind: plan.kind,
                    engine,
                    instructions,
                    language: self.language,
                },
                auto: plan.auto,
                write: plan.write,
                only_stale: plan.only_stale,
                keeps_texts: self.sessions.iter().all(|name| name == "-"),
                moment: Moment::from_io(io),
                named_roots: self.source.named_roots.clone(),
                mapping: self.source.file_mapping(),
            },
            stop,
            form: self.side.form.form(io.terminal),
            messages: io.messages.clone(),
            prices,
            max_cost: self.max_cost,
        }))
    }
}

impl Runner {
    /// Generates the text about each session, and passes it to `print`.
    ///
    /// # Errors
    /// The arguments are invalid, or reading or writing failed.
    pub(crate) fn run(
        &self,
        arguments: &PerSessionArguments,
        io: &mut Io,
        print: impl Fn(SessionOutput, &mut RecordWriter) -> WriteResult,
    ) -> anyhow::Result<Status> {
        let mut inputs = InputErrors::new(&self.messages);
        let input = arguments.find_input(&mut inputs, io)?;
        if arguments.side.model.dry_run {
            let mut writer = output::open_record_writer(io)?;
            return self.print_requests(input, &mut writer, io);
        }
        if let StandardInput::List(sessions) = &input
            && let TextEngine::Model(asker) = &self.driver.generator.engine
            && (self.max_cost.is_some() || io.terminal.stderr && sessions.len() > 1)
        {
            let estimate = self.estimate(asker, sessions, arguments.source.jobs().get());
            if let Some(status) = self.check_estimate(&estimate, io.terminal.stderr, io) {
                return Ok(inputs.to_status(status));
            }
        }
        let progress = match &input {
            StandardInput::List(sessions) => {
                ProgressLine::for_sessions(self.work, sessions.len(), io)
            }
            StandardInput::Conversation(_) => ProgressLine::new_spinner(self.work, io),
        };
        let mut writer = output::open_writer(self.form, io)?;
        let mut summary = Summary {
            not_paid: 0,
            written: 0,
            failed: 0,
            inputs,
            model: ModelFailures::new(&self.messages),
        };
        match input {
            StandardInput::Conversation(stream) => {
                let output = self.generate_for_stream(stream, &mut writer)?;
                summary.note(&output);
                self.log(&output);
                print(output, &mut writer)?;
                writer.flush()?;
            }
            StandardInput::List(sessions) => {
                process_in_order(
                    &sessions,
                    arguments.source.waiting_jobs(),
                    |session| SessionOutput {
                        is_alone: sessions.len() == 1,
                        ..self.generate(session)
                    },
                    |index, output| -> anyhow::Result<()> {
                        progress.advance();
                        self.report_unreadable(&sessions[index], &output, &mut summary.inputs);
                        summary.note(&output);
                        self.log(&output);
                        print(output, &mut writer)?;
                        Ok(writer.flush()?)
                    },
                )?;
            }
        }
        drop(progress);
        let outcome = summary.outcome(arguments.side.exit_status);
        Ok(self
            .stop
            .or(self.check_spending(summary.not_paid, io).unwrap_or(outcome)))
    }

    /// Generates the text about a conversation on standard input, which is copied if the output has records.
    fn generate_for_stream(
        &self,
        stream: BufReader<InputStream>,
        writer: &mut RecordWriter,
    ) -> anyhow::Result<SessionOutput> {
        let copy = (self.form == Form::Jsonl).then_some(writer);
        let read = StreamedConversation::read(stream, copy)?;
        report_foreign_stream(read.understanding, &self.messages);
        let text = self.driver.write_for_stream(&read.excerpt);
        Ok(SessionOutput {
            is_alone: true,
            path: None,
            session_id: read.session_id,
            result: text.map(GeneratedText::from),
        })
    }

    /// Reports a session that could not be read.
    fn report_unreadable(
        &self,
        session: &NamedSession,
        output: &SessionOutput,
        inputs: &mut InputErrors,
    ) {
        if let Err(no_text) = &output.result
            && no_text.reason == Reason::Unreadable
        {
            let error = session
                .path()
                .err()
                .unwrap_or_else(|| UsageError::new(no_text.error.clone().unwrap_or_default()));
            inputs.report_session(session, self.form, &error);
        }
    }

    /// Estimates the requests for sessions.
    fn estimate(&self, asker: &Asker, sessions: &[NamedSession], jobs: usize) -> Estimate {
        let create_request = |session: &NamedSession| {
            let (path, excerpt) = self.read_excerpt(session).ok()?;
            self.driver.request(path, &excerpt).ok()?
        };
        let mut estimate = Estimate::default();
        // A session without a request adds nothing.
        let _ = process_in_order(sessions, jobs, create_request, |_, request| {
            let mut requests = request.into_iter();
            requests.try_for_each(|request| {
                estimate.add(&request, &*asker.provider, &self.prices);
                (!self.stop.stop.is_cancelled()).then_some(()).ok_or(())
            })
        });
        estimate
    }

    /// Prints an estimate if it `is_wanted`. Returns the exit status if it is above `--max-cost`.
    pub(super) fn check_estimate(
        &self,
        estimate: &Estimate,
        is_wanted: bool,
        io: &Io,
    ) -> Option<Status> {
        let excess = |limit: &f64| estimate.dollars().filter(|dollars| dollars > limit);
        let Some((limit, dollars)) = self
            .max_cost
            .and_then(|limit| Some((limit, excess(&limit)?)))
        else {
            if is_wanted {
                self.messages.warn(&format!("estimate: {estimate}"));
            }
            return None;
        };
        let gate = new_cost_gate(limit, format!("estimate: {estimate}"));
        let status = report_failed_gates(&[gate], io);
        let sufficient = format_amount(dollars).replace(['$', ','], "");
        let hint =
            format!("nothing was sent; `--max-cost {sufficient}` permits it, `-n N` takes fewer");
        self.messages.hint(&hint);
        Some(status)
    }

    /// Returns the exit status if `--max-cost` was exceeded, which left `not_paid` sessions without a text.
    fn check_spending(&self, not_paid: u64, io: &Io) -> Option<Status> {
        let TextEngine::Model(asker) = &self.driver.generator.engine else {
            return None;
        };
        let limit = asker.limit.as_ref().filter(|limit| limit.is_exceeded())?;
        let spent = format_amount(limit.spent());
        let unasked = format_count(not_paid, "session was", "sessions were");
        let gate = new_cost_gate(
            limit.dollars,
            format!("{spent} spent, {unasked} not asked about"),
        );
        Some(report_failed_gates(&[gate], io))
    }

    /// Generates the text about a session.
    pub(crate) fn generate(&self, session: &NamedSession) -> SessionOutput {
        let path = match session.permanent_path() {
            Ok(path) => path.display().to_string(),
            Err(_) => session.name.clone(),
        };
        let read = self.read_excerpt(session);
        let id = read.as_ref().ok();
        let id = id.and_then(|(_, excerpt)| excerpt.facts.session_id.clone());
        SessionOutput {
            is_alone: true,
            path: Some(path).filter(|path| !path.is_empty()),
            session_id: id.map(SessionId),
            result: read.and_then(|(path, excerpt)| self.driver.write_for_session(path, &excerpt)),
        }
    }

    fn read_excerpt<'a>(
        &self,
        session: &'a NamedSession,
    ) -> Result<(&'a Path, SessionExcerpt), NoText> {
        let path = session.permanent_path().map_err(NoText::unreadable)?;
        Ok((
            path,
            SessionExcerpt::read(path, &self.driver.named_roots, self.driver.mapping)?,
        ))
    }

    /// Reports with `--verbose` why a session has no text.
    pub(crate) fn log(&self, output: &SessionOutput) {
        if let Err(no_text) = &output.result
            && self.messages.is_printed(MessageLevel::All)
        {
            let reason = no_text.reason.name();
            let error = no_text.error.clone();
            let cause = error.unwrap_or_else(|| no_text.reason.to_string());
            let message = format!("[{}] {}{reason}: {cause}", self.tag, output.prefix());
            self.messages.error(&message);
        }
    }

    /// Prints the reason for a missing text on standard error, unless it was reported already or a hint covers all sessions.
    pub(crate) fn report_no_text(
        &self,
        output: &SessionOutput,
        no_text: &NoText,
        why: &dyn Display,
    ) {
        let is_reported = match no_text.reason {
            Reason::Unreadable
            | Reason::CostLimit
            | Reason::Untitled
            | Reason::TitleFits
            | Reason::UnknownTitleTime => true,
            Reason::NoFastModel if !output.is_alone => true,
            _ => no_text.failure.is_some(),
        };
        if !self.messages.is_printed(MessageLevel::All) && !is_reported {
            self.messages.error(&format!("{}{why}", output.prefix()));
        }
    }

    /// Prints the body of a request, and adds the request to an estimate.
    pub(super) fn print_request(
        &self,
        asker: &Asker,
        request: &Request,
        estimate: &mut Estimate,
        writer: &mut RecordWriter,
    ) -> WriteResult {
        estimate.add(request, &*asker.provider, &self.prices);
        let body = asker.provider.body(request, Delivery::Whole);
        writer.echo(format!("{body}\n").as_bytes())
    }

    /// Prints the request body for each conversation that has one.
    fn print_requests(
        &self,
        input: StandardInput,
        writer: &mut RecordWriter,
        io: &Io,
    ) -> anyhow::Result<Status> {
        let generator = &self.driver.generator;
        let TextEngine::Model(asker) = &generator.engine else {
            return Err(new_nothing_to_send_error().into());
        };
        let mut estimate = Estimate::default();
        let mut print = |request: Option<Request>| match request {
            Some(request) => self.print_request(asker, &request, &mut estimate, writer),
            None => Ok(()),
        };
        let mut errors = InputErrors::new(&self.messages);
        match input {
            StandardInput::Conversation(stream) => {
                let read = StreamedConversation::read(stream, None)?;
                print(generator.request(&read.excerpt))?;
            }
            StandardInput::List(sessions) => {
                for session in &sessions {
                    let read = self.read_excerpt(session);
                    match read.and_then(|(path, excerpt)| self.driver.request(path, &excerpt)) {
                        Ok(request) => print(request)?,
                        Err(no_text) if no_text.reason == Reason::Unreadable => {
                            let error = no_text.error.unwrap_or_default();
                            errors.report(&session.name, &UsageError::new(error));
                        }
                        // No request would be sent for this session.
                        Err(_) => {}
                    }
                }
            }
        }
        writer.flush()?;
        let status = self.check_estimate(&estimate, true, io);
        Ok(errors.to_status(status.unwrap_or(Status::Done)))
    }
}

/// The outcomes for all sessions.
struct Summary {
    /// Number of texts that `--max-cost` prevented.
    not_paid: u64,
    written: usize,
    failed: usize,
    inputs: InputErrors,
    model: ModelFailures,
}

impl Summary {
    /// Counts the outcome for a session. Reports a text that is not in the agent's files, and a failure
    /// of the model.
    fn note(&mut self, output: &SessionOutput) {
        match &output.result {
            Ok(generated) => {
                self.written += 1;
                if let Some(RecordOutcome::NotShown(reason)) = generated.record_outcome {
                    let error = UsageError::new(format!("not written: {reason}"));
                    let path = output.path.as_deref().unwrap_or_default();
                    self.inputs.report(path, &error);
                }
            }
            Err(no_text) => {
                self.failed += 1;
                self.not_paid += u64::from(no_text.reason == Reason::CostLimit);
                if let Some(failure) = &no_text.failure {
                    self.model.report(failure);
                }
            }
        }
    }

    fn outcome(&self, exit_status: bool) -> Status {
        let outcome = Status::negative_if(exit_status && self.failed > 0);
        let outcome = self.inputs.to_status(outcome);
        self.model.outcome(self.written, false, outcome)
    }
}

/// Returns the failed gate of `--max-cost`.
fn new_cost_gate(limit: f64, message: String) -> GateResult {
    GateResult {
        gate: format!("--max-cost {limit}"),
        passed: false,
        message,
    }
}

impl SessionOutput {
    /// Returns the session's path before a message.
    pub(crate) fn prefix(&self) -> String {
        let path = self.path.as_deref();
        path.map(|path| format!("{path}: ")).unwrap_or_default()
    }

    /// Returns the session's path before a text, if there are several sessions.
    pub(crate) fn text_prefix(&self) -> String {
        if self.is_alone {
            return String::new();
        }
        self.prefix()
    }
}
