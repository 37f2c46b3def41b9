//! What Linux's `/proc` says about processes: members of a group, descendants of a process.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Processes held in one walk, each by a descriptor; a tree that is larger is a fork bomb.
const WALK_LIMIT: usize = 128;

/// A process that is held by a descriptor, so that its number cannot come to mean another one.
#[derive(Debug)]
pub(super) struct HeldProcess {
    pub(super) pid: Pid,
    pub(super) descriptor: OwnedFd,
}

impl HeldProcess {
    /// Whether it has not ended yet.
    pub(super) fn is_alive(&self) -> bool {
        is_alive(self.descriptor.as_fd())
    }

    /// Whether it is alive and no member of this group, at this moment.
    pub(super) fn is_outside(&self, group: Pid) -> bool {
        let outside =
            stat(self.pid.as_raw_pid()).is_some_and(|stat| stat.group != group.as_raw_pid());
        // In this order: what was read is of the held process if that is still alive.
        outside && self.is_alive()
    }

    /// Its children, their children and so on.
    pub(super) fn descendants(&self) -> Vec<Self> {
        descendants(self.pid, self.descriptor.as_fd())
    }
}

/// The fields of `/proc/<pid>/stat` that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) state: u8,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// When it began, in clock ticks since the system's start.
    pub(super) began: u64,
}

impl Stat {
    /// Whether it only waits for being waited for.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }
}

/// Whether a process of this group is neither ended nor a zombie. If `/proc` cannot be read: yes.
pub(super) fn has_living_member(group: Pid) -> bool {
    let Some(pids) = pids() else {
        return true;
    };
    pids.filter_map(stat)
        .any(|stat| stat.group == group.as_raw_pid() && !stat.has_ended())
}

/// Every process there is, by its number; empty if `/proc` cannot be read.
pub(super) fn all() -> BTreeMap<i32, Stat> {
    pids()
        .into_iter()
        .flatten()
        .filter_map(|pid| Some((pid, stat(pid)?)))
        .collect()
}

fn pids() -> Option<impl Iterator<Item = i32>> {
    let entries = fs::read_dir("/proc").ok()?;
    Some(
        entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok()),
    )
}

/// Whether the process was started with this variable, given as `NAME=value`.
pub(super) fn has_variable(process: i32, variable: &OsStr) -> bool {
    fs::read(format!("/proc/{process}/environ")).is_ok_and(|environment| {
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == variable.as_encoded_bytes())
    })
}

/// Whether the process has one of these pipes open, which are given by inode.
pub(super) fn holds_pipe(process: Pid, pipes: &[u64]) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{process}/fd")) else {
        return false;
    };
    let names: Vec<String> = pipes
        .iter()
        .map(|inode| format!("pipe:[{inode}]"))
        .collect();
    descriptors
        .flatten()
        .filter_map(|descriptor| fs::read_link(descriptor.path()).ok())
        .any(|target| names.iter().any(|name| target.as_os_str() == name.as_str()))
}

/// The children of `root`, which `descriptor` holds, their children and so on.
pub(super) fn descendants(root: Pid, descriptor: BorrowedFd<'_>) -> Vec<HeldProcess> {
    let mut found = held_children(root, descriptor);
    let mut next = 0;
    while next < found.len() && found.len() < WALK_LIMIT {
        let parent = &found[next];
        let more = held_children(parent.pid, parent.descriptor.as_fd());
        found.extend(more);
        next += 1;
    }
    found
}

/// The children of a process, each held. If the parent has ended meanwhile, its number may mean
/// another process by now, and nothing is believed.
fn held_children(parent: Pid, descriptor: BorrowedFd<'_>) -> Vec<HeldProcess> {
    let held: Vec<_> = children(parent)
        .into_iter()
        .take(WALK_LIMIT)
        .filter_map(|child| hold(child, parent))
        .collect();
    if is_alive(descriptor) {
        held
    } else {
        Vec::new()
    }
}

/// Opens a child, and makes sure after that that it is still the child that was meant.
fn hold(child: Pid, parent: Pid) -> Option<HeldProcess> {
    let descriptor = pidfd_open(child, PidfdFlags::empty()).ok()?;
    let stat = stat(child.as_raw_pid())?;
    (stat.parent == parent.as_raw_pid()).then_some(HeldProcess {
        pid: child,
        descriptor,
    })
}

/// Whether the process behind a pidfd has not ended yet.
fn is_alive(descriptor: BorrowedFd<'_>) -> bool {
    let mut set = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
    matches!(poll(&mut set, Some(&Timespec::default())), Ok(0))
}

fn children(parent: Pid) -> Vec<Pid> {
    let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else {
        return Vec::new();
    };
    let lists = threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let mut children = Vec::new();
    for list in lists {
        children.extend(parse_children(&list));
    }
    children
}

/// The numbers in a file `children` of `/proc`.
pub(super) fn parse_children(list: &str) -> impl Iterator<Item = Pid> {
    list.split_ascii_whitespace()
        .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
}

/// What is known of a process; `None` if there is none of this number.
pub(super) fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The program's name stands in parentheses and may itself contain anything, parentheses too.
fn parse_stat(bytes: &[u8]) -> Option<Stat> {
    let after_name = memchr::memrchr(b')', bytes)? + 1;
    let mut fields = std::str::from_utf8(&bytes[after_name..])
        .ok()?
        .split_ascii_whitespace();
    Some(Stat {
        state: *fields.next()?.as_bytes().first()?,
        parent: fields.next()?.parse().ok()?,
        group: fields.next()?.parse().ok()?,
        session: fields.next()?.parse().ok()?,
        // The 22nd field; the state is the third.
        began: fields.nth(15)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_cannot_fake_the_fields() {
        let line = b"12 (a) Z 1 1 (\xFF) R 7 8 9 0 -1 1 2 3 4 5 6 7 8 9 10 20 1 0 77 1 2\n";
        let expected = Stat {
            state: b'R',
            parent: 7,
            group: 8,
            session: 9,
            began: 77,
        };
        assert_eq!(parse_stat(line), Some(expected));
    }

    #[test]
    fn broken_lines_are_no_processes() {
        for line in ["", "12", "12 (x)", "12 (x) R", "12 (x) R 1", "12 (x) R a b"] {
            assert_eq!(parse_stat(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn this_process_is_in_the_table() {
        let own = rustix::process::getpid();
        let group = rustix::process::getpgrp();
        let stat = stat(own.as_raw_pid()).unwrap();
        assert_eq!(stat.group, group.as_raw_pid());
        assert!(has_living_member(group));
    }

    proptest! {
        #[test]
        fn any_name_is_skipped(name in prop::collection::vec(any::<u8>(), 0..20), group in 1..i32::MAX) {
            let mut line = b"1 (".to_vec();
            line.extend(name);
            line.extend(format!(") S 1 {group} {group} {}7 0", "0 ".repeat(15)).bytes());
            prop_assert_eq!(parse_stat(&line).map(|stat| stat.group), Some(group));
        }

        #[test]
        fn lists_of_children_are_read_whole(pids in prop::collection::vec(1..i32::MAX, 0..20)) {
            let list: Vec<String> = pids.iter().map(ToString::to_string).collect();
            let list = list.join(" ");
            let read: Vec<i32> = parse_children(&list).map(Pid::as_raw_pid).collect();
            prop_assert_eq!(read, pids);
        }
    }
}
