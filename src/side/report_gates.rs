//! The gates of a report: conditions that fail it. Messages contain no text of models.

use crate::records::{GateResult, SessionReportRecord};
use crate::text::{counted, dollars, terminal_safe_line, with_separators};

/// An event that fails a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum FailOn {
    /// The user or a rule denied a call
    Denied,
    /// A call failed, or its command exited with another status than 0
    Failed,
    /// A run ended with an error, by a limit or an interrupt, or without a last reply
    Error,
}

fn gate(gate: &str, passed: bool, message: String) -> GateResult {
    GateResult {
        gate: terminal_safe_line(gate),
        passed,
        message,
    }
}

/// Whether sessions with this many replies have no token counts.
fn has_no_counts(report: &SessionReportRecord, replies: u64) -> bool {
    report.usage.total() == 0 && replies > 0
}

/// Checks the cost of sessions with this many replies, in US dollars.
pub fn max_cost(report: &SessionReportRecord, limit: f64, replies: u64) -> GateResult {
    let is_unpriced = report.recorded_cost.is_none() && !report.unpriced_models.is_empty();
    let name = format!("--max-cost {limit}");
    match report.cost() {
        _ if is_unpriced => gate(&name, false, "unknown cost: a model has no price".into()),
        None if has_no_counts(report, replies) => {
            gate(&name, false, "unknown cost: no token counts".into())
        }
        cost => {
            let cost = cost.unwrap_or_default();
            gate(&name, cost <= limit, dollars(cost))
        }
    }
}

/// Checks the number of tokens of sessions with this many replies.
pub fn max_tokens(report: &SessionReportRecord, limit: u64, replies: u64) -> GateResult {
    let name = format!("--max-tokens {limit}");
    if has_no_counts(report, replies) {
        return gate(&name, false, "no token counts".to_owned());
    }
    let tokens = report.usage.total();
    let message = format!("{} tokens", with_separators(tokens));
    gate(&name, tokens <= limit, message)
}

/// Checks that no such event happened.
pub fn fail_on_event(report: &SessionReportRecord, event: FailOn) -> GateResult {
    let (name, count, one, many) = match event {
        FailOn::Denied => ("denied", report.denied, "denied call", "denied calls"),
        FailOn::Failed => ("failed", report.failed, "failed call", "failed calls"),
        FailOn::Error => (
            "error",
            report.errors,
            "run with an error",
            "runs with errors",
        ),
    };
    let name = format!("--fail-on {name}");
    gate(&name, count == 0, counted(count, one, many))
}

/// Checks that no call matches a rule of the report.
pub fn forbid(report: &SessionReportRecord, rule: &String) -> GateResult {
    let calls = report.listed_calls.iter();
    let matching = calls.filter(|call| call.forbidden_by.contains(rule));
    let count = matching.count() as u64;
    let message = counted(count, "matching call", "matching calls");
    gate(&format!("--forbid {rule}"), count == 0, message)
}
