//! `session archive`: keeps sessions that agents delete. `session remove`: removes sessions with everything that belongs
//! to them.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::source::MatchArguments;
use crate::commands::{
    Form, FormArguments, Globals, InputErrors, RecordWriter, Run, Status, UsageError, output,
};
use crate::io::Io;
use crate::jsonl::WriteResult;
use crate::records::{
    ArchiveOutcome, SessionArchiveRecord, SessionArchivedRecord, SessionRemovalRecord,
};
use crate::render::{
    ProgressLine, archive_totals_line, archived_line, removal_totals_line, removed_line,
};
use crate::session::archiver::{ArchiveDir, ArchiveError, Bundle, Removal, Selected, select};
use crate::session::{Depth, SessionError, process_in_order};

/// Copy sessions to a directory, compressed, before their agents delete them
///
/// Copies what changed since the last run, with the files of subagents, saved results and the sessions that are
/// continued; `--root DIR` lets every command read the archive. A run that is killed leaves only whole files, which the next run completes. A session
/// that is being written is copied up to its last whole record. Sessions in databases are copied as records. Prints
/// one record per session, then the totals.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe session archive ~/archive
  turnpipe session archive ~/archive --before 14d --dry-run
  turnpipe list --root ~/archive")]
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
    #[arg(long, hide_short_help = true)]
    dry_run: bool,
    #[command(flatten)]
    form: FormArguments,
}

/// Remove sessions with their subagents and saved results
///
/// Shows what would be removed, and with `--yes` removes it. Sessions that changed within the last ten minutes, that
/// a process has open, or that others continue which are not removed with them are kept. Sessions must be named or selected by a filter; `--root` and `--agent` alone are not
/// enough. Sessions in databases are left to their agents. Prints one record per session, then the totals.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe session remove --before 90d
  turnpipe session remove --before 90d --archive ~/archive --yes")]
pub(crate) struct SessionRemoveArguments {
    /// Sessions: paths, ids or their prefixes, titles, or `latest`
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    matching: MatchArguments,
    /// Remove them, without asking for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Only show what would be removed, as without `--yes`
    #[arg(long, hide = true)]
    dry_run: bool,
    /// Archive them in this directory first, and remove only what can be read back from it
    #[arg(long, value_name = "DIR")]
    archive: Option<PathBuf>,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for SessionArchiveArguments {
    reads_sessions!(matching.source);

    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let form = self.form.form(io.terminal);
        let mut errors = InputErrors::new(&io.messages);
        let dir = open_archive(&self.dir, &self.matching, self.dry_run, io)?;
        let selected = select_sessions(&self.matching, &self.sessions, &mut errors, io)?;
        let bundles: Vec<&Bundle> = selected.with_bases().collect();
        let progress = ProgressLine::for_sessions("archiving", bundles.len(), io);
        let mut writer = output::open_writer(form, io)?;
        let mut totals = SessionArchiveRecord {
            path: dir.path().display().to_string(),
            dry_run: self.dry_run,
            ..SessionArchiveRecord::default()
        };
        let mut output_failed = false;
        let jobs = self.matching.source.jobs().get();
        process_in_order(
            &bundles,
            jobs,
            |bundle| dir.archive(bundle),
            |at, archived| {
                progress.advance();
                output_failed |= archived
                    .problems
                    .iter()
                    .any(|problem| problem.is_write_error);
                let record = archived.to_record(bundles[at], &dir);
                write_archived(&record, form, &mut totals, &mut errors, &mut writer)
            },
        )?;
        drop(progress);
        for record in selected.to_failure_records() {
            write_archived(&record, form, &mut totals, &mut errors, &mut writer)?;
        }
        if let Err(problem) = dir.write_names(selected.with_bases()) {
            output_failed |= problem.is_write_error;
            errors.report("names of sessions", &UsageError::reason(problem));
        }
        finish(
            writer,
            form,
            &totals,
            &archive_totals_line(&totals),
            output_failed,
            &errors,
        )
    }
}

impl Run for SessionRemoveArguments {
    reads_sessions!(matching.source);

    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        if self.sessions.is_empty() && !self.matching.is_restrictive() {
            let error = UsageError::new("no session is named");
            let hint = "name sessions, or select them with a filter such as `--before 90d`";
            return Err(error.with_hint(hint).into());
        }
        if self.matching.filter.has_later_activity() {
            let error = UsageError::new("`--until` also selects sessions that continued later");
            let hint = "`--before` selects those that were last active before a time";
            return Err(error.with_hint(hint).into());
        }
        let form = self.form.form(io.terminal);
        let mut errors = InputErrors::new(&io.messages);
        let is_dry_run = self.dry_run || !self.yes;
        let open = |dir: &PathBuf| open_archive(dir, &self.matching, is_dry_run, io);
        let archive = self.archive.as_ref().map(open).transpose()?;
        let selected = select_sessions(&self.matching, &self.sessions, &mut errors, io)?;
        for (path, error) in &selected.failed {
            if !matches!(error, SessionError::Unknown(_)) {
                errors.report(path.display(), &UsageError::reason(error));
            }
        }
        // Names are written first, so that a killed run loses none.
        if let Some(dir) = &archive {
            dir.write_names(selected.with_bases())?;
        }
        let now = io.clock.now().into();
        let mut removal = Removal::new(&selected, now, archive.as_ref(), !is_dry_run);
        let progress = ProgressLine::for_sessions("removing", selected.bundles.len(), io);
        let mut writer = output::open_writer(form, io)?;
        let mut totals = SessionRemovalRecord {
            dry_run: is_dry_run,
            ..SessionRemovalRecord::default()
        };
        let mut output_failed = false;
        for bundle in &selected.bundles {
            let removed = removal.remove(bundle);
            progress.advance();
            if let Some(problem) = removed.failure() {
                errors.any = true;
                output_failed |= problem.is_write_error;
                errors.messages.error(&problem.to_string());
            }
            let record = removed.to_record(bundle, archive.as_ref());
            totals.add(&record);
            if form == Form::Jsonl {
                writer.record(&record)?;
                continue;
            }
            writer.echo(removed_line(&record).as_bytes())?;
        }
        drop(progress);
        let line = removal_totals_line(&totals);
        finish(writer, form, &totals, &line, output_failed, &errors)
    }
}

/// Writes the totals, as a record or as `text`. Returns the exit status. `output_failed` says whether a
/// file could not be written.
fn finish(
    mut writer: RecordWriter,
    form: Form,
    totals: &impl Serialize,
    text: &str,
    output_failed: bool,
    errors: &InputErrors,
) -> anyhow::Result<Status> {
    match form {
        Form::Text => writer.echo(text.as_bytes())?,
        Form::Jsonl => writer.record(totals)?,
    }
    writer.flush()?;
    Ok(if output_failed {
        Status::InputOutputFailed
    } else {
        errors.to_status(Status::Done)
    })
}

/// Opens the directory of an archive.
fn open_archive(
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

/// Returns the named sessions, or without names all sessions that the filters select, with their subagents.
fn select_sessions(
    matching: &MatchArguments,
    names: &[String],
    errors: &mut InputErrors,
    io: &mut Io,
) -> anyhow::Result<Selected> {
    matching.source.check_roots(errors);
    let mut paths = Vec::new();
    for named in matching.source.resolve(names, io)? {
        match named.permanent_path().and_then(|_| named.open()) {
            Ok(_) => paths.extend(named.paths()),
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
        source.report_none_found(selected.failed.len(), io);
    }
    Ok(selected)
}

/// Writes a record, and adds it to the totals.
fn write_archived(
    record: &SessionArchivedRecord,
    form: Form,
    totals: &mut SessionArchiveRecord,
    errors: &mut InputErrors,
    writer: &mut RecordWriter,
) -> WriteResult {
    totals.add(record);
    if let (ArchiveOutcome::Failed, Some(reason)) = (record.outcome, &record.reason) {
        errors.any = true;
        errors.messages.error(reason);
    }
    match form {
        Form::Text => writer.echo(archived_line(record).as_bytes()),
        Form::Jsonl => writer.record(record),
    }
}
