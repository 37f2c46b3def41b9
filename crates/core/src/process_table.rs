//! The processes in Linux's `/proc`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Processes by number. The table is not a snapshot: processes are read one after the other.
pub type ProcessTable = BTreeMap<i32, Stat>;

/// Fields of `/proc/<pid>/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// The state, as a letter.
    pub state: u8,
    /// The parent.
    pub parent: i32,
    /// The process group.
    pub group: i32,
    /// The session.
    pub session: i32,
    /// The start time, in clock ticks since the system's start. With the number it identifies a process,
    /// since a number is not reused within a tick.
    pub start_time: u64,
}

impl Stat {
    /// Whether it has ended and was not waited for.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }
}

/// Returns all processes; empty if `/proc` cannot be read.
pub fn read_table() -> ProcessTable {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, stat(pid)?)))
        .collect()
}

/// Returns the living processes that are a root or descend from one.
pub fn find_living_descendants(
    table: &ProcessTable,
    is_root: impl Fn(i32, &Stat) -> bool,
) -> ProcessTable {
    let descends = |pid: i32| {
        let parent = |pid: &i32| table.get(pid).map(|stat| stat.parent);
        // A chain of parents can be a cycle, since the table is not a snapshot.
        std::iter::successors(Some(pid), parent)
            .take(table.len())
            .any(|pid| table.get(&pid).is_some_and(|stat| is_root(pid, stat)))
    };
    let living = table.iter().filter(|(_, stat)| !stat.has_ended());
    living
        .filter(|(pid, _)| descends(**pid))
        .map(|(pid, stat)| (*pid, *stat))
        .collect()
}

/// Returns the living processes among the roots and their descendants. If orphans are adopted, only the `candidates`
/// are looked up: the lists of children are then complete.
pub fn find_living_family(
    candidates: impl IntoIterator<Item = i32>,
    adopts_orphans: bool,
    is_root: impl Fn(i32, &Stat) -> bool,
) -> ProcessTable {
    if !adopts_orphans {
        return find_living_descendants(&read_table(), is_root);
    }
    let is_root_still = |pid: &i32| stat(*pid).is_some_and(|stat| is_root(*pid, &stat));
    find_family(candidates.into_iter().filter(is_root_still))
}

/// Returns the living processes among `roots` and their descendants, from the lists of children. On a system
/// with many processes this is much faster than reading the table.
fn find_family(roots: impl IntoIterator<Item = i32>) -> ProcessTable {
    let mut family = ProcessTable::new();
    let mut pending: Vec<i32> = roots.into_iter().collect();
    while let Some(pid) = pending.pop() {
        let Some(stat) = stat(pid).filter(|_| !family.contains_key(&pid)) else {
            continue;
        };
        family.insert(pid, stat);
        let threads = fs::read_dir(format!("/proc/{pid}/task"));
        for thread in threads.into_iter().flatten().flatten() {
            let list = fs::read_to_string(thread.path().join("children"));
            // The thread may have ended.
            pending.extend(parse_children(&list.unwrap_or_default()));
        }
    }
    family.retain(|_, stat| !stat.has_ended());
    family
}

/// Sends a signal to the process with this number, if `is_expected` accepts it.
pub fn signal_if(pid: i32, is_expected: impl Fn(&Stat) -> bool, signal: Signal) {
    // The descriptor is opened first: the fields read after that belong to its process, or to a later one,
    // which does not get the signal.
    if let Some(raw) = Pid::from_raw(pid)
        && let Ok(descriptor) = pidfd_open(raw, PidfdFlags::empty())
        && stat(pid).is_some_and(|stat| is_expected(&stat))
    {
        // The process may have ended.
        let _ = pidfd_send_signal(&descriptor, signal);
    }
}

/// Returns the current time on the clock of [`Stat::start_time`].
pub fn clock_ticks() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let ticks = rustix::param::clock_ticks_per_second();
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds * ticks + nanoseconds * ticks / 1_000_000_000
}

/// Whether the process was started with this variable (`NAME=value`).
pub fn has_variable(process: i32, variable: &OsStr) -> bool {
    fs::read(format!("/proc/{process}/environ")).is_ok_and(|environment| {
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == variable.as_encoded_bytes())
    })
}

/// Whether the process has one of these pipes open, given by inode.
pub fn has_open_pipe(process: i32, pipes: &[u64]) -> bool {
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

/// Returns the numbers in a file `children` of `/proc`.
pub fn parse_children(list: &str) -> impl Iterator<Item = i32> {
    list.split_ascii_whitespace()
        .filter_map(|pid| pid.parse().ok())
}

/// Returns the fields of a process; `None` if no process has this number.
pub fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses a stat line. The program's name is in parentheses and may contain any byte, parentheses too.
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
        start_time: fields.nth(15)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(rows: &[(i32, i32, i32)]) -> ProcessTable {
        let stat = |parent, session| Stat {
            state: b'S',
            parent,
            group: session,
            session,
            start_time: 7,
        };
        rows.iter()
            .map(|(pid, parent, session)| (*pid, stat(*parent, *session)))
            .collect()
    }

    #[test]
    fn members_of_a_session_and_their_descendants_are_found() {
        let mut table = table(&[
            (1, 0, 1),
            // A session, a member without its parent, a process that left the session, and its child.
            (10, 1, 10),
            (11, 1, 10),
            (12, 11, 12),
            (13, 12, 12),
            // Others.
            (50, 1, 50),
            (51, 50, 50),
        ]);
        let found = |table: &ProcessTable| -> Vec<i32> {
            let members = find_living_descendants(table, |_, stat| stat.session == 10);
            members.into_keys().collect()
        };
        assert_eq!(found(&table), [10, 11, 12, 13]);
        table.get_mut(&12).unwrap().state = b'Z';
        assert_eq!(found(&table), [10, 11, 13]);
    }

    #[test]
    fn a_cycle_of_parents_terminates() {
        let table = table(&[(5, 6, 5), (6, 5, 6)]);
        assert!(find_living_descendants(&table, |_, stat| stat.session == 9).is_empty());
    }

    #[test]
    fn names_cannot_forge_fields() {
        let line = b"12 (a) Z 1 1 (\xFF) R 7 8 9 0 -1 1 2 3 4 5 6 7 8 9 10 20 1 0 77 1 2\n";
        let expected = Stat {
            state: b'R',
            parent: 7,
            group: 8,
            session: 9,
            start_time: 77,
        };
        assert_eq!(parse_stat(line), Some(expected));
    }

    #[test]
    fn a_broken_line_is_refused() {
        for line in ["", "12", "12 (x)", "12 (x) R", "12 (x) R 1", "12 (x) R a b"] {
            assert_eq!(parse_stat(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn this_process_is_in_the_table() {
        let own = rustix::process::getpid().as_raw_pid();
        let stat = read_table()[&own];
        assert_eq!(stat.group, rustix::process::getpgrp().as_raw_pid());
        let mut child = std::process::Command::new("sleep")
            .arg("1000")
            .spawn()
            .unwrap();
        let later = read_table()[&child.id().cast_signed()];
        assert!(
            stat.start_time <= later.start_time && later.start_time <= clock_ticks(),
            "{stat:?} {later:?}"
        );
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_child_of_any_thread_is_in_the_family() {
        let mut child = std::process::Command::new("sleep")
            .arg("1000")
            .spawn()
            .unwrap();
        let number = child.id().cast_signed();
        let own = rustix::process::getpid().as_raw_pid();
        assert!(find_family([own]).contains_key(&number));
        assert!(find_family([number]).into_keys().eq([number]));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(find_family([number]).is_empty());
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
            let read: Vec<i32> = parse_children(&list.join(" ")).collect();
            prop_assert_eq!(read, pids);
        }
    }
}
