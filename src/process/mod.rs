//! Child processes: spawner threads, own session and group, bounded capture, escalation.
//!
//! This room knows nothing of tools. It starts a program, captures what it prints in bounded
//! memory, ends it when asked or when its time is up, and says exactly how it ended. `unsafe` is
//! allowed here, each use with a SAFETY comment.

mod capture_buffer;
mod captured;
mod command;
mod confinement;
mod descriptors;
mod detached_write;
mod escalation;
#[cfg(target_os = "linux")]
mod guardian;
#[cfg(target_os = "linux")]
mod guardian_table;
mod lane;
mod live_calls;
#[cfg(target_os = "linux")]
mod orphans;
mod pager;
mod pipes;
mod posix_spawn;
#[cfg(target_os = "linux")]
mod process_table;
mod process_tree;
mod program_path;
mod signals;
mod spawner_pool;
mod spawners;
mod start;
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
mod thread_pool;

pub use captured::Captured;
pub use command::{
    Capture, Command, Ended, ExitStatus, Finished, Leftovers, Limits, SpawnError, Stdin, Variables,
};
pub use confinement::{Confinement, Enforcement, NotEnforced, Witnessed};
pub use descriptors::{stdin_was_closed, stdout_was_closed};
pub use detached_write::write_detached;
#[cfg(target_os = "linux")]
pub use guardian::{GuardianPlan, guard, plan_guardian};
#[cfg(target_os = "linux")]
pub use orphans::adopt_orphans;
pub use pager::Pager;
pub use pipes::Conversation;
pub use signals::{
    EndRequests, EndSignal, outlive_file_size_limit, report_departure, report_end_signals,
};
pub use spawners::{LaneOptions, Spawners};
pub use thread_pool::{Job, NoThread, ThreadPool};
