//! The messages of a session, in order.
//!
//! A file is read at most twice: first to select the records that count, then to read them. Only
//! their positions are kept in memory in between.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;

use crate::files::distinct::Key;
use crate::files::lines::{Place, RawLines};
use crate::files::open::Positioned;
use crate::files::side_file::Labels;
use crate::read::session::{Session, new_skipped_entry, visit_entries_on_line};
use crate::read::side_threads::{ArrangedRecords, SideThreads, ThreadRecord};
use crate::read::tree::{Scope, Tree};
use turnpipe_core::jsonl::{MAX_LINE_BYTES, fill_at};
use turnpipe_core::message::{Message, MessageMerger, Origin, Role, Thread};
use turnpipe_formats::agent::{Change, Detail, Entry, EntryReader, Shape};

/// A record, or one row of a record with several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pick {
    place: Place,
    row: u32,
    /// The index of the call that started its subagent.
    caller: Option<u32>,
}

impl Pick {
    fn from_record(record: &ThreadRecord) -> Self {
        Self {
            place: record.place,
            row: 0,
            caller: record.caller,
        }
    }
}

/// Records in the order in which they are read.
type Picks = Box<dyn Iterator<Item = Pick> + Send>;

/// The records to read, in order.
#[derive(Default)]
struct Plan {
    /// The records, or `None` for all of them in file order.
    picks: Option<Picks>,
    /// The calls that started the subagents among them.
    callers: Vec<String>,
    /// The number of omitted turns.
    omitted_turns: u64,
    /// The messages that other records repeat.
    repeat_index: RepeatIndex,
    /// Whether all entries were seen.
    has_read_all: bool,
}

/// The messages of a file that other records repeat.
#[derive(Debug, Default)]
struct RepeatIndex {
    /// The roles of messages. All records that repeat a message of a user or of the system are skipped.
    roles: Vec<Role>,
    /// The replies by their turn, counted from 1, and the records that repeat replies.
    replies: HashMap<u32, (u32, u32)>,
    texts: HashSet<Key>,
    calls: HashSet<Key>,
    /// The number of the turn.
    turn: u32,
}

impl RepeatIndex {
    /// Starts a turn if the entry does.
    fn note_turn(&mut self, entry: &Entry) {
        let mut messages = entry.messages.iter().chain(&entry.repeats);
        let has_prompt = messages.any(|message| message.origin == Origin::Prompt);
        self.turn += u32::from(has_prompt || entry.facts.model.is_some());
    }

    /// Adds the messages of an entry.
    fn add(&mut self, entry: &Entry) {
        self.note_turn(entry);
        let count = self.replies.entry(self.turn).or_default();
        for message in &entry.messages {
            let calls = message.calls().map(|call| Key::from_id(&call.id));
            self.calls.extend(calls);
            match message.origin {
                Origin::Prompt => self.roles.push(Role::User),
                Origin::Reply if !message.text().is_empty() => {
                    count.0 += 1;
                    self.texts.insert(Key::from_id(&message.text()));
                }
                Origin::Compaction => self.roles.push(Role::System),
                _ => {}
            }
        }
        let is_reply =
            |repeat: &Message| repeat.role == Role::Assistant && find_call(repeat).is_none();
        count.1 += u32::from(entry.repeats.iter().any(is_reply));
        self.roles.dedup();
    }

    /// Whether another record has the same message. Their texts may differ in details.
    fn has_message(&self, repeat: &Message) -> bool {
        if let Some(call) = find_call(repeat) {
            return self.calls.contains(&call);
        }
        if repeat.role != Role::Assistant {
            return self.roles.contains(&repeat.role);
        }
        let (replies, repeats) = self.replies.get(&self.turn).copied().unwrap_or_default();
        replies >= repeats || self.texts.contains(&Key::from_id(&repeat.text()))
    }
}

/// Returns the call that a message contains, or whose result it contains.
fn find_call(message: &Message) -> Option<Key> {
    let calls = message.calls().map(|call| &call.id);
    let mut ids = calls.chain(message.results().map(|result| &result.id));
    ids.next().map(|id| Key::from_id(id))
}

/// The complete messages of a conversation, in order. Labels follow the results that they describe.
///
/// Reads lazily: a caller that has enough messages drops it.
pub struct ConversationReader<'a> {
    session: &'a Session,
    detail: Detail,
    records: Records<'a>,
    entries: EntryReader,
    labels: Labels,
    merger: MessageMerger,
    ready: VecDeque<Message>,
    /// The model of the messages that follow, from a separate record.
    model: Option<String>,
    callers: Vec<String>,
    on_entry: Option<OnEntry<'a>>,
    omitted_turns: u64,
    repeat_index: RepeatIndex,
    /// Whether a log had a message.
    has_rows: bool,
}

/// Receives every entry of a file before its messages.
pub(crate) type OnEntry<'a> = &'a mut dyn FnMut(&mut Entry);

/// The records that are still to be read.
enum Records<'a> {
    Picked(Picks, PickedRecords),
    Lines(Box<RawLines<Positioned<'a>>>),
    Rows(std::ops::RangeFrom<u64>),
    None,
}

impl Plan {
    fn set_records(&mut self, arranged: ArrangedRecords) {
        let picks = arranged.records.into_iter();
        self.picks = Some(Box::new(picks.map(|record| Pick::from_record(&record))));
        self.callers = arranged.callers;
        self.omitted_turns += arranged.missing;
    }
}

impl Session {
    /// Returns the messages of the conversation.
    ///
    /// # Errors
    /// Reading failed.
    pub fn messages(&self, scope: Scope) -> io::Result<ConversationReader<'_>> {
        self.read_messages_with(scope, Detail::Full, None)
    }

    /// Returns the last reply with a text, outside of subagents.
    ///
    /// # Errors
    /// Reading failed.
    pub fn find_last_reply(&self, scope: Scope) -> io::Result<Option<Message>> {
        let mut last = None;
        for message in self.messages(scope)? {
            let message = message?;
            let is_reply = message.origin == Origin::Reply && message.thread == Thread::Main;
            if is_reply && !message.text().trim().is_empty() {
                last = Some(message);
            }
        }
        Ok(last)
    }

    /// Like [`Self::messages`], with less detail. In every scope, `on_entry` receives all entries of the file.
    pub(crate) fn read_messages_with<'a>(
        &'a self,
        scope: Scope,
        detail: Detail,
        mut on_entry: Option<OnEntry<'a>>,
    ) -> io::Result<ConversationReader<'a>> {
        let mut labels = match detail {
            Detail::Costs => Labels::default(),
            _ => Labels::read(&self.file.path)?,
        };
        let plan = self.make_plan(scope, detail, &mut labels, &mut |entry| {
            if let Some(on_entry) = &mut on_entry {
                on_entry(entry);
            }
        })?;
        if plan.has_read_all {
            on_entry = None;
        }
        let records = match (plan.picks, self.document()) {
            (Some(picks), _) => Records::Picked(picks, PickedRecords::default()),
            (None, Some(_)) => Records::Rows(0..),
            (None, None) => {
                let lines = RawLines::new(self.reader(), &self.words(detail))?;
                Records::Lines(Box::new(lines))
            }
        };
        Ok(ConversationReader {
            session: self,
            detail,
            records,
            entries: self.entries(),
            labels,
            merger: MessageMerger::default(),
            ready: VecDeque::new(),
            model: None,
            callers: plan.callers,
            on_entry,
            omitted_turns: plan.omitted_turns,
            repeat_index: RepeatIndex {
                turn: 0,
                ..plan.repeat_index
            },
            has_rows: false,
        })
    }

    /// Selects the records that count. Calls `on_entry` with all entries, unless all records count.
    fn make_plan(
        &self,
        scope: Scope,
        detail: Detail,
        labels: &mut Labels,
        on_entry: &mut dyn FnMut(&mut Entry),
    ) -> io::Result<Plan> {
        match (self.format().reading.shape, scope) {
            (Shape::Tree, Scope::AllBranches) => Ok(Plan::default()),
            // Requests count once, in any order, and more than their repetitions.
            (_, Scope::AllBranches) if detail == Detail::Costs => {
                self.read_entries_beside(detail)
                    .for_each(|mut entry| on_entry(&mut entry));
                Ok(Plan::default())
            }
            (Shape::Sequence, _) if self.format().is_stream() => Ok(Plan::default()),
            (Shape::Sequence, _) => self.plan_sequence(on_entry),
            (Shape::Tree, Scope::Live | Scope::SinceCompaction) => {
                self.plan_tree(scope, labels, on_entry)
            }
            (Shape::Replay, _) => {
                let mut replay = Replay {
                    keeps_removed: scope == Scope::AllBranches,
                    ..Replay::default()
                };
                self.visit_entries(Detail::Full, &mut |place, mut entry| {
                    on_entry(&mut entry);
                    replay.apply(entry.change, place);
                })?;
                Ok(Plan {
                    picks: Some(Box::new(replay.rows.into_iter())),
                    omitted_turns: replay.removed,
                    has_read_all: true,
                    ..Plan::default()
                })
            }
        }
    }

    fn plan_sequence(&self, on_entry: &mut dyn FnMut(&mut Entry)) -> io::Result<Plan> {
        let mut repeat_index = RepeatIndex::default();
        let mut threads = SideThreads::default();
        self.visit_entries(Detail::Full, &mut |place, mut entry| {
            repeat_index.add(&entry);
            threads.add(&entry, place);
            on_entry(&mut entry);
        })?;
        let mut plan = Plan {
            repeat_index,
            has_read_all: true,
            ..Plan::default()
        };
        if threads.link_calls() {
            let mut places = Vec::new();
            self.visit_entries(Detail::Outline, &mut |place, _| places.push(place))?;
            plan.set_records(threads.arrange(places));
        }
        Ok(plan)
    }

    fn plan_tree(
        &self,
        scope: Scope,
        labels: &mut Labels,
        on_entry: &mut dyn FnMut(&mut Entry),
    ) -> io::Result<Plan> {
        let mut tree = Tree::default();
        let mut own_labels = Vec::new();
        let mut threads = SideThreads::default();
        self.visit_entries(Detail::Counts, &mut |place, mut entry| {
            on_entry(&mut entry);
            tree.add(&entry, place);
            threads.add(&entry, place);
            if entry
                .messages
                .iter()
                .any(|message| !message.labelled_calls.is_empty())
            {
                own_labels.push((place, entry));
            }
        })?;
        if !tree.is_tree() {
            return Ok(Plan {
                has_read_all: true,
                ..Plan::default()
            });
        }
        let branch = tree.find_branch(scope);
        // Labels belong to calls, wherever they are in the file.
        if !own_labels.is_empty() {
            let on_branch: HashSet<Place> = branch.places.iter().copied().collect();
            own_labels.retain(|(place, _)| !on_branch.contains(place));
        }
        for (_, label) in own_labels {
            labels.add(label);
        }
        let mut plan = Plan {
            omitted_turns: branch.abandoned_turns,
            has_read_all: true,
            ..Plan::default()
        };
        threads.link_calls();
        plan.set_records(threads.arrange(branch.places));
        Ok(plan)
    }
}

impl ConversationReader<'_> {
    /// Returns the number of turns in other branches, which are omitted.
    pub fn count_omitted(&self) -> u64 {
        self.omitted_turns
    }

    /// Reads until a message is complete, or to the end.
    fn read(&mut self) -> io::Result<()> {
        while self.ready.is_empty() {
            let mut entries = Vec::new();
            match &mut self.records {
                Records::None => return Ok(()),
                Records::Picked(picks, reader) => {
                    if let Some(pick) = picks.next() {
                        let mut entry = reader.read_entry(self.session, pick)?;
                        let caller = pick.caller.and_then(|at| self.callers.get(at as usize));
                        for message in &mut entry.messages {
                            message.parent_call = caller.cloned().or(message.parent_call.take());
                        }
                        self.add_entry(entry);
                        continue;
                    }
                }
                Records::Rows(rows) => {
                    let row = rows.next().unwrap_or_default();
                    if let Some(entry) = self.session.read_row(row, self.detail) {
                        self.add_entry(entry);
                        continue;
                    }
                }
                Records::Lines(lines) => {
                    if let Some(line) = lines.next()? {
                        let (reader, detail) = (&mut self.entries, self.detail);
                        self.session
                            .visit_entries_in(line, reader, detail, &mut |_, entry| {
                                entries.push(entry);
                            });
                        for entry in entries {
                            self.add_entry(entry);
                        }
                        continue;
                    }
                }
            }
            self.records = Records::None;
            if let Some(last) = self.entries.finish() {
                self.add_entry(last);
            }
            if let Some(last) = self.merger.finish() {
                self.finish_message(last);
            }
            self.ready
                .extend(std::mem::take(&mut self.labels).into_rest());
        }
        Ok(())
    }

    fn add_entry(&mut self, mut entry: Entry) {
        if self.session.format().reading.shape != Shape::Tree {
            self.model = entry.facts.model.clone().or(self.model.take());
            for message in entry.messages.iter_mut().chain(&mut entry.repeats) {
                if message.role == Role::Assistant {
                    message.model = message.model.take().or_else(|| self.model.clone());
                }
            }
        }
        if let Some(on_entry) = &mut self.on_entry {
            on_entry(&mut entry);
        }
        if let Change::Reset(rows) = &mut entry.change {
            rows.retain(|row| !self.has_rows || is_new(&row.messages));
        }
        self.has_rows |= matches!(entry.change, Change::Put(_) | Change::Reset(_));
        self.repeat_index.note_turn(&entry);
        let mut repeats = std::mem::take(&mut entry.repeats);
        repeats.retain(|repeat| !self.repeat_index.has_message(repeat));
        self.push(entry.into_messages());
        self.push(repeats);
    }

    fn push(&mut self, messages: Vec<Message>) {
        for message in messages {
            if let Some(whole) = self.merger.push(message) {
                self.finish_message(whole);
            }
        }
    }

    fn finish_message(&mut self, message: Message) {
        let due = self.labels.take_due(&message);
        self.ready.push_back(message);
        self.ready.extend(due);
    }
}

impl Iterator for ConversationReader<'_> {
    type Item = io::Result<Message>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read() {
            Ok(()) => self.ready.pop_front().map(Ok),
            Err(error) => {
                // A failed read is not repeated.
                self.records = Records::None;
                Some(Err(error))
            }
        }
    }
}

/// Reads records by position. Keeps the record that was read last.
#[derive(Default)]
struct PickedRecords {
    place: Option<Place>,
    rows: Vec<Entry>,
    line: Vec<u8>,
}

impl PickedRecords {
    /// Returns a record or row. A row is read once.
    fn read_entry(&mut self, session: &Session, pick: Pick) -> io::Result<Entry> {
        if self.place != Some(pick.place) {
            self.rows = read_rows(session, pick.place, &mut self.line)?;
            self.place = Some(pick.place);
        }
        let row = self.rows.get_mut(pick.row as usize);
        Ok(row.map(std::mem::take).unwrap_or_default())
    }
}

/// Returns the rows of a record. Its line is read into `line`, to reuse its memory.
fn read_rows(session: &Session, place: Place, line: &mut Vec<u8>) -> io::Result<Vec<Entry>> {
    let mut rows = Vec::new();
    if session.is_document() {
        let entry = session.read_row(place.offset, Detail::Full);
        return Ok(entry.map_or(rows, Entry::into_rows));
    }
    if place.length as usize > MAX_LINE_BYTES + 1 {
        return Ok(new_skipped_entry(place).into_rows());
    }
    line.resize(place.length as usize, 0);
    let filled = fill_at(&session.file.file, line, place.offset)?;
    visit_entries_on_line(
        place.offset,
        &line[..filled],
        &mut session.entries(),
        Detail::Full,
        &mut |at, entry| {
            if at.index == place.index {
                rows = entry.into_rows();
            }
        },
    );
    Ok(rows)
}

/// Whether a row of a resumed history is new. The others were written before, under other ids.
fn is_new(messages: &[Message]) -> bool {
    messages
        .iter()
        .any(|message| message.origin == Origin::Compaction)
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
            Change::Put(id) => self.put(id, place, 0),
            Change::Reset(rows) => {
                let keeps_old = self.keeps_removed && !self.rows.is_empty();
                self.remove_from(0);
                for (number, row) in (0..).zip(rows) {
                    if !keeps_old || is_new(&row.messages) {
                        self.put(row.id, place, number);
                    }
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

    /// Adds a row. A row that is written again replaces the first one in place.
    fn put(&mut self, id: String, place: Place, row: u32) {
        let pick = Pick {
            place,
            row,
            caller: None,
        };
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
