//! Execution of tool calls: the schedule, the life of one call, the runner from events to records.
//!
//! Knows nothing of command-line flags; `cmd` turns them into [`Options`].

mod call;
mod calls;
mod delivery;
mod emitter;
mod execution;
mod intake;
mod interruption;
mod lifecycle;
mod permission_check;
mod prompting;
mod result;
mod runner;
mod schedule;
mod session;
mod stream;
mod trace;
mod turns;
mod workers;

pub use execution::CallHooks;
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
pub use trace::Trace;
pub use workers::Channels;
