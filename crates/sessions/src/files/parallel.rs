//! Processes many items on several threads and delivers the outcomes, or events, in the order of the items.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Builder;

/// Maximum number of outcomes, or of events per thread, that wait for the caller.
const MAX_QUEUED: usize = 64;

/// Calls `work` for each of `items`, on up to `jobs` threads, and `take` with the index and outcome of
/// each item in order, as soon as possible. Stops when `take` returns an error.
///
/// # Errors
/// The error of `take`.
pub fn process_in_order<Item: Sync, Outcome: Send, Error>(
    items: &[Item],
    jobs: usize,
    work: impl Fn(&Item) -> Outcome + Sync,
    mut take: impl FnMut(usize, Outcome) -> Result<(), Error>,
) -> Result<(), Error> {
    if jobs <= 1 || items.len() <= 1 {
        return process_in_turn(items, work, take);
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, outcomes) = sync_channel(MAX_QUEUED);
        // The system may not provide as many threads.
        let workers = (0..jobs.min(items.len())).map_while(|_| {
            let (sender, next, work) = (sender.clone(), &next, &work);
            let worker = move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(place) else {
                        return;
                    };
                    if sender.send((place, work(item))).is_err() {
                        return;
                    }
                }
            };
            Builder::new().spawn_scoped(scope, worker).ok()
        });
        if workers.count() == 0 {
            return process_in_turn(items, &work, take);
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut next_due = 0;
        for (place, outcome) in outcomes {
            early.insert(place, outcome);
            while let Some(outcome) = early.remove(&next_due) {
                if let Err(error) = take(next_due, outcome) {
                    // No further item is started.
                    next.store(items.len(), Ordering::Relaxed);
                    return Err(error);
                }
                next_due += 1;
            }
        }
        Ok(())
    })
}

fn process_in_turn<Item, Outcome, Error>(
    items: &[Item],
    work: impl Fn(&Item) -> Outcome,
    mut take: impl FnMut(usize, Outcome) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut items = items.iter().enumerate();
    items.try_for_each(|(place, item)| take(place, work(item)))
}

/// Calls `work` for each of `items`, on up to `jobs` threads, and `visit` with the events of each item,
/// in the order of the items, until it breaks. Each thread waits when many of its events are queued.
pub(crate) fn stream_in_order<Item: Sync, Event: Send>(
    items: &[Item],
    jobs: usize,
    work: &(impl Fn(&Item, &mut dyn FnMut(Event) -> ControlFlow<()>) -> ControlFlow<()> + Sync),
    visit: &mut dyn FnMut(Event) -> ControlFlow<()>,
) {
    let jobs = jobs.min(items.len());
    std::thread::scope(|scope| {
        // A lane is `None` if its thread cannot be started. In a channel, `None` ends an item.
        let lanes: Vec<Option<Receiver<Option<Event>>>> = (0..jobs)
            .map(|lane| {
                let (sender, receiver) = sync_channel(MAX_QUEUED);
                let run = move || {
                    let send = |event| match sender.send(event) {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    };
                    for item in items.iter().skip(lane).step_by(jobs) {
                        let mut report = |event| send(Some(event));
                        if work(item, &mut report).is_break() || send(None).is_break() {
                            return;
                        }
                    }
                };
                let started = Builder::new().spawn_scoped(scope, run);
                started.ok().map(|_| receiver)
            })
            .collect();
        // When this returns, the receivers are dropped, which ends the threads.
        for (item, lane) in items.iter().zip(lanes.iter().cycle()) {
            let Some(lane) = lane else {
                if work(item, visit).is_break() {
                    return;
                }
                continue;
            };
            while let Ok(Some(event)) = lane.recv() {
                if visit(event).is_break() {
                    return;
                }
            }
        }
    });
}

/// Number of processors that this process may use. Ignores quotas, because reading them takes longer
/// than finding a title.
#[cfg(target_os = "linux")]
pub fn count_processors() -> NonZeroUsize {
    let allowed = rustix::thread::sched_getaffinity(None).map(|set| set.count());
    let allowed = allowed.ok().and_then(|count| usize::try_from(count).ok());
    allowed
        .and_then(NonZeroUsize::new)
        .unwrap_or(NonZeroUsize::MIN)
}

/// Returns the number of processors that this process may use.
#[cfg(not(target_os = "linux"))]
pub fn count_processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn outcomes_are_delivered_in_order() {
        let items: Vec<u64> = (0..100).collect();
        let mut seen = Vec::new();
        let running = AtomicU64::new(0);
        let most = AtomicU64::new(0);
        let done: Result<(), ()> = process_in_order(
            &items,
            8,
            |item| {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                std::thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                item * 2
            },
            |_, outcome| {
                seen.push(outcome);
                Ok(())
            },
        );
        assert_eq!(done, Ok(()));
        assert_eq!(seen, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(most.load(Ordering::SeqCst) <= 8);
    }

    #[test]
    fn an_error_stops_the_work() {
        let items: Vec<usize> = (0..1000).collect();
        let begun = AtomicUsize::new(0);
        let done = process_in_order(
            &items,
            4,
            |_| begun.fetch_add(1, Ordering::SeqCst),
            |place, _| if place == 3 { Err("stop") } else { Ok(()) },
        );
        assert_eq!(done, Err("stop"));
        assert!(begun.load(Ordering::SeqCst) < 1000);
    }
}
