//! Arguments of commands that ask a model, and what ends their requests.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;

use super::times::parse_span_or_seconds;
use super::{Globals, UsageError};
use crate::client::http::TimeLimits;
use crate::client::model::{
    ChosenModel, ConnectError, Connector, KeyCheck, Model, ModelName, ModelSettings, Pace,
    Provider, Recorder, known_providers,
};
use crate::commands::Status;
use crate::commands::inputs::read_option_file;
use crate::commands::output::{self, FormArguments};
use crate::io::{CancelToken, Io, Lock};
use crate::message::Usage;
use crate::process::{EndSignal, report_departure, report_end_signals};
use crate::session::Prices;
use crate::summaries::{Asker, TextEngine};

/// The default timeout of a reply of the main model.
const REPLY_TIMEOUT: Duration = Duration::from_mins(30);

pub(super) const MODEL_OPTIONS: &str = "Model options";

/// The model to use, and how to send requests.
#[derive(Debug, Clone, Args)]
pub(super) struct ModelArguments {
    /// The model, e.g. `openai:gpt-5-mini` [default: the configured one]
    ///
    /// Also `ollama:qwen3` and the like, `builtin` for built-in rules, `replay:FILE` for recorded replies,
    /// and `none` for no model.
    #[arg(long, value_name = "MODEL", help_heading = MODEL_OPTIONS)]
    model: Option<String>,
    /// Append all requests and replies, without keys, to a file for `--model replay:FILE`
    #[arg(long, value_name = "FILE", help_heading = MODEL_OPTIONS, hide_short_help = true)]
    record_http: Option<PathBuf>,
    /// Print the body of each request instead of sending it
    #[arg(long, help_heading = MODEL_OPTIONS, hide_short_help = true)]
    pub(super) dry_run: bool,
    /// Print the prompts instead of using them
    #[arg(long, help_heading = MODEL_OPTIONS, hide_short_help = true)]
    pub(super) print_prompt: bool,
    /// The timeout of a request (e.g. 90, 90s, 1500ms, 5m) [default: 5m; 30m for `turn`]
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_span_or_seconds,
        help_heading = MODEL_OPTIONS,
        hide_short_help = true
    )]
    timeout: Option<Duration>,
}

/// The behaviour if no model is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoModel {
    /// The built-in rules write the texts.
    UseRules,
    /// No text is written.
    Skip,
    /// No text is written, and a hint names `--model builtin`: texts by rules go into the files of
    /// agents only on request.
    SkipWithHint,
}

/// Fallback for the fast model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fallback {
    /// The main model.
    MainModel,
    /// No fallback.
    None,
}

impl ModelArguments {
    /// Returns the model of `--model`, else the configured one, else `fallback` or `no_model`. Sends
    /// requests at this pace until `stop`. Opens the recording, but no connection.
    ///
    /// # Errors
    /// The configuration is invalid, the model cannot be asked (unknown provider, no key, no
    /// recording), or the recording cannot be written.
    pub(super) fn create_engine(
        &self,
        no_model: NoModel,
        fallback: Fallback,
        pace: Pace,
        stop: &CancelToken,
        globals: &Globals,
        io: &Io,
    ) -> Result<TextEngine, UsageError> {
        let settings = self.load_settings(globals, io)?;
        let name = self.choose_name(fallback, &settings)?;
        let mut connector = self.create_connector(settings, globals, io)?;
        connector.pace = Some(Arc::new(pace));
        let name = match (name, no_model) {
            (Some(name), _) => name,
            (None, NoModel::Skip) => ModelName::None,
            (None, NoModel::SkipWithHint) => {
                io.messages.hint(
                    "no model is configured, so no titles are written; `--model builtin` writes \
                     titles by built-in rules",
                );
                ModelName::None
            }
            (None, NoModel::UseRules) => {
                if !self.dry_run {
                    io.messages.hint(
                        "no model is configured, so built-in rules are used (`--model`, \
                         TURNPIPE_FAST_MODEL)",
                    );
                }
                ModelName::Builtin
            }
        };
        Ok(match connector.connect(&name)? {
            Model::None => TextEngine::None,
            Model::Builtin => TextEngine::Rules,
            Model::Provider(provider) => TextEngine::Model(Asker {
                provider,
                stop: stop.clone(),
                limit: None,
            }),
        })
    }

    /// Returns the main model, from `--model` or the configuration, with its name at the server.
    ///
    /// # Errors
    /// As in [`Self::create_engine`]; or no model is configured, or it is `none` or `builtin`.
    pub(super) fn connect_main(
        &self,
        globals: &Globals,
        io: &Io,
    ) -> Result<(Arc<dyn Provider>, String), UsageError> {
        let mut settings = self.load_settings(globals, io)?;
        if self.timeout.is_none() && settings.http.limits == TimeLimits::default() {
            // The usual limit is for short replies. The idle timeout still applies.
            settings.http.limits.total = REPLY_TIMEOUT;
        }
        let hint = "name one with `--model PROVIDER:MODEL` or TURNPIPE_MODEL";
        let Some(name) = self.find_name(settings.main.as_ref())? else {
            return Err(UsageError::new("no model is configured").with_hint(hint));
        };
        let plain = match &name {
            ModelName::Remote(remote) => Some(remote.model.clone()),
            _ => None,
        };
        match self
            .create_connector(settings, globals, io)?
            .connect(&name)?
        {
            Model::Provider(provider) => {
                let plain = plain.unwrap_or_else(|| match provider.name().parse() {
                    Ok(ModelName::Remote(remote)) => remote.model,
                    _ => provider.name().to_owned(),
                });
                Ok((provider, plain))
            }
            Model::None | Model::Builtin => {
                Err(UsageError::new("this needs a model that can be asked").with_hint(hint))
            }
        }
    }

    fn load_settings(&self, globals: &Globals, io: &Io) -> Result<ModelSettings, UsageError> {
        Ok(globals.config(io)?.models(self.timeout))
    }

    fn create_connector(
        &self,
        settings: ModelSettings,
        globals: &Globals,
        io: &Io,
    ) -> Result<Connector, UsageError> {
        let keys = if self.dry_run || self.print_prompt {
            KeyCheck::Optional
        } else {
            KeyCheck::Required
        };
        let mut connector = globals.connector(settings, keys, io);
        if let Some(path) = &self.record_http {
            let recorder = Recorder::open(path)
                .map_err(|error| UsageError::reason(error).about("--record-http"))?;
            connector.recorder = Some(Arc::new(recorder));
        }
        Ok(connector)
    }

    /// Returns the model of `--model`, else the configured one.
    fn find_name(&self, configured: Option<&ChosenModel>) -> Result<Option<ModelName>, UsageError> {
        let name = self.model.as_deref();
        let named = name.map(|name| ChosenModel::new(name, "--model"));
        named
            .as_ref()
            .or(configured)
            .map(parse_model_name)
            .transpose()
    }

    /// Returns the model to ask; `None` if none was chosen.
    fn choose_name(
        &self,
        fallback: Fallback,
        settings: &ModelSettings,
    ) -> Result<Option<ModelName>, UsageError> {
        let fast = self.find_name(settings.fast.as_ref())?;
        Ok(match (fast, fallback) {
            (None, Fallback::MainModel) => self.find_name(settings.main.as_ref())?,
            (Some(ModelName::None), Fallback::MainModel) if self.model.is_none() => self
                .find_name(settings.main.as_ref())?
                .or(Some(ModelName::None)),
            (name, _) => name,
        })
    }
}

/// Parses the name of a model.
///
/// # Errors
/// It is not a name.
pub(super) fn parse_model_name(chosen: &ChosenModel) -> Result<ModelName, UsageError> {
    let name = chosen.name.parse();
    name.map_err(|error| UsageError::reason(error).about(chosen.origin))
}

/// Checks that a model has a price, so that a limit on the cost can be enforced.
///
/// # Errors
/// The model has no price.
pub(super) fn check_price(model: &str, prices: &Prices) -> Result<(), UsageError> {
    match prices.cost(model, &Usage::default()) {
        Some(_) => Ok(()),
        None => Err(UsageError::new(format!("--max-cost: {model} has no price"))),
    }
}

/// Returns the error for `--dry-run` if no model would be asked.
pub(super) fn new_nothing_to_send_error() -> UsageError {
    UsageError::new("--dry-run: no request would be sent").with_hint("name a model with `--model`")
}

impl From<ConnectError> for UsageError {
    fn from(error: ConnectError) -> Self {
        let usage = Self::reason(&error);
        match error {
            ConnectError::UnknownProvider {
                suggestion: Some(name),
                ..
            } => usage.with_hint(format!("did you mean `{name}`?")),
            ConnectError::UnknownProvider { .. } => {
                let known: Vec<&str> = known_providers().collect();
                usage.with_hint(format!("known providers are {}", known.join(", ")))
            }
            _ => usage,
        }
    }
}

/// Options of all commands that write labels, titles and recaps.
#[derive(Debug, Clone, Args)]
pub(crate) struct SideArguments {
    /// Use the instructions in this file instead of the built-in ones
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    prompt_file: Option<PathBuf>,
    /// Exit with 1 if there is no result
    #[arg(long, hide_short_help = true)]
    pub(crate) exit_status: bool,
    #[command(flatten)]
    pub(crate) form: FormArguments,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

impl SideArguments {
    /// Returns the instructions for the model, by default `usual`. `None` if they were only
    /// printed (`--print-prompt`).
    ///
    /// # Errors
    /// The file cannot be read or is empty, or the output failed.
    pub(crate) fn load_instructions(
        &self,
        usual: &str,
        io: &mut Io,
    ) -> anyhow::Result<Option<String>> {
        let instructions = match &self.prompt_file {
            None => usual.to_owned(),
            Some(path) => read_prompt("--prompt-file", path)?,
        };
        if self.model.print_prompt {
            output::print(io, &instructions)?;
            return Ok(None);
        }
        Ok(Some(instructions))
    }
}

fn read_prompt(option: &str, path: &Path) -> Result<String, UsageError> {
    let text = read_option_file(option, path)?;
    if text.trim().is_empty() {
        let error = UsageError::new("is empty").with_option(option, path);
        return Err(error.with_hint("`--print-prompt` shows the usual one"));
    }
    Ok(text)
}

/// Cancels requests and records the signal.
#[derive(Clone, Default)]
pub(super) struct StopWatch {
    pub(super) stop: CancelToken,
    signal: Arc<Mutex<Option<EndSignal>>>,
}

impl StopWatch {
    /// Listens for signals, and for the other end of `output` to close.
    pub(super) fn listen(output: Option<OwnedFd>) -> Self {
        let watch = Self::default();
        let by_signal = watch.clone();
        // Without a thread for signals they end the process at once.
        let _ = report_end_signals(move |signal| {
            *by_signal.signal.lock_anyway() = Some(signal);
            by_signal.stop.cancel();
        });
        if let Some(output) = output {
            let by_reader = watch.stop.clone();
            // Without a thread for it, the next write notices that the reader is gone.
            let _ = report_departure(output, move || by_reader.cancel());
        }
        watch
    }

    /// Returns the outcome of a run, or `outcome` if there was no signal.
    pub(super) fn or(&self, outcome: Status) -> Status {
        self.signal.lock_anyway().map_or(outcome, Status::from)
    }
}
