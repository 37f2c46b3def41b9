//! Descriptions of sessions: their members in records, their dialogs, and the status line of Claude Code.

use std::io;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::discover::Candidate;
use super::following::PrintError;
use super::listed::Listed;
use super::listing::Listing;
use super::prices::Prices;
use super::session::Session;
use super::stats::Tally;
use super::tree::Scope;
use crate::agent::{Agent, Detail, Facts};
use crate::message::{Block, Message, Origin, Role, SessionId};
use crate::records::{MessageContext, SessionCostRecord, SessionDescription, SessionRecord};
use crate::text::{counted, dollars, terminal_safe_line};
use crate::view::{
    DialogForm, DialogPrinter, MessageRange, cost_cell, runs_cell, spelled, tokens_cell,
};

/// Returns a session's members in records.
pub fn session_description(path: PathBuf, agent: Agent, facts: Facts) -> SessionDescription {
    let id = facts.session_id.as_deref();
    let id = id.filter(|_| !facts.is_subagent && facts.written_by.is_none());
    let resume = id.and_then(|id| agent.resume_command(id, &path));
    let parent = facts.parent().cloned();
    let current = facts
        .cwd
        .filter(|cwd| Some(cwd) != facts.first_cwd.as_ref());
    let resume_cwd = current
        .as_ref()
        .filter(|cwd| is_kept_for(&path, cwd))
        .cloned();
    let (title, source) = facts.title.map(|title| (title.text, title.source)).unzip();
    let path = path.into_os_string().into_string();
    SessionDescription {
        session_id: facts.session_id.map(SessionId),
        agent: agent.name().to_owned(),
        path: path.unwrap_or_else(|path| path.to_string_lossy().into_owned()),
        title,
        title_source: source.map(|source| source.name().to_owned()),
        first_prompt: facts.first_prompt,
        cwd: facts.first_cwd,
        current_cwd: current,
        git_branch: facts.branch,
        model: facts.model,
        parent_session_id: parent.map(SessionId),
        written_by: facts.written_by,
        fork_parent: facts.forked_from.map(SessionId),
        resume,
        resume_cwd,
    }
}

/// Maximum length of the name of a folder in UTF-16 units, without the hash at its end.
const MAX_FOLDER_NAME: usize = 200;

/// Whether the folder of a session is named after this directory: each unit other than a letter or a digit is a hyphen.
fn is_kept_for(path: &Path, cwd: &str) -> bool {
    let plain = |unit| match char::from_u32(u32::from(unit)) {
        Some(unit) if unit.is_ascii_alphanumeric() => unit,
        _ => '-',
    };
    let name: String = cwd.encode_utf16().map(plain).collect();
    let folders = path.ancestors().skip(1).take(2);
    let mut folders = folders.filter_map(|folder| folder.file_name()?.to_str());
    match name.get(..MAX_FOLDER_NAME) {
        Some(start) => folders.any(|folder| folder.starts_with(start)),
        None => folders.any(|folder| folder.trim_matches('-') == name.trim_matches('-')),
    }
}

impl Listed {
    /// Returns the command that resumes the session, even of a subagent. `None` if an unknown agent wrote it.
    pub fn resume_command(&self) -> Option<String> {
        let id = self.facts.session_id.as_deref();
        let id = id.filter(|_| self.facts.written_by.is_none());
        id.and_then(|id| self.agent.resume_command(id, &self.path))
    }

    /// Returns its record.
    pub fn into_record(self) -> SessionRecord {
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        let state = self.state.map(|state| *state);
        SessionRecord {
            state: state.as_ref().map(|state| state.state),
            state_inferred: state.is_some(),
            pid: state.as_ref().and_then(|state| state.pid),
            state_reason: state.map(|state| state.reason),
            started: time(self.facts.started),
            last_activity: time(self.facts.last_activity),
            is_time_of_file: self.facts.is_time_of_file,
            about: session_description(self.path, self.agent, self.facts),
            size: self.size,
            subagents: self.subagents,
            counts: self.counts,
        }
    }
}

/// Prints the messages of a session whose parts are in these files, and what follows the last one.
/// Returns the number of omitted messages of other branches.
pub(crate) fn print_dialog(
    parts: &[Session],
    scope: Scope,
    range: Option<MessageRange>,
    session_id: Option<SessionId>,
    printer: &mut DialogPrinter,
) -> Result<u64, PrintError> {
    let about = MessageContext {
        session_id,
        ..MessageContext::default()
    };
    let mut left_out = 0;
    let mut meter = None;
    for part in parts {
        let failed = |error: io::Error| PrintError::read(&part.file.path, error);
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
    let form = printer.look.form;
    if left_out > 0 && range.is_none() && matches!(form, DialogForm::Html | DialogForm::Md) {
        let omission = Message {
            blocks: vec![Block::Text(omission_text(left_out))],
            ..Message::new(Role::System, Origin::Injected)
        };
        printer.message(omission, &about)?;
    }
    printer.finish()?;
    Ok(left_out)
}

/// Returns what a dialog says about this many omitted messages.
pub(crate) fn omission_text(left_out: u64) -> String {
    let messages = counted(left_out, "message", "messages");
    format!("omitted {messages} of other branches or subagents, or from before a compaction")
}

/// Returns the facts shown before the messages of a session.
pub(crate) fn dialog_facts(
    session: &Session,
    about: &SessionDescription,
    facts: &Facts,
    prices: &Prices,
) -> io::Result<Vec<(&'static str, String)>> {
    let tally = Tally::of(session, prices)?;
    let cost = tally.total();
    let tokens = tokens_cell(&cost.spending.usage);
    let span = facts.started.zip(facts.last_activity);
    let duration = span.map(|(start, end)| spelled(end.duration_since(start)));
    let id = about.session_id.as_ref();
    let cost_cell = tokens.as_ref().map(|_| cost_cell(&cost.spending));
    let known = [
        ("session", id.map(ToString::to_string)),
        ("agent", Some(about.agent.clone())),
        ("directory", about.cwd.clone()),
        ("branch", about.git_branch.clone()),
        ("model", about.model.clone()),
        ("duration", duration),
        ("tokens", tokens),
        ("cost", cost_cell),
        ("recorded", cost.spending.recorded_cost.map(dollars)),
        ("run", tally.runs().map(runs_cell)),
        ("resume", about.resume.clone()),
    ];
    let known = known.into_iter();
    let known = known.filter_map(|(name, value)| Some((name, value?)));
    Ok(known.collect())
}

/// Whether a message is shown. Readings of token meters are only for totals.
pub(crate) fn is_shown(message: &Message) -> bool {
    message.origin != Origin::Meter
}

/// Minimum period of the requests to read. The start of a block depends on the blocks before it, up to a
/// pause of five hours.
const LOOK_BACK: SignedDuration = SignedDuration::from_hours(24);

/// Returns the line for the input of a status line: the model, what was spent on the session, today and in the
/// current block, and the used part of the context. Reads the recent sessions among `candidates`.
pub(crate) fn status_line(
    input: &Value,
    candidates: &[Candidate],
    listing: &mut Listing,
    prices: &Prices,
    zone: &TimeZone,
    now: Timestamp,
) -> String {
    let text = |path| input.pointer(path).and_then(Value::as_str);
    let number = |path| input.pointer(path).and_then(Value::as_f64);
    let midnight = now.to_zoned(zone.clone()).start_of_day();
    let midnight = midnight.map_or(Timestamp::MIN, |midnight| midnight.timestamp());
    let recent = now.checked_sub(LOOK_BACK).unwrap_or(Timestamp::MIN);
    let since = midnight.min(recent);
    listing.selection.since = Some(since);
    let mut tally = Tally::within(since..Timestamp::MAX, Detail::Costs);
    // A status line has no place to report unreadable files.
    let _ = tally.add_all(candidates, listing);
    tally.price(prices);

    let spent = |sum: &SessionCostRecord| cost_cell(&sum.spending);
    let session = number("/cost/total_cost_usd").map(dollars).or_else(|| {
        let path = Path::new(text("/transcript_path")?);
        let session = Session::open_with(path, &listing.selection.named_roots).ok()?;
        Some(spent(&Tally::of(&session, prices).ok()?.total()))
    });
    let block = tally.block_at(now).map(|block| {
        let left = spelled(block.end.duration_since(now));
        format!(
            "{} block ({left} left)",
            spent(&tally.cost_since(block.start))
        )
    });
    let parts = [
        text("/model/display_name").map(terminal_safe_line),
        session.map(|cost| format!("{cost} session")),
        Some(format!("{} today", spent(&tally.cost_since(midnight)))),
        block,
        number("/context_window/used_percentage").map(|used| format!("{used:.0}% context")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(" · ") + "\n"
}
