//! Starting a child on other systems than Linux: by the standard library. The child gets its own process group, but stays in our session, and may inherit
//! descriptors that were open before this process began.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process;

use rustix::process::Pid;

use super::start::{Spawned, Start};

/// Nothing to keep between children.
#[derive(Debug)]
pub(super) struct Attributes;

impl Attributes {
    #[expect(clippy::unnecessary_wraps, reason = "the same shape as on Linux")]
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self)
    }
}

/// Starts the child, whose process id is also its group's. The caller has to wait for it.
///
/// # Errors
/// The directory cannot be entered, the program cannot be executed, or the system lacks something.
pub(super) fn spawn(_: &Attributes, start: &Start) -> io::Result<Spawned> {
    let mut arguments = start.arguments.texts();
    let mut command = process::Command::new(os_str(&start.program));
    if let Some(name) = arguments.next() {
        command.arg0(os_str(name));
    }
    command
        .args(arguments.map(os_str))
        .env_clear()
        .envs(start.environment.texts().filter_map(variable))
        .current_dir(os_str(&start.directory))
        .stdin(OwnedFd::try_clone(&start.ends.stdin)?)
        .stdout(start.ends.stdout.try_clone()?)
        .stderr(start.ends.stderr.try_clone()?)
        .process_group(0);
    // The handle does not wait when it is dropped.
    let child = command.spawn()?;
    let leader = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or(io::ErrorKind::Other)?;
    Ok(Spawned {
        leader,
        descriptor: None,
    })
}

fn os_str(text: &CStr) -> &OsStr {
    OsStr::from_bytes(text.to_bytes())
}

fn variable(text: &CStr) -> Option<(&OsStr, &OsStr)> {
    let bytes = text.to_bytes();
    let equals = memchr::memchr(b'=', bytes)?;
    let (name, value) = (&bytes[..equals], &bytes[equals + 1..]);
    Some((OsStr::from_bytes(name), OsStr::from_bytes(value)))
}
