//! The privilege with which a process creates namespaces.

use std::ffi::OsStr;

use rustix::thread::{CapabilitySet, capabilities};

/// The privilege with which a process creates a mount namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privilege {
    /// An ordinary user, who also needs a user namespace. The process keeps its user and group in it.
    User,
    /// Root, without a user namespace. One would map only one user, so that root could not write files of others.
    Root,
}

impl Privilege {
    /// Names of the values in arguments of a helper.
    const NAMES: [(&str, Self); 2] = [("user", Self::User), ("root", Self::Root)];

    pub(super) fn name(self) -> &'static str {
        let row = Self::NAMES.iter().find(|(_, privilege)| *privilege == self);
        row.map_or("", |(name, _)| name)
    }

    pub(super) fn from_name(name: &OsStr) -> Option<Self> {
        let row = Self::NAMES.iter().find(|(known, _)| name == *known);
        row.map(|(_, privilege)| *privilege)
    }

    /// Returns the privilege of this process.
    pub fn from_process() -> Self {
        match capabilities(None) {
            Ok(own) if own.effective.contains(CapabilitySet::SYS_ADMIN) => Self::Root,
            _ => Self::User,
        }
    }
}
