//! Lines: a bounded, lossless reader and the one writer of records.
//!
//! This room knows what a JSON object is, not what a record means. `unsafe` is allowed here, each
//! use with a SAFETY comment.

mod backward;
mod beginning;
mod buffer;
mod escapes;
mod examine;
mod fixed_file;
mod masks;
mod members;
mod nesting;
mod outlook;
mod piece;
mod prefilter;
mod processor;
mod quoted;
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

pub use backward::{Hit, Onward, VisitLine, lines_backward, search_backward};
pub use beginning::Beginning;
pub use buffer::room_to_read;
pub use fixed_file::{FixedFile, Mapping, read_at};
pub use members::{Elements, Members};
pub use piece::{Damage, Piece, Record};
pub use prefilter::{AhoCorasickPrefilter, Prefilter};
pub use quoted::serialize_text;
pub use reader::{LONGEST_LINE, Reader};
pub use split_line::{only_record, split_line};
pub use surrogates::replace_lone_surrogates;
pub use validate::{Fault, Kind, Verdict, Wrong, validate};
pub use writer::{WriteError, Writer, append_record};
