//! Recording and replay of exchanges with providers.
//!
//! A recording is a JSON Lines file with one exchange per line, in the order in which they ended. It
//! contains everything needed for replay, including dialects, but no keys.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use similar::{diff_ratio, group_diff_ops};

use crate::client::http::{Address, Headers, HttpFailure, Outgoing, Redaction, Response};
use crate::client::model::{Dialect, Failure, RemoteModel};
use crate::io::Lock;
use crate::text::{compare_lines, marked_lines};

/// The model to send requests to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) model: RemoteModel,
    pub(super) base: Address,
}

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
    pub(super) fn start_exchange(
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
            // Masking keeps a body valid JSON.
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
        let mut file = self.file.lock_anyway();
        file.write_all(&line).map_err(unusable)
    }
}

/// An exchange being recorded. Written when it ends or is dropped.
#[derive(Debug)]
pub(super) struct PendingExchange {
    recorder: Arc<Recorder>,
    redaction: Redaction,
    record: ExchangeRecord,
    received: Vec<u8>,
    /// Whether it was written or is to be discarded.
    is_done: bool,
}

impl PendingExchange {
    /// Records the status and headers of the response.
    pub(super) fn with_response_head(mut self, status: u16, headers: &Headers) -> Self {
        self.record.status = Some(status);
        let replayed = headers
            .iter()
            .filter(|(name, _)| REPLAY_HEADERS.contains(&name.as_str()));
        self.record.headers = replayed
            .map(|(name, value)| (name.clone(), self.redaction.clean_record(value)))
            .collect();
        self
    }

    /// Appends to the body of the response.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// Ends a complete response.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish(mut self) -> Result<(), HttpFailure> {
        self.write()
    }

    /// Ends a failed exchange. Failures before the request was sent are not recorded.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish_failed(mut self, failure: &HttpFailure) -> Result<(), HttpFailure> {
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
            // A drop cannot report a failure.
            let _ = self.write();
        }
    }
}

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
pub(super) struct ExchangeRecord {
    /// Name of the model.
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) base_url: String,
    pub(super) dialect: Dialect,
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

/// A recording in memory.
#[derive(Debug)]
pub(super) struct Recording {
    path: PathBuf,
    exchanges: Vec<ExchangeRecord>,
    /// Number of responses already returned, by request.
    answer_counts: Mutex<HashMap<String, usize>>,
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// The file is not a recording.
    pub(super) fn read(path: &Path) -> Result<Self, RecordingError> {
        let unusable = |reason| RecordingError {
            path: path.to_owned(),
            reason,
        };
        let text = fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        let mut exchanges = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let exchange = serde_json::from_str(line).map_err(|error| {
                let line = index + 1;
                unusable(format!("line {line} is not an exchange: {error}"))
            })?;
            exchanges.push(exchange);
        }
        if exchanges.is_empty() {
            return Err(unusable("contains no exchange".to_owned()));
        }
        Ok(Self {
            path: path.to_owned(),
            exchanges,
            answer_counts: Mutex::default(),
        })
    }

    /// Returns all exchanges; at least one.
    pub(super) fn exchanges(&self) -> &[ExchangeRecord] {
        &self.exchanges
    }

    /// Whether the recording contains the request.
    pub(super) fn contains(&self, outgoing: &Outgoing) -> bool {
        self.exchanges_of(outgoing).next().is_some()
    }

    /// Returns the response to a request. A request that was recorded several times gets the responses in
    /// order, then always the last one.
    ///
    /// # Errors
    /// The request is not in the recording, or the recorded exchange failed.
    pub(super) fn answer(&self, outgoing: &Outgoing) -> Result<Response, Failure> {
        let matching: Vec<&ExchangeRecord> = self.exchanges_of(outgoing).collect();
        let Some(last) = matching.len().checked_sub(1) else {
            return Err(self.unrecorded_failure(std::slice::from_ref(outgoing)));
        };
        let index = {
            let mut answer_counts = self.answer_counts.lock_anyway();
            let key = format!("{}\n{}", outgoing.address, outgoing.body);
            let count = answer_counts.entry(key).or_default();
            let index = (*count).min(last);
            *count += 1;
            index
        };
        let exchange = matching[index];
        match (exchange.status, exchange.failure.clone()) {
            (Some(status), ending) => {
                let pieces = vec![exchange.body_bytes()];
                let headers = exchange.headers.clone();
                Ok(Response::from_recording(status, headers, pieces, ending))
            }
            (None, Some(failure)) => Err(failure.into()),
            (None, None) => Err(self.unrecorded_failure(std::slice::from_ref(outgoing))),
        }
    }

    /// Returns the failure that shows how a request differs from the nearest recorded one. `forms` are the encodings
    /// of the request for each recorded model.
    pub(super) fn unrecorded_failure(&self, forms: &[Outgoing]) -> Failure {
        let (reason, difference) = describe_nearest(&self.exchanges, forms);
        Failure::NotRecorded {
            file: self.path.display().to_string(),
            reason,
            difference,
        }
    }

    fn exchanges_of<'a>(
        &'a self,
        outgoing: &'a Outgoing,
    ) -> impl Iterator<Item = &'a ExchangeRecord> {
        let redaction = outgoing.redaction();
        let url = redaction.clean_record(&outgoing.address.to_string());
        let masked = redaction.clean_record(&outgoing.body);
        self.exchanges.iter().filter(move |exchange| {
            let request = exchange.request.get();
            exchange.url == url && (request == masked || request == outgoing.body)
        })
    }
}

/// Maximum number of exchanges compared.
const MAX_COMPARED: usize = 200;

/// Maximum number of diff lines shown.
const MAX_DIFF_LINES: usize = 60;

/// Returns a one-line description of the difference to the nearest recorded request, and the diff.
/// `forms` are the encodings of the request for each recorded model.
fn describe_nearest(exchanges: &[ExchangeRecord], forms: &[Outgoing]) -> (String, String) {
    let mut best: Option<(f32, String, String)> = None;
    for form in forms {
        let redaction = form.redaction();
        let wanted_text = format_json(&redaction.clean_record(&form.body));
        let wanted: Vec<&str> = wanted_text.lines().collect();
        let url = redaction.clean_record(&form.address.to_string());
        for exchange in exchanges.iter().take(MAX_COMPARED) {
            let recorded_text = format_json(exchange.request.get());
            let recorded: Vec<&str> = recorded_text.lines().collect();
            let operations = compare_lines(&recorded, &wanted);
            let ratio = diff_ratio(&operations, recorded.len(), wanted.len());
            if best.as_ref().is_some_and(|(known, ..)| *known >= ratio) {
                continue;
            }
            let mut lines = Vec::new();
            if url != exchange.url {
                lines.extend([format!("-{}", exchange.url), format!("+{url}")]);
            }
            for group in group_diff_ops(operations, 1) {
                lines.push("@@".to_owned());
                let marked = group
                    .iter()
                    .flat_map(|operation| marked_lines(operation, &recorded, &wanted));
                lines.extend(marked.map(|(mark, line)| format!("{mark}{line}")));
            }
            let is_change = |line: &&String| line.starts_with(['+', '-']);
            let reason = match lines.iter().filter(is_change).count() {
                0 => "the same request with different whitespace".to_owned(),
                changed => format!("the nearest request differs in {changed} lines"),
            };
            lines.truncate(MAX_DIFF_LINES);
            best = Some((ratio, reason, lines.join("\n")));
        }
    }
    match best {
        Some((_, reason, difference)) => (reason, difference),
        None => ("it contains no similar request".to_owned(), String::new()),
    }
}

/// Formats a body with one value per line.
fn format_json(body: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(body);
    value
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| body.to_owned())
}
