//! How a call went, by the beginning of its result.

/// How much of a result is read, in bytes.
const LOOKED_AT: usize = 600;

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// It did what it does.
    Ok,
    /// It failed.
    Failed,
    /// A person declined it.
    Declined,
    /// A rule denied it.
    Denied,
    /// A person interrupted it.
    Interrupted,
    /// It was ended because one beside it failed.
    Cancelled,
}

impl Status {
    /// How a call ended that did not do what it was to do.
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

/// Texts of results of calls that did not run, or not to their end.
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

/// The part of a result that says how the call went.
pub(super) fn beginning(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.floor_char_boundary(LOOKED_AT)]
}

/// How a call went, by its result.
pub(super) fn status(text: &str, failed: bool) -> Status {
    let start = beginning(text);
    // In a file that was read the same words mean nothing.
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
    fn results_say_how_it_went() {
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
