//! One request to a model for a label, a title, a recap, a verdict or advice.

use std::sync::Arc;

use super::budget::CostLimit;
use super::outcome::{Cost, NoText, Reason, Text};
use crate::client::model::{Failure, PromptId, Provider, Reply, Request, Turn};
use crate::io::CancelToken;
use crate::text::format_count;

/// Maximum number of tokens in the reply to a probe; some models think first.
const PROBE_TOKENS: u32 = 1024;

/// Maximum number of similar names to list.
const MAX_NAMES: usize = 5;

/// Tries a model with a short request. Returns the state of the model in words, and the problem if it did not reply.
/// A model may reply without being listed: some servers have no list, or an incomplete one.
pub fn probe_model(provider: &dyn Provider, name: &str) -> (String, Result<(), String>) {
    let stop = CancelToken::default();
    let mut request = Request::new(PromptId("doctor_probe"), PROBE_TOKENS);
    let question = Turn::user("Answer with the word `ready`.");
    request.turns.push(question);
    let reply = provider.complete(&request, &stop);
    // A server without a list counts as one with an empty list.
    let listed = provider.models(&stop).unwrap_or_default();
    let count = format_count(listed.len() as u64, "model", "models");
    match (reply, listed.is_empty()) {
        (Ok(_), true) => ("responded".to_owned(), Ok(())),
        (Ok(_), false) => (format!("responded; its server lists {count}"), Ok(())),
        (Err(failure), true) => ("configured".to_owned(), Err(failure.to_string())),
        (Err(failure), false) if listed.iter().any(|model| model == name) => {
            (format!("listed among {count}"), Err(failure.to_string()))
        }
        (Err(failure), false) => {
            let names = nearest(name, listed).join(", ");
            let problem = format!("{failure}; its server has {count}, such as {names}");
            ("not listed".to_owned(), Err(problem))
        }
    }
}

/// Returns the names most similar to `name`.
fn nearest(name: &str, mut names: Vec<String>) -> Vec<String> {
    names.sort_by_cached_key(|other| strsim::damerau_levenshtein(name, other));
    names.truncate(MAX_NAMES);
    names
}

/// A model, and the token that cancels its requests.
#[derive(Clone)]
pub struct Asker {
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// Cancels running and future requests.
    pub stop: CancelToken,
    /// The limit on the cost of texts.
    pub limit: Option<Arc<CostLimit>>,
}

impl Asker {
    /// Requests a reply. Returns the reply or the failure, and the cost if the server reports tokens.
    pub fn ask(&self, request: &Request) -> (Result<Reply, Failure>, Option<Cost>) {
        let reply = self.provider.complete(request, &self.stop);
        let cost = Reply::usage_of(&reply).map(|usage| Cost {
            model: self.provider.name().to_owned(),
            prompt: request.prompt,
            usage,
        });
        (reply, cost)
    }

    /// Requests a text, which `read` extracts from the reply, or from as much of it as the token limit allowed.
    ///
    /// # Errors
    /// The request was cancelled or failed, or `read` rejects the reply.
    pub(super) fn text(
        &self,
        request: &Request,
        read: impl FnOnce(&Reply, ReplyExtent) -> Result<String, NoText>,
    ) -> Result<Text, NoText> {
        if self.limit.as_ref().is_some_and(|limit| limit.is_exceeded()) {
            return Err(Reason::CostLimit.into());
        }
        let (reply, cost) = self.ask(request);
        if let Some(limit) = &self.limit {
            let usage = cost.as_ref().map(|cost| &cost.usage);
            limit.add(request, &*self.provider, usage);
        }
        let text = match reply {
            _ if self.stop.is_cancelled() => Err(Reason::Aborted.into()),
            Ok(reply) => read(&reply, ReplyExtent::Whole),
            // A reply that was cut at the token limit may still contain the whole text.
            Err(Failure::OverBudget { partial }) => read(&partial, ReplyExtent::UpToLimit)
                .map_err(|_| Failure::OverBudget { partial }.into()),
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

/// The part of a reply that was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyExtent {
    Whole,
    /// The beginning, which may end within a word.
    UpToLimit,
}

/// A second model that a run asks for judgements or advice.
pub struct Consultant {
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// Called with the cost of each request.
    pub report_cost: Box<dyn Fn(Cost) + Send + Sync>,
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
            limit: None,
        };
        let (reply, cost) = asker.ask(request);
        cost.into_iter().for_each(&self.report_cost);
        reply
    }
}
