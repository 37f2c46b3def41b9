//! The gates of `session report`: conditions that fail it.

use std::path::Path;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::cmd::UsageError;
use crate::cmd::session::stats::amount;
use crate::permission::{Behavior, Rule, RuleSource};
use crate::records::{GateResult, SessionReportRecord};
use crate::text::{counted, dollars, terminal_safe_line, with_separators};

/// Arguments of gates.
#[derive(Debug, Args)]
pub(crate) struct GateArguments {
    /// Fail if the sessions cost more than this many US dollars
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    max_cost: Option<f64>,
    /// Fail if the sessions used more tokens, cached ones included
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Fail if one of these events happened; separated by commas
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    fail_on: Vec<FailOn>,
    /// Fail if a call matches this permission rule; repeatable
    ///
    /// For example `Bash(git push *)`. As with a deny rule, a call that may match counts; so does a call that was denied.
    #[arg(long, value_name = "RULE")]
    pub(crate) forbid: Vec<String>,
}

/// An event that fails a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// The user or a rule denied a call
    Denied,
    /// A call failed, or its command exited with another status than 0
    Failed,
    /// A run ended with an error, by a limit or an interrupt, or without a last reply
    Error,
}

impl GateArguments {
    /// Returns the rules of `--forbid` for a session that starts in this directory.
    pub(crate) fn rules(&self, directory: &Path) -> Result<Vec<Rule>, UsageError> {
        let source = Arc::new(RuleSource {
            name: "--forbid".to_owned(),
            anchor: directory.to_owned(),
        });
        let rules = self.forbid.iter();
        let rules = rules.map(|rule| Rule::parse(rule, Behavior::Deny, &source));
        rules.collect::<Result<_, _>>().map_err(UsageError::reason)
    }

    /// Returns the gates of a report on sessions with this many replies. Messages contain no text of models.
    pub(crate) fn results(&self, report: &SessionReportRecord, replies: u64) -> Vec<GateResult> {
        let gate = |gate: String, passed: bool, message: String| GateResult {
            gate: terminal_safe_line(&gate),
            passed,
            message,
        };
        let tokens = report.usage.total();
        let has_no_counts = tokens == 0 && replies > 0;
        let mut gates = Vec::new();
        gates.extend(self.max_cost.map(|limit| {
            let is_unpriced = report.recorded_cost.is_none() && !report.unpriced_models.is_empty();
            let name = format!("--max-cost {limit}");
            match report.cost() {
                _ if is_unpriced => gate(name, false, "unknown cost: a model has no price".into()),
                None if has_no_counts => gate(name, false, "unknown cost: no token counts".into()),
                cost => {
                    let cost = cost.unwrap_or_default();
                    gate(name, cost <= limit, dollars(cost))
                }
            }
        }));
        gates.extend(self.max_tokens.map(|limit| {
            let message = if has_no_counts {
                "no token counts".to_owned()
            } else {
                format!("{} tokens", with_separators(tokens))
            };
            gate(
                format!("--max-tokens {limit}"),
                tokens <= limit && !has_no_counts,
                message,
            )
        }));
        let mut fail_on = self.fail_on.clone();
        fail_on.dedup();
        gates.extend(fail_on.into_iter().map(|what| {
            let (name, count, one, many) = match what {
                FailOn::Denied => ("denied", report.denied, "denied call", "denied calls"),
                FailOn::Failed => ("failed", report.failed, "failed call", "failed calls"),
                FailOn::Error => (
                    "error",
                    report.errors,
                    "run with an error",
                    "runs with errors",
                ),
            };
            gate(
                format!("--fail-on {name}"),
                count == 0,
                counted(count, one, many),
            )
        }));
        gates.extend(self.forbid.iter().map(|rule| {
            let calls = report.listed_calls.iter();
            let count = calls
                .filter(|call| call.forbidden_by.contains(rule))
                .count() as u64;
            let message = counted(count, "matching call", "matching calls");
            gate(format!("--forbid {rule}"), count == 0, message)
        }));
        gates
    }
}
