//! Titles: what a session is about.

mod answer;
mod echo;
mod kebab;
mod question;
mod sanitize;

pub use answer::{TitleStyle, clean_title};
pub(super) use echo::is_example;
pub(super) use kebab::to_kebab;
pub(in crate::side) use question::in_language;
pub use question::{
    FEWEST_MESSAGES, TITLE_FUNCTION, TITLE_MESSAGES, tail, title_question, title_request,
};
pub use sanitize::sanitize;
