//! Recording of exchanges.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;

use super::exchange_record::{ExchangeRecord, RecordingError};
use crate::http::{Headers, HttpFailure, Outgoing, Redaction};
use crate::model::Dialect;
use crate::model::transport::Target;

/// Response headers that replay needs.
const REPLAY_HEADERS: &[&str] = &["content-type", "retry-after", "retry-after-ms", "location"];

/// Appends exchanges to a file, one per line.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    file: Mutex<File>,
}

impl Recorder {
    /// Opens the file, or creates it with access for its owner only.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| RecordingError {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
        })
    }

    /// Starts recording an exchange.
    pub(in crate::model) fn tape(
        self: &Arc<Self>,
        outgoing: &Outgoing,
        target: &Target,
        dialect: &Dialect,
    ) -> PendingExchange {
        let redaction = outgoing.redaction();
        let request = redaction.clean_record(&outgoing.body);
        let record = ExchangeRecord {
            provider: target.model.provider.clone(),
            model: target.model.model.clone(),
            base_url: redaction.clean(&target.base.to_string()),
            dialect: dialect.clone(),
            url: redaction.clean_record(&outgoing.address.to_string()),
            request: RawValue::from_string(request).unwrap_or_default(),
            status: None,
            headers: Headers::new(),
            body: None,
            body_base64: None,
            failure: None,
        };
        PendingExchange {
            recorder: Arc::clone(self),
            redaction,
            record,
            received: Vec::new(),
            is_done: false,
        }
    }

    fn write(&self, record: &ExchangeRecord) -> Result<(), HttpFailure> {
        let unusable = |error: std::io::Error| {
            HttpFailure::unusable(format!("cannot record to {}: {error}", self.path.display()))
        };
        let mut line = serde_json::to_vec(record).map_err(|error| unusable(error.into()))?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line).map_err(unusable)
    }
}

/// An exchange being recorded. Written when it ends or is dropped.
#[derive(Debug)]
pub(in crate::model) struct PendingExchange {
    recorder: Arc<Recorder>,
    redaction: Redaction,
    record: ExchangeRecord,
    received: Vec<u8>,
    /// Whether it was written or is to be discarded.
    is_done: bool,
}

impl PendingExchange {
    /// Records the status and headers of the response.
    pub(in crate::model) fn answered(mut self, status: u16, headers: &Headers) -> Self {
        self.record.status = Some(status);
        let kept = headers
            .iter()
            .filter(|(name, _)| REPLAY_HEADERS.contains(&name.as_str()));
        self.record.headers = kept
            .map(|(name, value)| (name.clone(), self.redaction.clean_record(value)))
            .collect();
        self
    }

    /// Appends to the body of the response.
    pub(in crate::model) fn push(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// Ends a complete response.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(in crate::model) fn ended(mut self) -> Result<(), HttpFailure> {
        self.write()
    }

    /// Ends a failed exchange. Failures before the request was sent are not recorded.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(in crate::model) fn failed(mut self, failure: &HttpFailure) -> Result<(), HttpFailure> {
        self.is_done = matches!(failure, HttpFailure::Unusable { .. });
        self.record.failure = Some(failure.clone());
        self.write()
    }

    fn write(&mut self) -> Result<(), HttpFailure> {
        if std::mem::replace(&mut self.is_done, true) {
            return Ok(());
        }
        match String::from_utf8(std::mem::take(&mut self.received)) {
            Ok(text) => self.record.body = Some(self.redaction.clean_record(&text)),
            Err(error) => self.record.body_base64 = Some(STANDARD.encode(error.as_bytes())),
        }
        self.recorder.write(&self.record)
    }
}

impl Drop for PendingExchange {
    fn drop(&mut self) {
        // Without a response there is nothing to replay.
        if self.record.status.is_some() {
            let _ = self.write();
        }
    }
}
