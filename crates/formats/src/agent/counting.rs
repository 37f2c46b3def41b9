//! The tokens of requests, as an agent states them, and the rules by which each counts once.

use turnpipe_core::message::Usage;

/// The scope in which ids of messages are unique. A copy of a message keeps its id, and counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IdScope {
    /// Over all sessions of the agent.
    Global,
    /// Over all sessions of the agent, together with their times.
    Timed,
    /// In their session, which may have several files.
    Session,
    /// In their file.
    #[default]
    File,
}

/// The place of the tokens of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TokenSource {
    /// In the replies.
    #[default]
    Replies,
    /// In replies, for all of the session so far.
    Totals,
    /// In records apart from the replies.
    Records,
}

/// The rules by which each request counts once.
#[derive(Debug, Clone, Copy)]
pub struct TokenCounting {
    /// The scope of the ids of messages.
    pub ids: IdScope,
    /// The place of the tokens.
    pub tokens: TokenSource,
    /// Whether records that a fork copied keep their times, which are before its start.
    pub has_older_copies: bool,
    /// Whether the parts of a reply are messages of their own.
    pub has_split_replies: bool,
}

impl TokenCounting {
    /// Replies with tokens, and ids of their own file.
    pub(super) const REPLIES: Self = Self {
        ids: IdScope::File,
        tokens: TokenSource::Replies,
        has_older_copies: false,
        has_split_replies: false,
    };
}

/// The cost of a request outside the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct SideCost {
    /// The id of the request, which other records and files may repeat.
    pub id: Option<String>,
    /// The records that may repeat it.
    pub repeats: Repeats,
    /// The purpose of the request.
    pub prompt_id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Tokens.
    pub usage: Usage,
}

impl SideCost {
    /// Returns the tokens of a whole run.
    pub(super) fn from_run(usage: Usage) -> Self {
        Self {
            id: None,
            repeats: Repeats::Nothing,
            prompt_id: None,
            model: None,
            usage: Usage {
                is_sum: true,
                ..usage
            },
        }
    }
}

/// The relation of the cost of a request to replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// There is no such reply.
    Nothing,
    /// It is a reply to a subagent, which its file repeats under the same id.
    SubagentReply,
    /// A reply of the session or of a subagent may have the same tokens.
    AnyReply,
}

/// Tokens that a record states apart from messages.
#[derive(Debug, Clone, PartialEq)]
pub enum Meter {
    /// The tokens of one request.
    Request {
        /// The id of the response, unique over all sessions.
        id: String,
        /// The tokens.
        usage: Usage,
        /// Whether it is the first request of its session.
        is_first: bool,
        /// The session that made it, if the record names it.
        session: Option<String>,
    },
    /// The tokens of a reply that the model wrote. Counts if the file states no other tokens.
    Output {
        /// The id of the reply.
        id: String,
        /// The tokens.
        output: u64,
    },
    /// The tokens of all requests of the session to one model so far. Of copies of a session, the largest count.
    Total {
        /// The model.
        model: Option<String>,
        /// The tokens.
        usage: Usage,
    },
    /// A reading of a meter that counts up. The first readings of a fork may be copies from its parent.
    Reading {
        /// The tokens of the last request.
        last: Option<Usage>,
        /// The tokens of all requests so far.
        total: Usage,
    },
}
