//! `man`: manual pages of the program and every subcommand.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::Outcome;

/// Write manual pages
///
/// Writes `turnpipe.1` and one page for each subcommand, such as `turnpipe-check-text.1`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe man man1")]
pub(super) struct ManArguments {
    /// The directory to write to; it is created if needed
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl ManArguments {
    /// Writes the pages of the command line that `parser` parses.
    ///
    /// # Errors
    /// Writing failed.
    pub(super) fn run(self, parser: clap::Command) -> anyhow::Result<Outcome> {
        let directory = self.directory.display();
        fs::create_dir_all(&self.directory)
            .and_then(|()| clap_mangen::generate_to(parser, &self.directory))
            .with_context(|| format!("cannot write manual pages to `{directory}`"))?;
        Ok(Outcome::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cli;
    use super::*;

    #[test]
    fn every_subcommand_has_a_page() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("man1");
        ManArguments {
            directory: below.clone(),
        }
        .run(cli::parser())
        .unwrap();
        let page = |name| fs::read_to_string(below.join(name)).unwrap();
        assert!(page("turnpipe.1").contains("turnpipe\\-check"));
        assert!(page("turnpipe-check-text.1").contains("\\-\\-as"));
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let directory = file.path().join("man1");
        let error = ManArguments { directory }.run(cli::parser()).unwrap_err();
        assert!(format!("{error:#}").starts_with("cannot write manual pages to `/"));
    }
}
