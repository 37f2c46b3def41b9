//! Tools: the trait, the registry, the built-in tools, command tools from a manifest.
//!
//! A tool declares what it touches and does its work when told to. When it runs, and whether it
//! may, is decided elsewhere.

mod access;
mod alias;
mod alias_table;
mod bash;
mod child_environment;
mod command_tool;
mod context;
mod declarations;
mod excerpt;
mod full_text;
mod gemini_schema;
mod lossy_text;
mod manifest;
mod manifest_fields;
mod outcome;
mod printed;
mod registry;
mod schema_check;
mod template;
#[cfg(test)]
mod test_session;
mod tool;

pub use access::{Access, Touch};
pub use bash::Bash;
pub use command_tool::CommandTool;
pub use context::{CallContext, ContextChange, ShellTimeouts, ToolContext};
pub use declarations::{Format, declarations};
pub use full_text::FullText;
pub use manifest::{ManifestError, load_manifest};
pub use outcome::{CallStatus, Content, ImageBlock, ToolReply};
pub use registry::{LookupError, NameClash, Registry, Resolved};
pub use tool::{
    AccessError, Input, InterruptBehavior, InvalidInput, ResultLimit, Tool, ToolFailure,
};
