//! A model that is called through an HTTP API.

use std::iter::successors;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::adaptation::adapt;
use super::exchange::{Listener, ResponseReader, check_status};
use super::key::Key;
use super::pace::{Pace, SerialPermit};
use super::recording::Target;
use super::retry::{Retry, RetryPolicy};
use super::transport::{Incoming, Transport};
use super::{Attempts, Delivery, Failure, Provider, Reply, ReplyEvent, Request};
use crate::api::{Dialect, encode};
use crate::client::http::{
    Engine, Header, MessageSender, Outgoing, PlainText, TimeLimits, run_unless_cancelled,
};
use crate::io::{CancelToken, Clock, Ids, Lock, to_millis};

/// Maximum number of times a request is adapted after a refusal.
const MAX_ADAPTATIONS: usize = 3;

/// A model behind an HTTP API.
pub(super) struct Remote {
    pub(super) engine: Engine,
    pub(super) shared: Arc<Shared>,
}

/// State shared by the calls of a model.
pub(super) struct Shared {
    pub(super) name: String,
    pub(super) target: Target,
    pub(super) access: Access,
    /// The dialect, adapted to refusals of the server.
    pub(super) dialect: Mutex<Dialect>,
    pub(super) transport: Transport,
    pub(super) limits: TimeLimits,
    pub(super) policy: RetryPolicy,
    /// Scheduling shared by all requests of a run.
    pub(super) pace: Option<Arc<Pace>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn Ids>,
}

/// Key and headers of requests; empty for replay.
#[derive(Debug, Default)]
pub(super) struct Access {
    pub(super) headers: Vec<Header>,
    pub(super) key: Key,
    /// Hosts that may receive secrets unencrypted.
    pub(super) plain_text: PlainText,
}

impl Provider for Remote {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn ask(
        &self,
        request: &Request,
        delivery: Delivery,
        stop: &CancelToken,
        sink: &mut dyn FnMut(ReplyEvent),
    ) -> Result<Reply, Failure> {
        if stop.is_cancelled() {
            return Err(Failure::Aborted);
        }
        let headers = self.shared.headers()?;
        let (shared, request) = (Arc::clone(&self.shared), request.clone());
        let conversation = |listener: MessageSender<ReplyEvent>| async move {
            // The time limit starts with the first attempt.
            let mut permit = None;
            shared.wait_for_turn(&mut permit).await?;
            let attempts = shared.converse(&request, delivery, headers, &listener, permit);
            shared.with_time_limit(attempts).await
        };
        self.run(conversation, stop, sink)
    }

    fn models(&self, stop: &CancelToken) -> Result<Vec<String>, Failure> {
        let shared = Arc::clone(&self.shared);
        let Transport::Network(client, _) = shared.transport.clone() else {
            return Ok(Vec::new());
        };
        let (path, list, name) = shared.dialect().api.list_of_models();
        let outgoing = Outgoing {
            address: shared.target.base.join(path),
            headers: shared.headers()?,
            body: String::new(),
        };
        shared.check_secrets(&outgoing)?;
        let (address, redaction) = (outgoing.address.clone(), outgoing.redaction());
        let exchange = |_: MessageSender<()>| async move {
            let response = async {
                let incoming = Incoming::from_response(client.send(&outgoing).await?);
                let mut incoming = check_status(incoming, &*shared.clock).await?;
                let mut body = Vec::new();
                incoming.read_body(&mut body, usize::MAX).await?;
                Ok(body)
            };
            shared.with_time_limit(response).await
        };
        let body = self
            .run(exchange, stop, |()| ())
            .map_err(|failure| failure.with_address(&address).into_redacted(&redaction))?;
        // A response that is not JSON lists no models.
        let response: Value = serde_json::from_slice(&body).unwrap_or_default();
        let models = response[list]
            .as_array()
            .ok_or_else(|| Failure::Malformed {
                reason: format!("the response has no list `{list}`"),
            })?;
        let names = models.iter().filter_map(|model| model[name].as_str());
        // Names of Gemini models are paths.
        let bare_name = |name: &str| name.strip_prefix("models/").unwrap_or(name).to_owned();
        Ok(names.map(bare_name).collect())
    }

    fn body(&self, request: &Request, delivery: Delivery) -> String {
        let shared = &self.shared;
        shared
            .encode_request(&shared.dialect(), request, delivery)
            .body
    }
}

impl Remote {
    /// Runs a task until it finishes or `stop` fires.
    fn run<Message, Output, Work>(
        &self,
        task: impl FnOnce(MessageSender<Message>) -> Work,
        stop: &CancelToken,
        sink: impl FnMut(Message),
    ) -> Result<Output, Failure>
    where
        Message: Send + 'static,
        Output: Send + 'static,
        Work: Future<Output = Result<Output, Failure>> + Send + 'static,
    {
        let stop = stop.clone();
        let unless_stopped = |messages| {
            let work = run_unless_cancelled(stop, task(messages));
            async move { work.await.unwrap_or(Err(Failure::Aborted)) }
        };
        // Threads or file descriptors ran out, which is temporary.
        self.engine
            .run(unless_stopped, sink)
            .unwrap_or_else(|error| {
                let message = format!("cannot make requests: {error}");
                Err(Failure::Unreachable { message })
            })
    }
}

impl Shared {
    /// Returns the headers of all requests, including the key.
    fn headers(&self) -> Result<Vec<Header>, Failure> {
        let mut headers = self.access.headers.clone();
        headers.extend(self.access.key.load_header(self.limits.total)?);
        Ok(headers)
    }

    /// Runs work with the time limit of a request.
    async fn with_time_limit<Output>(
        &self,
        work: impl Future<Output = Result<Output, Failure>>,
    ) -> Result<Output, Failure> {
        let limit = self.limits.total;
        let outcome = timeout(limit, work).await;
        outcome.unwrap_or(Err(Failure::TimedOut { limit }))
    }

    /// Returns a request as it would be sent, without the key.
    pub(super) fn encode_request(
        &self,
        dialect: &Dialect,
        request: &Request,
        delivery: Delivery,
    ) -> Outgoing {
        let model = &self.target.model.model;
        Outgoing {
            address: self.target.base.join(&dialect.api.path(model, delivery)),
            headers: Vec::new(),
            body: encode(dialect, model, request, delivery),
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        let dialect = self.dialect.lock_anyway();
        dialect.clone()
    }

    /// Waits until a request may be sent.
    async fn wait_for_turn(&self, permit: &mut Option<SerialPermit>) -> Result<(), Failure> {
        match &self.pace {
            Some(pace) => pace.wait_for_turn(permit).await,
            None => Ok(()),
        }
    }

    /// Makes all attempts. The caller has waited for its turn.
    async fn converse(
        &self,
        request: &Request,
        delivery: Delivery,
        headers: Vec<Header>,
        listener: &MessageSender<ReplyEvent>,
        mut permit: Option<SerialPermit>,
    ) -> Result<Reply, Failure> {
        let start = Instant::now();
        let mut retry = Retry::new(request.attempts, self.policy, self.limits.total);
        let mut adaptations = 0;
        loop {
            let dialect = self.dialect();
            let outgoing = Outgoing {
                headers: headers.clone(),
                ..self.encode_request(&dialect, request, delivery)
            };
            let redaction = outgoing.redaction();
            let mut reader = ResponseReader {
                api: dialect.api,
                delivery,
                ids: Arc::clone(&self.ids),
                clock: &*self.clock,
                listener: Listener::new(listener, redaction.clone()),
            };
            let outcome = self.attempt(&outgoing, &dialect, &mut reader).await;
            let failure = match outcome {
                Ok(reply) => {
                    if let Some(pace) = &self.pace {
                        pace.record_success();
                    }
                    return Ok(reply.into_redacted(&redaction));
                }
                Err(failure) => failure,
            };
            let has_begun = reader.listener.has_begun();
            let is_final = request.attempts == Attempts::UntilABlock && reader.listener.has_block();
            if adaptations < MAX_ADAPTATIONS
                && let Some(adapted) = self.adapt_dialect(dialect, request, delivery, &failure)
            {
                adaptations += 1;
                *self.dialect.lock_anyway() = adapted;
                self.wait_for_turn(&mut permit).await?;
                continue;
            }
            let failure = failure
                .with_address(&outgoing.address)
                .into_redacted(&redaction);
            if let Some(pace) = &self.pace {
                pace.record_failure(&failure, self.policy.max_server_wait);
            }
            match retry.record_failure(&failure, start.elapsed(), self.random_fraction()) {
                Some(wait) if !is_final => {
                    let retried = ReplyEvent::Retry {
                        failures: retry.failures(),
                        wait_ms: to_millis(wait),
                        failure: Box::new(failure),
                    };
                    // The listener may be gone.
                    let _ = listener.send(retried).await;
                    sleep(wait).await;
                }
                _ => return Err(failure),
            }
            self.wait_for_turn(&mut permit).await?;
            if has_begun {
                // The listener may be gone.
                let _ = listener.send(ReplyEvent::Restart).await;
            }
        }
    }

    /// Returns a dialect that changes a refused request so that the server may accept it.
    fn adapt_dialect(
        &self,
        refused: Dialect,
        request: &Request,
        delivery: Delivery,
        failure: &Failure,
    ) -> Option<Dialect> {
        let body = |dialect: &Dialect| self.encode_request(dialect, request, delivery).body;
        let refused_body = body(&refused);
        let adaptations = successors(Some(refused), |dialect| adapt(dialect, failure));
        adaptations
            .take(MAX_ADAPTATIONS + 1)
            .find(|adapted| body(adapted) != refused_body)
    }

    async fn attempt(
        &self,
        outgoing: &Outgoing,
        dialect: &Dialect,
        reader: &mut ResponseReader<'_>,
    ) -> Result<Reply, Failure> {
        self.check_secrets(outgoing)?;
        let incoming = self.transport.send(outgoing, &self.target, dialect).await?;
        reader.read_reply(incoming).await
    }

    /// Refuses to send secrets unencrypted.
    fn check_secrets(&self, outgoing: &Outgoing) -> Result<(), Failure> {
        if !outgoing.has_secrets() {
            return Ok(());
        }
        let result = outgoing
            .address
            .check_secrets_allowed(self.access.plain_text);
        result.map_err(|error| Failure::Unusable {
            message: format!("{error}; `allow_plain_http` of the provider permits it"),
        })
    }

    /// Returns a random number from 0 to 1.
    fn random_fraction(&self) -> f64 {
        let (high, _) = self.ids.uuid().as_u64_pair();
        // The upper 32 bits of the id are random.
        f64::from(u32::try_from(high >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }
}
