//! Schemas of tools: checks of inputs, and declarations for model APIs.

mod check;
mod declarations;

pub(super) use check::{InvalidSchema, SchemaCheck, message};
pub use declarations::declarations;
