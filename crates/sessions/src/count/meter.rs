//! Token counts and web searches that agents record apart from messages.
//!
//! The first records of a fork may be copies from its parent, and its meter may start at the parent's total.
//! Requests count once, in the session that made them.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use jiff::Timestamp;

use crate::count::copies::{CopyKeys, is_copy_time};
use crate::count::subagents::CountedSubagent;
use turnpipe_core::message::{Role, Tier, Usage};
use turnpipe_formats::agent::{Entry, Meter};

/// The tokens of one request.
#[derive(Debug)]
pub(crate) struct Request {
    /// The id, which copies of the request share.
    pub(crate) id: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) time: Option<Timestamp>,
    pub(crate) model: Option<String>,
    /// The subagent that made it.
    pub(crate) subagent: Option<Arc<CountedSubagent>>,
    /// The index of the meter reading that states the tokens.
    pub(crate) reading: Option<usize>,
    /// Whether it was made in the session that this one was forked from.
    pub(crate) is_inherited: bool,
    /// Whether only the output is known.
    pub(crate) is_partial: bool,
}

/// The readings of one file, to recognise copies.
#[derive(Debug, Default)]
pub(crate) struct MeterLog {
    session_id: Option<String>,
    /// The session that this one was forked from, or that started it.
    parent: Option<String>,
    /// The time of the first record.
    started: Option<Timestamp>,
    /// The time and a hash of each reading.
    readings: Vec<(Option<Timestamp>, u64)>,
    /// The number of readings that were written when the session was forked.
    copies_at_start: usize,
}

impl MeterLog {
    /// Returns the number of readings.
    pub(crate) fn len(&self) -> usize {
        self.readings.len()
    }
}

/// The total of one model in a file.
#[derive(Debug, Default)]
struct ModelTotal {
    usage: Usage,
    /// The indices of the requests that state its parts.
    requests: Vec<usize>,
}

/// Collects the requests of one file from its entries.
#[derive(Debug, Default)]
pub(crate) struct MeterReader {
    log: MeterLog,
    pub(crate) requests: Vec<Request>,
    /// Requests of which only the output is known.
    outputs: Vec<Request>,
    model: Option<String>,
    /// The subagent of the last record.
    pub(crate) subagent: Option<Arc<CountedSubagent>>,
    tier: Tier,
    total: Option<Usage>,
    totals: HashMap<Option<String>, ModelTotal>,
    has_requests: bool,
    /// Whether the first readings repeat the last readings of the file that this file continues.
    repeats_base: bool,
    /// Whether the last reply states its web searches.
    has_searches: bool,
}

impl MeterReader {
    /// Reads the next entry.
    pub(crate) fn read_entry(&mut self, entry: &mut Entry, keys: &CopyKeys) {
        let facts = &entry.facts;
        if self.log.session_id.is_none() && facts.session_id.is_some() {
            self.log.session_id.clone_from(&facts.session_id);
            self.log.parent = facts.forked_from.clone().or(facts.parent.clone());
            self.log.started = entry.timestamp().filter(|_| facts.is_head);
            self.repeats_base = facts.history.is_some();
        }
        if entry.facts.model.is_some() {
            self.model.clone_from(&entry.facts.model);
        }
        self.tier = entry.tier.unwrap_or(self.tier);
        let replies = entry.messages.iter();
        for reply in replies.filter(|message| message.role == Role::Assistant) {
            self.model = reply.model.clone().or(self.model.take());
            self.has_searches = reply.usage.is_some_and(|usage| usage.web_searches > 0);
            self.repeats_base = false;
        }
        if !self.has_searches
            && let Some(searches) = entry.searches.take()
        {
            let usage = Usage {
                web_searches: searches.count,
                ..Usage::default()
            };
            let id = format!("search {}", searches.call);
            self.push(Some(id), usage, entry.timestamp());
        }
        for meter in std::mem::take(&mut entry.meters) {
            self.add_meter(meter, entry.timestamp(), keys);
        }
    }

    /// Returns the last model.
    pub(crate) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    fn add_meter(&mut self, meter: Meter, time: Option<Timestamp>, keys: &CopyKeys) {
        match meter {
            Meter::Request {
                id,
                usage,
                is_first,
                session,
            } => {
                // The readings so far are copies from the parent.
                if !self.has_requests && is_first {
                    self.requests.clear();
                    self.log.readings.clear();
                    self.log.copies_at_start = 0;
                }
                self.has_requests = true;
                let is_foreign = session.is_some() && session != self.log.session_id;
                let request = self.push(Some(id), usage, time);
                request.is_inherited = is_foreign || keys.is_older(time);
            }
            // Newer files repeat each request as a reading.
            Meter::Reading { .. } | Meter::Total { .. } if self.has_requests => {}
            Meter::Reading { total, .. } if self.repeats_base => self.total = Some(total),
            Meter::Reading { last, total } => self.add_reading(last, total, time),
            Meter::Output { id, output } => {
                let usage = Usage {
                    output,
                    ..Usage::default()
                };
                let request = self.new_request(Some(id), usage, time);
                self.outputs.push(Request {
                    is_inherited: keys.is_older(time),
                    is_partial: true,
                    ..request
                });
            }
            Meter::Total { model, usage } => {
                let total = self.totals.entry(model.clone()).or_default();
                let part = Usage {
                    is_sum: true,
                    ..usage.since(&total.usage)
                };
                total.usage = usage;
                total.requests.push(self.requests.len());
                let request = self.push(None, part, time);
                request.model = model.or(request.model.take());
            }
        }
    }

    fn add_reading(&mut self, last: Option<Usage>, total: Usage, time: Option<Timestamp>) {
        let before = self.total.replace(total);
        // Readings are sometimes repeated, also with an estimate instead of the last request.
        if before == Some(total) {
            return;
        }
        let usage = last.unwrap_or_else(|| Usage {
            is_sum: true,
            ..total.since(&before.unwrap_or_default())
        });
        if usage.total() == 0 {
            return;
        }
        let index = self.log.readings.len();
        if is_copy_time(time, self.log.started) && index == self.log.copies_at_start {
            self.log.copies_at_start += 1;
        }
        let mut hasher = DefaultHasher::new();
        for tokens in [usage, total] {
            (tokens.input, tokens.output, tokens.cache_read).hash(&mut hasher);
        }
        self.log.readings.push((time, hasher.finish()));
        self.push(None, usage, time).reading = Some(index);
    }

    fn push(&mut self, id: Option<String>, usage: Usage, time: Option<Timestamp>) -> &mut Request {
        let request = self.new_request(id, usage, time);
        self.requests.push_mut(request)
    }

    fn new_request(&self, id: Option<String>, usage: Usage, time: Option<Timestamp>) -> Request {
        Request {
            id,
            usage: Usage {
                tier: self.tier,
                ..usage
            },
            time,
            model: self.model.clone(),
            subagent: self.subagent.clone(),
            reading: None,
            is_inherited: false,
            is_partial: false,
        }
    }

    /// Returns the requests, and the log of their readings.
    pub(crate) fn finish(mut self) -> (Vec<Request>, Option<MeterLog>) {
        if self.requests.is_empty() {
            self.requests = self.outputs;
        }
        let session = self.log.session_id.as_deref().unwrap_or_default();
        // The same request at the same time in forks of one session is a copy, and so is the same one in
        // copies of a file.
        for request in &mut self.requests {
            let reading = request
                .reading
                .and_then(|index| Some((index, self.log.readings.get(index)?)));
            request.id = match (&self.log.parent, reading) {
                (Some(parent), Some((_, (Some(time), reading)))) => {
                    Some(format!("{parent} {time} {reading}"))
                }
                (None, Some((index, (_, reading)))) if !session.is_empty() => {
                    Some(format!("{session} {index} {reading}"))
                }
                _ => request.id.take(),
            };
        }
        for (model, total) in self.totals.iter().filter(|_| !session.is_empty()) {
            for (number, index) in total.requests.iter().enumerate() {
                if let Some(request) = self.requests.get_mut(*index) {
                    request.id = Some(format!("{session} {model:?} {number}"));
                }
            }
        }
        let log = (!self.log.readings.is_empty()).then_some(self.log);
        (self.requests, log)
    }
}

/// Counts the readings at the start of each file that are copies of its parent's. If the parent is missing, they belong
/// to the first of its forks.
pub(crate) fn count_copied_readings(logs: &[MeterLog]) -> Vec<usize> {
    let mut by_id: HashMap<&str, Vec<&MeterLog>> = HashMap::new();
    for log in logs {
        if let Some(id) = &log.session_id {
            by_id.entry(id).or_default().push(log);
        }
    }
    let mut first_forks: HashMap<&str, &MeterLog> = HashMap::new();
    let copied_counts = logs.iter().map(|log| {
        let Some(parent) = log.parent.as_deref() else {
            return 0;
        };
        let count = |known: &MeterLog, end: Option<Timestamp>| {
            let pairs = known.readings.iter().zip(&log.readings);
            let copies = pairs.take_while(|((time, one), (_, other))| {
                one == other && time.is_none_or(|time| end.is_none_or(|end| time <= end))
            });
            copies.count()
        };
        let copied_count = match by_id.get(parent) {
            // The parent's readings after the fork cannot be copies.
            Some(known) => known.iter().map(|known| count(known, log.started)).max(),
            None => match first_forks.get(parent) {
                Some(sibling) => Some(count(sibling, None)),
                None => first_forks.insert(parent, log).map(|_| 0),
            },
        };
        copied_count.unwrap_or(0).max(log.copies_at_start)
    });
    copied_counts.collect()
}
