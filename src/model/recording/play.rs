//! Replay of a recording.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::exchange_record::{ExchangeRecord, RecordingError};
use super::nearest::nearest;
use crate::http::{Outgoing, Response};
use crate::model::Failure;

/// A recording in memory.
#[derive(Debug)]
pub(in crate::model) struct Recording {
    path: PathBuf,
    exchanges: Vec<ExchangeRecord>,
    /// Number of responses already returned, by request.
    answered: Mutex<HashMap<String, usize>>,
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// The file is not a recording.
    pub(in crate::model) fn read(path: &Path) -> Result<Self, RecordingError> {
        let unusable = |reason| RecordingError {
            path: path.to_owned(),
            reason,
        };
        let text = fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        let mut exchanges = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let exchange = serde_json::from_str(line).map_err(|error| {
                let line = number + 1;
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
            answered: Mutex::default(),
        })
    }

    /// Returns all exchanges; at least one.
    pub(in crate::model) fn exchanges(&self) -> &[ExchangeRecord] {
        &self.exchanges
    }

    /// Whether the recording contains the request.
    pub(super) fn knows(&self, outgoing: &Outgoing) -> bool {
        self.exchanges_of(outgoing).next().is_some()
    }

    /// Returns the response to a request. A request that was recorded several times gets the responses in
    /// order, then always the last one.
    ///
    /// # Errors
    /// The request is not in the recording, or the recorded exchange failed.
    pub(in crate::model) fn answer(&self, outgoing: &Outgoing) -> Result<Response, Failure> {
        let known: Vec<&ExchangeRecord> = self.exchanges_of(outgoing).collect();
        let Some(last) = known.len().checked_sub(1) else {
            return Err(self.not_recorded(std::slice::from_ref(outgoing)));
        };
        let turn = {
            let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
            let key = format!("{}\n{}", outgoing.address, outgoing.body);
            let count = answered.entry(key).or_default();
            let turn = (*count).min(last);
            *count += 1;
            turn
        };
        let exchange = known[turn];
        match (exchange.status, exchange.failure.clone()) {
            (Some(status), ending) => {
                let pieces = vec![exchange.body_bytes()];
                let headers = exchange.headers.clone();
                Ok(Response::recorded(status, headers, pieces, ending))
            }
            (None, Some(failure)) => Err(failure.into()),
            (None, None) => Err(self.not_recorded(std::slice::from_ref(outgoing))),
        }
    }

    /// Returns the failure that shows how a request, in each of its forms, differs from the nearest one.
    pub(super) fn not_recorded(&self, forms: &[Outgoing]) -> Failure {
        let (reason, difference) = nearest(&self.exchanges, forms);
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
