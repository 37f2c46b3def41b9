//! Token counts and web searches that agents record apart from messages.
//!
//! The first records of a fork may be copies from its parent, and its meter may start at the parent's total.
//! Requests count once, in the session that made them.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;

use super::copies::is_copy_time;
use crate::agent::{Entry, Meter};
use crate::message::{Role, Tier, Usage};

/// The tokens of one request.
#[derive(Debug)]
pub(super) struct Request {
    /// The id, which copies of the request share.
    pub(super) id: Option<String>,
    pub(super) usage: Usage,
    pub(super) time: Option<Timestamp>,
    pub(super) model: Option<String>,
    /// The index of the meter reading that states the tokens.
    pub(super) reading: Option<usize>,
}

/// The readings of one file, to recognise copies.
#[derive(Debug, Default)]
pub(super) struct MeterLog {
    session_id: Option<String>,
    /// The session that this one was forked from.
    parent: Option<String>,
    /// The time of the first record.
    started: Option<Timestamp>,
    /// The time and a hash of each reading.
    readings: Vec<(Option<Timestamp>, u64)>,
    /// The number of readings that were written when the session was forked.
    at_start: usize,
}

impl MeterLog {
    /// Returns the number of readings.
    pub(super) fn len(&self) -> usize {
        self.readings.len()
    }
}

/// Collects the requests of one file from its entries.
#[derive(Debug, Default)]
pub(super) struct MeterReader {
    log: MeterLog,
    requests: Vec<Request>,
    model: Option<String>,
    tier: Tier,
    total: Option<Usage>,
    has_requests: bool,
    /// Whether the last reply states its web searches.
    has_searches: bool,
}

impl MeterReader {
    /// Takes the next entry.
    pub(super) fn note(&mut self, entry: &mut Entry) {
        let facts = &entry.facts;
        if facts.is_head && self.log.session_id.is_none() {
            self.log.session_id.clone_from(&facts.session_id);
            self.log.parent.clone_from(&facts.forked_from);
            self.log.started = entry.timestamp();
        }
        if entry.facts.model.is_some() {
            self.model.clone_from(&entry.facts.model);
        }
        self.tier = entry.tier.unwrap_or(self.tier);
        let replies = entry.messages.iter();
        for reply in replies.filter(|message| message.role == Role::Assistant) {
            self.model = reply.model.clone().or(self.model.take());
            self.has_searches = reply.usage.is_some_and(|usage| usage.web_searches > 0);
        }
        if let Some((call, web_searches)) = entry.searches.take().filter(|_| !self.has_searches) {
            let usage = Usage {
                web_searches,
                ..Usage::default()
            };
            self.push(
                Some(format!("search {call}")),
                usage,
                None,
                entry.timestamp(),
            );
        }
        match entry.meter.take() {
            None => {}
            Some(Meter::Request {
                id,
                usage,
                is_first,
            }) => {
                // The readings so far are copies from the parent.
                if !self.has_requests && is_first {
                    self.requests.clear();
                    self.log.readings.clear();
                    self.log.at_start = 0;
                }
                self.has_requests = true;
                self.push(Some(id), usage, None, entry.timestamp());
            }
            // Newer files repeat each request as a reading.
            Some(Meter::Reading { .. }) if self.has_requests => {}
            Some(Meter::Reading { last, total }) => self.reading(last, total, entry.timestamp()),
        }
    }

    fn reading(&mut self, last: Option<Usage>, total: Usage, time: Option<Timestamp>) {
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
        if is_copy_time(time, self.log.started) && index == self.log.at_start {
            self.log.at_start += 1;
        }
        let mut hasher = DefaultHasher::new();
        for tokens in [usage, total] {
            (tokens.input, tokens.output, tokens.cache_read).hash(&mut hasher);
        }
        self.log.readings.push((time, hasher.finish()));
        self.push(None, usage, Some(index), time);
    }

    fn push(
        &mut self,
        id: Option<String>,
        usage: Usage,
        reading: Option<usize>,
        time: Option<Timestamp>,
    ) {
        self.requests.push(Request {
            id,
            usage: Usage {
                tier: self.tier,
                ..usage
            },
            time,
            model: self.model.clone(),
            reading,
        });
    }

    /// Returns the requests, and the log of their readings.
    pub(super) fn finish(mut self) -> (Vec<Request>, Option<MeterLog>) {
        // The same request at the same time in forks of one session is a copy.
        if let Some(parent) = &self.log.parent {
            for request in &mut self.requests {
                let reading = request.reading.and_then(|at| self.log.readings.get(at));
                if let Some((Some(time), reading)) = reading {
                    request.id = Some(format!("{parent} {time} {reading}"));
                }
            }
        }
        let log = (!self.log.readings.is_empty()).then_some(self.log);
        (self.requests, log)
    }
}

/// Returns how many readings at the start of each file are copies of its parent's. If the parent is gone,
/// they belong to the first of its forks.
pub(super) fn copied_readings(logs: &[MeterLog]) -> Vec<usize> {
    let mut by_id: HashMap<&str, Vec<&MeterLog>> = HashMap::new();
    for log in logs {
        if let Some(id) = &log.session_id {
            by_id.entry(id).or_default().push(log);
        }
    }
    let mut first_forks: HashMap<&str, &MeterLog> = HashMap::new();
    let copied = logs.iter().map(|log| {
        let Some(parent) = log.parent.as_deref() else {
            return 0;
        };
        let shared = |known: &MeterLog, end: Option<Timestamp>| {
            let pairs = known.readings.iter().zip(&log.readings);
            let copies = pairs.take_while(|((time, one), (_, other))| {
                one == other && time.is_none_or(|time| end.is_none_or(|end| time <= end))
            });
            copies.count()
        };
        let longest = match by_id.get(parent) {
            // The parent's readings after the fork cannot be copies.
            Some(known) => known.iter().map(|known| shared(known, log.started)).max(),
            None => match first_forks.get(parent) {
                Some(sibling) => Some(shared(sibling, None)),
                None => first_forks.insert(parent, log).map(|_| 0),
            },
        };
        longest.unwrap_or(0).max(log.at_start)
    });
    copied.collect()
}
