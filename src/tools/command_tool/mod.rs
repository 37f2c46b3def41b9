//! Tools without code: a manifest says which program runs, and with what.

mod manifest;
mod template;
mod tool;

pub use manifest::{ManifestError, ManifestProblem, load_manifest};
pub use tool::CommandTool;
