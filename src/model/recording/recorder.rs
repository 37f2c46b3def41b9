//! Recording of exchanges.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;

use super::exchange_record::{ExchangeRecord, UnusableRecording};
use crate::http::{Headers, HttpFailure, Outgoing, Redaction};
use crate::model::Dialect;
use crate::model::transport::Target;

/// Headers of answers that a replay needs.
const KEPT_HEADERS: &[&str] = &["content-type", "retry-after", "retry-after-ms", "location"];

/// Appends exchanges to a file, one line each.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    file: Mutex<File>,
}

impl Recorder {
    /// Opens the file, or creates one that only its owner can read.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> Result<Self, UnusableRecording> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| UnusableRecording {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
        })
    }

    /// Begins to record an exchange.
    pub(in crate::model) fn tape(
        self: &Arc<Self>,
        outgoing: &Outgoing,
        target: &Target,
        dialect: &Dialect,
    ) -> Tape {
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
        Tape {
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

/// An exchange that is being recorded. It is written when it ends, or when it is dropped.
#[derive(Debug)]
pub(in crate::model) struct Tape {
    recorder: Arc<Recorder>,
    redaction: Redaction,
    record: ExchangeRecord,
    received: Vec<u8>,
    /// It was written, or is not to be.
    is_done: bool,
}

impl Tape {
    /// The answer has begun.
    pub(in crate::model) fn answered(mut self, status: u16, headers: &Headers) -> Self {
        self.record.status = Some(status);
        let kept = headers
            .iter()
            .filter(|(name, _)| KEPT_HEADERS.contains(&name.as_str()));
        self.record.headers = kept
            .map(|(name, value)| (name.clone(), self.redaction.clean_record(value)))
            .collect();
        self
    }

    /// More of the answer.
    pub(in crate::model) fn push(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// The answer is complete.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(in crate::model) fn ended(mut self) -> Result<(), HttpFailure> {
        self.write()
    }

    /// The exchange failed. Failures before the request was sent are not recorded.
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

impl Drop for Tape {
    fn drop(&mut self) {
        // Without an answer there is nothing to replay.
        if self.record.status.is_some() {
            let _ = self.write();
        }
    }
}
