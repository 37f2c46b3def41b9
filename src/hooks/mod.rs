//! Hooks: their configuration, execution and merged answers, and the protocols of other agents' hooks.

mod agent_protocol;
mod answer;
mod installation;
mod runner;
mod session_hooks;
mod settings;

pub use agent_protocol::AgentHookInput;
pub use answer::HookDecision;
pub use installation::{
    InstalledHook, SettingsError, install_hooks, installed_hooks, uninstall_hooks,
};
pub use runner::HookRunner;
pub use session_hooks::{HookContext, Merged, SessionHooks};
pub use settings::{HookEvent, Hooks, InvalidHooks};
