//! Requests over HTTP: one client for all of them, and the framing of streamed answers.
//!
//! Nothing is built before the first request: no runtime, no client, and certificates only for
//! the first one that needs TLS. What is asked and answered is not known here.

mod address;
mod address_rules;
mod client;
mod content_type;
mod engine;
mod event_stream;
mod failure;
mod json_lines;
mod line_splitter;
mod outgoing;
mod proxies;
mod redaction;
mod response;
mod retry_after;
mod secret;
mod settings;
mod stream_redaction;
mod tls;

pub use address::{Address, UnusableAddress};
pub use address_rules::PlainText;
pub use client::Client;
pub use content_type::ContentType;
pub use engine::{Engine, Task};
pub use event_stream::{EventStream, StreamEvent};
pub use failure::HttpFailure;
pub use json_lines::JsonLines;
pub use line_splitter::TooLong;
pub use outgoing::{Header, HeaderValue, Outgoing};
pub use proxies::Proxies;
pub use redaction::Redaction;
pub use response::{Headers, Response};
pub use retry_after::retry_after;
pub use secret::Secret;
pub use settings::{HttpSettings, TimeLimits};
pub use stream_redaction::StreamRedaction;
