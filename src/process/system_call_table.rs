//! Which system calls the parallel lane's children are refused, as data. What the file rights of
//! Landlock cover (creating, writing, removing, moving) is not repeated here.
//!
//! A call that is not in the table is allowed. So that no new call of a later kernel slips through,
//! everything numbered above [`NEWEST_KNOWN`] does not exist for these children.

use std::ffi::c_long;

/// The largest number that was looked at when this table was made (Linux 6.17, `file_setattr`).
pub(super) const NEWEST_KNOWN: u32 = 469;

/// A call that is refused only with certain arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Examined {
    /// Its number.
    pub(super) call: c_long,
    /// It is refused if one of these matches.
    pub(super) refused: &'static [Pattern],
}

/// Matches if every condition holds.
pub(super) type Pattern = &'static [Condition];

/// A condition on half an argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct Condition {
    pub(super) word: Word,
    /// What of the word is looked at.
    pub(super) mask: u32,
    pub(super) relation: Relation,
    pub(super) value: u32,
}

/// The kernel takes most arguments as 32 bits and ignores the rest.
#[derive(Debug, Clone, Copy)]
pub(super) enum Word {
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

const fn is(argument: u8, value: u32) -> Condition {
    masked(argument, u32::MAX, value)
}

const fn is_not(argument: u8, value: u32) -> Condition {
    Condition {
        relation: Relation::IsNot,
        ..is(argument, value)
    }
}

const fn masked(argument: u8, mask: u32, value: u32) -> Condition {
    Condition {
        word: Word::Low(argument),
        mask,
        relation: Relation::Is,
        value,
    }
}

const fn has_any(argument: u8, bits: u32) -> Condition {
    Condition {
        relation: Relation::IsNot,
        ..masked(argument, bits, 0)
    }
}

const fn high_is_not_zero(argument: u8) -> Condition {
    Condition {
        word: Word::High(argument),
        ..has_any(argument, u32::MAX)
    }
}

const ACCESS_MODE: u32 = libc::O_ACCMODE as u32;
const TRUNCATING: u32 = libc::O_TRUNC as u32;

/// The flags with which a file must not be opened: truncated but not written, which Landlock knows
/// only from ABI 3 on, and the mode that permits nothing but `ioctl`, of which it knows nothing.
const OPENAT: &[Pattern] = &[
    &[masked(2, ACCESS_MODE | TRUNCATING, TRUNCATING)],
    &[masked(2, ACCESS_MODE, ACCESS_MODE)],
];
#[cfg(target_arch = "x86_64")]
const OPEN: &[Pattern] = &[
    &[masked(1, ACCESS_MODE | TRUNCATING, TRUNCATING)],
    &[masked(1, ACCESS_MODE, ACCESS_MODE)],
];

/// The namespaces that `clone` can make.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

/// The byte of an `ioctl` that names its family.
const FAMILY: u32 = 0xff00;

/// Requests to file systems change attributes, extents, snapshots, whole volumes, and ask for no
/// descriptor that may write. So of each family only what is known to read is let through.
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
    // Of the devices those that obey without being opened for writing (before Landlock's ABI 5):
    // input into terminals, redirected consoles, loop devices, the hardware's clock.
    &[is(1, 0x5412)],
    &[is(1, 0x541c)],
    &[is(1, 0x541d)],
    &[masked(1, FAMILY, 0x4c00)],
    &[is(1, 0x4024_700a)],
];

/// Refused with certain arguments. These stand first in the filter, the frequent ones foremost.
pub(super) const EXAMINED: &[Examined] = &[
    Examined {
        call: libc::SYS_openat,
        refused: OPENAT,
    },
    #[cfg(target_arch = "x86_64")]
    Examined {
        call: libc::SYS_open,
        refused: OPEN,
    },
    Examined {
        call: libc::SYS_ioctl,
        refused: IOCTL,
    },
    Examined {
        call: libc::SYS_clone,
        refused: &[&[has_any(0, NAMESPACES)]],
    },
    // A lease on a file holds up every other process that opens it.
    Examined {
        call: libc::SYS_fcntl,
        refused: &[&[is(1, libc::F_SETLEASE as u32)]],
    },
    // All processes at once. Landlock refuses single others (from ABI 6 on).
    Examined {
        call: libc::SYS_kill,
        refused: &[&[is(0, u32::MAX)]],
    },
    // Asking the kernel for addresses, routes and sockets; what would change something there takes
    // a capability that these children do not have (see `lane`). So does speaking to others.
    Examined {
        call: libc::SYS_socket,
        refused: &[
            &[is_not(0, libc::AF_NETLINK as u32)],
            &[
                is_not(2, libc::NETLINK_ROUTE as u32),
                is_not(2, libc::NETLINK_SOCK_DIAG as u32),
            ],
        ],
    },
    // Streams between own processes; a datagram socket could address any other.
    Examined {
        call: libc::SYS_socketpair,
        refused: &[&[
            Condition {
                relation: Relation::IsNot,
                ..masked(1, 0xf, libc::SOCK_STREAM as u32)
            },
            Condition {
                relation: Relation::IsNot,
                ..masked(1, 0xf, libc::SOCK_SEQPACKET as u32)
            },
        ]],
    },
    // Limits and priorities: one's own only.
    Examined {
        call: libc::SYS_prlimit64,
        refused: &[
            &[is_not(0, 0), has_any(2, u32::MAX)],
            &[is_not(0, 0), high_is_not_zero(2)],
        ],
    },
    Examined {
        call: libc::SYS_setpriority,
        // PRIO_PROCESS, which C libraries declare with different types.
        refused: &[&[is_not(0, 0)], &[is_not(1, 0)]],
    },
    Examined {
        call: libc::SYS_ioprio_set,
        // 1: a process.
        refused: &[&[is_not(0, 1)], &[is_not(1, 0)]],
    },
    Examined {
        call: libc::SYS_sched_setaffinity,
        refused: OTHERS,
    },
    Examined {
        call: libc::SYS_sched_setparam,
        refused: OTHERS,
    },
    Examined {
        call: libc::SYS_sched_setscheduler,
        refused: OTHERS,
    },
    Examined {
        call: libc::SYS_sched_setattr,
        refused: OTHERS,
    },
    Examined {
        call: libc::SYS_migrate_pages,
        refused: OTHERS,
    },
    Examined {
        call: libc::SYS_move_pages,
        refused: OTHERS,
    },
    // System V: looking (IPC_STAT, *_INFO, *_STAT, and of semaphores GET*) is allowed.
    Examined {
        call: libc::SYS_shmctl,
        refused: &[&[
            is_not(1, 2),
            is_not(1, 3),
            is_not(1, 13),
            is_not(1, 14),
            is_not(1, 15),
        ]],
    },
    Examined {
        call: libc::SYS_msgctl,
        refused: &[&[
            is_not(1, 2),
            is_not(1, 3),
            is_not(1, 11),
            is_not(1, 12),
            is_not(1, 13),
        ]],
    },
    Examined {
        call: libc::SYS_semctl,
        refused: &[&[
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
    },
    // The kernel's log: reading all of it without consuming it, and asking for its size.
    Examined {
        call: libc::SYS_syslog,
        refused: &[&[is_not(0, 3), is_not(0, 9), is_not(0, 10)]],
    },
];

/// Refused if their first argument is our own process or the thread that starts the children, which
/// Landlock does not tell from the children.
pub(super) const SIGNALLING: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_open,
];

/// The first argument is another process than the caller.
const OTHERS: &[Pattern] = &[&[is_not(0, 0)]];

/// Calls that do not exist, so that programs fall back to what can be examined: their arguments
/// stand in memory, where a filter cannot look.
pub(super) const ABSENT: &[c_long] = &[
    // `clone3`, `openat2`.
    435, 437,
];

/// Always refused.
pub(super) const REFUSED: &[c_long] = &[
    // The network, and the services of this machine. Binding is left to the sockets that there are.
    libc::SYS_connect,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Modes and owners (`fchmodat2`: 452).
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    452,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    // Times.
    libc::SYS_utimensat,
    // Extended attributes (`setxattrat`: 463, `removexattrat`: 466), inode flags (`file_setattr`:
    // 469).
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    463,
    466,
    469,
    // By path, and covered by Landlock only from ABI 3 on.
    libc::SYS_truncate,
    // Files by handle instead of by path.
    libc::SYS_open_by_handle_at,
    // Mounts, old and new (`open_tree`, `move_mount`, `fsopen`, `fsconfig`, `fsmount`, `fspick`,
    // `mount_setattr`, `open_tree_attr`).
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    428,
    429,
    430,
    431,
    432,
    433,
    442,
    467,
    // Namespaces.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Clocks and names of the machine.
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // System V objects and POSIX message queues outlive their maker.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_notify,
    libc::SYS_mq_getsetattr,
    // Keys.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Other processes: tracing, their memory, their descriptors (`pidfd_getfd`: 438,
    // `process_madvise`: 440, `process_mrelease`: 448).
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    438,
    440,
    448,
    // Programs inside the kernel, and ways around this filter (`io_uring_*`: 425-427).
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    425,
    426,
    427,
    // A listener that can hold up other processes' accesses.
    libc::SYS_fanotify_init,
    // The machine as a whole (`quotactl_fd`: 443).
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    443,
    libc::SYS_acct,
    libc::SYS_vhangup,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_nfsservctl,
    // The spellings of the above that only old architectures have.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];
