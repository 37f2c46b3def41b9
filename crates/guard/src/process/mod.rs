//! Child processes: spawner threads, sessions and groups, bounded capture, escalation, and the sandbox of the kernel.
//!
//! Starts a program, captures its output in bounded memory, ends it on request or at its deadline, and reports how it
//! ended. Knows nothing of tools. `unsafe` is allowed here, each use with a SAFETY comment.

mod capture_buffer;
mod captured;
mod command;
mod confinement;
mod escalation;
#[cfg(target_os = "linux")]
mod guardian;
mod network;
#[cfg(not(sandbox))]
mod no_sandbox;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(target_os = "linux")]
mod own_memory;
mod own_process;
mod pager;
mod posix_spawn;
mod process_tree;
#[cfg(sandbox)]
mod sandbox;
mod scratch_directory;
mod spawners;
mod start;
mod supervise;
mod supervisor;
#[cfg(sandbox)]
mod system_call_filter;
mod thread_pool;

pub use captured::{Capture, Captured};
pub use command::{
    Command, Ended, ExitStatus, Finished, Leftovers, Limits, SpawnError, Stdin, StdioPipes,
    Variables,
};
pub use confinement::{
    Confinement, ConfinementReport, Enforcement, FileRulesEnforced, LaneOptions, NotEnforced,
    WorkspaceEnforced,
};
#[cfg(target_os = "linux")]
pub use guardian::run_as_guardian;
pub use network::{Domains, Network, PROXY_PORT, ProxyStarter, RunningProxy};
#[cfg(not(sandbox))]
pub use no_sandbox::{Sandbox, new_file_message};
#[cfg(target_os = "linux")]
pub use own_memory::{forbid_inspection, hide_environment};
pub use own_process::{
    EndRequests, EndSignal, ignore_file_size_signal, report_continuation, report_departure,
    report_end_signals, stdout_was_closed,
};
pub use pager::Pager;
#[cfg(sandbox)]
pub use sandbox::{
    FileId, HelperCallbacks, InheritedDescriptor, MAX_MASKS, Mask, MaskKind, MaskList, MaskSource,
    Privilege, Sandbox, SandboxError, SandboxPolicy, SandboxedCommand, Workspace, exec_in_sandbox,
    inherited_descriptors, isolates_calls, new_file_message, run_as_sandbox_helper,
};
pub use scratch_directory::ScratchDirectory;
pub use spawners::Spawners;
pub use supervisor::Supervisor;
pub use thread_pool::{Job, NoThread, ThreadPool};
