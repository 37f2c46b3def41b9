//! Tokens and money by day, model and so on.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::ops::Range;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::count::stats::{FileState, Tally};
use crate::count::tally_items::{ReadSession, ReplyCounts, UsageContext, UsedTool};
use crate::prices::Prices;
use crate::read::session::Session;
use crate::read::tree::Scope;
use turnpipe_core::jsonl::Mapping;
use turnpipe_core::message::{CallOutcome, Origin, Pairs, Usage};
use turnpipe_formats::agent::{Detail, Entry, Facts, SubagentFacts};
use turnpipe_formats::records::{
    Dimension, SessionCostRecord, SessionCounts, SessionStatsRecord, SessionToolRecord, ToolShare,
    UsageShare,
};

/// The group of requests that name no service, and of requests that no subagent made.
const MAIN: &str = "main";

/// The workflow of requests outside of workflows.
const NO_WORKFLOW: &str = "none";

/// The name of an unknown model or session in texts.
const UNKNOWN: &str = "(unknown)";

/// Maximum depth of subagents in a tree. Files may name themselves as their parents.
const MAX_DEPTH: usize = 8;

/// Average length of a token, in English and in code.
const BYTES_PER_TOKEN: u64 = 4;

/// Length of a quarter of an hour, in seconds.
const QUARTER: i64 = 15 * 60;

/// Length of a billing block.
const BLOCK: SignedDuration = SignedDuration::from_hours(5);

/// The cost of the requests of a subagent.
#[derive(Debug, Clone)]
pub struct SubagentCost {
    /// The id of the subagent.
    pub id: String,
    /// The known facts about the subagent.
    pub facts: SubagentFacts,
    /// The number of subagents above it.
    pub depth: usize,
    /// The sum.
    pub sum: SessionCostRecord,
}

impl Tally {
    /// Sets the cost of each request. Costs recorded by an agent take precedence, except 0, which
    /// means unknown.
    pub fn price(&mut self, prices: &Prices) {
        self.drop_copies();
        let mut models = HashMap::new();
        for reply in self.replies.values_mut() {
            let Some(usage) = &mut reply.usage else {
                continue;
            };
            usage.cost = usage.cost.filter(|cost| *cost > 0.0);
            if usage.cost.is_none() && usage.is_billable() {
                let model = reply.context.labels.model.as_deref().unwrap_or(UNKNOWN);
                let model = match models.get(model) {
                    Some(model) => model,
                    None => models.entry(model.to_owned()).or_insert(prices.find(model)),
                };
                let (cost, unpriced) = model.cost(usage).unzip();
                (usage.cost, reply.unpriced) = (cost, reply.unpriced.or(unpriced.flatten()));
            }
        }
    }

    /// Whether the cost of a request is unknown.
    pub(crate) fn has_unpriced_replies(&self) -> bool {
        let mut replies = self.replies.values();
        replies.any(|reply| reply.find_unpriced_model().is_some())
    }

    /// Returns the sum of the requests for each combination of these dimensions, sorted. Without
    /// dimensions there is one sum.
    pub fn sum_costs(&self, dimensions: &[Dimension], zone: &TimeZone) -> Vec<SessionCostRecord> {
        let replies = self.replies.values();
        let replies = replies.map(|reply| (&reply.context, reply));
        let sums = self.sum_by(replies, dimensions, zone, add_reply);
        let mut recorded = BTreeMap::new();
        // A recorded total has no time and no model.
        let of_sessions = [
            Dimension::Cwd,
            Dimension::Project,
            Dimension::Home,
            Dimension::Session,
            Dimension::Agent,
        ];
        if dimensions
            .iter()
            .all(|dimension| of_sessions.contains(dimension))
        {
            let totals = self.recorded.values();
            let totals = totals.map(|(context, cost)| (context, *cost));
            let sums = self.sum_by(totals, dimensions, zone, |sum, cost| *sum += cost);
            recorded = sums.into_iter().collect();
        }
        let to_record = |(dimensions, mut sum): (_, SessionCostRecord)| {
            sum.spending.recorded_cost = recorded.get(&dimensions).copied();
            SessionCostRecord { dimensions, ..sum }
        };
        sums.into_iter().map(to_record).collect()
    }

    /// Adds up the requests of a session and a model in a quarter of an hour, counted since 1970.
    pub fn sum_quarters(&self) -> BTreeMap<(String, Option<i64>, String), SessionCostRecord> {
        let mut sums: BTreeMap<_, SessionCostRecord> = BTreeMap::new();
        for reply in self.replies.values() {
            let context = &reply.context;
            let source = context.labels.source();
            let session = source.and_then(|source| source.session_id.clone());
            let time = context.time;
            let quarter = time.map(|time| time.as_second().div_euclid(QUARTER));
            let model = context.labels.model.clone();
            let unknown = || UNKNOWN.to_owned();
            let key = (
                session.unwrap_or_else(unknown),
                quarter,
                model.unwrap_or_else(unknown),
            );
            add_reply(sums.entry(key).or_default(), reply);
        }
        sums
    }

    /// Returns the sum of all requests.
    pub fn total(&self) -> SessionCostRecord {
        let sums = self.sum_costs(&[], &TimeZone::UTC);
        sums.into_iter().next().unwrap_or_default()
    }

    /// Returns the sum of the requests of each subagent. A subagent comes before the subagents that it started.
    pub fn sum_subagents(&self) -> Vec<SubagentCost> {
        let mut sums: BTreeMap<&str, SubagentCost> = BTreeMap::new();
        for reply in self.replies.values() {
            if let Some(subagent) = &reply.context.subagent {
                let sum = sums.entry(&subagent.id).or_insert_with(|| SubagentCost {
                    id: subagent.id.clone(),
                    facts: subagent.facts().cloned().unwrap_or_default(),
                    depth: 0,
                    sum: SessionCostRecord::default(),
                });
                add_reply(&mut sum.sum, reply);
            }
        }
        let find_lineage = |cost: &SubagentCost| {
            let parent = |id: &&str| sums.get(sums.get(*id)?.facts.parent.as_deref()?);
            let above = std::iter::successors(Some(cost.id.as_str()), |id| Some(&*parent(id)?.id));
            let mut ids: Vec<String> = above.take(MAX_DEPTH).map(str::to_owned).collect();
            ids.reverse();
            ids
        };
        let costs = sums.values().map(|cost| (find_lineage(cost), cost));
        let by_lineage: BTreeMap<Vec<String>, &SubagentCost> = costs.collect();
        let with_depths = by_lineage.into_iter().map(|(ids, cost)| SubagentCost {
            depth: ids.len() - 1,
            ..cost.clone()
        });
        with_depths.collect()
    }

    /// Adds up the requests from this time on.
    pub fn sum_since(&self, start: Timestamp) -> SessionCostRecord {
        let mut sum = SessionCostRecord::default();
        let is_later = |reply: &&ReplyCounts| {
            let time = reply.context.time;
            time.is_some_and(|time| time >= start)
        };
        for reply in self.replies.values().filter(is_later) {
            add_reply(&mut sum, reply);
        }
        sum
    }

    /// Returns the sum of the calls for each combination of these dimensions, sorted.
    pub fn sum_tools(&self, dimensions: &[Dimension], zone: &TimeZone) -> Vec<SessionToolRecord> {
        let calls = self.calls.values().map(|call| (&call.context, call));
        let add = |sum: &mut SessionToolRecord, call: &UsedTool| {
            sum.calls += 1;
            let result = call.result.bytes;
            sum.failed += u64::from(call.result.failed);
            sum.results += u64::from(result.is_some());
            sum.result_bytes += result.unwrap_or_default() as u64;
        };
        let sums = self.sum_by(calls, dimensions, zone, add).into_iter();
        let to_record = |(dimensions, sum): (_, SessionToolRecord)| SessionToolRecord {
            dimensions,
            result_tokens: sum.result_bytes.div_ceil(BYTES_PER_TOKEN),
            ..sum
        };
        sums.map(to_record).collect()
    }

    /// Returns the totals, with days of this zone. `all` is the sum of all costs.
    pub fn finish(self, all: SessionCostRecord, zone: &TimeZone) -> SessionStatsRecord {
        let sum_shares = |dimension| {
            let costs = self.sum_costs(&[dimension], zone).into_iter();
            let shares = costs.map(|cost| UsageShare {
                name: cost.dimensions.into_values().flatten().next(),
                replies: cost.replies,
                spending: cost.spending,
            });
            shares.collect()
        };
        let tools = self.sum_tools(&[Dimension::Tool], zone).into_iter();
        let by_tool = tools.map(|tool| ToolShare {
            tool: tool.dimensions.into_values().flatten().collect(),
            calls: tool.calls,
            failed: tool.failed,
        });
        SessionStatsRecord {
            sessions: self.sessions.len() as u64,
            prompts: self.prompts.len() as u64,
            replies: all.replies,
            spending: all.spending,
            runs: self.runs().cloned(),
            by_model: sum_shares(Dimension::Model),
            by_day: sum_shares(Dimension::Day),
            by_prompt_id: sum_shares(Dimension::Prompt),
            by_tool: by_tool.collect(),
        }
    }

    /// Returns the sum of the items for each combination of these dimensions, sorted.
    fn sum_by<'a, Item, Sum: Default>(
        &self,
        items: impl Iterator<Item = (&'a UsageContext, Item)>,
        dimensions: &[Dimension],
        zone: &TimeZone,
        add: impl Fn(&mut Sum, Item),
    ) -> Vec<(BTreeMap<Dimension, Option<String>>, Sum)> {
        let mut groups = Groups {
            zone,
            blocks: Vec::new(),
            homes: HashMap::new(),
            parents: HashMap::new(),
        };
        if dimensions.contains(&Dimension::Block) {
            groups.blocks = self.find_block_starts();
        }
        for source in self.sources.iter().filter_map(|source| source.get()) {
            let homes = groups.homes.entry(source.key()).or_default();
            homes.extend(source.home.clone());
            let parent = source.parent.clone();
            let parent = parent.filter(|_| dimensions.contains(&Dimension::Subagent));
            groups
                .parents
                .extend(parent.map(|parent| (source.key(), parent)));
        }
        let mut sums: BTreeMap<Vec<Option<String>>, Sum> = BTreeMap::new();
        for (context, item) in items {
            let names = dimensions
                .iter()
                .map(|dimension| find_group(context, *dimension, &groups));
            add(sums.entry(names.collect()).or_default(), item);
        }
        let to_group = |(names, sum)| (dimensions.iter().copied().zip(names).collect(), sum);
        sums.into_iter().map(to_group).collect()
    }

    /// Returns the billing block that contains this time, if it has a request.
    pub fn find_block_at(&self, time: Timestamp) -> Option<Range<Timestamp>> {
        let start = *self.find_block_starts().last()?;
        let block = start..start.saturating_add(BLOCK).ok()?;
        block.contains(&time).then_some(block)
    }

    /// Adds the ends of blocks to groups, and the time left in the block that contains `now`.
    pub fn add_block_ends(&self, costs: &mut [SessionCostRecord], zone: &TimeZone, now: Timestamp) {
        let blocks = self.find_block_starts().into_iter();
        let blocks: HashMap<_, _> = blocks
            .map(|start| (Some(format_block(start, zone)), start))
            .collect();
        for cost in costs {
            let name = cost.dimensions.get(&Dimension::Block);
            let start = name.and_then(|name| blocks.get(name));
            let end = start.and_then(|start| Some((*start, start.checked_add(BLOCK).ok()?)));
            let Some((start, end)) = end else {
                continue;
            };
            cost.block_end = Some(end.to_string());
            if (start..end).contains(&now) {
                let left = end.duration_since(now).as_millis();
                cost.left_ms = u64::try_from(left).ok();
            }
        }
    }

    /// Returns the start times of the billing blocks, in order.
    fn find_block_starts(&self) -> Vec<Timestamp> {
        let is_paid = |reply: &ReplyCounts| reply.usage.is_some_and(|usage| usage.is_billable());
        let replies = self.replies.values().filter(|reply| is_paid(reply));
        let times = replies.filter_map(|reply| reply.context.time);
        let mut times: Vec<Timestamp> = times.collect();
        times.sort_unstable();
        let mut starts: Vec<Timestamp> = Vec::new();
        for time in times {
            let is_open = |start: &Timestamp| time.duration_since(*start) < BLOCK;
            if !starts.last().is_some_and(is_open) {
                let seconds = time.as_second() - time.as_second().rem_euclid(3600);
                starts.extend(Timestamp::from_second(seconds));
            }
        }
        starts
    }
}

/// Facts that decide the group of a request, apart from the request itself.
struct Groups<'a> {
    /// The zone of days and weeks.
    zone: &'a TimeZone,
    /// The start of each billing block.
    blocks: Vec<Timestamp>,
    /// The homes that have files of a session.
    homes: HashMap<(String, Option<String>), BTreeSet<String>>,
    /// The parents of subagents that have their own sessions, if the subagents count for their parents.
    parents: HashMap<(String, Option<String>), String>,
}

impl Groups<'_> {
    /// Returns the session that a session counts for.
    fn find_session(&self, source: &ReadSession) -> Option<String> {
        let (agent, mut id) = source.key();
        for _ in 0..self.parents.len() {
            match self.parents.get(&(agent.clone(), id.clone())) {
                Some(parent) => id = Some(parent.clone()),
                None => break,
            }
        }
        id
    }

    /// Returns the homes with files of a session. A session without an id is in one home.
    fn join_homes(&self, source: &ReadSession) -> Option<String> {
        let homes = self.homes.get(&source.key());
        let all_homes = homes.filter(|_| source.session_id.is_some());
        let names = all_homes.map(|homes| homes.iter().cloned().collect::<Vec<_>>().join(", "));
        names.or_else(|| source.home.clone())
    }
}

/// Adds a request to a sum.
fn add_reply(sum: &mut SessionCostRecord, reply: &ReplyCounts) {
    sum.replies += u64::from(reply.is_reply);
    sum.spending.usage += reply.usage.unwrap_or_default();
    let unpriced = reply.find_unpriced_model();
    sum.spending.unpriced_models.extend(unpriced);
}

impl ReplyCounts {
    /// Returns the model and the part of the request without a price, if any.
    fn find_unpriced_model(&self) -> Option<String> {
        let usage = self.usage.filter(Usage::is_billable)?;
        let model = self.context.labels.model.as_deref().unwrap_or(UNKNOWN);
        match (usage.cost, self.unpriced) {
            (None, _) => Some(model.to_owned()),
            (Some(_), Some(part)) => Some(format!("{model} ({})", part.name())),
            (Some(_), None) => None,
        }
    }
}

fn format_block(start: Timestamp, zone: &TimeZone) -> String {
    let start = start.to_zoned(zone.clone());
    start.strftime("%Y-%m-%d %H:%M").to_string()
}

/// Returns the group of a request or a call, if it is known.
fn find_group(context: &UsageContext, dimension: Dimension, groups: &Groups<'_>) -> Option<String> {
    let zoned = |time: Timestamp| time.to_zoned(groups.zone.clone());
    let (time, labels) = (context.time, &context.labels);
    let source = labels.source();
    match dimension {
        Dimension::Day => time.map(|time| zoned(time).date().to_string()),
        Dimension::Week => time.map(|time| {
            let week = zoned(time).date().iso_week_date();
            format!("{:04}-W{:02}", week.year(), week.week())
        }),
        Dimension::Month => time.map(|time| zoned(time).strftime("%Y-%m").to_string()),
        Dimension::Block => time.and_then(|time| {
            let begun = groups.blocks.partition_point(|start| *start <= time);
            Some(format_block(*groups.blocks[..begun].last()?, groups.zone))
        }),
        Dimension::Model => labels.model.clone(),
        Dimension::Cwd => source.and_then(|source| source.cwd.clone()),
        Dimension::Project => source.and_then(|source| source.project.clone()),
        Dimension::Home => source.and_then(|source| groups.join_homes(source)),
        Dimension::Session => source.and_then(|source| groups.find_session(source)),
        Dimension::Subagent => match &context.subagent {
            Some(subagent) => Some(subagent.id.clone()),
            None => Some(MAIN.to_owned()),
        },
        Dimension::AgentType => match &context.subagent {
            Some(subagent) => subagent.facts().and_then(|facts| facts.agent_type.clone()),
            None => Some(MAIN.to_owned()),
        },
        Dimension::Workflow => {
            let facts = context
                .subagent
                .as_ref()
                .and_then(|subagent| subagent.facts());
            let workflow = facts.and_then(|facts| facts.workflow.clone());
            Some(workflow.unwrap_or_else(|| NO_WORKFLOW.to_owned()))
        }
        Dimension::Agent => source.map(|source| source.agent.clone()),
        Dimension::Prompt => {
            let id = labels.prompt_id.as_deref();
            Some(id.unwrap_or(MAIN).to_owned())
        }
        Dimension::Tool => labels.tool.clone(),
    }
}

impl Session {
    /// Returns all facts and counts of the session, from all its records.
    ///
    /// # Errors
    /// Reading failed.
    pub fn facts(&self, mapping: Mapping) -> io::Result<(Facts, SessionCounts)> {
        self.read_priced_facts(mapping, None)
    }

    /// Like [`Self::facts`], with the cost of all requests, unless one of them has no price.
    pub(crate) fn read_priced_facts(
        &self,
        mapping: Mapping,
        prices: Option<&Prices>,
    ) -> io::Result<(Facts, SessionCounts)> {
        let (mut tally, mut counts) = (Tally::default(), SessionCounts::default());
        let earlier: Vec<Self> = self.other_files(true).collect();
        for file in &earlier {
            file.count(&mut tally, &mut counts)?;
        }
        let facts = self.count(&mut tally, &mut counts)?;
        for file in self.other_files(false) {
            tally.read_records(&file, Detail::Activity, false)?;
        }
        let mut facts = self.with_directory(facts);
        facts.title = self.title(mapping)?;
        facts.written_by = self.written_by().map(str::to_owned);
        (counts.prompts, counts.calls) = (tally.prompts.len() as u64, tally.calls.len() as u64);
        let replies = tally.replies.values().filter(|reply| reply.is_reply);
        counts.messages = counts.prompts + replies.count() as u64;
        for file in earlier.iter().chain([self]) {
            tally.read_side_files(file)?;
        }
        tally.drop_copies();
        tally.drop_inherited();
        if let Some(prices) = prices {
            tally.price(prices);
        }
        counts.usage = tally.total().spending.usage;
        if prices.is_some() && tally.has_unpriced_replies() {
            counts.usage.cost = None;
        }
        Ok((facts, counts))
    }

    /// Counts the records and messages of one file. Returns its facts.
    fn count(&self, tally: &mut Tally, counts: &mut SessionCounts) -> io::Result<Facts> {
        let (mut facts, mut message_facts) = (Facts::default(), Facts::default());
        let is_subagent = Cell::new(false);
        let current = RefCell::new(FileState::new(self));
        let (mut records, mut pairs) = (0, Pairs::default());
        let mut on_entry = |entry: &mut Entry| {
            records += 1;
            current.borrow_mut().add_entry(entry);
            facts.add(std::mem::take(&mut entry.facts));
            is_subagent.set(facts.is_subagent);
        };
        for message in
            self.read_messages_with(Scope::AllBranches, Detail::Counts, Some(&mut on_entry))?
        {
            let message = message?;
            if std::mem::replace(&mut message_facts.is_subagent, is_subagent.get())
                && !message_facts.is_subagent
            {
                // The messages so far were from a subagent.
                message_facts = Facts::default();
            }
            message_facts.add_message(&message);
            tally.add_message(&message, &mut current.borrow_mut());
            pairs.add(&message);
            counts.errors += u64::from(message.origin == Origin::Error);
            counts.compactions += u64::from(message.origin == Origin::Compaction);
            for result in message.results() {
                counts.results += 1;
                counts.failed += u64::from(result.outcome() == CallOutcome::Failed);
            }
        }
        tally.finish_file(current.into_inner());
        counts.records += records;
        counts.unanswered += pairs.unanswered_calls().len() as u64;
        Ok(message_facts.merge_later(facts))
    }
}
