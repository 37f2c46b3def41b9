//! Decides whether a response is a reply. Pure.

use super::server_error::ServerError;
use super::{CallInput, CutCause, EmptyReply, Failure, Reply, ReplyCall};
use crate::api::{Api, EndKind};
use crate::assemble::{Draft, without_think_tags};

/// Part of a reply contained in a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Completeness {
    /// All of it.
    Whole,
    /// A delta of a stream.
    Part,
}

/// End of the body of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivered {
    /// One complete JSON value.
    AsOneValue,
    /// A complete stream.
    ToTheEnd,
    /// An incomplete stream.
    InPart,
}

/// Adds a reply or delta to a draft.
///
/// # Errors
/// The value is an error or does not follow the API.
pub(super) fn read(
    api: Api,
    json: &str,
    completeness: Completeness,
    draft: &mut Draft,
) -> Result<(), Failure> {
    let json = json.trim();
    // Errors take precedence over the status.
    if let Some(error) = ServerError::inside(json) {
        return Err(error.failure(None, None));
    }
    let chunk = match completeness {
        Completeness::Whole => api.parse_whole(json),
        Completeness::Part => api.parse_event(json),
    };
    let chunk = chunk.ok_or_else(|| malformed(json))?;
    for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
        choice
            .deltas
            .into_iter()
            .for_each(|delta| draft.push(delta));
    }
    Ok(())
}

/// Returns the failure for a response that does not follow the API.
pub(super) fn malformed(body: &str) -> Failure {
    let body = body.trim();
    let reason = if body.is_empty() {
        "the reply has no content".to_owned()
    } else {
        let excerpt: String = body.chars().take(MAX_EXCERPT).collect();
        let line = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("not in the format of the API: {line}")
    };
    Failure::Malformed { reason }
}

/// Maximum length of the excerpt of a malformed response, in characters.
const MAX_EXCERPT: usize = 80;

/// Converts a draft to a reply.
///
/// # Errors
/// The draft is not a complete, usable reply.
pub(super) fn settle(api: Api, draft: Draft, delivered: Delivered) -> Result<Reply, Failure> {
    let is_closed = draft.closed;
    let draft = draft.finish();
    let usage = draft.usage;
    let refusal = draft.refusal;
    let whole = match delivered {
        Delivered::AsOneValue => true,
        Delivered::ToTheEnd => draft.end.is_some() && (is_closed || !api.closes_streams()),
        Delivered::InPart => draft.end.is_some() && is_closed,
    };
    match draft.end {
        Some(EndKind::Failed(message)) => {
            return Err(Failure::Overloaded {
                status: None,
                message,
                retry_after: None,
            });
        }
        Some(EndKind::Declined(reason)) => {
            let reason = if refusal.trim().is_empty() {
                reason
            } else {
                refusal
            };
            return Err(Failure::Declined { reason, usage });
        }
        Some(EndKind::Budget) => {
            let cut = CutCause::Budget;
            return Err(Failure::Cut { cut, usage });
        }
        Some(EndKind::Regular) | None if !whole => {
            let cut = CutCause::Connection;
            return Err(Failure::Cut { cut, usage });
        }
        Some(EndKind::Regular) | None => {}
    }
    let (text, tagged) = without_think_tags(draft.text);
    let thinking = draft.thinking + &tagged;
    let calls = draft.calls.into_iter().map(|call| ReplyCall {
        id: call.id,
        name: call.name,
        input: CallInput::of_text(&call.arguments),
    });
    let calls: Vec<ReplyCall> = calls.collect();
    if calls.is_empty() && text.trim().is_empty() {
        if !refusal.trim().is_empty() {
            let reason = refusal;
            return Err(Failure::Declined { reason, usage });
        }
        let kind = if thinking.trim().is_empty() && usage.thinking == 0 {
            EmptyReply::Complete
        } else {
            EmptyReply::OnlyThinking
        };
        return Err(Failure::Empty { kind, usage });
    }
    Ok(Reply {
        text,
        thinking,
        calls,
        usage,
    })
}
