//! How requests are sent: over the network, with or without a recording, or not at all.

use std::sync::Arc;
use std::time::Duration;

use super::recording::{Recorder, Recording, Tape};
use super::{Cut, Dialect, Failure, RemoteModel};
use crate::http::{Address, Client, HttpFailure, Outgoing, Response};
use crate::message::Usage;

/// How requests are sent.
#[derive(Debug, Clone)]
pub(super) enum Transport {
    /// Over the network. A recorder writes every exchange down.
    Network(Arc<Client>, Option<Arc<Recorder>>),
    /// Not at all: a recording answers.
    Replayed(Arc<Recording>),
}

/// The model that is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) model: RemoteModel,
    pub(super) base: Address,
}

impl Transport {
    /// Sends a request.
    ///
    /// # Errors
    /// There is no answer.
    pub(super) async fn send(
        &self,
        outgoing: &Outgoing,
        target: &Target,
        dialect: &Dialect,
    ) -> Result<Incoming, Failure> {
        let (client, recorder) = match self {
            Self::Network(client, recorder) => (client, recorder),
            Self::Replayed(recording) => {
                return Ok(Incoming::untaped(recording.answer(outgoing)?));
            }
        };
        let tape = recorder
            .as_ref()
            .map(|recorder| recorder.tape(outgoing, target, dialect));
        match client.send(outgoing).await {
            Ok(response) => {
                let tape = tape.map(|tape| tape.answered(response.status, &response.headers));
                Ok(Incoming { response, tape })
            }
            Err(error) => {
                if let Some(tape) = tape {
                    tape.failed(&error)?;
                }
                Err(error.into())
            }
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
        if let Ok(Some(bytes)) = &piece {
            if let Some(tape) = &mut self.tape {
                tape.push(bytes);
            }
        } else if let Some(tape) = self.tape.take() {
            match &piece {
                Ok(_) => tape.ended()?,
                Err(error) => tape.failed(error)?,
            }
        }
        piece
    }

    /// Reads the body to its end, or until it has more than `limit` bytes.
    ///
    /// # Errors
    /// There is no more. What came before is in `body`.
    pub(super) async fn read(
        &mut self,
        body: &mut Vec<u8>,
        limit: usize,
    ) -> Result<(), HttpFailure> {
        while body.len() <= limit
            && let Some(piece) = self.piece().await?
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
                cut: Cut::Connection,
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
