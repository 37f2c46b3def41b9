//! The hooks of a session: which an event fires, what they read, and their merged answer.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::answer::HookDecision;
use super::merge::{Merged, merge};
use super::runner::{HookRun, HookRunner};
use super::settings::{HookEvent, Hooks};
use crate::io::CancelToken;
use crate::message::Decision;
use crate::permission::{Mode, Request};
use crate::records::HookReport;

/// The hooks of a session, with their runner.
pub struct SessionHooks {
    /// The hooks.
    pub hooks: Hooks,
    /// Runs them.
    pub runner: HookRunner,
}

/// The context of a run of hooks.
#[derive(Clone, Copy)]
pub struct HookContext<'a> {
    /// The id of the session.
    pub session_id: &'a str,
    /// The working directory.
    pub directory: &'a Path,
    /// The permission mode.
    pub mode: Mode,
    /// Ends the hooks.
    pub cancel: &'a CancelToken,
}

impl SessionHooks {
    /// Runs the hooks that an event fires, and waits for them. `call` is the call of the event, if there is
    /// one: the names of its tool (its own, and as the model called it), and the call as rules see it.
    /// `members` are the members of the event in the input.
    pub fn run(
        &self,
        event: HookEvent,
        call: Option<(&[&str], &Request<'_>)>,
        members: Value,
        context: &HookContext<'_>,
    ) -> Merged {
        let (names, request) = call.unzip();
        let handlers = self.hooks.fired(event, names.unwrap_or_default(), request);
        if handlers.is_empty() {
            return Merged::default();
        }
        let input = self.input(event, members, context);
        let runs = self
            .runner
            .run(&handlers, &input, context.directory, context.cancel);
        let reports = runs.iter().map(|run| report(event, run)).collect();
        Merged {
            reports,
            ..merge(runs.into_iter().map(|run| (run.name, run.answer)))
        }
    }

    fn input(&self, event: HookEvent, members: Value, context: &HookContext<'_>) -> Value {
        let transcript = self.runner.transcript.as_deref();
        let common = json!({
            "session_id": context.session_id,
            "transcript_path": transcript.unwrap_or(Path::new("")),
            "cwd": context.directory,
            "permission_mode": context.mode.name(),
            "hook_event_name": event.name(),
        });
        let mut input = Map::new();
        for part in [common, members] {
            if let Value::Object(part) = part {
                input.extend(part);
            }
        }
        Value::Object(input)
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
