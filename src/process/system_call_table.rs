//! The system calls refused to children of the parallel lane, as data. Calls that are refused with all
//! arguments are in `refused_system_calls.txt`. Operations that Landlock's file rights cover (create, write,
//! remove, move) are not listed.
//!
//! A call that is not in the table is allowed. New calls of later kernels, with numbers above
//! [`NEWEST_KNOWN`], do not exist for these children.

use std::ffi::c_long;

/// The largest system call number that this table covers (Linux 6.17, `file_setattr`).
pub(super) const NEWEST_KNOWN: u32 = 469;

/// A call that is refused if one of the patterns matches its arguments.
pub(super) type Examined = (c_long, &'static [Pattern]);

/// Matches if every condition holds.
pub(super) type Pattern = &'static [ArgumentCondition];

/// A condition on half an argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArgumentCondition {
    pub(super) word: ArgumentWord,
    /// The compared bits.
    pub(super) mask: u32,
    pub(super) relation: Relation,
    pub(super) value: u32,
}

/// The kernel takes most arguments as 32 bits and ignores the rest.
#[derive(Debug, Clone, Copy)]
pub(super) enum ArgumentWord {
    /// The low half of the argument with this index.
    Low(u8),
    /// The high half.
    High(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Is,
    IsNot,
}

const fn is(argument: u8, value: u32) -> ArgumentCondition {
    masked(argument, u32::MAX, value)
}

const fn is_not(argument: u8, value: u32) -> ArgumentCondition {
    ArgumentCondition {
        relation: Relation::IsNot,
        ..is(argument, value)
    }
}

const fn masked(argument: u8, mask: u32, value: u32) -> ArgumentCondition {
    ArgumentCondition {
        word: ArgumentWord::Low(argument),
        mask,
        relation: Relation::Is,
        value,
    }
}

const fn has_any(argument: u8, bits: u32) -> ArgumentCondition {
    ArgumentCondition {
        relation: Relation::IsNot,
        ..masked(argument, bits, 0)
    }
}

const fn high_is_not_zero(argument: u8) -> ArgumentCondition {
    ArgumentCondition {
        word: ArgumentWord::High(argument),
        ..has_any(argument, u32::MAX)
    }
}

const ACCESS_MODE: u32 = libc::O_ACCMODE as u32;
const TRUNCATING: u32 = libc::O_TRUNC as u32;

/// Flags with which a file must not be opened: truncation without writing, which Landlock covers from ABI 3 on,
/// and the mode that permits only `ioctl`, which it does not cover.
const OPENAT: &[Pattern] = &[
    &[masked(2, ACCESS_MODE | TRUNCATING, TRUNCATING)],
    &[masked(2, ACCESS_MODE, ACCESS_MODE)],
];
#[cfg(target_arch = "x86_64")]
const OPEN: &[Pattern] = &[
    &[masked(1, ACCESS_MODE | TRUNCATING, TRUNCATING)],
    &[masked(1, ACCESS_MODE, ACCESS_MODE)],
];

/// The namespaces that `clone` can create.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

/// `F_SETOWN_EX`, which `libc` does not define.
const SET_OWNER_EXTENDED: u32 = 15;

/// The byte of an `ioctl` request with its family.
const FAMILY: u32 = 0xff00;

/// Requests to file systems change attributes, extents, snapshots and whole volumes, and need no writable
/// descriptor. So only requests that are known to read are allowed in each family.
const IOCTL: &[Pattern] = &[
    // ext2 flags, fscrypt, fs-verity: all but GETFLAGS (64 and 32 bits), FIEMAP, the policy, the
    // measure of verity.
    &[
        masked(1, FAMILY, 0x6600),
        is_not(1, 0x8008_6601),
        is_not(1, 0x8004_6601),
        is_not(1, 0xc020_660b),
        is_not(1, 0xc009_6616),
        is_not(1, 0xc004_6686),
    ],
    // Versions of inodes: all but GETVERSION.
    &[
        masked(1, FAMILY, 0x7600),
        is_not(1, 0x8008_7601),
        is_not(1, 0x8004_7601),
    ],
    // Extended flags, freezing, trimming, XFS: all but FSGETXATTR and the geometry.
    &[
        masked(1, FAMILY, 0x5800),
        is_not(1, 0x801c_581f),
        is_not(1, 0x8100_587e),
    ],
    // Clones, deduplication, btrfs: all but the label, and the facts about a file system.
    &[
        masked(1, FAMILY, 0x9400),
        is_not(1, 0x8100_9431),
        is_not(1, 0x8400_941f),
    ],
    // f2fs, bcachefs, NILFS, FAT attributes.
    &[masked(1, FAMILY, 0xf500)],
    &[masked(1, FAMILY, 0xbc00)],
    &[masked(1, FAMILY, 0x6e00)],
    &[is(1, 0x4004_7211)],
    // Requests to devices that need no writable descriptor (before Landlock's ABI 5): input into terminals,
    // redirected consoles, loop devices, the hardware clock.
    &[is(1, 0x5412)],
    &[is(1, 0x541c)],
    &[is(1, 0x541d)],
    &[masked(1, FAMILY, 0x4c00)],
    &[is(1, 0x4024_700a)],
    // The owner of a descriptor, as with `fcntl` (FIOSETOWN, SIOCSPGRP).
    &[is(1, 0x8901)],
    &[is(1, 0x8902)],
];

/// Calls that are refused with certain arguments. They are first in the filter, in order of their frequency.
pub(super) const EXAMINED: &[Examined] = &[
    (libc::SYS_openat, OPENAT),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, OPEN),
    (libc::SYS_ioctl, IOCTL),
    (libc::SYS_clone, &[&[has_any(0, NAMESPACES)]]),
    // A lease on a file blocks other processes that open it. The owner of a descriptor gets its signals,
    // which end a process that does not expect them.
    (
        libc::SYS_fcntl,
        &[
            &[is(1, libc::F_SETLEASE as u32)],
            &[is(1, libc::F_SETOWN as u32)],
            &[is(1, SET_OWNER_EXTENDED)],
        ],
    ),
    // All processes at once. Landlock refuses signals to single processes (from ABI 6 on).
    (libc::SYS_kill, &[&[is(0, u32::MAX)]]),
    // Queries of addresses, routes and sockets. Changing them, or talking to other processes, needs a
    // capability that these children do not have (see `confinement`).
    (
        libc::SYS_socket,
        &[
            &[is_not(0, libc::AF_NETLINK as u32)],
            &[
                is_not(2, libc::NETLINK_ROUTE as u32),
                is_not(2, libc::NETLINK_SOCK_DIAG as u32),
            ],
        ],
    ),
    // Streams between own processes. A datagram socket could address any process.
    (
        libc::SYS_socketpair,
        &[&[
            ArgumentCondition {
                relation: Relation::IsNot,
                ..masked(1, 0xf, libc::SOCK_STREAM as u32)
            },
            ArgumentCondition {
                relation: Relation::IsNot,
                ..masked(1, 0xf, libc::SOCK_SEQPACKET as u32)
            },
        ]],
    ),
    // Limits and priorities: only for the caller.
    (
        libc::SYS_prlimit64,
        &[
            &[is_not(0, 0), has_any(2, u32::MAX)],
            &[is_not(0, 0), high_is_not_zero(2)],
        ],
    ),
    // 0 and 1: a process (PRIO_PROCESS, which C libraries declare with different types).
    (libc::SYS_setpriority, &[&[is_not(0, 0)], &[is_not(1, 0)]]),
    (libc::SYS_ioprio_set, &[&[is_not(0, 1)], &[is_not(1, 0)]]),
    (libc::SYS_sched_setaffinity, OTHERS),
    (libc::SYS_sched_setparam, OTHERS),
    (libc::SYS_sched_setscheduler, OTHERS),
    (libc::SYS_sched_setattr, OTHERS),
    (libc::SYS_migrate_pages, OTHERS),
    (libc::SYS_move_pages, OTHERS),
    // System V: queries (IPC_STAT, *_INFO, *_STAT, and GET* of semaphores) are allowed.
    (
        libc::SYS_shmctl,
        &[&[
            is_not(1, 2),
            is_not(1, 3),
            is_not(1, 13),
            is_not(1, 14),
            is_not(1, 15),
        ]],
    ),
    (
        libc::SYS_msgctl,
        &[&[
            is_not(1, 2),
            is_not(1, 3),
            is_not(1, 11),
            is_not(1, 12),
            is_not(1, 13),
        ]],
    ),
    (
        libc::SYS_semctl,
        &[&[
            is_not(2, 2),
            is_not(2, 3),
            is_not(2, 11),
            is_not(2, 12),
            is_not(2, 13),
            is_not(2, 14),
            is_not(2, 15),
            is_not(2, 18),
            is_not(2, 19),
            is_not(2, 20),
        ]],
    ),
    // The kernel's log: reading it without consuming it, and its size.
    (
        libc::SYS_syslog,
        &[&[is_not(0, 3), is_not(0, 9), is_not(0, 10)]],
    ),
];

/// Calls that are refused if their first argument is our own process or the thread that starts the children:
/// Landlock does not distinguish these from the children.
pub(super) const SIGNALLING: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
];

/// The first argument is a process other than the caller.
const OTHERS: &[Pattern] = &[&[is_not(0, 0)]];

/// Calls that do not exist for children, so that programs use alternatives: a filter cannot examine arguments in
/// memory.
pub(super) const ABSENT: [u32; 2] = [CLONE3, OPENAT2];
const CLONE3: u32 = 435;
const OPENAT2: u32 = 437;

/// Returns the calls that are always refused, from a table of names and numbers.
pub(super) fn refused() -> impl Iterator<Item = u32> {
    let rows = include_str!("refused_system_calls.txt").lines();
    let rows = rows.filter(|row| !row.starts_with('#'));
    rows.filter_map(|row| row.split(' ').nth(NUMBER_COLUMN)?.parse().ok())
}

#[cfg(target_arch = "x86_64")]
const NUMBER_COLUMN: usize = 1;
#[cfg(target_arch = "aarch64")]
const NUMBER_COLUMN: usize = 2;
