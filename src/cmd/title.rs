//! `title`: titles for sessions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::model_arguments::ModelArguments;
use super::session_source::SourceArguments;
use super::side_arguments::{
    Chosen, Occasion, SideArguments, SideForm, StandIn, choose, extension,
};
use super::side_bodies::print_bodies;
use super::side_progress::SideProgress;
use super::side_stop::StopWatch;
use super::title_sources::{Conversation, Echo, Sources, Wanted, read, sources};
use super::{Globals, Outcome, UsageError, output, usage};
use crate::config::{Overrides, Settings, SideGates, side_gates};
use crate::flow::{Asker, Digest, Maker, Nothing, Pace, Product, Reason, Source, each_in_order};
use crate::io::Io;
use crate::model::{Delivery, Provider};
use crate::session::record::{Kept, Moment, has_place, keep_title};
use crate::session::{Standing, TitleSource};
use crate::side::title::TitleStyle;
use crate::side::{Language, LanguageChoice, prompts};
use crate::state::{SessionState, StateRoot};
use crate::wire::SessionId;
use crate::wire::records::TitleRecord;

/// So often a title that nobody asked for is tried.
const MOST_ATTEMPTS: u32 = 3;

/// Name sessions by what they are about
///
/// Takes session files, ids, titles or `latest`; or records of `session list` on standard input, or
/// one conversation there, which is copied. Writes one record each: the title, or the reason why
/// there is none. Without a model the titles follow built-in rules.
#[derive(Debug, Args)]
pub(super) struct TitleArguments {
    /// Files, ids or beginnings of ids, titles, or `latest`; `-` is standard input
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// Write the title into the session file, unless a person gave one
    #[arg(long)]
    write: bool,
    /// Write it over a title that a person gave as well
    #[arg(long, requires = "write")]
    replace: bool,
    /// Do it only where an agent would on its own: no title yet, fewer than three attempts, not
    /// switched off, a fast model configured
    #[arg(long)]
    auto: bool,
    /// How titles look
    #[arg(long, value_enum, default_value_t, value_name = "STYLE")]
    style: StyleName,
    /// The language of titles: `auto` for that of the conversation, or a code like `de`
    #[arg(long, value_name = "LANGUAGE", default_value = "auto", value_parser = parse_language)]
    language: LanguageChoice,
    /// At most so many requests a minute
    #[arg(long, value_name = "N")]
    rpm: Option<u32>,
    /// Where attempts are counted
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
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

/// How titles look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum StyleName {
    /// `Fix login button`
    #[default]
    Sentence,
    /// `fix-login-button`
    Kebab,
}

/// A language by its code or name.
pub(super) fn parse_language(name: &str) -> Result<LanguageChoice, String> {
    if name == "auto" {
        return Ok(LanguageChoice::Conversation);
    }
    Language::named(name)
        .map(LanguageChoice::Named)
        .ok_or_else(|| "not a language that is known; use a code like `en`, `de`, `zh`".to_owned())
}

/// What the work on one session needs.
struct Work<'a> {
    arguments: &'a TitleArguments,
    maker: Maker,
    gates: SideGates,
    state: StateRoot,
    moment: Moment,
}

/// What came of one session.
struct Titled {
    path: Option<String>,
    session_id: Option<SessionId>,
    result: Result<(Product, Option<Kept>), Nothing>,
}

impl TitleArguments {
    /// Names them.
    ///
    /// # Errors
    /// The arguments or the configuration make no sense, or reading or writing failed.
    pub(super) fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let usual = match self.style {
            StyleName::Sentence => prompts::TITLE,
            StyleName::Kebab => prompts::TITLE_KEBAB,
        };
        let instructions = self.side.instructions(usual)?;
        if self.model.print_prompt {
            output::print(io, &instructions)?;
            return Ok(Outcome::Done);
        }
        let reads_stdin = self.sessions.is_empty() || self.sessions == ["-"];
        if reads_stdin && io.terminal.stdin {
            return Ok(usage::expects_piped_input(&["title"], io));
        }
        if reads_stdin && self.write && self.replace && self.auto {
            return Err(UsageError::new("--auto never replaces a title that a person gave").into());
        }
        let watch = StopWatch::listen(io);
        let chosen = self.chosen(globals, io)?;
        let work = self.work(&chosen, instructions, &watch, globals, io)?;
        let form = SideForm::or_usual(self.output, io);
        let echo = match (form, self.model.dry_run) {
            (SideForm::Jsonl, false) => Echo::Copied,
            _ => Echo::Left,
        };
        let found = sources(&self.sessions, &self.source, echo, io)?;
        if self.model.dry_run {
            return self.dry_run(&work, &chosen, found, io);
        }
        let printer = Printer {
            form,
            verbose: globals.verbose,
            io_messages: io.messages.clone(),
        };
        let mut nothing = 0;
        let done = match found {
            Sources::Dialog {
                digest,
                session_id,
                mut writer,
            } => {
                let result = work.of_dialog(&digest);
                let titled = Titled {
                    path: None,
                    session_id: session_id.map(SessionId),
                    result: result.map(|product| (product, None)),
                };
                nothing += usize::from(titled.result.is_err());
                printer.print(&mut writer, titled)?;
                writer.flush()?;
                Outcome::Done
            }
            Sources::Sessions(wanted) => {
                let mut writer = output::record_writer(io)?;
                let mut progress = SideProgress::new(wanted.len(), globals, io.terminal);
                each_in_order(
                    &wanted,
                    self.source.waiting_jobs(),
                    |wanted| work.of_session(wanted),
                    |_, titled| -> anyhow::Result<()> {
                        progress.advance();
                        nothing += usize::from(titled.result.is_err());
                        printer.print(&mut writer, titled)?;
                        writer.flush()?;
                        Ok(())
                    },
                )?;
                progress.finish();
                Outcome::Done
            }
        };
        let done = if self.side.exit_status && nothing > 0 {
            Outcome::AnswerIsNo
        } else {
            done
        };
        Ok(watch.or(done))
    }

    fn chosen(&self, globals: &Globals, io: &Io) -> anyhow::Result<Chosen> {
        let models = self.model.models(globals, io)?;
        let occasion = if self.auto {
            Occasion::Automatic
        } else {
            Occasion::Request
        };
        let hints = (!globals.quiet).then_some(io);
        Ok(choose(&models, occasion, StandIn::Nobody, hints)?)
    }

    fn work(
        &self,
        chosen: &Chosen,
        instructions: String,
        watch: &StopWatch,
        globals: &Globals,
        io: &Io,
    ) -> anyhow::Result<Work<'_>> {
        let configuration = |error| UsageError::new(format!("configuration: {error}"));
        let gates =
            side_gates(&globals.config_source(), None, &io.environment).map_err(configuration)?;
        let overrides = Overrides {
            source: globals.config_source(),
            state_directory: self.state_dir.clone(),
            ..Overrides::default()
        };
        let settings = Settings::resolve(overrides, &io.environment).map_err(configuration)?;
        Ok(Work {
            arguments: self,
            maker: Maker {
                source: source_of(chosen, watch, self.rpm),
                instructions,
                language: self.language,
                style: match self.style {
                    StyleName::Sentence => TitleStyle::Sentence,
                    StyleName::Kebab => TitleStyle::Kebab,
                },
            },
            gates,
            state: settings.state_root,
            moment: Moment {
                clock: Arc::clone(&io.clock),
                ids: Arc::clone(&io.ids),
            },
        })
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
            let request = work.maker.title_question(digest)?;
            Some(provider.body(&request, Delivery::Whole))
        };
        print_bodies(found, &self.source, io, body)
    }
}

/// Who makes what was chosen.
pub(super) fn source_of(chosen: &Chosen, watch: &StopWatch, rpm: Option<u32>) -> Source {
    match chosen {
        Chosen::Nobody => Source::Nobody,
        Chosen::Rules => Source::Rules,
        Chosen::Model(provider) => Source::Model(
            Asker {
                provider: Arc::clone(provider),
                stop: watch.stop.clone(),
            },
            Arc::new(Pace::per_minute(rpm)),
        ),
    }
}

/// The model whose requests are shown.
pub(super) fn provider_of(chosen: &Chosen) -> Result<Arc<dyn Provider>, UsageError> {
    match chosen {
        Chosen::Model(provider) => Ok(Arc::clone(provider)),
        Chosen::Rules | Chosen::Nobody => {
            Err(UsageError::new("--dry-run: no request would be sent")
                .with_hint("name a model with `--model`"))
        }
    }
}

impl Work<'_> {
    fn of_dialog(&self, digest: &Digest) -> Result<Product, Nothing> {
        if self.arguments.auto && !self.gates.auto_titles {
            return Err(Reason::Disabled.into());
        }
        self.maker.title(digest)
    }

    fn of_session(&self, wanted: &Wanted) -> Titled {
        let path = match wanted {
            Wanted::File(path) => path,
            Wanted::Missing { path, error } => {
                return Titled {
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
        Titled {
            path: Some(path.display().to_string()),
            session_id: session_id.map(SessionId),
            result: read.and_then(|read| self.of_conversation(path, &read)),
        }
    }

    fn of_conversation(
        &self,
        path: &Path,
        read: &Conversation,
    ) -> Result<(Product, Option<Kept>), Nothing> {
        let arguments = self.arguments;
        let source = read.facts.title.as_ref().map(|title| title.source);
        let is_manual = source == Some(TitleSource::Manual);
        if arguments.auto {
            self.may_start(source, read.facts.session_id.as_deref())?;
        } else if arguments.write && is_manual && !arguments.replace {
            return Err(Reason::ManualTitle.into());
        }
        if arguments.write && (!has_place(read.session.agent()) || read.session.is_document()) {
            return Err(Reason::UnsupportedFormat.into());
        }
        let product = read.make(&self.maker, |digest| self.maker.title(digest))?;
        if !arguments.write {
            return Ok((product, None));
        }
        let standing = if arguments.replace {
            Standing::OnRequest
        } else {
            Standing::Ordinary
        };
        let ours = extension(Some(product.model.clone()), product.cost.as_ref());
        let ours = serde_json::to_value(ours).unwrap_or_default();
        let kept = keep_title(path, &product.text, standing, &ours, &self.moment)
            .map_err(|error| Nothing::from(Reason::Unreadable).because(error.to_string()))?;
        match kept {
            Kept::Written => Ok((product, Some(Kept::Written))),
            Kept::ManualTitle(_) => Err(Nothing::from(Reason::ManualTitle).at_cost(product.cost)),
            Kept::NoPlace => Err(Nothing::from(Reason::UnsupportedFormat).at_cost(product.cost)),
        }
    }

    /// The guards of titles that nobody asked for, the cheap ones first.
    fn may_start(
        &self,
        title: Option<TitleSource>,
        session_id: Option<&str>,
    ) -> Result<(), Nothing> {
        match title {
            Some(TitleSource::Manual) => return Err(Reason::ManualTitle.into()),
            Some(TitleSource::Auto) => return Err(Reason::AlreadyTitled.into()),
            Some(TitleSource::Summary) | None => {}
        }
        let unknown = |error: String| Nothing::from(Reason::Unreadable).because(error);
        let directory = match session_id {
            Some(id) => {
                let directory = self.state.session(&SessionId::from(id));
                Some(directory.map_err(|error| unknown(error.to_string()))?)
            }
            None => None,
        };
        if let Some(directory) = &directory {
            let state =
                SessionState::load(directory).map_err(|error| unknown(error.to_string()))?;
            if state.title_attempts >= MOST_ATTEMPTS {
                return Err(Reason::AttemptLimit.into());
            }
        }
        if !self.gates.auto_titles {
            return Err(Reason::Disabled.into());
        }
        if matches!(self.maker.source, Source::Nobody) {
            return Err(Reason::NoFastModel.into());
        }
        if let Some(directory) = &directory {
            SessionState::update(directory, |state| state.title_attempts += 1)
                .map_err(|error| unknown(error.to_string()))?;
        }
        Ok(())
    }
}

struct Printer {
    form: SideForm,
    verbose: bool,
    io_messages: crate::io::Messages,
}

impl Printer {
    fn print(
        &self,
        writer: &mut crate::jsonl::Writer<Box<dyn std::io::Write + Send>>,
        titled: Titled,
    ) -> anyhow::Result<()> {
        let Titled {
            path,
            session_id,
            result,
        } = titled;
        if let Err(nothing) = &result {
            let named = path
                .as_deref()
                .map(|path| format!("{path}: "))
                .unwrap_or_default();
            if self.verbose {
                let why = nothing.error.as_deref().unwrap_or(nothing.reason.advice());
                self.io_messages.note(&format!(
                    "[SESSION_TITLE] {named}{}: {why}",
                    nothing.reason.name()
                ));
            } else if self.form == SideForm::Text {
                self.io_messages
                    .note(&format!("{named}{}", nothing.reason.advice()));
            }
        }
        if self.form == SideForm::Text {
            if let Ok((product, _)) = &result {
                writer.echo(format!("{}\n", product.text).as_bytes())?;
            }
            return Ok(());
        }
        let record = match result {
            Ok((product, kept)) => TitleRecord {
                ok: true,
                title_source: Some("auto".to_owned()),
                turnpipe: extension(Some(product.model.clone()), product.cost.as_ref()),
                title: Some(product.text),
                model_used: Some(product.model),
                reason: None,
                error: None,
                written: kept.map(|kept| kept == Kept::Written),
                session_id,
                path,
            },
            Err(nothing) => TitleRecord {
                ok: false,
                title: None,
                title_source: None,
                model_used: None,
                reason: Some(nothing.reason.name().to_owned()),
                error: nothing.error,
                written: None,
                session_id,
                path,
                turnpipe: extension(None, nothing.cost.as_deref()),
            },
        };
        writer.record(&record)?;
        Ok(())
    }
}
