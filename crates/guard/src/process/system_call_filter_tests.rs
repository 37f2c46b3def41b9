use proptest::prelude::*;

use super::*;

/// The ids of the process and the thread for which the filter is.
const OWN: [u32; 2] = [4000, 4007];
const LANE: Scope = Scope::Lane { own: OWN };

/// Runs the filter of the lane.
fn lane_verdict(architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
    run_filter(LANE, architecture, number, arguments)
}

/// Runs a filter as the kernel does. Returns its result.
fn run_filter(scope: Scope, architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
    let mut data = Vec::new();
    data.extend(number.to_le_bytes());
    data.extend(architecture.to_le_bytes());
    data.extend([0; 8]);
    data.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
    let program = build_program(scope);
    let (mut at, mut accumulator) = (0, 0_u32);
    loop {
        let instruction = program[at];
        at += 1;
        let mut jump = |holds: bool| {
            at += usize::from(if holds {
                instruction.jt
            } else {
                instruction.jf
            });
        };
        match instruction.code {
            LOAD => {
                let offset = instruction.k as usize;
                let word = data[offset..offset + 4].try_into().unwrap();
                accumulator = u32::from_le_bytes(word);
            }
            AND => accumulator &= instruction.k,
            JUMP => at += instruction.k as usize,
            JUMP_IF_EQUAL => jump(accumulator == instruction.k),
            JUMP_IF_GREATER => jump(accumulator > instruction.k),
            RETURN => return instruction.k,
            code => panic!("unknown instruction {code:#x}"),
        }
    }
}

fn verdict(call: libc::c_long, arguments: &[u64]) -> u32 {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    lane_verdict(ARCHITECTURE.0, number(call), all)
}

/// Returns a `pid_t` or an `int` in a register.
fn word(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}

#[test]
fn every_row_of_the_table_is_refused() {
    for call in refused_calls(LANE) {
        assert_eq!(verdict(call.into(), &[]), REFUSE, "{call}");
    }
    for call in missing_calls(LANE).iter().copied() {
        assert_eq!(verdict(call.into(), &[]), DOES_NOT_EXIST, "{call}");
    }
}

#[expect(clippy::too_many_lines, reason = "a line for each system call")]
#[test]
fn the_table_of_refused_calls_has_the_numbers_of_this_architecture() {
    let table = include_str!("refused_system_calls.txt");
    let rows = table
        .lines()
        .filter(|row| !row.is_empty() && !row.starts_with('#'));
    for row in rows.clone() {
        let (name, numbers) = row.split_once(' ').unwrap();
        let numbers: Vec<&str> = numbers.split(' ').collect();
        assert_eq!(numbers.len(), 2, "{row}");
        assert!(
            name.trim_start_matches('+')
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || b"_0123456789".contains(&byte))
        );
        for number in numbers {
            let is_known = number
                .parse()
                .is_ok_and(|number: u32| number <= NEWEST_KNOWN);
            assert!(is_known || number == "-", "{row}");
        }
    }
    assert_eq!(rows.count(), 95);
    let expected = [
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_utimensat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
        libc::SYS_truncate,
        libc::SYS_open_by_handle_at,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
        libc::SYS_adjtimex,
        libc::SYS_clock_adjtime,
        libc::SYS_sethostname,
        libc::SYS_setdomainname,
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
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_keyctl,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_kcmp,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_fanotify_init,
        libc::SYS_reboot,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        libc::SYS_quotactl,
        libc::SYS_acct,
        libc::SYS_vhangup,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_kexec_load,
        libc::SYS_kexec_file_load,
        libc::SYS_nfsservctl,
        libc::SYS_open_tree,
        libc::SYS_move_mount,
        libc::SYS_fsopen,
        libc::SYS_fsconfig,
        libc::SYS_fsmount,
        libc::SYS_fspick,
        libc::SYS_mount_setattr,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        libc::SYS_process_madvise,
        libc::SYS_process_mrelease,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_quotactl_fd,
        libc::SYS_fchmodat2,
    ];
    for call in expected {
        assert_eq!(verdict(call, &[]), REFUSE, "{call}");
    }
    #[cfg(target_arch = "x86_64")]
    for call in [
        libc::SYS_chmod,
        libc::SYS_chown,
        libc::SYS_lchown,
        libc::SYS_utime,
        libc::SYS_utimes,
        libc::SYS_futimesat,
        libc::SYS_iopl,
        libc::SYS_ioperm,
    ] {
        assert_eq!(verdict(call, &[]), REFUSE, "{call}");
    }
}

#[test]
fn every_condition_of_the_table_is_understood() {
    let rows = parse_rows(include_str!("examined_system_calls.txt"), LANE);
    for (call, conditions) in rows {
        assert!(!conditions.is_empty(), "{call}");
        for text in conditions {
            assert!(parse_condition(text).is_some(), "{call} {text}");
        }
    }
}

#[test]
fn no_call_is_in_the_table_twice() {
    let mut calls: Vec<u32> = examined_calls(LANE).iter().map(|(call, _)| *call).collect();
    calls.extend(
        missing_calls(LANE)
            .iter()
            .copied()
            .chain(refused_calls(LANE)),
    );
    let count = calls.len();
    calls.sort_unstable();
    calls.dedup();
    assert_eq!(calls.len(), count);
}

#[test]
fn examined_arguments_decide() {
    let path = 0x7fff_1234_5678;
    let here = word(libc::AT_FDCWD);
    let open = |flags: i32| verdict(libc::SYS_openat, &[here, path, word(flags)]);
    assert_eq!(open(libc::O_RDONLY | libc::O_CLOEXEC), ALLOW);
    assert_eq!(open(libc::O_WRONLY | libc::O_TRUNC), ALLOW);
    assert_eq!(open(libc::O_RDONLY | libc::O_TRUNC), REFUSE);
    assert_eq!(open(libc::O_ACCMODE), REFUSE);

    let ioctl = |request: u64| verdict(libc::SYS_ioctl, &[1, request]);
    for allowed in [
        0x5401,
        0x5413,
        0x541b,
        0x8008_6601,
        0xc020_660b,
        0x801c_581f,
    ] {
        assert_eq!(ioctl(allowed), ALLOW, "{allowed:#x}");
    }
    for refused in [
        0x4008_6602,
        0x4004_6602,
        0x401c_5820,
        0x5412,
        0x4004_9409,
        0xc018_9436,
        0xc004_5877,
        0x8901,
        0x8902,
        // The kernel only examines the low half.
        0xdead_0000_4008_6602,
    ] {
        assert_eq!(ioctl(refused), REFUSE, "{refused:#x}");
    }

    assert_eq!(verdict(libc::SYS_kill, &[word(-1), 15]), REFUSE);
    assert_eq!(verdict(libc::SYS_kill, &[u64::MAX, 15]), REFUSE);
    assert_eq!(verdict(libc::SYS_kill, &[word(-1234), 15]), ALLOW);
    assert_eq!(verdict(libc::SYS_kill, &[0, 15]), ALLOW);
    for own in OWN {
        for call in SIGNALLING_CALLS {
            assert_eq!(verdict(*call, &[u64::from(own), 0]), REFUSE, "{call}");
            assert_eq!(verdict(*call, &[u64::from(own) + 1, 0]), ALLOW, "{call}");
        }
    }

    assert_eq!(verdict(libc::SYS_fcntl, &[3, 1024, 0]), REFUSE);
    assert_eq!(verdict(libc::SYS_fcntl, &[3, 1025]), ALLOW);
    for command in [8, 15] {
        assert_eq!(verdict(libc::SYS_fcntl, &[3, command, 7]), REFUSE);
    }

    assert_eq!(verdict(libc::SYS_clone, &[0x0120_0011]), ALLOW);
    assert_eq!(verdict(libc::SYS_clone, &[0x1000_0011]), REFUSE);

    assert_eq!(verdict(libc::SYS_prlimit64, &[0, 7, path]), ALLOW);
    assert_eq!(verdict(libc::SYS_prlimit64, &[77, 7, 0, path]), ALLOW);
    assert_eq!(verdict(libc::SYS_prlimit64, &[77, 7, path]), REFUSE);
    assert_eq!(verdict(libc::SYS_prlimit64, &[77, 7, 1 << 32]), REFUSE);

    assert_eq!(verdict(libc::SYS_setpriority, &[0, 0, 10]), ALLOW);
    assert_eq!(verdict(libc::SYS_setpriority, &[0, 77, 10]), REFUSE);
    assert_eq!(verdict(libc::SYS_setpriority, &[2, 0, 10]), REFUSE);

    let socket = |domain, protocol| verdict(libc::SYS_socket, &[domain, 3, protocol]);
    assert_eq!([socket(16, 0), socket(16, 4)], [ALLOW; 2]);
    for (domain, protocol) in [(1, 0), (2, 0), (2, 6), (10, 0), (16, 9), (16, 12), (17, 3)] {
        assert_eq!(socket(domain, protocol), REFUSE, "{domain} {protocol}");
    }

    for (kind, expected) in [
        (1, ALLOW),
        (2, REFUSE),
        (3, REFUSE),
        (5, ALLOW),
        (0x8_0001, ALLOW),
    ] {
        assert_eq!(
            verdict(libc::SYS_socketpair, &[1, kind]),
            expected,
            "{kind}"
        );
        for family in [0, 2, 10, 16, 17, 30, u64::MAX] {
            let verdict = verdict(libc::SYS_socketpair, &[family, kind]);
            assert_eq!(verdict, REFUSE, "{family} {kind}");
        }
    }
    assert_eq!(verdict(libc::SYS_syslog, &[3]), ALLOW);
    assert_eq!(verdict(libc::SYS_syslog, &[5]), REFUSE);
    assert_eq!(verdict(libc::SYS_shmctl, &[1, 0]), REFUSE);
    assert_eq!(verdict(libc::SYS_shmctl, &[1, 2]), ALLOW);
}

#[test]
fn common_calls_are_allowed() {
    for call in [
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_execve,
        libc::SYS_wait4,
        libc::SYS_pipe2,
        libc::SYS_mmap,
        libc::SYS_futex,
        libc::SYS_exit_group,
        libc::SYS_tgkill,
        libc::SYS_getdents64,
    ] {
        assert_eq!(verdict(call, &[]), ALLOW, "{call}");
    }
}

#[test]
fn a_sandbox_refuses_namespaces_and_input_into_terminals() {
    let verdict = |call: libc::c_long, arguments: [u64; 6]| {
        run_filter(Scope::Sandbox, ARCHITECTURE.0, number(call), arguments)
    };
    let none = [0; 6];
    for call in [
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_open_tree,
        libc::SYS_move_mount,
        libc::SYS_mount_setattr,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_open_by_handle_at,
        libc::SYS_io_uring_setup,
        libc::SYS_keyctl,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_finit_module,
        libc::SYS_kexec_load,
    ] {
        assert_eq!(verdict(call, none), REFUSE, "{call}");
    }
    assert_eq!(verdict(CLONE3.into(), none), DOES_NOT_EXIST);
    assert_eq!(
        verdict(libc::SYS_clone, [0x1000_0011, 0, 0, 0, 0, 0]),
        REFUSE
    );
    for request in [libc::TIOCSTI, libc::TIOCLINUX, 0xdead_0000_0000_5412] {
        assert_eq!(verdict(libc::SYS_ioctl, [0, request, 0, 0, 0, 0]), REFUSE);
    }
    for call in [
        libc::SYS_clone,
        libc::SYS_ioctl,
        libc::SYS_openat,
        libc::SYS_openat2,
        libc::SYS_connect,
        libc::SYS_ptrace,
        libc::SYS_fchmod,
        libc::SYS_kill,
        libc::SYS_shmget,
    ] {
        assert_eq!(verdict(call, none), ALLOW, "{call}");
    }
}

proptest! {
    #[test]
    fn numbers_of_x32_and_later_kernels_do_not_exist(number in NEWEST_KNOWN + 1.., argument: u64) {
        prop_assert_eq!(lane_verdict(ARCHITECTURE.0, number, [argument; 6]), DOES_NOT_EXIST);
    }

    #[test]
    fn calls_of_other_architectures_kill(architecture: u32, number: u32) {
        prop_assume!(architecture != ARCHITECTURE.0);
        prop_assert_eq!(lane_verdict(architecture, number, [0; 6]), KILL);
    }

    #[test]
    fn every_path_through_the_program_ends(number in 0..=NEWEST_KNOWN, arguments: [u64; 6]) {
        let verdict = lane_verdict(ARCHITECTURE.0, number, arguments);
        prop_assert!([ALLOW, REFUSE, DOES_NOT_EXIST].contains(&verdict));
    }
}
