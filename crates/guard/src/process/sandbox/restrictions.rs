//! The restrictions that a process in a sandbox applies to itself before it becomes a command.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::ptr;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    Scope, path_beneath_rules,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::privilege::Privilege;
use crate::process::confinement::linux;
use crate::process::own_memory::prevent_core_files;
use crate::process::system_call_filter::{self, Filter};

/// The capabilities that root loses. With them, a program could mount file systems, read disks, files by inode number
/// or the memory of other processes, or change the kernel.
const LOST_BY_ROOT: CapabilitySet = CapabilitySet::SYS_ADMIN
    .union(CapabilitySet::SYS_PTRACE)
    .union(CapabilitySet::SYS_RAWIO)
    .union(CapabilitySet::SYS_MODULE)
    .union(CapabilitySet::SYS_CHROOT)
    .union(CapabilitySet::SYS_BOOT)
    .union(CapabilitySet::MKNOD)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::CHECKPOINT_RESTORE)
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::PERFMON);

/// The capabilities that root keeps in a workspace: using files of other users, and becoming other users.
const KEPT_IN_WORKSPACE: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID);

/// The version of Landlock whose rights are used; older kernels use the rights that they know.
const LANDLOCK_VERSION: ABI = ABI::V6;

/// Restrictions that were prepared so that a process can apply them without allocating memory.
#[derive(Debug)]
pub(in crate::process) struct Restrictions {
    lost: CapabilitySet,
    /// The rules of a Landlock domain; `None` if the kernel has no Landlock.
    domain: Option<OwnedFd>,
    filter: Filter,
}

impl Restrictions {
    /// Prepares the restrictions of the lane, for children in a sandbox. They may write only below `writable`.
    ///
    /// # Errors
    /// The kernel has no Landlock, or refused.
    pub(in crate::process) fn for_lane(writable: Option<&Path>) -> Result<Self, String> {
        let rules = linux::create_ruleset(writable);
        let domain: Option<OwnedFd> = rules
            .map_err(|error| format!("Landlock failed: {error}"))?
            .into();
        Ok(Self {
            lost: linux::LANE_CAPABILITIES.complement() | LOST_BY_ROOT,
            domain: Some(domain.ok_or("the kernel does not support Landlock")?),
            filter: system_call_filter::lane_filter(),
        })
    }

    /// Prepares the restrictions that children of the lane have besides those of the thread that starts them.
    pub(in crate::process) fn for_lane_child() -> Self {
        Self {
            lost: CapabilitySet::empty(),
            domain: create_domain(Scope::from_all(LANDLOCK_VERSION)),
            filter: Filter::new(),
        }
    }

    /// Prepares the restrictions of a sandbox.
    pub(in crate::process) fn for_sandbox(privilege: Privilege) -> Self {
        Self {
            lost: match privilege {
                Privilege::User => CapabilitySet::all(),
                Privilege::Root => LOST_BY_ROOT,
            },
            domain: create_domain(Scope::AbstractUnixSocket.into()),
            filter: system_call_filter::sandbox_filter(),
        }
    }

    /// Prepares the restrictions of a workspace.
    pub(super) fn for_workspace(privilege: Privilege) -> Self {
        Self {
            lost: match privilege {
                Privilege::User => CapabilitySet::all(),
                Privilege::Root => KEPT_IN_WORKSPACE.complement(),
            },
            ..Self::for_sandbox(privilege)
        }
    }

    /// Whether each process gets a Landlock domain of its own.
    pub(in crate::process) fn has_domain(&self) -> bool {
        self.domain.is_some()
    }

    /// Restricts the calling thread permanently. Allocates nothing, and may run between `vfork` and `exec`.
    ///
    /// # Errors
    /// The kernel refuses a restriction.
    pub(super) fn apply(&self) -> io::Result<()> {
        set_no_new_privs(true)?;
        prevent_core_files()?;
        for capability in self.lost.iter() {
            // A kernel may not have the capability, and it may have been removed before.
            if capability_is_in_bounding_set(capability).unwrap_or(false) {
                remove_capability_from_bounding_set(capability)?;
            }
        }
        if !self.lost.is_empty() {
            let own = capabilities(None)?;
            set_capabilities(
                None,
                CapabilitySets {
                    effective: own.effective - self.lost,
                    permitted: own.permitted - self.lost,
                    inheritable: own.inheritable - self.lost,
                },
            )?;
        }
        if let Some(domain) = &self.domain {
            // SAFETY: a system call on plain numbers.
            let result =
                unsafe { libc::syscall(libc::SYS_landlock_restrict_self, domain.as_raw_fd(), 0) };
            if result != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        if self.filter.is_empty() {
            return Ok(());
        }
        system_call_filter::install(&self.filter)
    }
}

/// Creates the rules of a Landlock domain that permits all use of files. Its processes cannot inspect processes of
/// other domains, in `/proc` or otherwise, nor reach them in the ways of the `scopes`. `None` without Landlock, and
/// with its first version, whose domains forbid moving files to other directories.
fn create_domain(scopes: BitFlags<Scope>) -> Option<OwnedFd> {
    landlock_version().filter(|version| *version > 1)?;
    let moving: BitFlags<AccessFs> = AccessFs::Refer.into();
    let rules = Ruleset::default()
        .handle_access(moving)
        .and_then(|rules| rules.scope(scopes))
        .and_then(Ruleset::create)
        .and_then(|rules| {
            rules.add_rules(path_beneath_rules(
                ["/"],
                moving & AccessFs::from_all(LANDLOCK_VERSION),
            ))
        });
    rules.ok().and_then(Into::into)
}

/// Whether each call in a sandbox gets a Landlock domain, so that it cannot inspect processes outside it.
pub fn isolates_calls() -> bool {
    create_domain(Scope::AbstractUnixSocket.into()).is_some()
}

/// Returns the version of Landlock in the kernel; `None` without Landlock.
pub(in crate::process) fn landlock_version() -> Option<u32> {
    const QUERY_VERSION: u32 = 1;
    // SAFETY: with this flag the call reads no memory, and only returns a number.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::null::<u8>(),
            0_usize,
            QUERY_VERSION,
        )
    };
    u32::try_from(version).ok()
}
