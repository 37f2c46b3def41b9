//! Lines: a bounded, lossless reader and the one writer of records.
//!
//! This room knows what a JSON object is, not what a record means. `unsafe` is allowed here, each
//! use with a SAFETY comment.

mod backward;
mod escapes;
mod examine;
mod fixed_file;
mod masks;
mod nesting;
mod outlook;
mod piece;
mod prefilter;
mod processor;
mod raw_json;
mod reader;
#[cfg(test)]
mod samples;
mod scalars;
mod side_by_side;
mod slab;
mod split_line;
mod surrogates;
mod validate;
mod value_end;
mod well_formed;
mod writer;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use backward::{Hit, Onward, lines_backward, search_backward};
pub use fixed_file::{FixedFile, Mapping, read_at};
pub use piece::{Damage, Piece, Record};
pub use prefilter::{AhoCorasickPrefilter, Prefilter};
pub(crate) use raw_json::raw_json;
pub use reader::{LONGEST_LINE, Reader};
pub use split_line::split_line;
pub use surrogates::replace_lone_surrogates;
pub use validate::{Fault, Kind, Verdict, Wrong, validate};
pub(crate) use value_end::value_end;
pub use writer::{WriteError, Writer};
