//! Interface of models.

use std::sync::Arc;

use super::{Delivery, Failure, Reply, ReplyPart, Request};
use crate::io::CancelToken;

/// A model. Calls block until the reply is complete, and may be made from several threads.
pub trait Provider: Send + Sync {
    /// Returns the name of the model in records, e.g. `openai:gpt-5-mini`.
    fn name(&self) -> &str;

    /// Sends a request and returns the complete reply. Streams its deltas to `sink`; they are not
    /// withdrawn if the request then fails. When `stop` fires, the connection is closed at once and the
    /// failure is [`Failure::Aborted`].
    ///
    /// # Errors
    /// The reply is incomplete or unusable.
    fn ask(
        &self,
        request: &Request,
        delivery: Delivery,
        stop: &CancelToken,
        sink: &mut dyn FnMut(ReplyEvent),
    ) -> Result<Reply, Failure>;

    /// Sends a request and returns the complete reply, without streaming.
    ///
    /// # Errors
    /// As [`Provider::ask`].
    fn complete(&self, request: &Request, stop: &CancelToken) -> Result<Reply, Failure> {
        self.ask(request, Delivery::Whole, stop, &mut |_| ())
    }

    /// Returns the names of the models on the server; empty without a server.
    ///
    /// # Errors
    /// The server cannot list models.
    fn models(&self, _: &CancelToken) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    /// Returns the exact body of a request. Sends nothing.
    fn body(&self, request: &Request, delivery: Delivery) -> String;
}

/// Event during a request.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyEvent {
    /// The reply was cut off and starts again: discard all earlier deltas. Only sent if the request is
    /// retried.
    Restart,
    /// The request failed and is retried after a delay.
    Retry {
        /// Number of failed attempts.
        failures: u32,
        /// Delay, in milliseconds.
        wait_ms: u64,
        /// The failure.
        failure: Box<Failure>,
    },
    /// A delta of the reply.
    Part(ReplyPart),
}

/// A model chosen by name.
#[derive(Clone)]
pub enum Model {
    /// No model: no request is sent.
    None,
    /// The rules that need no model.
    Builtin,
    /// A model of a provider or recording.
    Provider(Arc<dyn Provider>),
}
