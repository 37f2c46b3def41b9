//! Tools: the trait, the registry, the built-in tools, command tools from a manifest.
//!
//! A tool declares what it touches and does its work when told to. When it runs, and whether it
//! may, is decided elsewhere.

mod access;
mod arguments;
mod context;
mod edit;
mod file_tools;
mod freshness;
mod glob;
mod grep;
mod image;
mod line_numbers;
mod line_window;
mod ls;
mod newest;
mod outcome;
mod patch;
mod paths;
mod read;
mod registry;
mod regular_file;
mod replace_file;
mod replacement;
#[cfg(test)]
mod test_context;
mod text_file;
mod todo_write;
mod tool;
mod walk;
mod write;

pub use access::{Access, Touch};
pub use context::{CallContext, ContextChange, ShellTimeouts, ToolContext};
pub use edit::Edit;
pub use file_tools::file_tools;
pub use glob::Glob;
pub use grep::Grep;
pub use ls::Ls;
pub use outcome::{CallStatus, Content, ImageBlock, ToolReply};
pub use read::Read;
pub use registry::{LookupError, Registry, Resolved};
pub use todo_write::TodoWrite;
pub use tool::{
    AccessError, Input, InterruptBehavior, InvalidInput, ResultLimit, Tool, ToolFailure,
};
pub use write::Write;
