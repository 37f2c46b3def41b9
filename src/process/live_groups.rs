//! The process-wide list of children that are running, so that nothing survives our own exit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::group::Group;
use super::tree::Tree;
#[cfg(target_os = "linux")]
use super::{orphans, process_table::HeldProcess};

static LIVE: Mutex<Live> = Mutex::new(Live {
    next: 0,
    children: BTreeMap::new(),
    abandoned: Vec::new(),
});

#[derive(Debug)]
struct Live {
    next: u64,
    children: BTreeMap<u64, Child>,
    abandoned: Vec<Arc<Group>>,
}

#[derive(Debug)]
struct Child {
    stage: Stage,
    /// On the clock of the process table.
    #[cfg(target_os = "linux")]
    began: u64,
}

#[derive(Debug)]
enum Stage {
    /// On its way to being started.
    Starting,
    /// To be killed as soon as it is started.
    Doomed,
    Running(Arc<Group>),
}

/// One child's place on the list, from before its start to its end.
#[derive(Debug)]
pub(super) struct Registration {
    key: u64,
    #[cfg(target_os = "linux")]
    began: u64,
}

impl Registration {
    /// Enters a child that is about to be started.
    pub(super) fn before_start() -> Self {
        #[cfg(target_os = "linux")]
        let began = orphans::now();
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
        }
    }

    /// Notes that it runs, or kills it if [`kill_all`] came in between.
    pub(super) fn started(&self, group: &Arc<Group>) {
        let before = lock()
            .children
            .get_mut(&self.key)
            .map(|child| std::mem::replace(&mut child.stage, Stage::Running(Arc::clone(group))));
        if matches!(before, Some(Stage::Doomed)) {
            Tree::of(Arc::clone(group)).kill();
        }
    }

    /// The adopted orphans that belong to this child, which leads `group` and writes to `pipes`.
    #[cfg(target_os = "linux")]
    pub(super) fn orphans(&self, group: &Group, pipes: &[u64]) -> Vec<HeldProcess> {
        let claim = orphans::Claim {
            leader: group.leader(),
            began: self.began,
            pipes,
        };
        orphans::of_call(claim, || self.rivals())
    }

    #[cfg(target_os = "linux")]
    fn rivals(&self) -> Vec<orphans::Rival> {
        let live = lock();
        let others = live.children.iter().filter(|(key, _)| **key != self.key);
        others
            .map(|(_, child)| orphans::Rival {
                leader: match &child.stage {
                    Stage::Running(group) => Some(group.leader()),
                    Stage::Starting | Stage::Doomed => None,
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
        reap_abandoned(&mut live);
    }
}

/// Kills every child on the list and what it started, and those that are just being started.
pub(super) fn kill_all() {
    // The lock is held to the end: no leader is waited for before its place is given up, so no
    // number on the list can mean another process.
    let mut live = lock();
    for child in live.children.values_mut() {
        match &child.stage {
            Stage::Running(group) => Tree::of(Arc::clone(group)).kill(),
            Stage::Starting => child.stage = Stage::Doomed,
            Stage::Doomed => {}
        }
    }
    #[cfg(target_os = "linux")]
    orphans::kill_all();
}

/// Takes a group whose leader even KILL did not end (it hangs in the kernel). It is waited for when
/// a later child ends, so that it does not stay a zombie.
pub(super) fn abandon(group: Arc<Group>) {
    lock().abandoned.push(group);
}

fn reap_abandoned(live: &mut Live) {
    live.abandoned.retain(|group| match group.leader_status() {
        Some(_) => {
            group.reap();
            false
        }
        None => true,
    });
}

fn lock() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}
