//! One line of a recording.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::http::{Headers, HttpFailure};
use crate::model::Dialect;

/// A file cannot be used as a recording.
#[derive(Debug, thiserror::Error)]
#[error("recording {}: {reason}", path.display())]
pub struct UnusableRecording {
    pub(super) path: PathBuf,
    pub(super) reason: String,
}

/// A request and its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename = "http_exchange")]
pub(in crate::model) struct ExchangeRecord {
    /// The model that was asked.
    pub(in crate::model) provider: String,
    pub(in crate::model) model: String,
    pub(in crate::model) base_url: String,
    pub(in crate::model) dialect: Dialect,
    /// Where the request went.
    pub(super) url: String,
    /// Its body, byte for byte.
    pub(super) request: Box<RawValue>,
    /// The status of the answer; none if there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub(super) headers: Headers,
    /// The body of the answer, if it is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<String>,
    /// The body of the answer, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body_base64: Option<String>,
    /// How it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<HttpFailure>,
}

impl ExchangeRecord {
    /// The body of the answer, byte for byte.
    pub(super) fn body_bytes(&self) -> Vec<u8> {
        match (&self.body, &self.body_base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(encoded)) => STANDARD.decode(encoded).unwrap_or_default(),
            (None, None) => Vec::new(),
        }
    }
}
