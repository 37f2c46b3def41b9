//! `session export`: writes sessions as pages with an index.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::commands::session::names::list_usable_paths;
use crate::commands::session::source::{SelectionArguments, SourceArguments};
use crate::commands::{Globals, InputErrors, Run, Status, UsageError};
use crate::io::{Environment, Io, MessageLevel, Messages};
use crate::jsonl::Writer;
use crate::render::sessions::{
    ExportError, ExportFolder, ExportPlan, OutdatedPage, Trajectories, TrajectoryError,
    dialog_facts, print_dialog, subagents_of, words_of_pages,
};
use crate::render::{
    Density, DialogForm, DialogPrinter, DisplayOptions, Grouping, Look, ProgressLine, Style,
    ThinkingDisplay, ToolDetail, html_index, markdown_index,
};
use crate::session::{
    Depth, Facts, ListedSession, Prices, Scope, Session, TRAJECTORY_ENDING, describe_session,
    discover_paths, list, process_in_order,
};
use crate::summaries::builtin::label_group;
use crate::text::{format_count, terminal_safe_line};

/// Export sessions as pages with an index
///
/// Writes a page for each session, named by its id, and `index.html`, which searches and filters them
/// without a server or a network. Subagents have separate pages, listed below their session and linked from
/// the calls that started them. Pages of unchanged sessions are not written again. The page of a deleted
/// session stays in the index until you delete the page and export again. Other files in the directory are
/// not touched.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe session export pages
  turnpipe session export pages --project demo --since 2026-01-01
  turnpipe session export notes -o md latest
  turnpipe session export runs -o atif --since 1d
  turnpipe list --json | turnpipe session export pages -")]
pub(crate) struct SessionExportArguments {
    /// The directory for the pages; it is created if needed
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Only these sessions: paths, ids or their prefixes, titles, or `latest`; `-` is standard input
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// The form of the pages
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "html")]
    output: PageForm,
    /// Keep text that looks like a key or a password, instead of `[redacted]`
    #[arg(long)]
    no_redact: bool,
    #[command(flatten)]
    selection: SelectionArguments,
}

/// The form of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PageForm {
    /// Pages for browsers
    Html,
    /// Markdown
    #[value(alias = "markdown")]
    Md,
    /// Trajectories in ATIF 1.7 (Harbor), without an index
    Atif,
}

impl SessionExportArguments {
    /// Checks that the directory is not meant as a session, as in `session export latest`.
    fn check_directory(&self, source: &SourceArguments, io: &mut Io) -> Result<(), UsageError> {
        let name = self.directory.to_string_lossy();
        let is_id = name.len() >= 4
            && name
                .chars()
                .all(|sign| sign.is_ascii_hexdigit() || sign == '-');
        let may_be_session = self.sessions.is_empty() && (is_id || name == "latest");
        if !may_be_session || self.directory.exists() || source.open_one(Some(&name), io).is_err() {
            return Ok(());
        }
        let error = UsageError::new(format!("{name} is a session, not a directory"));
        Err(error.with_hint(format!("`turnpipe session export DIR {name}` exports it")))
    }
}

impl Run for SessionExportArguments {
    reads_sessions!(selection.matching.source);

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let prices = globals.prices(None, io)?;
        let mut errors = InputErrors::new(&io.messages);
        self.selection.matching.source.check_roots(&mut errors);
        let source = &self.selection.matching.source;
        self.check_directory(source, io)?;
        let named = source.resolve_for_reading(&self.sessions, io)?;
        let candidates = if self.sessions.is_empty() {
            source.candidates(&io.environment)
        } else {
            discover_paths(list_usable_paths(&named, &mut errors).into_iter())
        };
        let mut listing = self.selection.listing(Depth::Ends, io.clock.as_ref());
        // A named session is exported even if it is empty.
        listing.selection.without_empty &= self.sessions.is_empty();
        let reading = ProgressLine::for_sessions("reading", candidates.len(), io);
        listing.examined = reading.counter();
        let has_spawned = self.sessions.is_empty() && listing.selection.limit.is_none();
        listing.selection.with_subagents = has_spawned;
        let (mut listed, failed) = list(&candidates, &listing);
        drop(reading);
        if !self.no_redact {
            for session in &mut listed {
                session.facts.redact_names();
            }
        }
        let is_spawned =
            |session: &mut Box<ListedSession>| session.facts.is_subagent && has_spawned;
        let spawned = listed.extract_if(.., is_spawned).collect();
        errors.report_all(failed);
        let mut folder =
            ExportFolder::open(self.directory.clone(), self.suffix()).map_err(to_command_error)?;
        // A session is exported with all its subagents.
        let all = listing.without_filters();
        let (subagents, failed) = subagents_of(&listed, spawned, &all);
        errors.report_all(failed);
        let plan = ExportPlan {
            sessions: &listed,
            subagents: &subagents,
            look: format!(
                "{} {:?} {}",
                env!("CARGO_PKG_VERSION"),
                self.output,
                self.no_redact
            ),
            has_subagent_pages: self.output != PageForm::Atif,
        };
        let outdated = plan.outdated_pages(plan.costs(&all, &prices), &mut folder);
        if !outdated.is_empty() {
            folder.save()?;
        }
        let progress = ProgressLine::for_sessions("writing", outdated.len(), io);
        let pages = Pages {
            arguments: &self,
            prices: &prices,
            environment: &io.environment,
            messages: &io.messages,
            folder: &folder,
        };
        let mut written = Vec::new();
        let jobs = self.selection.matching.source.jobs().get();
        process_in_order(
            &outdated,
            jobs,
            |page| folder.write(&page.name, |file| pages.write(page, file)),
            |place, outcome| -> anyhow::Result<()> {
                progress.advance();
                let page = &outdated[place];
                match outcome {
                    Ok(()) => written.push(page),
                    Err(error) => match error.downcast::<UsageError>() {
                        Ok(error) => errors.report(page.listed.path.display(), &error),
                        Err(error) => return Err(error),
                    },
                }
                Ok(())
            },
        )?;
        drop(progress);
        for page in &written {
            folder.mark_written(&page.name, &page.stamp);
        }
        let (sessions, subagents) = folder.finish(|rows, directory| match self.output {
            PageForm::Html => {
                let words = words_of_pages(rows, directory, jobs)?;
                Ok(Some(html_index(rows, &words)))
            }
            PageForm::Md => Ok(Some(markdown_index(rows))),
            PageForm::Atif => Ok(None),
        })?;
        if io.messages.is_printed(MessageLevel::Warnings) {
            let index = folder.index();
            io.messages
                .line(&self.format_summary(sessions, subagents, written.len(), &index));
        }
        Ok(errors.to_status(Status::Done))
    }
}

impl SessionExportArguments {
    /// Returns the line about a finished export.
    fn format_summary(
        &self,
        sessions: usize,
        subagents: usize,
        written: usize,
        index: &str,
    ) -> String {
        if sessions + subagents == 0 {
            return "no sessions to export".to_owned();
        }
        let index = match self.output {
            PageForm::Html | PageForm::Md => self.directory.join(index),
            PageForm::Atif => self.directory.clone(),
        };
        let mut counts = vec![format_count(sessions as u64, "session", "sessions")];
        if subagents > 0 {
            counts.push(format_count(subagents as u64, "subagent", "subagents"));
        }
        format!(
            "{}: {}, {written} written",
            terminal_safe_line(&index.display().to_string()),
            counts.join(", "),
        )
    }

    fn suffix(&self) -> &'static str {
        match self.output {
            PageForm::Html => ".html",
            PageForm::Md => ".md",
            PageForm::Atif => TRAJECTORY_ENDING,
        }
    }
}

/// The context of all pages.
struct Pages<'a> {
    arguments: &'a SessionExportArguments,
    prices: &'a Prices,
    environment: &'a Environment,
    messages: &'a Messages,
    folder: &'a ExportFolder,
}

impl Pages<'_> {
    /// Writes a page.
    fn write(&self, page: &OutdatedPage<'_>, file: File) -> anyhow::Result<()> {
        let listed = page.listed;
        let source = &self.arguments.selection.matching.source;
        let ancestors = |session: &Session, facts: &Facts| {
            source.ancestors(session, facts, self.environment, self.messages)
        };
        if self.arguments.output == PageForm::Atif {
            let mut out = BufWriter::new(file);
            let trajectories = Trajectories {
                prices: self.prices,
                folder: self.folder,
                named_roots: &source.named_roots,
                redact: !self.arguments.no_redact,
                ancestors: &ancestors,
            };
            let written = trajectories.write(listed, page.started, &page.subagents, &mut out);
            written.map_err(|error| match error {
                TrajectoryError::Read(error) => UsageError::reason(error).into(),
                TrajectoryError::Write(error) => anyhow::Error::from(error),
            })?;
            return Ok(out.flush()?);
        }
        let session =
            Session::open_with(&listed.path, &source.named_roots).map_err(UsageError::reason)?;
        let facts = &listed.facts;
        let about = describe_session(listed.path.clone(), listed.agent, facts.clone());
        let head =
            dialog_facts(&session, &about, facts, self.prices).map_err(UsageError::reason)?;
        let mut parts = ancestors(&session, facts);
        parts.push(session);
        let form = match self.arguments.output {
            PageForm::Md => DialogForm::Md,
            PageForm::Html | PageForm::Atif => DialogForm::Html,
        };
        let look = Look {
            form,
            selection: DisplayOptions {
                tools: ToolDetail::Full,
                thinking: ThinkingDisplay::Shown,
                redact: !self.arguments.no_redact,
                ..form.options()
            },
            density: Density::Full,
            style: Style::Plain,
        };
        let mut printer = DialogPrinter::new(
            look,
            Grouping::Batches,
            label_group,
            Writer::new(Box::new(file)),
        );
        printer.subagents = page.subagents.to_vec();
        let mut links = vec![("all sessions", self.folder.index())];
        links.extend(page.parent.clone().map(|parent| ("session", parent)));
        printer.print_head(&about, head, links)?;
        print_dialog(&parts, Scope::Live, None, about.session_id, &mut printer)
            .map_err(UsageError::from_print_error)?;
        Ok(())
    }
}

fn to_command_error(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::Io(..) => error.into(),
        _ => UsageError::reason(error)
            .with_hint("name another directory; it is created if needed")
            .into(),
    }
}
