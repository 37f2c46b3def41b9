//! What a record of an API says about replies of a model.

use std::borrow::Cow;

use super::Arguments;
use crate::message::Usage;

/// A whole reply, or a part of one.
#[derive(Debug)]
pub(crate) struct Chunk<'a> {
    /// The id of the message.
    pub(crate) id: Option<Cow<'a, str>>,
    /// The model.
    pub(crate) model: Option<Cow<'a, str>>,
    /// How it relates to other records.
    pub(crate) extent: Extent,
    /// The alternative replies.
    pub(crate) choices: Vec<Choice<'a>>,
}

/// One of several alternative replies. Only the choice 0 is used, but calls of others get results.
#[derive(Debug)]
pub(crate) struct Choice<'a> {
    pub(crate) index: u64,
    pub(crate) deltas: Vec<Delta<'a>>,
}

/// How a record relates to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A whole message, or whole blocks of one.
    Whole,
    /// The start of a streamed message.
    Start,
    /// More of a streamed message: the open one.
    More,
    /// More of the streamed message that is open, or the start of one.
    MoreOrStart,
    /// The same, where only the role marks the first part, and parts may have ids of their own.
    ByRole {
        has_role: bool,
        has_calls: bool,
        has_content: bool,
    },
    /// The same, where parts have the id of their message, or none.
    ById { has_content: bool, has_end: bool },
}

/// A fragment of a message. Strings that may be cut in the middle of a character are bytes, in which
/// a lone surrogate is three bytes.
#[derive(Debug)]
pub(crate) enum Delta<'a> {
    /// A block starts that is not a call.
    Block,
    /// More text.
    Text(Cow<'a, [u8]>),
    /// The text of a block that is complete. It may repeat earlier deltas.
    WholeText(Cow<'a, [u8]>),
    /// More thinking.
    Thinking(Cow<'a, [u8]>),
    /// The signature of the thinking or call before it.
    Signature(Cow<'a, str>),
    /// Encrypted thinking.
    RedactedThinking(Cow<'a, str>),
    /// More of a refusal.
    Refusal(Cow<'a, [u8]>),
    /// A whole call.
    Call(CallDelta<'a>),
    /// A call starts; its end is announced.
    CallStart(CallDelta<'a>),
    /// A call, or more of one: the first of its index, or with another id, starts the next call.
    CallPart(CallDelta<'a>),
    /// More arguments of a call; without an index of the last one.
    CallArguments(Option<u64>, Cow<'a, [u8]>),
    /// A call is complete.
    CallEnd(Option<u64>),
    /// Token counts; a count of 0 says nothing.
    Usage(Usage),
    /// The reason why the reply ends.
    End(End),
    /// The reply is complete: nothing follows.
    Closed,
}

/// A call, or a part of one.
#[derive(Debug)]
pub(crate) struct CallDelta<'a> {
    /// The number of the call or block in its message.
    pub(crate) index: Option<u64>,
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) arguments: Arguments<'a>,
}

/// Why a reply ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    /// The API's word.
    pub(crate) reason: String,
    /// The kind of end.
    pub(crate) kind: EndKind,
}

/// The kind of an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EndKind {
    /// The model is done, or waits for results. Unknown reasons count as this.
    Regular,
    /// A token limit.
    Budget,
    /// A filter or the model refused, with an explanation.
    Declined(String),
    /// The server failed, with an explanation.
    Failed(String),
}

const BUDGET: &str =
    "max_tokens length max_output_tokens model_context_window_exceeded model_length";
const DECLINED: &str = "content_filter refusal safety recitation language blocklist \
    prohibited_content spii image_safety";
const FAILED: &str = "error error_finish insufficient_system_resource other failed cancelled \
    malformed_function_call unexpected_tool_call too_many_tool_calls";

impl End {
    /// Reads a stop reason of any API, in upper or lower case. The reason is the explanation, too.
    pub(crate) fn of(reason: &str) -> Self {
        Self::because(reason, reason)
    }

    /// Reads a stop reason that the API explains.
    pub(crate) fn because(reason: &str, explanation: impl Into<String>) -> Self {
        let is_in = |list: &str| {
            list.split(' ')
                .any(|known| known.eq_ignore_ascii_case(reason))
        };
        let kind = if is_in(BUDGET) {
            EndKind::Budget
        } else if is_in(DECLINED) {
            EndKind::Declined(explanation.into())
        } else if is_in(FAILED) {
            EndKind::Failed(explanation.into())
        } else {
            EndKind::Regular
        };
        let reason = reason.to_owned();
        Self { reason, kind }
    }
}

impl<'a> Chunk<'a> {
    /// A chunk of one reply.
    pub(crate) fn one(id: Option<Cow<'a, str>>, extent: Extent, deltas: Vec<Delta<'a>>) -> Self {
        Self {
            id,
            model: None,
            extent,
            choices: vec![Choice { index: 0, deltas }],
        }
    }
}

impl Delta<'_> {
    /// Whether it is content, which an end may cut.
    pub(crate) fn is_content(&self) -> bool {
        !matches!(
            self,
            Self::Usage(_) | Self::End(_) | Self::Closed | Self::Signature(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_reasons_of_all_apis() {
        for regular in "end_turn tool_use stop tool_calls STOP new_one".split(' ') {
            assert_eq!(End::of(regular).kind, EndKind::Regular, "{regular}");
        }
        for limit in "max_tokens length MAX_TOKENS".split(' ') {
            assert_eq!(End::of(limit).kind, EndKind::Budget, "{limit}");
        }
        for declined in "content_filter refusal SAFETY".split(' ') {
            let kind = EndKind::Declined(declined.to_owned());
            assert_eq!(End::of(declined).kind, kind, "{declined}");
        }
    }
}
