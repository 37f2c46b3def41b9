//! The end of a shell command, as the text of a result shows it. Most agents record a call that failed as a success.

use super::exit_code::{LINES, parse_exit_code};
use turnpipe_core::message::start_of_result;

/// Texts in the first lines of results whose commands still run.
const BACKGROUND_NOTICES: [&str; 6] = [
    "running in background",
    "running in the background",
    "Background command started",
    "Background shell started",
    "Command moved to background",
    "Process running with session ID",
];

/// Beginnings of results with a labelled part for each fact about an ended process.
const LABELS: [&str; 4] = ["<untrusted_context>", "Command: ", "Output: ", "Error: "];

/// Whether the text reports that the command still runs in the background.
pub fn is_running(text: &str) -> bool {
    let mut start = start_of_result(text).lines().take(4);
    start.any(|line| BACKGROUND_NOTICES.iter().any(|words| line.contains(words)))
}

/// Whether the text reports that the command failed: by its exit code, or because it has none.
pub fn has_failed(text: &str) -> bool {
    parse_exit_code(text).map_or_else(|| is_broken(text), |code| code != 0)
}

/// Whether the text reports that a signal ended the command, or that it did not start.
fn is_broken(text: &str) -> bool {
    let is_signal = |signal: &str| signal.starts_with("SIG") || signal.parse::<u8>().is_ok();
    let is_failure = |line: &str| {
        line == "Exit Code: (none)"
            || line.starts_with("Error: spawn ")
            || line.strip_prefix("Signal: ").is_some_and(is_signal)
    };
    let names_parts = LABELS
        .iter()
        .any(|part| text.trim_start().starts_with(part));
    names_parts && text.lines().rev().take(LINES).any(is_failure)
}

/// Whether the text of a failed call says that the tool stopped the command at its time limit.
pub fn is_stopped_at_limit(text: &str) -> bool {
    let is_timeout = |line: &str| {
        let line = line.to_ascii_lowercase();
        line.starts_with("command timed out")
            || line.contains("command after exceeding timeout")
            || line.starts_with("command was automatically cancelled because it exceeded")
    };
    parse_exit_code(text).is_none_or(|code| matches!(code, 124 | 137 | 143))
        && text.lines().any(is_timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_a_code_or_no_code() {
        let rows = [
            ("Exit code: 1\nOutput:\n", true),
            ("Exit code: 0\nOutput:\n", false),
            ("Output: x\nSignal: 9\nProcess Group PGID: 3", true),
            (
                "<untrusted_context>\nOutput: x\nSignal: SIGKILL\n</untrusted_context>",
                true,
            ),
            (
                "Command: x\nOutput: x\nError: (none)\nExit Code: (none)\nSignal: 9",
                true,
            ),
            ("Output: (empty)\nError: spawn ENOENT", true),
            ("Output: x\nExit Code: 0\nSignal: (none)", false),
            ("Output: x\nSignal: lost", false),
            ("x\nSignal: 9", false),
            ("", false),
        ];
        for (text, expected) in rows {
            assert_eq!(has_failed(text), expected, "{text}");
        }
    }

    #[test]
    fn only_the_first_lines_tell_that_a_command_goes_on() {
        for text in [
            "Command running in background with ID: 7",
            "Command moved to background (PID: 7). Output hidden.",
            "Background shell started. id: bg_1",
            "Wall time: 1\nProcess running with session ID 4",
        ] {
            assert!(is_running(text), "{text}");
        }
        assert!(!is_running("a\nb\nc\nd\ne\nrunning in background"));
    }

    #[test]
    fn a_time_limit_is_named_with_its_status_or_without_one() {
        let rows = [
            ("Command timed out after 2m 0.0s", true),
            ("Exit code 143\nCommand timed out after 2m 0.0s", true),
            (
                "Command was automatically cancelled because it exceeded the timeout",
                true,
            ),
            ("Exit code 1\nCommand timed out after 2m 0.0s", false),
            ("Exit code 124", false),
        ];
        for (text, expected) in rows {
            assert_eq!(is_stopped_at_limit(text), expected, "{text}");
        }
    }
}
