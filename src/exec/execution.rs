//! Running a permitted call on a worker thread: the tool, hooks, limits, the file for a long result.

use std::time::Duration;

use serde_json::{Value, json};

use super::call::ReadyCall;
use super::lifecycle::Lifecycle;
use super::result::{CallResult, HookFeedback, Phases, error_output, untagged};
use crate::hooks::{HookContext, HookDecision, HookEvent, Merged, SessionHooks};
use crate::io::CancelToken;
use crate::message::{SessionId, ToolUseId};
use crate::permission::Mode;
use crate::records::Outcome;
use crate::results::{empty_result, persist, stale_read_hint, tool_use_error};
use crate::state::SessionKey;
use crate::text::utf16_length;
use crate::tools::{CallContext, CallStatus, Content, FullText, ToolContext, ToolReply};

/// Longest text that is sent in full because it cannot be saved, in bytes.
const MAX_UNSAVED: u64 = 4 * 1024 * 1024;

impl Lifecycle {
    /// Runs a call to its end on the calling thread. Calls `tool_done` when hooks follow the tool.
    pub(super) fn execute(
        &self,
        ready: &ReadyCall,
        context: &CallContext<'_>,
        session: &SessionKey,
        tool_done: impl FnOnce(),
    ) -> CallResult {
        let clock = &context.session.clock;
        let arrived = clock.elapsed();
        let permission = match &ready.permission {
            Some(permission) => permission.clone(),
            None => match self.permission_by_rules(ready, context) {
                Ok(permission) => permission,
                Err(denied) => return *denied,
            },
        };
        // Only a call that may write can make read files stale.
        let read_log = &context.session.read_log;
        let may_write = !ready.assessment.access.is_read_only();
        let stale_before = may_write.then(|| read_log.stale_files());
        let begun = clock.elapsed();
        let mut reply = ready.call.run(context).unwrap_or_else(|failure| {
            let text = failure.to_string();
            ToolReply {
                status: CallStatus::Error,
                ..ToolReply::text(tool_use_error(&text), error_output(&text))
            }
        });
        let ended = clock.elapsed();
        let mut feedback = ready.feedback.clone();
        if self.hooks.follow(&reply) {
            tool_done();
            let took = ended.saturating_sub(begun);
            self.hooks
                .after_call(ready, &mut reply, took, context, &session.id, &mut feedback);
        }
        let mut result = self.limited(ready, context.id, reply, session);
        result.add_feedback(feedback);
        result.permission = Some(permission);
        result.confinement = context.session.spawners.confinement_report();
        if let Some(before) = stale_before
            && let Some(hint) = stale_read_hint(&before, &read_log.stale_files())
        {
            add_stale_hint(&mut result, hint);
        }
        result.phases = Phases {
            check: begun.saturating_sub(arrived),
            run: ended.saturating_sub(begun),
            map: clock.elapsed().saturating_sub(ended),
        };
        result
    }

    /// The result of a reply. A text over the tool's limit is saved to a file, and replaced with an
    /// excerpt.
    fn limited(
        &self,
        ready: &ReadyCall,
        id: &ToolUseId,
        reply: ToolReply,
        session: &SessionKey,
    ) -> CallResult {
        let outcome = match reply.status {
            CallStatus::Ok => Outcome::Ok,
            CallStatus::Error => Outcome::Error,
            CallStatus::TimedOut => Outcome::Timeout,
            CallStatus::Cancelled => Outcome::Interrupted,
        };
        let limit = self.limits.of(ready.tool.name(), ready.tool.result_limit());
        let mut result = CallResult {
            changes: reply.changes,
            cancels_siblings: reply.cancels_siblings,
            replaceable: limit.is_some(),
            ..CallResult::new(outcome, reply.content, reply.structured)
        };
        let Content::Text(text) = &result.content else {
            return result;
        };
        if text.trim().is_empty() && outcome != Outcome::Interrupted {
            result.content = Content::Text(empty_result(ready.tool.name()));
            return result;
        }
        let is_excerpt = reply.full.is_some() && limit.is_some();
        if !is_excerpt && limit.is_none_or(|limit| utf16_length(text) <= limit) {
            return result;
        }
        let written = self.state_root.session(session).and_then(|session| {
            persist(&session, id, |sink| match &reply.full {
                Some(full) => full.write_to(sink).map(drop),
                None => sink.write_all(text.as_bytes()),
            })
        });
        match written {
            Ok(persisted) => {
                result.content = Content::Text(persisted.replacement(text));
                result.persisted = Some(persisted);
            }
            Err(error) => {
                if let Some(whole) = reply.full.as_ref().and_then(whole_text) {
                    result.content = Content::Text(whole);
                }
                result.note = Some(format!(
                    "cannot save the result of {id}, sending it in full: {error}"
                ));
            }
        }
        result
    }
}

/// The whole of a text that could not be saved; `None` if it is longer than [`MAX_UNSAVED`].
fn whole_text(full: &FullText) -> Option<String> {
    if full.bytes() > MAX_UNSAVED {
        return None;
    }
    let mut whole = Vec::new();
    full.write_to(&mut whole).ok()?;
    String::from_utf8(whole).ok()
}

fn add_stale_hint(result: &mut CallResult, hint: String) {
    if let Content::Text(text) = &mut result.content {
        text.push_str("\n\n");
        text.push_str(&hint);
    }
    if let Value::Object(structured) = &mut result.structured {
        structured.insert("staleReadFileStateHint".to_owned(), Value::String(hint));
    }
}

/// The hooks of a run.
pub struct CallHooks {
    hooks: Option<SessionHooks>,
    mode: Mode,
}

impl CallHooks {
    /// The given hooks, with the permission mode for their input.
    pub fn new(hooks: Option<SessionHooks>, mode: Mode) -> Self {
        Self { hooks, mode }
    }

    /// Whether an event has hooks.
    pub(super) fn has(&self, event: HookEvent) -> bool {
        self.hooks
            .as_ref()
            .is_some_and(|session| session.hooks.has(event))
    }

    /// Runs the hooks before a call, or those that may answer instead of the user.
    pub(super) fn before_call(
        &self,
        event: HookEvent,
        ready: &ReadyCall,
        call: &CallContext<'_>,
        session: &SessionId,
        feedback: &mut HookFeedback,
    ) -> Merged {
        let mut members = json!({"tool_name": ready.tool.name(), "tool_input": ready.input});
        if event == HookEvent::PreToolUse {
            members["tool_use_id"] = json!(call.id);
        }
        self.run(event, ready, members, call, session, feedback)
    }

    /// Whether hooks run after a call with this reply.
    pub(super) fn follow(&self, reply: &ToolReply) -> bool {
        event_after(reply.status).is_some_and(|event| self.has(event))
    }

    /// Runs the hooks after a call. They may change its reply.
    pub(super) fn after_call(
        &self,
        ready: &ReadyCall,
        reply: &mut ToolReply,
        took: Duration,
        call: &CallContext<'_>,
        session: &SessionId,
        feedback: &mut HookFeedback,
    ) {
        let Some(event) = event_after(reply.status) else {
            return;
        };
        let mut members = json!({
            "tool_name": ready.tool.name(), "tool_input": ready.input, "tool_use_id": call.id,
            "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
        match (event, &reply.content) {
            (HookEvent::PostToolUseFailure, Content::Text(text)) => {
                members["error"] = untagged(text).into();
                members["is_interrupt"] = false.into();
            }
            _ => members["tool_response"] = reply.structured.clone(),
        }
        let merged = self.run(event, ready, members, call, session, feedback);
        if let Some((HookDecision::Block, reason)) = merged.decision {
            feedback
                .contexts
                .push(format!("{} hook: {reason}", event.name()));
        }
        if let Some(output) = merged.updated_output {
            reply.content = Content::Text(text_of(&output));
            reply.structured = output;
            reply.full = None;
        }
    }

    /// Runs the hooks after a turn with these calls.
    pub(super) fn after_turn(
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
        ready: &ReadyCall,
        members: Value,
        call: &CallContext<'_>,
        session: &SessionId,
        feedback: &mut HookFeedback,
    ) -> Merged {
        let Some(hooks) = &self.hooks else {
            return Merged::default();
        };
        let names = [ready.tool.name(), &ready.called];
        let request = ready.request(&ready.assessment, call.session);
        let context = self.context(call.session, session, call.cancel);
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
    /// Adds the answers of the hooks of one event, and returns them.
    fn add(&mut self, event: HookEvent, merged: Merged) -> Merged {
        self.reports.extend(merged.reports.iter().cloned());
        self.messages.extend(merged.messages.iter().cloned());
        let contexts = merged.additional_context.iter();
        let contexts = contexts.map(|text| format!("{} hook: {text}", event.name()));
        self.contexts.extend(contexts);
        self.stop = self.stop.take().or_else(|| merged.stop.clone());
        merged
    }
}

/// The input that one call contributes to the hooks after its turn.
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

/// The event of a call that ended with this status; `None` for a cancelled one.
fn event_after(status: CallStatus) -> Option<HookEvent> {
    match status {
        CallStatus::Ok => Some(HookEvent::PostToolUse),
        CallStatus::Error | CallStatus::TimedOut => Some(HookEvent::PostToolUseFailure),
        CallStatus::Cancelled => None,
    }
}

/// The text of an output that a hook gave: a string, the output of a command, or JSON.
fn text_of(output: &Value) -> String {
    let printed = |member: &str| output.get(member).and_then(Value::as_str);
    match (output, printed("stdout"), printed("stderr")) {
        (Value::String(text), ..) => text.clone(),
        (_, Some(stdout), Some(stderr)) if !stderr.is_empty() => format!("{stdout}\n{stderr}"),
        (_, Some(stdout), _) => stdout.to_owned(),
        _ => output.to_string(),
    }
}
