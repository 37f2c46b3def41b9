//! Retry schedule of failed requests. Pure: the caller passes times.

use std::time::Duration;

use super::{Attempts, Failure, Retryability};

/// Retry limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// Maximum number of attempts, not counting those after a delay that the server requested.
    pub max_attempts: u32,
    /// Delay after the first failure; doubles with each further one.
    pub first_wait: Duration,
    /// Maximum delay, unless the server requests a longer one.
    pub max_wait: Duration,
    /// Maximum delay that a server may request. Longer delays fail the request.
    pub max_server_wait: Duration,
    /// Maximum number of delays that a server may request.
    pub max_server_waits: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 4,
            first_wait: Duration::from_millis(500),
            max_wait: Duration::from_secs(20),
            max_server_wait: Duration::from_mins(2),
            max_server_waits: 8,
        }
    }
}

/// Attempts of one request.
#[derive(Debug)]
pub(super) struct Retry {
    policy: RetryPolicy,
    deadline: Duration,
    /// Number of failures without a requested delay.
    failures: u32,
    /// Number of failures with a delay that the server requested.
    server_waits: u32,
}

impl Retry {
    /// Creates a schedule with these limits; `deadline` is relative to the first attempt.
    pub(super) fn new(attempts: Attempts, policy: RetryPolicy, deadline: Duration) -> Self {
        let max_attempts = match attempts {
            Attempts::One => 1,
            Attempts::ByPolicy | Attempts::UntilABlock => policy.max_attempts,
        };
        Self {
            policy: RetryPolicy {
                max_attempts,
                ..policy
            },
            deadline,
            failures: 0,
            server_waits: 0,
        }
    }

    /// Returns the number of failed attempts.
    pub(super) fn failures(&self) -> u32 {
        self.failures + self.server_waits
    }

    /// Records a failed attempt, `elapsed` after the first one started. Returns the delay before the next
    /// attempt, or `None` to give up. `chance` is a random number from 0 to 1 that spreads the retries of
    /// many clients.
    pub(super) fn record_failure(
        &mut self,
        failure: &Failure,
        elapsed: Duration,
        chance: f64,
    ) -> Option<Duration> {
        if failure.retryability() != Retryability::Temporary {
            return None;
        }
        let chance = chance.clamp(0.0, 1.0);
        let wait = if let Failure::Overloaded {
            retry_after: Some(requested),
            ..
        } = failure
        {
            self.server_waits += 1;
            if *requested > self.policy.max_server_wait
                || self.server_waits > self.policy.max_server_waits
            {
                return None;
            }
            // At least the requested delay, plus jitter.
            *requested + self.policy.first_wait.mul_f64(chance / 2.0)
        } else {
            self.failures += 1;
            if self.failures >= self.policy.max_attempts {
                return None;
            }
            let doublings = (self.failures - 1).min(16);
            let doubled = self.policy.first_wait.saturating_mul(1 << doublings);
            doubled
                .min(self.policy.max_wait)
                .mul_f64(0.5 + chance / 2.0)
        };
        (elapsed.saturating_add(wait) < self.deadline).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{EmptyReply, RefusalScope, Reply};
    use super::*;
    use crate::message::Usage;

    const MINUTE: Duration = Duration::from_mins(1);

    fn overload(retry_after: Option<u64>) -> Failure {
        Failure::Overloaded {
            status: Some(429),
            message: String::new(),
            retry_after: retry_after.map(Duration::from_millis),
        }
    }

    fn decide(failure: &Failure, elapsed: Duration, chance: f64) -> Option<Duration> {
        let mut retry = Retry::new(Attempts::ByPolicy, RetryPolicy::default(), MINUTE);
        retry.record_failure(failure, elapsed, chance)
    }

    #[test]
    fn a_requested_delay_is_waited_for() {
        let wait = |ms| Some(Duration::from_millis(ms));
        assert_eq!(
            decide(&overload(Some(2000)), Duration::ZERO, 0.0),
            wait(2000)
        );
        assert_eq!(
            decide(&overload(Some(2000)), Duration::ZERO, 1.0),
            wait(2250)
        );
        assert_eq!(decide(&overload(Some(0)), Duration::ZERO, 0.0), wait(0));
        assert_eq!(decide(&overload(Some(121_000)), Duration::ZERO, 0.0), None);
    }

    #[test]
    fn no_attempt_starts_after_the_deadline() {
        let late = Duration::from_secs(59);
        assert_eq!(decide(&overload(Some(2000)), late, 0.0), None);
        assert_eq!(decide(&overload(None), MINUTE, 0.0), None);
    }

    #[test]
    fn waits_double_up_to_the_cap_and_end() {
        let policy = RetryPolicy {
            max_attempts: 9,
            ..RetryPolicy::default()
        };
        let mut retry = Retry::new(Attempts::ByPolicy, policy, Duration::from_hours(1));
        let waits: Vec<u128> =
            std::iter::from_fn(|| retry.record_failure(&overload(None), Duration::ZERO, 1.0))
                .map(|wait| wait.as_millis())
                .collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]);
    }

    #[test]
    fn a_single_attempt_is_only_repeated_after_requested_delays() {
        let policy = RetryPolicy::default();
        let mut retry = Retry::new(Attempts::One, policy, MINUTE);
        for _ in 0..policy.max_server_waits {
            let decision = retry.record_failure(&overload(Some(1)), Duration::ZERO, 0.0);
            assert_eq!(decision, Some(Duration::from_millis(1)));
        }
        let mut other = Retry::new(Attempts::One, policy, MINUTE);
        for (retry, asked) in [(&mut retry, Some(1)), (&mut other, None)] {
            let decision = retry.record_failure(&overload(asked), Duration::ZERO, 0.5);
            assert_eq!(decision, None);
        }
    }

    #[test]
    fn only_temporary_failures_are_retried() {
        let usage = Usage::default();
        let hopeless = [
            Failure::Rejected {
                status: Some(429),
                message: String::new(),
                scope: RefusalScope::Everything,
            },
            Failure::Aborted,
            Failure::Malformed {
                reason: String::new(),
            },
            Failure::Empty {
                kind: EmptyReply::Complete,
                usage,
            },
            Failure::Declined {
                reason: String::new(),
                usage,
            },
            Failure::OverBudget {
                partial: Box::new(Reply::default()),
            },
        ];
        for failure in hopeless {
            assert_eq!(decide(&failure, Duration::ZERO, 0.0), None, "{failure:?}");
        }
        let passing = [
            Failure::Unreachable {
                message: String::new(),
            },
            Failure::TimedOut { limit: MINUTE },
            Failure::Cut { usage },
        ];
        for failure in passing {
            assert_ne!(decide(&failure, Duration::ZERO, 0.0), None, "{failure:?}");
        }
    }

    proptest! {
        #[test]
        fn every_request_ends_in_time(
            asked in prop::collection::vec(prop::option::of(0..200_000_u64), 1..40),
            chance in 0.0..1.0_f64,
            deadline in 0..100_000_u64,
        ) {
            let deadline = Duration::from_millis(deadline);
            let mut retry = Retry::new(Attempts::ByPolicy, RetryPolicy::default(), deadline);
            let mut elapsed = Duration::ZERO;
            let mut attempts = 1;
            for asked in asked {
                match retry.record_failure(&overload(asked), elapsed, chance) {
                    None => break,
                    Some(wait) => {
                        prop_assert!(asked.is_none_or(|asked| wait >= Duration::from_millis(asked)));
                        elapsed += wait;
                        attempts += 1;
                    }
                }
            }
            let policy = RetryPolicy::default();
            prop_assert!(attempts <= policy.max_attempts + policy.max_server_waits);
            prop_assert!(elapsed < deadline.max(Duration::from_nanos(1)));
        }
    }
}
