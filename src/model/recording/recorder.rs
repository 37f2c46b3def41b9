//! Recording of exchanges.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::value::RawValue;

use super::exchange_record::{ExchangeRecord, RecordType, RecordedFailure, UnusableRecording};
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
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options
            .open(path)
            .map_err(|source| UnusableRecording::Unreadable {
                path: path.to_owned(),
                source,
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
        let request = redaction.clean(&outgoing.body);
        let record = ExchangeRecord {
            r#type: RecordType::Exchange,
            provider: target.provider.clone(),
            model: target.model.clone(),
            base_url: redaction.clean(&target.base),
            dialect: dialect.clone(),
            url: redaction.clean(&outgoing.address.to_string()),
            request: RawValue::from_string(request).unwrap_or_default(),
            status: None,
            headers: std::collections::BTreeMap::new(),
            body: None,
            body_base64: None,
            failure: None,
        };
        Tape {
            recorder: Arc::clone(self),
            redaction,
            record: Some(Box::new(record)),
            received: Vec::new(),
        }
    }

    fn write(&self, record: &ExchangeRecord) -> Result<(), HttpFailure> {
        let unusable = |error: std::io::Error| {
            HttpFailure::Unusable(format!("cannot record to {}: {error}", self.path.display()))
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
    record: Option<Box<ExchangeRecord>>,
    received: Vec<u8>,
}

impl Tape {
    /// The answer has begun.
    pub(in crate::model) fn answered(mut self, status: u16, headers: &Headers) -> Self {
        if let Some(record) = &mut self.record {
            record.status = Some(status);
            for name in KEPT_HEADERS {
                if let Some(value) = headers.get(name) {
                    record
                        .headers
                        .insert((*name).to_owned(), self.redaction.clean(value));
                }
            }
        }
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

    /// The exchange failed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(in crate::model) fn failed(mut self, failure: &HttpFailure) -> Result<(), HttpFailure> {
        let Some(failure) = RecordedFailure::of(failure) else {
            self.record = None;
            return Ok(());
        };
        if let Some(record) = &mut self.record {
            record.failure = Some(failure);
        }
        self.write()
    }

    fn write(&mut self) -> Result<(), HttpFailure> {
        let Some(mut record) = self.record.take() else {
            return Ok(());
        };
        let received = std::mem::take(&mut self.received);
        record.set_body(match String::from_utf8(received) {
            Ok(text) => self.redaction.clean(&text).into_bytes(),
            Err(error) => error.into_bytes(),
        });
        self.recorder.write(&record)
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        // Without an answer there is nothing to replay.
        if self
            .record
            .as_ref()
            .is_some_and(|record| record.status.is_some())
        {
            let _ = self.write();
        }
    }
}
