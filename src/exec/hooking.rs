//! Hooks around a call: which run, with what input, and what becomes of what they say.

use std::time::Duration;

use serde_json::{Value, json};

use super::Lifecycle;
use super::call::{Call, CallStage};
use super::completed::{Completed, untagged};
use super::lifecycle::{Prepared, Ready};
use crate::hooks::{
    Handler, HookDecision, HookEvent, HookInput, HookRun, HookRunner, Hooks, Merged, merge,
};
use crate::io::CancelToken;
use crate::message::{Decision, SessionId};
use crate::permission::Mode;
use crate::records::HookReport;
use crate::tools::{CallContext, CallStatus, Content, ToolContext, ToolReply};

/// The hooks of a run, and what runs them.
pub struct RunHooks {
    /// Which there are.
    pub hooks: Hooks,
    /// What runs them.
    pub runner: HookRunner,
}

/// What was heard from hooks about a call so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard {
    /// The hooks that ran, for the record.
    pub(super) reports: Vec<HookReport>,
    /// What people should know.
    pub(super) messages: Vec<String>,
    /// What the model should know.
    contexts: Vec<String>,
    /// That the session should go on no further.
    stop: Option<String>,
}

impl Lifecycle {
    /// Whether there are hooks for an event.
    pub(super) fn hears(&self, event: HookEvent) -> bool {
        self.hooks.as_ref().is_some_and(|run| run.hooks.any(event))
    }

    /// Hooks before a call.
    pub(super) fn before(
        &self,
        ready: &Ready,
        call: &CallContext<'_>,
        session: &SessionId,
        heard: &mut Heard,
    ) -> Merged {
        let members = json!({
            "tool_name": ready.tool.name(), "tool_input": ready.input, "tool_use_id": call.id,
        });
        self.listen(HookEvent::PreToolUse, ready, members, call, session, heard)
    }

    /// Hooks where somebody would be asked about a call.
    pub(super) fn request(
        &self,
        ready: &Ready,
        call: &CallContext<'_>,
        session: &SessionId,
        heard: &mut Heard,
    ) -> Merged {
        let members = json!({"tool_name": ready.tool.name(), "tool_input": ready.input});
        self.listen(
            HookEvent::PermissionRequest,
            ready,
            members,
            call,
            session,
            heard,
        )
    }

    /// Whether hooks look at a call that ended like this.
    pub(super) fn looks_at(&self, reply: &ToolReply) -> bool {
        after(reply.status).is_some_and(|event| self.hears(event))
    }

    /// Hooks after a call; they may change its reply.
    pub(super) fn after(
        &self,
        ready: &Ready,
        reply: &mut ToolReply,
        took: Duration,
        call: &CallContext<'_>,
        session: &SessionId,
        heard: &mut Heard,
    ) {
        let Some(event) = after(reply.status) else {
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
        let merged = self.listen(event, ready, members, call, session, heard);
        if let Some((HookDecision::Block, reason)) = merged.decision {
            heard
                .contexts
                .push(format!("{} hook: {reason}", event.name()));
        }
        if let Some(output) = merged.updated_output {
            reply.content = Content::Text(text_of(&output));
            reply.structured = output;
            reply.full = None;
        }
    }

    /// Hooks after a turn with these calls.
    pub(super) fn after_batch(
        &self,
        calls: &[Value],
        context: &ToolContext,
        session: &SessionId,
    ) -> Heard {
        let mut heard = Heard::default();
        let Some(run) = &self.hooks else {
            return heard;
        };
        let occasion = Occasion {
            event: HookEvent::PostToolBatch,
            mode: self.mode,
            context,
            session,
            cancel: &CancelToken::default(),
        };
        let handlers = run.hooks.fired(occasion.event, &[], None);
        let members = json!({ "tool_calls": calls });
        let merged = run.listen(&handlers, members, &occasion, &mut heard);
        if let Some((HookDecision::Block, reason)) = merged.decision {
            heard.stop.get_or_insert(reason);
        }
        heard
    }

    /// Runs the hooks that a call fires.
    fn listen(
        &self,
        event: HookEvent,
        ready: &Ready,
        members: Value,
        call: &CallContext<'_>,
        session: &SessionId,
        heard: &mut Heard,
    ) -> Merged {
        let Some(run) = &self.hooks else {
            return Merged::default();
        };
        let names = [ready.tool.name(), &ready.called];
        let request = ready.request(&ready.assessment, call.session);
        let handlers = run.hooks.fired(event, &names, Some(&request));
        let occasion = Occasion {
            event,
            mode: self.mode,
            context: call.session,
            session,
            cancel: call.cancel,
        };
        run.listen(&handlers, members, &occasion, heard)
    }
}

/// When, where and for whom hooks run.
struct Occasion<'a> {
    event: HookEvent,
    mode: Mode,
    context: &'a ToolContext,
    session: &'a SessionId,
    cancel: &'a CancelToken,
}

impl RunHooks {
    fn listen(
        &self,
        handlers: &[&Handler],
        members: Value,
        occasion: &Occasion<'_>,
        heard: &mut Heard,
    ) -> Merged {
        if handlers.is_empty() {
            return Merged::default();
        }
        let event = occasion.event;
        let directory = &occasion.context.directory;
        let input = HookInput {
            session_id: &occasion.session.0,
            transcript: self.runner.transcript.as_deref(),
            directory,
            mode: occasion.mode.name(),
        };
        let input = input.of(event, members);
        let runs = self
            .runner
            .run(handlers, &input, directory, occasion.cancel);
        heard
            .reports
            .extend(runs.iter().map(|run| report(event, run)));
        let answers = runs
            .iter()
            .map(|run| (run.name.as_str(), run.answer.clone()));
        let merged = merge(answers);
        heard.messages.extend(merged.messages.iter().cloned());
        let contexts = merged.additional_context.iter();
        let contexts = contexts.map(|text| format!("{} hook: {text}", event.name()));
        heard.contexts.extend(contexts);
        heard.stop = heard.stop.take().or_else(|| merged.stop.clone());
        merged
    }
}

fn report(event: HookEvent, run: &HookRun) -> HookReport {
    let decision = run.answer.decision.as_ref();
    HookReport {
        event: event.name().to_owned(),
        name: run.name.clone(),
        duration_ms: u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX),
        exit_code: run.exit_code,
        decision: decision.map(|(decision, _)| match decision {
            HookDecision::Allow => Decision::Allow,
            HookDecision::Ask | HookDecision::Defer => Decision::Ask,
            HookDecision::Block => Decision::Deny,
        }),
    }
}

/// What the hooks after a turn read about a call with its result.
pub(super) fn member(call: &Call, completed: &Completed) -> Value {
    let input = match &call.stage {
        CallStage::Waiting(Prepared::Ready(ready))
        | CallStage::Checking(ready)
        | CallStage::Running(ready) => Value::Object(ready.input.clone()),
        CallStage::Waiting(Prepared::Unresolved(_) | Prepared::Refused(_))
        | CallStage::Resolving
        | CallStage::Done(_) => Value::Null,
    };
    let response = match &completed.content {
        Content::Text(text) => text,
        Content::Blocks(_) => "[image]",
    };
    json!({
        "tool_name": call.name, "tool_input": input, "tool_use_id": call.id,
        "tool_response": response,
    })
}

/// The event of a call that ended like this; none for one that was ended.
fn after(status: CallStatus) -> Option<HookEvent> {
    match status {
        CallStatus::Ok => Some(HookEvent::PostToolUse),
        CallStatus::Error | CallStatus::TimedOut => Some(HookEvent::PostToolUseFailure),
        CallStatus::Cancelled => None,
    }
}

/// The text of an output that a hook gave: a text, what a command printed, or JSON.
fn text_of(output: &Value) -> String {
    let printed = |member: &str| output.get(member).and_then(Value::as_str);
    match (output, printed("stdout"), printed("stderr")) {
        (Value::String(text), ..) => text.clone(),
        (_, Some(stdout), Some(stderr)) if !stderr.is_empty() => format!("{stdout}\n{stderr}"),
        (_, Some(stdout), _) => stdout.to_owned(),
        _ => output.to_string(),
    }
}

impl Completed {
    /// Takes up what hooks said.
    pub(super) fn hear(&mut self, heard: Heard) {
        self.hooks.extend(heard.reports);
        if self.stop.is_none() {
            self.stop = heard.stop;
        }
        if let Content::Text(text) = &mut self.content {
            for context in heard.contexts {
                text.push_str("\n\n<system-reminder>\n");
                text.push_str(&context);
                text.push_str("\n</system-reminder>");
            }
        }
        self.note = self
            .note
            .take()
            .into_iter()
            .chain(heard.messages)
            .reduce(|all, next| all + "\n" + &next);
    }
}
