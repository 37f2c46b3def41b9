//! Searches the text of messages, not the raw lines of a file.
//!
//! Most lines are skipped without parsing, because they lack words that every match contains.

mod many;
mod needles;
mod run;

pub use many::{SearchEvent, search_all};
pub use needles::{Case, PatternError, PatternOptions, Query};
pub use run::{MatchExcerpt, SearchHit};
