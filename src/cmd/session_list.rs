//! `session list`: which sessions there are.

use std::io::Write;
use std::mem::ManuallyDrop;
use std::num::NonZeroUsize;

use clap::Args;
use jiff::Timestamp;

use super::session_filter::FilterArguments;
use super::session_source::{ListForm, SourceArguments, about};
use super::session_table::table;
use super::{Globals, Outcome, output};
use crate::dialog::tokens;
use crate::io::Io;
use crate::jsonl::{WriteError, Writer};
use crate::session::{Counts, Depth, Listed, Listing, Sessions, list, list_all};
use crate::wire::records::{SessionCounts, SessionErrorRecord, SessionRecord};

/// List sessions, the last active first
///
/// On a terminal a table, in which titles that a model made are dimmed; else one record a session.
/// Only the ends of files are read, and as much as it takes to find a title, unless `--counts` is
/// given.
#[derive(Debug, Args)]
pub(super) struct SessionListArguments {
    #[command(flatten)]
    source: SourceArguments,
    #[command(flatten)]
    filter: FilterArguments,
    /// No more than this many
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// Count messages, calls and tokens, which takes reading whole files
    #[arg(long)]
    counts: bool,
    /// What to print [default: text on a terminal, else jsonl]
    #[arg(short, long, value_enum, value_name = "FORM")]
    output: Option<ListForm>,
}

impl SessionListArguments {
    /// Lists them.
    ///
    /// # Errors
    /// The arguments make no sense, or writing failed.
    pub(super) fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let listing = self.listing(io.clock.now())?;
        let filter = &listing.filter;
        let (listed, failed) = if filter.limit.is_none() && filter.since.is_none() {
            list_all(&self.source.files(io), &listing)
        } else {
            list(&self.source.candidates(io), &listing)
        };
        match ListForm::or_usual(self.output, io) {
            ListForm::Text => {
                for (path, error) in &failed {
                    io.messages.note(&format!("{}: {error}", path.display()));
                }
                let colored = globals.color.applies(io.terminal.stdout, &io.environment);
                output::print(io, &table(&listed, colored))?;
            }
            ListForm::Jsonl => {
                let mut writer = output::record_writer(io)?;
                print(listed, self.source.jobs(), &mut writer)?;
                for (path, error) in &failed {
                    writer.record(&SessionErrorRecord {
                        path: path.display().to_string(),
                        error: error.to_string(),
                    })?;
                }
                writer.flush()?;
            }
        }
        Ok(Outcome::Done)
    }

    fn listing(&self, now: Timestamp) -> anyhow::Result<Listing> {
        let depth = if self.counts {
            Depth::Whole
        } else {
            Depth::Ends
        };
        let mut listing = self.source.listing(depth);
        self.filter.apply(&mut listing.filter, now)?;
        listing.filter.limit = self.limit;
        Ok(listing)
    }
}

/// More sessions than this are made into text on several threads.
const MANY: usize = 1024;

fn print(
    mut listed: Sessions,
    threads: NonZeroUsize,
    writer: &mut Writer<impl Write>,
) -> Result<(), WriteError> {
    let size = match listed.len() {
        many @ MANY.. => many.div_ceil(threads.get()),
        few => few,
    };
    let mut others = Vec::new();
    while listed.len() > size.max(1) {
        let last = listed.len().div_ceil(size) - 1;
        others.push(listed.split_off(last * size));
    }
    std::thread::scope(|scope| {
        let others: Vec<_> = others
            .into_iter()
            .map(|part| scope.spawn(|| text(part)))
            .collect();
        print_part(listed, writer)?;
        for part in others.into_iter().rev() {
            match part.join() {
                Ok(text) => writer.echo(&text?)?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })
}

fn print_part(listed: Sessions, writer: &mut Writer<impl Write>) -> Result<(), WriteError> {
    for session in listed {
        // Not freed: the process ends soon, and to take thousands of them apart takes its time.
        let record = ManuallyDrop::new(record(*session));
        writer.record(&*record)?;
    }
    Ok(())
}

fn text(listed: Sessions) -> Result<Vec<u8>, WriteError> {
    let mut text = Vec::new();
    let mut writer = Writer::new(&mut text);
    print_part(listed, &mut writer)?;
    writer.flush()?;
    Ok(text)
}

fn record(session: Listed) -> SessionRecord {
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    SessionRecord {
        started: time(session.facts.started),
        last_activity: time(session.facts.last_activity),
        about: about(session.path, session.agent, session.facts),
        size: session.size,
        subagents: session.subagents,
        counts: session.counts.as_ref().map(counts),
    }
}

fn counts(counts: &Counts) -> SessionCounts {
    SessionCounts {
        records: counts.records,
        messages: counts.prompts + counts.replies,
        prompts: counts.prompts,
        calls: counts.calls,
        results: counts.results,
        failed: counts.failed,
        unanswered: counts.unanswered,
        errors: counts.errors,
        compactions: counts.compactions,
        usage: tokens(&counts.usage),
    }
}
