//! `session show`: prints the dialog of a session.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::cmd::session::cost_table::{cost_cell, dollars, runs_cell, tokens_cell};
use crate::cmd::session::printer::{DialogForm, Look, Printer};
use crate::cmd::session::source::{SourceArguments, about};
use crate::cmd::times::spelled;
use crate::cmd::{Globals, Run, Status, UsageError, output};
use crate::io::{Io, TerminalFacts};
use crate::jsonl::Writer;
use crate::message::{Block, Message, Origin, SessionId, Thread};
use crate::records::{MessageContext, SessionCostRecord, SessionDescription, to_record};
use crate::session::{Detail, Facts, Prices, Scope, Session, Tally};
use crate::text::{redact, terminal_safe};
use crate::view::{Density, DisplayOptions, Grouping, InjectedDetail, ThinkingDisplay, ToolDetail};

/// Show the dialog of a session
///
/// Omits abandoned branches. As records it starts with a `system/session_start`, so that later
/// stages of a pipeline treat it as history and run nothing.
#[derive(Debug, Args)]
pub(crate) struct SessionShowArguments {
    /// The session: a path, an id or a prefix of it, a title, or `latest`
    session: String,
    #[command(flatten)]
    source: SourceArguments,
    /// The output form [default: text on a terminal, else jsonl]
    #[arg(short, long, value_enum, value_name = "FORM")]
    output: Option<DialogForm>,
    /// The same as `-o jsonl`
    #[arg(long, conflicts_with_all = ["output", "html"])]
    json: bool,
    /// Write an HTML page to this file; the page loads no other files
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    html: Option<PathBuf>,
    /// Detail of tool calls and results [default: summary in text and Markdown, else full]
    #[arg(long, alias = "tools", value_enum, value_name = "HOW")]
    calls: Option<ToolDetail>,
    /// Show thinking (records always contain it, unless `--no-thinking` is given)
    #[arg(long, overrides_with = "no_thinking")]
    thinking: bool,
    /// Omit thinking
    #[arg(long, overrides_with = "thinking")]
    no_thinking: bool,
    /// Show in full what the agent added to messages, e.g. reminders and texts of skills; otherwise
    /// text and Markdown have one line for each (records and pages always contain it)
    #[arg(long, alias = "context")]
    injected: bool,
    /// Only these messages, counted from 1: 3, 3..7, 3.., ..7, or -5.. for the last five
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    range: Option<MessageRange>,
    /// Show only the text of the last reply, without a heading; exits with 1 if there is none
    #[arg(long, conflicts_with_all = ["range", "html"])]
    last_answer: bool,
    /// Show abandoned branches too
    #[arg(long, conflicts_with = "since_compact")]
    all_branches: bool,
    /// Show only what follows the last compaction
    #[arg(long)]
    since_compact: bool,
    /// Replace text that looks like a key or a password with `[redacted]`
    #[arg(long)]
    redact: bool,
    /// Put neighbouring tool calls under one heading
    #[arg(long)]
    compact: bool,
}

impl Run for SessionShowArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let named = self.source.one(&self.session, io)?.for_reading()?;
        let session = named.open().map_err(|error| named.named(&error))?;
        if self.last_answer {
            return self.print_last_reply(&session, io);
        }
        let path = session.file.path.clone();
        let failed = |error: std::io::Error| UsageError::reason(error).about(path.display());
        let facts = session.summary(self.source.mapping()).map_err(failed)?;
        let mut about = about(path.clone(), session.agent(), facts.clone());
        if self.redact {
            about.title = about.title.map(|title| redact(&title).into_owned());
            about.first_prompt = about.first_prompt.map(|text| redact(&text).into_owned());
        }
        let form = self.form(io.terminal);
        let known = match form {
            DialogForm::Jsonl => Vec::new(),
            DialogForm::Text | DialogForm::Md | DialogForm::Html => {
                let prices = globals.prices(None, io)?;
                known(&session, &about, &facts, &prices).map_err(failed)?
            }
        };
        let scope = self.scope();
        let mut parts = self
            .source
            .ancestors(&session, &facts, &io.environment, &io.messages);
        parts.push(session);
        let range = match self.range {
            Some(range) if range.counts_from_the_end() => {
                let mut total = 0;
                for part in &parts {
                    for message in part.messages(scope).map_err(failed)? {
                        total += u64::from(is_shown(&message.map_err(failed)?));
                    }
                }
                Some(range.of(total))
            }
            range => range,
        };
        let (density, grouping) = if self.compact {
            (Density::Compact, Grouping::Merged)
        } else {
            (Density::Full, Grouping::Batches)
        };
        let look = Look {
            form,
            selection: self.selection(form),
            density,
            style: globals.style(io),
        };
        let sink = match &self.html {
            Some(page) => page_file(page)?,
            None if form == DialogForm::Jsonl => output::record_sink(io)?,
            None => {
                output::use_pager(globals, io);
                output::take_sink(io)?
            }
        };
        let mut printer = Printer::new(look, grouping, Writer::new(sink));
        printer.head(&about, known, Vec::new())?;
        let left_out = print_messages(&parts, scope, range, about.session_id, &mut printer)?;
        // Waits for the pager.
        drop(printer);
        if left_out > 0 && !globals.quiet {
            io.messages.hint(&format!(
                "{left_out} messages of other branches, or from before a compaction, are left out: \
                 `--all-branches` shows them"
            ));
        }
        Ok(Status::Done)
    }
}

impl SessionShowArguments {
    /// Prints the text of the last reply that has one.
    fn print_last_reply(&self, session: &Session, io: &mut Io) -> anyhow::Result<Status> {
        let mut last = None;
        for message in session.messages(self.scope())? {
            let message = message?;
            let is_reply = message.origin == Origin::Reply && message.thread == Thread::Main;
            if is_reply && !message.text().trim().is_empty() {
                last = Some(message);
            }
        }
        let Some(mut last) = last else {
            return Ok(Status::Negative);
        };
        last.blocks.retain(|block| matches!(block, Block::Text(_)));
        if self.redact {
            last.redact();
        }
        if self.form(io.terminal) == DialogForm::Jsonl {
            let facts = session.first_facts(self.source.mapping())?;
            let about = MessageContext {
                session_id: facts.session_id.map(SessionId),
                ..MessageContext::default()
            };
            output::records(&[to_record(last, &about)], io)?;
            return Ok(Status::Done);
        }
        let text = last.text();
        let text = if io.terminal.stdout {
            terminal_safe(text.trim_end())
        } else {
            text.trim_end().into()
        };
        output::print(io, &format!("{text}\n"))?;
        Ok(Status::Done)
    }

    fn form(&self, terminal: TerminalFacts) -> DialogForm {
        match self.output {
            _ if self.html.is_some() => DialogForm::Html,
            Some(form) => form,
            None if terminal.stdout && !self.json => DialogForm::Text,
            None => DialogForm::Jsonl,
        }
    }

    fn scope(&self) -> Scope {
        match (self.all_branches, self.since_compact) {
            (true, _) => Scope::AllBranches,
            (false, true) => Scope::SinceCompaction,
            (false, false) => Scope::Live,
        }
    }

    fn selection(&self, form: DialogForm) -> DisplayOptions {
        let mut options = form.options();
        options.tools = self.calls.unwrap_or(options.tools);
        if self.thinking {
            options.thinking = ThinkingDisplay::Shown;
        } else if self.no_thinking {
            options.thinking = ThinkingDisplay::Hidden;
        }
        if self.injected {
            options.context = InjectedDetail::Full;
        }
        options.redact = self.redact;
        options
    }
}

/// Prints the messages of a session whose parts are in these files, and what follows the last one.
/// Returns the number of omitted messages of other branches.
pub(crate) fn print_messages(
    parts: &[Session],
    scope: Scope,
    range: Option<MessageRange>,
    session_id: Option<SessionId>,
    printer: &mut Printer,
) -> anyhow::Result<u64> {
    let about = MessageContext {
        session_id,
        ..MessageContext::default()
    };
    let mut left_out = 0;
    let mut meter = None;
    for part in parts {
        let failed = |error| UsageError::reason(error).about(part.file.path.display());
        let messages = part.messages(scope).map_err(failed)?;
        left_out += messages.left_out();
        for message in messages {
            let message = message.map_err(failed)?;
            if is_shown(&message) {
                printer.number += 1;
                if range.is_some_and(|range| range.is_before(printer.number)) {
                    continue;
                }
                if range.is_some_and(|range| range.is_behind(printer.number)) {
                    break;
                }
            } else {
                let is_new = message.usage != meter;
                meter = message.usage;
                if !is_new || range.is_some() || printer.look.form != DialogForm::Jsonl {
                    continue;
                }
            }
            printer.message(message, &about)?;
        }
    }
    printer.finish()?;
    Ok(left_out)
}

/// Returns the cost of a session, with its subagents.
pub(crate) fn cost_of(session: &Session, prices: &Prices) -> std::io::Result<SessionCostRecord> {
    Ok(total_of(&tally_of(session, prices)?))
}

fn tally_of(session: &Session, prices: &Prices) -> std::io::Result<Tally> {
    let mut tally = Tally::within(Timestamp::MIN..Timestamp::MAX, Detail::Costs);
    tally.add(session)?;
    tally.price(prices);
    Ok(tally)
}

fn total_of(tally: &Tally) -> SessionCostRecord {
    tally.costs(&[], &TimeZone::UTC).pop().unwrap_or_default()
}

/// Returns the facts shown before the messages of a session.
pub(crate) fn known(
    session: &Session,
    about: &SessionDescription,
    facts: &Facts,
    prices: &Prices,
) -> std::io::Result<Vec<(&'static str, String)>> {
    let tally = tally_of(session, prices)?;
    let cost = total_of(&tally);
    let usage = &cost.usage;
    let tokens = tokens_cell(usage);
    let duration = facts.started.zip(facts.last_activity);
    let cost_cell = tokens
        .as_ref()
        .map(|_| cost_cell(usage, &cost.unpriced_models));
    let known = [
        (
            "session",
            about.session_id.as_ref().map(ToString::to_string),
        ),
        ("agent", Some(about.agent.clone())),
        ("directory", about.cwd.clone()),
        ("branch", about.git_branch.clone()),
        ("model", about.model.clone()),
        (
            "duration",
            duration.map(|(start, end)| spelled(end.duration_since(start))),
        ),
        ("tokens", tokens),
        ("cost", cost_cell),
        ("recorded", cost.recorded_cost.map(dollars)),
        ("run", tally.runs().map(runs_cell)),
        ("resume", about.resume.clone()),
    ];
    let known = known.into_iter();
    let known = known.filter_map(|(name, value)| Some((name, value?)));
    Ok(known.collect())
}

/// Returns the file for a page.
fn page_file(path: &Path) -> anyhow::Result<Box<dyn Write + Send>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Box::new(file))
}

/// Whether a message is shown. Readings of token meters are only for totals.
fn is_shown(message: &Message) -> bool {
    message.origin != Origin::Meter
}

/// Messages from one to another, counted from 1, or from the end if negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageRange {
    first: i64,
    last: i64,
}

impl FromStr for MessageRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| match text.parse::<i64>() {
            Ok(0) => Err("messages are numbered from 1".to_owned()),
            Ok(number) => Ok(number),
            Err(_) => Err("not a range of messages, such as 3..7".to_owned()),
        };
        let Some((first, last)) = text.split_once("..") else {
            let only = number(text)?;
            return Ok(Self {
                first: only,
                last: only,
            });
        };
        let end = |text: &str, open: i64| match text {
            "" => Ok(open),
            text => number(text),
        };
        Ok(Self {
            first: end(first, 1)?,
            last: end(last, i64::MAX)?,
        })
    }
}

impl MessageRange {
    /// Whether the total number of messages is needed.
    pub(crate) fn counts_from_the_end(self) -> bool {
        self.first < 0 || self.last < 0
    }

    /// Returns the range in a dialog of `total` messages.
    pub(crate) fn of(self, total: u64) -> Self {
        let total = i64::try_from(total).unwrap_or(i64::MAX);
        let from_start = |number: i64| {
            if number < 0 {
                total.saturating_add(number).saturating_add(1).max(0)
            } else {
                number
            }
        };
        Self {
            first: from_start(self.first),
            last: from_start(self.last),
        }
    }

    /// Whether the message with this number comes before the range.
    pub(crate) fn is_before(self, number: u64) -> bool {
        i64::try_from(number).is_ok_and(|number| number < self.first)
    }

    /// Whether the message comes after the range.
    pub(crate) fn is_behind(self, number: u64) -> bool {
        i64::try_from(number).is_ok_and(|number| number > self.last)
    }
}

#[cfg(test)]
mod range_tests {
    use super::*;

    #[test]
    fn ranges_count_from_either_end() {
        let rows: [(&str, &[u64]); 9] = [
            ("3", &[3]),
            ("2..4", &[2, 3, 4]),
            ("4..", &[4, 5]),
            ("..2", &[1, 2]),
            ("-2..", &[4, 5]),
            ("-9..1", &[1]),
            ("..-4", &[1, 2]),
            ("-1", &[5]),
            ("9..", &[]),
        ];
        for (text, expected) in rows {
            let range: MessageRange = text.parse().unwrap();
            let range = range.of(5);
            let inside = |number: &u64| !range.is_before(*number) && !range.is_behind(*number);
            let kept: Vec<u64> = (1..=5).filter(inside).collect();
            assert_eq!(kept, expected, "{text}");
        }
        for text in ["", "0", "a", "1..b", "1-2"] {
            assert!(text.parse::<MessageRange>().is_err(), "{text}");
        }
    }
}
