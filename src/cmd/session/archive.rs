//! `session archive`: keeps sessions that agents delete.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::source::{MatchArguments, SourceArguments};
use crate::cmd::{
    Form, FormArguments, Globals, InputErrors, RecordWriter, Run, Status, UsageError, output,
};
use crate::io::Io;
use crate::jsonl::WriteResult;
use crate::message::SessionId;
use crate::records::{ArchiveOutcome, SessionArchiveRecord, SessionArchivedRecord};
use crate::session::archiver::{ArchiveDir, ArchiveError, Archived, Bundle, Selected, select};
use crate::session::{Depth, each_in_order};
use crate::text::{byte_size, terminal_safe_line};
use crate::view::ProgressLine;

/// Copy sessions to a directory, compressed, before their agents delete them
///
/// Copies what changed since the last run, with the files of subagents and saved results; `--root DIR` lets every
/// command read the archive. A run that is killed leaves only whole files, which the next run completes. A session
/// that is being written is copied up to its last whole record. Sessions in databases are copied as records. Prints
/// one record per session, then the totals.
#[derive(Debug, Args)]
pub(crate) struct SessionArchiveArguments {
    /// The directory of the archive; it is created with mode 0700
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Sessions: paths, ids or their prefixes, titles, or `latest` [default: all selected sessions]
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    matching: MatchArguments,
    /// Only show what would be copied
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for SessionArchiveArguments {
    fn source(&mut self) -> Option<&mut SourceArguments> {
        Some(&mut self.matching.source)
    }

    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let form = self.form.form(io.terminal);
        let mut errors = InputErrors::new(&io.messages);
        let dir = open(&self.dir, &self.matching, self.dry_run, io)?;
        let mut selected = selected(&self.matching, &self.sessions, &mut errors, io)?;
        let progress = ProgressLine::of_sessions("archiving", selected.bundles.len(), io);
        let mut writer = output::writer(form, io)?;
        let mut totals = SessionArchiveRecord {
            path: dir.path().display().to_string(),
            dry_run: self.dry_run,
            ..SessionArchiveRecord::default()
        };
        let mut output_failed = false;
        let jobs = self.matching.source.jobs().get();
        each_in_order(
            &selected.bundles,
            jobs,
            |bundle| dir.archive(bundle),
            |at, archived| {
                progress.advance();
                output_failed |= archived.problems.iter().any(|problem| problem.is_of_output);
                let record = record_of(&selected.bundles[at], &archived, &dir);
                write(&record, form, &mut totals, &mut errors, &mut writer)
            },
        )?;
        drop(progress);
        for (path, error) in std::mem::take(&mut selected.failed) {
            let outcome = match error {
                crate::session::SessionError::Unknown(_) => ArchiveOutcome::Skipped,
                _ => ArchiveOutcome::Failed,
            };
            let record = SessionArchivedRecord {
                session_id: None,
                agent: None,
                archive: None,
                reason: Some(format!("{}: {error}", path.display())),
                path: path.display().to_string(),
                outcome,
                files: 0,
                bytes: 0,
                stored_bytes: 0,
            };
            write(&record, form, &mut totals, &mut errors, &mut writer)?;
        }
        if let Err(problem) = dir.write_names(selected.bundles.iter()) {
            output_failed |= problem.is_of_output;
            errors.report("names of sessions", &UsageError::reason(problem));
        }
        finish(
            writer,
            form,
            &totals,
            &sum(&totals),
            (output_failed, &errors),
        )
    }
}

/// Writes the totals, as a record or as `text`. Returns the status of a command whose output may have failed.
pub(super) fn finish(
    mut writer: RecordWriter,
    form: Form,
    totals: &impl Serialize,
    text: &str,
    (output_failed, errors): (bool, &InputErrors),
) -> anyhow::Result<Status> {
    match form {
        Form::Text => writer.echo(text.as_bytes())?,
        Form::Jsonl => writer.record(totals)?,
    }
    writer.flush()?;
    Ok(if output_failed {
        Status::InputOutputFailed
    } else {
        errors.outcome(Status::Done)
    })
}

/// Opens the directory of an archive.
pub(super) fn open(
    dir: &std::path::Path,
    matching: &MatchArguments,
    is_dry_run: bool,
    io: &Io,
) -> anyhow::Result<ArchiveDir> {
    let roots = matching.source.roots(&io.environment);
    let opened = ArchiveDir::open(dir, &roots, io.clock.now().into(), is_dry_run);
    opened.map_err(|error| match error {
        ArchiveError::Io(path, error) => {
            anyhow::Error::from(error).context(path.display().to_string())
        }
        ArchiveError::Nested(..) => UsageError::reason(error)
            .with_hint("name another directory")
            .into(),
        ArchiveError::Locked(_) => UsageError::reason(error).into(),
    })
}

/// Returns the named sessions, or all that the filters select, and their subagents.
pub(super) fn selected(
    matching: &MatchArguments,
    names: &[String],
    errors: &mut InputErrors,
    io: &mut Io,
) -> anyhow::Result<Selected> {
    matching.source.check_roots(errors);
    let mut paths = Vec::new();
    for named in matching.source.named(names, io)? {
        match named
            .lasting_path()
            .and_then(|path| named.open().map(|_| path))
        {
            Ok(path) => paths.push(path.to_owned()),
            Err(error) => errors.report(&named.name, &error),
        }
    }
    if paths.is_empty() && !names.is_empty() {
        return Ok(Selected::default());
    }
    let listing = matching.listing(Depth::Ends, io.clock.as_ref());
    let selected = select(&matching.source.roots(&io.environment), &listing, &paths);
    for path in &selected.outside {
        let error = UsageError::new("is not in a directory of an agent");
        errors.report(
            path.display(),
            &error.with_hint("`--root DIR` names another directory"),
        );
    }
    let source = &matching.source;
    let is_empty = selected.bundles.is_empty() && names.is_empty() && !errors.any;
    if is_empty && (!matching.is_restrictive() || source.roots(&io.environment).is_empty()) {
        source.note_none(selected.failed.len(), io);
    }
    Ok(selected)
}

fn record_of(bundle: &Bundle, archived: &Archived, dir: &ArchiveDir) -> SessionArchivedRecord {
    let outcome = match archived {
        Archived { problems, .. } if !problems.is_empty() => ArchiveOutcome::Failed,
        Archived { written: 0, .. } => ArchiveOutcome::Unchanged,
        _ => ArchiveOutcome::Archived,
    };
    SessionArchivedRecord {
        session_id: bundle.facts.session_id.clone().map(SessionId),
        agent: Some(bundle.agent.name().to_owned()),
        path: bundle.path.display().to_string(),
        archive: Some(bundle.target(dir.path()).display().to_string()),
        outcome,
        reason: archived.problems.first().map(ToString::to_string),
        files: archived.written + archived.unchanged,
        bytes: archived.bytes,
        stored_bytes: archived.stored_bytes,
    }
}

/// Writes a record, and adds it to the totals.
fn write(
    record: &SessionArchivedRecord,
    form: Form,
    totals: &mut SessionArchiveRecord,
    errors: &mut InputErrors,
    writer: &mut RecordWriter,
) -> WriteResult {
    let (count, name) = match record.outcome {
        ArchiveOutcome::Archived if totals.dry_run => (&mut totals.archived, "would archive"),
        ArchiveOutcome::Archived => (&mut totals.archived, "archived"),
        ArchiveOutcome::Unchanged => (&mut totals.unchanged, "unchanged"),
        ArchiveOutcome::Failed => (&mut totals.failed, "failed"),
        ArchiveOutcome::Skipped => (&mut totals.skipped, "skipped"),
    };
    *count += 1;
    totals.bytes += record.bytes;
    totals.stored_bytes += record.stored_bytes;
    if let (ArchiveOutcome::Failed, Some(reason)) = (record.outcome, &record.reason) {
        errors.any = true;
        errors.messages.error(reason);
    }
    match form {
        Form::Text => {
            let about = record.reason.as_ref().unwrap_or(&record.path);
            writer.echo(format!("{name}: {}\n", terminal_safe_line(about)).as_bytes())
        }
        Form::Jsonl => writer.record(record),
    }
}

fn sum(totals: &SessionArchiveRecord) -> String {
    let SessionArchiveRecord {
        archived,
        unchanged,
        failed,
        skipped,
        ..
    } = totals;
    let sizes = [totals.bytes, totals.stored_bytes].map(byte_size);
    let verb = if totals.dry_run {
        "would be archived"
    } else {
        "archived"
    };
    format!(
        "{}: {archived} {verb}, {unchanged} unchanged, {failed} failed, {skipped} skipped; {} in {}\n",
        terminal_safe_line(&totals.path),
        sizes[0],
        sizes[1]
    )
}
