//! Titles: the topic of a session.

mod question;

pub(in crate::side) use question::in_language;
pub use question::{
    KEBAB_PROMPT, MIN_MESSAGES, PROMPT, TITLE_FUNCTION, TITLE_MESSAGES, TitleStyle, clean_title,
    title_question, title_request,
};

#[cfg(test)]
pub(super) use question::tail;
#[cfg(test)]
pub(super) use question::{is_example, sanitize};
