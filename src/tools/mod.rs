//! Tools: the trait, the registry, the built-in tools, command tools from a manifest.
//!
//! A tool declares what it touches and does its work when told to. When it runs, and whether it
//! may, is decided elsewhere.

mod access;
mod context;
mod full_text;
mod outcome;
mod registry;
mod tool;

pub use access::{Access, Touch};
pub use context::{CallContext, ContextChange, ShellTimeouts, ToolContext};
pub use full_text::FullText;
pub use outcome::{CallStatus, Content, ImageBlock, ToolReply};
pub use registry::{LookupError, Registry, Resolved};
pub use tool::{
    AccessError, Input, InterruptBehavior, InvalidInput, ResultLimit, Tool, ToolFailure, ToolKind,
};
