//! `WebFetch`: web pages.

mod fetch;
mod fetcher;
mod markdown;
mod page;

pub(super) use fetch::WebFetch;
pub use fetcher::Web;
