//! Finds copies of messages and calls: a fork, a branch or a saved transcript repeats them under the same
//! ids.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use jiff::{SignedDuration, Timestamp};

use super::distinct::Key;
use super::session::Session;
use crate::agent::Detail;
use crate::message::{Call, Message};

/// Records that a fork copies are written within this time after its first record.
const MAX_COPY_TIME: SignedDuration = SignedDuration::from_secs(1);

/// Whether a record of this time may be a copy, in a fork that started at another time.
pub(super) fn is_copy_time(time: Option<Timestamp>, started: Option<Timestamp>) -> bool {
    let pair = time.zip(started);
    pair.is_some_and(|(time, started)| time.duration_since(started).abs() <= MAX_COPY_TIME)
}

/// Computes keys of the messages of one file. Copies in other files have the same keys.
#[derive(Debug, Default)]
pub(super) struct CopyKeys {
    /// The path, for formats whose ids are only unique in a file.
    path: String,
    /// The sessions that a message without an id may be copied from.
    lineage: Option<Lineage>,
    /// The number of messages without an id so far, by their content.
    seen: HashMap<u64, u32>,
}

/// The origin of a file whose records have no ids.
#[derive(Debug)]
struct Lineage {
    session: String,
    /// The session that the first records are from.
    root: String,
    started: Option<Timestamp>,
}

impl CopyKeys {
    pub(super) fn of(session: &Session) -> Self {
        let has_global_ids = session.format().has_global_ids;
        let path = &session.file.path;
        Self {
            path: if has_global_ids {
                String::new()
            } else {
                path.display().to_string()
            },
            lineage: Lineage::of(session),
            seen: HashMap::new(),
        }
    }

    /// Returns the key of a prompt. In some files all prompts have the same id.
    pub(super) fn prompt(&mut self, prompt: &Message, time: Option<Timestamp>) -> Option<Key> {
        let id = prompt.id.as_deref().or(prompt.uuid.as_deref());
        match id {
            Some(id) => Some(self.key(&format!("{id} {}", prompt.text()))),
            None => self.by_content(prompt, time),
        }
    }

    /// Returns the key of a reply or another request.
    pub(super) fn reply(&mut self, reply: &Message, time: Option<Timestamp>) -> Option<Key> {
        match (&reply.id, &reply.uuid) {
            (Some(id), _) => Some(self.key(id)),
            (None, Some(uuid)) => Some(self.key(&format!("{uuid} {}", reply.text()))),
            (None, None) => self.by_content(reply, time),
        }
    }

    /// Returns the key of a call in a reply. Some servers repeat the ids of calls.
    pub(super) fn call(&self, reply: &Message, call: &Call) -> Option<Key> {
        match &reply.id {
            Some(id) => Some(self.key(&format!("{id} {}", call.id))),
            None if self.path.is_empty() => {
                Some(self.key(&format!("{} {}", call.id, call.input.get())))
            }
            None => None,
        }
    }

    fn key(&self, id: &str) -> Key {
        Key::of(&format!("{}{id}", self.path))
    }

    /// Returns the key of a message without an id: its content, and the number of its occurrences in its
    /// session.
    fn by_content(&mut self, message: &Message, time: Option<Timestamp>) -> Option<Key> {
        let lineage = self.lineage.as_ref()?;
        let mut hasher = DefaultHasher::new();
        (message.role, message.text()).hash(&mut hasher);
        message.calls().for_each(|call| call.id.hash(&mut hasher));
        let hash = hasher.finish();
        let count = self.seen.entry(hash).or_default();
        *count += 1;
        let session = if is_copy_time(time, lineage.started) {
            &lineage.root
        } else {
            &lineage.session
        };
        Some(Key::of(&format!("{session} {count} {hash}")))
    }
}

impl Session {
    /// Returns the ids of the records that the agent marked as copies from the session that this one was forked
    /// from.
    ///
    /// # Errors
    /// Reading failed.
    pub fn copied_records(&self) -> io::Result<HashSet<String>> {
        let mut copied = HashSet::new();
        self.each_entry(Detail::Outline, &mut |_, entry| {
            copied.extend(entry.uuid.filter(|_| entry.facts.forked_from.is_some()));
        })?;
        Ok(copied)
    }
}

impl Lineage {
    /// Reads the heads of the file: its own, then the copied ones. `None` if its ids are enough.
    fn of(session: &Session) -> Option<Self> {
        let format = session.format();
        if !format.has_meter_records {
            return None;
        }
        let mut heads = session.head.lines().map_while(|(_, line)| {
            let entry = format.read(std::str::from_utf8(line).ok()?, Detail::Outline)?;
            entry.facts.is_head.then_some(entry)
        });
        let own = heads.next()?;
        let started = own.timestamp();
        let session = own.facts.session_id?;
        let copied = heads.filter_map(|head| head.facts.session_id).last();
        let parent = own
            .facts
            .forked_from
            .filter(|_| own.facts.history.is_none());
        Some(Self {
            root: copied.or(parent).unwrap_or_else(|| session.clone()),
            session,
            started,
        })
    }
}
