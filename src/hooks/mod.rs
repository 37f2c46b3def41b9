//! Hooks: their configuration, execution and merged responses, and the protocols of other agents' hooks.

mod agent_protocol;
mod installation;
mod response;
mod runner;
mod session_hooks;
mod settings;

pub use agent_protocol::{AgentHookInput, log_decision};
pub use installation::{InstalledHook, SettingsError};
pub use installation::{install_hooks, installed_hooks, uninstall_hooks};
pub use response::HookDecision;
pub use runner::HookRunner;
pub use session_hooks::{HookContext, Merged, SessionHooks};
pub use settings::{HookEvent, Hooks, InvalidHooks};
