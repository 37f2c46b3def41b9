//! `Advisor`: a tool with which the main model asks another model what to do next.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::ask::Consultant;
use super::briefing::Briefing;
use crate::client::model::{Attempts, Failure, PromptId, Request, Thinking, Turn};
use crate::run::tools::{
    Assessment, CallContext, CallStatus, DecisionContext, Input, InvalidInput, PreparedCall, Tool,
    ToolFailure, ToolReply,
};
use crate::text::redact;

/// The token budget of advice, thinking included.
const MAX_TOKENS: u32 = 8192;

/// The system prompt.
const PROMPT: &str = include_str!("../../prompts/advisor.md");

/// The name of the tool.
pub const ADVISOR: &str = "Advisor";

const DESCRIPTION: &str = "Asks another model what to do next. It sees the conversation so far, and \
    changes nothing. Use it before a large or risky change, when the same attempt has failed twice, \
    or when you are about to say that the task is done and are not sure. Its reply is advice: \
    weigh it against what you have seen.";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "question": {"type": "string", "description": "What you want advice on; without it, what to do next"},
        },
        "additionalProperties": false,
    })
});

/// The tool: a model that gives advice on a conversation.
pub struct Advisor {
    consultant: Arc<Consultant>,
    briefing: Briefing,
}

impl Advisor {
    /// Creates the tool.
    pub fn new(consultant: Consultant, briefing: Briefing) -> Self {
        Self {
            consultant: Arc::new(consultant),
            briefing,
        }
    }
}

impl Tool for Advisor {
    fn name(&self) -> &'static str {
        ADVISOR
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn prepare(&self, input: &Input) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        // Taken now, since later contents depend on the speed of other calls.
        let (prompts, conversation) = (self.briefing.prompts(), self.briefing.conversation());
        let question = input.get("question").and_then(Value::as_str).map(redact);
        Ok(Box::new(AdvisorCall {
            consultant: Arc::clone(&self.consultant),
            request: request(&prompts, &conversation, question.as_deref()),
        }))
    }
}

/// A call of the tool.
struct AdvisorCall {
    consultant: Arc<Consultant>,
    request: Request,
}

impl PreparedCall for AdvisorCall {
    fn assess(&self, _: &DecisionContext) -> Assessment {
        Assessment::harmless(ADVISOR)
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        match self.consultant.ask(&self.request, call.cancel) {
            Ok(reply) => {
                let structured =
                    json!({"model": self.consultant.provider.name(), "advice": reply.text});
                Ok(ToolReply::text(reply.text, structured))
            }
            Err(Failure::Aborted) => Ok(ToolReply::with_status(
                CallStatus::Cancelled,
                "",
                Value::Null,
            )),
            Err(failure) => Err(ToolFailure(format!("No advice: {failure}"))),
        }
    }
}

/// Builds the request for advice.
fn request(prompts: &[String], conversation: &str, question: Option<&str>) -> Request {
    let mut text = prompt_list(prompts);
    text += "The conversation so far, or its last part:\n";
    text += conversation;
    text += "\n\nThe model asks: ";
    text += question.unwrap_or("What should I do next?");
    Request {
        system: PROMPT.to_owned(),
        turns: vec![Turn::user(text)],
        thinking: Thinking::Unspecified,
        attempts: Attempts::ByPolicy,
        ..Request::new(PromptId::ADVISOR, MAX_TOKENS)
    }
}

/// Returns the user's prompts as the first part of a question; empty without prompts.
pub(super) fn prompt_list(prompts: &[String]) -> String {
    if prompts.is_empty() {
        return String::new();
    }
    let prompts = prompts.iter().map(|prompt| format!("- {prompt}\n"));
    format!(
        "What the user typed, the first and the last prompts:\n{}\n",
        prompts.collect::<String>()
    )
}
