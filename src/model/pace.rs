//! When the requests of a run may be sent.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep_until};

use super::Failure;

/// After so many good answers in a row, requests are sent side by side again.
const CALM: u32 = 20;

/// What the requests of a run share: they are sent no more often than a limit allows, not while the
/// server wants to be left alone, one after the other once it has said so, and not at all after a
/// refusal that concerns every request.
#[derive(Debug, Default)]
pub struct Pace {
    interval: Duration,
    state: Mutex<State>,
    /// Held by the only request that is under way, where they are sent one after the other.
    front: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct State {
    next: Option<Instant>,
    /// How many good answers are missing until requests are sent side by side.
    wary: u32,
    /// The refusal of everything, and when it ends, if it does.
    refusal: Option<(Failure, Option<Instant>)>,
}

/// The place of the only request that is under way.
pub(super) type Front = OwnedMutexGuard<()>;

impl Pace {
    /// At most `limit` requests per minute; `None` for no limit.
    pub fn per_minute(limit: Option<NonZeroU32>) -> Self {
        Self {
            interval: limit.map_or(Duration::ZERO, |limit| Duration::from_mins(1) / limit.get()),
            ..Self::default()
        }
    }

    /// Waits until a request may be sent. It keeps `front` until it is answered for good.
    ///
    /// # Errors
    /// It is not to be sent.
    pub(super) async fn turn(&self, front: &mut Option<Front>) -> Result<(), Failure> {
        loop {
            if front.is_none() && self.state().wary > 0 {
                *front = Some(Arc::clone(&self.front).lock_owned().await);
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

    /// A request was answered well.
    pub(super) fn answered(&self) {
        let mut state = self.state();
        state.wary = state.wary.saturating_sub(1);
    }

    /// A request failed. No server is waited for longer than `longest`.
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
            state.wary = CALM;
            state.next = state.next.max(end);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Refused;
    use super::*;

    const LONGEST: Duration = Duration::from_millis(80);

    fn overloaded(retry_after: Duration) -> Failure {
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
    fn a_wait_that_was_asked_for_holds_for_all_and_then_one_goes_after_the_other() {
        wait_for(async {
            let pace = Pace::default();
            let start = Instant::now();
            pace.failed(&overloaded(LONGEST), LONGEST);
            let mut front = None;
            pace.turn(&mut front).await.unwrap();
            assert!(start.elapsed() >= LONGEST);
            let mut other = None;
            let second = pace.turn(&mut other);
            tokio::pin!(second);
            let early = tokio::time::timeout(LONGEST, second.as_mut()).await;
            assert!(early.is_err(), "two requests are under way");
            drop(front);
            second.await.unwrap();
            for _ in 0..CALM {
                pace.answered();
            }
            let mut third = None;
            pace.turn(&mut third).await.unwrap();
            assert!(third.is_none(), "calm again");
        });
    }

    #[test]
    fn a_refusal_for_a_time_ends() {
        let pace = Pace::default();
        pace.failed(&overloaded(LONGEST), Duration::ZERO);
        wait_for(async {
            assert!(pace.turn(&mut None).await.is_err());
            tokio::time::sleep(LONGEST).await;
            pace.turn(&mut None).await.unwrap();
        });
    }

    #[test]
    fn nothing_is_sent_after_a_refusal_of_everything() {
        let refused = |what| Failure::Rejected {
            status: Some(401),
            message: "no such key".to_owned(),
            what,
        };
        let rows = [
            (refused(Refused::Everything), true),
            (refused(Refused::Request), false),
            (overloaded(2 * LONGEST), true),
            (overloaded(LONGEST), false),
        ];
        for (failure, ends) in rows {
            let pace = Pace::default();
            pace.failed(&failure, LONGEST);
            let turn = wait_for(async { pace.turn(&mut None).await });
            assert_eq!(turn.is_err(), ends, "{failure:?}");
        }
    }
}
