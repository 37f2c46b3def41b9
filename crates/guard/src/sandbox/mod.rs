//! The rules of a sandbox: which files on this machine its patterns name, with the masks that protect them.
//!
//! Rules name files by patterns, the kernel protects files. [`FileRules`] looks for the files that the patterns name
//! (`search`, `walk`), for their other names (`mount_table`), for sockets through which a program outside of the sandbox
//! could open them (`sockets`), and for ways that only root has (`system`). [`crate::process`] mounts the masks.

mod environment;
mod file_rules;
mod host_and_port;
mod mount_table;
mod search;
mod sockets;
mod sought_files;
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
