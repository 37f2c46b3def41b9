//! All that one child started and that must end with it: its group, and the descendants that left
//! the group (`setsid`), as far as they can be found while their parents live or come to us after.

use std::sync::Arc;

use rustix::process::Signal;

use super::escalation::Rest;
use super::group::Group;
#[cfg(target_os = "linux")]
use super::process_table::{HeldProcess, descendants};

/// A group with the descendants of its leader.
#[derive(Debug)]
pub(super) struct Tree {
    group: Arc<Group>,
    /// Those inside the group too, for they may leave it at any moment.
    #[cfg(target_os = "linux")]
    descendants: Vec<HeldProcess>,
}

impl Tree {
    pub(super) fn of(group: Arc<Group>) -> Self {
        Self {
            group,
            #[cfg(target_os = "linux")]
            descendants: Vec::new(),
        }
    }

    /// Takes in orphans, so that they end with the rest.
    #[cfg(target_os = "linux")]
    pub(super) fn adopt(&mut self, orphans: Vec<HeldProcess>) {
        for orphan in orphans {
            let descendants = orphan.descendants();
            self.remember(descendants);
            self.remember(vec![orphan]);
        }
    }

    /// Asks all to end. A stopped process acts on that only when it is continued.
    pub(super) fn terminate(&mut self) {
        self.find_descendants();
        self.send(Signal::TERM);
        self.send(Signal::CONT);
    }

    /// Ends all.
    pub(super) fn kill(&mut self) {
        self.find_descendants();
        self.send(Signal::KILL);
    }

    /// Whether anything lives besides the leader, which must have ended.
    pub(super) fn rest(&self) -> Rest {
        #[cfg(target_os = "linux")]
        if self.descendants.iter().any(HeldProcess::is_alive) {
            return Rest::Alive;
        }
        self.group.rest()
    }

    /// The group first: whoever left it before that is found outside, and gets its own signal.
    fn send(&self, signal: Signal) {
        self.group.signal(signal);
        #[cfg(target_os = "linux")]
        for process in &self.descendants {
            if process.is_outside(self.group.leader()) {
                let _ = rustix::process::pidfd_send_signal(&process.descriptor, signal);
            }
        }
    }

    /// Parents are looked at before any signal, for an orphan is nobody's descendant any more.
    #[cfg(target_os = "linux")]
    fn find_descendants(&mut self) {
        self.descendants.retain(HeldProcess::is_alive);
        let mut found: Vec<HeldProcess> = self
            .descendants
            .iter()
            .flat_map(HeldProcess::descendants)
            .collect();
        if let Some(descriptor) = self.group.descriptor() {
            found.extend(descendants(self.group.leader(), descriptor));
        }
        self.remember(found);
    }

    #[cfg(target_os = "linux")]
    fn remember(&mut self, found: Vec<HeldProcess>) {
        for process in found {
            let is_known = |known: &HeldProcess| known.pid == process.pid && known.is_alive();
            if !self.descendants.iter().any(is_known) {
                self.descendants.push(process);
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn find_descendants(&mut self) {}
}
