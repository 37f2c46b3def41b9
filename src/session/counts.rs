//! Counts of the content of a session.

use std::cell::Cell;
use std::io;
use std::ops::ControlFlow;

use super::meter::MeterReader;
use super::prices::Prices;
use super::session::Session;
use super::stats::{Current, Tally};
use super::tree::Scope;
use crate::agent::{Detail, Facts};
use crate::jsonl::Mapping;
use crate::message::{Origin, Pairs};
use crate::records::SessionCounts;

impl Session {
    /// All facts and counts of the session, from all its records.
    ///
    /// # Errors
    /// Reading failed.
    pub fn facts(&self, mapping: Mapping) -> io::Result<(Facts, SessionCounts)> {
        self.priced_facts(mapping, None)
    }

    /// The same, with the cost of all requests, unless one of them has no price.
    pub(super) fn priced_facts(
        &self,
        mapping: Mapping,
        prices: Option<&Prices>,
    ) -> io::Result<(Facts, SessionCounts)> {
        let (mut facts, mut said) = (Facts::default(), Facts::default());
        let is_subagent = Cell::new(false);
        let (mut records, mut counts) = (0, SessionCounts::default());
        let (mut tally, mut current) = (Tally::default(), Current::of(self));
        let (mut pairs, mut meter) = (Pairs::default(), MeterReader::default());
        self.each_entry_and_message(
            Scope::AllBranches,
            Detail::Counts,
            &mut |entry| {
                records += 1;
                meter.note(entry);
                facts.add(std::mem::take(&mut entry.facts));
                is_subagent.set(facts.is_subagent);
            },
            &mut |message| {
                if std::mem::replace(&mut said.is_subagent, is_subagent.get()) && !said.is_subagent
                {
                    // The messages so far were from a subagent.
                    said = Facts::default();
                }
                said.add_message(&message);
                tally.message(&message, &mut current);
                pairs.note(&message);
                counts.errors += u64::from(message.origin == Origin::Error);
                counts.compactions += u64::from(message.origin == Origin::Compaction);
                for result in message.results() {
                    counts.results += 1;
                    counts.failed += u64::from(result.failed);
                }
                ControlFlow::Continue(())
            },
        )?;
        tally.requests(meter);
        tally.drop_copied(None);
        let mut facts = said.followed_by(facts);
        facts.title = self.title(mapping)?;
        if let Some(prices) = prices {
            tally.price(prices);
        }
        let (prompts, replies, calls, mut usage) = tally.sums();
        if prices.is_some() && tally.has_unpriced_replies() {
            usage.cost = None;
        }
        let counts = SessionCounts {
            records,
            messages: prompts + replies,
            prompts,
            calls,
            usage,
            unanswered: pairs.unanswered().len() as u64,
            ..counts
        };
        Ok((facts, counts))
    }
}
