//! Sandboxes: namespaces in which files are masked, and further restrictions of the programs in them.

mod child;
mod descriptors;
mod helper;
mod namespace;
mod restrictions;

pub(super) use child::spawn_in;
pub use descriptors::{InheritedDescriptor, inherited_descriptors};
pub use helper::{
    MaskedNamespace, SandboxedCommand, exec_in_sandbox, run_as_sandbox_helper,
};
pub use namespace::{Mask, MaskKind, Privilege, SandboxError};
