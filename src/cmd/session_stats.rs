//! `session stats`: what sessions cost.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::Args;

use super::session_source::{ListForm, SourceArguments};
use super::times::parse_moment;
use super::{Outcome, output};
use crate::dialog::tokens;
use crate::io::Io;
use crate::session::{Depth, Session, Share, Stats, Tally, list};
use crate::text::{display_width, terminal_safe_line};
use crate::wire::records::{SessionStatsRecord, ToolShare, UsageShare};

/// Count tokens and calls by model, tool, day and what asked for them
///
/// Of the sessions that are named, else of all. All branches of a session count: they were paid
/// for.
#[derive(Debug, Args)]
pub(super) struct SessionStatsArguments {
    /// Files, ids or beginnings of ids, titles, or `latest`
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// Only sessions active at this time or later (RFC 3339, a date, or an age like 2d)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// What to print [default: text on a terminal, else jsonl]
    #[arg(short, long, value_enum, value_name = "FORM")]
    output: Option<ListForm>,
}

impl SessionStatsArguments {
    /// Counts.
    ///
    /// # Errors
    /// There is no such session, or reading or writing failed.
    pub(super) fn run(self, io: &mut Io) -> anyhow::Result<Outcome> {
        let mut tally = Tally::default();
        if self.sessions.is_empty() {
            let mut listing = self.source.listing(Depth::Ends);
            if let Some(since) = &self.since {
                listing.filter.since = Some(parse_moment("--since", since, io.clock.now())?);
            }
            let (listed, _) = list(&self.source.candidates(io), &listing);
            for session in listed {
                match Session::open(&session.path) {
                    Ok(opened) => tally.add(&opened)?,
                    Err(error) => {
                        io.messages
                            .note(&format!("{}: {error}", session.path.display()));
                    }
                }
            }
        }
        for name in &self.sessions {
            tally.add(&self.source.open(name, io)?)?;
        }
        let stats = tally.finish();
        match ListForm::or_usual(self.output, io) {
            ListForm::Text => output::print(io, &page(&stats))?,
            ListForm::Jsonl => {
                let mut writer = output::record_writer(io)?;
                writer.record(&record(&stats))?;
                writer.flush()?;
            }
        }
        Ok(Outcome::Done)
    }
}

fn record(stats: &Stats) -> SessionStatsRecord {
    let shares = |table: &BTreeMap<String, Share>| {
        let shares = table.iter().map(|(name, share)| UsageShare {
            name: name.clone(),
            replies: share.replies,
            usage: tokens(&share.usage),
        });
        shares.collect()
    };
    let tools = stats.by_tool.iter().map(|(name, calls)| ToolShare {
        name: name.clone(),
        calls: calls.calls,
        failed: calls.failed,
    });
    SessionStatsRecord {
        sessions: stats.sessions,
        prompts: stats.prompts,
        replies: stats.all.replies,
        usage: tokens(&stats.all.usage),
        by_model: shares(&stats.by_model),
        by_day: shares(&stats.by_day),
        by_prompt_id: shares(&stats.by_prompt_id),
        by_tool: tools.collect(),
    }
}

fn page(stats: &Stats) -> String {
    let mut page = format!(
        "{} sessions, {} prompts, {} replies\n",
        stats.sessions, stats.prompts, stats.all.replies
    );
    for (title, table) in [
        ("MODEL", &stats.by_model),
        ("DAY", &stats.by_day),
        ("ASKED BY", &stats.by_prompt_id),
    ] {
        let rows: Vec<[String; 6]> = table
            .iter()
            .map(|(name, share)| {
                let usage = &share.usage;
                [
                    terminal_safe_line(name),
                    share.replies.to_string(),
                    usage.input.to_string(),
                    usage.output.to_string(),
                    usage.cache_read.to_string(),
                    usage.cache_write.to_string(),
                ]
            })
            .collect();
        let head = [
            title,
            "REPLIES",
            "INPUT",
            "OUTPUT",
            "CACHE READ",
            "CACHE WRITE",
        ];
        page.push('\n');
        columns(&head.map(str::to_owned), &rows, &mut page);
    }
    let rows: Vec<[String; 3]> = stats
        .by_tool
        .iter()
        .map(|(name, calls)| {
            [
                terminal_safe_line(name),
                calls.calls.to_string(),
                calls.failed.to_string(),
            ]
        })
        .collect();
    page.push('\n');
    let head = ["TOOL", "CALLS", "FAILED"].map(str::to_owned);
    columns(&head, &rows, &mut page);
    page
}

/// Names to the left, numbers to the right.
fn columns<const N: usize>(head: &[String; N], rows: &[[String; N]], page: &mut String) {
    let mut widths = [0; N];
    for row in std::iter::once(head).chain(rows) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(display_width(cell));
        }
    }
    for row in std::iter::once(head).chain(rows) {
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let padding = " ".repeat(width - display_width(cell));
            if column == 0 {
                let _ = write!(page, "{cell}{padding}");
            } else {
                let _ = write!(page, "  {padding}{cell}");
            }
        }
        page.push('\n');
    }
}
