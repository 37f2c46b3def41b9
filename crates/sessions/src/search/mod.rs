//! Searches the text of messages, not the raw lines of a file.
//!
//! Most lines are skipped without parsing, because they lack words that every match contains.

mod many;
mod needles;
mod rank;
mod run;
mod words;

pub use many::{ParentSession, SearchEvent, search_all};
pub use needles::{Case, PatternError, PatternOptions, Query};
pub use rank::{RankedSession, rank_all};
pub use run::SearchHit;
pub use words::QueryWords;
