//! Builds and installs the system call filters (seccomp) of children of the parallel lane and of programs in a sandbox.
//!
//! Calls that are refused with all arguments are in `refused_system_calls.txt`, calls that are refused with some
//! arguments in `examined_system_calls.txt`. Operations that the file rights of Landlock cover (create, write, remove,
//! move) are not listed. A call that is not listed is allowed. Calls of later kernels, with numbers above
//! [`NEWEST_KNOWN`], do not exist for these programs.
//!
//! Calls with examined arguments are first. For all others the kernel caches the result, so the length of the filter
//! costs nothing.

use std::ffi::c_long;
use std::io;

/// The largest system call number that the tables cover (Linux 6.17, `file_setattr`).
const NEWEST_KNOWN: u32 = 469;

/// Calls that are refused if their first argument is our own process or the thread that starts the children:
/// Landlock does not distinguish these from the children.
const SIGNALLING_CALLS: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
];

// Calls that do not exist for children, so that programs use alternatives: a filter cannot examine arguments in memory.
// `openat2` does not exist in the lane only.
const CLONE3: u32 = 435;
const OPENAT2: u32 = 437;

/// The number of the architecture, and the column of the tables with the numbers of its calls.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: (u32, usize) = (0xc000_003e, 1);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: (u32, usize) = (0xc000_00b7, 2);

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_GREATER: u16 = 0x25;
const RETURN: u16 = 0x06;

// Offsets in the data of a call.
const NUMBER: u32 = 0;
const ARCHITECTURE_OF_CALL: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
/// Result for a call of another architecture, whose numbers have other meanings.
const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const DOES_NOT_EXIST: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// A filter: a program for the kernel.
pub(super) type Filter = Vec<libc::sock_filter>;

/// The processes for which a filter is.
#[derive(Debug, Clone, Copy)]
enum Scope {
    /// Children of the lane.
    Lane {
        /// The ids of our process and of the thread that starts the children, which shares its Landlock domain with
        /// them.
        own: [u32; 2],
    },
    /// Programs in a sandbox.
    Sandbox,
}

/// Returns the filter for children of the lane that the calling thread starts.
pub(super) fn lane_filter() -> Filter {
    let own = [rustix::process::getpid(), rustix::thread::gettid()];
    build_program(Scope::Lane {
        own: own.map(|pid| pid.as_raw_pid().cast_unsigned()),
    })
}

/// Returns the filter for programs in a sandbox: no namespaces, mounts, kernel keys, programs and modules in the
/// kernel, files by handle, `io_uring`, and no input into a terminal.
pub(super) fn sandbox_filter() -> Filter {
    build_program(Scope::Sandbox)
}

/// Restricts the calling thread and its children permanently. `no_new_privs` must be set. Allocates nothing.
///
/// # Errors
/// The kernel does not support filters, or an outer sandbox forbids them.
pub(super) fn install(filter: &[libc::sock_filter]) -> io::Result<()> {
    let length = u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog {
        len: length,
        filter: filter.as_ptr().cast_mut(),
    };
    // The flag turns off mitigations against speculation, which protect from code in the same process. Linux
    // before 4.17 does not support it.
    for flags in [libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW, 0] {
        // SAFETY: the program and its instructions outlive the call, which copies them.
        let result = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                &raw const program,
            )
        };
        if result == 0 {
            return Ok(());
        }
    }
    Err(io::Error::last_os_error())
}

/// Builds a filter.
fn build_program(scope: Scope) -> Filter {
    let mut program = vec![
        statement(LOAD, ARCHITECTURE_OF_CALL),
        branch(JUMP_IF_EQUAL, ARCHITECTURE.0, 1, 0),
        statement(RETURN, KILL),
        statement(LOAD, NUMBER),
        // The numbers of the x32 interface are larger too.
        branch(JUMP_IF_GREATER, NEWEST_KNOWN, 0, 1),
        statement(RETURN, DOES_NOT_EXIST),
    ];
    if let Scope::Lane { own } = scope {
        for call in SIGNALLING_CALLS {
            program.push(branch(JUMP_IF_EQUAL, number(*call), 0, 6));
            program.push(statement(LOAD, FIRST_ARGUMENT));
            for number in own {
                program.push(branch(JUMP_IF_EQUAL, number, 0, 1));
                program.push(statement(RETURN, REFUSE));
            }
            program.push(statement(LOAD, NUMBER));
        }
    }
    for (call, patterns) in examined_calls(scope) {
        let body = examine_call(&patterns);
        program.extend([
            branch(JUMP_IF_EQUAL, call, 1, 0),
            statement(JUMP, length(&body)),
        ]);
        program.extend(body);
    }
    let calls = missing_calls(scope).iter();
    let missing = calls.map(|call| (*call, DOES_NOT_EXIST));
    let refused = refused_calls(scope).map(|call| (call, REFUSE));
    for (call, answer) in missing.chain(refused) {
        program.push(branch(JUMP_IF_EQUAL, call, 0, 1));
        program.push(statement(RETURN, answer));
    }
    program.push(statement(RETURN, ALLOW));
    program
}

/// Returns the calls that do not exist for the processes.
fn missing_calls(scope: Scope) -> &'static [u32] {
    match scope {
        Scope::Lane { .. } => &[CLONE3, OPENAT2],
        Scope::Sandbox => &[CLONE3],
    }
}

/// Returns the instructions for one examined call: they refuse it if a pattern matches, else allow it.
fn examine_call(patterns: &[Pattern]) -> Vec<libc::sock_filter> {
    let mut body: Vec<_> = patterns.iter().flat_map(refuse_matching).collect();
    body.push(statement(RETURN, ALLOW));
    body
}

/// Returns instructions that refuse the call if all conditions hold, else continue after them.
fn refuse_matching(pattern: &Pattern) -> Vec<libc::sock_filter> {
    let mut from_the_end = vec![statement(RETURN, REFUSE)];
    for condition in pattern.iter().rev() {
        let skipped = u8::try_from(from_the_end.len()).unwrap_or(u8::MAX);
        from_the_end.extend(skip_unless(condition, skipped).into_iter().rev());
    }
    from_the_end.reverse();
    from_the_end
}

/// Returns instructions that continue if the condition holds, else skip the next `skipped` instructions.
fn skip_unless(condition: &ArgumentCondition, skipped: u8) -> [libc::sock_filter; 3] {
    let (if_equal, if_not) = if condition.is_equality {
        (0, skipped)
    } else {
        (skipped, 0)
    };
    [
        statement(LOAD, condition.offset),
        statement(AND, condition.mask),
        branch(JUMP_IF_EQUAL, condition.value, if_equal, if_not),
    ]
}

/// A pattern of arguments with which a call is refused: all conditions hold.
type Pattern = Vec<ArgumentCondition>;

/// A condition on half an argument.
#[derive(Debug)]
struct ArgumentCondition {
    /// Byte offset of the half in the data of a call.
    offset: u32,
    /// The compared bits.
    mask: u32,
    /// Whether the bits must be equal to `value`; else they must differ.
    is_equality: bool,
    value: u32,
}

/// Returns the calls that are refused with some arguments, with the patterns of these, in the order of the table.
fn examined_calls(scope: Scope) -> Vec<(u32, Vec<Pattern>)> {
    let mut calls: Vec<(u32, Vec<Pattern>)> = Vec::new();
    for (call, conditions) in parse_rows(include_str!("examined_system_calls.txt"), scope) {
        let pattern = conditions.into_iter().filter_map(parse_condition).collect();
        match calls.last_mut() {
            Some((last, patterns)) if *last == call => patterns.push(pattern),
            _ => calls.push((call, vec![pattern])),
        }
    }
    calls
}

/// Returns the calls that are refused with all arguments.
fn refused_calls(scope: Scope) -> impl Iterator<Item = u32> {
    parse_rows(include_str!("refused_system_calls.txt"), scope).map(|(call, _)| call)
}

/// Parses the rows of a table for this architecture: the number of a call, and the words behind the numbers.
fn parse_rows(table: &'static str, scope: Scope) -> impl Iterator<Item = (u32, Vec<&'static str>)> {
    let is_included = move |row: &&str| match scope {
        Scope::Lane { .. } => !row.starts_with('#'),
        Scope::Sandbox => row.starts_with('+'),
    };
    table.lines().filter(is_included).filter_map(|row| {
        let words: Vec<&str> = row.split(' ').collect();
        let number = words.get(ARCHITECTURE.1)?.parse().ok()?;
        Some((number, words.into_iter().skip(3).collect()))
    })
}

/// Parses a condition. A condition that cannot be parsed is omitted, so that more calls are refused; a test
/// checks that all can be parsed.
fn parse_condition(text: &str) -> Option<ArgumentCondition> {
    let hexadecimal = |digits| u32::from_str_radix(digits, 16).ok();
    let (place, value) = text.split_once('=')?;
    let bits = place.trim_end_matches('!');
    let (argument, mask) = bits.split_once('&').unwrap_or((bits, "ffffffff"));
    let index: u32 = argument.trim_end_matches('h').parse().ok()?;
    let half = if argument.ends_with('h') { 4 } else { 0 };
    Some(ArgumentCondition {
        offset: FIRST_ARGUMENT + 8 * index + half,
        mask: hexadecimal(mask)?,
        is_equality: !place.ends_with('!'),
        value: hexadecimal(value)?,
    })
}

/// Converts the number of a system call.
fn number(call: c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

fn length(body: &[libc::sock_filter]) -> u32 {
    u32::try_from(body.len()).unwrap_or(u32::MAX)
}

fn statement(code: u16, k: u32) -> libc::sock_filter {
    branch(code, k, 0, 0)
}

fn branch(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

#[cfg(test)]
#[path = "system_call_filter_tests.rs"]
mod tests;
