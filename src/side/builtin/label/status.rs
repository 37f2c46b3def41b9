//! The status of a call, from the start of its result.

/// Size of the start of a result that is read, in bytes.
const START_BYTES: usize = 600;

/// The status of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
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

impl Status {
    /// The words for an unsuccessful call.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Declined => "declined by user",
            Self::Denied => "denied",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
            Self::Ok | Self::Failed => "failed",
        }
    }
}

/// Results of calls that did not run, or not to the end.
const REFUSALS: [(&str, Status); 8] = [
    (
        "doesn't want to proceed with this tool use",
        Status::Declined,
    ),
    ("tool use was rejected", Status::Declined),
    ("Operation cancelled by user", Status::Declined),
    ("requested permission", Status::Denied),
    ("Permission to use ", Status::Denied),
    ("denied by permission rule", Status::Denied),
    ("[Request interrupted by user", Status::Interrupted),
    ("Sibling tool call errored", Status::Cancelled),
];

/// The part of a result that shows the status.
pub(super) fn beginning(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.floor_char_boundary(START_BYTES)]
}

/// Finds the status of a call in its result.
pub(super) fn status(text: &str, failed: bool) -> Status {
    let start = beginning(text);
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
    if let Some((_, status)) = REFUSALS.iter().find(|(words, _)| says(words)) {
        return *status;
    }
    if failed || start.starts_with("<tool_use_error>") {
        return Status::Failed;
    }
    Status::Ok
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_show_the_status() {
        let table = [
            (
                "The user doesn't want to proceed with this tool use.",
                true,
                Status::Declined,
            ),
            ("12: // The tool use was rejected", false, Status::Ok),
            (
                "Permission to use Bash with command rm has been denied.",
                true,
                Status::Denied,
            ),
            (
                "[Request interrupted by user for tool use]",
                true,
                Status::Interrupted,
            ),
            (
                "<tool_use_error>Sibling tool call errored</tool_use_error>",
                true,
                Status::Cancelled,
            ),
            (
                "<tool_use_error>File does not exist.</tool_use_error>",
                false,
                Status::Failed,
            ),
            ("fine", false, Status::Ok),
        ];
        for (text, failed, expected) in table {
            assert_eq!(status(text, failed), expected, "{text}");
        }
    }
}
