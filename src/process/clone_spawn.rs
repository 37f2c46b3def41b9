//! Starting a child with one `clone` that shares our memory until the child runs its program: its
//! own session and group, default signals, an empty mask, the descriptors 0-2 and no other. The
//! calling thread's kernel restrictions are inherited.
//!
//! `posix_spawn` does the same with a hundred system calls more: it asks for every signal, maps a
//! new stack and unmaps it, which stops the other processors, and hands out no pidfd.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::Once;
use std::time::Duration;

use memmap2::MmapMut;
use rustix::process::Pid;

use super::reap::reap;
use super::signal_mask::SignalMask;
use super::signals::END_SIGNALS;
use super::start::{Spawned, Start};

/// How often a program that somebody holds open for writing is tried. Another thread's child that
/// is between fork and exec may hold it for a moment; so may the call before that wrote it.
const BUSY_ATTEMPTS: u32 = 6;

/// Bytes of stack for a child before it runs its program. It needs a few hundred.
const STACK: usize = 64 * 1024;

/// Descriptors that a child closes one by one where the kernel cannot close a range.
const CLOSED_SINGLY: c_int = 1 << 16;

/// How a child ends if it cannot run its program. Nobody sees it.
const NOT_STARTED: c_int = 127;

thread_local! {
    /// The stack of the child that this thread is just starting. The thread stands still while the
    /// child uses it.
    static CHILD_STACK: RefCell<Option<MmapMut>> = const { RefCell::new(None) };
}

/// What all children share: the signals that they must be told to treat as usual.
#[derive(Debug)]
pub(super) struct Attributes {
    reset: Vec<c_int>,
}

impl Attributes {
    /// # Errors
    /// None.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "the same shape as on other systems"
    )]
    pub(super) fn new() -> io::Result<Self> {
        static ONCE: Once = Once::new();
        ONCE.call_once(make_children_waitable);
        // An ignored signal stays ignored in a new program. A handler does not stay, but must not run
        // in a child while it shares our memory; those of END_SIGNALS may be set only later.
        let reset = (1..=libc::SIGRTMAX())
            .filter(|signal| END_SIGNALS.contains(signal) || !is_usual(*signal))
            .collect();
        Ok(Self { reset })
    }
}

/// Starts the child, whose process id is also its group's and its session's. The caller has to
/// wait for it.
///
/// # Errors
/// The directory cannot be entered, the program cannot be executed, or the system lacks something.
pub(super) fn spawn(attributes: &Attributes, start: &Start) -> io::Result<Spawned> {
    let mut pause = Duration::from_millis(1);
    for _ in 1..BUSY_ATTEMPTS {
        match spawn_once(attributes, start) {
            Err(error) if error.raw_os_error() == Some(libc::ETXTBSY) => {
                std::thread::sleep(pause);
                pause *= 2;
            }
            result => return result,
        }
    }
    spawn_once(attributes, start)
}

/// What the child reads, and the one field that it writes, in memory that it shares with us.
struct Orders<'a> {
    program: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    directory: *const c_char,
    streams: [c_int; 3],
    reset: &'a [c_int],
    /// Why it could not run its program; 0 if it did.
    error: c_int,
}

fn spawn_once(attributes: &Attributes, start: &Start) -> io::Result<Spawned> {
    let arguments = start.arguments.pointers();
    let environment = start.environment.pointers();
    let ends = &start.ends;
    let mut orders = Orders {
        program: start.program.as_ptr(),
        arguments: arguments.as_ptr().cast(),
        environment: environment.as_ptr().cast(),
        directory: start.directory.as_ptr(),
        streams: [
            ends.stdin.as_raw_fd(),
            ends.stdout.as_raw_fd(),
            ends.stderr.as_raw_fd(),
        ],
        reset: &attributes.reset,
        error: 0,
    };
    let mut descriptor: c_int = -1;
    let pid = CHILD_STACK.with_borrow_mut(|stack| {
        let stack = match stack {
            Some(stack) => stack,
            None => stack.insert(MmapMut::map_anon(STACK)?),
        };
        let _blocked = SignalMask::block_all()?;
        // SAFETY: the stack ends with a page, so its end is aligned, and nothing else uses it: this
        // thread stands still until the child has left our memory (CLONE_VFORK). All pointers in
        // `orders` lead to values that live on in this frame and its callers. `run_program` makes
        // system calls only and never returns here.
        let pid = unsafe {
            libc::clone(
                run_program,
                stack.as_mut_ptr().add(STACK).cast(),
                libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD,
                (&raw mut orders).cast(),
                &raw mut descriptor,
            )
        };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(pid)
    })?;
    // SAFETY: the kernel made it for us (not before Linux 5.2), and nobody else knows it.
    let descriptor = (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor) });
    if orders.error != 0 {
        reap(pid);
        return Err(io::Error::from_raw_os_error(orders.error));
    }
    let leader = Pid::from_raw(pid).ok_or(io::ErrorKind::Other)?;
    Ok(Spawned { leader, descriptor })
}

/// The child's life until it runs its program. It shares our memory, so it allocates nothing, locks
/// nothing and cannot panic.
extern "C" fn run_program(orders: *mut c_void) -> c_int {
    // SAFETY: `spawn_once` passes its orders, and stands still.
    let orders = unsafe { &mut *orders.cast::<Orders<'_>>() };
    // SAFETY: as `follow` demands, this is a child that was just made.
    unsafe { follow(orders) };
    orders.error = io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO);
    // SAFETY: ends the child without running anything of ours.
    unsafe { libc::_exit(NOT_STARTED) }
}

/// Comes back only if something failed; the error number is set then.
///
/// # Safety
/// Only for a child that was just made; all pointers in `orders` must be valid.
unsafe fn follow(orders: &Orders<'_>) {
    // SAFETY: plain system calls on valid pointers; what they change is the child's own: its
    // session, its descriptors, its directory, its signals.
    unsafe {
        libc::setsid();
        for (to, from) in (0..).zip(orders.streams) {
            if libc::dup2(from, to) < 0 {
                return;
            }
        }
        if libc::chdir(orders.directory) < 0 {
            return;
        }
        close_others();
        let mut usual = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        usual.sa_sigaction = libc::SIG_DFL;
        for signal in orders.reset {
            libc::sigaction(*signal, &raw const usual, ptr::null_mut());
        }
        let mut none = MaybeUninit::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
        libc::execve(orders.program, orders.arguments, orders.environment);
    }
}

/// Closes all descriptors but the first three: what this process inherited without close-on-exec
/// from its own parent, too.
///
/// # Safety
/// Only for a child that was just made.
unsafe fn close_others() {
    let most = libc::c_uint::MAX;
    // SAFETY: the descriptors are the child's own; nothing of it uses them any more.
    unsafe {
        if libc::syscall(libc::SYS_close_range, 3, most, 0) != 0 {
            for descriptor in 3..CLOSED_SINGLY {
                libc::close(descriptor);
            }
        }
    }
}

fn action_of(signal: c_int) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: with a null new action the call only reports into `action`, which is read after it
    // succeeded.
    unsafe {
        (libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0)
            .then(|| action.assume_init())
    }
}

fn is_usual(signal: c_int) -> bool {
    action_of(signal).is_none_or(|action| action.sa_sigaction == libc::SIG_DFL)
}

/// If our own parent left SIGCHLD ignored, the kernel would throw away every exit status.
fn make_children_waitable() {
    let Some(mut action) = action_of(libc::SIGCHLD) else {
        return;
    };
    if action.sa_sigaction == libc::SIG_IGN || action.sa_flags & libc::SA_NOCLDWAIT != 0 {
        action.sa_sigaction = libc::SIG_DFL;
        action.sa_flags = 0;
        // SAFETY: the default disposition installs no handler.
        unsafe { libc::sigaction(libc::SIGCHLD, &raw const action, ptr::null_mut()) };
    }
}
