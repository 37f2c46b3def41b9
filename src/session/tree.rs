//! The live branch of a file whose records name their parents. Does no I/O.
//!
//! The last record that can end a branch is the end of the live one. The parents are followed from
//! there. Parallel calls turn the chain into a graph: records of one message have different
//! parents. Therefore all records of a message on the branch belong to it, and so do the results
//! of their calls.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use uuid::Uuid;

use super::lines::Place;
use crate::agent::{Entry, Part};
use crate::message::{Message, Origin};

/// The part of a session to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The current conversation with its history, without abandoned branches.
    Live,
    /// The current conversation since the last compaction.
    SinceCompaction,
    /// All messages, including abandoned branches.
    AllBranches,
}

/// An id of fixed size. Files may contain millions of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key(u128);

impl Key {
    /// Converts an id. UUIDs keep their bits. Other ids are hashed to 128 bits.
    pub(super) fn of(id: &str) -> Self {
        if let Ok(uuid) = Uuid::try_parse(id) {
            return Self(uuid.as_u128());
        }
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, id).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        Self(half(1) << 64 | half(2))
    }
}

/// All records that are nodes.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    by_id: HashMap<Key, usize>,
    by_message: HashMap<Key, Vec<usize>>,
    answers: HashMap<Key, Vec<usize>>,
    /// Recaps, by their parents.
    recaps: HashMap<Key, Vec<usize>>,
    /// Turns without an id. With any of these, the file is not a tree.
    loose_turns: u64,
    /// Records whose id was already used.
    repeated: u64,
}

#[derive(Debug)]
struct Node {
    id: Key,
    place: Place,
    parent: Option<Key>,
    logical_parent: Option<Key>,
    part: Part,
    message: Option<Key>,
    calls: Vec<Key>,
}

/// The live branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Branch {
    /// The records, in order.
    pub(super) places: Vec<Place>,
    /// The number of turns on other branches.
    pub(super) left_out: u64,
}

impl Tree {
    /// Adds a record.
    pub(super) fn add(&mut self, entry: &Entry, place: Place) {
        let Some(uuid) = &entry.uuid else {
            let is_turn = entry.part == Part::Turn && !entry.messages.is_empty();
            self.loose_turns += u64::from(is_turn);
            return;
        };
        let at = self.nodes.len();
        let id = Key::of(uuid);
        let message = entry.messages.first().and_then(|said| said.id.as_deref());
        let message = message.map(Key::of);
        if self.by_id.contains_key(&id) {
            self.repeated += 1;
            // A message whose records share its id may have several records.
            if message != Some(id) {
                return;
            }
        }
        self.by_id.insert(id, at);
        let node = Node {
            id,
            place,
            parent: entry.parent.as_deref().map(Key::of),
            logical_parent: entry.logical_parent.as_deref().map(Key::of),
            part: entry.part,
            message,
            calls: keys(
                entry
                    .messages
                    .iter()
                    .flat_map(Message::calls)
                    .map(|call| &call.id),
            ),
        };
        if let Some(message) = message {
            self.by_message.entry(message).or_default().push(at);
        }
        let results = entry.messages.iter().flat_map(Message::results);
        for answer in keys(results.map(|result| &result.id)) {
            self.answers.entry(answer).or_default().push(at);
        }
        let is_recap = |message: &Message| message.origin == Origin::Recap;
        if let Some(parent) = node.parent.filter(|_| entry.messages.iter().any(is_recap)) {
            self.recaps.entry(parent).or_default().push(at);
        }
        self.nodes.push(node);
    }

    /// Whether the file is a tree: every turn is a node, and ids are unique.
    pub(super) fn is_whole(&self) -> bool {
        let has_ids = self.repeated < self.by_id.len() as u64;
        self.loose_turns == 0 && has_ids
    }

    /// Returns the records whose parent is not in the file.
    pub(super) fn missing_parents(&self) -> Vec<Place> {
        let is_missing = |parent: Key| !self.by_id.contains_key(&parent);
        let nodes = self.nodes.iter();
        nodes
            .filter(|node| node.parent.is_some_and(is_missing))
            .map(|node| node.place)
            .collect()
    }

    /// Returns one record of each cycle of parents.
    pub(super) fn cycles(&self) -> Vec<Place> {
        // The number of the walk that visited the node, or 0.
        let mut walks = vec![0_u32; self.nodes.len()];
        let mut found = Vec::new();
        for (start, walk) in (0..self.nodes.len()).zip(1..) {
            let mut at = start;
            while walks[at] == 0 {
                walks[at] = walk;
                match self.place_of(self.nodes[at].parent) {
                    Some(parent) => at = parent,
                    None => break,
                }
                if walks[at] == walk {
                    found.push(self.nodes[at].place);
                }
            }
        }
        found
    }

    fn place_of(&self, id: Option<Key>) -> Option<usize> {
        self.by_id.get(&id?).copied()
    }

    /// Returns the parent of a record. After a compaction there is only a logical parent. If the
    /// parent is missing, the previous turn in the file is used.
    fn before(&self, at: usize, scope: Scope) -> Option<usize> {
        let node = &self.nodes[at];
        let logical = node
            .logical_parent
            .filter(|_| scope != Scope::SinceCompaction);
        if node.parent.is_none() && logical.is_none() {
            return None;
        }
        let mut earlier = self.nodes[..at].iter();
        self.place_of(node.parent)
            .or_else(|| self.place_of(logical))
            .or_else(|| earlier.rposition(|node| node.part == Part::Turn))
    }

    /// Returns the live branch.
    pub(super) fn branch(&self, scope: Scope) -> Branch {
        let mut on_branch = HashSet::new();
        let mut order = Vec::new();
        let mut next = self.leaf();
        while let Some(at) = next.filter(|at| on_branch.insert(*at)) {
            order.push(at);
            next = self.before(at, scope);
        }
        order.reverse();
        let order = self.with_siblings(&order, &on_branch);
        let turns = |nodes: &mut dyn Iterator<Item = &Node>| {
            nodes.filter(|node| node.part == Part::Turn).count() as u64
        };
        let kept = turns(&mut order.iter().map(|at| &self.nodes[*at]));
        Branch {
            left_out: turns(&mut self.nodes.iter()) - kept,
            places: order.into_iter().map(|at| self.nodes[at].place).collect(),
        }
    }

    /// Returns the end of the live branch. It belongs to a subagent only if there are no other records.
    fn leaf(&self) -> Option<usize> {
        let ends = |node: &Node| matches!(node.part, Part::Turn | Part::Step);
        let end = self.nodes.iter().rposition(ends);
        end.or_else(|| self.nodes.len().checked_sub(1))
    }

    /// Adds the other records of messages on the branch next to them, and the results of their
    /// calls and recaps after them.
    fn with_siblings(&self, branch: &[usize], on_branch: &HashSet<usize>) -> Vec<usize> {
        let mut order = Vec::with_capacity(branch.len());
        let mut placed = HashSet::new();
        let mut push = |at: usize| {
            if placed.insert(at) {
                order.push(at);
            }
        };
        for at in branch {
            let message = self.nodes[*at].message;
            let siblings = message.and_then(|message| self.by_message.get(&message));
            let mut late = Vec::new();
            for sibling in siblings.into_iter().flatten() {
                push(*sibling);
                for call in &self.nodes[*sibling].calls {
                    let answers = self.answers.get(call).into_iter().flatten();
                    late.extend(answers.filter(|answer| !on_branch.contains(answer)));
                }
            }
            // Written by another program; the agent continued without reading it.
            let recaps = self.recaps.get(&self.nodes[*at].id).into_iter().flatten();
            late.extend(recaps.filter(|recap| !on_branch.contains(recap)));
            push(*at);
            late.sort_unstable();
            late.into_iter().for_each(&mut push);
        }
        order
    }
}

fn keys<'a>(ids: impl Iterator<Item = &'a String>) -> Vec<Key> {
    ids.map(|id| Key::of(id)).collect()
}

/// Values in the order of their first occurrence. A value with a known key is a copy of an earlier one; a
/// value without a key is distinct.
#[derive(Debug)]
pub(super) struct Distinct<Value> {
    places: HashMap<Key, usize>,
    values: Vec<(Option<Key>, Value)>,
}

impl<Value> Default for Distinct<Value> {
    fn default() -> Self {
        Self {
            places: HashMap::new(),
            values: Vec::new(),
        }
    }
}

impl<Value> Distinct<Value> {
    /// Adds a value, or joins it with the value that has the same key. Returns its index.
    pub(super) fn put(
        &mut self,
        key: Option<Key>,
        value: Value,
        join: impl FnOnce(&mut Value, Value),
    ) -> usize {
        let place = key.and_then(|key| self.places.get(&key).copied());
        if let Some(place) = place {
            join(&mut self.values[place].1, value);
            return place;
        }
        let place = self.values.len();
        self.places.extend(key.map(|key| (key, place)));
        self.values.push((key, value));
        place
    }

    /// Adds the values of another list.
    pub(super) fn append(&mut self, other: Self, join: impl Fn(&mut Value, Value)) {
        for (key, value) in other.values {
            self.put(key, value, &join);
        }
    }

    /// Removes the values that `keeps` refuses. Nothing may be added afterwards.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&mut Value) -> bool) {
        let before = self.values.len();
        self.values.retain_mut(|(_, value)| keeps(value));
        if self.values.len() < before {
            let keys = self.values.iter().map(|(key, _)| *key).zip(0..);
            self.places = keys
                .filter_map(|(key, place)| Some((key?, place)))
                .collect();
        }
    }

    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the value at an index.
    pub(super) fn at(&mut self, place: usize) -> Option<&mut Value> {
        self.values.get_mut(place).map(|(_, value)| value)
    }

    /// Returns the values.
    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter().map(|(_, value)| value)
    }

    /// Returns mutable references to the values.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.values.iter_mut().map(|(_, value)| value)
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
