//! Retry schedule of failed requests, and scheduling of the requests of a run. Pure: the caller passes times.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep_until};

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
    failed: u32,
    asked: u32,
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
            failed: 0,
            asked: 0,
        }
    }

    /// Returns the number of failed attempts.
    pub(super) fn failures(&self) -> u32 {
        self.failed + self.asked
    }

    /// Records a failed attempt, `elapsed` after the first one started. Returns the delay before the next
    /// attempt, or `None` to give up. `chance` is a random number from 0 to 1 that spreads the retries of
    /// many clients.
    pub(super) fn failed(
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
            retry_after: Some(asked),
            ..
        } = failure
        {
            self.asked += 1;
            if *asked > self.policy.max_server_wait || self.asked > self.policy.max_server_waits {
                return None;
            }
            // At least the requested delay, plus jitter.
            *asked + self.policy.first_wait.mul_f64(chance / 2.0)
        } else {
            self.failed += 1;
            if self.failed >= self.policy.max_attempts {
                return None;
            }
            let doublings = (self.failed - 1).min(16);
            let wait = self.policy.first_wait.saturating_mul(1 << doublings);
            let wait = wait.min(self.policy.max_wait);
            wait.mul_f64(0.5 + chance / 2.0)
        };
        (elapsed.saturating_add(wait) < self.deadline).then_some(wait)
    }
}

/// Number of successful requests after which requests run concurrently again.
const SUCCESSES_TO_RUN_CONCURRENTLY: u32 = 20;

/// Scheduling state shared by the requests of a run: a rate limit, pauses that the server requested,
/// sequential sending after the server was overloaded, and refusals that apply to all requests.
#[derive(Debug, Default)]
pub struct Pace {
    interval: Duration,
    state: Mutex<State>,
    /// Held by the running request while requests are sent sequentially.
    permit: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct State {
    next: Option<Instant>,
    /// Number of successful requests until requests run concurrently again.
    serial_remaining: u32,
    /// A refusal of all requests and its expiry, if it has one.
    refusal: Option<(Failure, Option<Instant>)>,
}

/// Permit of the running request while requests are sent sequentially.
pub(super) type SerialPermit = OwnedMutexGuard<()>;

impl Pace {
    /// Creates a limit of `limit` requests per minute; `None` means unlimited.
    pub fn per_minute(limit: Option<NonZeroU32>) -> Self {
        Self {
            interval: limit.map_or(Duration::ZERO, |limit| Duration::from_mins(1) / limit.get()),
            ..Self::default()
        }
    }

    /// Waits until a request may be sent. The caller holds the permit until its last attempt ended.
    ///
    /// # Errors
    /// An earlier refusal applies to the request.
    pub(super) async fn turn(&self, permit: &mut Option<SerialPermit>) -> Result<(), Failure> {
        loop {
            if permit.is_none() && self.state().serial_remaining > 0 {
                *permit = Some(Arc::clone(&self.permit).lock_owned().await);
            }
            let next = {
                let mut state = self.state();
                let now = Instant::now();
                if let Some((refusal, end)) = &state.refusal
                    && end.is_none_or(|end| end > now)
                {
                    let refusal = Box::new(refusal.clone());
                    return Err(Failure::NotAsked { refusal });
                }
                let Some(next) = state.next.filter(|next| *next > now) else {
                    state.next = Some(now + self.interval);
                    return Ok(());
                };
                next
            };
            sleep_until(next).await;
        }
    }

    /// Records a successful request.
    pub(super) fn answered(&self) {
        let mut state = self.state();
        state.serial_remaining = state.serial_remaining.saturating_sub(1);
    }

    /// Records a failed request. A delay requested by the server is capped at `longest`.
    pub(super) fn failed(&self, failure: &Failure, longest: Duration) {
        let asked = match failure {
            Failure::Overloaded { retry_after, .. } => *retry_after,
            _ => None,
        };
        let end = asked.and_then(|asked| Instant::now().checked_add(asked));
        let mut state = self.state();
        if failure.refuses_everything() || asked.is_some_and(|asked| asked > longest) {
            state.refusal = Some((failure.clone(), end));
        } else if end.is_some() {
            state.serial_remaining = SUCCESSES_TO_RUN_CONCURRENTLY;
            state.next = state.next.max(end);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{CutCause, EmptyReply, Refused};
    use super::*;
    use crate::message::Usage;

    const MINUTE: Duration = Duration::from_mins(1);

    fn overloaded(retry_after: Option<u64>) -> Failure {
        Failure::Overloaded {
            status: Some(429),
            message: String::new(),
            retry_after: retry_after.map(Duration::from_millis),
        }
    }

    fn decide(failure: &Failure, elapsed: Duration, chance: f64) -> Option<Duration> {
        let mut retry = Retry::new(Attempts::ByPolicy, RetryPolicy::default(), MINUTE);
        retry.failed(failure, elapsed, chance)
    }

    #[test]
    fn a_requested_delay_is_waited_for() {
        let wait = |ms| Some(Duration::from_millis(ms));
        assert_eq!(
            decide(&overloaded(Some(2000)), Duration::ZERO, 0.0),
            wait(2000)
        );
        assert_eq!(
            decide(&overloaded(Some(2000)), Duration::ZERO, 1.0),
            wait(2250)
        );
        assert_eq!(decide(&overloaded(Some(0)), Duration::ZERO, 0.0), wait(0));
        assert_eq!(
            decide(&overloaded(Some(121_000)), Duration::ZERO, 0.0),
            None
        );
    }

    #[test]
    fn no_attempt_starts_after_the_deadline() {
        let late = Duration::from_secs(59);
        assert_eq!(decide(&overloaded(Some(2000)), late, 0.0), None);
        assert_eq!(decide(&overloaded(None), MINUTE, 0.0), None);
    }

    #[test]
    fn waits_double_up_to_the_cap_and_end() {
        let policy = RetryPolicy {
            max_attempts: 9,
            ..RetryPolicy::default()
        };
        let mut retry = Retry::new(Attempts::ByPolicy, policy, Duration::from_hours(1));
        let waits: Vec<u128> =
            std::iter::from_fn(|| retry.failed(&overloaded(None), Duration::ZERO, 1.0))
                .map(|wait| wait.as_millis())
                .collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]);
    }

    #[test]
    fn a_single_attempt_is_only_repeated_after_requested_delays() {
        let policy = RetryPolicy::default();
        let mut retry = Retry::new(Attempts::One, policy, MINUTE);
        for _ in 0..policy.max_server_waits {
            let decision = retry.failed(&overloaded(Some(1)), Duration::ZERO, 0.0);
            assert_eq!(decision, Some(Duration::from_millis(1)));
        }
        let mut other = Retry::new(Attempts::One, policy, MINUTE);
        for (retry, asked) in [(&mut retry, Some(1)), (&mut other, None)] {
            let decision = retry.failed(&overloaded(asked), Duration::ZERO, 0.5);
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
                what: Refused::Everything,
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
            Failure::Cut {
                cut: CutCause::Budget,
                usage,
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
            Failure::Cut {
                cut: CutCause::Connection,
                usage,
            },
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
                match retry.failed(&overloaded(asked), elapsed, chance) {
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

    const MAX_DELAY: Duration = Duration::from_millis(80);

    fn overloaded_for(retry_after: Duration) -> Failure {
        Failure::Overloaded {
            status: Some(429),
            message: String::new(),
            retry_after: Some(retry_after),
        }
    }

    fn wait_for<Made>(work: impl Future<Output = Made>) -> Made {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        runtime.unwrap().block_on(work)
    }

    #[test]
    fn a_limit_spreads_requests() {
        wait_for(async {
            let pace = Pace::per_minute(NonZeroU32::new(6000));
            let start = Instant::now();
            for _ in 0..4 {
                pace.turn(&mut None).await.unwrap();
            }
            assert!(start.elapsed() >= Duration::from_millis(30));
        });
    }

    #[test]
    fn a_requested_delay_applies_to_all_and_then_requests_are_sequential() {
        wait_for(async {
            let pace = Pace::default();
            let start = Instant::now();
            pace.failed(&overloaded_for(MAX_DELAY), MAX_DELAY);
            let mut permit = None;
            pace.turn(&mut permit).await.unwrap();
            assert!(start.elapsed() >= MAX_DELAY);
            let mut other = None;
            let second = pace.turn(&mut other);
            tokio::pin!(second);
            let early = tokio::time::timeout(MAX_DELAY, second.as_mut()).await;
            assert!(early.is_err(), "two requests are under way");
            drop(permit);
            second.await.unwrap();
            for _ in 0..SUCCESSES_TO_RUN_CONCURRENTLY {
                pace.answered();
            }
            let mut third = None;
            pace.turn(&mut third).await.unwrap();
            assert!(third.is_none(), "calm again");
        });
    }

    #[test]
    fn a_temporary_refusal_expires() {
        let pace = Pace::default();
        pace.failed(&overloaded_for(MAX_DELAY), Duration::ZERO);
        wait_for(async {
            assert!(pace.turn(&mut None).await.is_err());
            tokio::time::sleep(MAX_DELAY).await;
            pace.turn(&mut None).await.unwrap();
        });
    }

    #[test]
    fn nothing_is_sent_after_all_requests_were_refused() {
        let refused = |what| Failure::Rejected {
            status: Some(401),
            message: "no such key".to_owned(),
            what,
        };
        let rows = [
            (refused(Refused::Everything), true),
            (refused(Refused::Request), false),
            (overloaded_for(2 * MAX_DELAY), true),
            (overloaded_for(MAX_DELAY), false),
        ];
        for (failure, ends) in rows {
            let pace = Pace::default();
            pace.failed(&failure, MAX_DELAY);
            let turn = wait_for(async { pace.turn(&mut None).await });
            assert_eq!(turn.is_err(), ends, "{failure:?}");
        }
    }
}
