//! The children of this process that run, so that nothing survives our own exit and each orphan
//! finds its call.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

use super::process_tree::ProcessTree;
#[cfg(target_os = "linux")]
use super::{guardian, orphans, process_table};

static LIVE: Mutex<Live> = Mutex::new(Live {
    next: 0,
    children: BTreeMap::new(),
    abandoned: Vec::new(),
});

#[derive(Debug)]
struct Live {
    next: u64,
    children: BTreeMap<u64, Child>,
    abandoned: Vec<ProcessTree>,
}

#[derive(Debug)]
struct Child {
    stage: Stage,
    /// On the clock of the process table.
    #[cfg(target_os = "linux")]
    began: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Starting,
    /// To be killed as soon as it is started.
    StartingToBeKilled,
    Running(Pid),
}

/// One child's place on the list, from before its start to its end.
#[derive(Debug)]
pub(super) struct Registration {
    key: u64,
    #[cfg(target_os = "linux")]
    began: u64,
    #[cfg(target_os = "linux")]
    guarded: Option<guardian::Entry>,
}

impl Registration {
    /// Enters a child that is about to be started.
    pub(super) fn before_start() -> Self {
        #[cfg(target_os = "linux")]
        let (guarded, began) = (guardian::enter(), process_table::now());
        let mut live = lock();
        let key = live.next;
        live.next += 1;
        let child = Child {
            stage: Stage::Starting,
            #[cfg(target_os = "linux")]
            began,
        };
        live.children.insert(key, child);
        Self {
            key,
            #[cfg(target_os = "linux")]
            began,
            #[cfg(target_os = "linux")]
            guarded,
        }
    }

    /// Notes that it runs, or kills it if [`kill_all`] came in between.
    pub(super) fn started(&self, tree: &mut ProcessTree) {
        let leader = tree.leader();
        #[cfg(target_os = "linux")]
        if let Some(guarded) = &self.guarded {
            guarded.started(leader);
        }
        let before = lock()
            .children
            .get_mut(&self.key)
            .map(|child| std::mem::replace(&mut child.stage, Stage::Running(leader)));
        if before == Some(Stage::StartingToBeKilled) {
            tree.kill();
        }
    }

    /// The adopted orphans that belong to this child, which leads `leader`'s group and writes to
    /// `pipes`.
    #[cfg(target_os = "linux")]
    pub(super) fn orphans(
        &self,
        leader: Pid,
        pipes: &[u64],
        treatment: super::escalation::Treatment,
    ) -> orphans::Found {
        let claim = orphans::Claim {
            leader,
            began: self.began,
            pipes,
        };
        orphans::of_call(claim, || self.rivals(), treatment)
    }

    #[cfg(target_os = "linux")]
    fn rivals(&self) -> Vec<orphans::Rival> {
        let live = lock();
        let others = live.children.iter().filter(|(key, _)| **key != self.key);
        others
            .map(|(_, child)| orphans::Rival {
                leader: match child.stage {
                    Stage::Running(leader) => Some(leader),
                    Stage::Starting | Stage::StartingToBeKilled => None,
                },
                began: child.began,
            })
            .collect()
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut live = lock();
        live.children.remove(&self.key);
        live.abandoned.retain_mut(|tree| {
            tree.look_for_end();
            tree.status().is_none()
        });
    }
}

/// Kills every child on the list and what it started, and those that are just being started.
pub(super) fn kill_all() {
    let mut leaders = Vec::new();
    for child in lock().children.values_mut() {
        match child.stage {
            Stage::Running(leader) => leaders.push(leader),
            Stage::Starting => child.stage = Stage::StartingToBeKilled,
            Stage::StartingToBeKilled => {}
        }
    }
    kill(&leaders);
    #[cfg(target_os = "linux")]
    orphans::kill_all(std::time::Instant::now() + super::escalation::PERSISTENCE);
}

/// Takes a child that even KILL did not end (it hangs in the kernel). It is waited for when a later
/// child ends, so that it does not stay a zombie.
pub(super) fn abandon(tree: ProcessTree) {
    lock().abandoned.push(tree);
}

/// Kills all of these sessions, and what descends from them. The threads that watch the leaders may
/// wait for them meanwhile, so no number is used that the process table does not confirm.
#[cfg(target_os = "linux")]
fn kill(leaders: &[Pid]) {
    let sessions: Vec<i32> = leaders.iter().map(|leader| leader.as_raw_pid()).collect();
    if sessions.is_empty() {
        return;
    }
    let is_root = |_: i32, stat: &process_table::Stat| sessions.contains(&stat.session);
    let victims = if orphans::are_adopted() {
        let leads = |pid: &i32| process_table::stat(*pid).is_some_and(|stat| is_root(*pid, &stat));
        process_table::family(sessions.iter().copied().filter(leads))
    } else {
        process_table::living_descendants(&process_table::read_table(), is_root)
    };
    for (pid, seen) in victims {
        let is_same = |now: &process_table::Stat| now.began == seen.began;
        process_table::signal_if(pid, is_same, rustix::process::Signal::KILL);
    }
}

#[cfg(not(target_os = "linux"))]
fn kill(leaders: &[Pid]) {
    for leader in leaders {
        let _ = rustix::process::kill_process_group(*leader, rustix::process::Signal::KILL);
    }
}

fn lock() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}
