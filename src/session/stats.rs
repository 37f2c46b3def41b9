//! Tokens and calls by model, tool, day and prompt id. All branches count, because they were paid
//! for. A reply counts once, however many files and rows repeat it.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::ControlFlow;

use memchr::memmem;

use super::Agent;
use super::conversation::Scope;
use super::discover::subagent_files;
use super::facts::{LastOfEach, Meter};
use super::format::{Detail, Entry};
use super::opened::Session;
use super::side_file::each_entry_beside;
use super::tree::Key;
use crate::dialog::{Message, Origin, Role, Usage};

/// The purpose of a request that names no service.
const MAIN: &str = "main";

/// The name for an unknown model or day.
const UNKNOWN: &str = "(unknown)";

/// Replies and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Share {
    /// Replies.
    pub replies: u64,
    /// Tokens.
    pub usage: Usage,
}

/// Calls of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolCalls {
    /// Calls.
    pub calls: u64,
    /// Results that report a failure.
    pub failed: u64,
}

/// The totals over all sessions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Sessions.
    pub sessions: u64,
    /// Prompts.
    pub prompts: u64,
    /// All replies and tokens.
    pub all: Share,
    /// By model.
    pub by_model: BTreeMap<String, Share>,
    /// By day (UTC).
    pub by_day: BTreeMap<String, Share>,
    /// By purpose of the request.
    pub by_prompt_id: BTreeMap<String, Share>,
    /// By tool.
    pub by_tool: BTreeMap<String, ToolCalls>,
}

/// Adds up sessions.
#[derive(Debug, Default)]
pub struct Tally {
    stats: Stats,
    files: u64,
    replies: LastOfEach<Reply>,
}

/// What is counted for a reply or another request.
#[derive(Debug)]
struct Reply {
    share: Share,
    model: Option<String>,
    day: Option<String>,
    prompt_id: Option<String>,
}

/// State while reading one session.
#[derive(Debug, Default)]
struct Current {
    /// The last model.
    model: Option<String>,
    /// The first model that the file names.
    first_model: Option<String>,
    meter: Meter,
    /// The tool of each call.
    tools: HashMap<String, String>,
    /// The identity of the file, for formats whose message ids are only unique per file.
    file: Option<u64>,
}

impl Tally {
    /// Adds a session and the files of its subagents.
    ///
    /// # Errors
    /// Reading failed.
    pub fn add(&mut self, session: &Session) -> io::Result<()> {
        self.stats.sessions += 1;
        self.add_file(session)?;
        each_entry_beside(&session.file.path, &mut |entry| self.side_cost(entry))?;
        let prompts = self.stats.prompts;
        for path in subagent_files(&session.file.path, session.agent()) {
            if let Ok(subagent) = Session::open(&path) {
                self.add_file(&subagent)?;
            }
        }
        // Subagents are prompted by the model, not by a person.
        self.stats.prompts = prompts;
        Ok(())
    }

    fn add_file(&mut self, session: &Session) -> io::Result<()> {
        self.files += 1;
        let mut current = Current {
            file: (session.agent() != Agent::Claude).then_some(self.files),
            ..Current::default()
        };
        // Where the model has rows of its own, it is known before the meter is read.
        session.each_record(&mut |_, record| {
            let is_ours = memmem::find(record.as_bytes(), b"\"turnpipe\"").is_some();
            let detail = if is_ours {
                Detail::Full
            } else {
                Detail::Outline
            };
            let mut entry = session.format().read(record, detail).unwrap_or_default();
            let model = entry.facts.model.take();
            current.first_model = current.first_model.take().or(model);
            self.side_cost(entry);
        })?;
        session.each_message(Scope::AllBranches, &mut |message| {
            self.message(&message, &mut current);
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// Adds the cost of a request outside the conversation.
    fn side_cost(&mut self, entry: Entry) {
        let Some(cost) = entry.side_cost else {
            return;
        };
        let reply = Reply {
            share: Share {
                replies: 0,
                usage: cost.usage,
            },
            model: cost.model,
            day: day(entry.time.as_deref()),
            prompt_id: cost.prompt_id,
        };
        self.replies.put(None, reply);
    }

    fn message(&mut self, message: &Message, current: &mut Current) {
        let stats = &mut self.stats;
        stats.prompts += u64::from(message.origin == Origin::Prompt);
        for call in message.calls() {
            stats.by_tool.entry(call.name.clone()).or_default().calls += 1;
            current.tools.insert(call.id.clone(), call.name.clone());
        }
        for result in message.results().filter(|result| result.failed) {
            if let Some(tool) = current.tools.get(&result.id) {
                stats.by_tool.entry(tool.clone()).or_default().failed += 1;
            }
        }
        if message.model.is_some() {
            current.model.clone_from(&message.model);
        }
        let is_reply = message.role == Role::Assistant && message.origin == Origin::Reply;
        let share = Share {
            replies: u64::from(is_reply),
            usage: current.meter.usage_of(message),
        };
        if share.replies == 0 && share.usage.is_empty() {
            return;
        }
        let key = message.id.as_deref().map(|id| match current.file {
            Some(file) => Key::of(&format!("{file} {id}")),
            None => Key::of(id),
        });
        let model = current.model.as_ref().or(current.first_model.as_ref());
        let reply = Reply {
            share,
            model: model.cloned(),
            day: day(message.time.as_deref()),
            prompt_id: None,
        };
        self.replies.put(key, reply);
    }

    /// The totals.
    pub fn finish(self) -> Stats {
        let mut stats = self.stats;
        for reply in self.replies.values {
            stats.all.add(reply.share);
            for (table, name, missing) in [
                (&mut stats.by_model, reply.model, UNKNOWN),
                (&mut stats.by_day, reply.day, UNKNOWN),
                (&mut stats.by_prompt_id, reply.prompt_id, MAIN),
            ] {
                let name = name.unwrap_or_else(|| missing.to_owned());
                table.entry(name).or_default().add(reply.share);
            }
        }
        stats
    }
}

fn day(time: Option<&str>) -> Option<String> {
    time?.get(..10).map(str::to_owned)
}

impl Share {
    fn add(&mut self, other: Self) {
        self.replies += other.replies;
        self.usage += other.usage;
    }
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
