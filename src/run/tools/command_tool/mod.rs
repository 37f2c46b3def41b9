//! Command tools: a manifest declares the program and its arguments.

mod manifest;
mod template;
mod tool;

pub use manifest::{ManifestError, ManifestProblem, load_manifest};
pub use tool::CommandTool;
