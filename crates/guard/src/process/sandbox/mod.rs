//! Sandboxes: namespaces in which files are masked, and further restrictions of the programs in them.

mod child;
mod descriptors;
mod entrance;
mod handover;
mod helper;
mod init;
mod mask;
mod mask_mounts;
mod namespace;
mod new_file;
mod policy_bytes;
mod privilege;
mod program;
mod restrictions;
mod sandbox_error;
mod space;
mod workspace;

pub use descriptors::{InheritedDescriptor, inherited_descriptors};
pub(super) use entrance::{Entrance, start_in_lane};
pub use helper::{HelperCallbacks, SandboxedCommand, exec_in_sandbox, run_as_sandbox_helper};
pub use mask::{Mask, MaskKind};
pub use namespace::{MAX_MASKS, SandboxPolicy};
pub use new_file::new_file_message;
pub use privilege::Privilege;
pub use restrictions::isolates_calls;
pub use sandbox_error::SandboxError;
pub use space::{MaskList, MaskSource, Sandbox};
pub use workspace::Workspace;
