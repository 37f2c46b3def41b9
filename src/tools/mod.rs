//! Tools: the trait, the registry, the built-in tools, command tools from a manifest.
//!
//! A tool declares what it touches and does its work when told to. When it runs, and whether it
//! may, is decided elsewhere.

mod access;
mod action;
mod alias;
mod bash;
mod builtin;
mod child_environment;
mod command_tool;
mod context;
mod decision_context;
mod excerpt;
mod files;
mod paths;
mod printed;
mod registry;
mod reply;
mod schema;
mod source;
#[cfg(test)]
mod test_context;
#[cfg(test)]
mod test_session;
mod todo_write;
mod tool;
mod web;

pub use access::{Access, Touch};
pub use action::AskedCall;
pub use bash::settled as settled_analysis;
pub use child_environment::{ChildVariables, cleaned as child_variables};
pub use command_tool::{CommandTool, ManifestError, ManifestProblem, load_manifest};
pub use context::{CallContext, ContextChange, ShellTimeouts, ToolContext};
pub use decision_context::{DecisionContext, ShellDialect, ShellGuarantees, WriteProtection};
use paths::real_path;
pub use registry::{LookupError, NameClash, Registry, Resolved, TOOL_SEARCH};
pub use reply::{Block, CallStatus, Content, FullText, Image, ToolReply};
pub use schema::declarations;
pub use source::{ToolSource, Unavailable};
pub use tool::{
    Assessment, Input, InterruptBehavior, InvalidInput, PreparedCall, ResultLimit, Tool,
    ToolFailure, ToolKind,
};
pub use web::Web;
