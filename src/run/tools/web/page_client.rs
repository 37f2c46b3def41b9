//! The client and the page cache that all fetches of a run share.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::page::{WebPage, status_reason};
use crate::client::http::{
    Address, Client, Engine, HttpSettings, MessageSender, Reach, Response, run_unless_cancelled,
};
use crate::io::{CancelToken, Lock};

/// Maximum size of a page, in bytes.
const MAX_PAGE_BYTES: usize = 10 << 20;

/// Maximum number of redirects of a fetch.
const MAX_REDIRECTS: usize = 10;

/// Maximum duration of a fetch, with redirects.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// Accepted content types, preferred ones first.
const ACCEPT: &str = "text/markdown, text/html, application/xhtml+xml, text/*;q=0.9, */*;q=0.8";

/// Fetches pages. Starts no thread before the first fetch.
#[derive(Debug)]
pub struct Web {
    reach: Reach,
    total: Duration,
    client: Arc<Client>,
    engine: Engine,
    cache: Cache,
}

/// The result of a fetch.
#[derive(Debug)]
pub(super) enum FetchOutcome {
    /// A response to show.
    Page(Arc<WebPage>),
    /// A redirect to another server.
    Elsewhere { status: u16, to: Address },
    /// The call was cancelled.
    Cancelled,
}

impl Default for Web {
    fn default() -> Self {
        Self::new(Reach::Public, HttpSettings::default())
    }
}

impl Web {
    /// Creates a fetcher with these settings for addresses within `reach`.
    pub fn new(reach: Reach, settings: HttpSettings) -> Self {
        Self {
            reach,
            total: settings.limits.total.min(TIME_LIMIT),
            client: Arc::new(Client::with_reach(reach, settings)),
            engine: Engine::default(),
            cache: Cache::default(),
        }
    }

    /// Returns the page at an address. Uses `https` unless the host is nearby.
    ///
    /// # Errors
    /// The page cannot be fetched, for this reason (one line).
    pub(super) fn fetch(
        &self,
        address: Address,
        cancel: &CancelToken,
    ) -> Result<FetchOutcome, String> {
        let address = self.reach.prefer_https(address);
        let name = address.to_string();
        if let Some(page) = self.cache.get(&name, Instant::now()) {
            return Ok(FetchOutcome::Page(page));
        }
        let (client, reach, total) = (Arc::clone(&self.client), self.reach, self.total);
        let waiting = cancel.clone();
        let task = move |_: MessageSender<()>| async move {
            let fetched = timeout(total, follow_redirects(&client, reach, address));
            match run_unless_cancelled(waiting, fetched).await {
                None => Ok(None),
                Some(Ok(fetched)) => fetched.map(Some),
                Some(Err(_)) => Err(format!(
                    "no complete response within {} s",
                    total.as_secs_f64()
                )),
            }
        };
        let fetched = self.engine.run(task, |()| ());
        match fetched.map_err(|error| format!("cannot make requests: {error}"))?? {
            None => Ok(FetchOutcome::Cancelled),
            Some((response, Err(to))) => Ok(FetchOutcome::Elsewhere {
                status: response.status,
                to,
            }),
            Some((response, Ok(body))) => {
                let page = WebPage::convert(&response, &body, cancel)?;
                if cancel.is_cancelled() {
                    return Ok(FetchOutcome::Cancelled);
                }
                let page = Arc::new(page);
                self.cache.insert(name, Arc::clone(&page), Instant::now());
                Ok(FetchOutcome::Page(page))
            }
        }
    }
}

/// A response with its body, or a redirect to an address on another server.
type FetchedResponse = (Response, Result<Vec<u8>, Address>);

/// Sends the request, and follows redirects to the same server.
async fn follow_redirects(
    client: &Client,
    reach: Reach,
    first: Address,
) -> Result<FetchedResponse, String> {
    let mut address = first;
    for _ in 0..=MAX_REDIRECTS {
        let response = client
            .get(&address, ACCEPT)
            .await
            .map_err(|failure| failure.to_string())?;
        let location = response.headers.get("location");
        let (301 | 302 | 303 | 307 | 308, Some(location)) = (response.status, location) else {
            return read_response(response).await;
        };
        let next = address.resolve_redirect(location).map_err(|unusable| {
            format!("the server redirects to an unusable address: {unusable}")
        })?;
        if !next.has_same_server(&address) {
            return Ok((response, Err(next)));
        }
        address = reach.prefer_https(next);
    }
    Err(format!("more than {MAX_REDIRECTS} redirects"))
}

async fn read_response(mut response: Response) -> Result<FetchedResponse, String> {
    if !(200..300).contains(&response.status) {
        let status = response.status;
        return Err(format!(
            "the request failed with status code {status} {}",
            status_reason(status)
        ));
    }
    let body = response.read_body(MAX_PAGE_BYTES as u64).await;
    let Some(body) = body.map_err(|failure| failure.to_string())? else {
        let header = response.headers.get("content-type");
        let kind = header.map_or("unknown type", String::as_str);
        return Err(format!(
            "the page ({kind}) has more than {MAX_PAGE_BYTES} bytes"
        ));
    };
    Ok((response, Ok(body)))
}

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
        let pages = self.pages.lock_anyway();
        let found = pages.iter().rev().find(|(known, ..)| known == address);
        let (_, since, page) = found?;
        (now.duration_since(*since) < MAX_AGE).then(|| Arc::clone(page))
    }

    /// Adds a page, and removes the oldest one if there are too many.
    pub(super) fn insert(&self, address: String, page: Arc<WebPage>, now: Instant) {
        let mut pages = self.pages.lock_anyway();
        pages.push_back((address, now, page));
        if pages.len() > MAX_PAGES {
            pages.pop_front();
        }
    }
}

#[cfg(test)]
mod cache_tests {
    use super::*;

    #[test]
    fn a_page_is_kept_for_a_quarter_of_an_hour() {
        let (cache, start) = (Cache::default(), Instant::now());
        cache.insert("a".to_owned(), Arc::default(), start);
        assert!(cache.get("a", start + Duration::from_mins(14)).is_some());
        assert!(cache.get("a", start + MAX_AGE).is_none());
        assert!(cache.get("b", start).is_none());
    }

    #[test]
    fn the_oldest_page_is_removed_first() {
        let (cache, start) = (Cache::default(), Instant::now());
        for number in 0..=MAX_PAGES {
            cache.insert(number.to_string(), Arc::default(), start);
        }
        assert!(cache.get("0", start).is_none());
        assert!(cache.get("1", start).is_some());
    }
}
