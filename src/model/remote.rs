//! A model behind an API.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::adaptation::adapt;
use super::apis::encode;
use super::exchange::Reading;
use super::key::Key;
use super::listener::Listener;
use super::pace::{Front, Pace};
use super::retry::{Retry, RetryPolicy};
use super::server_error::ServerError;
use super::transport::{Target, Transport};
use super::{
    Api, Attempts, BatchEndpoint, Delivery, Dialect, Event, Failure, Provider, Reply, Request,
};
use crate::http::{Engine, Header, Outgoing, PlainText, Task, TimeLimits};
use crate::io::{Clock, Ids};
use crate::process::CancelToken;

/// How often a request is adapted after a refusal.
const MOST_ADAPTATIONS: usize = 3;

/// How long a batch may take to be sent or fetched.
const LONGEST_TRANSFER: Duration = Duration::from_mins(10);

/// What separates the parts of an uploaded form. No JSON has it at the beginning of a line.
pub(super) const BOUNDARY: &str = "--turnpipe-batch";

/// A model behind an API.
pub(super) struct Remote {
    pub(super) engine: Engine,
    pub(super) shared: Arc<Shared>,
}

/// What the calls of a model share.
pub(super) struct Shared {
    pub(super) name: String,
    pub(super) target: Target,
    pub(super) access: Access,
    /// Adapted to what the server refuses.
    pub(super) dialect: Mutex<Dialect>,
    pub(super) transport: Transport,
    pub(super) takes_batches: bool,
    pub(super) limits: TimeLimits,
    pub(super) policy: RetryPolicy,
    /// What the requests of a run share.
    pub(super) pace: Option<Arc<Pace>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn Ids>,
}

/// What requests carry besides their body; nothing where a recording answers.
#[derive(Debug, Default)]
pub(super) struct Access {
    pub(super) headers: Vec<Header>,
    pub(super) key: Key,
    /// Where secrets may be sent without encryption.
    pub(super) plain_text: PlainText,
}

/// What is sent where no reply of the model is asked for.
pub(super) enum Message<'a> {
    Json(Value),
    Form(&'a str),
    Nothing,
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
        sink: &mut dyn FnMut(Event),
    ) -> Result<Reply, Failure> {
        if stop.is_cancelled() {
            return Err(Failure::Aborted);
        }
        let mut headers = self.shared.access.headers.clone();
        headers.extend(self.shared.access.key.header(self.shared.limits.total)?);
        let (shared, request, stop) = (Arc::clone(&self.shared), request.clone(), stop.clone());
        let limit = shared.limits.total;
        let task = move |listener: Task<Event>| async move {
            let conversation = async {
                // The time limit begins with the first attempt.
                let mut front = None;
                shared.turn(&mut front).await?;
                let attempts = shared.converse(&request, delivery, headers, &listener, front);
                let outcome = timeout(limit, attempts).await;
                outcome.unwrap_or(Err(Failure::TimedOut { limit }))
            };
            tokio::select! {
                biased;
                () = stop.fired() => Err(Failure::Aborted),
                outcome = conversation => outcome,
            }
        };
        // For want of threads or descriptors, which may pass as an overloaded server's trouble does.
        self.engine.run(task, sink).unwrap_or_else(|error| {
            let message = format!("cannot make requests: {error}");
            Err(Failure::Unreachable { message })
        })
    }

    fn batches(&self) -> Option<&dyn BatchEndpoint> {
        let is_sent = matches!(self.shared.transport, Transport::Network(..));
        (self.shared.takes_batches && is_sent).then_some(self)
    }

    fn models(&self, stop: &CancelToken) -> Result<Vec<String>, Failure> {
        let (path, list, name) = self.api().list_of_models();
        let answer = self.call(path, Message::Nothing, stop)?;
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        let models = answer[list].as_array().ok_or_else(|| Failure::Malformed {
            reason: format!("the answer has no list `{list}`"),
        })?;
        let names = models.iter().filter_map(|model| model[name].as_str());
        // Gemini's names are paths.
        let names = names.map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned());
        Ok(names.collect())
    }

    fn body(&self, request: &Request, delivery: Delivery) -> String {
        let shared = &self.shared;
        shared.outgoing(&shared.dialect(), request, delivery).body
    }
}

impl Remote {
    pub(super) fn api(&self) -> Api {
        self.shared.dialect().api
    }

    /// Sends a message, or asks for something, and returns what the provider says.
    pub(super) fn call(
        &self,
        path: &str,
        message: Message<'_>,
        stop: &CancelToken,
    ) -> Result<String, Failure> {
        let shared = Arc::clone(&self.shared);
        let Transport::Network(client, _) = &shared.transport else {
            return Err(Failure::Unusable {
                message: "a recording answers only what was recorded".to_owned(),
            });
        };
        let (client, stop) = (Arc::clone(client), stop.clone());
        let mut headers = shared.access.headers.clone();
        headers.extend(shared.access.key.header(shared.limits.total)?);
        let (body, content_type) = match message {
            Message::Json(value) => (value.to_string(), Some("application/json".to_owned())),
            Message::Form(form) => {
                let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
                (form.to_owned(), Some(content_type))
            }
            Message::Nothing => (String::new(), None),
        };
        let outgoing = Outgoing {
            address: shared.target.base.join(path),
            headers,
            body,
        };
        shared.admit(&outgoing)?;
        let (redaction, address) = (outgoing.redaction(), outgoing.address.clone());
        let work = move |_: Task<()>| async move {
            let transfer = async {
                let sent = match &content_type {
                    Some(content_type) => client.send_as(&outgoing, content_type).await,
                    None => client.fetch(&outgoing).await,
                };
                let mut response = sent?;
                let mut body = Vec::new();
                while let Some(piece) = response.piece().await? {
                    body.extend(piece);
                }
                Ok((response.status, String::from_utf8_lossy(&body).into_owned()))
            };
            tokio::select! {
                biased;
                () = stop.fired() => Err(Failure::Aborted),
                done = timeout(LONGEST_TRANSFER, transfer) => {
                    done.unwrap_or(Err(Failure::TimedOut { limit: LONGEST_TRANSFER }))
                }
            }
        };
        let done = self.engine.run(work, |()| ());
        let (status, body) = done.unwrap_or_else(|error| {
            let message = format!("cannot make requests: {error}");
            Err(Failure::Unreachable { message })
        })?;
        if (200..300).contains(&status) {
            return Ok(body);
        }
        let failure = ServerError::of_body(&body).failure(Some(status), None);
        Err(failure.located(&address).cleaned(&redaction))
    }
}

impl Shared {
    /// A request as it would be sent, without a key.
    pub(super) fn outgoing(
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
        let dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        dialect.clone()
    }

    /// Waits until a request may be sent.
    async fn turn(&self, front: &mut Option<Front>) -> Result<(), Failure> {
        match &self.pace {
            Some(pace) => pace.turn(front).await,
            None => Ok(()),
        }
    }

    /// All attempts. It is this request's turn.
    async fn converse(
        &self,
        request: &Request,
        delivery: Delivery,
        headers: Vec<Header>,
        listener: &Task<Event>,
        mut front: Option<Front>,
    ) -> Result<Reply, Failure> {
        let start = Instant::now();
        let mut retry = Retry::new(request.attempts, self.policy, self.limits.total);
        let mut adaptations = 0;
        loop {
            let dialect = self.dialect();
            let outgoing = Outgoing {
                headers: headers.clone(),
                ..self.outgoing(&dialect, request, delivery)
            };
            let redaction = outgoing.redaction();
            let mut reading = Reading {
                api: dialect.api,
                delivery,
                ids: Arc::clone(&self.ids),
                clock: &*self.clock,
                listener: Listener::new(listener, redaction.clone()),
            };
            let outcome = self.attempt(&outgoing, &dialect, &mut reading).await;
            let failure = match outcome {
                Ok(reply) => {
                    if let Some(pace) = &self.pace {
                        pace.answered();
                    }
                    return Ok(reply.cleaned(&redaction));
                }
                Err(failure) => failure,
            };
            let has_begun = reading.listener.has_begun();
            let is_final =
                request.attempts == Attempts::UntilABlock && reading.listener.has_block();
            if adaptations < MOST_ADAPTATIONS
                && let Some(adapted) = adapt(&dialect, &failure)
            {
                adaptations += 1;
                *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = adapted;
                self.turn(&mut front).await?;
                continue;
            }
            let failure = failure.located(&outgoing.address).cleaned(&redaction);
            if let Some(pace) = &self.pace {
                pace.failed(&failure, self.policy.longest_asked);
            }
            match retry.failed(&failure, start.elapsed(), self.chance()) {
                Some(wait) if !is_final => {
                    let retried = Event::Retry {
                        failures: retry.failures(),
                        wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                        failure: Box::new(failure),
                    };
                    let _ = listener.send(retried).await;
                    sleep(wait).await;
                }
                _ => return Err(failure),
            }
            self.turn(&mut front).await?;
            if has_begun {
                let _ = listener.send(Event::Restart).await;
            }
        }
    }

    async fn attempt(
        &self,
        outgoing: &Outgoing,
        dialect: &Dialect,
        reading: &mut Reading<'_>,
    ) -> Result<Reply, Failure> {
        self.admit(outgoing)?;
        let incoming = self.transport.send(outgoing, &self.target, dialect).await?;
        reading.reply(incoming).await
    }

    /// Refuses to send secrets where others may read them.
    pub(super) fn admit(&self, outgoing: &Outgoing) -> Result<(), Failure> {
        if !outgoing.has_secrets() {
            return Ok(());
        }
        let admitted = outgoing.address.admit_secrets(self.access.plain_text);
        admitted.map_err(|error| Failure::Unusable {
            message: error.to_string(),
        })
    }

    /// A random number from 0 to 1.
    fn chance(&self) -> f64 {
        let (high, _) = self.ids.uuid().as_u64_pair();
        // The upper 32 bits of a random id are random.
        f64::from(u32::try_from(high >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }
}
