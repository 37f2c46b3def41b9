//! Subagents whose messages are in the file of their session: their records follow the call that started them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::mem::take;

use crate::files::distinct::Key;
use crate::files::lines::Place;
use turnpipe_core::json::{object, text};
use turnpipe_core::message::{Call, Message};
use turnpipe_formats::agent::{Entry, Part};

object! { Input { prompt, claude = "subagent_type", copilot = "agent_type", gemini = "agent_name" } }

/// The task of a subagent, as the call that starts it states it.
pub(crate) struct SubagentTask {
    pub(crate) prompt: String,
    /// The type of the subagent.
    pub(crate) agent_type: Option<String>,
}

impl SubagentTask {
    /// Returns the task in the input of a call. Most calls have none.
    pub(crate) fn from_call(call: &Call) -> Option<Self> {
        let json = Some(call.input.get()).filter(|json| json.contains("\"prompt\""))?;
        let input = Input::read(json)?;
        let types = [input.claude, input.copilot, input.gemini];
        Some(Self {
            prompt: text(input.prompt)?.into_owned(),
            agent_type: types.into_iter().find_map(text).map(Cow::into_owned),
        })
    }
}

/// The records of subagents, and the calls that may have started them. Does no I/O.
#[derive(Debug, Default)]
pub(crate) struct SideThreads {
    threads: Vec<SideThread>,
    /// The thread of each record, or of each subagent with an id.
    by_id: HashMap<Key, usize>,
    /// The calls with each prompt, in order.
    prompts: HashMap<Key, VecDeque<String>>,
    /// The messages of these calls.
    calls: HashMap<String, Key>,
    /// The last record of each of these messages.
    messages: HashMap<Key, Place>,
}

/// The records of a subagent.
#[derive(Debug, Default)]
struct SideThread {
    /// The call that started it.
    call: Option<String>,
    /// Its first prompt.
    prompt: Option<Key>,
    records: Vec<Place>,
}

/// A record to read, and the call that started its subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThreadRecord {
    pub(crate) place: Place,
    /// The index of the call.
    pub(crate) caller: Option<u32>,
}

/// The records of a conversation with those of its subagents.
pub(crate) struct ArrangedRecords {
    /// The records, in order.
    pub(crate) records: Vec<ThreadRecord>,
    /// The calls that started subagents.
    pub(crate) callers: Vec<String>,
    /// The number of records of subagents that are not among `records`.
    pub(crate) missing: u64,
}

impl SideThreads {
    /// Adds the next record.
    pub(crate) fn add(&mut self, entry: &Entry, place: Place) {
        for message in &entry.messages {
            let id = message.id.as_deref().map(Key::from_id);
            for call in message.calls() {
                let Some(task) = SubagentTask::from_call(call) else {
                    continue;
                };
                let calls = self.prompts.entry(Key::from_id(&task.prompt)).or_default();
                calls.push_back(call.id.clone());
                let key = id.unwrap_or_else(|| Key::from_id(&format!("{place:?}")));
                self.calls.insert(call.id.clone(), key);
                self.messages.insert(key, place);
            }
            let last = id.and_then(|id| self.messages.get_mut(&id));
            if let Some(last) = last {
                *last = place;
            }
        }
        if entry.part != Part::Side {
            return;
        }
        let above = entry.subagent.as_ref().or(entry.parent.as_ref());
        let known = above.and_then(|id| self.by_id.get(&Key::from_id(id)).copied());
        let number = known.unwrap_or(self.threads.len());
        if known.is_none() {
            let prompt = entry.messages.first().map(Message::text);
            self.threads.push(SideThread {
                prompt: prompt.map(|prompt| Key::from_id(&prompt)),
                ..SideThread::default()
            });
        }
        let id = entry.subagent.as_ref().or(entry.uuid.as_ref());
        self.by_id.extend(id.map(|id| (Key::from_id(id), number)));
        let thread = &mut self.threads[number];
        thread.call = thread.call.take().or_else(|| entry.started_by.clone());
        thread.records.push(place);
    }

    /// Finds the calls of subagents whose records do not name them. Returns whether any call is known.
    pub(crate) fn link_calls(&mut self) -> bool {
        for thread in &mut self.threads {
            let calls = thread.prompt.and_then(|key| self.prompts.get_mut(&key));
            if let (None, Some(calls)) = (&thread.call, calls) {
                thread.call = calls.pop_front();
            }
            thread.call = thread.call.take_if(|call| self.calls.contains_key(call));
        }
        self.threads.iter().any(|thread| thread.call.is_some())
    }

    /// Puts the records of each subagent after the message with its call, among the records `main`.
    pub(crate) fn arrange(mut self, main: Vec<Place>) -> ArrangedRecords {
        let mut started: HashMap<Place, Vec<usize>> = HashMap::new();
        let mut linked: HashSet<Place> = HashSet::new();
        for (number, thread) in self.threads.iter().enumerate() {
            let message = thread.call.as_ref().and_then(|call| self.calls.get(call));
            if let Some(place) = message.and_then(|key| self.messages.get(key)) {
                started.entry(*place).or_default().push(number);
                linked.extend(&thread.records);
            }
        }
        let all = self.threads.iter().flat_map(|thread| &thread.records);
        let mut missing: HashSet<Place> = all.copied().collect();
        let (mut records, mut callers) = (Vec::new(), Vec::new());
        let main: Vec<Place> = main.into_iter().filter(|at| !linked.contains(at)).collect();
        let mut stack = vec![(main.into_iter(), None)];
        while let Some((rest, caller)) = stack.last_mut() {
            let caller = *caller;
            let Some(place) = rest.next() else {
                stack.pop();
                continue;
            };
            missing.remove(&place);
            records.push(ThreadRecord { place, caller });
            for number in started.remove(&place).into_iter().flatten().rev() {
                let thread = take(&mut self.threads[number]);
                let index = u32::try_from(callers.len()).unwrap_or(u32::MAX);
                callers.extend(thread.call);
                stack.push((thread.records.into_iter(), Some(index)));
            }
        }
        ArrangedRecords {
            records,
            callers,
            missing: missing.len() as u64,
        }
    }
}
