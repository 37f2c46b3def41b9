//! Hooks: their configuration, execution and merged responses, and the protocols of other agents' hooks.

mod agent_protocol;
mod decision_log;
mod installation;
mod installed_hook;
mod json_settings;
mod response;
mod runner;
mod session_hooks;
mod settings;
mod toml_settings;

pub use agent_protocol::AgentHookInput;
pub use decision_log::{last_decisions, log_decision};
pub use installation::{install_hooks, installed_hooks, uninstall_hooks};
pub use installed_hook::{InstalledHook, SettingsError};
pub use response::HookDecision;
pub use runner::HookRunner;
pub use session_hooks::{HookContext, Merged, SessionHooks};
pub use settings::{HookEvent, Hooks, InvalidHooks};
