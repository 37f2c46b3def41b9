//! Arguments of the commands that write labels, titles and recaps.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cmd::UsageError;
use crate::cmd::model_arguments::ModelArguments;
use crate::cmd::output::{self, FormArguments};
use crate::io::Io;

/// Options of all commands that write labels, titles and recaps.
#[derive(Debug, Clone, Args)]
pub(crate) struct SideArguments {
    /// Use the instructions in this file instead of the built-in ones
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
    /// Exit with 1 if there is no result
    #[arg(long)]
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
    pub(crate) fn instructions(&self, usual: &str, io: &mut Io) -> anyhow::Result<Option<String>> {
        let instructions = match &self.prompt_file {
            None => usual.to_owned(),
            Some(path) => read_prompt(path)
                .map_err(|error| error.about(path.display()).about("--prompt-file"))?,
        };
        if self.model.print_prompt {
            output::print(io, &instructions)?;
            return Ok(None);
        }
        Ok(Some(instructions))
    }
}

fn read_prompt(path: &Path) -> Result<String, UsageError> {
    let text = std::fs::read_to_string(path).map_err(UsageError::reason)?;
    if text.trim().is_empty() {
        return Err(UsageError::new("is empty").with_hint("`--print-prompt` shows the usual one"));
    }
    Ok(text)
}
