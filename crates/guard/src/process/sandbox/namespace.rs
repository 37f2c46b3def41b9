//! Creates the namespaces of a sandbox.
//!
//! Only a process with one thread can create a user namespace, so this binary starts itself again as a helper, which
//! enters the namespaces and mounts the masks. Then it becomes a command, or waits until its parent has opened the
//! namespaces.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::UnshareFlags;

use super::mask::Mask;
use super::mask_mounts::MaskMounter;
use super::privilege::Privilege;
use super::sandbox_error::SandboxError;
use super::workspace::{Workspace, turn_on_loopback};
use crate::process::network::{Network, PROXY_PORT};

/// The restrictions of a sandbox on the file system and the network.
#[derive(Debug, Clone, Default)]
pub struct SandboxPolicy {
    /// The masks, in the order in which they are mounted.
    pub masks: Vec<Mask>,
    /// The workspace; `None` if all files without a mask can be changed.
    pub workspace: Option<Workspace>,
}

/// Maximum number of masks. A mount takes 20 microseconds, and Linux permits 100,000 in a namespace.
pub const MAX_MASKS: usize = 20_000;

impl SandboxPolicy {
    /// Checks the number of masks.
    ///
    /// # Errors
    /// There are more than [`MAX_MASKS`]. For root, each file of a directory has its own.
    fn check_size(&self) -> Result<(), SandboxError> {
        match self.masks.len() {
            ..=MAX_MASKS => Ok(()),
            count => Err(SandboxError::from_message(&format!(
                "cannot mask {count} files, only {MAX_MASKS}; use rules that name fewer files"
            ))),
        }
    }

    /// Returns the servers that programs can reach.
    pub(super) fn network(&self) -> Network {
        let workspace = self.workspace.as_ref();
        workspace.map_or(Network::On, |workspace| workspace.network)
    }
}

/// Moves this process, which must have one thread, to new namespaces with the masks of a policy. Masks of sockets that
/// no longer exist are skipped. Returns the listening socket of the proxy, if the policy has one.
///
/// # Errors
/// The kernel refuses a namespace or a mount, there are too many masks, or a file to mask was moved, replaced or
/// removed.
pub(super) fn enter_sandbox(
    privilege: Privilege,
    policy: &SandboxPolicy,
) -> Result<Option<TcpListener>, SandboxError> {
    policy.check_size()?;
    let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
    let workspace = policy.workspace.as_ref();
    let network = policy.network();
    unshare(privilege, UnshareFlags::NEWNS)?;
    if workspace.is_some() {
        unshare(Privilege::Root, UnshareFlags::NEWIPC)?;
    }
    if network != Network::On {
        unshare(Privilege::Root, UnshareFlags::NEWNET)?;
    }
    if privilege == Privilege::User {
        for (name, map) in [
            ("setgroups", "deny".to_owned()),
            ("uid_map", format!("{user} {user} 1")),
            ("gid_map", format!("{group} {group} 1")),
        ] {
            let path = format!("/proc/self/{name}");
            std::fs::write(&path, map)
                .map_err(|error| SandboxError::new(format!("write {path}"), error))?;
        }
    }
    if network != Network::On {
        turn_on_loopback().map_err(|error| SandboxError::new("turn on loopback", error))?;
    }
    let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT));
    let bound = (network == Network::Domains).then(listen).transpose();
    let listener = bound.map_err(|error| SandboxError::new("listen for the proxy", error))?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|error| SandboxError::new("make mounts private", error))?;
    if let Some(workspace) = workspace {
        workspace.mount()?;
    }
    let is_hidden = |path: &Path| workspace.is_some_and(|workspace| workspace.hides(path));
    let mut mounter = MaskMounter::new(&is_hidden);
    for mask in &policy.masks {
        mounter.mount(mask).map_err(|error| {
            let step = format!("mask {}", mask.path.display());
            match error {
                Errno::STALE => SandboxError::file_moved(&mask.path),
                error => SandboxError::from_mount(&step, error),
            }
        })?;
    }
    Ok(listener)
}

/// Moves this process to a new namespace; for an ordinary user together with a user namespace, in which the process has
/// all capabilities.
pub(super) fn unshare(privilege: Privilege, flag: UnshareFlags) -> Result<(), SandboxError> {
    let name = match (privilege, flag) {
        (Privilege::User, _) => "user",
        (_, UnshareFlags::NEWIPC) => "ipc",
        (_, UnshareFlags::NEWNET) => "network",
        (_, UnshareFlags::NEWPID) => "pid",
        _ => "mount",
    };
    let flags = match privilege {
        Privilege::User => UnshareFlags::NEWUSER | flag,
        Privilege::Root => flag,
    };
    // SAFETY: the descriptors stay as they are; only namespaces change, and this process has one thread.
    unsafe { rustix::thread::unshare_unsafe(flags) }
        .map_err(|error| SandboxError::new(format!("create a {name} namespace"), error))
}
