//! `WebFetch`: pages of the web.

mod cache;
mod fetch;
mod markdown;
mod page;
mod web;

pub(super) use fetch::WebFetch;
pub use web::Web;
