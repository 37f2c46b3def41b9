//! Questions about calls that no rule decides. A model decides, with a limit on its denials, or the user,
//! through a tool or the control protocol: a `control_request` among the output records, and a
//! `control_response` in the input.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::io::{CancelToken, Ids, Lock};
use crate::message::ToolUseId;
use crate::records::{ControlCancelRecord, ControlRequest, ControlRequestRecord, ControlResponse};
use crate::run::tools::{CallContext, CallStatus, Content, Input, Registry, ToolContext};
use crate::text::{fit_columns, terminal_safe_line, truncate_utf16};

/// Maximum length of a reason passed to the model, in UTF-16 units.
const MAX_REASON: usize = 10_000;

/// Maximum length of an unusable response in a message, in columns.
const MAX_PROBLEM: usize = 200;

/// Interval at which a waiting question checks whether its call was cancelled.
pub(super) const CANCEL_INTERVAL: Duration = Duration::from_millis(50);

/// Decides about calls in place of the rules: the user, or a program. Called from several threads at
/// once.
pub trait Prompter: Send + Sync {
    /// Its name in records: `tty`, `stdio`, or the name of a tool.
    fn name(&self) -> &str;

    /// Waits for the response, until `cancel` fires.
    fn ask(&self, question: &Question<'_>, cancel: &CancelToken) -> PromptResponse;
}

/// A question about a call.
pub struct Question<'a> {
    /// The call.
    pub id: &'a ToolUseId,
    /// The name of its tool.
    pub tool: &'a str,
    /// Its arguments.
    pub input: &'a Input,
    /// The reason why the call needs approval, such as the rule that asks.
    pub reason: &'a str,
    /// A rule that would allow the call.
    pub rule: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PromptResponse {
    /// The call may run, with these arguments if there are any.
    Allow(Option<Input>),
    /// The call may run, and so may other calls that this rule matches.
    AllowAlways(String),
    /// The call must not run. The text is for the model.
    Deny(Option<String>),
    /// No response, for this reason.
    None(String),
}

/// A decision in the form of the control protocol.
#[derive(Debug, Deserialize)]
#[serde(tag = "behavior", rename_all = "snake_case")]
enum ControlDecision {
    Allow {
        #[serde(rename = "updatedInput")]
        updated_input: Option<Input>,
    },
    Deny {
        message: Option<String>,
    },
}

impl PromptResponse {
    /// Parses the response of a program.
    fn parse(reply: &Value) -> Option<Self> {
        Some(match ControlDecision::deserialize(reply).ok()? {
            ControlDecision::Allow { updated_input } => Self::Allow(updated_input),
            ControlDecision::Deny { message } => {
                let message = message.as_deref();
                Self::Deny(message.map(|text| truncate_utf16(text, MAX_REASON).to_owned()))
            }
        })
    }
}

/// A prompter that calls a tool.
pub struct ToolPrompter {
    pub registry: Arc<Registry>,
    /// The name of the tool.
    pub tool: String,
    /// The context of the tool's calls.
    pub session: ToolContext,
}

impl ToolPrompter {
    /// Calls the tool. The error explains the missing decision.
    fn request_decision(
        &self,
        question: &Question<'_>,
        cancel: &CancelToken,
    ) -> Result<PromptResponse, String> {
        let fields = [
            ("tool_name", json!(question.tool)),
            ("input", json!(question.input)),
            ("tool_use_id", json!(question.id)),
        ];
        let input = fields.map(|(name, value)| (name.to_owned(), value));
        let resolved = self
            .registry
            .resolve(&self.tool, Input::from_iter(input))
            .map_err(|error| error.to_string())?;
        let call = resolved
            .tool
            .prepare(&resolved.input)
            .map_err(|error| error.to_string())?;
        let context = CallContext {
            id: question.id,
            session: &self.session,
            cancel,
            progress: &|_| (),
        };
        let reply = call.run(&context).map_err(|failure| failure.to_string())?;
        let Content::Text(text) = reply.content else {
            return Err("its result is not text".to_owned());
        };
        let value: Option<Value> = serde_json::from_str(&text).ok();
        let answer = value.and_then(|value| PromptResponse::parse(&value));
        answer
            .filter(|_| reply.status == CallStatus::Ok)
            .ok_or(text)
    }
}

impl Prompter for ToolPrompter {
    fn name(&self) -> &str {
        &self.tool
    }

    fn ask(&self, question: &Question<'_>, cancel: &CancelToken) -> PromptResponse {
        self.request_decision(question, cancel)
            .unwrap_or_else(|problem| {
                let problem = fit_columns(&terminal_safe_line(&problem), MAX_PROBLEM);
                PromptResponse::Deny(Some(format!("{} gave no decision: {problem}", self.tool)))
            })
    }
}

/// A record of the control protocol to be written.
#[derive(Debug)]
pub(super) enum ControlRecord {
    Question(Box<ControlRequestRecord>),
    /// Withdraws a question.
    Cancel(ControlCancelRecord),
}

/// The questions of the control protocol without a response.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenQuestions {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    by_request: BTreeMap<String, Sender<PromptResponse>>,
    /// Whether the input has ended, so that no response can follow.
    has_ended: bool,
}

impl OpenQuestions {
    /// Delivers a response to its question.
    pub(super) fn answer(&self, response: &ControlResponse) {
        let (request_id, answer) = match response {
            ControlResponse::Success {
                request_id,
                response,
            } => {
                let answer = response.as_ref().and_then(PromptResponse::parse);
                let unusable =
                    || PromptResponse::None("the response was not understood".to_owned());
                (request_id, answer.unwrap_or_else(unusable))
            }
            ControlResponse::Error { request_id, error } => {
                (request_id, PromptResponse::None(error.clone()))
            }
        };
        if let Some(prompter) = self.shared.lock_anyway().by_request.remove(request_id) {
            // The call may have been cancelled.
            let _ = prompter.send(answer);
        }
    }

    /// Ends all questions without a response.
    pub(super) fn end(&self) {
        let mut shared = self.shared.lock_anyway();
        shared.has_ended = true;
        shared.by_request.clear();
    }
}

/// A prompter that asks in the control protocol.
pub(super) struct ControlPrompter<Write> {
    pub(super) open: OpenQuestions,
    /// Writes a record.
    pub(super) write: Write,
    pub(super) ids: Arc<dyn Ids>,
}

impl<Write: Fn(ControlRecord) + Send + Sync> Prompter for ControlPrompter<Write> {
    fn name(&self) -> &'static str {
        "stdio"
    }

    fn ask(&self, question: &Question<'_>, cancel: &CancelToken) -> PromptResponse {
        let input_ended = || PromptResponse::None("the input ended before a response".to_owned());
        let request_id = self.ids.uuid().to_string();
        let (sender, answer) = channel();
        {
            let mut open = self.open.shared.lock_anyway();
            if open.has_ended {
                return input_ended();
            }
            open.by_request.insert(request_id.clone(), sender);
        }
        let request = ControlRequest::CanUseTool {
            tool_name: question.tool.to_owned(),
            input: Value::Object(question.input.clone()),
            tool_use_id: question.id.clone(),
            decision_reason: question.reason.to_owned(),
        };
        let record = ControlRequestRecord {
            request_id: request_id.clone(),
            request,
        };
        (self.write)(ControlRecord::Question(Box::new(record)));
        loop {
            match answer.recv_timeout(CANCEL_INTERVAL) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => return input_ended(),
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => {
                    self.open
                        .shared
                        .lock_anyway()
                        .by_request
                        .remove(&request_id);
                    let record = ControlCancelRecord { request_id };
                    (self.write)(ControlRecord::Cancel(record));
                    return PromptResponse::None("the question was withdrawn".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Number of consecutive denials after which the user is asked instead, until a call is allowed.
const MAX_CONSECUTIVE_DENIALS: u32 = 3;
/// Number of denials in a run after which the user is asked instead for the rest of the run.
const MAX_DENIALS: u32 = 20;
/// Maximum number of earlier calls that a judge sees.
const MAX_EARLIER_CALLS: usize = 20;
/// Maximum length of an earlier call's input that a judge sees, in bytes.
const MAX_EARLIER_INPUT: usize = 500;

/// Judges whether a call is harmless enough to run without asking the user. Called from several threads
/// at once.
pub trait Judge: Send + Sync {
    /// Judges a call. Returns early when `cancel` fires.
    fn judge(&self, case: &JudgedCall<'_>, cancel: &CancelToken) -> Judgement;
}

/// A call to be judged.
pub struct JudgedCall<'a> {
    /// The name of its tool.
    pub tool: &'a str,
    /// Its arguments.
    pub input: &'a Input,
    /// Its working directory.
    pub directory: &'a Path,
    /// The calls of this run before it, in order.
    pub earlier: &'a [String],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// The call may run.
    Allow,
    /// The call must not run, for this reason. An unparsable reply counts as a denial.
    Deny(String),
    /// The judge failed, for this reason.
    None(String),
}

/// A judge, with the denials and the calls of the run so far. After too many denials the user decides
/// instead: a wrong judge would otherwise block the run forever.
pub struct GuardedJudge {
    pub(super) judge: Box<dyn Judge>,
    denials: Mutex<Denials>,
    earlier: Mutex<VecDeque<String>>,
}

#[derive(Debug, Default)]
struct Denials {
    consecutive: u32,
    total: u32,
}

impl GuardedJudge {
    /// Wraps a judge.
    pub fn new(judge: Box<dyn Judge>) -> Self {
        Self {
            judge,
            denials: Mutex::default(),
            earlier: Mutex::default(),
        }
    }

    /// Whether the judge is below the limits on denials.
    pub(super) fn is_trusted(&self) -> bool {
        let denials = self.denials.lock_anyway();
        denials.consecutive < MAX_CONSECUTIVE_DENIALS && denials.total < MAX_DENIALS
    }

    /// Counts a judgement.
    pub(super) fn count(&self, judgement: &Judgement) {
        let mut denials = self.denials.lock_anyway();
        match judgement {
            Judgement::Allow => denials.consecutive = 0,
            Judgement::Deny(_) => {
                denials.consecutive += 1;
                denials.total += 1;
            }
            Judgement::None(_) => {}
        }
    }

    /// Adds the next call of the run. Returns the latest calls before it.
    pub(super) fn add_call(&self, name: &str, input: &str) -> Vec<String> {
        let mut earlier = self.earlier.lock_anyway();
        let previous = earlier.iter().cloned().collect();
        let excerpt = &input[..input.floor_char_boundary(MAX_EARLIER_INPUT)];
        earlier.push_back(format!("{name} {excerpt}"));
        if earlier.len() > MAX_EARLIER_CALLS {
            earlier.pop_front();
        }
        previous
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoJudge;

    impl Judge for NoJudge {
        fn judge(&self, _: &JudgedCall<'_>, _: &CancelToken) -> Judgement {
            Judgement::None("no judge".to_owned())
        }
    }

    fn is_trusted_after(judgements: &str) -> bool {
        let judge = GuardedJudge::new(Box::new(NoJudge));
        for judgement in judgements.chars() {
            judge.count(&match judgement {
                'a' => Judgement::Allow,
                '-' => Judgement::None(String::new()),
                _ => Judgement::Deny(String::new()),
            });
        }
        judge.is_trusted()
    }

    #[test]
    fn a_judge_sees_the_calls_before_the_one_it_judges() {
        let judge = GuardedJudge::new(Box::new(NoJudge));
        assert!(judge.add_call("Bash", "1").is_empty());
        assert_eq!(judge.add_call("Bash", &"é".repeat(300)), ["Bash 1"]);
        let shown = format!("Bash {}", "é".repeat(250));
        assert_eq!(judge.add_call("Read", "3")[1], shown);
        for _ in 0..50 {
            assert!(judge.add_call("Read", "3").len() <= MAX_EARLIER_CALLS);
        }
    }

    #[test]
    fn a_judge_is_not_trusted_after_too_many_denials() {
        let is_trusted = is_trusted_after;
        assert!(is_trusted("") && is_trusted("dd") && is_trusted("ddadd-"));
        assert!(!is_trusted("ddd") && !is_trusted("dd-d"));
        assert!(is_trusted(&"dda".repeat(9)));
        assert!(!is_trusted(&"dda".repeat(10)), "twenty denials in all");
    }
}
