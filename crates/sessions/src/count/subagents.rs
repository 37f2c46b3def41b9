//! The subagents whose requests are counted, and their types.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::files::distinct::Key;
use crate::read::session::Session;
use crate::read::side_threads::SubagentTask;
use turnpipe_core::message::{Message, Thread};
use turnpipe_formats::agent::{Entry, Facts, Part, SubagentFacts, Subagents, find_subagent_id};

/// A subagent. Its requests share it before all of its facts are known.
#[derive(Debug, Default)]
pub(crate) struct CountedSubagent {
    pub(crate) id: String,
    facts: OnceLock<SubagentFacts>,
}

impl CountedSubagent {
    /// Returns the known facts.
    pub(crate) fn facts(&self) -> Option<&SubagentFacts> {
        self.facts.get()
    }
}

/// The subagents of a session, and the types that calls state.
#[derive(Debug, Default)]
pub(crate) struct CountedSubagents {
    by_id: HashMap<String, Arc<CountedSubagent>>,
    /// The types, by the id and the prompt of the call.
    types: HashMap<Key, String>,
}

/// The subagents in one file.
#[derive(Debug, Default)]
pub(crate) struct FileSubagents {
    all: CountedSubagents,
    /// The subagent that the file belongs to.
    own: Option<Arc<CountedSubagent>>,
    /// The subagent of the last record.
    pub(crate) last: Option<Arc<CountedSubagent>>,
    /// The subagents of records, by their ids.
    by_record: HashMap<Key, Arc<CountedSubagent>>,
    /// The first texts of subagents.
    prompts: Vec<(Arc<CountedSubagent>, Key)>,
    /// The facts in the file of a subagent about this subagent.
    facts: SubagentFacts,
}

impl CountedSubagents {
    fn get_or_add(&mut self, id: &str) -> Arc<CountedSubagent> {
        let entry = self.by_id.entry(id.to_owned());
        Arc::clone(entry.or_insert_with_key(|id| {
            Arc::new(CountedSubagent {
                id: id.clone(),
                ..CountedSubagent::default()
            })
        }))
    }

    /// Starts to read a file. `is_started` is true if it is among the subagents of a session.
    pub(crate) fn into_file(mut self, session: &Session, is_started: bool) -> FileSubagents {
        let may_be_subagent = matches!(
            session.format().layout.subagents,
            Subagents::Sessions | Subagents::Files(_)
        );
        let read_id = || {
            let facts = session.read_identity_facts().ok()?;
            facts.session_id.filter(|_| is_started || facts.is_subagent)
        };
        let known_id = find_subagent_id(&session.file.path);
        let id = known_id.or_else(|| if may_be_subagent { read_id() } else { None });
        FileSubagents {
            own: id.map(|id| self.get_or_add(&id)),
            all: self,
            ..FileSubagents::default()
        }
    }
}

impl FileSubagents {
    /// Reads the next entry.
    pub(crate) fn read_entry(&mut self, entry: &Entry) {
        let above = || {
            self.by_record
                .get(&Key::from_id(entry.parent.as_ref()?))
                .cloned()
        };
        self.last = match (&self.own, &entry.subagent) {
            (Some(own), _) => Some(Arc::clone(own)),
            (None, Some(id)) => Some(self.all.get_or_add(id)),
            (None, None) if entry.part == Part::Side => {
                above().or_else(|| Some(self.all.get_or_add(entry.uuid.as_ref()?)))
            }
            (None, None) => None,
        };
        let Some(last) = &self.last else {
            return;
        };
        let mut known = self.prompts.iter().rev();
        let is_new = !known.any(|(other, _)| Arc::ptr_eq(other, last));
        if let Some(first) = entry.messages.first().filter(|_| is_new) {
            let prompt = Key::from_id(&first.text());
            self.prompts.push((Arc::clone(last), prompt));
        }
        if self.own.is_some() {
            self.add_facts(&entry.facts);
            return;
        }
        let record = entry
            .uuid
            .iter()
            .map(|id| (Key::from_id(id), Arc::clone(last)));
        self.by_record.extend(record);
        if let Some(facts) = entry.facts.subagent.as_deref() {
            last.facts.get_or_init(|| facts.clone());
        }
    }

    /// Adds facts about the subagent that the file belongs to.
    fn add_facts(&mut self, facts: &Facts) {
        let known = std::mem::take(&mut self.facts);
        let found = facts.subagent.as_deref().cloned().unwrap_or_default();
        self.facts = SubagentFacts {
            agent_type: known.agent_type.or(found.agent_type),
            workflow: known.workflow.or(found.workflow),
            parent: known
                .parent
                .or(found.parent)
                .or_else(|| facts.parent.clone()),
        };
    }

    /// Returns the subagent of a message, and takes the types that its calls state.
    pub(crate) fn find_for_message(&mut self, message: &Message) -> Option<Arc<CountedSubagent>> {
        for call in message.calls() {
            if let Some(task) = SubagentTask::from_call(call)
                && let Some(name) = task.agent_type
            {
                self.all.types.insert(Key::from_id(&call.id), name.clone());
                self.all.types.insert(Key::from_id(&task.prompt), name);
            }
        }
        let record = message.uuid.as_ref();
        let recorded = record.and_then(|id| self.by_record.get(&Key::from_id(id)));
        let known = self.own.as_ref().or(recorded).cloned();
        known.or_else(|| match &message.parent_call {
            Some(call) if message.thread == Thread::Subagent => Some(self.all.get_or_add(call)),
            _ => None,
        })
    }

    /// Ends the file. `beside` has facts about it from outside of it.
    pub(crate) fn finish(mut self, beside: &Facts) -> CountedSubagents {
        self.add_facts(beside);
        let types = &self.all.types;
        if let Some(own) = &self.own {
            let mut prompts = self.prompts.iter().map(|(_, prompt)| prompt);
            let by_prompt = prompts.find_map(|prompt| types.get(prompt).cloned());
            let agent_type = self.facts.agent_type.take().or(by_prompt);
            own.facts.get_or_init(|| SubagentFacts {
                agent_type,
                ..self.facts
            });
        }
        let subagents = self.all.by_id.iter();
        let by_call = subagents.map(|(id, subagent)| (subagent, Key::from_id(id)));
        let prompts = self.prompts.iter();
        let by_prompt = prompts.map(|(subagent, prompt)| (subagent, *prompt));
        for (subagent, key) in by_call.chain(by_prompt) {
            if let Some(name) = types.get(&key) {
                subagent.facts.get_or_init(|| SubagentFacts {
                    agent_type: Some(name.clone()),
                    ..SubagentFacts::default()
                });
            }
        }
        self.all
    }
}
