//! Token counts.

use std::ops::AddAssign;

pub use crate::wire::records::TokenUsage as Usage;

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
