//! Schemas of tools: checks of inputs, and declarations for model APIs.

mod check;
mod declarations;
mod gemini;

pub(super) use check::{InvalidSchema, SchemaCheck, message};
pub use declarations::{Format, declarations};
pub(crate) use gemini::gemini_schema;
