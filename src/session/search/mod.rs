//! Looking for text in what was said: a pattern over the messages of a file, not over its lines.
//!
//! Most lines are passed over without being parsed, by words that every match must hold.

mod excerpt;
mod many;
mod needles;
mod query;
mod run;

pub use excerpt::Excerpt;
pub use many::{SearchEvent, search_all};
pub use query::{Case, PatternError, PatternKind, PatternOptions, Query, Words};
pub use run::{Found, FoundIn};
