//! Searches the text of messages, not the raw lines of a file.
//!
//! Most lines are skipped without parsing, because they lack words that every match contains.

mod many;
mod query;
mod rank;
mod run;

pub use many::{SearchEvent, search_all};
pub use query::{Case, PatternError, PatternOptions, Query, QueryWords};
pub use rank::{RankedSession, rank_all};
pub use run::{MatchExcerpt, SearchHit};
