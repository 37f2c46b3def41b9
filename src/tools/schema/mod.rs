//! Schemas of tools: checks of inputs, and declarations for model APIs.

mod check;

pub use check::declarations;
pub(super) use check::{InvalidSchema, SchemaCheck, message};
