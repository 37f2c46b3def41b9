//! The requests and calls in a tally. Sessions may contain hundreds of thousands.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;

use crate::count::subagents::CountedSubagent;
use crate::prices::Unpriced;
use crate::read::session::Session;
use turnpipe_core::message::{CallOutcome, ToolResult, Usage};
use turnpipe_formats::agent::{Facts, IdScope};

/// A request: its counts and dimensions.
#[derive(Debug)]
pub(crate) struct ReplyCounts {
    pub(crate) usage: Option<Usage>,
    pub(crate) context: UsageContext,
    /// The index of the meter reading that states the tokens.
    pub(crate) reading: Option<usize>,
    /// Whether it is a reply of the conversation.
    pub(crate) is_reply: bool,
    /// Whether another request with the same tokens is the same request.
    pub(crate) may_repeat: bool,
    /// The part of the request without a price.
    pub(crate) unpriced: Option<Unpriced>,
}

impl ReplyCounts {
    /// Returns a request outside of the conversation.
    pub(crate) fn new(usage: Option<Usage>, context: UsageContext) -> Self {
        Self {
            usage,
            context,
            reading: None,
            is_reply: false,
            may_repeat: false,
            unpriced: None,
        }
    }

    /// Adds a copy of the request, which may be incomplete: the larger counts are right.
    pub(crate) fn join(&mut self, copy: Self) {
        self.is_reply |= copy.is_reply;
        self.may_repeat &= copy.may_repeat;
        if Usage::larger(copy.usage, self.usage) == self.usage {
            self.context.join(copy.context);
        } else {
            (self.usage, self.reading) = (copy.usage, copy.reading);
            let known = std::mem::replace(&mut self.context, copy.context);
            self.context.join(known);
        }
    }
}

/// The counts of a call.
#[derive(Debug)]
pub(crate) struct UsedTool {
    pub(crate) context: UsageContext,
    pub(crate) result: TalliedResult,
}

impl UsedTool {
    /// Adds a copy of the call.
    pub(crate) fn join(&mut self, copy: Self) {
        self.result.add(copy.result);
        self.context.join(copy.context);
    }
}

/// The dimensions of a request, a call or a prompt.
#[derive(Debug, Clone)]
pub(crate) struct UsageContext {
    pub(crate) time: Option<Timestamp>,
    pub(crate) labels: Arc<UsageLabels>,
    /// The subagent that made it.
    pub(crate) subagent: Option<Arc<CountedSubagent>>,
    /// Whether it was made in the session that this one was forked from.
    pub(crate) is_inherited: bool,
}

impl UsageContext {
    pub(crate) fn new(time: Option<Timestamp>, labels: Arc<UsageLabels>) -> Self {
        Self {
            time,
            labels,
            subagent: None,
            is_inherited: false,
        }
    }

    /// Whether the type of the subagent that made it is known.
    fn has_agent_type(&self) -> bool {
        let facts = self.subagent.as_ref().and_then(|subagent| subagent.facts());
        facts.is_some_and(|facts| facts.agent_type.is_some())
    }

    /// Adds a copy from another file. The session that made the request counts.
    pub(crate) fn join(&mut self, copy: Self) {
        if self.is_inherited && !copy.is_inherited {
            *self = copy;
        } else if !self.has_agent_type() && copy.subagent.is_some() {
            self.subagent = copy.subagent;
        }
    }
}

/// The dimensions of a request or a call that many of them share.
#[derive(Debug)]
pub(crate) struct UsageLabels {
    pub(crate) model: Option<String>,
    pub(crate) prompt_id: Option<String>,
    pub(crate) tool: Option<String>,
    source: Arc<OnceLock<ReadSession>>,
}

impl UsageLabels {
    /// Returns the session, after it was read.
    pub(crate) fn source(&self) -> Option<&ReadSession> {
        self.source.get()
    }
}

/// A session that was read.
#[derive(Debug)]
pub(crate) struct ReadSession {
    pub(crate) agent: String,
    pub(crate) session_id: Option<String>,
    /// The session that started it, if it is a subagent.
    pub(crate) parent: Option<String>,
    /// The first directory, or its hash.
    pub(crate) cwd: Option<String>,
    /// The home of the agent.
    pub(crate) home: Option<String>,
    /// The project, if it was asked for.
    pub(crate) project: Option<String>,
    /// Whether it is a stream whose requests have other ids in the file of the session.
    pub(crate) is_unlinked_stream: bool,
}

impl ReadSession {
    /// Describes a session with these facts.
    pub(crate) fn new(session: &Session, facts: &Facts, project: Option<String>) -> Self {
        let agent = session.written_by().unwrap_or(session.agent().name());
        let parent = facts
            .parent()
            .filter(|id| Some(*id) != facts.session_id.as_ref());
        let cwd = facts.first_cwd.as_ref().or(facts.cwd_hash.as_ref());
        let home = session.named_roots.find_home(&session.file.path);
        let format = session.format();
        Self {
            agent: agent.to_owned(),
            session_id: facts.session_id.clone(),
            parent: parent.cloned(),
            cwd: cwd.cloned(),
            home: home.map(|home| home.name),
            project,
            is_unlinked_stream: format.is_stream() && format.counting.ids == IdScope::File,
        }
    }

    /// Returns the agent and the id of the session. All files of a session have the same ones.
    pub(crate) fn key(&self) -> (String, Option<String>) {
        (self.agent.clone(), self.session_id.clone())
    }
}

/// Shares the labels of a session.
#[derive(Debug, Default)]
pub(crate) struct LabelCache {
    /// Set when the session was read.
    pub(crate) source: Arc<OnceLock<ReadSession>>,
    /// The labels that were used last.
    recent: Vec<Arc<UsageLabels>>,
}

/// Maximum number of labels in a cache.
const MAX_LABELS: usize = 32;

impl LabelCache {
    /// Returns the shared labels with these values.
    pub(crate) fn get_or_add(
        &mut self,
        model: Option<&str>,
        prompt_id: Option<&str>,
        tool: Option<&str>,
    ) -> Arc<UsageLabels> {
        let wanted = (model, prompt_id, tool);
        let is_wanted = |known: &Arc<UsageLabels>| {
            let labels = [&known.model, &known.prompt_id, &known.tool];
            let [model, prompt_id, tool] = labels.map(Option::as_deref);
            (model, prompt_id, tool) == wanted
        };
        if let Some(at) = self.recent.iter().position(is_wanted) {
            self.recent.swap(0, at);
            return Arc::clone(&self.recent[0]);
        }
        let labels = Arc::new(UsageLabels {
            model: model.map(str::to_owned),
            prompt_id: prompt_id.map(str::to_owned),
            tool: tool.map(str::to_owned),
            source: Arc::clone(&self.source),
        });
        self.recent.truncate(MAX_LABELS - 1);
        self.recent.insert(0, Arc::clone(&labels));
        labels
    }
}

/// The results of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TalliedResult {
    pub(crate) failed: bool,
    /// The length of the text in bytes, if there is a result.
    pub(crate) bytes: Option<usize>,
}

impl TalliedResult {
    /// Returns the failure and the size of a result.
    pub(crate) fn from_result(result: &ToolResult) -> Self {
        Self {
            failed: result.outcome() == CallOutcome::Failed,
            bytes: Some(result.text().len()),
        }
    }

    /// Adds another result of the same call.
    pub(crate) fn add(&mut self, other: Self) {
        self.failed |= other.failed;
        self.bytes = self.bytes.max(other.bytes);
    }
}
