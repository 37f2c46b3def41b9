//! Sandboxes: namespaces in which files are masked, and further restrictions of the programs in them.

mod child;
mod descriptors;
mod entrance;
mod handover;
mod helper;
mod init;
mod mounts;
mod namespace;
mod restrictions;
mod space;
mod workspace;

pub use descriptors::{InheritedDescriptor, inherited_descriptors};
pub(super) use entrance::{Entrance, start_in_lane};
pub use helper::{SandboxedCommand, exec_in_sandbox, run_as_sandbox_helper};
pub use namespace::{Mask, MaskKind, Policy, Privilege, SandboxError};
pub use restrictions::isolates_calls;
pub use space::{MaskList, MaskSource, Sandbox};
pub use workspace::Workspace;
