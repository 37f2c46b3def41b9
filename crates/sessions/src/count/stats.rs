//! Tokens and calls by model, tool, day and prompt id. All branches count, because they were paid
//! for. A prompt, a reply and a call count once, however many files and rows repeat it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;

use crate::count::copies::CopyKeys;
use crate::count::meter::{MeterLog, MeterReader, count_copied_readings};
use crate::count::subagents::{CountedSubagent, CountedSubagents, FileSubagents};
use crate::count::tally_items::{
    LabelCache, ReadSession, ReplyCounts, TalliedResult, UsageContext, UsageLabels, UsedTool,
};
use crate::files::discover::Candidate;
use crate::files::distinct::{Distinct, Key};
use crate::files::open::SessionError;
use crate::files::side_file::visit_side_entries;
use crate::list::listing::{Failures, Listing, keep_unreadable};
use crate::list::projects::Projects;
use crate::list::selection::{Selection, is_in_period};
use crate::prices::{Prices, Unpriced};
use crate::read::session::Session;
use crate::read::tree::Scope;
use turnpipe_core::jsonl::Mapping;
use turnpipe_core::message::{Message, Origin, Role, Thread, Usage};
use turnpipe_formats::agent::{Detail, Entry, Facts, Repeats, SideCost, TokenSource, timestamp};
use turnpipe_formats::records::RunTotals;

/// Adds up sessions.
#[derive(Debug)]
pub struct Tally {
    /// The period of the requests that count.
    period: Range<Timestamp>,
    /// With [`Detail::Costs`], prompts and calls are not counted; with [`Detail::Activity`],
    /// lengths of results are not counted.
    detail: Detail,
    /// The projects of the sessions, if they are counted by project.
    pub projects: Arc<OnceLock<Projects>>,
    pub(crate) sessions: Distinct<()>,
    pub(crate) prompts: Distinct<UsageContext>,
    pub(crate) replies: Distinct<ReplyCounts>,
    pub(crate) calls: Distinct<UsedTool>,
    /// The meter readings of each file. The number of a reading counts through all files.
    meters: Vec<MeterLog>,
    labels: LabelCache,
    subagents: CountedSubagents,
    /// The sessions that were read, with those that repeat others.
    pub(crate) sources: Vec<Arc<OnceLock<ReadSession>>>,
    /// The total cost that the agent recorded in the session that is being read.
    recorded_cost: Option<f64>,
    runs: RunTotals,
    /// The number of sessions whose sum of tokens is left out, because a part of it may be outside the period.
    pub partial_sums: u64,
    /// The sessions with a recorded total cost.
    pub(crate) recorded: Distinct<(UsageContext, f64)>,
}

/// State while reading one file.
#[derive(Debug, Default)]
pub(crate) struct FileState {
    keys: CopyKeys,
    meter: MeterReader,
    token_source: TokenSource,
    has_split_replies: bool,
    /// The last model.
    model: Option<String>,
    /// The last time.
    time: Option<Timestamp>,
    /// The number of meter readings in messages.
    reading_count: u32,
    /// The last of them, which shows a running total.
    last_total: Usage,
    /// Whether the last message is part of a reply.
    is_replying: bool,
    /// Replies in several messages. They count if no record states their tokens.
    replies: Vec<(Option<Key>, ReplyCounts)>,
    /// Requests outside the conversation.
    costs: Vec<SideRequest>,
    subagents: FileSubagents,
    /// The place of each call in the tally.
    call_indices: Distinct<u32>,
}

/// A request outside the conversation.
#[derive(Debug)]
struct SideRequest {
    cost: SideCost,
    time: Option<Timestamp>,
    subagent: Option<Arc<CountedSubagent>>,
    is_inherited: bool,
}

/// The dimensions that the prompt, the calls and the reply of a message share.
struct SharedContext {
    time: Option<Timestamp>,
    is_inherited: bool,
    subagent: Option<Arc<CountedSubagent>>,
}

impl SharedContext {
    fn to_context(&self, labels: Arc<UsageLabels>) -> UsageContext {
        UsageContext {
            is_inherited: self.is_inherited,
            subagent: self.subagent.clone(),
            ..UsageContext::new(self.time, labels)
        }
    }
}

impl FileState {
    /// Starts to read a file.
    pub(crate) fn new(session: &Session) -> Self {
        Self {
            keys: CopyKeys::for_session(session),
            token_source: session.format().counting.tokens,
            has_split_replies: session.format().counting.has_split_replies,
            ..Self::default()
        }
    }

    /// Reads the next entry. Its messages follow.
    pub(crate) fn add_entry(&mut self, entry: &mut Entry) {
        self.keys.read_entry(entry);
        self.subagents.read_entry(entry);
        self.meter.subagent.clone_from(&self.subagents.last);
        self.meter.read_entry(entry, &self.keys);
        if let Some(mut request) = take_side_request(entry) {
            let model = &mut request.cost.model;
            *model = model
                .take()
                .or_else(|| self.meter.model().map(str::to_owned));
            request.is_inherited = self.keys.is_older(request.time) || CopyKeys::is_copied(entry);
            request.subagent.clone_from(&self.subagents.last);
            self.costs.push(request);
        }
    }

    /// Returns the tokens that a message adds to the total of its session, and the key of the request.
    fn take_usage(&mut self, message: &Message) -> (Option<Usage>, Option<Key>) {
        let Some(usage) = message.usage else {
            return (None, None);
        };
        match (message.origin, self.token_source) {
            (Origin::Meter, TokenSource::Records) => return (None, None),
            (Origin::Meter, _) | (_, TokenSource::Totals) => {}
            _ => return (Some(usage), None),
        }
        let number = self.reading_count;
        self.reading_count += 1;
        let previous_total = std::mem::replace(&mut self.last_total, usage);
        let request_key = |session| Key::from_id(&format!("{session} total {number}"));
        let usage = Usage {
            is_sum: true,
            ..usage.since(&previous_total)
        };
        (Some(usage), self.keys.session().map(request_key))
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self::new(Detail::Activity)
    }
}

impl Tally {
    /// Counts requests in this period.
    pub fn with_period(period: Range<Timestamp>, detail: Detail) -> Self {
        Self {
            period,
            ..Self::new(detail)
        }
    }

    /// Counts all requests.
    pub fn new(detail: Detail) -> Self {
        Self {
            period: Timestamp::MIN..Timestamp::MAX,
            detail,
            projects: Arc::default(),
            sessions: Distinct::default(),
            prompts: Distinct::default(),
            replies: Distinct::default(),
            calls: Distinct::default(),
            meters: Vec::new(),
            labels: LabelCache::default(),
            subagents: CountedSubagents::default(),
            sources: Vec::new(),
            recorded_cost: None,
            runs: RunTotals::default(),
            partial_sums: 0,
            recorded: Distinct::default(),
        }
    }

    /// Returns the costs of one session and of its subagents.
    ///
    /// # Errors
    /// Reading failed.
    pub fn from_session(session: &Session, prices: &Prices) -> io::Result<Self> {
        let mut tally = Self::new(Detail::Costs);
        tally.add(session)?;
        tally.price(prices);
        Ok(tally)
    }

    /// Adds a session and the files of its subagents, without what it inherited from another session. Returns
    /// whether any of it is in the period.
    ///
    /// # Errors
    /// Reading failed.
    pub fn add(&mut self, session: &Session) -> io::Result<bool> {
        let (mut tally, _) = self.read(session, &Selection::default())?;
        let is_active = tally.sessions.len() > 0;
        tally.drop_inherited();
        self.merge(tally);
        Ok(is_active)
    }

    /// Adds the sessions among `candidates` that `listing` admits. Returns the files that could not
    /// be read. Skips files that are not sessions.
    pub fn add_all(&mut self, candidates: &[Candidate], listing: &Listing) -> Failures {
        listing.prepare(candidates);
        // The last changed file is last: without other signs, records belong to the session that had them first.
        let oldest_first: Vec<&Candidate> = candidates.iter().rev().collect();
        let mut empty = Self::with_period(self.period.clone(), self.detail);
        empty.projects = Arc::clone(&self.projects);
        let count = |candidate: &Candidate| empty.count_candidate(candidate, listing);
        let failed = listing.examine_each(&oldest_first, count, |_, tally| self.merge(tally));
        self.drop_copies();
        keep_unreadable(failed)
    }

    /// Counts one candidate. Returns `None` if it is filtered out.
    fn count_candidate(
        &self,
        candidate: &Candidate,
        listing: &Listing,
    ) -> Result<Option<Self>, SessionError> {
        let Some(session) = listing.open(candidate)? else {
            return Ok(None);
        };
        let (mut tally, mut facts) = self.read(&session, &listing.selection)?;
        if listing.selection.needs_title() {
            facts.title = session.summary(listing.mapping)?.title;
        }
        if facts.is_subagent && !candidate.context.is_named {
            tally.sessions = Distinct::default();
            tally.prompts = Distinct::default();
        }
        Ok(listing.selection.admits(&facts).then_some(tally))
    }

    /// Counts one session and the files of its subagents. Returns the facts that this selection asks for.
    fn read(&self, session: &Session, selection: &Selection) -> io::Result<(Self, Facts)> {
        let mut tally = Self::with_period(self.period.clone(), self.detail);
        let all = Timestamp::MIN..Timestamp::MAX;
        let own_facts = match tally.read_records(session, self.detail, false)? {
            Some(facts) => facts,
            None if selection.needs_end() || self.period != all => {
                session.read_end_facts(&mut session.bytes(Mapping::Allowed))?
            }
            None => session.read_identity_facts()?,
        };
        let facts = session.with_directory(own_facts);
        tally.read_side_files(session)?;
        for other in session.other_files(false) {
            tally.read_records(&other, self.detail, false)?;
            tally.read_side_files(&other)?;
        }
        let project = self.projects.get().and_then(|known| known.name(&facts));
        let source = ReadSession::new(session, &facts, project);
        tally.labels.source.get_or_init(|| source);
        tally.sources.push(Arc::clone(&tally.labels.source));
        if self.detail == Detail::Costs {
            // Prompts may have been skipped. `drop_copies` needs one to see that the session has a file.
            let context = UsageContext::new(None, tally.labels.get_or_add(None, None, None));
            tally.prompts.put(None, context, UsageContext::join);
        }
        if tally.period != all {
            tally.drop_outside_period(&facts);
        } else if let Some(cost) = tally.recorded_cost {
            let context = UsageContext::new(None, tally.labels.get_or_add(None, None, None));
            tally
                .recorded
                .put(session_key(session, &facts), (context, cost), |_, _| {});
        }
        if tally.period == all || tally.prompts.len() + tally.replies.len() + tally.calls.len() > 0
        {
            let key = session_key(session, &facts);
            tally.sessions.put(key, (), |(), ()| {});
        } else {
            tally.runs = RunTotals::default();
        }
        Ok((tally, facts))
    }

    /// Removes what is outside of the period.
    fn drop_outside_period(&mut self, facts: &Facts) {
        let period = self.period.clone();
        let has_time_in_period = |context: &UsageContext| is_in_period(&period, context.time);
        // The sum of a session has no time of its own.
        let is_within = facts.started.is_some_and(|start| period.contains(&start))
            && period.contains(&facts.last_activity_or_min());
        let mut has_partial_sum = false;
        self.prompts.retain(|context| has_time_in_period(context));
        self.replies.retain(|reply| {
            let has_sum = reply.context.time.is_none() && reply.usage.is_some();
            let is_counted = has_time_in_period(&reply.context) || has_sum && is_within;
            has_partial_sum |= has_sum && !is_counted;
            is_counted
        });
        let overlaps = facts.last_activity_or_min() >= period.start
            && facts.started.is_none_or(|start| start < period.end);
        self.partial_sums = u64::from(has_partial_sum && overlaps);
        self.calls.retain(|call| has_time_in_period(&call.context));
    }

    /// Counts the requests in the side file of a session, and the files of its subagents. Subagents are prompted by
    /// the model, not by the user.
    pub(crate) fn read_side_files(&mut self, session: &Session) -> io::Result<()> {
        visit_side_entries(&session.file.path, &mut |mut entry| {
            if let Some(request) = take_side_request(&mut entry) {
                self.add_side_request(request);
            }
        })?;
        let prompts = std::mem::take(&mut self.prompts);
        for subagent in session.subagents() {
            self.read_records(&subagent, self.detail, true)?;
        }
        self.prompts = prompts;
        Ok(())
    }

    /// Counts one file. `is_subagent` is true for the file of a subagent that the session started. Returns its facts,
    /// unless records were skipped.
    pub(crate) fn read_records(
        &mut self,
        session: &Session,
        detail: Detail,
        is_subagent: bool,
    ) -> io::Result<Option<Facts>> {
        let mut current = FileState::new(session);
        let subagents = std::mem::take(&mut self.subagents);
        current.subagents = subagents.into_file(session, is_subagent);
        let current = RefCell::new(current);
        let (mut facts, mut first_model) = (Facts::default(), None);
        let (mut recorded, mut ends) = (None, Vec::new());
        let first_reply = self.replies.len();
        let skips_records = !session.words(detail).is_empty();
        let mut on_entry = |entry: &mut Entry| {
            recorded = entry.recorded_cost.or(recorded);
            ends.extend(entry.end.take());
            current.borrow_mut().add_entry(entry);
            let added = std::mem::take(&mut entry.facts);
            first_model = first_model.take().or_else(|| added.model.clone());
            if !skips_records {
                facts.add(added);
            }
        };
        for message in
            session.read_messages_with(Scope::AllBranches, detail, Some(&mut on_entry))?
        {
            self.add_message(&message?, &mut current.borrow_mut());
        }
        let mut current = current.into_inner();
        let own = std::mem::take(&mut current.subagents);
        self.subagents = own.finish(&session.read_facts_beside());
        if skips_records && current.has_split_replies && current.meter.requests.is_empty() {
            // Only replies show how many requests there were, and which readings repeat those of another file.
            return self.read_records(session, Detail::Counts, is_subagent);
        }
        self.finish_file(current);
        // A meter may be read before a record names the model.
        self.set_missing_models(first_reply, first_model.as_deref());
        self.recorded_cost = self.recorded_cost.or(recorded);
        for end in ends {
            self.runs.add(RunTotals {
                ends: [(end.reason, 1)].into(),
                turns: end.turns.unwrap_or_default(),
                duration_ms: end.duration.unwrap_or_default(),
                denials: end.denials,
            });
        }
        Ok((!skips_records).then_some(facts))
    }

    /// Sets the model of the replies from `first` on that have none.
    fn set_missing_models(&mut self, first: usize, model: Option<&str>) {
        for reply in self.replies.values_mut().skip(first) {
            let labels = &mut reply.context.labels;
            if labels.model.is_none() && model.is_some() {
                let prompt_id = labels.prompt_id.as_deref();
                *labels = self.labels.get_or_add(model, prompt_id, None);
            }
        }
    }

    /// Counts a request outside the conversation.
    fn add_side_request(&mut self, request: SideRequest) {
        let SideRequest { cost, time, .. } = request;
        let (model, prompt_id) = (cost.model.as_deref(), cost.prompt_id.as_deref());
        let context = UsageContext {
            subagent: request.subagent,
            is_inherited: request.is_inherited,
            ..UsageContext::new(time, self.labels.get_or_add(model, prompt_id, None))
        };
        let reply = ReplyCounts {
            is_reply: cost.repeats == Repeats::SubagentReply,
            may_repeat: cost.repeats == Repeats::AnyReply,
            ..ReplyCounts::new(Some(cost.usage), context)
        };
        let id = cost.id.as_deref().map(Key::from_id);
        self.replies.put(id, reply, ReplyCounts::join);
    }

    /// Counts the requests of a file that was read to its end.
    pub(crate) fn finish_file(&mut self, current: FileState) {
        for request in current.costs {
            self.add_side_request(request);
        }
        let (requests, log) = current.meter.finish();
        let reading_offset = count_readings(&self.meters);
        if requests.is_empty() {
            for (key, reply) in current.replies {
                self.replies.put(key, reply, ReplyCounts::join);
            }
        }
        for request in requests {
            let copy_key = request.id.map(|id| Key::from_id(&format!("request {id}")));
            let labels = self.labels.get_or_add(request.model.as_deref(), None, None);
            let context = UsageContext {
                is_inherited: request.is_inherited,
                subagent: request.subagent,
                ..UsageContext::new(request.time, labels)
            };
            let reply = ReplyCounts {
                reading: request.reading.map(|at| reading_offset + at),
                is_reply: current.has_split_replies && request.usage.total() > 0,
                unpriced: request.is_partial.then_some(Unpriced::Input),
                ..ReplyCounts::new(Some(request.usage), context)
            };
            self.replies.put(copy_key, reply, ReplyCounts::join);
        }
        self.meters.extend(log);
    }

    /// Removes requests that are counted elsewhere.
    pub(crate) fn drop_copies(&mut self) {
        // Copied readings show which costs replies repeat.
        self.drop_repeated_costs();
        self.drop_copied_readings();
        self.drop_linked_streams();
    }

    /// Removes the requests whose meter readings a fork copied.
    fn drop_copied_readings(&mut self) {
        let meters = std::mem::take(&mut self.meters);
        let mut is_copied = Vec::new();
        for (copied, meter) in count_copied_readings(&meters).into_iter().zip(&meters) {
            is_copied.extend((0..meter.len()).map(|at| at < copied));
        }
        self.replies
            .retain(|reply| !reply.reading.take().is_some_and(|at| is_copied[at]));
    }

    /// Removes the requests that replies repeat.
    fn drop_repeated_costs(&mut self) {
        let token_counts = |reply: &ReplyCounts| {
            let usage = reply.usage.unwrap_or_default();
            (usage.input, usage.output, usage.cache_read)
        };
        let may_repeat = self.replies.values().filter(|reply| reply.may_repeat);
        let possible_copies: HashMap<_, _> = may_repeat
            .map(|reply| (token_counts(reply), Arc::clone(&reply.context.labels)))
            .collect();
        let mut copied_counts = HashSet::new();
        for reply in self.replies.values_mut().filter(|reply| !reply.may_repeat) {
            if let Some(labels) = possible_copies.get(&token_counts(reply)) {
                copied_counts.insert(token_counts(reply));
                // Replies to subagents do not name their model.
                if reply.context.labels.model.is_none() {
                    reply.context.labels = Arc::clone(labels);
                }
            }
        }
        self.replies
            .retain(|reply| !(reply.may_repeat && copied_counts.contains(&token_counts(reply))));
    }

    /// Removes the content of streams whose sessions have a file.
    fn drop_linked_streams(&mut self) {
        let replies = self.replies.values().map(|reply| &reply.context);
        let with_files: HashSet<_> = replies
            .chain(self.prompts.values())
            .filter_map(|context| context.labels.source())
            .filter(|source| !source.is_unlinked_stream && source.session_id.is_some())
            .map(ReadSession::key)
            .collect();
        self.retain(|context| {
            let source = context.labels.source();
            source.is_none_or(|source| {
                !source.is_unlinked_stream || !with_files.contains(&source.key())
            })
        });
    }

    /// Removes what a session inherited from the one that it was forked from.
    pub(crate) fn drop_inherited(&mut self) {
        self.retain(|context| !context.is_inherited);
    }

    fn retain(&mut self, is_kept: impl Fn(&UsageContext) -> bool) {
        self.prompts.retain(|context| is_kept(context));
        self.replies.retain(|reply| is_kept(&reply.context));
        self.calls.retain(|call| is_kept(&call.context));
    }

    /// Counts a message.
    pub(crate) fn add_message(&mut self, message: &Message, current: &mut FileState) {
        let time = timestamp(message.time.as_deref());
        current.time = time.or(current.time);
        let time = current.time;
        let shared = SharedContext {
            time,
            is_inherited: current.keys.is_inherited(message, time),
            subagent: current.subagents.find_for_message(message),
        };
        self.add_prompt(message, current, &shared);
        self.add_calls(message, current, &shared);
        if message.model.is_some() {
            current.model.clone_from(&message.model);
        }
        self.add_reply(message, current, &shared);
    }

    fn add_prompt(&mut self, message: &Message, current: &mut FileState, shared: &SharedContext) {
        if message.origin == Origin::Prompt && message.thread == Thread::Main {
            let copy_key = current.keys.key_prompt(message, shared.time);
            let prompt = shared.to_context(self.labels.get_or_add(None, None, None));
            self.prompts.put(copy_key, prompt, UsageContext::join);
        }
    }

    fn add_calls(&mut self, message: &Message, current: &mut FileState, shared: &SharedContext) {
        for call in message.calls() {
            let model = message.model.as_deref().or(current.model.as_deref());
            let tool = UsedTool {
                result: TalliedResult::default(),
                context: shared.to_context(self.labels.get_or_add(model, None, Some(&call.name))),
            };
            let copy_key = current.keys.key_call(message, call, shared.time);
            let index = self.calls.put(copy_key, tool, UsedTool::join);
            let id = Some(Key::from_id(&call.id));
            current
                .call_indices
                .put(id, index, |known, last| *known = last);
        }
        for result in message.results() {
            let index = current.call_indices.get(Key::from_id(&result.id));
            if let Some(call) = index.and_then(|index| self.calls.at(*index)) {
                call.result.add(TalliedResult::from_result(result));
            }
        }
    }

    /// Counts the tokens of a message, and the message itself if it is a reply.
    fn add_reply(&mut self, message: &Message, current: &mut FileState, shared: &SharedContext) {
        let (usage, request_key) = current.take_usage(message);
        let is_reply = message.role == Role::Assistant && message.origin == Origin::Reply;
        if !is_reply && usage.is_none_or(|usage| usage.is_empty()) {
            current.is_replying &= message.origin == Origin::Meter;
            return;
        }
        let labels = self.labels.get_or_add(current.model.as_deref(), None, None);
        if request_key.is_some() {
            let request = ReplyCounts::new(usage, shared.to_context(Arc::clone(&labels)));
            self.replies.put(request_key, request, ReplyCounts::join);
            if !is_reply {
                return;
            }
        }
        let copy_key = current.keys.key_reply(message, shared.time);
        let own_usage = if request_key.is_none() { usage } else { None };
        let reply = ReplyCounts {
            is_reply,
            ..ReplyCounts::new(own_usage, shared.to_context(labels))
        };
        if is_reply && current.has_split_replies {
            if !std::mem::replace(&mut current.is_replying, true) {
                current.replies.push((copy_key, reply));
            }
            return;
        }
        self.replies.put(copy_key, reply, |known, last| {
            let labels = Arc::clone(&last.context.labels);
            let time = known.context.time;
            known.join(last);
            known.context.time = time;
            if labels.model.is_some() {
                known.context.labels = labels;
            }
        });
    }

    /// Adds another tally.
    fn merge(&mut self, mut other: Self) {
        let reading_offset = count_readings(&self.meters);
        for reply in other.replies.values_mut() {
            reply.reading = reply.reading.map(|number| number + reading_offset);
        }
        self.meters.extend(other.meters);
        self.runs.add(other.runs);
        self.partial_sums += other.partial_sums;
        self.sources.extend(other.sources);
        self.sessions.append(other.sessions, |(), ()| {});
        self.prompts.append(other.prompts, UsageContext::join);
        self.recorded.append(other.recorded, |known, copy| {
            known.1 = known.1.max(copy.1);
        });
        self.calls.append(other.calls, UsedTool::join);
        self.replies.append(other.replies, ReplyCounts::join);
    }

    /// Returns the runs whose streams were read, if there are any.
    pub fn runs(&self) -> Option<&RunTotals> {
        Some(&self.runs).filter(|runs| !runs.ends.is_empty())
    }
}

/// Returns the key of a session, by its agent and its id.
fn session_key(session: &Session, facts: &Facts) -> Option<Key> {
    let id = facts.session_id.as_deref()?;
    Some(Key::from_id(&format!("{} {id}", session.agent().name())))
}

/// Returns the number of readings of these meters.
fn count_readings(meters: &[MeterLog]) -> usize {
    meters.iter().map(MeterLog::len).sum()
}

/// Returns the request outside the conversation in an entry.
fn take_side_request(entry: &mut Entry) -> Option<SideRequest> {
    Some(SideRequest {
        cost: entry.side_cost.take()?,
        time: entry.timestamp(),
        subagent: None,
        is_inherited: false,
    })
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
