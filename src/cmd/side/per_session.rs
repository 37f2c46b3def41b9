//! Runs `title` and `recap`: a line of text about each session, made by rules or by a model.

use std::fmt::Display;
use std::num::NonZeroU32;
use std::path::Path;

use clap::Args;
use serde_json::Value;

use crate::cmd::inputs::{InputErrors, report_foreign_stream};
use crate::cmd::model_arguments::{Occasion, StandIn, nothing_to_send};
use crate::cmd::output::{self, Form, RecordWriter};
use crate::cmd::progress::ProgressLine;
use crate::cmd::session::conversation::{Conversation, read_stream, unreadable};
use crate::cmd::session::names::{NamedSession, StandardInput, read_stdin};
use crate::cmd::session::source::{FilterArguments, LimitArguments, SourceArguments, selects};
use crate::cmd::side::model_failures::ModelFailures;
use crate::cmd::side::side_arguments::{SideArguments, extension};
use crate::cmd::stop_watch::StopWatch;
use crate::cmd::{Globals, Outcome, UsageError};
use crate::flow::{Excerpt, Maker, NoResult, Product, Reason, Source};
use crate::io::{Io, Messages};
use crate::jsonl::WriteError;
use crate::message::SessionId;
use crate::model::{Delivery, Pace, Request};
use crate::session::durable::{self, FileSystems, RecordError};
use crate::session::each_in_order;
use crate::session::record::{ForeignSession, Moment, Recorded};
use crate::side::title::TitleStyle;
use crate::side::{Language, LanguageChoice};

/// What `title` and `recap` have in common on the command line.
#[derive(Debug, Args)]
pub(crate) struct PerSessionArguments {
    /// Sessions: paths, ids or their beginnings, titles, or `latest`; `-` is standard input
    #[arg(value_name = "SESSION")]
    pub(crate) sessions: Vec<String>,
    /// Language of the text: `auto` for that of the conversation, or a code like `de`
    #[arg(long, value_name = "LANGUAGE", default_value = "auto", value_parser = parse_language)]
    language: LanguageChoice,
    /// Send at most N requests per minute [default: no limit]
    #[arg(long, value_name = "N")]
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

/// What a command makes of each session.
pub(crate) trait PerSession: Sync {
    /// What its messages begin with under `--verbose`.
    const TAG: &'static str;

    /// What its progress line says of a single session.
    const WORK: &'static str;

    /// The text for a conversation that came on a stream.
    ///
    /// # Errors
    /// Why there is no text.
    fn of_stream(&self, excerpt: &Excerpt) -> Result<Product, NoResult>;

    /// The text for a session, and what became of it in its file if it was to be written.
    ///
    /// # Errors
    /// Why there is no text.
    fn of_session(&self, path: &Path, session: &Conversation) -> Result<Written, NoResult>;

    /// The request that would be sent; nothing if too little was said.
    fn request(&self, excerpt: &Excerpt) -> Option<Request>;

    /// Writes the text for people, or the reason why there is none.
    ///
    /// # Errors
    /// Writing failed.
    fn write_text(&self, made: &Made, writer: &mut RecordWriter) -> Result<(), WriteError>;

    /// Writes the record.
    ///
    /// # Errors
    /// Writing failed.
    fn write_record(&self, made: Made, writer: &mut RecordWriter) -> Result<(), WriteError>;
}

/// A text, and what became of it in the session's file.
pub(crate) type Written = (Product, Option<Recorded>);

/// What came of one session.
pub(crate) struct Made {
    /// Whether it is the only session that was named.
    pub(crate) is_alone: bool,
    pub(crate) path: Option<String>,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) result: Result<Written, NoResult>,
}

/// How the texts of a command are made.
pub(crate) struct Plan {
    /// The built-in instructions for a model.
    pub(crate) prompt: &'static str,
    pub(crate) style: TitleStyle,
    pub(crate) occasion: Occasion,
    pub(crate) stand_in: StandIn,
}

/// Everything that is settled before the first session is read.
pub(crate) struct Runner {
    pub(crate) maker: Maker,
    pub(crate) moment: Moment,
    pub(crate) stop: StopWatch,
    pub(crate) form: Form,
    verbose: bool,
    quiet: bool,
    messages: Messages,
}

impl PerSessionArguments {
    /// Settles how texts are made; nothing if only the prompt was to be printed.
    ///
    /// # Errors
    /// The arguments or the configuration make no sense, or the prompt cannot be printed.
    pub(crate) fn runner(
        &self,
        plan: &Plan,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<Option<Runner>> {
        let Some(instructions) = self.side.instructions(plan.prompt, io)? else {
            return Ok(None);
        };
        let stop = StopWatch::listen(io.stdout_watch.take());
        let source = self.side.model.source(
            plan.occasion,
            plan.stand_in,
            Pace::per_minute(self.rpm),
            &stop.stop,
            globals,
            io,
        )?;
        Ok(Some(Runner {
            maker: Maker {
                source,
                instructions,
                language: self.language,
                style: plan.style,
            },
            moment: Moment::of(io),
            stop,
            form: self.side.form.form(io.terminal),
            verbose: globals.verbose,
            quiet: globals.quiet,
            messages: io.messages.clone(),
        }))
    }
}

impl Runner {
    /// Makes the text of each session, and prints it.
    ///
    /// # Errors
    /// The arguments make no sense, or reading or writing failed.
    pub(crate) fn run<Command: PerSession>(
        &self,
        command: &Command,
        arguments: &PerSessionArguments,
        io: &mut Io,
    ) -> anyhow::Result<Outcome> {
        let input = match arguments.sessions.as_slice() {
            [] if selects(&arguments.filter, &arguments.limit) => {
                let source = &arguments.source;
                let paths = source.selected(&arguments.filter, &arguments.limit, io);
                StandardInput::List(SourceArguments::at(paths))
            }
            [] => read_stdin(io)?,
            [name] if name == "-" => read_stdin(io)?,
            names => StandardInput::List(arguments.source.named(names, io)?),
        };
        if arguments.side.model.dry_run {
            let mut writer = output::record_writer(io)?;
            return self.print_requests(command, arguments, input, &mut writer);
        }
        let progress = match &input {
            StandardInput::List(sessions) => {
                ProgressLine::of_sessions(Command::WORK, sessions.len(), self.quiet, io)
            }
            StandardInput::Conversation(_) => ProgressLine::spinner(Command::WORK, self.quiet, io),
        };
        let mut writer = output::writer(self.form, io)?;
        let mut summary = Summary {
            made: 0,
            failed: 0,
            inputs: InputErrors::new(&self.messages),
            model: ModelFailures::new(&self.messages, self.verbose),
        };
        match input {
            StandardInput::Conversation(stream) => {
                let copy = (self.form == Form::Jsonl).then_some(&mut writer);
                let read = read_stream(stream, copy)?;
                report_foreign_stream(read.understanding, self.quiet, &self.messages);
                let made = Made {
                    is_alone: true,
                    path: None,
                    session_id: read.session_id.map(SessionId),
                    result: command
                        .of_stream(&read.excerpt)
                        .map(|product| (product, None)),
                };
                summary.note(&made);
                self.print(command, made, &mut writer)?;
            }
            StandardInput::List(sessions) => {
                each_in_order(
                    &sessions,
                    arguments.source.waiting_jobs(),
                    |session| Made {
                        is_alone: sessions.len() == 1,
                        ..of_named(command, session, &arguments.source)
                    },
                    |place, made| -> anyhow::Result<()> {
                        progress.advance();
                        if let Err(nothing) = &made.result
                            && nothing.reason == Reason::Unreadable
                        {
                            let session = &sessions[place];
                            let error = session.path().err().unwrap_or_else(|| {
                                UsageError::new(nothing.error.clone().unwrap_or_default())
                            });
                            summary.inputs.report_session(session, self.form, &error);
                        }
                        summary.note(&made);
                        self.print(command, made, &mut writer)
                    },
                )?;
            }
        }
        drop(progress);
        Ok(self.stop.or(summary.outcome(arguments.side.exit_status)))
    }

    /// Prints what came of one session, or says why nothing did.
    ///
    /// # Errors
    /// Writing failed.
    pub(crate) fn print<Command: PerSession>(
        &self,
        command: &Command,
        made: Made,
        writer: &mut RecordWriter,
    ) -> anyhow::Result<()> {
        if let Err(nothing) = &made.result
            && self.verbose
        {
            let reason = nothing.reason.name();
            let why = nothing.error.clone();
            let why = why.unwrap_or_else(|| nothing.reason.to_string());
            let message = format!("[{}] {}{reason}: {why}", Command::TAG, made.prefix());
            self.messages.note(&message);
        }
        match self.form {
            Form::Text => command.write_text(&made, writer)?,
            Form::Jsonl => command.write_record(made, writer)?,
        }
        Ok(writer.flush()?)
    }

    /// Says to people why nothing came of a session, unless that has been said.
    pub(crate) fn note_nothing(&self, made: &Made, nothing: &NoResult, why: &dyn Display) {
        let is_said = nothing.reason == Reason::Unreadable || nothing.failure.is_some();
        if !self.verbose && !is_said {
            self.messages.note(&format!("{}{why}", made.prefix()));
        }
    }

    /// Writes a text into the files of its session.
    ///
    /// # Errors
    /// It is not there: the session has a title that a person gave, or cannot be written to.
    pub(crate) fn write(
        &self,
        session: &Conversation,
        product: Product,
        write: impl FnOnce(&mut ForeignSession, &str, &Value) -> Result<Recorded, RecordError>,
    ) -> Result<Written, NoResult> {
        let ours = extension(Some(product.model.clone()), product.cost.as_ref());
        let ours = serde_json::to_value(ours).unwrap_or_default();
        let recorded = self.write_into(session, |files| write(files, &product.text, &ours));
        match recorded {
            Ok(Recorded::KeptManualTitle) => {
                Err(NoResult::from(Reason::ManualTitle).at_cost(product.cost))
            }
            Ok(recorded) => Ok((product, Some(recorded))),
            Err(error) => Err(unreadable(error).at_cost(product.cost)),
        }
    }

    /// Writes beside the session what a request cost that produced nothing.
    pub(crate) fn write_cost(&self, session: &Conversation, nothing: NoResult) -> NoResult {
        let Some(cost) = nothing.cost.as_deref() else {
            return nothing;
        };
        let ours = serde_json::to_value(extension(None, Some(cost))).unwrap_or_default();
        match self.write_into(session, |files| files.cost(&ours)) {
            Ok(_) => nothing,
            Err(error) => nothing.because(error.to_string()),
        }
    }

    fn write_into(
        &self,
        session: &Conversation,
        write: impl FnOnce(&mut ForeignSession) -> Result<Recorded, RecordError>,
    ) -> Result<Recorded, RecordError> {
        let Conversation { session, facts, .. } = session;
        let systems = FileSystems::Local;
        let mut files = ForeignSession::new(session, facts, systems, self.moment.clone());
        let recorded = write(&mut files)?;
        files.finish(durable::Sync::Data)?;
        Ok(recorded)
    }

    /// Prints the body of the request for each conversation that there would be one for.
    fn print_requests<Command: PerSession>(
        &self,
        command: &Command,
        arguments: &PerSessionArguments,
        input: StandardInput,
        writer: &mut RecordWriter,
    ) -> anyhow::Result<Outcome> {
        let Source::Model(asker) = &self.maker.source else {
            return Err(nothing_to_send().into());
        };
        let mut print = |excerpt: &Excerpt| match command.request(excerpt) {
            Some(request) => {
                let body = asker.provider.body(&request, Delivery::Whole);
                writer.echo(format!("{body}\n").as_bytes())
            }
            None => Ok(()),
        };
        let mut errors = InputErrors::new(&self.messages);
        match input {
            StandardInput::Conversation(stream) => print(&read_stream(stream, None)?.excerpt)?,
            StandardInput::List(sessions) => {
                for session in &sessions {
                    match read(session, &arguments.source) {
                        Ok((_, conversation)) => print(&conversation.excerpt)?,
                        Err(nothing) => {
                            let error = nothing.error.unwrap_or_default();
                            errors.report(&session.name, &UsageError::new(error));
                        }
                    }
                }
            }
        }
        writer.flush()?;
        Ok(errors.outcome(Outcome::Done))
    }
}

/// What came of all sessions.
struct Summary {
    made: usize,
    failed: usize,
    inputs: InputErrors,
    model: ModelFailures,
}

impl Summary {
    /// Counts what came of a session, and reports how the model failed.
    fn note(&mut self, made: &Made) {
        let Err(nothing) = &made.result else {
            self.made += 1;
            return;
        };
        self.failed += 1;
        if let Some(failure) = &nothing.failure {
            self.model.report(failure);
        }
    }

    fn outcome(&self, exit_status: bool) -> Outcome {
        let outcome = match self.failed {
            0 => return Outcome::Done,
            _ if exit_status => Outcome::AnswerIsNo,
            _ => Outcome::Done,
        };
        let outcome = self.inputs.outcome(outcome);
        self.model.outcome(self.made, outcome)
    }
}

impl Made {
    /// The session's path in front of a message.
    pub(crate) fn prefix(&self) -> String {
        let path = self.path.as_deref();
        path.map(|path| format!("{path}: ")).unwrap_or_default()
    }

    /// What stands before a text for people: the session, if there are several.
    pub(crate) fn text_prefix(&self) -> String {
        if self.is_alone {
            return String::new();
        }
        self.prefix()
    }
}

pub(crate) fn of_named<Command: PerSession>(
    command: &Command,
    session: &NamedSession,
    source: &SourceArguments,
) -> Made {
    let path = match session.lasting_path() {
        Ok(path) => path.display().to_string(),
        Err(_) => session.name.clone(),
    };
    let read = read(session, source);
    let id = read.as_ref().ok();
    let id = id.and_then(|(_, conversation)| conversation.facts.session_id.clone());
    Made {
        is_alone: true,
        path: Some(path).filter(|path| !path.is_empty()),
        session_id: id.map(SessionId),
        result: read.and_then(|(path, conversation)| command.of_session(path, &conversation)),
    }
}

fn read<'a>(
    session: &'a NamedSession,
    source: &SourceArguments,
) -> Result<(&'a Path, Conversation), NoResult> {
    let path = session.lasting_path().map_err(unreadable)?;
    Ok((path, Conversation::read(path, source.mapping())?))
}
