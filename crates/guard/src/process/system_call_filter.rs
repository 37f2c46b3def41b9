//! The system calls refused to children of the parallel lane and to programs in a sandbox, as a program for the kernel
//! (seccomp), and its installation on the calling thread.
//!
//! Calls that are refused with all arguments are in `refused_system_calls.txt`, others in
//! `examined_system_calls.txt`. Operations that Landlock's file rights cover (create, write, remove, move) are not
//! listed. A call that is not listed is allowed. New calls of later kernels, with numbers above [`NEWEST_KNOWN`],
//! do not exist for these children.
//!
//! Calls with examined arguments are first and end the program. For all others the kernel caches the verdict,
//! so the length of the program costs nothing.

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

// Calls that do not exist for children, so that programs use alternatives: a filter cannot examine arguments in
// memory. The second one only in the lane.
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
/// The numbers of another architecture have other meanings.
const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const DOES_NOT_EXIST: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// A program for the kernel.
pub(super) type Filter = Vec<libc::sock_filter>;

/// The processes that a filter is for.
#[derive(Debug, Clone, Copy)]
enum Scope {
    /// Children of the lane. The numbers are those of our process and of the thread that starts them, which shares
    /// its Landlock domain with its children.
    Lane {
        own: [u32; 2],
    },
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
    let absent_calls = absent_calls(scope)
        .iter()
        .map(|call| (*call, DOES_NOT_EXIST));
    let refused = refused_calls(scope).map(|call| (call, REFUSE));
    for (call, answer) in absent_calls.chain(refused) {
        program.push(branch(JUMP_IF_EQUAL, call, 0, 1));
        program.push(statement(RETURN, answer));
    }
    program.push(statement(RETURN, ALLOW));
    program
}

/// Returns the calls that do not exist.
fn absent_calls(scope: Scope) -> &'static [u32] {
    match scope {
        Scope::Lane { .. } => &[CLONE3, OPENAT2],
        Scope::Sandbox => &[CLONE3],
    }
}

/// Returns the part of the program for one examined call.
fn examine_call(patterns: &[Pattern]) -> Vec<libc::sock_filter> {
    let mut body: Vec<_> = patterns.iter().flat_map(refuse_matching).collect();
    body.push(statement(RETURN, ALLOW));
    body
}

/// Refuses the call if all conditions hold, else continues after the returned instructions.
fn refuse_matching(pattern: &Pattern) -> Vec<libc::sock_filter> {
    let mut from_the_end = vec![statement(RETURN, REFUSE)];
    for condition in pattern.iter().rev() {
        let skipped = u8::try_from(from_the_end.len()).unwrap_or(u8::MAX);
        from_the_end.extend(skip_unless(condition, skipped).into_iter().rev());
    }
    from_the_end.reverse();
    from_the_end
}

/// Continues if the condition holds, else skips the next `skipped` instructions.
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

/// A refusal of a call: all conditions hold.
type Pattern = Vec<ArgumentCondition>;

/// A condition on half an argument.
#[derive(Debug)]
struct ArgumentCondition {
    /// The position of the half in the data of a call.
    offset: u32,
    /// The compared bits.
    mask: u32,
    /// Whether they must be equal to `value`, or must not.
    is_equality: bool,
    value: u32,
}

/// Returns the calls that are refused with certain arguments, in order, with the patterns of these.
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

/// Returns the calls that are always refused.
fn refused_calls(scope: Scope) -> impl Iterator<Item = u32> {
    parse_rows(include_str!("refused_system_calls.txt"), scope).map(|(call, _)| call)
}

/// Returns the rows of a table for this architecture: the number of a call, and the words after the numbers.
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

/// Converts the number of a system call, which is small.
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
