//! Runs the same work for many items on several threads. A thread that finishes takes the next
//! item.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::Builder;

/// The result for one item.
pub(super) struct Done<Output> {
    /// The index of the item.
    pub(super) item: usize,
    /// The thread that did the work.
    pub(super) worker: usize,
    /// The output.
    pub(super) output: Output,
}

/// Calls `look` for each item, and counts in `done` those that are done. Returns the outputs, in no
/// order, and the state of each thread.
pub(super) fn each<Item: Sync, Own: Default + Send, Output: Send>(
    items: &[Item],
    threads: NonZeroUsize,
    done: &AtomicU64,
    look: &(dyn Fn(&Item, &mut Own) -> Output + Sync),
) -> (Vec<Done<Output>>, Vec<Own>) {
    let workers = threads.get().min(items.len()).max(1);
    let next = AtomicUsize::new(0);
    let work = |worker: usize| {
        let (mut outputs, mut own) = (Vec::new(), Own::default());
        while let Some(item) = Some(next.fetch_add(1, Ordering::Relaxed))
            && let Some(asked) = items.get(item)
        {
            let output = look(asked, &mut own);
            outputs.push(Done {
                item,
                worker,
                output,
            });
            done.fetch_add(1, Ordering::Relaxed);
        }
        (outputs, own)
    };
    std::thread::scope(|scope| {
        // The system may not have as many threads.
        let others: Vec<_> = (1..workers)
            .map_while(|worker| {
                let work = move || work(worker);
                Builder::new().spawn_scoped(scope, work).ok()
            })
            .collect();
        let (mut outputs, own) = work(0);
        let mut owns = vec![own];
        for other in others {
            match other.join() {
                Ok((more, own)) => {
                    outputs.extend(more);
                    owns.push(own);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        (outputs, owns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_looked_at_once_on_some_thread() {
        let items: Vec<usize> = (0..500).collect();
        for threads in [1, 3, 1000] {
            let threads = NonZeroUsize::new(threads).unwrap();
            let count = AtomicU64::new(0);
            let (mut done, owns) = each(&items, threads, &count, &|item, own: &mut Vec<usize>| {
                own.push(*item);
                2 * item
            });
            assert_eq!(owns.len(), threads.get().min(500));
            done.sort_by_key(|done| done.item);
            assert_eq!((done.len(), count.into_inner()), (500, 500));
            for (item, done) in done.into_iter().enumerate() {
                assert_eq!((done.item, done.output), (item, 2 * item));
                assert!(owns[done.worker].contains(&item));
            }
        }
        let (done, owns) = each(&[], NonZeroUsize::MIN, &AtomicU64::new(0), &|(),
                                                                              (): &mut (
        )| ());
        assert!(done.is_empty() && owns.len() == 1);
    }
}
