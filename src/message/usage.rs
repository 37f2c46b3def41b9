//! Token counts.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Tokens. The names are those of the Anthropic API; what an agent does not record is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Usage {
    /// Read by the model, without what came from a cache.
    #[serde(rename = "input_tokens")]
    pub input: u64,
    /// Written by the model, thinking included.
    #[serde(rename = "output_tokens")]
    pub output: u64,
    /// Read from a cache.
    #[serde(rename = "cache_read_input_tokens")]
    pub cache_read: u64,
    /// Written to a cache.
    #[serde(rename = "cache_creation_input_tokens")]
    pub cache_write: u64,
    /// The part of it that is kept for an hour; the rest is kept for five minutes.
    #[serde(rename = "ephemeral_1h_input_tokens", skip_serializing_if = "is_zero")]
    pub cache_write_1h: u64,
    /// In US dollars: as the agent records it, else, in statistics, by prices. Without the tokens of
    /// models that have no price.
    #[serde(
        rename = "cost_usd",
        skip_serializing_if = "Option::is_none",
        serialize_with = "to_the_millionth"
    )]
    pub cost: Option<f64>,
    /// The part of the output that is thinking, where a model's reply says so. Not in records.
    #[serde(skip)]
    pub thinking: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Prices are decimal, sums of binary fractions are not quite: 0.1 and 0.2 would be
/// 0.30000000000000004.
#[allow(clippy::ref_option, reason = "as serde calls it")]
pub(crate) fn to_the_millionth<S: Serializer>(
    cost: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let rounded = cost.map(|cost| (cost * 1e6).round() / 1e6);
    rounded.serialize(serializer)
}

impl Usage {
    /// Everything that was read or written.
    pub fn total(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.total() == 0 && self.cost.is_none_or(|cost| cost <= 0.0)
    }

    /// What was added since an `earlier` reading of the same meter. A lower reading means that the
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
            cost: self.cost,
            thinking: self.thinking.saturating_sub(earlier.thinking),
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
    fn costs_add_up_where_they_are_told() {
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
