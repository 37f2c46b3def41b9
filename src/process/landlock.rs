//! Landlock: rights on files, the network and other processes that a thread gives up for good,
//! for itself and for everything it starts. Raw system calls; what exists is asked from the kernel.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;

/// The rights that each version of the interface adds.
const FILE_RIGHTS: &[(u32, u64)] = &[
    // Up to making symbolic links.
    (1, (1 << 13) - 1),
    (2, REFER),
    (3, TRUNCATE),
    (5, IOCTL_DEV),
];

/// Binding and connecting TCP sockets.
const NETWORK_RIGHTS: &[(u32, u64)] = &[(4, 0b11)];

/// Abstract sockets of others, signals to others.
const SCOPES: &[(u32, u64)] = &[(6, 0b11)];

/// What may be done with the harmless devices.
const DEVICE_RIGHTS: u64 = WRITE_FILE | TRUNCATE | IOCTL_DEV;

/// Devices that take everything and keep nothing.
const HARMLESS_DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

#[repr(C)]
struct RulesetAttributes {
    handled_access_fs: u64,
    handled_access_net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed_access: u64,
    parent_fd: i32,
}

/// The version of the kernel's interface; `None` if it has none, or if it is switched off.
pub(super) fn abi() -> Option<u32> {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the call takes no attributes and only returns a number.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<RulesetAttributes>(),
            0_usize,
            VERSION,
        )
    };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Leaves the calling thread, which must have given up gaining privileges: reading and executing
/// everything, writing to the harmless devices, and anything in `writable`.
///
/// # Errors
/// The kernel refused, e.g. since too many restrictions lie upon each other (16).
pub(super) fn restrict(abi: u32, writable: Option<&Path>) -> io::Result<()> {
    let files = known(FILE_RIGHTS, abi);
    let ruleset = create(&RulesetAttributes {
        handled_access_fs: files,
        handled_access_net: known(NETWORK_RIGHTS, abi),
        scoped: known(SCOPES, abi),
    })?;
    allow(&ruleset, Path::new("/"), EXECUTE | READ_FILE | READ_DIR)?;
    for device in HARMLESS_DEVICES {
        // In a small container it may be missing.
        let _ = allow(&ruleset, Path::new(device), DEVICE_RIGHTS & files);
    }
    if let Some(directory) = writable {
        allow(&ruleset, directory, files & !IOCTL_DEV)?;
    }
    enter(&ruleset)
}

fn known(rights: &[(u32, u64)], abi: u32) -> u64 {
    rights
        .iter()
        .filter(|(since, _)| *since <= abi)
        .fold(0, |all, (_, rights)| all | rights)
}

fn create(attributes: &RulesetAttributes) -> io::Result<OwnedFd> {
    // SAFETY: the attributes are valid for their whole size; older kernels accept zeros in members
    // that they do not know.
    let descriptor = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::from_ref(attributes),
            size_of::<RulesetAttributes>(),
            0_u32,
        )
    };
    let descriptor = i32::try_from(checked(descriptor)?).map_err(io::Error::other)?;
    // SAFETY: a fresh descriptor that nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn allow(ruleset: &OwnedFd, path: &Path, allowed_access: u64) -> io::Result<()> {
    const PATH_BENEATH: u32 = 1;
    let place = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_CLOEXEC)
        .open(path)?;
    let rule = PathBeneath {
        allowed_access,
        parent_fd: place.as_raw_fd(),
    };
    // SAFETY: both descriptors are open and the rule lives to the end of the call.
    checked(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            PATH_BENEATH,
            &raw const rule,
            0_u32,
        )
    })?;
    Ok(())
}

fn enter(ruleset: &OwnedFd) -> io::Result<()> {
    // SAFETY: an open descriptor and no pointers.
    checked(unsafe {
        libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32)
    })?;
    Ok(())
}

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_handles_what_it_knows() {
        let rows = [
            (1, 0x1fff, 0, 0),
            (2, 0x3fff, 0, 0),
            (3, 0x7fff, 0, 0),
            (4, 0x7fff, 3, 0),
            (5, 0xffff, 3, 0),
            (6, 0xffff, 3, 3),
            (99, 0xffff, 3, 3),
        ];
        for (abi, files, network, scopes) in rows {
            let known = [FILE_RIGHTS, NETWORK_RIGHTS, SCOPES].map(|rights| known(rights, abi));
            assert_eq!(known, [files, network, scopes], "{abi}");
        }
    }
}
