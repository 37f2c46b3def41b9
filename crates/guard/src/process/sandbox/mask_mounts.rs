//! Mounts masks over files, with the mount system calls of Linux 5.12.

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

/// The attributes of mounts over files that cannot be read.
const UNREADABLE_ATTRIBUTES: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_RDONLY
    .union(MountAttrFlags::MOUNT_ATTR_NODEV)
    .union(MountAttrFlags::MOUNT_ATTR_NOEXEC)
    .union(MountAttrFlags::MOUNT_ATTR_NOSUID);

/// Mounts masks. Further masks of a kind are copies of the first one.
pub(super) struct MaskMounter<'a> {
    /// Predicate for paths that a private directory hides.
    is_hidden: &'a dyn Fn(&Path) -> bool,
    /// The first mask of a file that cannot be read.
    file: Option<OwnedFd>,
    /// The first mask of a directory that cannot be read.
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

    /// Mounts a mask, unless its path has vanished.
    ///
    /// # Errors
    /// [`Errno::STALE`] if another file has the path, or other errors of the kernel.
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
            if (facts.st_dev, facts.st_ino) != (file.device, file.inode) {
                return Err(Errno::STALE);
            }
        }
        let (create, first) = match mask.kind {
            MaskKind::Pinned | MaskKind::Unchangeable => {
                let flags = OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::AT_EMPTY_PATH;
                let Some(copy) = ok_if_missing(copy_mount(&target, flags))? else {
                    return Ok(());
                };
                if mask.kind == MaskKind::Unchangeable {
                    set_attributes(&copy, MountAttrFlags::MOUNT_ATTR_RDONLY, libc::AT_RECURSIVE)?;
                }
                ok_if_missing(attach_over(&copy, &target))?;
                return Ok(());
            }
            MaskKind::UnreadableFile => (unreadable_file as fn() -> _, &mut self.file),
            MaskKind::UnreadableDirectory => {
                self.unreadable.push(mask.path.clone());
                (unreadable_directory as fn() -> _, &mut self.directory)
            }
        };
        // The first mask is gone if its file was removed outside this namespace.
        if let Some(first) = first
            && let Ok(copy) = copy_mount(first, OpenTreeFlags::AT_EMPTY_PATH)
        {
            ok_if_missing(attach_over(&copy, &target))?;
            return Ok(());
        }
        let tree = create()?;
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

/// Converts the error for a missing path to `None`.
fn ok_if_missing<T>(result: rustix::io::Result<T>) -> rustix::io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Copies the mount at an open file of this namespace.
fn copy_mount(file: &OwnedFd, flags: OpenTreeFlags) -> rustix::io::Result<OwnedFd> {
    let copy = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    open_tree(file, "", flags | copy)
}

/// Attaches a mount over an open file, even if the file was moved.
fn attach_over(tree: &OwnedFd, target: &OwnedFd) -> rustix::io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, "", target, "", flags)
}

/// Creates a mount of a device that no process can open. Root could read a file without permissions. The mount is
/// read-only, since a change of the mode would affect the real device.
fn unreadable_file() -> rustix::io::Result<OwnedFd> {
    let device = copy_tree(Path::new("/dev/null"), OpenTreeFlags::empty())?;
    set_attributes(&device, UNREADABLE_ATTRIBUTES, 0)?;
    Ok(device)
}

/// Creates a mount of an empty directory that only root can read.
fn unreadable_directory() -> rustix::io::Result<OwnedFd> {
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

/// Copies the mount at a path.
pub(super) fn copy_tree(path: &Path, flags: OpenTreeFlags) -> rustix::io::Result<OwnedFd> {
    let copy = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    open_tree(CWD, path, flags | copy)
}

/// Attaches a mount at a path.
pub(super) fn attach(tree: &OwnedFd, path: &Path) -> rustix::io::Result<()> {
    move_mount(tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// Sets attributes of a mount, and with the flag `AT_RECURSIVE` of those below it. Other attributes stay, including
/// those that a user namespace must not clear.
pub(super) fn set_attributes(
    tree: &OwnedFd,
    attributes: MountAttrFlags,
    flags: libc::c_int,
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
    // SAFETY: the path is a string, and the change outlives the call, which reads as many bytes as it has.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | flags,
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

/// Mounts the `/proc` of the pid namespace of this process.
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
        set_attributes(&copy, MountAttrFlags::MOUNT_ATTR_RDONLY, libc::AT_RECURSIVE)?;
        attach(&copy, path)?;
    }
    Ok(())
}
