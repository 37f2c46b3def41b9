//! Tools: the trait, the registry, built-in tools, and command tools from manifests.
//!
//! A tool declares the access of a call and runs it. The schedule and the permission check are elsewhere.

mod access;
mod action;
mod bash;
mod builtin;
mod call_line;
mod call_sandbox;
mod child_environment;
mod command_tool;
mod context;
mod decisions;
mod excerpt;
mod files;
mod paths;
mod printed;
mod registry;
mod removed_variables;
mod reply;
mod schema;
mod search;
#[cfg(test)]
mod test_context;
#[cfg(test)]
mod test_session;
mod todo_write;
mod tool;
mod user_form;
mod web;

use access::real_path;
pub use access::{Access, PathSet};
pub use action::AskedCall;
pub use bash::check_requirements;
pub(crate) use builtin::input_schema;
pub use call_line::CallLine;
pub use call_sandbox::CallSandbox;
pub use child_environment::{ChildVariables, clean_environment as child_variables, holds_secret};
pub use command_tool::{CommandTool, ManifestError, ManifestProblem, load_manifest};
pub use context::{
    CallContext, DecisionContext, Input, ShellDialect, ShellGuarantees, ShellTimeouts, ToolContext,
    WriteProtection,
};
pub use decisions::{CallDecisions, PastDecisions};
pub use registry::{LookupError, NameClash, Registry, ResolvedCall, declarations};
pub use reply::{
    Block, CallStatus, Content, ContextChange, FullText, Image, InvalidInput, ToolFailure,
    ToolReply,
};
pub(crate) use schema::{InvalidSchema, SchemaCheck, check_input_schema};
pub use search::TOOL_SEARCH;
pub use tool::{
    Assessment, InterruptBehavior, PreparedCall, ResultLimit, Tool, ToolKind, ToolSource,
    Unavailable, function,
};
pub use user_form::{FilledForm, FormUser, UserForm};
pub use web::Web;
