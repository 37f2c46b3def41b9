//! What the commands that make labels, titles and recaps have in common.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::model_arguments::{ModelArguments, Models};
use super::output::{self, FormArguments};
use super::{Globals, UsageError};
use crate::flow::Cost;
use crate::io::{Io, Messages};
use crate::model::{Model, ModelName, Pace, Provider};
use crate::wire::records::SideExtension;

/// Options of all commands that make labels, titles and recaps.
#[derive(Debug, Clone, Args)]
pub(super) struct SideArguments {
    /// Use the instructions in this file instead of the built-in ones
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
    /// Exit with 1 if there is no result
    #[arg(long)]
    pub(super) exit_status: bool,
    #[command(flatten)]
    pub(super) form: FormArguments,
    #[command(flatten)]
    pub(super) model: ModelArguments,
}

impl SideArguments {
    /// The instructions for the model; `usual` are the built-in ones. `None` if they were only to
    /// be printed.
    ///
    /// # Errors
    /// The file cannot be read, or the output failed.
    pub(super) fn instructions(&self, usual: &str, io: &mut Io) -> anyhow::Result<Option<String>> {
        let instructions = match &self.prompt_file {
            None => usual.to_owned(),
            Some(path) => std::fs::read_to_string(path).map_err(|error| {
                UsageError::reason(error).about(format!("--prompt-file: {}", path.display()))
            })?,
        };
        if self.model.print_prompt {
            output::print(io, &instructions)?;
            return Ok(None);
        }
        Ok(Some(instructions))
    }

    /// The model to ask at this pace, or what replaces it.
    ///
    /// # Errors
    /// The configuration makes no sense, or the chosen model cannot be asked.
    pub(super) fn choose(
        &self,
        pace: Pace,
        occasion: Occasion,
        stand_in: StandIn,
        globals: &Globals,
        io: &Io,
    ) -> anyhow::Result<Chosen> {
        let models = self.model.models(globals, io)?.at_pace(pace);
        let hints = (!globals.quiet).then_some(&io.messages);
        Ok(choose(&models, occasion, stand_in, hints)?)
    }
}

/// What makes the texts.
#[derive(Clone)]
pub(super) enum Chosen {
    /// Nothing does.
    Nobody,
    /// Built-in rules.
    Rules,
    /// A model.
    Model(Arc<dyn Provider>),
}

/// Why a text is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// A person asked for it: without a model, rules make it.
    Request,
    /// It was not asked for: without a model, nothing is done.
    Automatic,
}

/// Whether the main model may stand in for the fast one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StandIn {
    /// It may stand in.
    MainModel,
    /// Nothing stands in.
    Nobody,
}

fn choose(
    models: &Models,
    occasion: Occasion,
    stand_in: StandIn,
    hints: Option<&Messages>,
) -> Result<Chosen, UsageError> {
    let mut name = models.fast()?;
    let is_missing = matches!(name, None | Some(ModelName::None));
    if is_missing && stand_in == StandIn::MainModel {
        name = models.main()?.or(name);
    }
    let name = match (name, occasion) {
        (Some(name), _) => name,
        (None, Occasion::Automatic) => return Ok(Chosen::Nobody),
        (None, Occasion::Request) => {
            if let Some(messages) = hints {
                messages
                    .hint("no model is configured, so built-in rules are used (`--model`, TURNPIPE_FAST_MODEL)");
            }
            ModelName::Builtin
        }
    };
    Ok(match models.connect(&name)? {
        Model::None => Chosen::Nobody,
        Model::Builtin => Chosen::Rules,
        Model::Provider(provider) => Chosen::Model(provider),
    })
}

/// The part of a record that says which model made a text, and what it cost.
pub(super) fn extension(model: Option<String>, cost: Option<&Cost>) -> SideExtension {
    SideExtension {
        model_used: model.or_else(|| cost.map(|cost| cost.model.clone())),
        prompt_id: cost.map(|cost| cost.prompt.0.to_owned()),
        usage: cost.map(|cost| cost.usage),
        ..SideExtension::default()
    }
}
