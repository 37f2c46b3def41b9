//! Orchestration: which call runs when (`schedule`), one call from look-up to result
//! (`lifecycle`), events in and records out (`runner`).
//!
//! Knows nothing of flags; `cmd` turns them into [`Options`].

mod admission;
mod answered;
mod call;
mod calls;
mod channels;
mod completed;
mod emitter;
mod intake;
mod interruption;
mod ledger;
mod lifecycle;
mod observer;
mod options;
mod ownership;
mod plan;
mod reactions;
mod refusals;
mod runner;
mod schedule;
mod session;
mod stopping;
mod trace;
mod turns;

pub use admission::{Admission, PermissionMode};
pub use answered::enter_results;
pub use channels::{Channels, Happening};
pub use completed::{Completed, Phases};
pub use ledger::{Ledger, Standing};
pub use lifecycle::{Lifecycle, Prepared, Ready, ResultPlace, ShellVerdicts};
pub use observer::{Observer, Progress, Unobserved};
pub use options::{Dedup, Echo, Emit, EndCause, Mode, OnError, Options, RunEnd};
pub use ownership::{Insistence, Owner, Ownership};
pub use runner::{Surroundings, run};
pub use schedule::{CallIndex, Policy, Schedule};
pub use trace::Trace;
pub use turns::{BatchNumber, FinishedTurn, TurnNumber, Turns};
