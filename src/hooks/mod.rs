//! Hooks: their configuration, execution and merged responses, and the protocols of other agents' hooks.

mod agent_protocol;
mod installation;
mod response;
mod runner;
mod settings;

pub use agent_protocol::{AgentHookInput, log_decision};
pub use installation::{
    InstalledHook, SettingsError, install_hooks, installed_hooks, uninstall_hooks,
};
pub use response::HookDecision;
pub use runner::{HookContext, HookRunner, Merged, SessionHooks};
pub use settings::{HookEvent, Hooks, InvalidHooks};
