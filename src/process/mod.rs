//! Child processes: spawner threads, own session and group, bounded capture, escalation.
//!
//! This room knows nothing of tools. It starts a program, captures what it prints in bounded
//! memory, ends it when asked or when its time is up, and says exactly how it ended. `unsafe` is
//! allowed here, each use with a SAFETY comment.

mod cancel;
mod capture_buffer;
mod captured;
mod command;
#[cfg(unix)]
mod departure;
mod descriptors;
mod mathematics;
mod signals;
mod spawners;
mod spill;

#[cfg(unix)]
mod escalation;
#[cfg(unix)]
mod exec_strings;
#[cfg(unix)]
mod group;
#[cfg(unix)]
mod live_groups;
#[cfg(unix)]
mod pipes;
#[cfg(target_os = "linux")]
mod process_table;
#[cfg(unix)]
mod program_path;
#[cfg(unix)]
mod spawner_pool;
#[cfg(unix)]
mod start;
#[cfg(unix)]
mod supervise;
#[cfg(unix)]
mod tree;
#[cfg(unix)]
mod waker;

#[cfg(target_os = "linux")]
#[path = "posix_spawn.rs"]
mod system_spawn;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "std_spawn.rs"]
mod system_spawn;

// Tested on Linux too, where it is not in use.
#[cfg(test)]
#[cfg(target_os = "linux")]
mod std_spawn;

pub use cancel::{CancelToken, CancelWait};
pub use captured::Captured;
pub use command::{Capture, Command, Ended, ExitStatus, Finished, Limits, SpawnError, Stdin};
#[cfg(unix)]
pub use departure::report_departure;
pub use descriptors::{stdin_was_closed, stdout_was_closed};
pub use signals::{EndSignal, report_end_signals};
pub use spawners::Spawners;
