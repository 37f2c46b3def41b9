//! The summary of a run, and the words for lanes and outcomes.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::json::object;
use crate::records::{Lane, Outcome};
use crate::text::format_count;

object! {
    /// Token counts.
    Tokens { input_tokens, output_tokens }
}

/// The numbers of the summary.
#[derive(Default)]
pub(super) struct Tally {
    calls: Vec<(&'static str, u64)>,
    tokens: [u64; 2],
    cost: Option<f64>,
}

impl Tally {
    pub(super) fn count(&mut self, outcome: &'static str) {
        match self.calls.iter_mut().find(|(name, _)| *name == outcome) {
            Some((_, count)) => *count += 1,
            None => self.calls.push((outcome, 1)),
        }
    }

    /// Adds the tokens and the cost of a reply.
    pub(super) fn add_reply(&mut self, usage: Option<&RawValue>, cost: Option<&RawValue>) {
        let tokens = Tokens::from_raw(usage).unwrap_or_default();
        for (sum, number) in self
            .tokens
            .iter_mut()
            .zip([tokens.input_tokens, tokens.output_tokens])
        {
            *sum = sum.saturating_add(parse_value(number).unwrap_or_default());
        }
        if let Some(cost) = parse_value::<f64>(cost) {
            *self.cost.get_or_insert_default() += cost;
        }
    }

    /// Returns the summary, unless there is nothing to summarise.
    pub(super) fn summary(&self) -> Option<String> {
        let mut parts = Vec::new();
        let calls = self.calls.iter().map(|(_, count)| count).sum();
        if calls > 0 {
            let outcomes = self
                .calls
                .iter()
                .map(|(name, count)| format!("{count} {name}"));
            let outcomes: Vec<String> = outcomes.collect();
            parts.push(format!(
                "{}: {}",
                format_count(calls, "call", "calls"),
                outcomes.join(", ")
            ));
        }
        let [input, output] = self.tokens;
        if input + output > 0 {
            parts.push(format!("{input} tokens in, {output} out"));
        }
        parts.extend(self.cost.map(|cost| format!("${cost:.4}")));
        (!parts.is_empty()).then(|| parts.join(" · "))
    }
}

/// Returns the name of a lane; empty if there is none.
pub(crate) fn lane_name(lane: Option<Lane>) -> &'static str {
    match lane {
        Some(Lane::Parallel) => "parallel",
        Some(Lane::Serial) => "serial",
        None => "",
    }
}

/// Returns the name of an outcome.
pub(super) fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Error => "failed",
        Outcome::InvalidInput => "invalid input",
        Outcome::UnknownTool => "unknown tool",
        Outcome::Denied => "denied",
        Outcome::HookBlocked => "blocked by a hook",
        Outcome::CancelledSibling => "cancelled",
        Outcome::Interrupted => "interrupted",
        Outcome::Timeout => "timed out",
        Outcome::NotRun => "not run",
    }
}

/// Formats a duration, e.g. `61.3s`.
pub(super) fn format_seconds(milliseconds: u64) -> String {
    let tenths = (milliseconds + 50) / 100;
    format!("{}.{}s", tenths / 10, tenths % 10)
}

/// Parses a value; `None` if it is absent or of another type.
pub(super) fn parse_value<T: DeserializeOwned>(value: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}
