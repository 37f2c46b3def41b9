//! The pages of the last minutes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::page::Page;

/// How long a page is not asked for again.
const LIFETIME: Duration = Duration::from_mins(15);

/// The most pages that are kept.
const MOST_PAGES: usize = 8;

/// Pages by their addresses, the latest last. Shared between threads.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pages: Mutex<VecDeque<(String, Instant, Arc<Page>)>>,
}

impl Cache {
    /// The page of an address, if it is young enough.
    pub(super) fn get(&self, address: &str, now: Instant) -> Option<Arc<Page>> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let found = pages.iter().rev().find(|(known, ..)| known == address);
        let (_, since, page) = found?;
        (now.duration_since(*since) < LIFETIME).then(|| Arc::clone(page))
    }

    /// Keeps a page, and forgets the oldest one if there are too many.
    pub(super) fn put(&self, address: String, page: Arc<Page>, now: Instant) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.push_back((address, now, page));
        if pages.len() > MOST_PAGES {
            pages.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_kept_for_a_quarter_of_an_hour() {
        let (cache, start) = (Cache::default(), Instant::now());
        cache.put("a".to_owned(), Arc::default(), start);
        assert!(cache.get("a", start + Duration::from_mins(14)).is_some());
        assert!(cache.get("a", start + LIFETIME).is_none());
        assert!(cache.get("b", start).is_none());
    }

    #[test]
    fn the_oldest_page_goes_first() {
        let (cache, start) = (Cache::default(), Instant::now());
        for number in 0..=MOST_PAGES {
            cache.put(number.to_string(), Arc::default(), start);
        }
        assert!(cache.get("0", start).is_none());
        assert!(cache.get("1", start).is_some());
    }
}
