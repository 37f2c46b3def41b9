//! Schemas of tools: what inputs are checked against, and what providers are told.

mod check;
mod declarations;
mod gemini;

pub(super) use check::{InvalidSchema, SchemaCheck, message};
pub use declarations::{Format, declarations};
pub(crate) use gemini::gemini_schema;
