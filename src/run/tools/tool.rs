//! The trait of tools and of their calls.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::access::resolve_links;
use super::{
    Access, CallContext, Content, DecisionContext, Input, InvalidInput, PathSet, ToolFailure,
    ToolReply,
};
use crate::api::Function;
use crate::io::CancelToken;
use crate::permission::Action;

/// A tool that the model can call.
pub trait Tool: Send + Sync {
    /// Returns the name in declarations and records.
    fn name(&self) -> &str;

    /// Returns the description for the model.
    fn description(&self) -> &str;

    /// Returns the JSON Schema of the input, which is an object.
    fn input_schema(&self) -> &Value;

    /// Whether the schema is not listed but returned by `ToolSearch`.
    fn is_deferred(&self) -> bool {
        false
    }

    /// Returns the effect of an interrupt on a running call.
    fn interrupt(&self) -> InterruptBehavior {
        InterruptBehavior::Cancel
    }

    /// Returns whether a failed call affects the other calls of its batch.
    fn kind(&self) -> ToolKind {
        ToolKind::Independent
    }

    /// Returns the maximum size of an inline result.
    fn result_limit(&self) -> ResultLimit {
        ResultLimit::Default
    }

    /// Returns the content of a result whose structured output a hook changed. `before` is the content without
    /// the change. `None` if the output has another form.
    fn content_after(&self, _output: &Value, _before: &Content) -> Option<Content> {
        None
    }

    /// Parses and analyses an input that matches the schema. Has no side effects.
    ///
    /// # Errors
    /// The input is invalid. The call does not run, and the model gets the reason.
    fn prepare(&self, input: &Input) -> Result<Box<dyn PreparedCall>, InvalidInput>;
}

/// Returns the declaration of a tool, independent of the API.
pub fn function(tool: &dyn Tool) -> Function {
    Function {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        parameters: tool.input_schema().clone(),
    }
}

/// A prepared call. Paths are resolved when they are needed, because the working directory may change before the
/// call starts.
pub trait PreparedCall: Send + Sync {
    /// Returns the access of the call if it starts now.
    fn assess(&self, context: &DecisionContext) -> Assessment;

    /// Runs the call on the current thread until it ends or `call.cancel` fires.
    ///
    /// # Errors
    /// The call failed without structured output.
    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure>;
}

/// The access of a call, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    pub access: Access,
    /// The reason, on one line.
    pub why: String,
    /// The effects, for permission decisions.
    pub action: Action,
}

impl Assessment {
    /// Assesses a call of the tool `name` that reads the file or tree at `path` (absolute).
    pub(super) fn reads(name: &str, path: PathBuf) -> Self {
        let access = resolve_path(&path).map(Access::reads);
        let action = Action::Files {
            reads: vec![path],
            writes: Vec::new(),
        };
        Self::of(name, access, action)
    }

    /// Assesses a call of the tool `name` that changes the files at `paths` (absolute).
    pub(super) fn writes(name: &str, paths: Vec<PathBuf>) -> Self {
        let resolved: Result<Vec<_>, _> = paths.iter().map(|path| resolve_path(path)).collect();
        let access = resolved.map(|resolved| Access {
            reads: PathSet::Paths(resolved.clone()),
            writes: PathSet::Paths(resolved),
        });
        let action = Action::Files {
            reads: Vec::new(),
            writes: paths,
        };
        Self::of(name, access, action)
    }

    /// Assesses a call of the tool `name` that changes nothing and reads no files.
    pub fn harmless(name: &str) -> Self {
        Self::of(name, Ok(Access::nothing()), Action::Harmless)
    }

    /// Assesses a call of the tool `name` by its access. A call without a known access may change everything.
    pub(super) fn of(name: &str, access: Result<Access, String>, action: Action) -> Self {
        let (access, why) = match access {
            Ok(access) if access.is_read_only() => (access, format!("{name} only reads")),
            Ok(access) if access.writes == PathSet::Everything => {
                (access, format!("{name} may change anything"))
            }
            Ok(access) => (access, format!("{name} writes")),
            Err(error) => (
                Access::everything(),
                format!("{name} cannot be analysed: {error}"),
            ),
        };
        Self {
            access,
            why,
            action,
        }
    }
}

fn resolve_path(path: &Path) -> Result<PathBuf, String> {
    resolve_links(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The effect of an interrupt on a running call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InterruptBehavior {
    /// The call is cancelled.
    Cancel,
    /// The call runs to its end.
    Block,
}

/// Dependence between the calls of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// A shell: after a failed command, later ones are likely to fail.
    Shell,
    /// Any other tool.
    Independent,
}

/// The maximum size of an inline result, in UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultLimit {
    /// The global limit.
    Default,
    /// This limit, or the global one if it is lower.
    Characters(usize),
    /// This limit, even if the global one is lower.
    Raised(usize),
    /// No limit: the tool limits its results.
    Unlimited,
}

/// Tools that are looked up on demand, such as tools of MCP servers.
pub trait ToolSource: Send + Sync {
    /// Whether [`ToolSource::find`] may have to wait for this name.
    fn is_slow(&self, name: &str) -> bool;

    /// Returns the tool with this name, if any. May wait for a server.
    ///
    /// # Errors
    /// The source does not respond.
    fn find(&self, name: &str) -> Result<Option<Arc<dyn Tool>>, Unavailable>;

    /// Returns all tools, sorted by name. May wait for servers, until `cancel` fires.
    fn tools(&self, cancel: &CancelToken) -> Vec<Arc<dyn Tool>>;

    /// Ends everything that was started.
    fn end(&self);
}

/// The reason why a source does not respond.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);
