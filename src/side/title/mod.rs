//! Titles: what a session is about.

mod answer;
mod echo;
mod kebab;
mod question;
mod sanitize;

pub use answer::{TitleStyle, clean_title};
pub(super) use echo::is_example;
pub(super) use kebab::to_kebab;
pub use question::{FEWEST_MESSAGES, TITLE_MESSAGES, tail, title_question};
pub use sanitize::sanitize;
