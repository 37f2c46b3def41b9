//! Hooks around a call: their input, and the effect of their responses.

use std::time::Duration;

use serde_json::{Value, json};

use super::call::ReadyCall;
use super::call_result::{HookFeedback, strip_error_tags};
use crate::io::{CancelToken, to_millis};
use crate::json::text_or_json;
use crate::message::{SessionId, ToolUseId};
use crate::permission::Mode;
use crate::run::hooks::{HookContext, HookDecision, HookEvent, MergedResponse, SessionHooks};
use crate::run::tools::{CallContext, CallStatus, Content, ToolContext, ToolReply};
use crate::tool_facts::Purpose;

/// The hooks of a run.
pub struct CallHooks {
    hooks: Option<SessionHooks>,
    mode: Mode,
}

/// A call for which hooks run.
#[derive(Clone, Copy)]
pub(super) struct HookedCall<'a> {
    pub(super) ready: &'a ReadyCall,
    pub(super) context: &'a CallContext<'a>,
    pub(super) session: &'a SessionId,
}

impl CallHooks {
    /// Returns the given hooks, with the permission mode for their input.
    pub fn new(hooks: Option<SessionHooks>, mode: Mode) -> Self {
        Self { hooks, mode }
    }

    /// Whether an event has hooks.
    pub(super) fn has(&self, event: HookEvent) -> bool {
        self.hooks
            .as_ref()
            .is_some_and(|session| session.hooks.has(event))
    }

    /// Runs the hooks before a call, or the hooks that may decide instead of the user.
    pub(super) fn run_before_call(
        &self,
        event: HookEvent,
        call: HookedCall<'_>,
        feedback: &mut HookFeedback,
    ) -> MergedResponse {
        let ready = call.ready;
        let mut members = json!({"tool_name": ready.tool.name(), "tool_input": ready.input});
        if event == HookEvent::PreToolUse {
            members["tool_use_id"] = json!(call.context.id);
        }
        self.run(event, call, members, feedback)
    }

    /// Whether hooks run after a call with this reply.
    pub(super) fn has_hooks_after(&self, reply: &ToolReply) -> bool {
        event_after(reply.status).is_some_and(|event| self.has(event))
    }

    /// Runs the hooks after a call. They may change its reply.
    pub(super) fn run_after_call(
        &self,
        call: HookedCall<'_>,
        reply: &mut ToolReply,
        duration: Duration,
        feedback: &mut HookFeedback,
    ) {
        let Some(event) = event_after(reply.status) else {
            return;
        };
        let ready = call.ready;
        let mut members = json!({
            "tool_name": ready.tool.name(), "tool_input": ready.input, "tool_use_id": call.context.id,
            "duration_ms": to_millis(duration),
        });
        match (event, &reply.content) {
            (HookEvent::PostToolUseFailure, Content::Text(text)) => {
                members["error"] = strip_error_tags(text).into();
                members["is_interrupt"] = false.into();
            }
            _ => members["tool_response"] = reply.structured.clone(),
        }
        let merged = self.run(event, call, members, feedback);
        if let Some((HookDecision::Block, reason)) = merged.decision {
            feedback
                .contexts
                .push(format!("{} hook: {reason}", event.name()));
        }
        let (name, mut output) = (ready.tool.name(), merged.updated_output);
        if merged.updated_mcp_output.is_some() && Purpose::from_tool(name) != Purpose::Mcp {
            let problem = "ignored updatedMCPToolOutput: not a tool of an MCP server";
            let messages = &mut feedback.messages;
            messages.push(format!("{problem}: {name}; use `updatedToolOutput`"));
        } else {
            output = output.or(merged.updated_mcp_output);
        }
        if let Some(output) = output {
            let content = ready.tool.content_after(&output, &reply.content);
            reply.content = content.unwrap_or_else(|| Content::Text(text_of(&output)));
            reply.structured = output;
            reply.full = None;
        }
    }

    /// Runs the hooks after a turn with these calls.
    pub(super) fn run_after_turn(
        &self,
        calls: &[Value],
        context: &ToolContext,
        session: &SessionId,
    ) -> HookFeedback {
        let mut feedback = HookFeedback::default();
        let Some(hooks) = &self.hooks else {
            return feedback;
        };
        let (event, cancel) = (HookEvent::PostToolBatch, CancelToken::default());
        let context = self.context(context, session, &cancel);
        let run = hooks.run(event, None, json!({ "tool_calls": calls }), &context);
        let merged = feedback.add(event, run);
        if let Some((HookDecision::Block, reason)) = merged.decision {
            feedback.stop.get_or_insert(reason);
        }
        feedback
    }

    fn run(
        &self,
        event: HookEvent,
        call: HookedCall<'_>,
        members: Value,
        feedback: &mut HookFeedback,
    ) -> MergedResponse {
        let Some(hooks) = &self.hooks else {
            return MergedResponse::default();
        };
        let HookedCall {
            ready,
            context,
            session,
        } = call;
        let names = [ready.tool.name(), &ready.written_name];
        let request = ready.request(&ready.assessment, context.session);
        let context = self.context(context.session, session, context.cancel);
        let run = hooks.run(event, Some((&names, &request)), members, &context);
        feedback.add(event, run)
    }

    fn context<'a>(
        &self,
        context: &'a ToolContext,
        session: &'a SessionId,
        cancel: &'a CancelToken,
    ) -> HookContext<'a> {
        HookContext {
            session_id: &session.0,
            directory: &context.directory,
            mode: self.mode,
            cancel,
        }
    }
}

impl HookFeedback {
    /// Adds the responses of the hooks of one event, and returns them.
    fn add(&mut self, event: HookEvent, merged: MergedResponse) -> MergedResponse {
        self.reports.extend(merged.reports.iter().cloned());
        self.messages.extend(merged.messages.iter().cloned());
        let contexts = merged.additional_context.iter();
        self.contexts
            .extend(contexts.map(|text| format!("{} hook: {text}", event.name())));
        self.stop = self.stop.take().or_else(|| merged.stop.clone());
        merged
    }
}

/// Returns the input that one call contributes to the hooks after its turn.
pub(super) fn turn_hook_input(
    id: &ToolUseId,
    name: &str,
    input: &Value,
    content: &Content,
) -> Value {
    let response = match content {
        Content::Text(text) => text,
        Content::Blocks(_) => "[image]",
    };
    json!({
        "tool_name": name, "tool_input": input, "tool_use_id": id, "tool_response": response,
    })
}

/// Returns the event of a call that ended with this status; `None` for a cancelled one.
fn event_after(status: CallStatus) -> Option<HookEvent> {
    match status {
        CallStatus::Ok => Some(HookEvent::PostToolUse),
        CallStatus::Error | CallStatus::TimedOut => Some(HookEvent::PostToolUseFailure),
        CallStatus::Cancelled => None,
    }
}

/// Returns the text of an output from a hook: a string, the output of a command, of `Read`, `Grep` or
/// `WebFetch`, or JSON.
fn text_of(output: &Value) -> String {
    let text = |path: &str| output.pointer(path).and_then(Value::as_str);
    match (text("/stdout"), text("/stderr")) {
        (Some(stdout), Some(stderr)) if !stderr.is_empty() => format!("{stdout}\n{stderr}"),
        (Some(stdout), _) => stdout.to_owned(),
        _ => {
            let printed = text("/file/content").or(text("/result"));
            let contents = printed.or(text("/mode").and(text("/content")));
            contents.map_or_else(|| text_or_json(output), str::to_owned)
        }
    }
}
