//! The requests and calls in a tally, in little memory: sessions may contain hundreds of thousands.

use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;

use super::prices::Unpriced;
use crate::message::{CallOutcome, Tier, ToolResult, Usage};

/// A request: its counts and dimensions.
#[derive(Debug)]
pub(super) struct ReplyCounts {
    pub(super) usage: PackedUsage,
    pub(super) context: UsageContext,
    /// The number of the meter reading that states the tokens.
    pub(super) reading: Option<NonZeroU32>,
    /// Whether it is a reply of the conversation.
    pub(super) is_reply: bool,
    /// The part of the request without a price.
    pub(super) unpriced: Option<Unpriced>,
}

impl ReplyCounts {
    /// Returns a request outside of the conversation.
    pub(super) fn new(usage: Option<Usage>, context: UsageContext) -> Self {
        Self {
            usage: usage.into(),
            context,
            reading: None,
            is_reply: false,
            unpriced: None,
        }
    }
}

/// The counts of a call.
#[derive(Debug)]
pub(super) struct UsedTool {
    pub(super) context: UsageContext,
    pub(super) result: CallResult,
}

/// The dimensions of a request or a call.
#[derive(Debug, Clone)]
pub(super) struct UsageContext {
    pub(super) time: TallyTime,
    pub(super) labels: Arc<Labels>,
}

impl UsageContext {
    pub(super) fn new(time: Option<Timestamp>, labels: Arc<Labels>) -> Self {
        Self {
            time: time.into(),
            labels,
        }
    }
}

/// The dimensions of a request or a call that many of them share.
#[derive(Debug)]
pub(super) struct Labels {
    pub(super) model: Option<String>,
    pub(super) prompt_id: Option<String>,
    pub(super) tool: Option<String>,
    source: Arc<OnceLock<ReadSession>>,
}

impl Labels {
    /// Returns the session, after it was read.
    pub(super) fn source(&self) -> Option<&ReadSession> {
        self.source.get()
    }
}

/// A session that was read.
#[derive(Debug)]
pub(super) struct ReadSession {
    pub(super) agent: String,
    pub(super) session_id: Option<String>,
    /// The first directory, or its hash.
    pub(super) cwd: Option<String>,
}

/// Shares the labels of a session.
#[derive(Debug, Default)]
pub(super) struct LabelCache {
    /// Set when the session was read.
    pub(super) source: Arc<OnceLock<ReadSession>>,
    /// The labels that were used last.
    recent: Vec<Arc<Labels>>,
}

/// Maximum number of labels in a cache.
const MAX_LABELS: usize = 32;

impl LabelCache {
    /// Returns labels.
    pub(super) fn of(
        &mut self,
        model: Option<&str>,
        prompt_id: Option<&str>,
        tool: Option<&str>,
    ) -> Arc<Labels> {
        let wanted = (model, prompt_id, tool);
        let is_wanted = |known: &Arc<Labels>| {
            let labels = [&known.model, &known.prompt_id, &known.tool];
            let [model, prompt_id, tool] = labels.map(Option::as_deref);
            (model, prompt_id, tool) == wanted
        };
        if let Some(at) = self.recent.iter().position(is_wanted) {
            self.recent.swap(0, at);
            return Arc::clone(&self.recent[0]);
        }
        let labels = Arc::new(Labels {
            model: model.map(str::to_owned),
            prompt_id: prompt_id.map(str::to_owned),
            tool: tool.map(str::to_owned),
            source: Arc::clone(&self.source),
        });
        self.recent.truncate(MAX_LABELS - 1);
        self.recent.insert(0, Arc::clone(&labels));
        labels
    }
}

/// A time in whole microseconds, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TallyTime(i64);

impl TallyTime {
    /// No time. Outside the range of timestamps.
    const NONE: i64 = i64::MIN;

    /// Returns the time.
    pub(super) fn get(self) -> Option<Timestamp> {
        let known = Some(self.0).filter(|time| *time != Self::NONE);
        Timestamp::from_microsecond(known?).ok()
    }
}

impl From<Option<Timestamp>> for TallyTime {
    fn from(time: Option<Timestamp>) -> Self {
        Self(time.map_or(Self::NONE, Timestamp::as_microsecond))
    }
}

/// The results of a call.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallResult {
    pub(super) failed: bool,
    /// The length of the text plus 1, or 0 without a result.
    size: u32,
}

impl CallResult {
    /// Returns the failure and the size of a result.
    pub(super) fn of(result: &ToolResult) -> Self {
        let length = result.text().len();
        Self::new(result.outcome() == CallOutcome::Failed, length)
    }

    /// Returns a result with a text of this length in bytes.
    fn new(failed: bool, length: usize) -> Self {
        let size = u32::try_from(length).unwrap_or(u32::MAX).saturating_add(1);
        Self { failed, size }
    }

    /// Returns the length of the result's text in bytes, if there is one.
    pub(super) fn bytes(self) -> Option<u64> {
        self.size.checked_sub(1).map(u64::from)
    }

    /// Adds another result of the same call.
    pub(super) fn add(&mut self, other: Self) {
        self.failed |= other.failed;
        self.size = self.size.max(other.size);
    }
}

/// Token counts of a request, if known.
#[derive(Debug)]
pub(super) enum PackedUsage {
    None,
    Small(SmallUsage),
    Large(Box<Usage>),
}

#[derive(Debug)]
pub(super) struct SmallUsage {
    input: u32,
    output: u32,
    cache_read: u32,
    cache_write: u32,
    cache_write_1h: u32,
    web_searches: u16,
    tier: Tier,
    is_us_only: bool,
    /// The cost, or not a number.
    cost: f64,
}

impl SmallUsage {
    /// Returns the counts without thinking, unless one is too large, or it is one of the few sums.
    fn of(usage: &Usage) -> Option<Self> {
        if usage.is_sum {
            return None;
        }
        Some(Self {
            input: usage.input.try_into().ok()?,
            output: usage.output.try_into().ok()?,
            cache_read: usage.cache_read.try_into().ok()?,
            cache_write: usage.cache_write.try_into().ok()?,
            cache_write_1h: usage.cache_write_1h.try_into().ok()?,
            web_searches: usage.web_searches.try_into().ok()?,
            tier: usage.tier,
            is_us_only: usage.is_us_only,
            cost: usage.cost.unwrap_or(f64::NAN),
        })
    }
}

impl PackedUsage {
    /// Returns the counts, without thinking.
    pub(super) fn get(&self) -> Option<Usage> {
        match self {
            Self::None => None,
            Self::Small(usage) => Some(Usage {
                input: usage.input.into(),
                output: usage.output.into(),
                cache_read: usage.cache_read.into(),
                cache_write: usage.cache_write.into(),
                cache_write_1h: usage.cache_write_1h.into(),
                cost: Some(usage.cost).filter(|cost| !cost.is_nan()),
                web_searches: usage.web_searches.into(),
                thinking: 0,
                tier: usage.tier,
                is_us_only: usage.is_us_only,
                is_sum: false,
            }),
            Self::Large(usage) => Some(**usage),
        }
    }

    /// Whether the counts are known.
    pub(super) fn is_some(&self) -> bool {
        !matches!(self, Self::None)
    }
}

impl From<Option<Usage>> for PackedUsage {
    fn from(usage: Option<Usage>) -> Self {
        match usage {
            None => Self::None,
            Some(usage) => match SmallUsage::of(&usage) {
                Some(small) => Self::Small(small),
                None => Self::Large(Box::new(usage)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_counts_are_exact() {
        let small = Usage {
            input: u64::from(u32::MAX),
            output: 1,
            cache_read: 2,
            cache_write: 4,
            cache_write_1h: 3,
            cost: Some(0.1),
            web_searches: 5,
            tier: Tier::Flex,
            is_us_only: true,
            ..Usage::default()
        };
        let large = Usage {
            cache_read: 1 << 32,
            web_searches: 1 << 16,
            ..small
        };
        let sum = Usage {
            is_sum: true,
            ..small
        };
        for usage in [None, Some(small), Some(large), Some(sum)] {
            assert_eq!(PackedUsage::from(usage).get(), usage);
        }
    }

    #[test]
    fn results_of_a_call_have_the_length_of_the_longest_text() {
        let mut result = CallResult::default();
        assert_eq!((result.failed, result.bytes()), (false, None));
        for (failed, length, expected) in [
            (false, 0, (false, Some(0))),
            (true, 5, (true, Some(5))),
            (false, 3, (true, Some(5))),
        ] {
            result.add(CallResult::new(failed, length));
            assert_eq!((result.failed, result.bytes()), expected);
        }
        let longest = CallResult::new(false, usize::MAX);
        assert_eq!(longest.bytes(), Some(u64::from(u32::MAX - 1)));
    }

    #[test]
    fn items_stay_small() {
        assert_eq!(size_of::<ReplyCounts>(), 56);
        assert_eq!(size_of::<UsedTool>(), 24);
    }
}
