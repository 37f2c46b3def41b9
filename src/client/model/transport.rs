//! Sends requests over the network, with or without a recorder, or replays a recording.

use std::sync::Arc;
use std::time::Duration;

use super::recording::{PendingExchange, Recorder, Recording, Target};
use super::{Dialect, Failure};
use crate::client::http::{Client, HttpFailure, Outgoing, Response};
use crate::message::Usage;

/// Transport of requests.
#[derive(Debug, Clone)]
pub(super) enum Transport {
    /// The network, with an optional recorder.
    Network(Arc<Client>, Option<Arc<Recorder>>),
    /// A recording.
    Replayed(Arc<Recording>),
}

impl Transport {
    /// Sends a request.
    ///
    /// # Errors
    /// No response was received.
    pub(super) async fn send(
        &self,
        outgoing: &Outgoing,
        target: &Target,
        dialect: &Dialect,
    ) -> Result<Incoming, Failure> {
        let (client, recorder) = match self {
            Self::Network(client, recorder) => (client, recorder),
            Self::Replayed(recording) => {
                return Ok(Incoming::from_response(recording.answer(outgoing)?));
            }
        };
        let pending = recorder
            .as_ref()
            .map(|recorder| recorder.start_exchange(outgoing, target, dialect));
        match client.send(outgoing).await {
            Ok(response) => {
                let pending = pending
                    .map(|pending| pending.with_response_head(response.status, &response.headers));
                Ok(Incoming { response, pending })
            }
            Err(error) => {
                if let Some(pending) = pending {
                    pending.finish_failed(&error)?;
                }
                Err(error.into())
            }
        }
    }
}

/// A response whose body has not been read yet.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) response: Response,
    pending: Option<PendingExchange>,
}

impl Incoming {
    /// Creates a response that is not recorded.
    pub(super) fn from_response(response: Response) -> Self {
        Self {
            response,
            pending: None,
        }
    }

    /// Returns the next chunk of the body; `None` at its end.
    ///
    /// # Errors
    /// Reading or recording failed.
    pub(super) async fn next_piece(&mut self) -> Result<Option<Vec<u8>>, HttpFailure> {
        let piece = self.response.next_piece().await;
        if let Ok(Some(bytes)) = &piece {
            if let Some(pending) = &mut self.pending {
                pending.push(bytes);
            }
        } else if let Some(pending) = self.pending.take() {
            match &piece {
                Ok(_) => pending.finish()?,
                Err(error) => pending.finish_failed(error)?,
            }
        }
        piece
    }

    /// Reads the body up to its end or `limit` bytes.
    ///
    /// # Errors
    /// Reading failed. `body` contains the bytes read so far.
    pub(super) async fn read_body(
        &mut self,
        body: &mut Vec<u8>,
        limit: usize,
    ) -> Result<(), HttpFailure> {
        while body.len() <= limit
            && let Some(piece) = self.next_piece().await?
        {
            body.extend_from_slice(&piece);
        }
        Ok(())
    }
}

impl From<HttpFailure> for Failure {
    fn from(error: HttpFailure) -> Self {
        match error {
            HttpFailure::Unreachable { message } => Self::Unreachable { message },
            HttpFailure::Broken { .. } => Self::Cut {
                usage: Usage::default(),
            },
            HttpFailure::TimedOut { ms } => Self::TimedOut {
                limit: Duration::from_millis(ms),
            },
            HttpFailure::TooLarge { .. } => Self::Malformed {
                reason: error.to_string(),
            },
            HttpFailure::Unusable { message } => Self::Unusable { message },
        }
    }
}
