//! The process-wide list of children that are running, so that nothing survives our own exit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::group::Group;
use super::tree::Tree;

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
enum Child {
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
}

impl Registration {
    /// Enters a child that is about to be started.
    pub(super) fn before_start() -> Self {
        let mut live = lock();
        let key = live.next;
        live.next += 1;
        live.children.insert(key, Child::Starting);
        Self { key }
    }

    /// Notes that it runs, or kills it if [`kill_all`] came in between.
    pub(super) fn started(&self, group: &Arc<Group>) {
        let before = lock()
            .children
            .insert(self.key, Child::Running(Arc::clone(group)));
        if matches!(before, Some(Child::Doomed)) {
            Tree::of(Arc::clone(group)).kill();
        }
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
        match child {
            Child::Running(group) => Tree::of(Arc::clone(group)).kill(),
            Child::Starting => *child = Child::Doomed,
            Child::Doomed => {}
        }
    }
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
