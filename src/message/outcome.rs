//! The outcome of a call, from the text of its result.

use schemars::JsonSchema;
use serde::Serialize;

/// Size of the start of a result that is read, in bytes.
const MAX_START_BYTES: usize = 600;

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// It succeeded.
    Ok,
    /// It failed.
    Failed,
    /// The user declined it.
    Declined,
    /// A rule denied it.
    Denied,
    /// The user interrupted it.
    Interrupted,
    /// It was cancelled because a parallel call failed.
    Cancelled,
}

/// Phrases in results of calls that did not run or did not finish.
const REFUSALS: [(&str, CallOutcome); 8] = [
    (
        "doesn't want to proceed with this tool use",
        CallOutcome::Declined,
    ),
    ("tool use was rejected", CallOutcome::Declined),
    ("Operation cancelled by user", CallOutcome::Declined),
    ("requested permission", CallOutcome::Denied),
    ("Permission to use ", CallOutcome::Denied),
    ("denied by permission rule", CallOutcome::Denied),
    ("[Request interrupted by user", CallOutcome::Interrupted),
    ("Sibling tool call errored", CallOutcome::Cancelled),
];

/// Returns the part of a result that shows the outcome.
pub fn start_of_result(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.floor_char_boundary(MAX_START_BYTES)]
}

impl CallOutcome {
    /// Whether the user or a rule denied the call.
    pub fn is_denied(self) -> bool {
        matches!(self, Self::Denied | Self::Declined)
    }

    /// Finds the outcome of a call in the text of its result, and in whether the agent marked it as failed.
    pub fn of_result(text: &str, failed: bool) -> Self {
        let start = start_of_result(text);
        // The same words inside a file have no meaning.
        let says = |words: &str| {
            if failed {
                start.contains(words)
            } else {
                start
                    .strip_prefix("The user ")
                    .unwrap_or(start)
                    .starts_with(words)
            }
        };
        if let Some((_, outcome)) = REFUSALS.iter().find(|(words, _)| says(words)) {
            return *outcome;
        }
        if failed || start.starts_with("<tool_use_error>") {
            return Self::Failed;
        }
        Self::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_show_the_outcome() {
        let table = [
            (
                "The user doesn't want to proceed with this tool use.",
                true,
                CallOutcome::Declined,
            ),
            ("12: // The tool use was rejected", false, CallOutcome::Ok),
            (
                "Permission to use Bash with command rm has been denied.",
                true,
                CallOutcome::Denied,
            ),
            (
                "[Request interrupted by user for tool use]",
                true,
                CallOutcome::Interrupted,
            ),
            (
                "<tool_use_error>Sibling tool call errored</tool_use_error>",
                true,
                CallOutcome::Cancelled,
            ),
            (
                "<tool_use_error>File does not exist.</tool_use_error>",
                false,
                CallOutcome::Failed,
            ),
            ("fine", false, CallOutcome::Ok),
        ];
        for (text, failed, expected) in table {
            assert_eq!(CallOutcome::of_result(text, failed), expected, "{text}");
        }
    }
}
