//! What calls get that were ended, or never started, for reasons outside of them.

use super::Completed;
use super::call::CancelReason;
use crate::results::tool_use_error;
use crate::tools::Content;
use crate::wire::Outcome;

/// The result of a call that never started.
pub(super) fn never_started(reason: &CancelReason) -> Completed {
    match reason {
        CancelReason::Interrupt => Completed::refused(
            Outcome::NotRun,
            "The user interrupted before this call started. It did not run.".to_owned(),
        ),
        CancelReason::TimeUp => Completed::refused(
            Outcome::NotRun,
            "The time for the whole run was up before this call started. It did not run."
                .to_owned(),
        ),
        CancelReason::Sibling(failure) => cancelled_sibling(failure),
    }
}

/// The result of a call that we ended while it ran; `ended` is what it came to, if it is known.
pub(super) fn ended_early(reason: &CancelReason, ended: Option<Completed>) -> Completed {
    let mut completed = match reason {
        CancelReason::Interrupt => Completed::refused(
            Outcome::Interrupted,
            "The user interrupted this call while it was running. It may have done a part of its work."
                .to_owned(),
        ),
        CancelReason::TimeUp => Completed::refused(
            Outcome::Timeout,
            "The time for the whole run was up while this call was running. It may have done a part of its work."
                .to_owned(),
        ),
        CancelReason::Sibling(failure) => cancelled_sibling(failure),
    };
    if let Some(ended) = ended {
        if let (Content::Text(text), Content::Text(output)) =
            (&mut completed.content, &ended.content)
            && !matches!(reason, CancelReason::Sibling(_))
            && !output.trim().is_empty()
        {
            text.push_str("\n\nIts output so far:\n");
            text.push_str(output);
        }
        completed = Completed {
            outcome: completed.outcome,
            content: completed.content,
            structured: ended.structured,
            changes: Vec::new(),
            cancels_siblings: false,
            ..ended
        };
    }
    completed
}

fn cancelled_sibling(failure: &str) -> Completed {
    let text = tool_use_error(&format!("Cancelled: {failure}"));
    Completed::refused(Outcome::CancelledSibling, text)
}

/// The text that tells siblings which call failed, and how.
pub(super) fn failure_text(label: &str, completed: &Completed) -> String {
    /// Enough of an error to understand it, in bytes.
    const SHOWN: usize = 2000;
    let Content::Text(error) = &completed.content else {
        return format!("parallel tool call {label} errored");
    };
    let mut end = error.len().min(SHOWN);
    while !error.is_char_boundary(end) {
        end -= 1;
    }
    format!("parallel tool call {label} errored: {}", &error[..end])
}
