//! The interface of a tool.

use serde_json::{Map, Value};

use super::{Access, CallContext, ToolContext, ToolReply, Touch};

/// Something the model can call. Inputs have passed the schema before any method sees them.
pub trait Tool: Send + Sync {
    /// The name in declarations and records.
    fn name(&self) -> &str;

    /// What the model is told about it.
    fn description(&self) -> &str;

    /// JSON Schema of the input: an object schema.
    fn input_schema(&self) -> &Value;

    /// Whether its schema is kept from the model until it asks for it (`ToolSearch`).
    fn is_deferred(&self) -> bool {
        false
    }

    /// What a call with this input touches.
    ///
    /// # Errors
    /// The input cannot be analysed; the call then counts as touching everything.
    fn access(&self, input: &Input, context: &ToolContext) -> Result<Access, AccessError>;

    /// The same with the reason, for records.
    ///
    /// # Errors
    /// As for [`Tool::access`].
    fn assess(&self, input: &Input, context: &ToolContext) -> Result<Assessment, AccessError> {
        let access = self.access(input, context)?;
        let name = self.name();
        let why = if access.is_read_only() {
            format!("{name} only reads")
        } else if access.writes == Touch::World {
            format!("{name} may change anything")
        } else {
            format!("{name} writes")
        };
        Ok(Assessment { access, why })
    }

    /// What an interrupt does to a running call.
    fn interrupt(&self) -> InterruptBehavior {
        InterruptBehavior::Cancel
    }

    /// Whether failures of it and its siblings belong together.
    fn kind(&self) -> ToolKind {
        ToolKind::Independent
    }

    /// The largest result kept inline.
    fn result_limit(&self) -> ResultLimit {
        ResultLimit::Default
    }

    /// Checks the meaning of the input, without doing anything.
    ///
    /// # Errors
    /// The input makes no sense; the call does not run and the model sees the reason.
    fn validate(&self, input: &Input, context: &ToolContext) -> Result<(), InvalidInput> {
        let _ = (input, context);
        Ok(())
    }

    /// Does the work, blocking the calling thread, until done or until `call.cancel` fires.
    ///
    /// # Errors
    /// The tool failed in a way it has no structured output for.
    fn call(&self, input: &Input, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure>;
}

/// What a call touches, and why it counts as touching that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    /// What it touches.
    pub access: Access,
    /// What decided, in one line.
    pub why: String,
}

/// The arguments of a call: an object that passed the tool's schema.
pub type Input = Map<String, Value>;

/// What an interrupt does to a running call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterruptBehavior {
    /// It is ended at once.
    Cancel,
    /// It runs to its end.
    Block,
}

/// Whether calls of a tool depend on each other without saying so (seed 002 section 4.5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// A shell: a failing command is likely to doom the ones after it.
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
    /// No limit: the tool bounds itself.
    Unlimited,
}

/// An input could not be analysed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AccessError(pub String);

/// An input makes no sense; the text is for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidInput(pub String);

/// A tool failed; the text is for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolFailure(pub String);
