//! The registry of the running children of this program. It kills them at exit, assigns orphans to their calls, and
//! lists them for the guardian.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
#[cfg(target_os = "linux")]
use std::{sync::OnceLock, time::Instant};

use rustix::process::Pid;

#[cfg(target_os = "linux")]
use super::escalation::{CLEANUP_TIMEOUT, OrphanAction};
#[cfg(target_os = "linux")]
use super::guardian::Guardian;
#[cfg(target_os = "linux")]
use super::orphans::{CallIdentity, FoundOrphans, Orphans, OtherCall};
use super::process_tree::ProcessTree;
use turnpipe_core::io::Lock;
#[cfg(target_os = "linux")]
use turnpipe_core::process_table;

/// Supervises the children of a program. Clones share their state, and all [`super::Spawners`] of a program
/// share one supervisor: with several, each would take the orphans of the others for its own.
#[derive(Debug, Clone, Default)]
pub struct Supervisor {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    children: Mutex<Children>,
    #[cfg(target_os = "linux")]
    orphans: Orphans,
    /// The variable that marks children, if there is to be a guardian.
    #[cfg(target_os = "linux")]
    mark: OnceLock<String>,
    /// The guardian, once started; `None` if it could not be started.
    #[cfg(target_os = "linux")]
    guardian: OnceLock<Option<Guardian>>,
}

/// The children by their keys.
#[derive(Debug, Default)]
struct Children {
    next_key: u64,
    running: BTreeMap<u64, Child>,
    /// Killed children that have not ended yet.
    abandoned: Vec<ProcessTree>,
}

#[derive(Debug)]
struct Child {
    state: ChildState,
    /// Start time, on the clock of the process table.
    #[cfg(target_os = "linux")]
    start_time: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChildState {
    Starting,
    /// Starting, to be killed as soon as it has started.
    StartingToBeKilled,
    Running(Pid),
}

/// The entry of one child, from before its start to its end.
#[derive(Debug)]
pub(super) struct Registration {
    pub(super) supervisor: Supervisor,
    key: u64,
    #[cfg(target_os = "linux")]
    start_time: u64,
    /// The entry in the table of the guardian.
    #[cfg(target_os = "linux")]
    entry: Option<usize>,
}

impl Supervisor {
    /// Ensures that no process outlives this program. Orphans of children are adopted and end with the calls that
    /// started them, and a guardian process kills all children if this program is killed. Must be called before the
    /// first child, by a program that calls [`super::run_as_guardian`] when it starts. `mark` is a variable that all
    /// children have in their environment, as `NAME=value`.
    ///
    /// Does nothing on systems other than Linux.
    ///
    /// # Errors
    /// The kernel does not let this process adopt orphans; the guardian still works.
    pub fn guard(&self, mark: &str) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            // Later calls keep the first mark.
            let _ = self.shared.mark.set(mark.to_owned());
            self.shared.orphans.adopt()?;
        }
        #[cfg(not(target_os = "linux"))]
        let _ = mark;
        Ok(())
    }

    /// Kills all children and the processes that these started, including children that are being
    /// started. The calls that run them return soon, and report that SIGKILL ended them.
    pub fn kill_all(&self) {
        let mut leaders = Vec::new();
        for child in self.shared.children.lock_anyway().running.values_mut() {
            match child.state {
                ChildState::Running(leader) => leaders.push(leader),
                ChildState::Starting => child.state = ChildState::StartingToBeKilled,
                ChildState::StartingToBeKilled => {}
            }
        }
        self.kill(&leaders);
        #[cfg(target_os = "linux")]
        {
            let until = Instant::now() + CLEANUP_TIMEOUT;
            self.shared.orphans.kill_all(until, self.guardian_pid());
        }
    }

    /// Registers a child that is about to be started.
    pub(super) fn register(&self) -> Registration {
        #[cfg(target_os = "linux")]
        let (entry, start_time) = (self.add_to_guardian(), process_table::clock_ticks());
        let mut children = self.shared.children.lock_anyway();
        let key = children.next_key;
        children.next_key += 1;
        let child = Child {
            state: ChildState::Starting,
            #[cfg(target_os = "linux")]
            start_time,
        };
        children.running.insert(key, child);
        drop(children);
        Registration {
            supervisor: self.clone(),
            key,
            #[cfg(target_os = "linux")]
            start_time,
            #[cfg(target_os = "linux")]
            entry,
        }
    }

    /// Keeps a child that survived SIGKILL, since it hangs in the kernel. It is waited for when a later child ends, so
    /// that it does not stay a zombie.
    pub(super) fn abandon(&self, tree: ProcessTree) {
        self.shared.children.lock_anyway().abandoned.push(tree);
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "like the one for Linux")]
    fn kill(&self, leaders: &[Pid]) {
        for leader in leaders {
            // The group may have ended.
            let _ = rustix::process::kill_process_group(*leader, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(target_os = "linux")]
impl Supervisor {
    /// Whether orphans become children of this process.
    pub(super) fn adopts_orphans(&self) -> bool {
        self.shared.orphans.is_adopting()
    }

    /// Waits for the orphans that have ended. Returns whether there were any.
    pub(super) fn reap_orphans(&self) -> bool {
        self.shared.orphans.reap(self.guardian_pid())
    }

    fn guardian_pid(&self) -> Option<Pid> {
        self.shared.guardian.get()?.as_ref().map(Guardian::pid)
    }

    /// Adds a call to the table of the guardian, which is started for the first call. Returns the entry; `None` without
    /// a guardian.
    fn add_to_guardian(&self) -> Option<usize> {
        let mark = self.shared.mark.get()?;
        let guardian = &self.shared.guardian;
        let started = guardian.get_or_init(|| Guardian::start(mark).ok());
        Some(started.as_ref()?.add_call())
    }

    /// Kills all processes in the sessions of these leaders and their descendants. Other threads may wait
    /// for the leaders meanwhile, so each process is compared with the process table before it is killed.
    fn kill(&self, leaders: &[Pid]) {
        let sessions: Vec<i32> = leaders.iter().map(|leader| leader.as_raw_pid()).collect();
        if sessions.is_empty() {
            return;
        }
        let is_root = |_: i32, stat: &process_table::Stat| sessions.contains(&stat.session);
        let leaders = sessions.iter().copied();
        let victims = process_table::find_living_family(leaders, self.adopts_orphans(), is_root);
        for (pid, seen) in victims {
            let is_same = |now: &process_table::Stat| now.start_time == seen.start_time;
            process_table::signal_if(pid, is_same, rustix::process::Signal::KILL);
        }
    }
}

impl Registration {
    /// Sets the leader of a started child. Kills the child if [`Supervisor::kill_all`] was called
    /// meanwhile.
    pub(super) fn set_leader(&self, tree: &mut ProcessTree) {
        let leader = tree.leader();
        #[cfg(target_os = "linux")]
        if let Some((guardian, entry)) = self.guardian_entry() {
            guardian.set_leader(entry, leader);
        }
        let before = self
            .supervisor
            .shared
            .children
            .lock_anyway()
            .running
            .get_mut(&self.key)
            .map(|child| std::mem::replace(&mut child.state, ChildState::Running(leader)));
        if before == Some(ChildState::StartingToBeKilled) {
            tree.kill();
        }
    }
}

#[cfg(target_os = "linux")]
impl Registration {
    /// Returns the guardian, and the entry in its table.
    fn guardian_entry(&self) -> Option<(&Guardian, usize)> {
        let guardian = self.supervisor.shared.guardian.get()?.as_ref()?;
        Some((guardian, self.entry?))
    }

    /// Finds the adopted orphans of this child. `leader` is its process id, and `pipes` the inodes of its output pipes.
    pub(super) fn orphans(&self, leader: Pid, pipes: &[u64], action: OrphanAction) -> FoundOrphans {
        let claim = CallIdentity {
            leader,
            start_time: self.start_time,
            pipes,
        };
        let supervisor = &self.supervisor;
        let (orphans, guardian) = (&supervisor.shared.orphans, supervisor.guardian_pid());
        orphans.find_of_call(claim, || self.list_other_calls(), action, guardian)
    }

    /// Returns the other running calls.
    fn list_other_calls(&self) -> Vec<OtherCall> {
        let children = self.supervisor.shared.children.lock_anyway();
        let others = children.running.iter().filter(|(key, _)| **key != self.key);
        others
            .map(|(_, child)| OtherCall {
                leader: match child.state {
                    ChildState::Running(leader) => Some(leader),
                    ChildState::Starting | ChildState::StartingToBeKilled => None,
                },
                start_time: child.start_time,
            })
            .collect()
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some((guardian, entry)) = self.guardian_entry() {
            guardian.remove_call(entry);
        }
        let mut children = self.supervisor.shared.children.lock_anyway();
        children.running.remove(&self.key);
        children.abandoned.retain_mut(|tree| {
            tree.poll_end();
            tree.status().is_none()
        });
    }
}
