//! Hooks: their configuration, execution and merged answers, and the protocols of other agents' hooks.

mod agent_protocol;
mod answer;
mod matcher;
mod merge;
mod runner;
mod session_hooks;
mod settings;

pub use agent_protocol::AgentHookInput;
pub use answer::HookDecision;
pub use merge::Merged;
pub use runner::HookRunner;
pub use session_hooks::{HookContext, SessionHooks};
pub use settings::{HookEvent, Hooks, InvalidHooks};
