//! Titles: what a session is about.

mod clean;
mod question;

pub use clean::{TitleStyle, clean_title};
#[cfg(test)]
pub(super) use clean::{is_example, sanitize};
pub(in crate::side) use question::in_language;
pub use question::{
    FEWEST_MESSAGES, TITLE_FUNCTION, TITLE_MESSAGES, tail, title_question, title_request,
};
