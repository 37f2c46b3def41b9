//! Record of an HTTP exchange.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::http::{Headers, HttpFailure};
use crate::model::Dialect;

/// Error using a file as a recording.
#[derive(Debug, thiserror::Error)]
#[error("recording {}: {reason}", path.display())]
pub struct RecordingError {
    pub(super) path: PathBuf,
    pub(super) reason: String,
}

/// A request and its response.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename = "http_exchange")]
pub(in crate::model) struct ExchangeRecord {
    /// Name of the model.
    pub(in crate::model) provider: String,
    pub(in crate::model) model: String,
    pub(in crate::model) base_url: String,
    pub(in crate::model) dialect: Dialect,
    /// URL of the request.
    pub(super) url: String,
    /// Exact body of the request.
    pub(super) request: Box<RawValue>,
    /// Status of the response; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub(super) headers: Headers,
    /// Body of the response, if it is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<String>,
    /// Body of the response in base64, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body_base64: Option<String>,
    /// The failure, if the exchange failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<HttpFailure>,
}

impl ExchangeRecord {
    /// Returns the exact body of the response.
    pub(super) fn body_bytes(&self) -> Vec<u8> {
        match (&self.body, &self.body_base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(encoded)) => STANDARD.decode(encoded).unwrap_or_default(),
            (None, None) => Vec::new(),
        }
    }
}
