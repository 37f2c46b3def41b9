//! The way in which a process can create namespaces.

use std::ffi::OsStr;

use rustix::thread::{CapabilitySet, capabilities};

/// The way in which a process can create a mount namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privilege {
    /// Together with a user namespace, in which it keeps its user and group.
    User,
    /// As root, alone: a user namespace would map one user, and root could not write files of others.
    Root,
}

impl Privilege {
    /// The names, as arguments of a helper.
    const NAMES: [(&str, Self); 2] = [("user", Self::User), ("root", Self::Root)];

    pub(super) fn name(self) -> &'static str {
        let row = Self::NAMES.iter().find(|(_, privilege)| *privilege == self);
        row.map_or("", |(name, _)| name)
    }

    pub(super) fn from_name(name: &OsStr) -> Option<Self> {
        let row = Self::NAMES.iter().find(|(known, _)| name == *known);
        row.map(|(_, privilege)| *privilege)
    }

    /// Returns the way of this process.
    pub fn from_process() -> Self {
        let is_admin =
            |own: &rustix::thread::CapabilitySets| own.effective.contains(CapabilitySet::SYS_ADMIN);
        match capabilities(None) {
            Ok(own) if is_admin(&own) => Self::Root,
            _ => Self::User,
        }
    }
}
