//! The file system of a workspace: files are read-only except in some directories, and temporary files are private.

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

/// The files that programs in a workspace can change, and the servers that they can reach.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// Existing directories that programs can change: absolute, without links.
    pub writable: Vec<PathBuf>,
    /// The private directory that replaces those for temporary files.
    pub temporary: PathBuf,
    /// The servers that programs can reach.
    pub network: Network,
    /// The domains for [`Network::Domains`].
    pub domains: Domains,
    /// Starts the proxy of a run.
    pub start_proxy: Option<ProxyStarter>,
    /// Whether nothing runs if the kernel cannot enforce all of it.
    pub is_required: bool,
}

/// Directories for temporary files, which a private one replaces.
const TEMPORARY_DIRECTORIES: [&str; 2] = ["/tmp", "/var/tmp"];

/// The directory of shared memory.
const SHARED_MEMORY: &str = "/dev/shm";

impl Workspace {
    /// Returns the path outside the workspace of a private temporary file. `None` for other files, for the state of
    /// turnpipe, and for files that exist only outside.
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

    /// Makes all other files read-only, in the mount namespace of this process.
    ///
    /// # Errors
    /// The kernel refuses a mount.
    pub(super) fn mount(&self) -> Result<(), SandboxError> {
        let describe = |path: &Path, error| {
            SandboxError::from_mount(&format!("make {} writable", path.display()), error)
        };
        // The trees are copied before they are read-only and hidden.
        let copy = |path: &Path| {
            let flags = OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
            copy_tree(path, flags).map_err(|error| describe(path, error))
        };
        let replaced = TEMPORARY_DIRECTORIES.map(Path::new).into_iter();
        let existing = replaced.filter(|path| path.is_dir());
        let private_copies = existing.map(|path| Ok((path, copy(&self.temporary)?)));
        let private = private_copies.collect::<Result<Vec<_>, _>>()?;
        let writable_copies = self.writable.iter().map(|path| Ok((&**path, copy(path)?)));
        let writable = writable_copies.collect::<Result<Vec<_>, _>>()?;
        let protect = || {
            let root = open_tree(CWD, "/", OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
            set_attributes(&root, MountAttrFlags::MOUNT_ATTR_RDONLY, libc::AT_RECURSIVE)
        };
        protect().map_err(|error| SandboxError::from_mount("make files read-only", error))?;
        if Path::new(SHARED_MEMORY).is_dir() {
            let memory = shared_memory().and_then(|memory| attach(&memory, SHARED_MEMORY.as_ref()));
            memory.map_err(|error| describe(SHARED_MEMORY.as_ref(), error))?;
        }
        for (path, tree) in private {
            attach(&tree, path).map_err(|error| describe(path, error))?;
        }
        for (path, tree) in writable {
            // The private directory hides the path, so a mount point is created in it.
            if !path.exists() {
                let made = fs::create_dir_all(path);
                made.map_err(|error| SandboxError::new(format!("make {}", path.display()), error))?;
            }
            attach(&tree, path).map_err(|error| describe(path, error))?;
        }
        Ok(())
    }
}

/// Unmounts the private directory, so that it can be removed.
pub(super) fn unmount_temporary() {
    for path in TEMPORARY_DIRECTORIES {
        // Fails for a directory that does not exist.
        let _ = unmount(path, UnmountFlags::DETACH);
    }
}

/// Creates an empty file system for shared memory.
fn shared_memory() -> rustix::io::Result<OwnedFd> {
    let file_system = fsopen("tmpfs", rustix::mount::FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [("mode", "1777"), ("source", "turnpipe")] {
        fsconfig_set_string(&file_system, key, value)?;
    }
    fsconfig_create(&file_system)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOSUID;
    let flags = rustix::mount::FsMountFlags::FSMOUNT_CLOEXEC;
    fsmount(file_system, flags, attributes)
}

/// The flag of an active interface (`IFF_UP`).
const INTERFACE_UP: libc::c_short = 1;

/// Turns on the loopback interface of a new network namespace.
///
/// # Errors
/// The kernel refuses.
pub(super) fn turn_on_loopback() -> rustix::io::Result<()> {
    let error = || Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL);
    // SAFETY: the request is plain data with a short name, and outlives the calls.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(error());
        }
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = from.cast_signed() as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = INTERFACE_UP;
        let status = libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request);
        let result = if status == 0 { Ok(()) } else { Err(error()) };
        libc::close(socket);
        result
    }
}

/// Returns the paths that are not below others, sorted.
pub(super) fn keep_outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort_unstable();
    paths.dedup_by(|next, above| next.starts_with(above));
    paths
}

/// Returns the message about a new file that determines what programs run.
pub fn new_file_message(path: &Path) -> String {
    let path = path.display();
    format!("new, and tells other programs what to run: {path}")
}
