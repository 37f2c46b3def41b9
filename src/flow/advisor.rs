//! `Advisor`: a tool by which a model asks another one what to do next. It does nothing else.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::ask::Consultant;
use super::briefing::Briefing;
use crate::model::{Failure, Request};
use crate::permission::Action;
use crate::side::advice::advice_request;
use crate::side::prompts;
use crate::text::redact;
use crate::tools::{
    Access, Assessment, CallContext, CallStatus, DecisionContext, Input, InvalidInput,
    PreparedCall, Tool, ToolFailure, ToolReply,
};

/// The name of the tool.
pub const ADVISOR: &str = "Advisor";

const DESCRIPTION: &str = "Asks another model what to do next. It sees the conversation so far, and \
    changes nothing. Use it before a large or risky change, when the same attempt has failed twice, \
    or when you are about to say that the task is done and are not sure. What it answers is advice: \
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

/// Gives advice on a conversation.
pub struct Advisor {
    consultant: Arc<Consultant>,
    briefing: Briefing,
}

impl Advisor {
    /// Asks this model about this conversation.
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
        // As it is now: what is known later depends on how fast other calls are.
        let (prompts, conversation) = (self.briefing.prompts(), self.briefing.conversation());
        let question = input.get("question").and_then(Value::as_str).map(redact);
        Ok(Box::new(Question {
            consultant: Arc::clone(&self.consultant),
            request: advice_request(
                &prompts,
                &conversation,
                question.as_deref(),
                prompts::ADVISOR,
            ),
        }))
    }
}

/// A call.
struct Question {
    consultant: Arc<Consultant>,
    request: Request,
}

impl PreparedCall for Question {
    fn assess(&self, _: &DecisionContext) -> Assessment {
        Assessment {
            access: Access::nothing(),
            why: format!("{ADVISOR} only reads"),
            action: Action::Harmless,
        }
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        match self.consultant.ask(&self.request, call.cancel) {
            Ok(reply) => {
                let structured =
                    json!({"model": self.consultant.provider.name(), "advice": reply.text});
                Ok(ToolReply::text(reply.text, structured))
            }
            Err(Failure::Aborted) => Ok(ToolReply {
                status: CallStatus::Cancelled,
                ..ToolReply::text("", Value::Null)
            }),
            Err(failure) => Err(ToolFailure(format!("There is no advice: {failure}"))),
        }
    }
}
