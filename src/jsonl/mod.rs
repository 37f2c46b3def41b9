//! Lines: a bounded, lossless reader and the one writer of records.
//!
//! This room knows what a JSON object is, not what a record means. `unsafe` is allowed here, each
//! use with a SAFETY comment.

mod reader;
mod writer;

pub use reader::{Damage, Piece, Prefilter, Reader};
pub use writer::{WriteError, Writer};
