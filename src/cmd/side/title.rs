//! `title`: titles for sessions.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cmd::command::Run;
use crate::cmd::model_arguments::{Occasion, StandIn};
use crate::cmd::output::RecordWriter;
use crate::cmd::session::conversation::{Conversation, unreadable};
use crate::cmd::side::per_session::{Made, PerSession, PerSessionArguments, Plan, Runner, Written};
use crate::cmd::side::side_arguments::extension;
use crate::cmd::{Globals, Outcome, UsageError};
use crate::config::{Overrides, SideGates};
use crate::flow::{Excerpt, NoResult, Product, Reason, Source};
use crate::io::Io;
use crate::jsonl::WriteError;
use crate::message::SessionId;
use crate::model::Request;
use crate::records::{SideExtension, TitleRecord};
use crate::session::{ManualTitle, TitleSource};
use crate::side::prompts;
use crate::side::title::TitleStyle;
use crate::state::{SessionKey, SessionScope, SessionState, StateRoot};

/// How often `--auto` tries to find a title for a session.
const MOST_ATTEMPTS: u32 = 3;

/// Name sessions by what they are about
///
/// Takes session files, ids, titles or `latest`; or records of `session list` on standard input, or
/// one conversation there, which is copied. Writes one record each: the title, or the reason why
/// there is none. Without a model the titles follow built-in rules.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe title latest
  turnpipe title latest --write
  turnpipe session list --untitled --json | turnpipe title --write")]
pub(crate) struct TitleArguments {
    /// Write the title into the session file, unless a person gave one
    #[arg(long)]
    write: bool,
    /// Write it even over a title that a person gave
    #[arg(long, requires = "write")]
    replace: bool,
    /// Name only sessions that an agent would name by itself: no title yet, fewer than three attempts,
    /// not switched off, a fast model configured
    #[arg(long)]
    auto: bool,
    /// How titles look
    #[arg(long, value_enum, default_value_t, value_name = "STYLE")]
    style: TitleStyle,
    /// The directory in which attempts are counted
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    #[command(flatten)]
    common: PerSessionArguments,
}

/// What it takes to name one session.
struct Titles<'a> {
    arguments: &'a TitleArguments,
    runner: &'a Runner,
    gates: SideGates,
    state: StateRoot,
}

impl Run for TitleArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        if self.replace && self.auto {
            return Err(UsageError::new("--auto never replaces a title that a person gave").into());
        }
        let plan = Plan {
            prompt: match self.style {
                TitleStyle::Sentence => prompts::TITLE,
                TitleStyle::Kebab => prompts::TITLE_KEBAB,
            },
            style: self.style,
            occasion: if self.auto {
                Occasion::Automatic
            } else {
                Occasion::Request
            },
            stand_in: StandIn::Nobody,
        };
        let Some(runner) = self.common.runner(&plan, globals, io)? else {
            return Ok(Outcome::Done);
        };
        let config = globals.config(&io.environment)?;
        let gates = config.side_gates(None).map_err(UsageError::from)?;
        let overrides = Overrides {
            state_directory: self.state_dir.clone(),
            ..Overrides::default()
        };
        let titles = Titles {
            arguments: &self,
            runner: &runner,
            gates,
            state: config.settings(overrides).state_root,
        };
        runner.run(&titles, &self.common, io)
    }
}

impl PerSession for Titles<'_> {
    const TAG: &'static str = "SESSION_TITLE";
    const WORK: &'static str = "finding a title";

    fn of_stream(&self, excerpt: &Excerpt) -> Result<Product, NoResult> {
        if self.arguments.auto && !self.gates.auto_titles {
            return Err(Reason::Disabled.into());
        }
        self.runner.maker.title(excerpt)
    }

    fn of_session(&self, path: &Path, session: &Conversation) -> Result<Written, NoResult> {
        let arguments = self.arguments;
        if arguments.auto {
            self.may_start(path, session)?;
        } else if arguments.write
            && !arguments.replace
            && title_source(session) == Some(TitleSource::Manual)
        {
            return Err(Reason::ManualTitle.into());
        }
        let maker = &self.runner.maker;
        let made = session.make(maker, |excerpt| maker.title(excerpt));
        if !arguments.write {
            return Ok((made?, None));
        }
        let product = made.map_err(|nothing| self.runner.write_cost(session, nothing))?;
        let manual_title = if arguments.replace {
            ManualTitle::Supersede
        } else {
            ManualTitle::Keep
        };
        self.runner.write(session, product, |files, text, ours| {
            files.title(text, manual_title, ours)
        })
    }

    fn request(&self, excerpt: &Excerpt) -> Option<Request> {
        self.runner.maker.title_question(excerpt)
    }

    fn write_text(&self, made: &Made, writer: &mut RecordWriter) -> Result<(), WriteError> {
        match &made.result {
            Ok((product, _)) => {
                let line = format!("{}{}\n", made.text_prefix(), product.text);
                writer.echo(line.as_bytes())
            }
            Err(nothing) => {
                self.runner.note_nothing(made, nothing, &nothing.reason);
                Ok(())
            }
        }
    }

    fn write_record(&self, made: Made, writer: &mut RecordWriter) -> Result<(), WriteError> {
        let of_session = TitleRecord {
            session_id: made.session_id,
            path: made.path,
            ..TitleRecord::default()
        };
        writer.record(&match made.result {
            Ok((product, recorded)) => TitleRecord {
                ok: true,
                title_source: Some("auto".to_owned()),
                turnpipe: SideExtension {
                    supersedes_manual: self.arguments.replace.then_some(true),
                    ..extension(Some(product.model.clone()), product.cost.as_ref())
                },
                title: Some(product.text),
                model_used: Some(product.model),
                written: recorded.map(|_| true),
                ..of_session
            },
            Err(nothing) => TitleRecord {
                reason: Some(nothing.reason.name().to_owned()),
                error: nothing.error,
                turnpipe: extension(None, nothing.cost.as_deref()),
                ..of_session
            },
        })
    }
}

impl Titles<'_> {
    /// The guards of `--auto`, the cheap ones first.
    fn may_start(&self, path: &Path, session: &Conversation) -> Result<(), NoResult> {
        match title_source(session) {
            Some(TitleSource::Manual) => return Err(Reason::ManualTitle.into()),
            Some(TitleSource::Auto) => return Err(Reason::AlreadyTitled.into()),
            Some(TitleSource::Summary) | None => {}
        }
        let key = session.facts.session_id.as_deref().map(|id| SessionKey {
            id: SessionId::from(id),
            scope: SessionScope::of(path),
        });
        let directory = key.map(|key| self.state.session(&key)).transpose();
        let directory = directory.map_err(unreadable)?;
        if let Some(directory) = &directory {
            let state = SessionState::load(directory).map_err(unreadable)?;
            if state.title_attempts >= MOST_ATTEMPTS {
                return Err(Reason::AttemptLimit.into());
            }
        }
        if !self.gates.auto_titles {
            return Err(Reason::Disabled.into());
        }
        if matches!(self.runner.maker.source, Source::Nobody) {
            return Err(Reason::NoFastModel.into());
        }
        if let Some(directory) = &directory {
            SessionState::update(directory, |state| state.title_attempts += 1)
                .map_err(unreadable)?;
        }
        Ok(())
    }
}

fn title_source(session: &Conversation) -> Option<TitleSource> {
    session.facts.title.as_ref().map(|title| title.source)
}
