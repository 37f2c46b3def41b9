//! Schemas of tools: what inputs are checked against, and what providers are told.

mod check;
mod declarations;

pub(super) use check::{InvalidSchema, SchemaCheck, message};
pub use declarations::declarations;
