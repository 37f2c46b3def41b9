//! One request to a model for a label, a title, a recap, a verdict or advice.

use std::sync::Arc;

use super::outcome::{Cost, NoText, Reason, Text};
use crate::io::CancelToken;
use crate::model::{Failure, Provider, Reply, Request};

/// A model, and the token that cancels its requests.
#[derive(Clone)]
pub struct Asker {
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// Cancels running and future requests.
    pub stop: CancelToken,
}

impl Asker {
    /// Requests a reply. Returns it with its cost, if that is known.
    pub fn ask(&self, request: &Request) -> (Result<Reply, Failure>, Option<Cost>) {
        let reply = self.provider.complete(request, &self.stop);
        let usage = match &reply {
            Ok(reply) => Some(reply.usage),
            Err(failure) => failure.usage().copied(),
        };
        let cost = usage.map(|usage| Cost {
            model: self.provider.name().to_owned(),
            prompt: request.prompt,
            usage,
        });
        (reply, cost)
    }

    /// Requests a text: what `read` finds in the reply.
    ///
    /// # Errors
    /// The request was cancelled or failed, or `read` rejects the reply.
    pub fn text(
        &self,
        request: &Request,
        read: impl FnOnce(&Reply) -> Result<String, NoText>,
    ) -> Result<Text, NoText> {
        let (reply, cost) = self.ask(request);
        let text = match reply {
            _ if self.stop.is_cancelled() => Err(Reason::Aborted.into()),
            Ok(reply) => read(&reply),
            Err(failure) => Err(failure.into()),
        };
        match text {
            Ok(text) => Ok(Text {
                text,
                model: self.provider.name().to_owned(),
                cost,
            }),
            Err(no_text) => Err(no_text.at_cost(cost)),
        }
    }
}

/// A second model that a run asks for verdicts or advice.
pub struct Consultant {
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// Called with the cost of each request.
    pub spent: Box<dyn Fn(Cost) + Send + Sync>,
}

impl Consultant {
    /// Requests a reply, until `cancel` fires.
    ///
    /// # Errors
    /// The request failed.
    pub fn ask(&self, request: &Request, cancel: &CancelToken) -> Result<Reply, Failure> {
        let asker = Asker {
            provider: Arc::clone(&self.provider),
            stop: cancel.clone(),
        };
        let (reply, cost) = asker.ask(request);
        cost.into_iter().for_each(&self.spent);
        reply
    }
}
