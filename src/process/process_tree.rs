//! A child and all that it started: watching the child, signalling all of them.
//!
//! The group is signalled by its number. That is safe as long as the leader was not waited for or
//! a member lives. What left the group is found in the process table, and is signalled through a
//! descriptor that was compared with what the table says.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};

use super::ExitStatus;
use super::escalation::Rest;
#[cfg(target_os = "linux")]
use super::orphans;
#[cfg(target_os = "linux")]
use super::process_table::{
    ProcessTable, Stat, family, living_descendants, read_table, signal_if, stat,
};

/// A child that leads its own group, with everything that it started.
#[derive(Debug)]
pub(super) struct ProcessTree {
    leader: Pid,
    descriptor: Option<OwnedFd>,
    status: Option<ExitStatus>,
    /// All processes seen so far. A process that loses its parent can no longer be attributed.
    #[cfg(target_os = "linux")]
    known: ProcessTable,
}

impl ProcessTree {
    /// Takes charge of a child that was just started and not yet waited for.
    pub(super) fn of(leader: Pid) -> Self {
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
        }
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// A descriptor that becomes readable when the leader ends; `None` if the system has none.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(AsFd::as_fd)
    }

    /// How the leader ended, once noticed; see [`ProcessTree::look_for_end`].
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Notices whether the leader has ended.
    pub(super) fn look_for_end(&mut self) {
        if self.status.is_some() {
            return;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        self.status = match waitid(WaitId::Pid(self.leader), options) {
            Ok(status) => status.map(|status| exit_status(&status)),
            Err(rustix::io::Errno::INTR) => None,
            // Other code of this process waited for it: the status is lost.
            Err(_) => Some(ExitStatus::Code(-1)),
        };
    }
}

#[cfg(target_os = "linux")]
impl ProcessTree {
    /// Takes in orphans, so that they and what they start end with the rest.
    pub(super) fn adopt(&mut self, orphans: ProcessTable) {
        self.known.extend(orphans);
    }

    /// Asks all to end. A stopped process acts on that only when it is continued.
    pub(super) fn terminate(&mut self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Ends all.
    pub(super) fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    /// Whether anything lives apart from the leader, which must have ended.
    pub(super) fn rest(&mut self) -> Rest {
        let group_is_empty =
            rustix::process::test_kill_process_group(self.leader) == Err(rustix::io::Errno::SRCH);
        if (self.known.is_empty() && group_is_empty) || self.find().is_empty() {
            Rest::Gone
        } else {
            Rest::Alive
        }
    }

    /// All members that live. They are found before any signal, while their parents live. What has
    /// lost its parent was adopted before.
    fn find(&mut self) -> ProcessTable {
        let leader = self.leader.as_raw_pid();
        let is_known = |pid: i32, stat: &Stat| {
            let known = self.known.get(&pid);
            stat.session == leader || known.is_some_and(|known| known.began == stat.began)
        };
        let members = if orphans::are_adopted() {
            let seen = self.known.keys().copied().chain([leader]);
            let is_still = |pid: &i32| stat(*pid).is_some_and(|stat| is_known(*pid, &stat));
            family(seen.filter(is_still))
        } else {
            living_descendants(&read_table(), is_known)
        };
        self.known.clone_from(&members);
        members
    }

    /// The group first: what leaves it at this moment is then found outside.
    fn signal(&mut self, signal: Signal) {
        let group = self.leader.as_raw_pid();
        let members = self.find();
        if self.status.is_none() || members.values().any(|stat| stat.group == group) {
            let _ = kill_process_group(self.leader, signal);
        }
        for (pid, seen) in members {
            let is_outside = |now: &Stat| now.began == seen.began && now.group != group;
            signal_if(pid, is_outside, signal);
        }
    }
}

/// Without a process table only the group is known, and not whether anything of it is left.
#[cfg(not(target_os = "linux"))]
impl ProcessTree {
    pub(super) fn terminate(&mut self) {
        let _ = kill_process_group(self.leader, Signal::TERM);
        let _ = kill_process_group(self.leader, Signal::CONT);
    }

    pub(super) fn kill(&mut self) {
        let _ = kill_process_group(self.leader, Signal::KILL);
    }

    pub(super) fn rest(&mut self) -> Rest {
        self.kill();
        Rest::Gone
    }
}

fn exit_status(status: &WaitIdStatus) -> ExitStatus {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ExitStatus::Code(code),
        (None, Some(signal)) => ExitStatus::Signal(signal),
        (None, None) => ExitStatus::Code(-1),
    }
}
