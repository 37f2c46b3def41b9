//! Protects the memory and the environment of this process from other processes and from core files.

use std::ffi::{CStr, c_char};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};
#[cfg(sandbox)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Keeps other processes of the user from reading the memory, environment and descriptors of this process, in
/// `/proc` or as a debugger, and the kernel from writing a core file. Root can still read the memory.
///
/// An `exec` undoes this. Until then, the files of this process in `/proc` belong to root, including the id maps of its
/// user namespace: a process that enters a new namespace must call this after it has written the maps.
pub fn forbid_inspection() {
    // Fails only for an unknown behavior.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Moves the environment to other memory, and clears the memory that `/proc/<pid>/environ` shows, even to root. Does
/// nothing if this process has several threads, since another one may read the environment.
pub fn hide_environment() {
    unsafe extern "C" {
        static mut environ: *mut *mut c_char;
    }
    // A directory has two links, and one for each directory in it: here, for each thread.
    if !fs::metadata("/proc/self/task").is_ok_and(|threads| threads.nlink() == 3) {
        return;
    }
    // SAFETY: `environ` is null or a list that ends with a null pointer, of strings that end with a NUL byte, all in
    // writable memory. No other thread uses it, and nothing in this process has kept a pointer to a string: `std`
    // and the C library look variables up in the list each time. The copies are never freed.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            let copy = CStr::from_ptr(*entry).to_owned();
            let length = copy.as_bytes().len();
            let initial = std::mem::replace(&mut *entry, copy.into_raw());
            initial.write_bytes(0, length);
            entry = entry.add(1);
        }
    }
}

/// Sets the size limit of core files to 1 byte, at which the kernel neither writes one nor starts a program of the
/// system that handles them. At 0 the kernel would start that program. Where 0 is the maximum, the limit stays.
///
/// # Errors
/// The kernel refuses the limit.
#[cfg(sandbox)]
pub(super) fn prevent_core_files() -> rustix::io::Result<()> {
    if getrlimit(Resource::Core).maximum == Some(0) {
        return Ok(());
    }
    let limit = Rlimit {
        current: Some(1),
        maximum: Some(1),
    };
    setrlimit(Resource::Core, limit)
}
