//! Prepares a child on the calling thread (program, arguments, environment, descriptors), and starts it with
//! `posix_spawn`: a new session and group, default signals, an empty mask, its directory, and its own descriptors
//! only. The child inherits kernel restrictions of the calling thread.

use std::borrow::Cow;
use std::ffi::{CString, OsStr, OsString, c_char, c_int};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;
use std::{io, ptr};

use rustix::process::Pid;

use super::command::ChildEnds;
use super::{Command, SpawnError};

/// Search path if the environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A child that is ready to be started.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) program: CString,
    pub(super) arguments: Vec<CString>,
    /// Entries as `NAME=value`.
    pub(super) environment: Vec<CString>,
    pub(super) directory: CString,
    pub(super) ends: ChildEnds,
}

impl Start {
    /// Prepares a command.
    ///
    /// # Errors
    /// The program cannot be found, or a string contains a NUL byte.
    pub(super) fn prepare(command: &Command, ends: ChildEnds) -> Result<Self, SpawnError> {
        let path = find_program(&command.program, &command.environment, &command.directory)
            .ok_or_else(|| not_found(command))?;
        let strings = || -> io::Result<Self> {
            let arguments = std::iter::once(&command.program).chain(&command.arguments);
            let environment = command.environment.iter();
            Ok(Self {
                program: c_string(path.as_os_str())?,
                arguments: arguments
                    .map(|argument| c_string(argument))
                    .collect::<io::Result<_>>()?,
                environment: environment
                    .map(|(name, value)| variable(name, value))
                    .collect::<io::Result<_>>()?,
                directory: c_string(command.directory.as_os_str())?,
                ends,
            })
        };
        strings().map_err(|source| system_error(command, source))
    }

    /// Sets a variable of the child.
    ///
    /// # Errors
    /// The value contains a NUL byte.
    pub(super) fn set_variable(&mut self, name: &str, value: &OsStr) -> io::Result<()> {
        let is_other = |entry: &CString| {
            let rest = entry.as_bytes().strip_prefix(name.as_bytes());
            rest.is_none_or(|rest| rest.first() != Some(&b'='))
        };
        self.environment.retain(is_other);
        self.environment.push(variable(name.as_ref(), value)?);
        Ok(())
    }
}

/// Returns the error for a failure to start. The system does not report whether the directory or the program
/// was the cause, so the directory is checked again.
pub(super) fn start_error(command: &Command, source: io::Error) -> SpawnError {
    if let Err(source) = enterable(&command.directory) {
        return SpawnError::Directory {
            directory: command.directory.clone(),
            source,
        };
    }
    match source.kind() {
        io::ErrorKind::NotFound
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::NotADirectory => not_found(command),
        _ => system_error(command, source),
    }
}

/// Returns the error for a failure that neither the program nor the directory caused.
pub(super) fn system_error(command: &Command, source: io::Error) -> SpawnError {
    SpawnError::System {
        program: command.program.clone(),
        source,
    }
}

fn not_found(command: &Command) -> SpawnError {
    SpawnError::NotFound {
        program: command.program.clone(),
    }
}

fn enterable(directory: &Path) -> io::Result<()> {
    use rustix::fs::{Access, access};
    if !std::fs::metadata(directory)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(access(directory, Access::EXEC_OK)?)
}

/// Returns a string for the kernel.
///
/// # Errors
/// The string contains a NUL byte.
pub(super) fn c_string(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| contains_nul())
}

/// Returns an entry of an environment.
///
/// # Errors
/// A string contains a NUL byte.
fn variable(name: &OsStr, value: &OsStr) -> io::Result<CString> {
    let mut entry = OsString::with_capacity(name.len() + value.len() + 2);
    for part in [name, OsStr::new("="), value] {
        entry.push(part);
    }
    CString::new(entry.into_vec()).map_err(|_| contains_nul())
}

fn contains_nul() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "contains a NUL byte")
}

/// Finds `program` as `execvp` would in the child: a name with a slash is a path, relative to the child's
/// `directory`; any other name is looked up in the `PATH` of `environment`, whose relative entries,
/// including the empty one, are relative to `directory`.
fn find_program<'a>(
    program: &'a OsStr,
    environment: &[(OsString, OsString)],
    directory: &Path,
) -> Option<Cow<'a, Path>> {
    if program.is_empty() {
        return None;
    }
    if program.as_bytes().contains(&b'/') {
        return Some(Cow::Borrowed(Path::new(program)));
    }
    let path = environment
        .iter()
        .find(|(name, _)| name == "PATH")
        .map_or(OsStr::new(DEFAULT_PATH), |(_, value)| value);
    // The child enters the directory first, so a relative candidate would not be found.
    let directory = std::path::absolute(directory).ok()?;
    std::env::split_paths(path)
        .map(|entry| directory.join(entry).join(program))
        .find(is_executable)
        .map(Cow::<Path>::Owned)
}

fn is_executable(candidate: &PathBuf) -> bool {
    use rustix::fs::{Access, FileType, access, stat};
    access(candidate, Access::EXEC_OK).is_ok()
        && stat(candidate)
            .is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile)
}

/// Maximum number of attempts to start a program that is open for writing: a child of another thread between fork and
/// exec may hold it for a moment, and so may the call that wrote it.
const MAX_BUSY_ATTEMPTS: u32 = 6;

#[cfg(target_os = "linux")]
const OWN_SESSION: c_int = libc::POSIX_SPAWN_SETSID as c_int;
/// Other systems only support a group.
#[cfg(not(target_os = "linux"))]
const OWN_SESSION: c_int = libc::POSIX_SPAWN_SETPGROUP;

/// Starts a child in a group and session with its process id. The caller must wait for it.
///
/// # Errors
/// The directory cannot be entered, the program cannot be executed, or resources are exhausted.
pub(super) fn spawn(start: &Start) -> io::Result<Pid> {
    // Static, since the action of a signal belongs to the whole process.
    static ONCE: Once = Once::new();
    ONCE.call_once(make_children_waitable);
    let mut pause = Duration::from_millis(1);
    for _ in 1..MAX_BUSY_ATTEMPTS {
        match spawn_once(start) {
            Err(error) if error.raw_os_error() == Some(libc::ETXTBSY) => {
                std::thread::sleep(pause);
                pause *= 2;
            }
            result => return result,
        }
    }
    spawn_once(start)
}

fn spawn_once(start: &Start) -> io::Result<Pid> {
    let attributes = Attributes::new()?;
    let mut actions = FileActions::new()?;
    for (to, from) in start.ends.descriptors() {
        actions.duplicate(from.as_raw_fd(), to)?;
    }
    actions.enter(&start.directory)?;
    let arguments = pointers(&start.arguments);
    let environment = pointers(&start.environment);
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
        let flags = OWN_SESSION | libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
        let flags = flags.try_into().map_err(io::Error::other)?;
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

    /// Changes to a directory.
    fn enter(&mut self, directory: &CString) -> io::Result<()> {
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

fn check(error: c_int) -> io::Result<()> {
    match error {
        0 => Ok(()),
        number => Err(io::Error::from_raw_os_error(number)),
    }
}

/// Returns a null-terminated list, valid as long as `strings`.
fn pointers(strings: &[CString]) -> Vec<*mut c_char> {
    let pointers = strings.iter().map(|string| string.as_ptr().cast_mut());
    pointers.chain([ptr::null_mut()]).collect()
}

/// Sets close-on-exec on the descriptors that this process inherited; all others have it already. Before
/// Linux 5.11, and on other systems, children inherit those.
fn close_on_exec() {
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

#[cfg(test)]
#[path = "start_tests.rs"]
mod tests;
