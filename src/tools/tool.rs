//! What a tool is, and what one call of it is.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::access::AccessError;
use super::{
    Access, CallContext, DecisionContext, Input, InvalidInput, ToolFailure, ToolReply, Touch,
};
use crate::permission::Action;

/// Something the model can call.
pub trait Tool: Send + Sync {
    /// The name in declarations and records.
    fn name(&self) -> &str;

    /// What it does and how to use it, for the model.
    fn description(&self) -> &str;

    /// JSON Schema of the input: an object schema.
    fn input_schema(&self) -> &Value;

    /// Whether its schema is kept from the model until it asks for it (`ToolSearch`).
    fn is_deferred(&self) -> bool {
        false
    }

    /// What an interrupt does to a running call.
    fn interrupt(&self) -> InterruptBehavior {
        InterruptBehavior::Cancel
    }

    /// Whether the failure of a call affects the calls beside it.
    fn kind(&self) -> ToolKind {
        ToolKind::Independent
    }

    /// The largest result kept inline.
    fn result_limit(&self) -> ResultLimit {
        ResultLimit::Default
    }

    /// Parses and analyses an input that has passed the schema. Touches nothing.
    ///
    /// # Errors
    /// The input makes no sense; the call does not run and the model sees the reason.
    fn prepare(&self, input: &Input) -> Result<Box<dyn PreparedCall>, InvalidInput>;
}

/// One call: its input parsed, checked and analysed. Paths in it are resolved when they are
/// needed, because the working directory may change until the call starts.
pub trait PreparedCall: Send + Sync {
    /// What the call touches if it starts now.
    fn assess(&self, context: &DecisionContext) -> Assessment;

    /// Does the work, blocking the calling thread, until done or until `call.cancel` fires.
    ///
    /// # Errors
    /// The tool failed in a way it has no structured output for.
    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure>;
}

/// What a call touches, and why it counts as touching that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    /// What it touches.
    pub access: Access,
    /// What decided, in one line.
    pub why: String,
    /// What it does, for those who decide whether it may.
    pub action: Action,
}

impl Assessment {
    /// The assessment of a call of the tool `name` that reads the file or the tree at `path`
    /// (absolute).
    pub(super) fn reading(name: &str, path: PathBuf) -> Self {
        let access = Access::reading(&path);
        let action = Action::Files {
            reads: vec![path],
            writes: Vec::new(),
        };
        Self::of(name, access, action)
    }

    /// The assessment of a call of the tool `name` that changes the file at `path` (absolute).
    pub(super) fn writing(name: &str, path: PathBuf) -> Self {
        let access = Access::writing(&path);
        let action = Action::Files {
            reads: Vec::new(),
            writes: vec![path],
        };
        Self::of(name, access, action)
    }

    /// The assessment of a call of the tool `name`, from the paths in its input. Without them the
    /// call counts as touching anything.
    pub(super) fn of(name: &str, access: Result<Access, AccessError>, action: Action) -> Self {
        let (access, why) = match access {
            Ok(access) if access.is_read_only() => (access, format!("{name} only reads")),
            Ok(access) if access.writes == Touch::Everything => {
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

/// What an interrupt does to a running call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InterruptBehavior {
    /// It is ended at once.
    Cancel,
    /// It runs to its end.
    Block,
}

/// Whether calls of a tool depend on each other without saying so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// A shell: when a command fails, the ones after it are likely to fail too.
    Shell,
    /// Anything else.
    Independent,
}

/// The largest result a tool wants kept inline, in characters (UTF-16 units).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultLimit {
    /// The global limit.
    Default,
    /// At most this much, and never more than the global limit.
    Characters(usize),
    /// At most this much, even if that is more than the global limit.
    Raised(usize),
    /// No limit: the tool bounds itself.
    Unlimited,
}

/// Tools that are known only when somebody asks for them, such as those of MCP servers.
pub trait ToolSource: Send + Sync {
    /// Whether [`ToolSource::find`] may wait to say whether there is a tool of this name.
    fn is_slow(&self, name: &str) -> bool;

    /// The tool of this name, if there is one. May wait for a server.
    ///
    /// # Errors
    /// It cannot be found out.
    fn find(&self, name: &str) -> Result<Option<Arc<dyn Tool>>, Unavailable>;

    /// All tools, sorted by name. May wait for servers.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// Ends what was started.
    fn end(&self);
}

/// A source cannot say whether it has a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);
