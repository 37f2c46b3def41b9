//! The clock; injectable.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns a duration in milliseconds, for records.
pub fn to_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A source of times.
///
/// Deadlines use the real monotonic clock instead, so that a fixed clock cannot stop a timeout.
pub trait Clock: std::fmt::Debug + Send + Sync {
    /// Returns the wall-clock time, for records.
    fn now(&self) -> Timestamp;
    /// Returns the time since an arbitrary fixed point.
    fn elapsed(&self) -> Duration;
    /// Returns the time zone of times in text.
    fn time_zone(&self) -> TimeZone {
        TimeZone::UTC
    }
}

/// The machine's clocks.
#[derive(Debug, Default)]
pub struct SystemClock {
    start: OnceLock<Instant>,
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        self.start.get_or_init(Instant::now).elapsed()
    }

    fn time_zone(&self) -> TimeZone {
        TimeZone::system()
    }
}

/// A fixed clock (`TURNPIPE_CLOCK`): every duration is zero.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}
