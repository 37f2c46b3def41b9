//! Batches: many requests that a provider answers within a day, at half the price.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::apis::{Extent, read};
use super::draft::{Delivered, Draft};
use super::remote::{BOUNDARY, Message, Remote};
use super::server_error::ServerError;
use super::{Api, Delivery, Event, Failure, Provider, Refused, Reply, Request};
use crate::process::CancelToken;

/// What `OpenAI` calls the requests of a batch.
const ENDPOINT: &str = "/v1/chat/completions";

/// Where many requests are sent together. Calls block.
pub trait BatchEndpoint {
    /// The most requests, and the most bytes of their bodies, in a batch.
    fn limits(&self) -> (usize, usize);

    /// Sends the bodies of requests, each with a name of its own, and returns the id of the batch. It is
    /// sent once: what fails may be sent again by whoever knows that it did not arrive.
    ///
    /// # Errors
    /// It was not taken.
    fn submit(&self, requests: &[(String, String)], stop: &CancelToken) -> Result<String, Failure>;

    /// How far a batch is.
    ///
    /// # Errors
    /// The provider does not say.
    fn state(&self, id: &str, stop: &CancelToken) -> Result<BatchState, Failure>;
}

/// How far a batch is.
#[derive(Debug)]
pub enum BatchState {
    /// Not all requests are answered.
    Open,
    /// It is over. A request that is missing here has no answer.
    Ended(HashMap<String, Result<Reply, Failure>>),
}

/// A model that has answered already, or failed: it is asked once, and nothing is sent.
pub struct Answered {
    name: String,
    answer: Mutex<Option<Result<Reply, Failure>>>,
}

impl Answered {
    /// What the model of this name said.
    pub fn new(name: String, answer: Result<Reply, Failure>) -> Self {
        let answer = Mutex::new(Some(answer));
        Self { name, answer }
    }
}

impl Provider for Answered {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(
        &self,
        _: &Request,
        _: Delivery,
        _: &CancelToken,
        _: &mut dyn FnMut(Event),
    ) -> Result<Reply, Failure> {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer.take().unwrap_or(Err(Failure::Aborted))
    }

    fn body(&self, _: &Request, _: Delivery) -> String {
        String::new()
    }
}

/// An answer to one request, as `OpenAI` and `Anthropic` write them.
#[derive(Deserialize)]
struct Line<'a> {
    custom_id: String,
    #[serde(borrow)]
    response: Option<Response<'a>>,
    #[serde(borrow)]
    result: Option<Outcome<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Response<'a> {
    status_code: u16,
    #[serde(borrow)]
    body: &'a RawValue,
}

#[derive(Deserialize)]
struct Outcome<'a> {
    r#type: String,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl BatchEndpoint for Remote {
    fn limits(&self) -> (usize, usize) {
        match self.api() {
            Api::AnthropicMessages => (100_000, 250_000_000),
            _ => (50_000, 190_000_000),
        }
    }

    fn submit(&self, requests: &[(String, String)], stop: &CancelToken) -> Result<String, Failure> {
        let object = |body: &str| serde_json::from_str::<Value>(body).unwrap_or_default();
        if self.api() == Api::AnthropicMessages {
            let requests = requests
                .iter()
                .map(|(name, body)| json!({"custom_id": name, "params": object(body)}));
            let batch = json!({"requests": requests.collect::<Vec<_>>()});
            let taken = self.call("v1/messages/batches", Message::Json(batch), stop)?;
            return member(&taken, "id");
        }
        let lines = requests.iter().map(|(name, body)| {
            let line = json!({
                "custom_id": name, "method": "POST", "url": ENDPOINT, "body": object(body),
            });
            format!("{line}\n")
        });
        let form = form(&lines.collect::<String>());
        let file = self.call("files", Message::Form(&form), stop)?;
        let batch = json!({
            "input_file_id": member(&file, "id")?,
            "endpoint": ENDPOINT,
            "completion_window": "24h",
        });
        member(&self.call("batches", Message::Json(batch), stop)?, "id")
    }

    fn state(&self, id: &str, stop: &CancelToken) -> Result<BatchState, Failure> {
        let get = |path: &str| self.call(path, Message::Nothing, stop);
        let mut answers = HashMap::new();
        if self.api() == Api::AnthropicMessages {
            let path = format!("v1/messages/batches/{id}");
            if member(&get(&path)?, "processing_status")? != "ended" {
                return Ok(BatchState::Open);
            }
            self.add(&get(&format!("{path}/results"))?, &mut answers);
            return Ok(BatchState::Ended(answers));
        }
        let batch = get(&format!("batches/{id}"))?;
        let status = member(&batch, "status")?;
        if !matches!(&*status, "completed" | "failed" | "expired" | "cancelled") {
            return Ok(BatchState::Open);
        }
        for file in ["output_file_id", "error_file_id"] {
            if let Ok(file) = member(&batch, file) {
                self.add(&get(&format!("files/{file}/content"))?, &mut answers);
            }
        }
        if answers.is_empty() {
            return Err(ServerError::of_body(&batch).failure(None, None));
        }
        Ok(BatchState::Ended(answers))
    }
}

impl Remote {
    /// Reads a file of answers, one a line, in any order.
    fn add(&self, lines: &str, answers: &mut HashMap<String, Result<Reply, Failure>>) {
        for line in lines.lines() {
            if let Ok(line) = serde_json::from_str::<Line<'_>>(line) {
                let answer = self.answer(&line);
                answers.insert(line.custom_id, answer);
            }
        }
    }

    fn answer(&self, line: &Line<'_>) -> Result<Reply, Failure> {
        let refused = |error: &RawValue| ServerError::of_body(error.get()).failure(None, None);
        let whole = |body: &RawValue| {
            let mut draft = Draft::new(Arc::clone(&self.shared.ids));
            read(self.api(), body.get(), Extent::Whole, &mut draft)?;
            draft.settle(Delivered::AsOneValue)
        };
        match (&line.response, &line.result, line.error) {
            (Some(answered), ..) if (200..300).contains(&answered.status_code) => {
                whole(answered.body)
            }
            (Some(answered), ..) => {
                Err(ServerError::of_body(answered.body.get())
                    .failure(Some(answered.status_code), None))
            }
            (None, Some(outcome), _) => match (outcome.message, outcome.error) {
                (Some(message), _) => whole(message),
                (None, Some(error)) => Err(refused(error)),
                (None, None) => Err(unanswered(&outcome.r#type)),
            },
            (None, None, Some(error)) => Err(refused(error)),
            (None, None, None) => Err(unanswered("without an answer")),
        }
    }
}

/// A request that the provider gave up.
fn unanswered(state: &str) -> Failure {
    Failure::Rejected {
        status: None,
        message: format!("the batch left the request {state}"),
        what: Refused::Request,
    }
}

/// A member of an object that has to be a text.
fn member(json: &str, name: &str) -> Result<String, Failure> {
    let object: Value = serde_json::from_str(json).unwrap_or_default();
    match &object[name] {
        Value::String(text) => Ok(text.clone()),
        _ => Err(Failure::Malformed {
            reason: format!("the answer has no `{name}`"),
        }),
    }
}

/// The upload of a file of requests.
fn form(lines: &str) -> String {
    let part = |disposition: &str, content: &str| {
        format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; {disposition}\r\n\r\n{content}\r\n"
        )
    };
    let file = "name=\"file\"; filename=\"requests.jsonl\"\r\ncontent-type: application/jsonl";
    format!(
        "{}{}--{BOUNDARY}--\r\n",
        part("name=\"purpose\"", "batch"),
        part(file, lines)
    )
}
