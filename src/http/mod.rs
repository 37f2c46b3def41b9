//! The HTTP client, and the framing of streamed responses.
//!
//! Nothing is built before the first request: no runtime, no client, and certificates only for the first request
//! that needs TLS.

mod address;
mod client;
mod engine;
mod event_stream;
mod failure;
mod headers;
mod outgoing;
mod reach;
mod redaction;
mod response;
mod settings;
mod tls;

pub use address::{Address, PlainText, UnusableAddress};
pub use client::Client;
pub use engine::{Engine, Task, unless_cancelled};
pub use event_stream::{EventStream, JsonLines};
pub use failure::HttpFailure;
pub use headers::{ContentType, Headers, retry_after};
pub use outgoing::{Header, HeaderValue, Outgoing};
pub use reach::{Reach, RefusedAddress};
pub use redaction::{Redaction, Secret, StreamRedaction};
pub use response::Response;
pub use settings::{HttpSettings, Proxies, TimeLimits};
