//! Lenient access to the members of JSON objects.
//!
//! Members are raw values, borrowed from the record. A missing member and a value of another
//! type are `None`, and so is `null`, except as a raw value.

mod object;
mod surrogates;
mod value;

pub use object::*;
pub use surrogates::replace_lone_surrogates;
pub use value::*;
