//! Scheduling of the requests of a run.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep_until};

use super::Failure;
use crate::io::Lock;

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
    pub(super) async fn wait_for_turn(
        &self,
        permit: &mut Option<SerialPermit>,
    ) -> Result<(), Failure> {
        loop {
            if permit.is_none() && self.state.lock_anyway().serial_remaining > 0 {
                *permit = Some(Arc::clone(&self.permit).lock_owned().await);
            }
            let next = {
                let mut state = self.state.lock_anyway();
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
    pub(super) fn record_success(&self) {
        let mut state = self.state.lock_anyway();
        state.serial_remaining = state.serial_remaining.saturating_sub(1);
    }

    /// Records a failed request. A delay requested by the server is capped at `max_wait`.
    pub(super) fn record_failure(&self, failure: &Failure, max_wait: Duration) {
        let requested = match failure {
            Failure::Overloaded { retry_after, .. } => *retry_after,
            _ => None,
        };
        let end = requested.and_then(|requested| Instant::now().checked_add(requested));
        let mut state = self.state.lock_anyway();
        if failure.refuses_everything() || requested.is_some_and(|requested| requested > max_wait) {
            state.refusal = Some((failure.clone(), end));
        } else if end.is_some() {
            state.serial_remaining = SUCCESSES_TO_RUN_CONCURRENTLY;
            state.next = state.next.max(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::RefusalScope;
    use super::*;

    const MAX_DELAY: Duration = Duration::from_millis(80);

    fn overload_failure(retry_after: Duration) -> Failure {
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
                pace.wait_for_turn(&mut None).await.unwrap();
            }
            assert!(start.elapsed() >= Duration::from_millis(30));
        });
    }

    #[test]
    fn a_requested_delay_applies_to_all_and_then_requests_are_sequential() {
        wait_for(async {
            let pace = Pace::default();
            let start = Instant::now();
            pace.record_failure(&overload_failure(MAX_DELAY), MAX_DELAY);
            let mut permit = None;
            pace.wait_for_turn(&mut permit).await.unwrap();
            assert!(start.elapsed() >= MAX_DELAY);
            let mut other = None;
            let second = pace.wait_for_turn(&mut other);
            tokio::pin!(second);
            let early = tokio::time::timeout(MAX_DELAY, second.as_mut()).await;
            assert!(early.is_err(), "two requests are under way");
            drop(permit);
            second.await.unwrap();
            for _ in 0..SUCCESSES_TO_RUN_CONCURRENTLY {
                pace.record_success();
            }
            let mut third = None;
            pace.wait_for_turn(&mut third).await.unwrap();
            assert!(third.is_none(), "calm again");
        });
    }

    #[test]
    fn a_temporary_refusal_expires() {
        let pace = Pace::default();
        pace.record_failure(&overload_failure(MAX_DELAY), Duration::ZERO);
        wait_for(async {
            assert!(pace.wait_for_turn(&mut None).await.is_err());
            tokio::time::sleep(MAX_DELAY).await;
            pace.wait_for_turn(&mut None).await.unwrap();
        });
    }

    #[test]
    fn nothing_is_sent_after_all_requests_were_refused() {
        let refused = |scope| Failure::Rejected {
            status: Some(401),
            message: "no such key".to_owned(),
            scope,
        };
        let rows = [
            (refused(RefusalScope::Everything), true),
            (refused(RefusalScope::Request), false),
            (overload_failure(2 * MAX_DELAY), true),
            (overload_failure(MAX_DELAY), false),
        ];
        for (failure, ends) in rows {
            let pace = Pace::default();
            pace.record_failure(&failure, MAX_DELAY);
            let turn = wait_for(async { pace.wait_for_turn(&mut None).await });
            assert_eq!(turn.is_err(), ends, "{failure:?}");
        }
    }
}
