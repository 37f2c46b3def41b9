//! Sandboxes: namespaces in which files are masked, and further restrictions of the programs in them.

mod child;
mod descriptors;
mod handover;
mod helper;
mod init;
mod mask;
mod mask_mounts;
mod namespace;
mod policy_bytes;
mod privilege;
mod program;
mod restrictions;
mod run_sandbox;
mod sandbox_error;
mod sandbox_spawner;
mod workspace;

pub use descriptors::{InheritedDescriptor, inherited_descriptors};
pub use helper::{HelperCallbacks, SandboxedCommand, exec_in_sandbox, run_as_sandbox_helper};
pub use mask::{FileId, Mask, MaskKind};
pub use namespace::{MAX_MASKS, SandboxPolicy};
pub use privilege::Privilege;
pub use restrictions::isolates_calls;
pub use run_sandbox::{MaskList, MaskSource, Sandbox};
pub use sandbox_error::SandboxError;
pub(super) use sandbox_spawner::{SandboxSpawner, start_in_lane};
pub use workspace::{Workspace, new_file_message};
