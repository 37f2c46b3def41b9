//! The records of a reply.

use super::limits::Limit;
use crate::client::model::{Failure, RefusalScope, Reply};
use crate::io::Moment;
use crate::message::{Block, Message, Origin, Role, SessionId, Usage};
use crate::records::{
    ApiRetryRecord, DialogRecord, HookStoppedRecord, HookStoppedSubtype, MessageContext,
    RetrySubtype, StreamEventRecord, TurnResult, TurnResultRecord, VersionOnly, to_record,
};
use serde_json::{Value, json};

/// Builds the records of a reply of one model in one session.
pub struct RecordBuilder {
    /// The model, without its provider.
    pub model: String,
    pub session_id: SessionId,
    /// Ids and times.
    pub moment: Moment,
    /// The id of the reply.
    message_id: String,
}

/// The end of a reply.
#[derive(Debug)]
pub enum Ending<'a> {
    /// The reply is complete.
    Replied(&'a Reply),
    /// The request failed, or the reply is incomplete.
    Failed(&'a Failure),
    /// No request was sent: a limit was reached.
    Limited(Limit),
    /// The reply does not match the schema, for this reason.
    SchemaMismatch(&'a str),
}

impl RecordBuilder {
    /// Creates a builder for one reply.
    pub fn new(model: String, session_id: SessionId, moment: Moment) -> Self {
        let mut builder = Self {
            model,
            session_id,
            moment,
            message_id: String::new(),
        };
        builder.start_reply();
        builder
    }

    /// Starts the next reply.
    pub fn start_reply(&mut self) {
        self.message_id = format!("msg_{}", self.moment.ids.uuid().simple());
    }

    pub fn prompt_record(&self, text: String) -> DialogRecord {
        self.text_record(Origin::Prompt, text)
    }

    /// Returns the record of a message to the model that the user did not write.
    pub fn feedback_record(&self, text: String) -> DialogRecord {
        self.text_record(Origin::Injected, text)
    }

    fn text_record(&self, origin: Origin, text: String) -> DialogRecord {
        self.message_record(user_message(origin, text))
    }

    /// Returns the record of a hook that ends the conversation.
    pub fn hook_stop_record(&self, reason: String) -> HookStoppedRecord {
        HookStoppedRecord {
            subtype: HookStoppedSubtype::Only,
            tool_use_id: None,
            content: reason,
            uuid: self.moment.uuid(),
            session_id: self.session_id.clone(),
        }
    }

    /// Returns the record of a block of the reply. `usage` is set on the last block only.
    pub fn block_record(&self, block: Block, usage: Option<Usage>) -> DialogRecord {
        let mut message = Message::new(Role::Assistant, Origin::Reply);
        message.id = Some(self.message_id.clone());
        message.model = Some(self.model.clone());
        message.usage = usage;
        message.blocks.push(block);
        self.message_record(message)
    }

    fn message_record(&self, message: Message) -> DialogRecord {
        let context = MessageContext {
            session_id: Some(self.session_id.clone()),
            ..MessageContext::default()
        };
        let message = Message {
            uuid: Some(self.moment.uuid()),
            time: Some(self.moment.now()),
            ..message
        };
        to_record(message, &context)
    }

    /// Returns the record of an event of the stream.
    pub fn event_record(&self, event: Value) -> StreamEventRecord {
        StreamEventRecord {
            event,
            parent_tool_use_id: None,
            uuid: self.moment.uuid(),
            session_id: self.session_id.clone(),
        }
    }

    /// Returns the event that starts the reply.
    pub fn begin_event(&self) -> StreamEventRecord {
        let message = json!({
            "id": self.message_id, "type": "message", "role": "assistant", "model": self.model,
            "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": Usage::default(),
        });
        self.event_record(json!({"type": "message_start", "message": message}))
    }

    /// Returns the events that end the reply.
    pub fn end_events(&self, stop_reason: Option<&str>, usage: &Usage) -> [StreamEventRecord; 2] {
        let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
        let event = json!({"type": "message_delta", "delta": delta, "usage": usage});
        [
            self.event_record(event),
            self.event_record(json!({"type": "message_stop"})),
        ]
    }

    /// Returns the record of a request that is retried.
    pub fn retry_record(&self, failures: u32, wait_ms: u64, failure: &Failure) -> ApiRetryRecord {
        ApiRetryRecord {
            subtype: RetrySubtype::Only,
            attempt: failures,
            retry_delay_ms: wait_ms,
            error_status: failure.status(),
            error: failure.to_string(),
            uuid: self.moment.uuid(),
            session_id: self.session_id.clone(),
        }
    }

    /// Returns the record of the end. `text` is the text of the reply. The caller sets duration and cost.
    pub fn result_record(
        &self,
        ending: &Ending<'_>,
        text: Option<String>,
        usage: Usage,
    ) -> TurnResultRecord {
        TurnResultRecord {
            subtype: ending.subtype(),
            is_error: !matches!(ending, Ending::Replied(_)),
            duration_ms: 0,
            num_turns: 1,
            result: text,
            structured_output: None,
            stop_reason: ending.stop_reason(),
            terminal_reason: ending.terminal_reason(),
            total_cost_usd: None,
            usage,
            errors: ending.error().into_iter().collect(),
            uuid: self.moment.uuid(),
            session_id: self.session_id.clone(),
            turnpipe: VersionOnly::default(),
        }
    }
}

/// Returns a message to the model.
pub(super) fn user_message(origin: Origin, text: String) -> Message {
    Message {
        blocks: vec![Block::Text(text)],
        ..Message::new(Role::User, origin)
    }
}

impl<'a> Ending<'a> {
    /// Returns the end of this reply.
    pub fn new(reply: &'a Result<Reply, Failure>) -> Self {
        match reply {
            Ok(reply) => Self::Replied(reply),
            Err(failure) => Self::Failed(failure),
        }
    }

    fn subtype(&self) -> TurnResult {
        match self {
            Self::Replied(_) => TurnResult::Success,
            Self::SchemaMismatch(_) => TurnResult::ErrorMaxStructuredOutputRetries,
            Self::Failed(_) => TurnResult::ErrorDuringExecution,
            Self::Limited(Limit::Turns(_)) => TurnResult::ErrorMaxTurns,
            Self::Limited(Limit::Dollars(_) | Limit::Tokens(_)) => TurnResult::ErrorMaxBudgetUsd,
        }
    }

    /// Returns the stop reason, in Anthropic's terms.
    pub fn stop_reason(&self) -> Option<&'static str> {
        match self {
            Self::Replied(reply) if !reply.calls.is_empty() => Some("tool_use"),
            Self::Replied(_) | Self::SchemaMismatch(_) => Some("end_turn"),
            Self::Failed(Failure::OverBudget { .. }) => Some("max_tokens"),
            Self::Failed(Failure::Declined { .. }) => Some("refusal"),
            Self::Failed(_) | Self::Limited(_) => None,
        }
    }

    fn terminal_reason(&self) -> &'static str {
        match self {
            Self::Replied(_) => "completed",
            Self::SchemaMismatch(_) => "structured_output_retry_exhausted",
            Self::Limited(Limit::Turns(_)) => "max_turns",
            Self::Limited(Limit::Dollars(_) | Limit::Tokens(_)) => "budget_exhausted",
            Self::Failed(failure) => match failure {
                Failure::Aborted => "aborted_streaming",
                Failure::Rejected {
                    scope: RefusalScope::Length,
                    ..
                } => "prompt_too_long",
                Failure::Cut { .. }
                | Failure::OverBudget { .. }
                | Failure::Empty { .. }
                | Failure::Declined { .. }
                | Failure::Malformed { .. } => "model_error",
                Failure::Rejected { .. }
                | Failure::Overloaded { .. }
                | Failure::Unreachable { .. }
                | Failure::TimedOut { .. }
                | Failure::NotAsked { .. }
                | Failure::NotRecorded { .. }
                | Failure::Unusable { .. } => "api_error",
            },
        }
    }

    fn error(&self) -> Option<String> {
        match self {
            Self::Replied(_) => None,
            Self::Failed(failure) => Some(failure.to_string()),
            Self::Limited(limit) => Some(limit.to_string()),
            Self::SchemaMismatch(problems) => Some((*problems).to_owned()),
        }
    }
}
