//! Mounts over files, by the interface of Linux 5.12.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, fstat, open};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use super::mask::{Mask, MaskKind};
use super::privilege::Privilege;

/// The attributes of mounts over what cannot be read.
const UNREADABLE_ATTRIBUTES: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_RDONLY
    .union(MountAttrFlags::MOUNT_ATTR_NODEV)
    .union(MountAttrFlags::MOUNT_ATTR_NOEXEC)
    .union(MountAttrFlags::MOUNT_ATTR_NOSUID);

/// The first masks of a kind, from which others are copied.
pub(super) struct MaskMounter<'a> {
    /// Whether a private directory hides a path.
    is_hidden: &'a dyn Fn(&Path) -> bool,
    file: Option<OwnedFd>,
    directory: Option<OwnedFd>,
    /// The directories that cannot be read.
    unreadable: Vec<PathBuf>,
}

impl<'a> MaskMounter<'a> {
    pub(super) fn new(is_hidden: &'a dyn Fn(&Path) -> bool) -> Self {
        Self {
            is_hidden,
            file: None,
            directory: None,
            unreadable: Vec::new(),
        }
    }

    /// Mounts a mask, unless its path has vanished. The error [`Errno::STALE`] means that its file has another name.
    pub(super) fn mount(&mut self, mask: &Mask) -> rustix::io::Result<()> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Some(target) = ok_if_missing(open(&mask.path, flags, Mode::empty()))? else {
            return match mask.file {
                Some(_) if !self.hides(&mask.path) => Err(Errno::STALE),
                _ => Ok(()),
            };
        };
        if let Some(file) = mask.file
            && !self.hides(&mask.path)
        {
            let facts = fstat(&target)?;
            if (facts.st_dev, facts.st_ino) != file {
                return Err(Errno::STALE);
            }
        }
        let (source, first) = match mask.kind {
            MaskKind::Pinned | MaskKind::Unchangeable => {
                let flags = OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::AT_EMPTY_PATH;
                let Some(copy) = ok_if_missing(copy_mount(&target, flags))? else {
                    return Ok(());
                };
                if mask.kind == MaskKind::Unchangeable {
                    set_attributes(&copy, MountAttrFlags::MOUNT_ATTR_RDONLY, true)?;
                }
                ok_if_missing(attach_over(&copy, &target))?;
                return Ok(());
            }
            MaskKind::UnreadableFile => (create_unreadable_file as fn() -> _, &mut self.file),
            MaskKind::UnreadableDirectory => {
                self.unreadable.push(mask.path.clone());
                (
                    create_unreadable_directory as fn() -> _,
                    &mut self.directory,
                )
            }
        };
        // The first mask is gone if its file was removed outside of this namespace.
        let copied = first
            .as_ref()
            .map(|first| copy_mount(first, OpenTreeFlags::AT_EMPTY_PATH));
        if let Some(Ok(copy)) = copied {
            ok_if_missing(attach_over(&copy, &target))?;
            return Ok(());
        }
        let tree = source()?;
        if ok_if_missing(attach_over(&tree, &target))?.is_some() {
            *first = Some(tree);
        }
        Ok(())
    }

    /// Whether another mount hides a path.
    fn hides(&self, path: &Path) -> bool {
        let is_below = |directory: &PathBuf| path != directory && path.starts_with(directory);
        (self.is_hidden)(path) || self.unreadable.iter().any(is_below)
    }
}

/// Returns `None` if a path does not exist.
fn ok_if_missing<T>(result: rustix::io::Result<T>) -> rustix::io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Copies what an open file of this namespace is on.
fn copy_mount(file: &OwnedFd, flags: OpenTreeFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    open_tree(file, "", flags)
}

/// Mounts over an open file, wherever it is by now.
fn attach_over(tree: &OwnedFd, target: &OwnedFd) -> rustix::io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, "", target, "", flags)
}

/// Returns a device that nobody can open. Not a file without permissions: root could read it. Read-only, since a
/// change of its mode would reach the real device.
fn create_unreadable_file() -> rustix::io::Result<OwnedFd> {
    let device = copy_tree(Path::new("/dev/null"), OpenTreeFlags::empty())?;
    set_attributes(&device, UNREADABLE_ATTRIBUTES, false)?;
    Ok(device)
}

/// Returns an empty directory that only root can read.
fn create_unreadable_directory() -> rustix::io::Result<OwnedFd> {
    let file_system = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [("mode", "0"), ("size", "4096"), ("source", "turnpipe")] {
        fsconfig_set_string(file_system.as_fd(), key, value)?;
    }
    fsconfig_create(file_system.as_fd())?;
    fsmount(
        file_system.as_fd(),
        FsMountFlags::FSMOUNT_CLOEXEC,
        UNREADABLE_ATTRIBUTES,
    )
}

pub(super) fn copy_tree(path: &Path, flags: OpenTreeFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    open_tree(CWD, path, flags)
}

pub(super) fn attach(tree: &OwnedFd, path: &Path) -> rustix::io::Result<()> {
    move_mount(tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// Sets attributes of a mount, and of those below it if `is_recursive`. Others stay, also those that a user namespace
/// must not clear.
pub(super) fn set_attributes(
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

/// Parts of `/proc` through which root could change the kernel.
const PROC_SETTINGS: [&str; 3] = ["/proc/sys", "/proc/sysrq-trigger", "/proc/bus"];

/// Mounts the `/proc` of this process's pid namespace.
pub(super) fn mount_proc(privilege: Privilege) -> rustix::io::Result<()> {
    let file_system = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(file_system.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC
        | MountAttrFlags::MOUNT_ATTR_NOSUID;
    let mounted = fsmount(
        file_system.as_fd(),
        FsMountFlags::FSMOUNT_CLOEXEC,
        attributes,
    )?;
    attach(&mounted, Path::new("/proc"))?;
    let settings = PROC_SETTINGS.map(Path::new).into_iter();
    for path in settings.filter(|path| privilege == Privilege::Root && path.exists()) {
        let copy = copy_tree(path, OpenTreeFlags::AT_RECURSIVE)?;
        set_attributes(&copy, MountAttrFlags::MOUNT_ATTR_RDONLY, true)?;
        attach(&copy, path)?;
    }
    Ok(())
}
