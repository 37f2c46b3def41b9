//! Tokens and money by day, model and so on.

use std::collections::{BTreeMap, HashMap};

use jiff::tz::TimeZone;

use super::prices::Prices;
use super::stats::{Reply, Tally};
use crate::wire::records::{Dimension, SessionCostRecord};

/// The purpose of a request that names no service.
const MAIN: &str = "main";

/// The name for an unknown model, day and so on.
const UNKNOWN: &str = "(unknown)";

impl Tally {
    /// Sets what each request costs. What an agent recorded counts; it records 0 where it does not
    /// know.
    pub fn price(&mut self, prices: &Prices) {
        let mut models = HashMap::new();
        for reply in self.replies.values_mut() {
            let Some(usage) = &mut reply.usage else {
                continue;
            };
            usage.cost = usage.cost.filter(|cost| *cost > 0.0);
            if usage.cost.is_none() && usage.total() > 0 {
                let model = reply.model.as_deref().unwrap_or_default();
                let model = models.entry(model).or_insert_with(|| prices.of(model));
                usage.cost = model.cost(usage);
            }
        }
    }

    /// Adds up the requests that have these dimensions in common, in their order. Without a
    /// dimension that is one sum of all.
    pub fn costs(&self, by: &[Dimension], zone: &TimeZone) -> Vec<SessionCostRecord> {
        let mut sums: BTreeMap<Vec<String>, SessionCostRecord> = BTreeMap::new();
        for reply in self.replies.values() {
            let names = by.iter().map(|dimension| name(reply, *dimension, zone));
            let sum = sums.entry(names.collect()).or_default();
            sum.replies += reply.replies;
            let usage = reply.usage.unwrap_or_default();
            sum.usage += usage;
            if usage.cost.is_none() && usage.total() > 0 {
                let model = name(reply, Dimension::Model, zone);
                sum.unpriced_models.insert(model);
            }
        }
        let sums = sums.into_iter().map(|(names, sum)| SessionCostRecord {
            by: by.iter().copied().zip(names).collect(),
            ..sum
        });
        sums.collect()
    }
}

/// Where a request belongs.
fn name(reply: &Reply, dimension: Dimension, zone: &TimeZone) -> String {
    let zoned = || Some(reply.time?.to_zoned(zone.clone()));
    let source = reply.source.as_deref();
    let name = match dimension {
        Dimension::Day => zoned().map(|time| time.date().to_string()),
        Dimension::Week => zoned().map(|time| {
            let week = time.date().iso_week_date();
            format!("{:04}-W{:02}", week.year(), week.week())
        }),
        Dimension::Month => zoned().map(|time| time.strftime("%Y-%m").to_string()),
        Dimension::Model => reply.model.clone(),
        Dimension::Project => source.and_then(|source| source.project.clone()),
        Dimension::Session => source.and_then(|source| source.session_id.clone()),
        Dimension::Agent => source.map(|source| source.agent.name().to_owned()),
        Dimension::Prompt => Some(reply.prompt_id.clone().unwrap_or_else(|| MAIN.to_owned())),
    };
    name.unwrap_or_else(|| UNKNOWN.to_owned())
}
