//! Tools: the trait, the registry, the built-in tools, command tools from a manifest.
//!
//! A tool declares what it touches and does its work when told to. When it runs, and whether it
//! may, is decided elsewhere.

mod access;
mod alias;
mod bash;
mod builtin;
mod child_environment;
mod command_tool;
mod context;
mod declarations;
mod edit;
mod excerpt;
mod first_few;
pub(crate) mod gemini_schema;
mod git_probe;
mod glob;
mod grep;
mod image;
mod line_window;
mod ls;
mod manifest;
mod patch;
mod paths;
mod printed;
mod read;
mod registry;
mod regular_file;
mod replace_file;
mod replacement;
mod reply;
mod schema_check;
mod template;
#[cfg(test)]
mod test_context;
#[cfg(test)]
mod test_session;
mod todo_write;
mod tool;
mod walk;
mod write;

pub use access::{Access, Touch};
pub use bash::settled as settled_analysis;
pub use child_environment::ChildVariables;
pub use command_tool::CommandTool;
pub use context::{CallContext, ContextChange, ShellTimeouts, ToolContext};
pub use declarations::{Format, declarations};
pub use git_probe::GitProbe;
pub use manifest::{ManifestError, ManifestProblem, load_manifest};
pub use registry::{LookupError, NameClash, Registry, Resolved};
pub use reply::{CallStatus, Content, FullText, ImageBlock, ToolReply};
pub use tool::{
    Assessment, Input, InterruptBehavior, InvalidInput, PreparedCall, ResultLimit, Tool,
    ToolFailure, ToolKind,
};
