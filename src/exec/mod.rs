//! Orchestration: which call runs when (`schedule`), one call from look-up to result
//! (`lifecycle`), events in and records out (`runner`).
//!
//! Knows nothing of flags; `cmd` turns them into [`Options`].

mod answered;
mod asking;
mod backlog;
mod call;
mod calls;
mod channels;
mod checking;
mod completed;
mod control;
mod delivery;
mod emitter;
mod intake;
mod interruption;
mod ledger;
mod lifecycle;
mod observer;
mod options;
mod ownership;
mod plan;
mod runner;
mod schedule;
mod session;
mod stream;
mod trace;
mod turns;

pub use asking::{Answer, Asker, Question};
pub use channels::Channels;
pub use lifecycle::{Lifecycle, ShellVerdicts};
pub use observer::{Observer, Progress};
pub use options::{Dedup, Echo, Emit, EndCause, Mode, OnError, Options, RunEnd, StartDirectory};
pub use ownership::HistoryPolicy;
pub use runner::{Dependencies, run};
pub use schedule::Policy;
pub use trace::Trace;
