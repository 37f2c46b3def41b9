//! Lines: a bounded, lossless reader and the one writer of records.
//!
//! This room knows what a JSON object is, not what a record means. `unsafe` is allowed here, each
//! use with a SAFETY comment.

mod backward;
mod buffer;
mod fixed_file;
mod line;
mod piece;
mod prefilter;
mod reader;
#[cfg(test)]
mod samples;
mod surrogates;
mod value;
mod writer;

pub use backward::{Hit, SearchControl, VisitLine, lines_backward, search_backward};
pub use buffer::room_to_read;
pub use fixed_file::{Beginning, FixedFile, Mapping, read_at};
pub use line::{only_record, sound_text, split_line};
pub use piece::{Damage, Piece, Record};
pub use prefilter::Prefilter;
pub use reader::{LONGEST_LINE, Reader, UnwantedLines};
pub use surrogates::replace_lone_surrogates;
pub use value::{FirstValue, first_value};
pub use writer::{WriteError, Writer, append_record};
