//! Questions to the program at the other end of the pipes, in the control protocol: a
//! `control_request` goes out with the records, and a `control_response` comes in with the input.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::channels::RunnerEvent;
use super::{Answer, Prompter, Question};
use crate::io::{CancelToken, Ids};
use crate::records::{ControlCancelRecord, ControlRequest, ControlRequestRecord, ControlResponse};

/// How often a question looks whether it still matters.
const LOOK: Duration = Duration::from_millis(50);

/// The questions that are not answered.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenQuestions {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    by_request: BTreeMap<String, Sender<Answer>>,
    /// The input has ended, and nothing will be answered.
    ended: bool,
}

impl OpenQuestions {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An answer came.
    pub(super) fn answered(&self, response: &ControlResponse) {
        let (request_id, answer) = match response {
            ControlResponse::Success {
                request_id,
                response,
            } => (request_id, answer_in(response.as_ref())),
            ControlResponse::Error { request_id, error } => {
                (request_id, Answer::Nobody(error.clone()))
            }
        };
        if let Some(prompter) = self.lock().by_request.remove(request_id) {
            let _ = prompter.send(answer);
        }
    }

    /// No answer will come any more.
    pub(super) fn end(&self) {
        let mut shared = self.lock();
        shared.ended = true;
        shared.by_request.clear();
    }
}

/// What an answer says. One that is not understood allows nothing.
fn answer_in(response: Option<&Value>) -> Answer {
    let answer = response.and_then(Answer::read);
    answer.unwrap_or_else(|| Answer::Nobody("the answer was not understood".to_owned()))
}

/// Asks in the control protocol.
pub(super) struct ControlPrompter {
    pub(super) open: OpenQuestions,
    pub(super) events: Sender<RunnerEvent>,
    pub(super) ids: Arc<dyn Ids>,
}

impl Prompter for ControlPrompter {
    fn name(&self) -> &'static str {
        "stdio"
    }

    fn ask(&self, question: &Question<'_>, cancel: &CancelToken) -> Answer {
        let request_id = self.ids.uuid().to_string();
        let (sender, answer) = channel();
        {
            let mut open = self.open.lock();
            if open.ended {
                return Answer::Nobody("the input ended before an answer".to_owned());
            }
            open.by_request.insert(request_id.clone(), sender);
        }
        let request = ControlRequest::CanUseTool {
            tool_name: question.tool.to_owned(),
            input: Value::Object(question.input.clone()),
            tool_use_id: question.id.clone(),
            decision_reason: question.why.to_owned(),
        };
        let record = ControlRequestRecord {
            request_id: request_id.clone(),
            request,
        };
        let _ = self.events.send(RunnerEvent::Question(Box::new(record)));
        loop {
            match answer.recv_timeout(LOOK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => {
                    return Answer::Nobody("the input ended before an answer".to_owned());
                }
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => {
                    self.open.lock().by_request.remove(&request_id);
                    let record = ControlCancelRecord { request_id };
                    let _ = self.events.send(RunnerEvent::Withdrawn(record));
                    return Answer::Nobody("the question was withdrawn".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
