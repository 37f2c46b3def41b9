//! Orchestration: which call runs when (`schedule`), one call from look-up to result
//! (`lifecycle`), events in and records out (`runner`).
//!
//! Knows nothing of flags; `cmd` turns them into [`Options`].

mod answered;

mod backlog;
mod call;
mod calls;
mod channels;
mod checking;
mod completed;
mod control;
mod delivery;
mod emitter;
mod hooking;
mod intake;
mod interruption;
mod judging;
mod ledger;
mod lifecycle;
mod observer;
mod options;
mod ownership;
mod plan;
mod prompting;
mod runner;
mod schedule;
mod session;
mod stream;
mod trace;
mod turns;

pub use channels::Channels;
pub use hooking::RunHooks;
pub use judging::{Case, Judge, JudgeSeat, Judgement};
pub use lifecycle::{Lifecycle, ShellVerdicts};
pub use observer::{Observer, Progress};
pub use options::{Dedup, Echo, Emit, EndCause, Mode, OnError, Options, RunEnd, StartDirectory};
pub use ownership::HistoryPolicy;
pub use prompting::{Answer, Prompter, Question, ToolPrompter};
pub use runner::{Dependencies, Listener, run};
pub use schedule::Policy;
pub use trace::Trace;
