//! `state clean`: removes what sessions left long ago.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};

use super::times::parse_span;
use super::{Globals, Outcome, UsageError, output};
use crate::config::{Overrides, Settings};
use crate::io::Io;
use crate::state::clean;
use crate::wire::records::StateCleanedRecord;

/// Look after the state that sessions leave
#[derive(Debug, Args)]
pub(super) struct StateArguments {
    /// What to do.
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Clean(CleanArguments),
}

/// Remove persisted results and other state that is old
///
/// Sessions that are in use are left alone. Writes one record that says what was removed.
#[derive(Debug, Args)]
struct CleanArguments {
    /// Remove what was last changed longer ago than this (e.g. 30d, 12h)
    #[arg(long, value_name = "AGE", value_parser = parse_span)]
    older_than: Duration,
    /// Where state is kept
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

impl StateArguments {
    /// Does it.
    ///
    /// # Errors
    /// The configuration makes no sense, or something cannot be removed.
    pub(super) fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let Action::Clean(arguments) = self.action;
        let overrides = Overrides {
            source: globals.config_source(),
            state_directory: arguments.state_dir,
            ..Overrides::default()
        };
        let settings = Settings::resolve(overrides, &io.environment)
            .map_err(|error| UsageError::new(format!("configuration: {error}")))?;
        let report = clean(
            &settings.state_root,
            arguments.older_than,
            SystemTime::now(),
        )?;
        let mut writer = output::record_writer(io)?;
        writer.record(&StateCleanedRecord {
            files: report.files,
            bytes: report.bytes,
            sessions: report.sessions,
            path: settings.state_root.0.display().to_string(),
        })?;
        writer.flush()?;
        Ok(Outcome::Done)
    }
}
