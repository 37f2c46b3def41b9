//! Titles: the topic of a session.

mod clean;
mod question;

pub use clean::{TitleStyle, clean_title};
#[cfg(test)]
pub(super) use clean::{is_example, sanitize};
pub(in crate::side) use question::in_language;
#[cfg(test)]
pub(super) use question::tail;
pub use question::{
    KEBAB_PROMPT, MIN_MESSAGES, PROMPT, TITLE_FUNCTION, TITLE_MESSAGES, title_question,
    title_request,
};
