//! `WebFetch`: web pages.

mod cache;
mod fetch;
mod fetcher;
mod markdown;
mod page;

pub(super) use fetch::WebFetch;
pub use fetcher::Web;
