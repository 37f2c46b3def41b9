//! Runs `title` and `recap`: one line of text about each session.

use std::fmt::Display;
use std::num::NonZeroU32;
use std::path::Path;

use clap::Args;

use crate::client::model::{Delivery, Pace};
use crate::commands::error::ModelFailures;
use crate::commands::inputs::report_foreign_stream;
use crate::commands::model_arguments::{
    Fallback, NoModel, SideArguments, StopWatch, nothing_to_send,
};
use crate::commands::session::names::LATEST;
use crate::commands::session::names::{NamedSession, StandardInput};
use crate::commands::session::source::{FilterArguments, LimitArguments, SourceArguments, selects};
use crate::commands::{Form, Globals, InputErrors, RecordWriter, Status, UsageError, output};
use crate::io::{Io, MessageLevel, Messages, Moment};
use crate::jsonl::WriteResult;
use crate::message::SessionId;
use crate::render::ProgressLine;
use crate::session::record::RecordOutcome;
use crate::session::{Depth, ManualTitle, process_in_order};
use crate::summaries::{
    Auto, Driver, Excerpt, Generator, Kind, Language, LanguageChoice, NoText, Reason,
    SessionExcerpt, StreamedConversation, TextEngine, Written,
};

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
    #[command(flatten)]
    side: SideArguments,
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
    pub(crate) write: Option<ManualTitle>,
}

/// The outcome for one session.
pub(crate) struct SessionOutput {
    /// Whether it is the only named session.
    pub(crate) is_alone: bool,
    pub(crate) path: Option<String>,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) result: Result<Written, NoText>,
}

/// A command that is ready to read its first session.
pub(crate) struct Runner {
    tag: &'static str,
    work: &'static str,
    pub(crate) driver: Driver,
    pub(crate) stop: StopWatch,
    pub(crate) form: Form,
    messages: Messages,
}

impl PerSessionArguments {
    /// Names the latest session if the arguments name and select none, and nothing is piped in.
    pub(crate) fn name_latest(&mut self, io: &Io) {
        let has_sessions = selects(&self.source, &self.filter, &self.limit);
        if self.sessions.is_empty() && !has_sessions && io.terminal.stdin {
            self.sessions.push(LATEST.to_owned());
        }
    }

    /// Prepares the command; `None` with `--print-prompt`.
    ///
    /// # Errors
    /// The arguments or the configuration are invalid, or the prompt cannot be printed.
    pub(crate) fn runner(
        &self,
        plan: Plan,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<Option<Runner>> {
        let Some(instructions) = self.side.instructions(plan.prompt, io)? else {
            return Ok(None);
        };
        let stop = StopWatch::listen(io.stdout_watch.take());
        let engine = self.side.model.engine(
            plan.no_model,
            plan.fallback,
            Pace::per_minute(self.rpm),
            &stop.stop,
            globals,
            io,
        )?;
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
                keeps_texts: self.sessions.iter().all(|name| name == "-"),
                moment: Moment::of(io),
                named_roots: self.source.named_roots.clone(),
                mapping: self.source.file_mapping(),
            },
            stop,
            form: self.side.form.form(io.terminal),
            messages: io.messages.clone(),
        }))
    }
}

impl Runner {
    /// Makes the text of each session, and passes it to `print`.
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
        let input = match arguments.sessions.as_slice() {
            [] if selects(&arguments.source, &arguments.filter, &arguments.limit) => {
                let source = &arguments.source;
                source.check_roots(&mut inputs);
                let paths = source.select_files(&arguments.filter, &arguments.limit, io);
                if paths.is_empty() && !inputs.any {
                    source.note_none(0, io);
                }
                StandardInput::List(source.at(paths))
            }
            [] => arguments.source.read_stdin(io)?,
            [name] if name == "-" => arguments.source.read_stdin(io)?,
            names => {
                let mut listing = arguments.source.listing(Depth::Ends);
                let clock = io.clock.as_ref();
                arguments.filter.apply(&mut listing.selection, clock);
                StandardInput::List(arguments.source.resolve_in(&listing, names, io)?)
            }
        };
        if arguments.side.model.dry_run {
            let mut writer = output::record_writer(io)?;
            return self.print_requests(input, &mut writer);
        }
        let progress = match &input {
            StandardInput::List(sessions) => {
                ProgressLine::for_sessions(self.work, sessions.len(), io)
            }
            StandardInput::Conversation(_) => ProgressLine::new_spinner(self.work, io),
        };
        let mut writer = output::writer(self.form, io)?;
        let mut summary = Summary {
            made: 0,
            failed: 0,
            inputs,
            model: ModelFailures::new(&self.messages),
        };
        match input {
            StandardInput::Conversation(stream) => {
                let copy = (self.form == Form::Jsonl).then_some(&mut writer);
                let read = StreamedConversation::read(stream, copy)?;
                report_foreign_stream(read.understanding, &self.messages);
                let text = self.driver.of_stream(&read.excerpt);
                let output = SessionOutput {
                    is_alone: true,
                    path: None,
                    session_id: read.session_id,
                    result: text.map(|text| (text, None)),
                };
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
                        ..self.output(session)
                    },
                    |index, output| -> anyhow::Result<()> {
                        progress.advance();
                        if let Err(no_text) = &output.result
                            && no_text.reason == Reason::Unreadable
                        {
                            let session = &sessions[index];
                            let error = session.path().err().unwrap_or_else(|| {
                                UsageError::new(no_text.error.clone().unwrap_or_default())
                            });
                            summary.inputs.report_session(session, self.form, &error);
                        }
                        summary.note(&output);
                        self.log(&output);
                        print(output, &mut writer)?;
                        Ok(writer.flush()?)
                    },
                )?;
            }
        }
        drop(progress);
        Ok(self.stop.or(summary.outcome(arguments.side.exit_status)))
    }

    /// Makes the text of a session.
    pub(crate) fn output(&self, session: &NamedSession) -> SessionOutput {
        let path = match session.permanent_path() {
            Ok(path) => path.display().to_string(),
            Err(_) => session.name.clone(),
        };
        let read = self.read(session);
        let id = read.as_ref().ok();
        let id = id.and_then(|(_, excerpt)| excerpt.facts.session_id.clone());
        SessionOutput {
            is_alone: true,
            path: Some(path).filter(|path| !path.is_empty()),
            session_id: id.map(SessionId),
            result: read.and_then(|(path, excerpt)| self.driver.of_session(path, &excerpt)),
        }
    }

    fn read<'a>(&self, session: &'a NamedSession) -> Result<(&'a Path, SessionExcerpt), NoText> {
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
            let why = no_text.error.clone();
            let why = why.unwrap_or_else(|| no_text.reason.to_string());
            let message = format!("[{}] {}{reason}: {why}", self.tag, output.prefix());
            self.messages.error(&message);
        }
    }

    /// Prints why a session has no text on standard error, unless that has been reported, or a hint says it for all.
    pub(crate) fn note_no_text(&self, output: &SessionOutput, no_text: &NoText, why: &dyn Display) {
        let is_reported = match no_text.reason {
            Reason::Unreadable => true,
            Reason::NoFastModel if !output.is_alone => true,
            _ => no_text.failure.is_some(),
        };
        if !self.messages.is_printed(MessageLevel::All) && !is_reported {
            self.messages.error(&format!("{}{why}", output.prefix()));
        }
    }

    /// Prints the request body for each conversation that has one.
    fn print_requests(
        &self,
        input: StandardInput,
        writer: &mut RecordWriter,
    ) -> anyhow::Result<Status> {
        let generator = &self.driver.generator;
        let TextEngine::Model(asker) = &generator.engine else {
            return Err(nothing_to_send().into());
        };
        let mut print = |excerpt: &Excerpt| match generator.request(excerpt) {
            Some(request) => {
                let body = asker.provider.body(&request, Delivery::Whole);
                writer.echo(format!("{body}\n").as_bytes())
            }
            None => Ok(()),
        };
        let mut errors = InputErrors::new(&self.messages);
        match input {
            StandardInput::Conversation(stream) => {
                let read = StreamedConversation::read(stream, None)?;
                print(&read.excerpt)?;
            }
            StandardInput::List(sessions) => {
                for session in &sessions {
                    match self.read(session) {
                        Ok((_, session)) => print(&session.excerpt)?,
                        Err(no_text) => {
                            let error = no_text.error.unwrap_or_default();
                            errors.report(&session.name, &UsageError::new(error));
                        }
                    }
                }
            }
        }
        writer.flush()?;
        Ok(errors.outcome(Status::Done))
    }
}

/// The outcomes for all sessions.
struct Summary {
    made: usize,
    failed: usize,
    inputs: InputErrors,
    model: ModelFailures,
}

impl Summary {
    /// Counts the outcome for a session. Reports a text that is not in the agent's files, and a failure
    /// of the model.
    fn note(&mut self, output: &SessionOutput) {
        match &output.result {
            Ok((_, recorded)) => {
                self.made += 1;
                if let Some(RecordOutcome::NotShown(reason)) = recorded {
                    let error = UsageError::new(format!("not written: {reason}"));
                    let path = output.path.as_deref().unwrap_or_default();
                    self.inputs.report(path, &error);
                }
            }
            Err(no_text) => {
                self.failed += 1;
                if let Some(failure) = &no_text.failure {
                    self.model.report(failure);
                }
            }
        }
    }

    fn outcome(&self, exit_status: bool) -> Status {
        let outcome = Status::negative_if(exit_status && self.failed > 0);
        let outcome = self.inputs.outcome(outcome);
        self.model.outcome(self.made, false, outcome)
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
