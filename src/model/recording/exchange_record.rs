//! One line of a recording.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::http::{Headers, HttpFailure};
use crate::model::Dialect;

/// A file cannot be used as a recording.
#[derive(Debug, thiserror::Error)]
pub enum UnusableRecording {
    /// It cannot be read or written.
    #[error("recording {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line is not an exchange.
    #[error("recording {}: line {line} is not an exchange: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// It is empty.
    #[error("recording {}: contains no exchange", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// The one value of `type`.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) enum RecordType {
    /// A request and its answer.
    #[default]
    #[serde(rename = "http_exchange")]
    Exchange,
}

/// A request and its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ExchangeRecord {
    pub(super) r#type: RecordType,
    /// The model that was asked.
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) base_url: String,
    pub(super) dialect: Dialect,
    /// Where the request went.
    pub(super) url: String,
    /// Its body, byte for byte.
    pub(super) request: Box<RawValue>,
    /// The status of the answer; none if there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) headers: BTreeMap<String, String>,
    /// The body of the answer, if it is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<String>,
    /// The body of the answer, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body_base64: Option<String>,
    /// How it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<RecordedFailure>,
}

/// How an exchange failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(super) enum RecordedFailure {
    Unreachable { message: String },
    Broken { message: String },
    TimedOut { ms: u64 },
    TooLarge { bytes: usize },
}

impl RecordedFailure {
    /// The failure to record. Failures before the request was sent are not recorded.
    pub(super) fn of(failure: &HttpFailure) -> Option<Self> {
        Some(match failure {
            HttpFailure::Unreachable(message) => Self::Unreachable {
                message: message.clone(),
            },
            HttpFailure::Broken(message) => Self::Broken {
                message: message.clone(),
            },
            HttpFailure::TimedOut(limit) => Self::TimedOut {
                ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
            },
            HttpFailure::TooLarge(bytes) => Self::TooLarge { bytes: *bytes },
            HttpFailure::Unusable(_) => return None,
        })
    }

    /// The failure when it is replayed.
    pub(super) fn again(&self) -> HttpFailure {
        match self {
            Self::Unreachable { message } => HttpFailure::Unreachable(message.clone()),
            Self::Broken { message } => HttpFailure::Broken(message.clone()),
            Self::TimedOut { ms } => HttpFailure::TimedOut(Duration::from_millis(*ms)),
            Self::TooLarge { bytes } => HttpFailure::TooLarge(*bytes),
        }
    }
}

impl ExchangeRecord {
    /// Stores the body of the answer.
    pub(super) fn set_body(&mut self, bytes: Vec<u8>) {
        match String::from_utf8(bytes) {
            Ok(text) => self.body = Some(text),
            Err(error) => self.body_base64 = Some(STANDARD.encode(error.as_bytes())),
        }
    }

    /// The body of the answer, byte for byte.
    pub(super) fn body_bytes(&self) -> Vec<u8> {
        match (&self.body, &self.body_base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(encoded)) => STANDARD.decode(encoded).unwrap_or_default(),
            (None, None) => Vec::new(),
        }
    }

    /// The headers of the answer.
    pub(super) fn headers(&self) -> Headers {
        self.headers
            .iter()
            .map(|(name, value)| (name, value.as_str()))
            .collect()
    }
}
