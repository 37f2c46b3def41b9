//! Token counts.

use std::ops::AddAssign;

use crate::text::names;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Token counts. The names come from the Anthropic API; unrecorded counts are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Usage {
    /// Input tokens, without cached ones.
    #[serde(rename = "input_tokens")]
    pub input: u64,
    /// Output tokens, including thinking.
    #[serde(rename = "output_tokens")]
    pub output: u64,
    /// Input tokens read from a cache.
    #[serde(rename = "cache_read_input_tokens")]
    pub cache_read: u64,
    /// Input tokens written to a cache.
    #[serde(rename = "cache_creation_input_tokens")]
    pub cache_write: u64,
    /// Cache writes with a lifetime of one hour; the others live five minutes.
    #[serde(rename = "ephemeral_1h_input_tokens", skip_serializing_if = "is_zero")]
    pub cache_write_1h: u64,
    /// Cost in US dollars: as recorded by the agent, or in statistics, calculated from prices. Excludes
    /// models without a known price.
    #[serde(
        rename = "cost_usd",
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_rounded"
    )]
    pub cost: Option<f64>,
    /// Web searches that the provider made.
    #[serde(rename = "web_search_requests", skip_serializing_if = "is_zero")]
    pub web_searches: u64,
    /// Output tokens spent on thinking, if the model reports them. Not in records.
    #[serde(skip)]
    pub thinking: u64,
    /// Service tier. Not in records.
    #[serde(skip)]
    pub tier: Tier,
    /// Whether the request was confined to the United States. Not in records.
    #[serde(skip)]
    pub is_us_only: bool,
    /// Whether it may be a sum over requests that are priced separately. Not in records.
    #[serde(skip)]
    pub is_sum: bool,
}

/// Service tier of a request, which affects its price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tier {
    /// The list price.
    #[default]
    Standard,
    /// Faster output.
    Fast,
    /// Shorter queues.
    Priority,
    /// Longer queues.
    Flex,
    /// A reply within a day.
    Batch,
}

names! {
    Tier: Standard = "standard", Fast = "fast", Priority = "priority", Flex = "flex", Batch = "batch",
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Rounds to a billionth: prices are decimal, but sums of binary fractions are inexact (0.1 + 0.2 is
/// 0.30000000000000004).
///
/// # Errors
/// The serializer fails.
#[allow(clippy::ref_option, reason = "as serde calls it")]
pub fn serialize_rounded<S: Serializer>(
    cost: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let rounded = cost.map(|cost| (cost * 1e9).round() / 1e9);
    rounded.serialize(serializer)
}

impl Usage {
    /// Returns the sum of all token counts.
    pub fn total(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }

    /// Whether there are no tokens, no web searches and no cost.
    pub fn is_empty(&self) -> bool {
        !self.is_billable() && self.cost.is_none_or(|cost| cost <= 0.0)
    }

    /// Whether it has tokens or web searches.
    pub fn is_billable(&self) -> bool {
        self.total() + self.web_searches > 0
    }

    /// Returns the larger of two counts of the same reply. The smaller is from an earlier record, or incomplete.
    #[must_use]
    pub fn larger(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let size = |usage: &Option<Self>| usage.map(|usage| (usage.output, usage.total()));
        if size(&one) > size(&other) {
            one
        } else {
            other
        }
    }

    /// Returns the increase since an `earlier` reading of the same meter. A lower reading means that the
    /// meter was reset.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        if self.total() < earlier.total() {
            return *self;
        }
        Self {
            input: self.input.saturating_sub(earlier.input),
            output: self.output.saturating_sub(earlier.output),
            cache_read: self.cache_read.saturating_sub(earlier.cache_read),
            cache_write: self.cache_write.saturating_sub(earlier.cache_write),
            cache_write_1h: self.cache_write_1h.saturating_sub(earlier.cache_write_1h),
            web_searches: self.web_searches.saturating_sub(earlier.web_searches),
            thinking: self.thinking.saturating_sub(earlier.thinking),
            cost: match (self.cost, earlier.cost) {
                (Some(cost), Some(earlier)) => Some((cost - earlier).max(0.0)),
                (cost, _) => cost,
            },
            ..*self
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.cache_write_1h += other.cache_write_1h;
        self.web_searches += other.web_searches;
        self.thinking += other.thinking;
        self.cost = match (self.cost, other.cost) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or_default() + other.unwrap_or_default()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64) -> Usage {
        Usage {
            input,
            output,
            ..Usage::default()
        }
    }

    #[test]
    fn readings_of_a_meter_become_differences() {
        assert_eq!(usage(5, 3).since(&usage(2, 1)), usage(3, 2));
        assert_eq!(usage(5, 3).since(&usage(5, 3)), usage(0, 0));
        assert_eq!(usage(2, 1).since(&usage(5, 3)), usage(2, 1));
    }

    #[test]
    fn recorded_costs_are_added_up() {
        let mut sum = usage(1, 1);
        sum += usage(1, 0);
        assert_eq!((sum.total(), sum.cost), (3, None));
        sum += Usage {
            cost: Some(0.5),
            ..usage(0, 0)
        };
        assert_eq!(sum.cost, Some(0.5));
    }
}
