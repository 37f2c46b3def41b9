//! The live branch of a file whose records name their parents. Does no I/O.
//!
//! The last record that can end a branch is the end of the live one. The parents are followed from
//! there. Parallel calls turn the chain into a graph: records of one message have different
//! parents. Therefore all records of a message on the branch belong to it, and so do the results
//! of their calls.

use std::collections::HashMap;
use std::mem::{replace, take};

use crate::files::distinct::{Key, to_index};
use crate::files::lines::Place;
use turnpipe_core::message::{Message, Origin};
use turnpipe_formats::agent::{Entry, Part};

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

/// No node: the parent of a first record, or the message of a record without one.
const NO_NODE: u32 = u32::MAX;

/// All records that are nodes.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    parts: Vec<Part>,
    /// The last node with each id.
    by_id: HashMap<Key, u32>,
    /// The first node of each message.
    by_message: HashMap<Key, u32>,
    /// Parents that were not in the file before the node.
    late_parents: HashMap<u32, Key>,
    logical_parents: HashMap<u32, Key>,
    /// Calls and the nodes that contain them, in order.
    calls: Vec<(u32, Key)>,
    /// The results of calls, and the nodes that contain them.
    results: Vec<(Key, u32)>,
    /// Recaps, by their parents.
    recaps: HashMap<Key, Vec<u32>>,
    /// Turns without an id. With any of these, the file is not a tree.
    turns_without_id: u64,
    /// Records whose id was already used.
    duplicate_count: u64,
}

#[derive(Debug)]
struct Node {
    id: Key,
    place: Place,
    /// A node with the id of the parent.
    parent: u32,
    /// The first node of its message.
    message: u32,
}

/// The live branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Branch {
    /// The records, in order.
    pub(crate) places: Vec<Place>,
    /// The number of turns on other branches.
    pub(crate) abandoned_turns: u64,
}

impl Tree {
    /// Adds a record.
    pub(crate) fn add(&mut self, entry: &Entry, place: Place) {
        let Some(uuid) = &entry.uuid else {
            let is_turn = entry.part == Part::Turn && !entry.messages.is_empty();
            self.turns_without_id += u64::from(is_turn);
            return;
        };
        let at = to_index(self.nodes.len());
        let id = Key::from_id(uuid);
        let first_message = entry.messages.first();
        let message = first_message.and_then(|message| Some(Key::from_id(message.id.as_deref()?)));
        if self.find_node(id).is_some() {
            self.duplicate_count += 1;
            // Records that have the id of their message share it: each is a part of the message.
            if message != Some(id) {
                return;
            }
        }
        let parent = entry.parent.as_deref().map(Key::from_id);
        let known_parent = parent.and_then(|parent| match self.nodes.last() {
            Some(last) if last.id == parent => Some(at - 1),
            _ => self.find_node(parent),
        });
        if let (Some(parent), None) = (parent, known_parent) {
            self.late_parents.insert(at, parent);
        }
        let logical = entry.logical_parent.as_deref().map(Key::from_id);
        self.logical_parents.extend(logical.map(|key| (at, key)));
        let first = message.map(|message| *self.by_message.entry(message).or_insert(at));
        self.nodes.push(Node {
            id,
            place,
            parent: known_parent.unwrap_or(NO_NODE),
            message: first.unwrap_or(NO_NODE),
        });
        self.parts.push(entry.part);
        self.by_id.insert(id, at);
        for message in &entry.messages {
            let calls = message.calls().map(|call| (at, Key::from_id(&call.id)));
            self.calls.extend(calls);
            let results = message
                .results()
                .map(|result| (Key::from_id(&result.id), at));
            self.results.extend(results);
        }
        let is_recap = |message: &Message| message.origin == Origin::Recap;
        if let Some(parent) = parent.filter(|_| entry.messages.iter().any(is_recap)) {
            self.recaps.entry(parent).or_default().push(at);
        }
    }

    /// Whether the file is a tree: every turn has an id, and at most half of the records repeat one. If more do, ids
    /// do not identify records.
    pub(crate) fn is_tree(&self) -> bool {
        let has_ids = self.duplicate_count < self.by_id.len() as u64;
        self.turns_without_id == 0 && has_ids
    }

    /// Returns the records whose parent is not in the file.
    pub(crate) fn find_orphans(&self) -> Vec<Place> {
        let parents = self.late_parents.iter();
        let mut missing: Vec<u32> = parents
            .filter(|(_, parent)| self.find_node(**parent).is_none())
            .map(|(at, _)| *at)
            .collect();
        missing.sort_unstable();
        missing
            .into_iter()
            .map(|at| self.nodes[at as usize].place)
            .collect()
    }

    /// Returns one record of each cycle of parents.
    pub(crate) fn find_cycles(&self) -> Vec<Place> {
        // The number of the walk that visited the node, or 0.
        let mut walks = vec![0_u32; self.nodes.len()];
        let mut found = Vec::new();
        for (start, walk) in (0..).zip(1..).take(self.nodes.len()) {
            let mut at = start;
            while walks[at as usize] == 0 {
                walks[at as usize] = walk;
                match self.find_parent(at) {
                    Some(parent) => at = parent,
                    None => break,
                }
                if walks[at as usize] == walk {
                    found.push(self.nodes[at as usize].place);
                }
            }
        }
        found
    }

    fn find_node(&self, id: Key) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// Returns the last node with the id of the parent.
    fn find_parent(&self, at: u32) -> Option<u32> {
        let parent = match self.nodes[at as usize].parent {
            NO_NODE => *self.late_parents.get(&at)?,
            parent if self.duplicate_count == 0 => return Some(parent),
            parent => self.nodes[parent as usize].id,
        };
        self.find_node(parent)
    }

    /// Returns the parent of a record. After a compaction there is only a logical parent. If the
    /// parent is missing, the previous turn in the file is used.
    fn find_previous(&self, at: u32, scope: Scope) -> Option<u32> {
        let logical = self
            .logical_parents
            .get(&at)
            .filter(|_| scope != Scope::SinceCompaction);
        let parent = self.find_parent(at);
        if parent.is_none() && !self.late_parents.contains_key(&at) && logical.is_none() {
            return None;
        }
        let is_turn = |part: &Part| *part == Part::Turn;
        let mut earlier = self.parts[..at as usize].iter();
        parent
            .or_else(|| self.find_node(*logical?))
            .or_else(|| earlier.rposition(is_turn).map(to_index))
    }

    /// Returns the live branch.
    pub(crate) fn find_branch(mut self, scope: Scope) -> Branch {
        let mut on_branch = vec![false; self.nodes.len()];
        let mut order = Vec::new();
        let mut next = self.find_leaf();
        while let Some(at) = next.filter(|at| !replace(&mut on_branch[*at as usize], true)) {
            order.push(at);
            next = self.find_previous(at, scope);
        }
        order.reverse();
        let order = self.add_siblings(order, &on_branch);
        let is_turn = |part: &&Part| **part == Part::Turn;
        let parts_on_branch = order.iter().map(|at| &self.parts[*at as usize]);
        let turns = parts_on_branch.filter(is_turn).count();
        Branch {
            abandoned_turns: (self.parts.iter().filter(is_turn).count() - turns) as u64,
            places: order
                .into_iter()
                .map(|at| self.nodes[at as usize].place)
                .collect(),
        }
    }

    /// Returns the end of the live branch: the last turn or step, or else the last record.
    fn find_leaf(&self) -> Option<u32> {
        let can_end = |part: &Part| matches!(part, Part::Turn | Part::Step);
        let end = self.parts.iter().rposition(can_end);
        end.or_else(|| self.parts.len().checked_sub(1))
            .map(to_index)
    }

    /// Returns the branch with the other records of its messages, each message followed by the results of its calls
    /// and by its recaps.
    fn add_siblings(&mut self, branch: Vec<u32>, on_branch: &[bool]) -> Vec<u32> {
        let (calls, mut results) = (take(&mut self.calls), take(&mut self.results));
        let is_off = |at: u32| !on_branch[at as usize];
        // The later nodes of messages with several nodes, by the first node.
        let mut later: Vec<(u32, u32)> = (0..)
            .zip(&self.nodes)
            .filter(|(at, node)| node.message != NO_NODE && node.message != *at)
            .map(|(at, node)| (node.message, at))
            .collect();
        later.sort_unstable();
        results.retain(|(_, at)| is_off(*at));
        results.sort_unstable();
        let mut order = Vec::with_capacity(branch.len());
        let mut placed = vec![false; self.nodes.len()];
        let mut push = |at: u32| {
            if !replace(&mut placed[at as usize], true) {
                order.push(at);
            }
        };
        for at in branch {
            let node = &self.nodes[at as usize];
            let first = Some(node.message).filter(|first| *first != NO_NODE);
            let siblings = first.into_iter().chain(find_values(&later, node.message));
            let mut followers = Vec::new();
            for sibling in siblings {
                push(sibling);
                for call in find_values(&calls, sibling) {
                    followers.extend(find_values(&results, call));
                }
            }
            // Another program wrote the recaps; the agent continued without reading them.
            let recaps = self.recaps.get(&node.id).into_iter().flatten();
            followers.extend(recaps.filter(|recap| is_off(**recap)));
            push(at);
            followers.sort_unstable();
            followers.into_iter().for_each(&mut push);
        }
        order
    }
}

/// Returns the values with this key among sorted pairs.
fn find_values<K: Ord + Copy, Value: Copy>(
    pairs: &[(K, Value)],
    key: K,
) -> impl Iterator<Item = Value> {
    let start = pairs.partition_point(|(known, _)| *known < key);
    let found = pairs[start..]
        .iter()
        .take_while(move |(known, _)| *known == key);
    found.map(|(_, value)| *value)
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
