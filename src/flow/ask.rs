//! One call of a model for a label, a title, a recap, a verdict or advice.

use std::sync::Arc;

use crate::io::CancelToken;
use crate::message::Usage;
use crate::model::{Failure, PromptId, Provider, Reply, Request};

/// Asks a model until it is stopped.
#[derive(Clone)]
pub struct Asker {
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// Ends running and future calls.
    pub stop: CancelToken,
}

/// What a call cost, successful or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The model.
    pub model: String,
    /// The prompt that it is accounted under.
    pub prompt: PromptId,
    /// The tokens.
    pub usage: Usage,
}

impl Asker {
    /// Requests a reply. Returns it with its usage, if known.
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
}

/// A model that a run asks besides.
pub struct Consultant {
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// Hears what each call cost.
    pub spent: Box<dyn Fn(Cost) + Send + Sync>,
}

impl Consultant {
    /// Requests a reply, until `cancel` fires.
    ///
    /// # Errors
    /// There is none.
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
