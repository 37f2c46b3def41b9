//! Taking secrets out of what servers send back.

use super::{Failure, Input, Reply, ToolCall};
use crate::http::Redaction;

/// The longest message that is told, in bytes.
const LONGEST_MESSAGE: usize = 400;

/// A failure whose texts are one line each, short, and without secrets.
pub(super) fn clean_failure(failure: Failure, redaction: &Redaction) -> Failure {
    let line = |text: String| redaction.clean_line(&text, LONGEST_MESSAGE);
    match failure {
        Failure::Rejected { status, message } => Failure::Rejected {
            status,
            message: line(message),
        },
        Failure::Overloaded {
            status,
            message,
            retry_after,
        } => Failure::Overloaded {
            status,
            message: line(message),
            retry_after,
        },
        Failure::Unreachable { message } => Failure::Unreachable {
            message: line(message),
        },
        Failure::Declined { reason, usage } => Failure::Declined {
            reason: line(reason),
            usage,
        },
        Failure::Malformed { reason } => Failure::Malformed {
            reason: line(reason),
        },
        Failure::Unusable { message } => Failure::Unusable {
            message: line(message),
        },
        Failure::NotRecorded {
            file,
            reason,
            difference,
        } => Failure::NotRecorded {
            file,
            reason: line(reason),
            difference: redaction.clean(&difference),
        },
        Failure::TimedOut { .. }
        | Failure::Aborted
        | Failure::Cut { .. }
        | Failure::Empty { .. } => failure,
    }
}

/// A reply without secrets: a server may send back what it was sent.
pub(super) fn clean_reply(reply: Reply, redaction: &Redaction) -> Reply {
    Reply {
        text: redaction.clean(&reply.text),
        thinking: redaction.clean(&reply.thinking),
        calls: reply
            .calls
            .into_iter()
            .map(|call| clean_call(call, redaction))
            .collect(),
        ..reply
    }
}

fn clean_call(call: ToolCall, redaction: &Redaction) -> ToolCall {
    let input = match call.input {
        // What stands in the place of a secret needs no escaping, and the secrets stand in strings.
        Input::Object(raw) => Input::of_text(&redaction.clean(raw.get())),
        Input::Unusable(text) => Input::Unusable(redaction.clean(&text)),
    };
    ToolCall { input, ..call }
}
