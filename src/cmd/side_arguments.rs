//! What the commands of the services beside the conversation have in common.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::UsageError;
use super::model_arguments::Models;
use crate::dialog::tokens;
use crate::flow::Cost;
use crate::io::Io;
use crate::model::{Model, ModelName, Provider};
use crate::wire::records::SideExtension;

/// Options of all services.
#[derive(Debug, Clone, Args)]
pub(super) struct SideArguments {
    /// Use the instructions in this file instead of the built-in ones
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
    /// Exit with 1 if nothing came of it
    #[arg(long)]
    pub(super) exit_status: bool,
}

impl SideArguments {
    /// What the model is told first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn instructions(&self, usual: &str) -> Result<String, UsageError> {
        match &self.prompt_file {
            None => Ok(usual.to_owned()),
            Some(path) => read(path),
        }
    }
}

fn read(path: &Path) -> Result<String, UsageError> {
    std::fs::read_to_string(path)
        .map_err(|error| UsageError::new(format!("--prompt-file: {}: {error}", path.display())))
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SideForm {
    /// For people
    Text,
    /// Records
    Jsonl,
}

impl SideForm {
    /// The form that was asked for, else text on a terminal.
    pub(super) fn or_usual(form: Option<Self>, io: &Io) -> Self {
        match form {
            Some(form) => form,
            None if io.terminal.stdout => Self::Text,
            None => Self::Jsonl,
        }
    }
}

/// Who answers.
#[derive(Clone)]
pub(super) enum Chosen {
    /// Nobody.
    Nobody,
    /// The rules.
    Rules,
    /// A model.
    Model(Arc<dyn Provider>),
}

/// Why somebody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// A person wants it: without a model the rules will do.
    Request,
    /// Nobody asked: without a model nothing is done.
    Automatic,
}

/// Whether the main model may stand in for the fast one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StandIn {
    /// It may.
    MainModel,
    /// Never.
    Nobody,
}

/// The model that is asked, or what stands in for it.
///
/// # Errors
/// What was chosen cannot be asked.
pub(super) fn choose(
    models: &Models,
    occasion: Occasion,
    stand_in: StandIn,
    hints: Option<&Io>,
) -> Result<Chosen, UsageError> {
    let mut name = models.fast()?;
    let is_missing = matches!(name, None | Some(ModelName::Nothing));
    if is_missing && stand_in == StandIn::MainModel {
        name = models.main()?.or(name);
    }
    let name = match (name, occasion) {
        (Some(name), _) => name,
        (None, Occasion::Automatic) => return Ok(Chosen::Nobody),
        (None, Occasion::Request) => {
            if let Some(io) = hints {
                io.messages
                    .hint("no model is configured, so built-in rules are used (`--model`, TURNPIPE_FAST_MODEL)");
            }
            ModelName::Builtin
        }
    };
    Ok(match models.connect(&name)? {
        Model::Nothing => Chosen::Nobody,
        Model::Builtin => Chosen::Rules,
        Model::Provider(provider) => Chosen::Model(provider),
    })
}

/// The extension of a record about what was made, by whom, and what it cost.
pub(super) fn extension(model: Option<String>, cost: Option<&Cost>) -> SideExtension {
    SideExtension {
        model_used: model.or_else(|| cost.map(|cost| cost.model.clone())),
        prompt_id: cost.map(|cost| cost.prompt.as_str().to_owned()),
        usage: cost.map(|cost| tokens(&cost.usage)),
        ..SideExtension::default()
    }
}
