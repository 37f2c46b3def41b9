//! How requests are sent: over the network, with or without a recording, or not at all.

use std::sync::Arc;

use super::Failure;
use super::recording::{Recorder, Recording, Tape};
use crate::dialog::Usage;
use crate::http::{Client, HttpFailure, Outgoing, Response};

/// How requests are sent.
#[derive(Debug, Clone)]
pub(super) enum Transport {
    /// Over the network.
    Network(Arc<Client>),
    /// Over the network, with a recording of every exchange.
    Recorded(Arc<Client>, Arc<Recorder>),
    /// Not at all: a recording answers.
    Replayed(Arc<Recording>),
}

/// The model that is asked, for the recording.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) base: String,
}

impl Transport {
    /// Whether requests carry a key.
    pub(super) fn carries_keys(&self) -> bool {
        match self {
            Self::Network(_) | Self::Recorded(..) => true,
            Self::Replayed(_) => false,
        }
    }

    /// Sends a request.
    ///
    /// # Errors
    /// There is no answer.
    pub(super) async fn send(
        &self,
        outgoing: &Outgoing,
        target: &Target,
        dialect: &super::Dialect,
    ) -> Result<Incoming, Failure> {
        match self {
            Self::Network(client) => {
                let response = client
                    .send(outgoing)
                    .await
                    .map_err(|error| failure(error, Usage::default()))?;
                Ok(Incoming::untaped(response))
            }
            Self::Recorded(client, recorder) => {
                let tape = recorder.tape(outgoing, target, dialect);
                match client.send(outgoing).await {
                    Ok(response) => {
                        let tape = Some(tape.answered(response.status, &response.headers));
                        Ok(Incoming { response, tape })
                    }
                    Err(error) => {
                        tape.failed(&error)
                            .map_err(|error| self::failure(error, Usage::default()))?;
                        Err(failure(error, Usage::default()))
                    }
                }
            }
            Self::Replayed(recording) => Ok(Incoming::untaped(recording.answer(outgoing)?)),
        }
    }
}

/// An answer whose body is still to come.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) response: Response,
    tape: Option<Tape>,
}

impl Incoming {
    /// An answer that is not recorded.
    pub(super) fn untaped(response: Response) -> Self {
        Self {
            response,
            tape: None,
        }
    }

    /// The next piece of the body; `None` at its end.
    ///
    /// # Errors
    /// There is no more, or it cannot be recorded.
    pub(super) async fn piece(&mut self) -> Result<Option<Vec<u8>>, HttpFailure> {
        let piece = self.response.piece().await;
        match &piece {
            Ok(Some(bytes)) => {
                if let Some(tape) = &mut self.tape {
                    tape.push(bytes);
                }
            }
            Ok(None) => {
                if let Some(tape) = self.tape.take() {
                    tape.ended()?;
                }
            }
            Err(error) => {
                if let Some(tape) = self.tape.take() {
                    tape.failed(error)?;
                }
            }
        }
        piece
    }
}

/// The failure of a reply whose transport failed.
pub(super) fn failure(error: HttpFailure, usage: Usage) -> Failure {
    match error {
        HttpFailure::Unreachable(message) => Failure::Unreachable { message },
        HttpFailure::Broken(_) => Failure::Cut {
            cut: super::Cut::Connection,
            usage,
        },
        HttpFailure::TimedOut(limit) => Failure::TimedOut { limit },
        HttpFailure::TooLarge(_) => Failure::Malformed {
            reason: error.to_string(),
        },
        HttpFailure::Unusable(message) => Failure::Unusable { message },
    }
}
