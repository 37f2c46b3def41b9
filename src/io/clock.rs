//! Time: wall clock for timestamps, monotonic clock for durations.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Where times come from.
///
/// Deadlines are never taken from here: they always follow the real monotonic clock, so that a
/// fixed clock cannot make a timeout wait for ever.
pub trait Clock: std::fmt::Debug + Send + Sync {
    /// The wall-clock time that records carry.
    fn now(&self) -> Timestamp;
    /// Time since an arbitrary fixed point; only differences mean anything.
    fn elapsed(&self) -> Duration;
    /// Where people who read times live.
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

/// A clock that stands still (`TURNPIPE_CLOCK`): every duration is zero.
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
