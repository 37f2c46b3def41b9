//! Finds the files that the rules of a sandbox name, and the masks that protect them.
//!
//! Rules name files by patterns, but the kernel protects single files. [`FileRules`] finds the files that match the
//! patterns (`search`, `walk`), their other names (`mount_table`), sockets through which a program outside the sandbox
//! could open them (`sockets`), and files through which root could get around masks (`system`). [`crate::process`]
//! mounts the masks.

mod environment;
mod file_rules;
mod host_and_port;
mod mask_rules;
mod mount_table;
mod search;
mod sockets;
mod system;
mod walk;
mod workspace;

pub use environment::{check_unconfined, sandbox_variables, workspace_variables};
pub use file_rules::FileRules;
pub use host_and_port::{HostAndPort, parse_authority};
pub use search::FoundMasks;
pub use workspace::{
    WorkspaceFiles, hidden_files, key_files, protected_files, writable_directories,
};
