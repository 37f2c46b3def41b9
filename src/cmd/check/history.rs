//! `check permission --history`: decisions about past calls, and rules that would have spared questions.

use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::cmd::run::guards::call_decisions;
use crate::cmd::session::source::MatchArguments;
use crate::cmd::{Form, InputErrors, RecordWriter, Status, output};
use crate::config::PermissionSettings;
use crate::io::Io;
use crate::jsonl::WriteResult;
use crate::records::{PermissionCountRecord, PermissionProposalRecord};
use crate::session::{CallEvent, calls_of_all};
use crate::text::{terminal_safe_line, with_separators};
use crate::tools::{PastDecisions, Registry, ShellGuarantees};
use crate::view::{ProgressLine, count_table};

/// Maximum number of rows in text.
const MAX_ROWS: usize = 40;

/// Decides on the calls of these sessions (paths, ids or titles; empty for all), and prints counts and proposals.
///
/// # Errors
/// Decisions cannot be set up, or reading or writing failed.
pub(crate) fn replay(
    sessions: &[String],
    matching: &MatchArguments,
    form: Form,
    registry: Registry,
    permissions: PermissionSettings,
    here: PathBuf,
    io: &mut Io,
) -> anyhow::Result<Status> {
    let denies = permissions.denies_instead_of_asking;
    let shell = ShellGuarantees {
        probes_git: false,
        ..ShellGuarantees::OWN
    };
    let decisions = call_decisions(registry, permissions, here.clone(), shell, io)?;
    let (mut listing, period) = matching.listing_of_calls(io.clock.as_ref());
    let mut errors = InputErrors::new(&io.messages);
    let source = &matching.source;
    let (_copies, candidates) = source.named_or_all(sessions, &mut errors, io)?;
    let progress = ProgressLine::of_sessions("reading", candidates.len(), io);
    listing.examined = progress.done();
    let mut replay = PastDecisions::new(decisions, denies);
    let mut read = 0;
    let mut cwd = here.clone();
    calls_of_all(&candidates, &listing, &mut |event| {
        match event {
            CallEvent::Session(listed) => {
                read += 1;
                let recorded = listed.facts.cwd.as_ref().map(PathBuf::from);
                cwd = recorded.unwrap_or_else(|| here.clone());
            }
            CallEvent::Call(call) if call.is_within(&period) => {
                replay.add(&call.call.name, call.call.input.get(), &cwd);
            }
            CallEvent::Call(_) => {}
            CallEvent::Failed { path, error } => errors.report_all(vec![(path, error)]),
        }
        ControlFlow::Continue(())
    });
    drop(progress);
    if read == 0 && sessions.is_empty() {
        source.note_none(0, io);
    }
    let proposals = replay.proposals(here);
    let mut writer = output::writer(form, io)?;
    if form == Form::Jsonl {
        for record in replay.counts.values() {
            writer.record(record)?;
        }
        for proposal in &proposals {
            writer.record(proposal)?;
        }
    } else {
        print(&replay, read, &proposals, &mut writer, io.terminal.columns)?;
    }
    writer.flush()?;
    Ok(errors.outcome(Status::Done))
}

fn print(
    replay: &PastDecisions,
    sessions: u64,
    proposals: &[PermissionProposalRecord],
    writer: &mut RecordWriter,
    columns: Option<usize>,
) -> WriteResult {
    let whole = replay
        .counts
        .values()
        .filter(|count| count.command.is_none());
    let sum = |number: fn(&PermissionCountRecord) -> u64| {
        with_separators(whole.clone().map(number).sum::<u64>())
    };
    let head = format!(
        "{} calls of {} sessions: {} allowed, {} asked about, {} denied\n",
        sum(|count| count.calls),
        with_separators(sessions),
        sum(|count| count.allow),
        sum(|count| count.ask),
        sum(|count| count.deny),
    );
    writer.echo(head.as_bytes())?;
    let mut counts: Vec<_> = replay.counts.values().collect();
    counts.sort_by_key(|count| std::cmp::Reverse((count.ask + count.deny, count.calls)));
    let rows = counts.iter().take(MAX_ROWS).map(|count| {
        let command = count.command.as_deref().unwrap_or_default();
        let numbers = [count.calls, count.allow, count.ask, count.deny];
        ([count.tool.as_str(), command], numbers)
    });
    let page = count_table("TOOL COMMAND CALLS ALLOWED ASKED DENIED", rows, columns);
    writer.echo(format!("\n{page}").as_bytes())?;
    if counts.len() > MAX_ROWS {
        let left = with_separators((counts.len() - MAX_ROWS) as u64);
        writer.echo(format!("and {left} more rows; `-o jsonl` prints all\n").as_bytes())?;
    }
    for (index, proposal) in proposals.iter().enumerate() {
        let start = if index == 0 {
            "\nRules that would have spared the most questions:\n"
        } else {
            ""
        };
        let spares = with_separators(proposal.spares);
        let rule = terminal_safe_line(&proposal.rule);
        let also = &proposal.also_allows;
        let text = format!("{start}{spares:>7}  {rule}\n         also: {also}\n");
        writer.echo(text.as_bytes())?;
    }
    Ok(())
}
