//! Tools that come from elsewhere while a run goes on.

use std::sync::Arc;

use super::Tool;

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
