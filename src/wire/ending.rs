//! What a stop reason says about the call before it. The reasons of all APIs are one table.

use super::CutOff;

/// How a message ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// The model said all that it wanted to. Unknown reasons count as this.
    Complete,
    /// The last part may be incomplete.
    Cut(CutOff),
}

/// Reasons that mean that no tokens were left.
const TOKEN_LIMIT: &str = "max_tokens length max_output_tokens model_context_window_exceeded";

/// Reasons that mean that the reply was stopped in the middle.
const STOPPED: &str = "content_filter refusal error error_finish insufficient_system_resource \
    safety recitation language other blocklist prohibited_content spii malformed_function_call \
    unexpected_tool_call";

impl Ending {
    /// Reads a stop reason, in the upper or lower case of any API.
    pub(super) fn of(reason: &str) -> Self {
        let is = |known: &str| known.eq_ignore_ascii_case(reason);
        if TOKEN_LIMIT.split(' ').any(is) {
            Self::Cut(CutOff::TokenLimit(reason.to_owned()))
        } else if STOPPED.split(' ').any(is) {
            Self::Cut(CutOff::Stopped(reason.to_owned()))
        } else {
            Self::Complete
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_reason_says_whether_the_reply_is_complete() {
        for complete in [
            "end_turn",
            "tool_use",
            "stop",
            "tool_calls",
            "STOP",
            "new_one",
        ] {
            assert_eq!(Ending::of(complete), Ending::Complete, "{complete}");
        }
        for limit in ["max_tokens", "length", "MAX_TOKENS"] {
            let cut = CutOff::TokenLimit(limit.to_owned());
            assert_eq!(Ending::of(limit), Ending::Cut(cut));
        }
        for stopped in ["content_filter", "refusal", "SAFETY"] {
            let cut = CutOff::Stopped(stopped.to_owned());
            assert_eq!(Ending::of(stopped), Ending::Cut(cut));
        }
    }
}
