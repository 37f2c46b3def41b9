//! Tokens and calls by model, tool, day and prompt id. All branches count, because they were paid
//! for. A prompt, a reply and a call count once, however many files and rows repeat it.

use std::io;
use std::num::NonZeroU32;
use std::ops::Range;

use jiff::Timestamp;

use super::copies::CopyKeys;
use super::discover::Candidate;
use super::distinct::{Distinct, Key, index};
use super::listing::{Failures, Listing, unreadable};
use super::meter::{MeterLog, MeterReader, copied_readings};
use super::open::SessionError;
use super::prices::Prices;
use super::selection::counts_in;
use super::session::Session;
use super::side_file::each_side_entry;
use super::tally_items::{
    CallResult, LabelCache, ReadSession, ReplyCounts, TallyTime, UsageContext, UsedTool,
};
use super::tree::Scope;
use crate::agent::{Detail, Entry, Facts, SideCost, timestamp};
use crate::jsonl::Mapping;
use crate::message::{Message, Origin, Role, Thread, Usage};
use crate::records::RunTotals;

/// Adds up sessions.
#[derive(Debug)]
pub struct Tally {
    /// The period of the requests that count.
    period: Range<Timestamp>,
    /// With [`Detail::Costs`], prompts and calls are not counted; with [`Detail::Activity`],
    /// lengths of results are not counted.
    detail: Detail,
    pub(super) sessions: u64,
    pub(super) prompts: Distinct<TallyTime>,
    pub(super) replies: Distinct<ReplyCounts>,
    pub(super) calls: Distinct<UsedTool>,
    /// The readings of meters in each file. Those of all files are numbered from 1.
    meters: Vec<MeterLog>,
    labels: LabelCache,
    /// The total cost that the agent recorded in the session that is being read.
    recorded_cost: Option<f64>,
    runs: RunTotals,
    /// The sessions with a recorded total cost.
    pub(super) recorded: Distinct<(UsageContext, f64)>,
}

/// State while reading one file.
#[derive(Debug, Default)]
pub(super) struct Current {
    keys: CopyKeys,
    /// The last model.
    model: Option<String>,
    /// The last time.
    time: Option<Timestamp>,
    /// The last reading of a meter in messages, which shows a running total.
    meter: Option<Usage>,
    /// Whether meters have separate records, which messages repeat.
    has_meter_records: bool,
    /// The place of each call in the tally.
    calls: Distinct<u32>,
}

impl Current {
    /// Starts to read a file.
    pub(super) fn of(session: &Session) -> Self {
        Self {
            keys: CopyKeys::of(session),
            has_meter_records: session.format().has_meter_records,
            ..Self::default()
        }
    }

    /// Returns the tokens that a message adds to the total of its session.
    fn usage_of(&mut self, message: &Message) -> Option<Usage> {
        let usage = message.usage?;
        if message.origin != Origin::Meter {
            return Some(usage);
        }
        if self.has_meter_records {
            return None;
        }
        let before = self.meter.replace(usage).unwrap_or_default();
        Some(Usage {
            is_sum: true,
            ..usage.since(&before)
        })
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self::new(Detail::Activity)
    }
}

impl Tally {
    /// Counts requests in this period.
    pub fn within(period: Range<Timestamp>, detail: Detail) -> Self {
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
            sessions: 0,
            prompts: Distinct::default(),
            replies: Distinct::default(),
            calls: Distinct::default(),
            meters: Vec::new(),
            labels: LabelCache::default(),
            recorded_cost: None,
            runs: RunTotals::default(),
            recorded: Distinct::default(),
        }
    }

    /// Returns the costs of one session and of its subagents.
    ///
    /// # Errors
    /// Reading failed.
    pub fn of(session: &Session, prices: &Prices) -> io::Result<Self> {
        let mut tally = Self::new(Detail::Costs);
        tally.add(session)?;
        tally.price(prices);
        Ok(tally)
    }

    /// Adds a session and the files of its subagents. Returns whether any of it is in the period.
    ///
    /// # Errors
    /// Reading failed.
    pub fn add(&mut self, session: &Session) -> io::Result<bool> {
        let (mut tally, _) = self.read(session)?;
        let is_active = tally.sessions > 0;
        tally.drop_copied();
        self.merge(tally);
        Ok(is_active)
    }

    /// Adds the sessions among `candidates` that `listing` admits. Returns the files that could not
    /// be read. Skips files that are not sessions.
    pub fn add_all(&mut self, candidates: &[Candidate], listing: &Listing) -> Failures {
        // The last changed file is last: records that a fork copied belong to the session that had them
        // first.
        let oldest_first: Vec<&Candidate> = candidates.iter().rev().collect();
        let empty = Self::within(self.period.clone(), self.detail);
        let look = |candidate: &Candidate| empty.look_at(candidate, listing);
        let failed = listing.each(&oldest_first, look, |_, tally| self.merge(tally));
        self.drop_copied();
        unreadable(failed)
    }

    /// Counts one candidate. Returns `None` if it is filtered out.
    fn look_at(
        &self,
        candidate: &Candidate,
        listing: &Listing,
    ) -> Result<Option<Self>, SessionError> {
        let Some(session) = listing.open(candidate)? else {
            return Ok(None);
        };
        let (mut tally, mut facts) = self.read(&session)?;
        if listing.selection.asks_for_title() {
            facts.title = session.summary(listing.mapping)?.title;
        }
        if facts.is_subagent && !candidate.context.is_named {
            tally.sessions = 0;
            tally.prompts = Distinct::default();
        }
        Ok(listing.selection.admits(&facts).then_some(tally))
    }

    /// Counts one session and the files of its subagents.
    fn read(&self, session: &Session) -> io::Result<(Self, Facts)> {
        let mut tally = Self::within(self.period.clone(), self.detail);
        let facts = match tally.read_records(session)? {
            Some(facts) => facts,
            None => session.facts_of_ends(&mut session.bytes(Mapping::Allowed))?,
        };
        let facts = session.with_directory(facts);
        each_side_entry(&session.file.path, &mut |mut entry| {
            if let Some(request) = side_request(&mut entry) {
                tally.side_request(request);
            }
        })?;
        let prompts = std::mem::take(&mut tally.prompts);
        for subagent in session.subagents() {
            tally.read_records(&subagent)?;
        }
        // Subagents are prompted by the model, not by the user.
        tally.prompts = prompts;
        let cwd = facts.first_cwd.as_ref().or(facts.cwd_hash.as_ref());
        tally.labels.source.get_or_init(|| ReadSession {
            agent: session
                .written_by()
                .unwrap_or(session.agent().name())
                .to_owned(),
            session_id: facts.session_id.clone(),
            cwd: cwd.cloned(),
        });
        let all = Timestamp::MIN..Timestamp::MAX;
        if tally.period == all {
            tally.sessions = 1;
            if let Some(cost) = tally.recorded_cost {
                let id = facts.session_id.as_deref().map(Key::of);
                let context = UsageContext::new(None, tally.labels.of(None, None, None));
                tally.recorded.put(id, (context, cost), |_, _| {});
            }
            return Ok((tally, facts));
        }
        let counts = |time: TallyTime| counts_in(&self.period, time.get());
        tally.prompts.retain(|time| counts(*time));
        tally.replies.retain(|reply| counts(reply.context.time));
        tally.calls.retain(|call| counts(call.context.time));
        let is_active = tally.prompts.len() + tally.replies.len() + tally.calls.len() > 0;
        tally.sessions = u64::from(is_active);
        if !is_active {
            tally.runs = RunTotals::default();
        }
        Ok((tally, facts))
    }

    /// Counts one file. Returns its facts, unless records were skipped.
    fn read_records(&mut self, session: &Session) -> io::Result<Option<Facts>> {
        let mut current = Current::of(session);
        let (mut facts, mut first_model, mut costs) = (Facts::default(), None, Vec::new());
        let (mut recorded, mut ends) = (None, Vec::new());
        let before = self.replies.len();
        let mut meter = MeterReader::default();
        let skips_records = !session.words(self.detail).is_empty();
        let mut seen = |entry: &mut Entry| {
            costs.extend(side_request(entry));
            recorded = entry.recorded_cost.or(recorded);
            ends.extend(entry.end.take());
            meter.note(entry);
            let added = std::mem::take(&mut entry.facts);
            first_model = first_model.take().or_else(|| added.model.clone());
            if !skips_records {
                facts.add(added);
            }
        };
        for message in session.messages_of(Scope::AllBranches, self.detail, Some(&mut seen))? {
            self.message(&message?, &mut current);
        }
        self.requests(meter);
        // A meter may be read before a record names the model.
        for reply in self.replies.values_mut().skip(before) {
            let labels = &mut reply.context.labels;
            if labels.model.is_none() && first_model.is_some() {
                let prompt_id = labels.prompt_id.as_deref();
                *labels = self.labels.of(first_model.as_deref(), prompt_id, None);
            }
        }
        for cost in costs {
            self.side_request(cost);
        }
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

    /// Counts a request outside the conversation. Those with an id are replies to a subagent, which its own
    /// file may repeat.
    fn side_request(&mut self, (time, cost): (Option<Timestamp>, SideCost)) {
        let (model, prompt_id) = (cost.model.as_deref(), cost.prompt_id.as_deref());
        let context = UsageContext::new(time, self.labels.of(model, prompt_id, None));
        let reply = ReplyCounts {
            is_reply: cost.id.is_some(),
            ..ReplyCounts::new(Some(cost.usage), context)
        };
        let id = cost.id.as_deref().map(Key::of);
        self.replies.put(id, reply, |_, _| {});
    }

    /// Counts the requests of a meter.
    pub(super) fn requests(&mut self, meter: MeterReader) {
        let (requests, log) = meter.finish();
        let before = readings(&self.meters);
        for request in requests {
            let copied = request.id.map(|id| Key::of(&format!("request {id}")));
            let reading = request.reading.map(|at| index(before + at + 1));
            let labels = self.labels.of(request.model.as_deref(), None, None);
            let context = UsageContext::new(request.time, labels);
            let reply = ReplyCounts {
                reading: reading.and_then(NonZeroU32::new),
                ..ReplyCounts::new(Some(request.usage), context)
            };
            self.replies.put(copied, reply, |_, _| {});
        }
        self.meters.extend(log);
    }

    /// Removes the requests whose meter readings a fork copied.
    pub(super) fn drop_copied(&mut self) {
        let meters = std::mem::take(&mut self.meters);
        let mut is_copied = vec![false];
        for (copied, meter) in copied_readings(&meters).into_iter().zip(&meters) {
            is_copied.extend((0..meter.len()).map(|at| at < copied));
        }
        self.replies.retain(|reply| {
            let reading = reply.reading.take();
            reading.is_none_or(|number| !is_copied[number.get() as usize])
        });
    }

    /// Counts a message.
    pub(super) fn message(&mut self, message: &Message, current: &mut Current) {
        let time = timestamp(message.time.as_deref());
        current.time = time.or(current.time);
        let time = current.time;
        if message.origin == Origin::Prompt && message.thread == Thread::Main {
            let copied = current.keys.prompt(message, time);
            self.prompts.put(copied, time.into(), |_, _| {});
        }
        for call in message.calls() {
            let model = message.model.as_deref().or(current.model.as_deref());
            let tool = UsedTool {
                result: CallResult::default(),
                context: UsageContext::new(time, self.labels.of(model, None, Some(&call.name))),
            };
            let copied = current.keys.call(message, call);
            let place = self.calls.put(copied, tool, |_, _| {});
            let id = Some(Key::of(&call.id));
            current.calls.put(id, place, |known, last| *known = last);
        }
        for result in message.results() {
            let place = current.calls.get(Key::of(&result.id));
            if let Some(call) = place.and_then(|place| self.calls.at(*place)) {
                call.result.add(CallResult::of(result));
            }
        }
        if message.model.is_some() {
            current.model.clone_from(&message.model);
        }
        let usage = current.usage_of(message);
        let is_reply = message.role == Role::Assistant && message.origin == Origin::Reply;
        if !is_reply && usage.is_none_or(|usage| usage.is_empty()) {
            return;
        }
        let copied = current.keys.reply(message, time);
        let labels = self.labels.of(current.model.as_deref(), None, None);
        let reply = ReplyCounts {
            is_reply,
            ..ReplyCounts::new(usage, UsageContext::new(time, labels))
        };
        self.replies.put(copied, reply, |known, last| {
            if last.usage.is_some() {
                known.usage = last.usage;
            }
            let model = last.context.labels.model.as_deref();
            let labels = &mut known.context.labels;
            if model.is_some() && model != labels.model.as_deref() {
                *labels = self.labels.of(model, labels.prompt_id.as_deref(), None);
            }
        });
    }

    /// Adds another tally. Among copies, the one with the most output counts, since others may be incomplete.
    fn merge(&mut self, mut other: Self) {
        let before = index(readings(&self.meters));
        for reply in other.replies.values_mut() {
            let reading = reply.reading;
            reply.reading = reading.map(|number| number.saturating_add(before));
        }
        self.meters.extend(other.meters);
        self.sessions += other.sessions;
        self.runs.add(other.runs);
        self.prompts.append(other.prompts, |_, _| {});
        self.recorded.append(other.recorded, |known, copy| {
            known.1 = known.1.max(copy.1);
        });
        self.calls.append(other.calls, |known, copy| {
            known.result.add(copy.result);
        });
        self.replies.append(other.replies, |known, copy| {
            if output(&copy) > output(known) {
                *known = copy;
            }
        });
    }

    /// Returns the runs whose streams were read, if there are any.
    pub fn runs(&self) -> Option<&RunTotals> {
        Some(&self.runs).filter(|runs| !runs.ends.is_empty())
    }
}

/// Returns the tokens that the model wrote.
fn output(reply: &ReplyCounts) -> u64 {
    reply.usage.get().map_or(0, |usage| usage.output)
}

/// Returns the number of readings of these meters.
fn readings(meters: &[MeterLog]) -> usize {
    meters.iter().map(MeterLog::len).sum()
}

/// Returns a request outside the conversation, and its time.
fn side_request(entry: &mut Entry) -> Option<(Option<Timestamp>, SideCost)> {
    let cost = entry.side_cost.take()?;
    Some((entry.timestamp(), cost))
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
