//! Starts a child with `posix_spawn`: a new session and group, default signals, an empty mask, its
//! directory, and its own descriptors only. The child inherits kernel restrictions of the calling thread.

use std::ffi::{CString, c_char, c_int};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Once;
use std::time::Duration;
use std::{io, ptr};

use rustix::process::Pid;

use super::start::Start;

/// Maximum number of attempts to start a program that is open for writing: a child of another thread between fork and
/// exec may hold it for a moment, and so may the call that wrote it.
const MAX_BUSY_ATTEMPTS: u32 = 6;

#[cfg(target_os = "linux")]
const OWN_SESSION: c_int = libc::POSIX_SPAWN_SETSID as c_int;

/// Other systems only support a process group of its own.
#[cfg(not(target_os = "linux"))]
const OWN_SESSION: c_int = libc::POSIX_SPAWN_SETPGROUP;

/// Starts a child in a group and session with its process id. The caller must wait for it.
///
/// # Errors
/// The directory cannot be entered, the program cannot be executed, or resources are exhausted.
pub(super) fn spawn(start: &Start) -> io::Result<Pid> {
    retry_busy(|| spawn_once(start))
}

/// Calls `spawn_once` until the program of the child is not open for writing, at most [`MAX_BUSY_ATTEMPTS`] times.
///
/// # Errors
/// As `spawn_once`.
pub(super) fn retry_busy(spawn_once: impl Fn() -> io::Result<Pid>) -> io::Result<Pid> {
    // Static, since the action of a signal belongs to the whole process.
    static ONCE: Once = Once::new();
    ONCE.call_once(make_children_waitable);
    let mut pause = Duration::from_millis(1);
    for _ in 1..MAX_BUSY_ATTEMPTS {
        match spawn_once() {
            Err(error) if error.raw_os_error() == Some(libc::ETXTBSY) => {
                std::thread::sleep(pause);
                pause *= 2;
            }
            result => return result,
        }
    }
    spawn_once()
}

fn spawn_once(start: &Start) -> io::Result<Pid> {
    let attributes = Attributes::new()?;
    let mut actions = FileActions::new()?;
    for (to, from) in start.ends.descriptors() {
        actions.duplicate(from.as_raw_fd(), to)?;
    }
    actions.change_directory(&start.directory)?;
    let arguments = to_pointers(&start.arguments);
    let environment = to_pointers(&start.environment);
    close_on_exec();
    let mut pid = 0;
    // SAFETY: attributes and actions are initialised; the strings, and their lists, which end with a null
    // pointer, outlive the call.
    check(unsafe {
        libc::posix_spawn(
            &raw mut pid,
            start.program.as_ptr(),
            &raw const actions.0,
            &raw const attributes.0,
            arguments.as_ptr(),
            environment.as_ptr(),
        )
    })?;
    Pid::from_raw(pid).ok_or_else(|| io::ErrorKind::Other.into())
}

/// The attributes of every child.
struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new() -> io::Result<Self> {
        let bits = OWN_SESSION | libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
        let flags = bits.try_into().map_err(io::Error::other)?;
        let mut all = MaybeUninit::uninit();
        let mut none = MaybeUninit::uninit();
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: each set and the attributes are initialised before their use.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::sigemptyset(none.as_mut_ptr());
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            let mut attributes = Self(attributes.assume_init());
            let inner = &raw mut attributes.0;
            check(libc::posix_spawnattr_setflags(inner, flags))?;
            check(libc::posix_spawnattr_setsigdefault(inner, all.as_ptr()))?;
            check(libc::posix_spawnattr_setsigmask(inner, none.as_ptr()))?;
            Ok(attributes)
        }
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: they are initialised, and not used again.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

/// The actions of a child before it runs its program.
struct FileActions(libc::posix_spawn_file_actions_t);

impl FileActions {
    fn new() -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: a successful call initialises the actions.
        unsafe {
            check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            Ok(Self(actions.assume_init()))
        }
    }

    /// Duplicates our descriptor `from` as `to` in the child.
    fn duplicate(&mut self, from: RawFd, to: RawFd) -> io::Result<()> {
        // SAFETY: the actions are initialised, and only store the numbers.
        check(unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut self.0, from, to) })
    }

    /// Changes the directory of the child.
    fn change_directory(&mut self, directory: &CString) -> io::Result<()> {
        let path = directory.as_ptr();
        // SAFETY: the actions are initialised; the call copies the path.
        check(unsafe { libc::posix_spawn_file_actions_addchdir_np(&raw mut self.0, path) })
    }
}

impl Drop for FileActions {
    fn drop(&mut self) {
        // SAFETY: they are initialised, and not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

/// Converts the result of a function that returns an error number.
fn check(error: c_int) -> io::Result<()> {
    match error {
        0 => Ok(()),
        number => Err(io::Error::from_raw_os_error(number)),
    }
}

/// Returns pointers to the strings and a null pointer. They are valid as long as `strings`.
pub(super) fn to_pointers(strings: &[CString]) -> Vec<*mut c_char> {
    let pointers = strings.iter().map(|string| string.as_ptr().cast_mut());
    pointers.chain([ptr::null_mut()]).collect()
}

/// Sets close-on-exec on the descriptors that this process inherited; all others have it already. Before
/// Linux 5.11, and on other systems, children inherit those.
pub(super) fn close_on_exec() {
    #[cfg(target_os = "linux")]
    // SAFETY: a system call on plain numbers, which closes nothing in this process.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
    }
}

/// Resets SIGCHLD. If this process inherited it as ignored, the kernel would discard every exit status.
fn make_children_waitable() {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action the call only returns the current one, which is read if the call
    // succeeded; the default action installs no handler.
    unsafe {
        if libc::sigaction(libc::SIGCHLD, ptr::null(), action.as_mut_ptr()) != 0 {
            return;
        }
        let mut action = action.assume_init();
        if action.sa_sigaction == libc::SIG_IGN || action.sa_flags & libc::SA_NOCLDWAIT != 0 {
            action.sa_sigaction = libc::SIG_DFL;
            action.sa_flags = 0;
            libc::sigaction(libc::SIGCHLD, &raw const action, ptr::null_mut());
        }
    }
}
