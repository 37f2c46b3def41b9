//! Arguments of commands that may ask a model.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::{Globals, UsageError};
use crate::io::Io;
use crate::model::{
    ChosenModel, Connector, KeyCheck, Model, ModelName, ModelWorld, Pace, Recorder, Unconnectable,
};

/// Which model is asked, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model options")]
pub(super) struct ModelArguments {
    /// The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Append every exchange with the model to a file, without keys, for `--model replay:FILE`
    #[arg(long, value_name = "FILE")]
    record_http: Option<PathBuf>,
    /// Print the body of each request instead of sending it
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print the prompts instead of using them
    #[arg(long)]
    pub(super) print_prompt: bool,
    /// How long the model may take to answer, in milliseconds
    #[arg(long, value_name = "MS")]
    timeout_ms: Option<NonZeroU64>,
}

/// The models that arguments, environment and configuration name.
pub(super) struct Models {
    flag: Option<ModelName>,
    fast: Option<ChosenModel>,
    main: Option<ChosenModel>,
    connector: Connector,
}

impl ModelArguments {
    /// The models to choose from. Nothing is connected to, but the recording is opened.
    ///
    /// # Errors
    /// The configuration makes no sense, or the recording cannot be written.
    pub(super) fn models(&self, globals: &Globals, io: &Io) -> anyhow::Result<Models> {
        let total = self.timeout_ms.map(|ms| Duration::from_millis(ms.get()));
        let settings = globals.config(&io.environment)?.models(total);
        let flag = self
            .model
            .as_deref()
            .map(str::parse::<ModelName>)
            .transpose()
            .map_err(|error| UsageError::reason(error).about("--model"))?;
        let world = ModelWorld {
            environment: io.environment.clone(),
            clock: Arc::clone(&io.clock),
            ids: Arc::clone(&io.ids),
        };
        let keys = if self.dry_run || self.print_prompt {
            KeyCheck::Waived
        } else {
            KeyCheck::Demanded
        };
        let (fast, main) = (settings.fast.clone(), settings.main.clone());
        let mut connector = Connector::new(settings, world, keys);
        if let Some(path) = &self.record_http {
            let recorder = Recorder::open(path)
                .map_err(|error| UsageError::reason(error).about("--record-http"))?;
            connector.recorder = Some(Arc::new(recorder));
        }
        Ok(Models {
            flag,
            fast,
            main,
            connector,
        })
    }
}

impl Models {
    /// Sends all requests at this pace.
    pub(super) fn at_pace(mut self, pace: Pace) -> Self {
        self.connector.pace = Some(Arc::new(pace));
        self
    }

    /// The model for labels, titles and recaps: `--model`, else what is configured; `None` if
    /// none was chosen.
    ///
    /// # Errors
    /// What is configured names no model.
    pub(super) fn fast(&self) -> Result<Option<ModelName>, UsageError> {
        self.flag_or(self.fast.as_ref())
    }

    /// The main model: `--model`, else what is configured; `None` if none was chosen.
    ///
    /// # Errors
    /// What is configured names no model.
    pub(super) fn main(&self) -> Result<Option<ModelName>, UsageError> {
        self.flag_or(self.main.as_ref())
    }

    /// The model of this name; nothing is sent.
    ///
    /// # Errors
    /// It cannot be asked: no such provider, no key, no recording.
    pub(super) fn connect(&self, name: &ModelName) -> Result<Model, Unconnectable> {
        self.connector.connect(name)
    }

    fn flag_or(&self, configured: Option<&ChosenModel>) -> Result<Option<ModelName>, UsageError> {
        match (&self.flag, configured) {
            (Some(name), _) => Ok(Some(name.clone())),
            (None, None) => Ok(None),
            (None, Some(chosen)) => match chosen.name.parse() {
                Ok(name) => Ok(Some(name)),
                Err(error) => Err(UsageError::new(format!("{}: {error}", chosen.by))),
            },
        }
    }
}

impl From<Unconnectable> for UsageError {
    fn from(error: Unconnectable) -> Self {
        let suggestion = match &error {
            Unconnectable::UnknownProvider { suggestion, .. } => suggestion.clone(),
            _ => None,
        };
        let usage = Self::new(error.to_string());
        match suggestion {
            Some(name) => usage.with_hint(format!("did you mean `{name}`?")),
            None => usage,
        }
    }
}
