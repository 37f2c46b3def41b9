//! One call of a model for a service.

use std::sync::Arc;

use crate::dialog::Usage;
use crate::model::{Failure, PromptId, Provider, Reply, Request, Stop};

/// Asks a model until somebody says stop.
#[derive(Clone)]
pub struct Asker {
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// Ends calls that run, and those to come.
    pub stop: Stop,
}

/// What a call cost, whatever came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The model.
    pub model: String,
    /// The prompt under which it counts.
    pub prompt: PromptId,
    /// The tokens.
    pub usage: Usage,
}

/// An answer, or why there is none.
#[derive(Debug)]
pub struct Asked {
    /// What came.
    pub reply: Result<Reply, Failure>,
    /// What it cost, as far as it is known.
    pub cost: Option<Cost>,
}

impl Asker {
    /// Asks.
    pub fn ask(&self, request: &Request) -> Asked {
        let reply = self.provider.complete(request, &self.stop);
        let usage = match &reply {
            Ok(reply) => Some(reply.usage),
            Err(failure) => failure.usage().copied(),
        };
        let cost = usage.map(|usage| Cost {
            model: self.provider.name().to_owned(),
            prompt: request.prompt.clone(),
            usage,
        });
        Asked { reply, cost }
    }
}
