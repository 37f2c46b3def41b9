//! Why nothing is left of a model's text.

use crate::wire::records::TextRejection;

/// Why an answer is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejection {
    /// Nothing is left of it.
    Empty,
    /// It says that something cannot be done, or failed.
    Refusal,
    /// It has no tag that says where the recap is; the rest may be the model's reasoning.
    NoTag,
    /// It repeats an example of the prompt.
    PromptEcho,
}

impl From<Rejection> for TextRejection {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Empty => Self::Empty,
            Rejection::Refusal => Self::Refusal,
            Rejection::NoTag => Self::NoTag,
            Rejection::PromptEcho => Self::PromptEcho,
        }
    }
}
