//! Finds copies of messages and calls: a fork, a branch, a second file or a saved transcript repeats them under
//! the same ids.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use jiff::{SignedDuration, Timestamp};

use crate::files::distinct::Key;
use crate::read::session::Session;
use turnpipe_core::message::{Call, Message};
use turnpipe_formats::agent::{Detail, Entry, IdScope};

/// Records that a fork copies are written within this time after its first record.
const MAX_COPY_TIME: SignedDuration = SignedDuration::from_secs(1);

/// Whether a record of this time may be a copy, in a fork that started at another time.
pub(crate) fn is_copy_time(time: Option<Timestamp>, started: Option<Timestamp>) -> bool {
    let pair = time.zip(started);
    pair.is_some_and(|(time, started)| time.duration_since(started).abs() <= MAX_COPY_TIME)
}

/// Computes keys of the messages of one file. Copies in other files have the same keys.
#[derive(Debug, Default)]
pub(crate) struct CopyKeys {
    ids: IdScope,
    has_older_copies: bool,
    /// The file.
    path: String,
    /// The session.
    session: Option<String>,
    /// The session that the first records were copied from, if they are copies.
    origin: Option<String>,
    /// The time of the first record, if it describes the session.
    started: Option<Timestamp>,
    /// The last record that was copied.
    fork_point: Option<String>,
    /// The records that name the session that they were copied from.
    inherited: HashSet<String>,
    /// The number of messages without an id so far, by their content. `None` if the file may not be a whole
    /// session.
    content_counts: Option<HashMap<u64, u32>>,
}

impl CopyKeys {
    pub(crate) fn for_session(session: &Session) -> Self {
        let format = session.format();
        Self {
            ids: format.counting.ids,
            has_older_copies: format.counting.has_older_copies,
            path: session.file.path.display().to_string(),
            content_counts: (!format.is_stream()).then(HashMap::new),
            ..Self::default()
        }
    }

    /// Reads the next entry. Its messages follow.
    pub(crate) fn read_entry(&mut self, entry: &Entry) {
        let facts = &entry.facts;
        if self.session.is_none() && facts.session_id.is_some() {
            self.session.clone_from(&facts.session_id);
            self.started = entry.timestamp().filter(|_| facts.is_head);
            self.fork_point.clone_from(&facts.fork_point);
            let parent = facts.forked_from.as_ref().or(facts.parent.as_ref());
            self.origin = parent.filter(|_| facts.history.is_none()).cloned();
        } else if facts.is_head && facts.session_id.is_some() {
            self.origin.clone_from(&facts.session_id);
        }
        if Self::is_copied(entry) {
            self.inherited.extend(entry.uuid.clone());
        }
    }

    /// Whether the entry names the session that it was copied from.
    pub(crate) fn is_copied(entry: &Entry) -> bool {
        entry.facts.forked_from.is_some() && !entry.facts.is_head
    }

    /// Returns the session.
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Whether a record of this time is older than the session.
    pub(crate) fn is_older(&self, time: Option<Timestamp>) -> bool {
        let pair = time.zip(self.started).filter(|_| self.has_older_copies);
        pair.is_some_and(|(time, started)| time < started)
    }

    /// Whether the next message of the file is a copy from the session that this one was forked from.
    pub(crate) fn is_inherited(&mut self, message: &Message, time: Option<Timestamp>) -> bool {
        let id = message.uuid.as_deref();
        if self.fork_point.is_some() {
            self.fork_point.take_if(|point| id == Some(point));
            return true;
        }
        id.is_some_and(|id| self.inherited.contains(id)) || self.is_older(time)
    }

    /// Returns the key of a prompt. In some files all prompts have the same id.
    pub(crate) fn key_prompt(&mut self, prompt: &Message, time: Option<Timestamp>) -> Option<Key> {
        let id = prompt.id.as_deref().or(prompt.uuid.as_deref());
        match id {
            Some(id) => Some(self.scope_key(&format!("{id} {}", prompt.text()), time)),
            None => self.key_content(prompt, time),
        }
    }

    /// Returns the key of a reply or another request.
    pub(crate) fn key_reply(&mut self, reply: &Message, time: Option<Timestamp>) -> Option<Key> {
        match (&reply.id, &reply.uuid) {
            (Some(id), _) => Some(self.scope_key(id, time)),
            (None, Some(uuid)) => Some(self.scope_key(&format!("{uuid} {}", reply.text()), time)),
            (None, None) => self.key_content(reply, time),
        }
    }

    /// Returns the key of a call in a reply. Some servers repeat the ids of calls.
    pub(crate) fn key_call(
        &self,
        reply: &Message,
        call: &Call,
        time: Option<Timestamp>,
    ) -> Option<Key> {
        match &reply.id {
            Some(id) => Some(self.scope_key(&format!("{id} {}", call.id), time)),
            None if self.ids != IdScope::File => {
                Some(self.scope_key(&format!("{} {}", call.id, call.input.get()), time))
            }
            None => None,
        }
    }

    fn scope_key(&self, id: &str, time: Option<Timestamp>) -> Key {
        let session = self.session().unwrap_or(&self.path);
        match (self.ids, time) {
            (IdScope::Global, _) => Key::from_id(id),
            (IdScope::Timed, Some(time)) => Key::from_id(&format!("{time} {id}")),
            (IdScope::Timed | IdScope::Session, _) => Key::from_id(&format!("{session} {id}")),
            (IdScope::File, _) => Key::from_id(&format!("{}{id}", self.path)),
        }
    }

    /// Returns the key of a message without an id: its content, and the number of its occurrences in its
    /// session.
    fn key_content(&mut self, message: &Message, time: Option<Timestamp>) -> Option<Key> {
        let own = self.session.as_ref()?;
        let mut hasher = DefaultHasher::new();
        (message.role, message.text()).hash(&mut hasher);
        message.calls().for_each(|call| call.id.hash(&mut hasher));
        let hash = hasher.finish();
        let count = self.content_counts.as_mut()?.entry(hash).or_default();
        *count += 1;
        let origin = self.origin.as_ref();
        let copied_from = origin.filter(|_| is_copy_time(time, self.started));
        let session = copied_from.unwrap_or(own);
        Some(Key::from_id(&format!("{session} {count} {hash}")))
    }
}

impl Session {
    /// Returns the ids of the records that the agent marked as copies from the session that this one was forked
    /// from.
    ///
    /// # Errors
    /// Reading failed.
    pub fn find_copied_records(&self) -> io::Result<HashSet<String>> {
        let mut copied = HashSet::new();
        self.visit_entries(Detail::Outline, &mut |_, entry| {
            copied.extend(entry.uuid.clone().filter(|_| CopyKeys::is_copied(&entry)));
        })?;
        Ok(copied)
    }
}
