//! Starts a child that restricts itself, as `posix_spawn` does: the child shares the memory of this process until it
//! becomes its program, so that the start costs the same in a large process.

use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::ptr;

use rustix::process::Pid;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set,
    move_into_link_name_space, set_capabilities,
};

use super::helper::MaskedNamespace;
use super::restrictions::Restrictions;
use crate::process::posix_spawn::{close_on_exec, retry_busy, to_pointers};
use crate::process::start::Start;

/// Size of the stack of the child before it becomes its program, in bytes.
const STACK_BYTES: usize = 64 * 1024;

/// The highest signal number.
const MAX_SIGNAL: c_int = 64;

/// The input and the result of a child, in memory that the parent allocated.
struct ChildPlan<'a> {
    namespace: Option<&'a MaskedNamespace>,
    restrictions: Option<&'a Restrictions>,
    start: &'a Start,
    arguments: &'a [*mut c_char],
    environment: &'a [*mut c_char],
    /// Pairs of the number of a descriptor in the child and in this process.
    descriptors: &'a [(RawFd, RawFd)],
    /// The number of the error that kept the child from becoming its program; 0 without one.
    error: c_int,
}

/// Starts a child in `namespace`, with `restrictions` and a session of its own. It also inherits the restrictions of
/// the calling thread. Without `restrictions`, it keeps the capabilities to create a pid namespace.
///
/// # Errors
/// The namespaces or the directory cannot be entered, the program cannot be executed, or resources are exhausted.
pub(super) fn spawn_restricted(
    namespace: Option<&MaskedNamespace>,
    restrictions: Option<&Restrictions>,
    start: &Start,
) -> io::Result<Pid> {
    retry_busy(|| spawn_once(namespace, restrictions, start))
}

fn spawn_once(
    namespace: Option<&MaskedNamespace>,
    restrictions: Option<&Restrictions>,
    start: &Start,
) -> io::Result<Pid> {
    let (arguments, environment) = (
        to_pointers(&start.arguments),
        to_pointers(&start.environment),
    );
    let ends = start.ends.descriptors();
    let descriptors: Vec<_> = ends.map(|(to, from)| (to, from.as_raw_fd())).collect();
    close_on_exec();
    let mut plan = ChildPlan {
        namespace,
        restrictions,
        start,
        arguments: &arguments,
        environment: &environment,
        descriptors: &descriptors,
        error: 0,
    };
    let mut stack = vec![0_u128; STACK_BYTES / size_of::<u128>()];
    let pid = with_signals_blocked(|| {
        // SAFETY: the stack grows down from its aligned end. Until the child has ended or become its program, this
        // thread is suspended, so `plan` and what it refers to stay as they are. No handler runs in the child, since
        // signals are blocked until it has default actions, and `run_child` only makes system calls.
        unsafe {
            libc::clone(
                run_child,
                stack.as_mut_ptr_range().end.cast(),
                libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
                (&raw mut plan).cast(),
            )
        }
    })?;
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    let child = Pid::from_raw(pid).ok_or(io::ErrorKind::Other)?;
    if plan.error == 0 {
        return Ok(child);
    }
    // The child has ended, and no other code waits for it.
    let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
    Err(io::Error::from_raw_os_error(plan.error))
}

/// Runs `action` while all signals of this thread are blocked.
fn with_signals_blocked<T>(action: impl FnOnce() -> T) -> io::Result<T> {
    // SAFETY: the sets are plain data, filled before their use.
    unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        if libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before) != 0 {
            return Err(io::ErrorKind::Other.into());
        }
        let result = action();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        Ok(result)
    }
}

/// Runs in the child until it becomes its program. On failure, the child ends and the error is in the plan.
extern "C" fn run_child(plan: *mut c_void) -> c_int {
    // SAFETY: the parent passed a plan, and waits.
    let plan = unsafe { &mut *plan.cast::<ChildPlan<'_>>() };
    let error = exec_program(plan);
    plan.error = error.raw_os_error().unwrap_or(libc::EIO);
    // SAFETY: ends the child only, without running anything of this process.
    unsafe { libc::_exit(127) }
}

/// Prepares the child, and executes its program. Returns only on failure. Makes only system calls, since other threads
/// may hold the locks of the allocator.
fn exec_program(plan: &ChildPlan<'_>) -> io::Error {
    let prepare = || -> io::Result<()> {
        reset_signals();
        rustix::process::setsid()?;
        let namespaces = plan
            .namespace
            .iter()
            .flat_map(|entered| &entered.namespaces);
        for (kind, namespace) in namespaces {
            move_into_link_name_space(namespace.as_fd(), Some(*kind))?;
        }
        rustix::process::chdir(&*plan.start.directory)?;
        match plan.restrictions {
            Some(restrictions) => restrictions.apply()?,
            None => keep_namespace_capabilities()?,
        }
        // This is the last step, since it may replace a descriptor that was needed until here.
        for (to, from) in plan.descriptors {
            // SAFETY: system calls on plain numbers; the table of descriptors is the child's own.
            unsafe {
                if libc::dup2(*from, *to) < 0 || libc::fcntl(*to, libc::F_SETFD, 0) < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
        }
        Ok(())
    };
    if let Err(error) = prepare() {
        return error;
    }
    // SAFETY: the mask is plain data. The strings and their lists, which end with a null pointer, outlive the call.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
        libc::execve(
            plan.start.program.as_ptr(),
            plan.arguments.as_ptr().cast(),
            plan.environment.as_ptr().cast(),
        );
    }
    io::Error::last_os_error()
}

/// Lets the program keep the capabilities that it needs to create a pid namespace and to restrict a command. Root keeps
/// all capabilities anyway.
fn keep_namespace_capabilities() -> io::Result<()> {
    let passed = CapabilitySet::SYS_ADMIN | CapabilitySet::SETPCAP;
    let own = capabilities(None)?;
    set_capabilities(
        None,
        CapabilitySets {
            inheritable: own.permitted & passed,
            ..own
        },
    )?;
    for capability in passed.iter() {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Gives all signals their default actions. The child has its own actions although it shares the memory.
fn reset_signals() {
    for signal in 1..=MAX_SIGNAL {
        // SAFETY: installs no handler. Fails for signals without actions, and for those of the C library.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}
