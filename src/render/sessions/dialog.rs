//! The dialog of a session, and the facts above it.

use std::io;

use crate::agent::{Detail, Facts};
use crate::message::{Block, Message, Origin, Role, SessionId};
use crate::records::{MessageContext, SessionDescription};
use crate::render::{
    DialogForm, DialogPrinter, MessageRange, cost_cell, format_duration, runs_cell, tokens_cell,
};
use crate::session::{Prices, PrintError, Scope, Session, SubagentCost, Tally};
use crate::text::{format_count, format_dollars};

/// Prints the messages of a session whose parts are in these files, and the end of the dialog.
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
    let mut omitted = 0;
    let mut meter = None;
    for part in parts {
        let to_error = |error: io::Error| PrintError::read(&part.file.path, error);
        let messages = part.messages(scope).map_err(to_error)?;
        omitted += messages.count_omitted();
        for message in messages {
            let message = message.map_err(to_error)?;
            if is_shown(&message) {
                printer.number += 1;
                if range.is_some_and(|range| range.is_before(printer.number)) {
                    continue;
                }
                if range.is_some_and(|range| range.is_after(printer.number)) {
                    break;
                }
            } else {
                let is_new = message.usage != meter;
                meter = message.usage;
                if !is_new || range.is_some() || printer.look.form != DialogForm::Jsonl {
                    continue;
                }
            }
            printer.print_message(message, &about)?;
        }
    }
    let form = printer.look.form;
    if omitted > 0 && range.is_none() && matches!(form, DialogForm::Html | DialogForm::Md) {
        let omission = Message {
            blocks: vec![Block::Text(omission_text(omitted))],
            ..Message::new(Role::System, Origin::Injected)
        };
        printer.print_message(omission, &about)?;
    }
    printer.finish()?;
    Ok(omitted)
}

/// Returns the note about this number of omitted messages.
pub(crate) fn omission_text(omitted: u64) -> String {
    let messages = format_count(omitted, "message", "messages");
    format!("omitted {messages} of other branches or subagents, or from before a compaction")
}

/// Returns the facts shown before the messages of a session.
pub(crate) fn dialog_facts(
    session: &Session,
    about: &SessionDescription,
    facts: &Facts,
    prices: &Prices,
) -> io::Result<Vec<(&'static str, String)>> {
    let mut tally = Tally::from_session(session, prices)?;
    let mut subagents = tally.sum_subagents();
    if subagents
        .iter()
        .any(|subagent| subagent.facts.agent_type.is_none())
    {
        // Only calls state their types.
        tally = Tally::new(Detail::Full);
        tally.add(session)?;
        tally.price(prices);
        subagents = tally.sum_subagents();
    }
    let cost = tally.total();
    let subagents = subagents
        .iter()
        .map(|subagent| ("subagent", subagent_line(subagent)));
    let tokens = tokens_cell(&cost.spending.usage);
    let span = facts.started.zip(facts.last_activity);
    let duration = span.map(|(start, end)| format_duration(end.duration_since(start)));
    let id = about.session_id.as_ref();
    let total = tokens.as_ref().map(|_| cost_cell(&cost.spending));
    let known = [
        ("session", id.map(ToString::to_string)),
        ("agent", Some(about.agent.clone())),
        ("directory", about.cwd.clone()),
        ("branch", about.git_branch.clone()),
        ("model", about.model.clone()),
        ("duration", duration),
        ("tokens", tokens),
        ("cost", total),
        ("recorded", cost.spending.recorded_cost.map(format_dollars)),
        ("run", tally.runs().map(runs_cell)),
        ("resume", about.resume.clone()),
    ];
    let present = known
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    Ok(present.chain(subagents).collect())
}

/// Returns the line of a subagent in the tree of subagents, with its tokens and costs.
fn subagent_line(subagent: &SubagentCost) -> String {
    let facts = &subagent.facts;
    let name = facts.agent_type.as_deref().unwrap_or("(unknown)");
    let spending = &subagent.sum.spending;
    let parts = [
        Some(format!("{}{name}", "└ ".repeat(subagent.depth))),
        Some(subagent.id.clone()),
        facts.workflow.clone(),
        tokens_cell(&spending.usage),
        Some(cost_cell(spending)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Whether a message is shown. Readings of token meters are only for totals.
pub(crate) fn is_shown(message: &Message) -> bool {
    message.origin != Origin::Meter
}
