//! `session remove`: removes sessions with everything that belongs to them.

use std::path::PathBuf;

use clap::Args;

use super::archive::{finish, open, selected};
use super::source::{MatchArguments, SourceArguments};
use crate::cmd::{Form, FormArguments, Globals, InputErrors, Run, Status, UsageError, output};
use crate::io::Io;
use crate::message::SessionId;
use crate::records::{RemovalOutcome, SessionRemovalRecord, SessionRemovedRecord};
use crate::session::SessionUsers;
use crate::text::{byte_size, counted, terminal_safe_line};
use crate::view::ProgressLine;

/// Remove sessions with their subagents and saved results
///
/// Shows what would be removed, and with `--yes` removes it. Sessions that changed within the last ten minutes or
/// that a process has open are kept. Sessions must be named or selected by a filter; `--root` and `--agent` alone are not
/// enough. Sessions in databases are left to their agents. Prints one record per session, then the totals.
#[derive(Debug, Args)]
pub(crate) struct SessionRemoveArguments {
    /// Sessions: paths, ids or their prefixes, titles, or `latest`
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    matching: MatchArguments,
    /// Remove them, without asking for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Archive them in this directory first, and remove only what can be read back from it
    #[arg(long, value_name = "DIR")]
    archive: Option<PathBuf>,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for SessionRemoveArguments {
    fn source(&mut self) -> Option<&mut SourceArguments> {
        Some(&mut self.matching.source)
    }

    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        if self.sessions.is_empty() && !self.matching.is_restrictive() {
            let error = UsageError::new("no session is named");
            let hint = "name sessions, or select them with a filter such as `--until 90d`";
            return Err(error.with_hint(hint).into());
        }
        let form = self.form.form(io.terminal);
        let mut errors = InputErrors::new(&io.messages);
        let archive = self.archive.as_deref();
        let archive = archive
            .map(|dir| open(dir, &self.matching, !self.yes, io))
            .transpose()?;
        let selected = selected(&self.matching, &self.sessions, &mut errors, io)?;
        for (path, error) in &selected.failed {
            if !matches!(error, crate::session::SessionError::Unknown(_)) {
                errors.report(path.display(), &UsageError::reason(error));
            }
        }
        // A killed run must not lose a name.
        if let Some(dir) = &archive {
            dir.write_names(selected.bundles.iter())?;
        }
        let users = SessionUsers::read();
        let now = io.clock.now().into();
        let progress = ProgressLine::of_sessions("removing", selected.bundles.len(), io);
        let mut writer = output::writer(form, io)?;
        let mut totals = SessionRemovalRecord {
            dry_run: !self.yes,
            ..SessionRemovalRecord::default()
        };
        let mut output_failed = false;
        for bundle in &selected.bundles {
            let removed = bundle.remove(&users, now, archive.as_ref(), self.yes);
            progress.advance();
            let (outcome, name, count) = match (&removed.in_use, &removed.problem) {
                (Some(_), _) => (RemovalOutcome::InUse, "in use", &mut totals.in_use),
                (None, Some(_)) => (RemovalOutcome::Failed, "failed", &mut totals.failed),
                (None, None) if self.yes => {
                    (RemovalOutcome::Removed, "removed", &mut totals.removed)
                }
                (None, None) => (RemovalOutcome::Removed, "would remove", &mut totals.removed),
            };
            *count += 1;
            if outcome == RemovalOutcome::Removed {
                totals.files += removed.files;
                totals.bytes += removed.bytes;
            }
            let problem = removed.in_use.as_ref().or(removed.problem.as_ref());
            if let Some(problem) = problem.filter(|_| outcome == RemovalOutcome::Failed) {
                errors.any = true;
                output_failed |= problem.is_of_output;
                errors.messages.error(&problem.to_string());
            }
            let reason = problem.map(ToString::to_string);
            let path = bundle.path.display().to_string();
            match form {
                Form::Text => {
                    let about = terminal_safe_line(reason.as_ref().unwrap_or(&path));
                    let size = byte_size(removed.bytes);
                    writer.echo(format!("{name}: {about}, {size}\n").as_bytes())?;
                }
                Form::Jsonl => writer.record(&SessionRemovedRecord {
                    session_id: bundle.facts.session_id.clone().map(SessionId),
                    agent: bundle.agent.name().to_owned(),
                    path,
                    archive: archive
                        .as_ref()
                        .map(|dir| bundle.target(dir.path()).display().to_string()),
                    dry_run: !self.yes,
                    outcome,
                    reason,
                    files: removed.files,
                    bytes: removed.bytes,
                })?,
            }
        }
        drop(progress);
        let outcome = (output_failed, &errors);
        finish(writer, form, &totals, &sum(&totals), outcome)
    }
}

fn sum(totals: &SessionRemovalRecord) -> String {
    let SessionRemovalRecord {
        removed,
        in_use,
        failed,
        ..
    } = totals;
    let verb = if totals.dry_run {
        "would be removed"
    } else {
        "removed"
    };
    let hint = if totals.dry_run {
        "; `--yes` removes them"
    } else {
        ""
    };
    let files = counted(totals.files, "file", "files");
    let size = byte_size(totals.bytes);
    format!("{removed} {verb}, {in_use} in use, {failed} failed; {files}, {size}{hint}\n")
}
