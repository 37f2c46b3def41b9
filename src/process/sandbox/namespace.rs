//! A mount namespace in which files are masked: no program in it can open them, or change them.
//!
//! Only a process with one thread can create a user namespace, so this binary starts itself again as a helper
//! ([`run_as_sandbox_helper`]). The helper reads the masks, enters the namespaces and mounts the masks. Then it
//! becomes a command, or waits until its parent has opened the namespaces ([`MaskedNamespace`]).

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount,
    open_tree,
};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};

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
    /// Changing a file, or everything in a directory.
    Unchangeable,
    /// Reading a directory and everything in it. Root reads directories of any mode, so it gets masks of files.
    UnreadableDirectory,
    /// Reading a file, or connecting to a socket.
    UnreadableFile,
}

impl MaskKind {
    /// The letter of each kind in the list that a helper reads.
    const LETTERS: [(u8, Self); 3] = [
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
    fn of_mount(mask: &Mask, error: Errno) -> Self {
        let step = format!("mask {}", mask.path.display());
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

/// Moves this process, which must have one thread, to a new mount namespace with these masks, in order. A masked file
/// that no longer exists is skipped.
///
/// # Errors
/// The kernel refuses a namespace or a mount.
pub(super) fn enter(privilege: Privilege, masks: &[Mask]) -> Result<(), SandboxError> {
    let ids = (rustix::process::getuid(), rustix::process::getgid());
    let (flags, step) = match privilege {
        Privilege::User => (
            UnshareFlags::NEWUSER | UnshareFlags::NEWNS,
            "create a user namespace",
        ),
        Privilege::Root => (UnshareFlags::NEWNS, "create a mount namespace"),
    };
    // SAFETY: the descriptors stay as they are; only namespaces change, and this process has one thread.
    unsafe { rustix::thread::unshare_unsafe(flags) }
        .map_err(|error| SandboxError::new(step, error))?;
    if privilege == Privilege::User {
        let (user, group) = (ids.0.as_raw(), ids.1.as_raw());
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
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|error| SandboxError::new("make mounts private", error))?;
    let mut sources = MaskSources::default();
    for mask in masks {
        match sources.mount(mask) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => return Err(SandboxError::of_mount(mask, error)),
        }
    }
    Ok(())
}

/// The attributes of mounts over what cannot be read.
const UNREADABLE: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_RDONLY
    .union(MountAttrFlags::MOUNT_ATTR_NODEV)
    .union(MountAttrFlags::MOUNT_ATTR_NOEXEC)
    .union(MountAttrFlags::MOUNT_ATTR_NOSUID);

/// The paths of the first masks of a kind, from which others are copied.
#[derive(Debug, Default)]
struct MaskSources<'a> {
    file: Option<&'a Path>,
    directory: Option<&'a Path>,
}

impl<'a> MaskSources<'a> {
    fn mount(&mut self, mask: &'a Mask) -> rustix::io::Result<()> {
        let path = &*mask.path;
        let (source, first) = match mask.kind {
            MaskKind::Unchangeable => {
                let flags = OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
                let copy = copy_tree(path, flags)?;
                set_attributes(&copy, MountAttrFlags::MOUNT_ATTR_RDONLY, true)?;
                return attach(&copy, path);
            }
            MaskKind::UnreadableFile => (unreadable_file as fn() -> _, &mut self.file),
            MaskKind::UnreadableDirectory => {
                (unreadable_directory as fn() -> _, &mut self.directory)
            }
        };
        if let Some(first) = first {
            return attach(&copy_tree(first, OpenTreeFlags::empty())?, path);
        }
        attach(&source()?, path)?;
        *first = Some(path);
        Ok(())
    }
}

/// Returns a device that nobody can open. Not a file without permissions: root could read it. Read-only, since a
/// change of its mode would reach the real device.
fn unreadable_file() -> rustix::io::Result<OwnedFd> {
    let device = copy_tree(Path::new("/dev/null"), OpenTreeFlags::empty())?;
    set_attributes(&device, UNREADABLE, false)?;
    Ok(device)
}

/// Returns an empty directory that only root can read.
fn unreadable_directory() -> rustix::io::Result<OwnedFd> {
    let file_system = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [("mode", "0"), ("size", "4096"), ("source", "turnpipe")] {
        fsconfig_set_string(file_system.as_fd(), key, value)?;
    }
    fsconfig_create(file_system.as_fd())?;
    fsmount(
        file_system.as_fd(),
        FsMountFlags::FSMOUNT_CLOEXEC,
        UNREADABLE,
    )
}

fn copy_tree(path: &Path, flags: OpenTreeFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    open_tree(CWD, path, flags)
}

fn attach(tree: &OwnedFd, path: &Path) -> rustix::io::Result<()> {
    move_mount(tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// Sets attributes of a mount, and of those below it if `is_recursive`. Others stay, also those that a user namespace
/// must not clear.
fn set_attributes(
    tree: &OwnedFd,
    attributes: MountAttrFlags,
    is_recursive: bool,
) -> rustix::io::Result<()> {
    /// `struct mount_attr` of the kernel.
    #[repr(C)]
    struct Change {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let change = Change {
        set: attributes.bits().into(),
        clear: 0,
        propagation: 0,
        user_namespace: 0,
    };
    let recursion = if is_recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a string, and the change outlives the call, which reads as many bytes as it has.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | recursion,
            &raw const change,
            size_of_val(&change),
        )
    };
    if result == 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL))
}
