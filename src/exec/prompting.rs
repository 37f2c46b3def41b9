//! Questions about calls that no rule decides, put to somebody who can answer.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::io::CancelToken;
use crate::message::ToolUseId;
use crate::text::{fitted, terminal_safe_line, truncate_utf16};
use crate::tools::{CallContext, CallStatus, Content, Input, Registry, ToolContext};

/// How much of a reason is used, in UTF-16 units.
const LONGEST_REASON: usize = 10_000;

/// How much of an answer that is none is shown, in columns.
const SHOWN: usize = 200;

/// Somebody who decides about calls: a person, or a program in their place. Asked from several threads
/// at once.
pub trait Prompter: Send + Sync {
    /// How they are asked, for records: `tty`, `stdio`, or the name of a tool.
    fn name(&self) -> &str;

    /// Waits for the answer, until `cancel` fires.
    fn ask(&self, question: &Question<'_>, cancel: &CancelToken) -> Answer;
}

/// What is asked.
pub struct Question<'a> {
    /// The call.
    pub id: &'a ToolUseId,
    /// Its tool.
    pub tool: &'a str,
    /// Its arguments.
    pub input: &'a Input,
    /// Why somebody has to say, e.g. the rule.
    pub why: &'a str,
    /// A rule that would allow the call without a question.
    pub remedy: Option<&'a str>,
}

/// What was answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The call may run, with these arguments if they are given.
    Allow(Option<Input>),
    /// The call may run, and so may others that this rule matches.
    AllowAlso(String),
    /// It must not; the text, if any, is for the model.
    Deny(Option<String>),
    /// Nobody could answer; the text says why.
    Nobody(String),
}

/// A decision in the form that programs give it.
#[derive(Debug, Deserialize)]
#[serde(tag = "behavior", rename_all = "snake_case")]
enum Reply {
    Allow {
        #[serde(rename = "updatedInput")]
        updated_input: Option<Input>,
    },
    Deny {
        message: Option<String>,
    },
}

impl Answer {
    /// What a program answered; none if it is not understood.
    pub(super) fn read(reply: &Value) -> Option<Self> {
        Some(match Reply::deserialize(reply).ok()? {
            Reply::Allow { updated_input } => Self::Allow(updated_input),
            Reply::Deny { message } => {
                let message = message.as_deref();
                let message = message.map(|text| truncate_utf16(text, LONGEST_REASON).to_owned());
                Self::Deny(message)
            }
        })
    }
}

/// Has a tool decide.
pub struct ToolPrompter {
    /// Who has it.
    pub registry: Arc<Registry>,
    /// Its name.
    pub tool: String,
    /// The session that it is called in.
    pub session: ToolContext,
}

impl ToolPrompter {
    /// What the tool says; the error is why it decides nothing.
    fn decision(&self, question: &Question<'_>, cancel: &CancelToken) -> Result<Answer, String> {
        let fields = [
            ("tool_name", json!(question.tool)),
            ("input", json!(question.input)),
            ("tool_use_id", json!(question.id)),
        ];
        let input = fields.map(|(name, value)| (name.to_owned(), value));
        let resolved = self.registry.resolve(&self.tool, Input::from_iter(input));
        let resolved = resolved.map_err(|error| error.to_string())?;
        let call = resolved.tool.prepare(&resolved.input);
        let call = call.map_err(|error| error.to_string())?;
        let reply = call.run(&CallContext {
            id: question.id,
            session: &self.session,
            cancel,
        });
        let reply = reply.map_err(|failure| failure.to_string())?;
        let Content::Text(text) = reply.content else {
            return Err("its answer is no text".to_owned());
        };
        let said = serde_json::from_str(&text).ok();
        let answer = said.and_then(|said: Value| Answer::read(&said));
        answer
            .filter(|_| reply.status == CallStatus::Ok)
            .ok_or(text)
    }
}

impl Prompter for ToolPrompter {
    fn name(&self) -> &str {
        &self.tool
    }

    fn ask(&self, question: &Question<'_>, cancel: &CancelToken) -> Answer {
        self.decision(question, cancel).unwrap_or_else(|problem| {
            let problem = fitted(&terminal_safe_line(&problem), SHOWN);
            Answer::Deny(Some(format!("{} gave no decision: {problem}", self.tool)))
        })
    }
}
