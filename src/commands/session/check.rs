//! `session check`: reports problems of session files.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use crate::commands::session::names::NamedSession;
use crate::commands::session::source::SelectionArguments;
use crate::commands::{Form, FormArguments, Globals, InputErrors, Run, Status, UsageError, output};
use crate::io::Io;
use crate::records::{DamageKind, SessionChecksRecord};
use crate::render::{ProgressLine, check_page, check_totals_line};
use crate::session::{SecretSearch, Session};

/// Report problems in session files
///
/// Writes one record `session_damage` for each finding of a session, then one with its totals. Without names, only
/// sessions with findings have records, as in text, and the totals of all sessions follow. Only lost or broken data is damage
/// (`ok` is then false): lines that are not records, records glued together, documents that are cut off, duplicate
/// ids, cycles of parents, impossible numbers of tokens.
/// Other findings are not: an unfinished last line, which may still be being written, calls without results,
/// unknown kinds of records, times out of order.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe session check latest
  turnpipe session check latest --repair-to repaired.jsonl")]
pub(crate) struct SessionCheckArguments {
    /// Sessions: paths, ids or their prefixes, titles, or `latest` [default: all selected sessions]
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    selection: SelectionArguments,
    /// Also report records that seem to contain a key or a password
    #[arg(long)]
    secrets: bool,
    /// Exit with 1 if there is damage, or a secret with `--secrets`
    #[arg(long, hide_short_help = true)]
    exit_status: bool,
    /// Print only totals: a record for each session, or one line of text
    #[arg(long)]
    summary: bool,
    /// Write a clean copy of the one named session: only whole records, one per line
    #[arg(long, value_name = "FILE")]
    repair_to: Option<PathBuf>,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for SessionCheckArguments {
    reads_sessions!(selection.matching.source, sessions);

    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        if self.repair_to.is_some() && self.sessions.len() != 1 {
            return Err(UsageError::new("--repair-to: name one session").into());
        }
        let form = self.form.form(io.terminal);
        let mut is_damaged = false;
        let mut all = SessionChecksRecord::default();
        let mut errors = InputErrors::new(&io.messages);
        let resolved = self.selection.resolve(&self.sessions, io)?.into_iter();
        let sessions: Vec<NamedSession> = resolved
            .map(NamedSession::prepare_for_reading)
            .collect::<anyhow::Result<_>>()?;
        let progress = ProgressLine::for_sessions("checking", sessions.len(), io);
        let mut writer = output::open_writer(form, io)?;
        let secrets = if self.secrets {
            SecretSearch::On
        } else {
            SecretSearch::Off
        };
        for named in &sessions {
            let checked = named.open().and_then(|session| {
                let result = session.check(secrets).map_err(UsageError::reason)?;
                Ok((session, result))
            });
            progress.advance();
            let (session, (totals, findings)) = match checked {
                Ok(checked) => checked,
                Err(error) => {
                    errors.record_session(named, form, &error, &mut writer)?;
                    continue;
                }
            };
            let count = if totals.ok {
                &mut all.ok
            } else {
                &mut all.damaged
            };
            *count += 1;
            is_damaged |= !totals.ok || totals.findings.contains_key(&DamageKind::Secret);
            if let Some(copy) = &self.repair_to {
                repair(&session, copy)?;
            }
            match form {
                Form::Jsonl => {
                    for finding in findings.iter().filter(|_| !self.summary) {
                        writer.record(finding)?;
                    }
                    if self.summary || !self.sessions.is_empty() || !findings.is_empty() {
                        writer.record(&totals)?;
                    }
                }
                Form::Text if self.summary => {}
                Form::Text => writer.echo(check_page(&totals, &findings).as_bytes())?,
            }
        }
        drop(progress);
        all.sessions = sessions.len() as u64;
        all.unreadable = all.sessions - all.ok - all.damaged;
        match form {
            Form::Text => writer.echo(check_totals_line(&all).as_bytes())?,
            Form::Jsonl if self.sessions.is_empty() => writer.record(&all)?,
            Form::Jsonl => {}
        }
        writer.flush()?;
        Ok(errors.to_status(Status::negative_if(is_damaged && self.exit_status)))
    }
}

/// Writes every whole record into a new file, one per line.
fn repair(session: &Session, copy: &Path) -> anyhow::Result<()> {
    let file = File::create_new(copy);
    let file = file.with_context(|| format!("cannot create {}", copy.display()))?;
    let written = session.write_whole_records(file);
    written.with_context(|| format!("cannot write {}", copy.display()))
}
