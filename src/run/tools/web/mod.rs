//! `WebFetch`: web pages.

mod fetch;
mod markdown;
mod page;
mod page_client;

pub(super) use fetch::WebFetch;
pub use page_client::Web;
