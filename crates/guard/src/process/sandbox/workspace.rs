//! The file system of a workspace: everything is read-only but some directories, and temporary files are private.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    MountAttrFlags, OpenTreeFlags, UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount,
    fsopen, open_tree, unmount,
};

use super::mask_mounts::{attach, copy_tree, set_attributes};
use super::sandbox_error::SandboxError;
use crate::process::network::{Domains, Network, ProxyStarter};

/// What programs in a workspace can change.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// Existing directories: absolute, without links.
    pub writable: Vec<PathBuf>,
    /// A directory that takes the place of those for temporary files.
    pub temporary: PathBuf,
    /// What programs reach.
    pub network: Network,
    /// The domains, if it is those.
    pub domains: Domains,
    /// Starts the proxy of a run.
    pub start_proxy: Option<ProxyStarter>,
    /// Whether nothing runs if the kernel cannot enforce all of it.
    pub is_required: bool,
}

/// Directories for temporary files, whose place a private one takes.
const TEMPORARY_DIRECTORIES: [&str; 2] = ["/tmp", "/var/tmp"];

/// The directory of shared memory.
const SHARED_MEMORY: &str = "/dev/shm";

impl Workspace {
    /// Returns the path outside for a file in the directories for temporary files. The state of turnpipe, with results
    /// that are read, stays where it is, and so do files that exist only outside.
    pub(super) fn private_path(&self, path: &Path) -> Option<PathBuf> {
        let state = self.temporary.ancestors().nth(2)?;
        let mut visible = self.writable.iter().map(PathBuf::as_path).chain([state]);
        let mut replaced = TEMPORARY_DIRECTORIES.iter();
        let below = replaced.find_map(|directory| path.strip_prefix(directory).ok())?;
        let is_visible = visible.any(|directory| path.starts_with(directory));
        let private = self.temporary.join(below);
        let is_private = !is_visible && (private.exists() || !path.exists());
        is_private.then_some(private)
    }

    /// Whether a private directory hides a path.
    pub(super) fn hides(&self, path: &Path) -> bool {
        let is_below = |directory: &Path| path.starts_with(directory);
        let mut replaced = TEMPORARY_DIRECTORIES.iter().chain([&SHARED_MEMORY]);
        replaced.any(|directory| is_below(directory.as_ref()))
            && !self.writable.iter().any(|directory| is_below(directory))
    }

    /// Makes everything else read-only, in a mount namespace of this process.
    ///
    /// # Errors
    /// The kernel refuses a mount.
    pub(super) fn mount(&self) -> Result<(), SandboxError> {
        let failed = |path: &Path, error| {
            SandboxError::from_mount(&format!("make {} writable", path.display()), error)
        };
        // Copied before they are read-only and hidden.
        let copy = |path: &Path| {
            let flags = OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
            copy_tree(path, flags).map_err(|error| failed(path, error))
        };
        let private = TEMPORARY_DIRECTORIES.map(Path::new).into_iter();
        let private = private.filter(|path| path.is_dir());
        let private = private.map(|path| Ok((path, copy(&self.temporary)?)));
        let private = private.collect::<Result<Vec<_>, _>>()?;
        let writable = self.writable.iter().map(|path| Ok((&**path, copy(path)?)));
        let writable = writable.collect::<Result<Vec<_>, _>>()?;
        let read_only = || {
            let root = open_tree(CWD, "/", OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
            set_attributes(&root, MountAttrFlags::MOUNT_ATTR_RDONLY, true)
        };
        read_only().map_err(|error| SandboxError::from_mount("make files read-only", error))?;
        if Path::new(SHARED_MEMORY).is_dir() {
            let memory =
                create_shared_memory().and_then(|memory| attach(&memory, SHARED_MEMORY.as_ref()));
            memory.map_err(|error| failed(SHARED_MEMORY.as_ref(), error))?;
        }
        for (path, tree) in private {
            attach(&tree, path).map_err(|error| failed(path, error))?;
        }
        for (path, tree) in writable {
            // The private directory hides it: this makes a place for it there.
            if !path.exists() {
                let made = fs::create_dir_all(path);
                made.map_err(|error| SandboxError::new(format!("make {}", path.display()), error))?;
            }
            attach(&tree, path).map_err(|error| failed(path, error))?;
        }
        Ok(())
    }
}

/// Takes the private directory away from its places, so that it can be removed.
pub(super) fn unmount_temporary() {
    for path in TEMPORARY_DIRECTORIES {
        // It fails where there was no such directory.
        let _ = unmount(path, UnmountFlags::DETACH);
    }
}

fn create_shared_memory() -> rustix::io::Result<OwnedFd> {
    let file_system = fsopen("tmpfs", rustix::mount::FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [("mode", "1777"), ("source", "turnpipe")] {
        fsconfig_set_string(&file_system, key, value)?;
    }
    fsconfig_create(&file_system)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOSUID;
    let flags = rustix::mount::FsMountFlags::FSMOUNT_CLOEXEC;
    fsmount(file_system, flags, attributes)
}

/// The flag of an interface in use (`IFF_UP`).
const UP: libc::c_short = 1;

/// Turns on the loopback interface of a new network namespace.
///
/// # Errors
/// The kernel refuses.
pub(super) fn turn_on_loopback() -> rustix::io::Result<()> {
    let last = || Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL);
    // SAFETY: the request is plain data with a short name, and outlives the calls.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(last());
        }
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = from.cast_signed() as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = UP;
        let result = libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request);
        let result = if result == 0 { Ok(()) } else { Err(last()) };
        libc::close(socket);
        result
    }
}
