//! A mount namespace in which files are masked: no program in it can open them, or change them.
//!
//! Only a process with one thread can create a user namespace, so this binary starts itself again as a helper
//! ([`run_as_sandbox_helper`]). The helper reads the masks, enters the namespaces and mounts the masks. Then it
//! becomes a command, or waits until its parent has opened the namespaces ([`MaskedNamespace`]).

use std::ffi::OsStr;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};

use super::mounts::MaskSources;
use super::workspace::{Workspace, turn_on_loopback};
use crate::process::network::{Network, PROXY_PORT};

/// What a process in a sandbox sees of the file system and the network.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// The masks, in the order in which they are mounted.
    pub masks: Vec<Mask>,
    /// `None` if all files can be changed that no mask is over.
    pub workspace: Option<Workspace>,
}

impl Policy {
    pub(super) fn network(&self) -> Network {
        let workspace = self.workspace.as_ref();
        workspace.map_or(Network::On, |workspace| workspace.network)
    }
}

/// What programs in the namespace cannot do with a file or directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mask {
    /// What it prevents.
    pub kind: MaskKind,
    /// The path: absolute, without links.
    pub path: PathBuf,
}

/// What a mask prevents, in the order in which masks are mounted: the copy of a directory that cannot change would
/// hide masks in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MaskKind {
    /// Moving or removing a directory.
    Pinned,
    /// Changing a file, or everything in a directory.
    Unchangeable,
    /// Reading a directory and everything in it. Root reads directories of any mode, so it gets masks of files.
    UnreadableDirectory,
    /// Reading a file, or connecting to a socket.
    UnreadableFile,
}

impl MaskKind {
    /// The letter of each kind in the list that a helper reads.
    const LETTERS: [(u8, Self); 4] = [
        (b'p', Self::Pinned),
        (b'c', Self::Unchangeable),
        (b'd', Self::UnreadableDirectory),
        (b'f', Self::UnreadableFile),
    ];

    pub(super) fn letter(self) -> u8 {
        let row = Self::LETTERS.iter().find(|(_, kind)| *kind == self);
        row.map_or(0, |(letter, _)| *letter)
    }

    pub(super) fn of_letter(letter: u8) -> Option<Self> {
        let row = Self::LETTERS.iter().find(|(known, _)| *known == letter);
        row.map(|(_, kind)| *kind)
    }
}

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

    pub(super) fn of_name(name: &OsStr) -> Option<Self> {
        let row = Self::NAMES.iter().find(|(known, _)| name == *known);
        row.map(|(_, privilege)| *privilege)
    }

    /// Returns the way of this process.
    pub fn of_process() -> Self {
        let is_admin =
            |own: &rustix::thread::CapabilitySets| own.effective.contains(CapabilitySet::SYS_ADMIN);
        match capabilities(None) {
            Ok(own) if is_admin(&own) => Self::Root,
            _ => Self::User,
        }
    }
}

/// A step of entering a sandbox failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SandboxError {
    message: String,
}

impl SandboxError {
    pub(super) fn new(step: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::reported(&format!("cannot {}: {}", step.into(), source.into()))
    }

    /// A mount of the new interface failed.
    pub(super) fn of_mount(step: &str, error: Errno) -> Self {
        if error == Errno::NOSYS {
            return Self::reported(&format!("cannot {step}: this needs Linux 5.12 or newer"));
        }
        Self::new(step, error)
    }

    /// Converts the message of a helper.
    pub(super) fn reported(message: &str) -> Self {
        Self {
            message: message.to_owned(),
        }
    }
}

/// Moves this process, which must have one thread, to new namespaces, as a policy says. A masked file that no longer
/// exists is skipped. Returns the socket for clients of a proxy, if the policy has one.
///
/// # Errors
/// The kernel refuses a namespace or a mount.
pub(super) fn enter(
    privilege: Privilege,
    policy: &Policy,
) -> Result<Option<TcpListener>, SandboxError> {
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
        let (user, group) = (user.as_raw(), group.as_raw());
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
    let listener = (network == Network::Domains).then(listen).transpose();
    let listener = listener.map_err(|error| SandboxError::new("listen for the proxy", error))?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|error| SandboxError::new("make mounts private", error))?;
    if let Some(workspace) = workspace {
        workspace.mount()?;
    }
    let mut sources = MaskSources::default();
    for mask in &policy.masks {
        match sources.mount(mask) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => {
                let step = format!("mask {}", mask.path.display());
                return Err(SandboxError::of_mount(&step, error));
            }
        }
    }
    Ok(listener)
}

/// Creates a namespace; for an ordinary user together with a user namespace, in which it has all capabilities.
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
