//! Child processes: spawner threads, own session and group, bounded capture, escalation.
//!
//! This room knows nothing of tools. It starts a program, captures what it prints in bounded
//! memory, ends it when asked or when its time is up, and says exactly how it ended. `unsafe` is
//! allowed here, each use with a SAFETY comment.

mod cancel;
mod captured;
mod command;
#[cfg(unix)]
mod departure;
mod signals;
mod spawners;

pub use cancel::{CancelToken, CancelWait};
pub use captured::Captured;
pub use command::{Capture, Command, Ended, ExitStatus, Finished, Limits, SpawnError, Stdin};
#[cfg(unix)]
pub use departure::report_departure;
pub use signals::{EndSignal, report_end_signals};
pub use spawners::Spawners;
