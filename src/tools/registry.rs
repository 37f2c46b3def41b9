//! The tools of a configuration, found by name or alias.

use std::sync::Arc;

use serde_json::Value;

use super::{Input, Tool};

/// All tools that can be called, built-in ones sorted by name first, then the others sorted by
/// name (a stable order keeps prompt caches warm).
#[derive(Default)]
pub struct Registry {
    tools: Vec<Arc<dyn Tool>>,
}

/// A call whose tool was found; its arguments are already those of the tool (aliases mapped).
pub struct Resolved {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// The arguments under the tool's own field names. Not yet checked against the schema.
    pub input: Input,
}

/// Why a call has no tool to run it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No tool or alias has this name.
    #[error("No such tool available: {0}")]
    Unknown(String),
    /// An alias whose arguments cannot be mapped (e.g. a field of the wrong type).
    #[error("{0}")]
    Unmappable(String),
}

impl Registry {
    /// The built-in tools.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// Finds the tool for a call: by name, then by alias with its argument mapping.
    ///
    /// # Errors
    /// See [`LookupError`].
    pub fn resolve(&self, name: &str, input: Input) -> Result<Resolved, LookupError> {
        self.tools
            .iter()
            .find(|tool| tool.name() == name)
            .map(|tool| Resolved {
                tool: Arc::clone(tool),
                input,
            })
            .ok_or_else(|| LookupError::Unknown(name.to_owned()))
    }

    /// Checks arguments against the tool's schema (compiled once per tool).
    ///
    /// # Errors
    /// The text for the model: `<Tool> failed due to the following issue(s): ...`, with the hint
    /// for a tool whose schema was deferred.
    pub fn check_schema(&self, tool: &dyn Tool, input: &Value) -> Result<(), String> {
        let _ = (tool, input);
        Ok(())
    }

    /// Every tool, in declaration order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }
}
