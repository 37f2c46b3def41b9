//! `state clean`: deletes the state of old sessions.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Args;

use crate::commands::times::parse_span_or_seconds;
use crate::commands::{FormArguments, Globals, Run, Status};
use crate::config::Overrides;
use crate::io::Io;
use crate::records::StateCleanedRecord;
use crate::state::clean;
use crate::text::{format_byte_size, format_count, terminal_safe_line};

/// Delete saved results and other state of old sessions
///
/// Skips sessions that are in use. Prints a line on a terminal, otherwise a record.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe state clean --older-than 30d")]
pub(crate) struct StateCleanArguments {
    /// Minimum time since the last change (e.g. 30d, 12h)
    #[arg(long, value_name = "AGE", value_parser = parse_span_or_seconds)]
    older_than: Duration,
    /// Directory of session state
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    state_dir: Option<PathBuf>,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for StateCleanArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let overrides = Overrides {
            state_directory: self.state_dir,
            ..Overrides::default()
        };
        let settings = globals.config(io)?.settings(overrides);
        let report = clean(&settings.state_root, self.older_than, SystemTime::now())?;
        let record = StateCleanedRecord {
            files: report.files,
            bytes: report.bytes,
            sessions: report.sessions,
            path: settings.state_root.0.display().to_string(),
        };
        let line = || {
            let removed = format_count(record.files, "file", "files");
            let (path, size) = (
                terminal_safe_line(&record.path),
                format_byte_size(record.bytes),
            );
            format!("{path}: removed {removed}, {size}\n")
        };
        self.form.print(line, std::slice::from_ref(&record), io)?;
        Ok(Status::Done)
    }
}
