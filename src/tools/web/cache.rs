//! Cache of recently fetched pages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::page::WebPage;

/// Maximum age of a cached page.
const MAX_AGE: Duration = Duration::from_mins(15);

/// Maximum number of cached pages.
const MAX_PAGES: usize = 8;

/// Pages by URL, the latest last. Shared between threads.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pages: Mutex<VecDeque<(String, Instant, Arc<WebPage>)>>,
}

impl Cache {
    /// Returns the page of a URL if it is cached.
    pub(super) fn get(&self, address: &str, now: Instant) -> Option<Arc<WebPage>> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let found = pages.iter().rev().find(|(known, ..)| known == address);
        let (_, since, page) = found?;
        (now.duration_since(*since) < MAX_AGE).then(|| Arc::clone(page))
    }

    /// Adds a page, and removes the oldest one if there are too many.
    pub(super) fn put(&self, address: String, page: Arc<WebPage>, now: Instant) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.push_back((address, now, page));
        if pages.len() > MAX_PAGES {
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
        assert!(cache.get("a", start + MAX_AGE).is_none());
        assert!(cache.get("b", start).is_none());
    }

    #[test]
    fn the_oldest_page_goes_first() {
        let (cache, start) = (Cache::default(), Instant::now());
        for number in 0..=MAX_PAGES {
            cache.put(number.to_string(), Arc::default(), start);
        }
        assert!(cache.get("0", start).is_none());
        assert!(cache.get("1", start).is_some());
    }
}
