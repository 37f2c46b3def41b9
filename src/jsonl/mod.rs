//! Lines: a bounded, lossless reader and the one writer of records.
//!
//! This room knows what a JSON object is, not what a record means. `unsafe` is allowed here, each
//! use with a SAFETY comment.

mod backward;
mod examine;
mod fixed_file;
mod masks;
mod nesting;
mod outlook;
mod piece;
mod prefilter;
mod reader;
#[cfg(test)]
mod samples;
mod slab;
mod split_line;
mod surrogates;
mod validate;
mod well_formed;
mod writer;

pub use backward::{Hit, Onward, lines_backward, search_backward};
pub use fixed_file::{FixedFile, Mapping, read_at};
pub use piece::{Damage, Piece, Record};
pub use prefilter::{AhoCorasickPrefilter, Prefilter};
pub use reader::{LONGEST_LINE, Reader};
pub use split_line::split_line;
pub use surrogates::replace_lone_surrogates;
pub use validate::{Fault, Kind, Verdict, Wrong, validate};
pub use writer::{WriteError, Writer};
