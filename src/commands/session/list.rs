//! `session list`: sessions, most recently active first. `session path`: their files.

use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;

use crate::commands::session::source::SelectionArguments;
use crate::commands::{Form, FormArguments, Globals, InputErrors, Run, Status, output};
use crate::io::Io;
use crate::records::{SessionActivity, SessionErrorRecord, SessionPathRecord, SessionRecord};
use crate::render::{ProgressLine, TableLook, session_table};
use crate::session::{
    Depth, Facts, Failures, ListedSession, Listing, describe_session, list, list_in_states,
    shorten_ids,
};

/// List sessions, most recently active first
///
/// Prints a table on a terminal, with titles dimmed unless the user chose them; otherwise one record per
/// session. Commands accept the shortened ids of the table. Without `--counts`, only the ends of files are
/// read, and as much as a title requires. `--title`, `--branch`, `--last-model` and
/// `--project` ignore case.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe list
  turnpipe list -n 5 --since yesterday
  turnpipe list --project demo --resume
  turnpipe list --cwd . --counts --json
  turnpipe list --state=working,waiting")]
pub(crate) struct SessionListArguments {
    #[command(flatten)]
    selection: SelectionArguments,
    /// Count messages, calls, tokens and costs; this reads whole files. Only tokens and costs
    /// include subagents
    #[arg(long)]
    counts: bool,
    /// Include the separate sessions that Codex, Copilot and opencode start for subagents
    #[arg(
        long,
        value_name = "yes|no",
        value_parser = BoolishValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_value = "no",
        default_missing_value = "yes",
        hide_possible_values = true,
        hide_short_help = true
    )]
    subagents: bool,
    /// Only sessions that changed this file, or a file below this directory; this reads whole files
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
    /// Show the command that resumes each session, for use in its directory; wide tables (200
    /// columns) and records always do
    #[arg(long)]
    resume: bool,
    /// Show the state of each session, or select by it: working, waiting, idle or failed. It is inferred from the end of
    /// the file and from running processes
    #[arg(long, value_enum, value_name = "STATE", num_args = 0..=1, value_delimiter = ',')]
    state: Option<Vec<SessionActivity>>,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for SessionListArguments {
    reads_sessions!(selection.matching.source);

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let mut listing = self.selection.listing(Depth::Ends, io.clock.as_ref());
        listing.selection.with_subagents = self.subagents;
        let path = self.path.as_deref().map(std::path::absolute);
        listing.selection.changed = path.transpose()?;
        if self.counts {
            listing.depth = Depth::Whole;
            listing.prices = Some(globals.prices(None, io)?);
        }
        let mut errors = InputErrors::new(&io.messages);
        self.selection.matching.source.check_roots(&mut errors);
        let form = self.form.form(io.terminal);
        let source = &self.selection.matching.source;
        let candidates = source.candidates(&io.environment);
        let progress = start_progress(candidates.len(), &mut listing, io);
        let (listed, failed) = match &self.state {
            None => list(&candidates, &listing),
            Some(wanted) => list_in_states(&candidates, &listing, wanted, io.clock.now().into()),
        };
        drop(progress);
        if form == Form::Jsonl {
            let texts: Result<Vec<_>, _> =
                listed.into_iter().map(ListedSession::serialize).collect();
            return print_records(&texts?, failed, errors, io);
        }
        let found_nothing = listed.is_empty() && failed.is_empty();
        errors.report_all(failed);
        if listed.is_empty() {
            if found_nothing {
                source.report_none_found(candidates.len(), io);
            }
            return Ok(errors.to_status(Status::Done));
        }
        let look = TableLook {
            columns: io.terminal.columns,
            now: io.clock.now(),
            resume: self.resume,
            zone: io.clock.time_zone(),
            colored: globals.colors_output(io),
        };
        let with_resume = listed.into_iter().map(|session| {
            // The table also has the commands of subagents.
            let resume = session.format_resume_command();
            let mut record = session.into_record();
            record.about.resume = resume;
            record
        });
        let records: Vec<SessionRecord> = with_resume.collect();
        let session_ids = records.iter().map(|record| &record.about.session_id);
        let full_ids = session_ids.map(|id| id.as_ref().map_or("-", |id| &id.0));
        let other_ids = source.all_ids(&io.environment);
        let ids = shorten_ids(&full_ids.collect::<Vec<_>>(), &other_ids);
        output::page(&session_table(&records, &ids, &look), globals, io)?;
        Ok(errors.to_status(Status::Done))
    }
}

/// Starts to show the number of files read so far.
fn start_progress(count: usize, listing: &mut Listing, io: &mut Io) -> ProgressLine {
    let progress = ProgressLine::for_sessions("reading", count, io);
    listing.examined = progress.counter();
    progress
}

/// Prints the records of sessions, then a record for each file that could not be read.
fn print_records(
    records: &[Vec<u8>],
    failed: Failures,
    mut errors: InputErrors,
    io: &mut Io,
) -> anyhow::Result<Status> {
    let mut writer = output::open_record_writer(io)?;
    for record in records {
        writer.echo(record)?;
    }
    for (path, error) in &failed {
        writer.record(&SessionErrorRecord {
            path: path.display().to_string(),
            error: error.to_string(),
        })?;
    }
    writer.flush()?;
    errors.report_all(failed);
    Ok(errors.to_status(Status::Done))
}

/// Print the files of sessions
///
/// Prints one path per line, or with `-o jsonl` records that include the title.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe session path latest
  turnpipe session path latest --json")]
pub(crate) struct SessionPathArguments {
    /// Sessions: paths, ids or their prefixes, titles, or `latest` [default: all selected sessions]
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    selection: SelectionArguments,
    /// The output form
    #[arg(
        short,
        long,
        value_enum,
        default_value = "text",
        hide_default_value = false,
        value_name = "FORM"
    )]
    output: Form,
    /// The same as `-o jsonl`
    #[arg(long, conflicts_with = "output", hide_short_help = true)]
    json: bool,
}

impl Run for SessionPathArguments {
    reads_sessions!(selection.matching.source);

    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let form = if self.json { Form::Jsonl } else { self.output };
        let mut errors = InputErrors::new(&io.messages);
        let sessions = self.selection.resolve(&self.sessions, io)?;
        let mut writer = output::open_writer(form, io)?;
        for named in &sessions {
            let opened = named
                .permanent_path()
                .and_then(|path| Ok((path, named.open()?)));
            let (path, session) = match opened {
                Ok(opened) => opened,
                Err(error) => {
                    errors.record_session(named, form, &error, &mut writer)?;
                    continue;
                }
            };
            match form {
                Form::Text => {
                    use std::os::unix::ffi::OsStrExt;
                    for path in named.paths() {
                        writer.echo(path.as_os_str().as_bytes())?;
                        writer.echo(b"\n")?;
                    }
                }
                Form::Jsonl => {
                    let mapping = self.selection.matching.source.file_mapping();
                    let facts = Facts {
                        title: session.title(mapping).ok().flatten(),
                        ..session.read_first_facts(mapping).unwrap_or_default()
                    };
                    let about = describe_session(path.to_owned(), session.agent(), facts);
                    writer.record(&SessionPathRecord {
                        resume: None,
                        ..SessionPathRecord::new(about, None)
                    })?;
                }
            }
        }
        writer.flush()?;
        Ok(errors.to_status(Status::Done))
    }
}
