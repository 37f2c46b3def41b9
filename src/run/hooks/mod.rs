//! Hooks: their configuration, execution and merged responses, and the protocols of other agents' hooks.

mod agent_effect;
mod agent_hook;
mod agent_protocol;
mod command_sandbox;
mod decision_log;
mod installation;
mod response;
mod runner;
mod session_hooks;
mod settings;
mod settings_syntax;

pub use agent_hook::{AgentHook, HookTrial};
pub use agent_protocol::{AgentHookInput, UnjudgedInput};
pub use command_sandbox::CommandSandbox;
pub use decision_log::{last_decisions, log_decision};
pub use installation::{SettingsChange, find_hooks};
pub use response::HookDecision;
pub use runner::HookRunner;
pub use session_hooks::{HookContext, MergedResponse, SessionHooks};
pub use settings::{HookEvent, Hooks, InvalidHooks};
pub use settings_syntax::SettingsError;
