//! The gates of `session report`: conditions that fail it.

use clap::Args;

use crate::cmd::session::stats::amount;
use crate::records::{GateResult, SessionReportRecord};
use crate::side::{FailOn, fail_on_event, forbid, max_cost, max_tokens};

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

impl GateArguments {
    /// Returns the results of the gates for a report on sessions with this many replies.
    pub(crate) fn results(&self, report: &SessionReportRecord, replies: u64) -> Vec<GateResult> {
        let mut gates = Vec::new();
        gates.extend(self.max_cost.map(|limit| max_cost(report, limit, replies)));
        gates.extend(
            self.max_tokens
                .map(|limit| max_tokens(report, limit, replies)),
        );
        let mut fail_on = self.fail_on.clone();
        fail_on.dedup();
        gates.extend(
            fail_on
                .into_iter()
                .map(|event| fail_on_event(report, event)),
        );
        gates.extend(self.forbid.iter().map(|rule| forbid(report, rule)));
        gates
    }
}
