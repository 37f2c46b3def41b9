//! The interface of a model.

use std::sync::Arc;

use super::{Delivery, Failure, Reply, ReplyPart, Request};
use crate::io::CancelToken;

/// A model that can be asked. Calls block until the answer arrives; several threads may call at once.
pub trait Provider: Send + Sync {
    /// The name of the model in records, e.g. `openai:gpt-5-mini`.
    fn name(&self) -> &str;

    /// Asks, and returns the whole reply. Its parts are handed to `sink` as they come; they are not
    /// taken back if it then fails for good. When `stop` fires, the connection is closed at once, and
    /// the failure is [`Failure::Aborted`].
    ///
    /// # Errors
    /// There is no whole, usable reply.
    fn ask(
        &self,
        request: &Request,
        delivery: Delivery,
        stop: &CancelToken,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Reply, Failure>;

    /// Asks, and returns the whole reply, which comes at once.
    ///
    /// # Errors
    /// As [`Provider::ask`].
    fn complete(&self, request: &Request, stop: &CancelToken) -> Result<Reply, Failure> {
        self.ask(request, Delivery::Whole, stop, &mut |_| ())
    }

    /// The names of the models that its server has; empty if there is no server to ask.
    ///
    /// # Errors
    /// The server has no such list.
    fn models(&self, _: &CancelToken) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    /// The exact body that a request is sent with; nothing is sent.
    fn body(&self, request: &Request, delivery: Delivery) -> String;
}

/// What happens while a reply comes.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The reply was cut off and begins again: discard all parts before this event. Only sent for
    /// requests that are retried.
    Restart,
    /// The request failed, and is tried again after the wait.
    Retry {
        /// How often it failed so far.
        failures: u32,
        /// The wait in milliseconds.
        wait_ms: u64,
        /// Why it failed.
        failure: Box<Failure>,
    },
    /// A part of the reply.
    Part(ReplyPart),
}

/// A model that was chosen by name.
#[derive(Clone)]
pub enum Model {
    /// No model: nothing is asked.
    None,
    /// The rules that need no model.
    Builtin,
    /// One that can be asked.
    Provider(Arc<dyn Provider>),
}
