//! The live branch of a file whose records name the record before them. Pure.
//!
//! The end of the branch is the last record that can be one; from there the parents are followed.
//! Parallel calls make a graph of what should be a line: several records of one message hang off
//! different places, so that all records of a message on the branch belong to it, and the results
//! of their calls too.

use std::collections::{HashMap, HashSet};

use super::lines::Place;
use super::node::{Key, Node, Part};
use super::plan::Pick;

/// All records that are nodes.
#[derive(Debug, Default)]
pub(super) struct Tree {
    entries: Vec<Entry>,
    by_id: HashMap<Key, u32>,
    by_message: HashMap<Key, Vec<u32>>,
    answers: HashMap<Key, Vec<u32>>,
    calls: HashMap<u32, Vec<Key>>,
    /// Turns that name no record before them and have no id: the file is no tree.
    pub(super) loose_turns: u64,
    /// Ids that several records have.
    pub(super) repeated: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    place: Place,
    id: Key,
    parent: Option<Key>,
    part: Part,
    message: Option<Key>,
}

/// What following the parents showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Branch {
    /// The records, in order.
    pub(super) picks: Vec<Pick>,
    /// How many turns are on other branches.
    pub(super) left_out: u64,
}

impl Tree {
    /// Adds a record.
    pub(super) fn add(&mut self, node: Node, place: Place) {
        let at = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        if self.by_id.insert(node.id, at).is_some() {
            self.repeated += 1;
        }
        if node.part != Part::Side {
            if let Some(message) = node.message {
                self.by_message.entry(message).or_default().push(at);
            }
            for answer in node.answers {
                self.answers.entry(answer).or_default().push(at);
            }
            if !node.calls.is_empty() {
                self.calls.insert(at, node.calls);
            }
        }
        self.entries.push(Entry {
            place,
            id: node.id,
            parent: node.parent,
            part: node.part,
            message: node.message,
        });
    }

    /// Whether the file is a tree: every turn is a node, and ids tell records apart.
    pub(super) fn is_whole(&self) -> bool {
        let has_ids = self.repeated < self.entries.len() as u64 / 2;
        self.loose_turns == 0 && has_ids
    }

    /// Records whose parent is not in the file.
    pub(super) fn missing_parents(&self) -> Vec<Place> {
        let missing = |entry: &&Entry| {
            entry
                .parent
                .is_some_and(|parent| !self.by_id.contains_key(&parent))
        };
        let entries = self.entries.iter().filter(missing);
        entries.map(|entry| entry.place).collect()
    }

    /// One record of each circle of parents.
    pub(super) fn cycles(&self) -> Vec<Place> {
        // 0: not looked at; else the number of the walk that came by.
        let mut walks = vec![0_u32; self.entries.len()];
        let mut found = Vec::new();
        for (start, walk) in (0..self.entries.len()).zip(1..) {
            let mut at = start;
            while walks[at] == 0 {
                walks[at] = walk;
                match self.parent_of(at) {
                    Some(parent) => at = parent,
                    None => break,
                }
                if walks[at] == walk {
                    found.push(self.entries[at].place);
                }
            }
        }
        found
    }

    fn parent_of(&self, at: usize) -> Option<usize> {
        let parent = self.entries[at].parent?;
        self.by_id.get(&parent).map(|parent| *parent as usize)
    }

    /// The live branch.
    pub(super) fn branch(&self) -> Branch {
        let mut chosen: HashSet<u32> = HashSet::new();
        let mut order: Vec<u32> = Vec::new();
        let mut next = self.leaf();
        while let Some(at) = next {
            if !chosen.insert(at) {
                break;
            }
            order.push(at);
            next = self
                .parent_of(at as usize)
                .and_then(|parent| u32::try_from(parent).ok());
        }
        order.reverse();
        let order = self.completed(&order, &mut chosen);
        let picks: Vec<Pick> = order
            .into_iter()
            .map(|at| Pick {
                place: self.entries[at as usize].place,
                item: 0,
            })
            .collect();
        let turns = |entry: &&Entry| entry.part == Part::Turn;
        let all = self.entries.iter().filter(turns).count() as u64;
        let kept = chosen
            .iter()
            .filter(|at| self.entries[**at as usize].part == Part::Turn)
            .count() as u64;
        Branch {
            picks,
            left_out: all - kept,
        }
    }

    /// The end of the live branch: of subagents only if there is nothing else.
    fn leaf(&self) -> Option<u32> {
        let last = |wanted: &dyn Fn(Part) -> bool| {
            self.entries
                .iter()
                .rposition(|entry| wanted(entry.part))
                .and_then(|at| u32::try_from(at).ok())
        };
        last(&|part| matches!(part, Part::Turn | Part::Step)).or_else(|| last(&|_| true))
    }

    /// Puts the other records of messages on the branch beside them, and records with the same
    /// id; the results of their calls come after them.
    fn completed(&self, branch: &[u32], chosen: &mut HashSet<u32>) -> Vec<u32> {
        let on_branch: HashSet<u32> = branch.iter().copied().collect();
        let mut placed: HashSet<u32> = HashSet::new();
        let mut order = Vec::with_capacity(branch.len());
        for at in branch {
            let Some(message) = self.entries[*at as usize].message else {
                if placed.insert(*at) {
                    order.push(*at);
                }
                continue;
            };
            let siblings = self.by_message.get(&message).cloned().unwrap_or_default();
            let mut late: Vec<u32> = Vec::new();
            for sibling in siblings {
                if placed.insert(sibling) {
                    order.push(sibling);
                }
                for call in self.calls.get(&sibling).into_iter().flatten() {
                    let answers = self.answers.get(call).into_iter().flatten();
                    late.extend(answers.filter(|answer| !on_branch.contains(answer)));
                }
            }
            if placed.insert(*at) {
                order.push(*at);
            }
            late.sort_unstable();
            for answer in late {
                if placed.insert(answer) {
                    order.push(answer);
                }
            }
        }
        chosen.extend(&order);
        self.with_fragments(order, chosen)
    }

    /// A record that is written again under the same id belongs beside the first writing.
    fn with_fragments(&self, order: Vec<u32>, chosen: &mut HashSet<u32>) -> Vec<u32> {
        if self.repeated == 0 {
            return order;
        }
        let mut fragments: HashMap<Key, Vec<u32>> = HashMap::new();
        for (at, entry) in (0..).zip(&self.entries) {
            if entry.message.is_none() {
                fragments.entry(entry.id).or_default().push(at);
            }
        }
        let mut placed: HashSet<u32> = HashSet::new();
        let mut whole = Vec::with_capacity(order.len());
        for at in order {
            let entry = &self.entries[at as usize];
            let all = fragments.get(&entry.id).filter(|all| all.contains(&at));
            for at in all.cloned().unwrap_or_else(|| vec![at]) {
                if placed.insert(at) {
                    chosen.insert(at);
                    whole.push(at);
                }
            }
        }
        whole
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
