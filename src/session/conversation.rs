//! The messages of a session, in order.
//!
//! A file is read at most twice: first to select the records that count, then to read them. Only
//! their positions are kept in memory in between.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;

use super::lines::Place;
use super::session::{Session, skipped_record};
use super::side_file::Labels;
use super::tree::{Scope, Tree};
use crate::agent::{Change, Detail, Entry, Shape};
use crate::jsonl::{MAX_LINE_BYTES, read_at};
use crate::message::{Message, MessageJoiner, Origin, Role};

/// A record, or one row of a record that holds several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pick {
    place: Place,
    row: u32,
}

/// The records to read, in order.
#[derive(Debug, Default)]
struct Plan {
    /// The records, or `None` for all of them in file order.
    picks: Option<Vec<Pick>>,
    /// The number of turns left out.
    left_out: u64,
    /// Repeated messages of these roles are skipped.
    spoken: Vec<Role>,
}

impl Session {
    /// Calls `shown` with the complete messages of the conversation, in order, until it breaks.
    /// Labels come after the results they describe. Returns the number of turns left out.
    ///
    /// # Errors
    /// Reading failed.
    pub fn each_message(
        &self,
        scope: Scope,
        shown: &mut dyn FnMut(Message) -> ControlFlow<()>,
    ) -> io::Result<u64> {
        self.each_entry_and_message(scope, Detail::Full, &mut |_| {}, shown)
    }

    /// The same with all entries of the file for any scope. Calls `seen` with each entry
    /// before `shown` with its messages.
    pub(super) fn each_entry_and_message(
        &self,
        scope: Scope,
        detail: Detail,
        seen: &mut dyn FnMut(&mut Entry),
        shown: &mut dyn FnMut(Message) -> ControlFlow<()>,
    ) -> io::Result<u64> {
        let mut labels = Labels::read(&self.file.path)?;
        let mut unseen: Option<&mut dyn FnMut(&mut Entry)> = None;
        let plan = if let Some(plan) = self.plan(scope, &mut labels, seen)? {
            plan
        } else {
            unseen = Some(seen);
            Plan::default()
        };
        let mut visit = |whole: Message| {
            let due = labels.due_after(&whole);
            shown(whole)?;
            due.into_iter().try_for_each(&mut *shown)
        };
        let mut joiner = MessageJoiner::default();
        let mut is_over = false;
        let mut take = |messages: Vec<Message>| {
            for message in messages {
                if !is_over && let Some(whole) = joiner.push(message) {
                    is_over = visit(whole).is_break();
                }
            }
        };
        if let Some(picks) = &plan.picks {
            let mut reader = PickedRecords::default();
            for pick in picks {
                take(reader.messages(self, *pick)?);
            }
        } else {
            // Separate records name the model of the messages that follow.
            let names_models = self.format().shape == Shape::Sequence;
            let mut model = None;
            self.each_entry(detail, &mut |_, mut entry| {
                if names_models {
                    model = entry.facts.model.take().or(model.take());
                    for message in entry.messages.iter_mut().chain(&mut entry.repeats) {
                        if message.role == Role::Assistant {
                            message.model = message.model.take().or_else(|| model.clone());
                        }
                    }
                }
                if let Some(seen) = &mut unseen {
                    seen(&mut entry);
                }
                let mut repeats = std::mem::take(&mut entry.repeats);
                repeats.retain(|repeat| !plan.spoken.contains(&repeat.role));
                take(entry.into_messages());
                take(repeats);
            })?;
        }
        if !is_over && let Some(last) = joiner.finish() {
            is_over = visit(last).is_break();
        }
        if !is_over {
            let _ = labels.rest().into_iter().try_for_each(shown);
        }
        Ok(plan.left_out)
    }

    /// Selects the records that count. Calls `seen` with all entries, unless all records count.
    fn plan(
        &self,
        scope: Scope,
        labels: &mut Labels,
        seen: &mut dyn FnMut(&mut Entry),
    ) -> io::Result<Option<Plan>> {
        let plan = match (self.format().shape, scope) {
            (Shape::Tree, Scope::AllBranches) => return Ok(None),
            (Shape::Sequence, _) => self.plan_of_sequence(seen)?,
            (Shape::Tree, Scope::Live | Scope::SinceCompaction) => {
                self.plan_of_tree(scope, labels, seen)?
            }
            (Shape::Replay, _) => {
                let mut replay = Replay {
                    keeps_removed: scope == Scope::AllBranches,
                    ..Replay::default()
                };
                self.each_entry(Detail::Full, &mut |place, mut entry| {
                    seen(&mut entry);
                    replay.apply(entry.change, place);
                })?;
                Plan {
                    picks: Some(replay.rows),
                    left_out: replay.removed,
                    ..Plan::default()
                }
            }
        };
        Ok(Some(plan))
    }

    fn plan_of_sequence(&self, seen: &mut dyn FnMut(&mut Entry)) -> io::Result<Plan> {
        let mut spoken = Vec::new();
        self.each_entry(Detail::Full, &mut |_, mut entry| {
            seen(&mut entry);
            let roles = entry
                .messages
                .iter()
                .filter_map(|message| match message.origin {
                    Origin::Prompt => Some(Role::User),
                    Origin::Reply if !message.text().is_empty() => Some(Role::Assistant),
                    Origin::Compaction => Some(Role::System),
                    _ => None,
                });
            spoken.extend(roles);
            spoken.dedup();
        })?;
        Ok(Plan {
            spoken,
            ..Plan::default()
        })
    }

    fn plan_of_tree(
        &self,
        scope: Scope,
        labels: &mut Labels,
        seen: &mut dyn FnMut(&mut Entry),
    ) -> io::Result<Plan> {
        let mut tree = Tree::default();
        let mut own_labels = Vec::new();
        self.each_entry(Detail::Counts, &mut |place, mut entry| {
            seen(&mut entry);
            tree.add(&entry, place);
            if !entry.labelled_calls.is_empty() {
                own_labels.push((place, entry));
            }
        })?;
        if !tree.is_whole() {
            return Ok(Plan::default());
        }
        let branch = tree.branch(scope);
        // Labels belong to calls, wherever they are in the file.
        for (place, label) in own_labels {
            if !branch.places.contains(&place) {
                labels.add(label);
            }
        }
        let picks = branch.places.into_iter();
        Ok(Plan {
            picks: Some(picks.map(|place| Pick { place, row: 0 }).collect()),
            left_out: branch.left_out,
            ..Plan::default()
        })
    }
}

/// Reads records by position. Keeps the record that was read last.
#[derive(Default)]
struct PickedRecords {
    place: Option<Place>,
    rows: Vec<Vec<Message>>,
    line: Vec<u8>,
}

impl PickedRecords {
    /// The messages of a record or row. A row is read once.
    fn messages(&mut self, session: &Session, pick: Pick) -> io::Result<Vec<Message>> {
        if self.place != Some(pick.place) {
            self.rows = read_rows(session, pick.place, &mut self.line)?;
            self.place = Some(pick.place);
        }
        let row = self.rows.get_mut(pick.row as usize);
        Ok(row.map(std::mem::take).unwrap_or_default())
    }
}

/// The rows of a record. Its line is read into `line`, to use the memory again.
fn read_rows(session: &Session, place: Place, line: &mut Vec<u8>) -> io::Result<Vec<Vec<Message>>> {
    let mut rows = Vec::new();
    if let Some(document) = &session.document {
        let row = usize::try_from(place.offset).ok();
        let row = row.and_then(|at| document.get(at));
        let entry = row.and_then(|row| session.format().read(row, Detail::Full));
        return Ok(entry.map_or(rows, Entry::into_rows));
    }
    if place.length as usize > MAX_LINE_BYTES + 1 {
        return Ok(skipped_record(place).into_rows());
    }
    line.resize(place.length as usize, 0);
    let filled = read_at(&session.file.file, line, place.offset)?;
    session.each_entry_on(
        place.offset,
        &line[..filled],
        Detail::Full,
        &mut |at, entry| {
            if at.index == place.index {
                rows = entry.into_rows();
            }
        },
    );
    Ok(rows)
}

/// Replays a log whose rows change earlier ones.
#[derive(Debug, Default)]
struct Replay {
    /// The current messages.
    rows: Vec<Pick>,
    by_id: HashMap<String, usize>,
    removed: u64,
    /// Whether to keep messages that the log removes.
    keeps_removed: bool,
}

impl Replay {
    /// Applies the next row.
    fn apply(&mut self, change: Change, place: Place) {
        match change {
            Change::Put(id) => self.put(id, Pick { place, row: 0 }),
            // The rows of a resumed history were written before, under other ids.
            Change::Reset(_) if self.keeps_removed && !self.rows.is_empty() => {}
            Change::Reset(rows) => {
                self.remove_from(0);
                for (row, (id, _)) in (0..).zip(rows) {
                    self.put(id, Pick { place, row });
                }
            }
            Change::RewindTo(id) => {
                if let Some(at) = self.by_id.get(&id).copied() {
                    self.remove_from(at);
                }
            }
            Change::Nothing => {}
        }
    }

    fn remove_from(&mut self, at: usize) {
        if self.keeps_removed {
            return;
        }
        self.removed += (self.rows.len() - at) as u64;
        self.rows.truncate(at);
        self.by_id.retain(|_, place| *place < at);
    }

    /// A row that is written again replaces the first one in place.
    fn put(&mut self, id: String, pick: Pick) {
        match self.by_id.get(&id) {
            Some(at) if !id.is_empty() => self.rows[*at] = pick,
            _ => {
                self.by_id.insert(id, self.rows.len());
                self.rows.push(pick);
            }
        }
    }
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
