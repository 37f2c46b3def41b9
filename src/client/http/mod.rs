//! The HTTP client, and the framing of streamed responses.
//!
//! Nothing is built before the first request: no runtime, no client, and certificates only for the first request
//! that needs TLS.

mod address;
mod client;
mod engine;
mod event_stream;
mod reach;
mod redaction;
mod response;

pub use address::{Address, PlainText, UnusableAddress};
pub use client::{Client, HttpSettings, Proxies, TimeLimits};
pub use engine::{Engine, MessageSender, run_unless_cancelled};
pub use event_stream::Frames;
pub use reach::{Reach, RefusedAddress, look_up_addresses};
pub use redaction::{Redaction, Secret, StreamRedaction};
pub use response::{
    ContentType, Header, HeaderValue, Headers, HttpFailure, Outgoing, Response, retry_after,
};
