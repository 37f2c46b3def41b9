//! Tokens and calls by model, tool, day and prompt id.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::ControlFlow;

use super::Agent;
use super::beside::each_record_beside;
use super::facts::metered;
use super::format::Format;
use super::side_cost::SideCost;
use super::transcript::{Scope, Session};
use crate::dialog::{Message, Origin, Role, Usage};

/// What the model was asked for when no service is named.
const MAIN: &str = "main";

/// A model, day or prompt id nobody tells.
const UNTOLD: &str = "(unknown)";

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
    /// Results that tell of a failure.
    pub failed: u64,
}

/// The sums over sessions.
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
    /// By what asked the model.
    pub by_prompt_id: BTreeMap<String, Share>,
    /// By tool.
    pub by_tool: BTreeMap<String, ToolCalls>,
}

impl Stats {
    /// Adds a session, all of its branches: they were paid for.
    ///
    /// # Errors
    /// Reading failed.
    pub fn add(&mut self, session: &Session) -> io::Result<()> {
        self.sessions += 1;
        let mut meter = None;
        let mut model = Model::default();
        let mut tools: HashMap<String, String> = HashMap::new();
        // Where the model stands in rows of its own, it is known before the meter is read.
        session.each_record(&mut |_, record| {
            let mut facts = super::Facts::default();
            session.format().facts(record, &mut facts);
            if let Some(name) = facts.model {
                model.named.get_or_insert(name);
            }
            self.side_cost(record, session.format());
        })?;
        each_record_beside(&session.file.path, &mut |record| {
            self.side_cost(record, Agent::Claude.format());
        })?;
        session.each_message(Scope::AllBranches, &mut |message| {
            self.message(&message, &mut meter, &mut model, &mut tools);
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// Adds what a record cost that says nothing.
    fn side_cost(&mut self, record: &str, format: &dyn Format) {
        let Some(cost) = SideCost::of(record, format) else {
            return;
        };
        let share = Share {
            replies: 0,
            usage: cost.usage,
        };
        self.share(
            share,
            cost.model.as_deref(),
            cost.time.as_deref(),
            cost.prompt_id.as_deref(),
        );
    }

    fn message(
        &mut self,
        message: &Message,
        meter: &mut Option<Usage>,
        model: &mut Model,
        tools: &mut HashMap<String, String>,
    ) {
        self.prompts += u64::from(message.origin == Origin::Prompt);
        for call in message.calls() {
            self.by_tool.entry(call.name.clone()).or_default().calls += 1;
            tools.insert(call.id.clone(), call.name.clone());
        }
        for result in message.results() {
            if let Some(tool) = tools.get(&result.id) {
                self.by_tool.entry(tool.clone()).or_default().failed += u64::from(result.failed);
            }
        }
        if message.model.is_some() {
            model.last.clone_from(&message.model);
        }
        let share = Share {
            replies: u64::from(message.role == Role::Assistant && message.origin == Origin::Reply),
            usage: metered(message, meter),
        };
        if share.replies == 0 && share.usage.is_empty() {
            return;
        }
        let named = model.last.clone().or_else(|| model.named.clone());
        self.share(
            share,
            named.as_deref(),
            message.time.as_deref(),
            message.prompt_id.as_deref(),
        );
    }

    fn share(
        &mut self,
        share: Share,
        model: Option<&str>,
        time: Option<&str>,
        prompt_id: Option<&str>,
    ) {
        let day = time.and_then(|time| time.get(..10));
        self.all.add(share);
        for (table, name) in [
            (&mut self.by_model, model.unwrap_or(UNTOLD)),
            (&mut self.by_day, day.unwrap_or(UNTOLD)),
            (&mut self.by_prompt_id, prompt_id.unwrap_or(MAIN)),
        ] {
            table.entry(name.to_owned()).or_default().add(share);
        }
    }
}

/// Which model speaks.
#[derive(Debug, Default)]
struct Model {
    /// The one that spoke last.
    last: Option<String>,
    /// The one that the file names first.
    named: Option<String>,
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
