//! Starting a child with `posix_spawn`: its own session and group, default signals, an empty mask,
//! the descriptors 0-2 and no other. The calling thread's kernel restrictions are inherited.

use std::ffi::{c_int, c_short};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::Once;
use std::time::Duration;

use rustix::process::Pid;

use super::start::Start;

/// How often a program that somebody holds open for writing is tried. Another thread's child that
/// is between fork and exec may hold it for a moment; so may the call before that wrote it.
const BUSY_ATTEMPTS: u32 = 6;

/// The attributes that all children share.
#[derive(Debug)]
pub(super) struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    /// # Errors
    /// There is no memory.
    pub(super) fn new() -> io::Result<Self> {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            make_children_waitable();
            #[cfg(not(target_env = "gnu"))]
            keep_inherited_descriptors();
        });
        let mut raw = MaybeUninit::uninit();
        // SAFETY: the pointer is valid for writes; the call initializes what it points to.
        checked(unsafe { libc::posix_spawnattr_init(raw.as_mut_ptr()) })?;
        // SAFETY: initialized by the successful call above.
        let mut attributes = Self(unsafe { raw.assume_init() });
        let flags = c_int::from(libc::POSIX_SPAWN_SETSID)
            | libc::POSIX_SPAWN_SETSIGDEF
            | libc::POSIX_SPAWN_SETSIGMASK;
        // All flags lie in the low byte.
        #[expect(clippy::cast_possible_truncation, reason = "0x8c at most")]
        let flags = flags as c_short;
        let mut all = MaybeUninit::uninit();
        let mut none = MaybeUninit::uninit();
        // SAFETY: the sets are written before they are read, the attributes are initialized.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::sigemptyset(none.as_mut_ptr());
            checked(libc::posix_spawnattr_setflags(&raw mut attributes.0, flags))?;
            checked(libc::posix_spawnattr_setsigdefault(
                &raw mut attributes.0,
                all.as_ptr(),
            ))?;
            checked(libc::posix_spawnattr_setsigmask(
                &raw mut attributes.0,
                none.as_ptr(),
            ))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialized in `new`, destroyed only here.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

/// Starts the child and returns its process id, which is also its group's and its session's. The
/// caller has to wait for it.
///
/// # Errors
/// The directory cannot be entered, the program cannot be executed, or the system lacks something.
pub(super) fn spawn(attributes: &Attributes, start: &Start) -> io::Result<Pid> {
    let actions = FileActions::new(start)?;
    let mut pause = Duration::from_millis(1);
    for _ in 1..BUSY_ATTEMPTS {
        match spawn_once(attributes, &actions, start) {
            Err(error) if error.raw_os_error() == Some(libc::ETXTBSY) => {
                std::thread::sleep(pause);
                pause *= 2;
            }
            result => return result,
        }
    }
    spawn_once(attributes, &actions, start)
}

fn spawn_once(attributes: &Attributes, actions: &FileActions, start: &Start) -> io::Result<Pid> {
    let arguments = start.arguments.pointers();
    let environment = start.environment.pointers();
    let mut pid = 0;
    // SAFETY: all pointers lead to initialized values that outlive the call; both lists end with a
    // null pointer and hold NUL-terminated strings.
    checked(unsafe {
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

struct FileActions(libc::posix_spawn_file_actions_t);

impl FileActions {
    /// The child's directory and descriptors. The C library copies the path.
    fn new(start: &Start) -> io::Result<Self> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: the pointer is valid for writes; the call initializes what it points to.
        checked(unsafe { libc::posix_spawn_file_actions_init(raw.as_mut_ptr()) })?;
        // SAFETY: initialized by the successful call above.
        let mut actions = Self(unsafe { raw.assume_init() });
        let streams = [
            (start.ends.stdin.as_raw_fd(), 0),
            (start.ends.stdout.as_raw_fd(), 1),
            (start.ends.stderr.as_raw_fd(), 2),
        ];
        for (from, to) in streams {
            // SAFETY: the actions are initialized; descriptors are plain numbers to this call.
            checked(unsafe {
                libc::posix_spawn_file_actions_adddup2(&raw mut actions.0, from, to)
            })?;
        }
        // SAFETY: the actions are initialized, the path is NUL-terminated and copied.
        checked(unsafe {
            libc::posix_spawn_file_actions_addchdir_np(&raw mut actions.0, start.directory.as_ptr())
        })?;
        #[cfg(target_env = "gnu")]
        // SAFETY: the actions are initialized. Closes what this process inherited without
        // close-on-exec from its own parent.
        checked(unsafe { libc::posix_spawn_file_actions_addclosefrom_np(&raw mut actions.0, 3) })?;
        Ok(actions)
    }
}

impl Drop for FileActions {
    fn drop(&mut self) {
        // SAFETY: initialized in `new`, destroyed only here.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

/// These functions return the error number instead of setting it.
fn checked(code: c_int) -> io::Result<()> {
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// If our own parent left SIGCHLD ignored, the kernel would throw away every exit status.
fn make_children_waitable() {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: with a null new action the call only reports into `action`, which is read after it
    // succeeded. Setting the default disposition installs no handler.
    unsafe {
        if libc::sigaction(libc::SIGCHLD, ptr::null(), action.as_mut_ptr()) != 0 {
            return;
        }
        let mut action = action.assume_init();
        let discards =
            action.sa_sigaction == libc::SIG_IGN || action.sa_flags & libc::SA_NOCLDWAIT != 0;
        if discards {
            action.sa_sigaction = libc::SIG_DFL;
            action.sa_flags = 0;
            libc::sigaction(libc::SIGCHLD, &raw const action, ptr::null_mut());
        }
    }
}

/// Without `closefrom` in the C library: marks what this process inherited close-on-exec, once.
/// What it opens itself is marked from the start.
#[cfg(not(target_env = "gnu"))]
fn keep_inherited_descriptors() {
    // SAFETY: sets a flag on descriptors, closes none.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
}
