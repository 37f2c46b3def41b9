//! Lenient access to the members of JSON objects.
//!
//! Members are raw values, borrowed from the record. A missing member, a `null` and a value of
//! another type are all `None`.

mod object;
mod value;

pub use object::*;
pub use value::*;
