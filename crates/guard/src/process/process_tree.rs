//! A child and its descendants: waiting for the child, signalling all of them.
//!
//! The group is signalled by its number, which is safe until the leader was waited for and no member is alive.
//! Processes that left the group are found in the process table and signalled through a descriptor, after
//! a comparison with the table.

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};

use super::ExitStatus;
use super::escalation::Descendants;
#[cfg(target_os = "linux")]
use turnpipe_core::process_table::{ProcessTable, Stat, find_living_family, signal_if};

/// A child that leads its own group, with its descendants.
#[derive(Debug)]
pub(super) struct ProcessTree {
    leader: Pid,
    descriptor: Option<OwnedFd>,
    status: Option<ExitStatus>,
    /// The processes that were found so far. A process whose parent has ended cannot be found by descent.
    #[cfg(target_os = "linux")]
    known: ProcessTable,
    /// The sessions of these processes. A process that was forked during a signal, and whose parent that
    /// signal ended, is found by its session alone.
    #[cfg(target_os = "linux")]
    sessions: BTreeSet<i32>,
    /// Whether orphans are adopted, so that the lists of children are complete.
    #[cfg(target_os = "linux")]
    adopts_orphans: bool,
}

impl ProcessTree {
    /// Creates the tree of a child that was just started and not waited for.
    pub(super) fn new(leader: Pid, adopts_orphans: bool) -> Self {
        #[cfg(not(target_os = "linux"))]
        let _ = adopts_orphans;
        #[cfg(target_os = "linux")]
        let descriptor =
            rustix::process::pidfd_open(leader, rustix::process::PidfdFlags::empty()).ok();
        #[cfg(not(target_os = "linux"))]
        let descriptor = None;
        Self {
            leader,
            descriptor,
            status: None,
            #[cfg(target_os = "linux")]
            known: ProcessTable::new(),
            #[cfg(target_os = "linux")]
            sessions: BTreeSet::from([leader.as_raw_pid()]),
            #[cfg(target_os = "linux")]
            adopts_orphans,
        }
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// Returns a descriptor that becomes readable when the leader ends; `None` if none is available.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(AsFd::as_fd)
    }

    /// Returns the exit status of the leader, once [`ProcessTree::poll_end`] has found it.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Checks whether the leader has ended.
    pub(super) fn poll_end(&mut self) {
        if self.status.is_some() {
            return;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        self.status = match waitid(WaitId::Pid(self.leader), options) {
            Ok(status) => status.map(|status| to_exit_status(&status)),
            Err(rustix::io::Errno::INTR) => None,
            // Other code of this process waited for it, so the status is lost.
            Err(_) => Some(ExitStatus::Code(-1)),
        };
    }
}

#[cfg(target_os = "linux")]
impl ProcessTree {
    /// Adds orphans, so that they and their descendants are signalled, too.
    pub(super) fn adopt(&mut self, orphans: ProcessTable) {
        self.known.extend(orphans);
    }

    /// Sends SIGTERM to all processes, and continues stopped ones so that they handle it.
    pub(super) fn terminate(&mut self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Sends SIGKILL to all processes.
    pub(super) fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    /// Checks whether a descendant is alive. The leader must have ended.
    pub(super) fn descendants(&mut self) -> Descendants {
        let is_group_empty =
            rustix::process::test_kill_process_group(self.leader) == Err(rustix::io::Errno::SRCH);
        if (self.known.is_empty() && is_group_empty) || self.find_members().is_empty() {
            Descendants::Gone
        } else {
            Descendants::Alive
        }
    }

    /// Finds all living processes. They are searched before each signal, while their parents are alive; orphans were
    /// added before.
    fn find_members(&mut self) -> ProcessTable {
        let is_known = |pid: i32, stat: &Stat| {
            let known = self.known.get(&pid);
            self.sessions.contains(&stat.session)
                || known.is_some_and(|known| known.start_time == stat.start_time)
        };
        let seen = self.known.keys().copied().chain([self.leader.as_raw_pid()]);
        let members = find_living_family(seen, self.adopts_orphans, is_known);
        self.known.clone_from(&members);
        if !self.adopts_orphans {
            let sessions = members.values().map(|stat| stat.session);
            self.sessions.extend(sessions);
        }
        members
    }

    /// Sends a signal, first to the group, so that a process that leaves the group meanwhile is found outside it.
    fn signal(&mut self, signal: Signal) {
        let group = self.leader.as_raw_pid();
        let members = self.find_members();
        if self.status.is_none() || members.values().any(|stat| stat.group == group) {
            // The group may have ended.
            let _ = kill_process_group(self.leader, signal);
        }
        for (pid, seen) in members {
            let is_outside = |now: &Stat| now.start_time == seen.start_time && now.group != group;
            signal_if(pid, is_outside, signal);
        }
    }
}

/// Without a process table, only the group is known, but not whether members are alive.
#[cfg(not(target_os = "linux"))]
impl ProcessTree {
    pub(super) fn terminate(&mut self) {
        // The group may have ended.
        let _ = kill_process_group(self.leader, Signal::TERM);
        let _ = kill_process_group(self.leader, Signal::CONT);
    }

    pub(super) fn kill(&mut self) {
        // The group may have ended.
        let _ = kill_process_group(self.leader, Signal::KILL);
    }

    pub(super) fn descendants(&mut self) -> Descendants {
        self.kill();
        Descendants::Gone
    }
}

/// Converts the status of a child that has ended.
fn to_exit_status(status: &WaitIdStatus) -> ExitStatus {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ExitStatus::Code(code),
        (None, Some(signal)) => ExitStatus::Signal(signal),
        (None, None) => ExitStatus::Code(-1),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};

    use super::*;
    use turnpipe_core::process_table::stat;

    #[test]
    fn a_process_is_found_by_its_session_after_its_parent_ended() {
        // The inner shell leads a session; when told to, it starts a process and ends.
        let inner = "echo $$; read line; sleep 1000 & echo $!";
        let outer = "exec 3<&0; setsid sh -c \"$1\" <&3 & wait";
        let mut child = Command::new("setsid")
            .args(["sh", "-c", outer, "sh", inner])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut numbers = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map(|line| line.unwrap().parse::<i32>().unwrap());
        let mut tree = ProcessTree::new(Pid::from_child(&child), false);
        let inner = numbers.next().unwrap();
        assert!(tree.find_members().contains_key(&inner));
        writeln!(child.stdin.take().unwrap()).unwrap();
        let orphan = numbers.next().unwrap();
        while stat(inner).is_some_and(|stat| !stat.has_ended()) {
            std::thread::yield_now();
        }
        assert!(tree.find_members().contains_key(&orphan));
        tree.kill();
        child.wait().unwrap();
    }
}
