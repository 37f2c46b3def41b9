//! Execution of tool calls: the schedule, the life of one call, the runner from events to records.
//!
//! Independent of command-line flags, which `commands` converts to [`Options`].

pub mod hooks;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod results;
pub mod tools;
pub mod turn;

mod call;
mod call_hooks;
mod call_result;
mod cancellation;
mod delivery;
mod emitter;
mod execution;
mod form_field;
mod intake;
mod interruption;
mod lifecycle;
mod open_calls;
mod permission_check;
mod prompting;
mod reaction;
mod runner;
mod schedule;
mod session;
mod stream;
mod terminal_prompter;
mod trace;
mod turn_tracker;
mod workers;

pub use call_hooks::CallHooks;
pub use lifecycle::{Lifecycle, ShellVerdicts};
pub use prompting::{
    GuardedJudge, Judge, JudgedCall, Judgement, PromptResponse, Prompter, Question, ToolPrompter,
};
pub use runner::run;
pub use schedule::Policy;
pub use session::{
    Dedup, Dependencies, Echo, Emit, EndCause, HistoryPolicy, Listener, Observer, OnError, Options,
    Progress, RunEnd, RunMode, RunningCall, StartDirectory,
};
pub use terminal_prompter::TerminalPrompter;
pub use trace::Trace;
pub use workers::Channels;
