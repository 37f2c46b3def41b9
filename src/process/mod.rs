//! Child processes: spawner threads, own session and group, bounded capture, escalation.
//!
//! This room knows nothing of tools. It starts a program, captures what it prints in bounded
//! memory, ends it when asked or when its time is up, and says exactly how it ended. `unsafe` is
//! allowed here, each use with a SAFETY comment.

mod cancel;
mod capture_buffer;
mod captured;
mod command;
mod confinement;
#[cfg(unix)]
mod denial;
#[cfg(unix)]
mod departure;
mod descriptors;
mod signals;
mod spawners;
mod spill;

#[cfg(unix)]
mod detached_write;
#[cfg(unix)]
mod escalation;
#[cfg(unix)]
mod exec_strings;
#[cfg(unix)]
mod group;
#[cfg(target_os = "linux")]
mod guardian;
#[cfg(target_os = "linux")]
mod guardian_table;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(unix)]
mod lane;
#[cfg(unix)]
mod live_groups;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(unix)]
mod pipes;
#[cfg(target_os = "linux")]
mod process_table;
#[cfg(unix)]
mod program_path;
#[cfg(unix)]
mod reap;
#[cfg(unix)]
mod signal_mask;
#[cfg(unix)]
mod spawner_pool;
#[cfg(unix)]
mod start;
#[cfg(unix)]
mod supervise;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod system_call_filter;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod system_call_table;
#[cfg(unix)]
mod tree;
#[cfg(unix)]
mod waker;

#[cfg(target_os = "linux")]
#[path = "clone_spawn.rs"]
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
pub use command::{
    Capture, Command, Ended, ExitStatus, Finished, Limits, SpawnError, Stdin, Variables,
};
pub use confinement::{Confinement, Enforcement, NotEnforced, Witnessed};
#[cfg(unix)]
pub use departure::report_departure;
pub use descriptors::{stdin_was_closed, stdout_was_closed};
#[cfg(unix)]
pub use detached_write::write_detached;
#[cfg(target_os = "linux")]
pub use guardian::{GuardianPlan, guard, plan_guardian};
#[cfg(target_os = "linux")]
pub use orphans::adopt_orphans;
pub use signals::{EndSignal, report_end_signals};
pub use spawners::{LaneOptions, Spawners};
