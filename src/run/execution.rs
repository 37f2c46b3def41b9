//! Runs a permitted call on a worker thread: tool, hooks, limits, and the file for a long result.

use std::path::PathBuf;

use serde_json::Value;

use super::call::ReadyCall;
use super::call_hooks::HookedCall;
use super::call_result::{CallResult, Phases, error_output};
use super::lifecycle::Lifecycle;
use crate::message::ToolUseId;
use crate::records::Outcome;
use crate::run::results::{empty_result, persist, stale_read_hint, tool_use_error};
use crate::run::tools::{CallContext, CallStatus, Content, FullText, ToolReply};
use crate::state::SessionKey;
use crate::text::utf16_length;

/// Maximum length of a text that is sent in full because it cannot be saved, in bytes.
const MAX_UNSAVED: u64 = 4 * 1024 * 1024;

/// The hint for a call that failed in a sandbox.
const SANDBOX_HINT: &str = "The sandbox may be the cause: files of deny rules cannot be opened or changed, and programs \
    that need privileges do not work. The user can turn it off with `--sandbox off`.";

/// The hint for a call that failed in a workspace.
const WORKSPACE_HINT: &str = "The workspace may be the cause: files outside of the working directories and of the \
    temporary directory cannot be changed, files of deny rules and keys cannot be read, and programs that need \
    privileges or the network do not work. The user can allow more with `--add-dir`, `--network on` and `--sandbox \
    files`.";

impl Lifecycle {
    /// Runs a call to its end on the calling thread. Calls `on_tool_done` when hooks follow the tool.
    pub(super) fn execute(
        &self,
        ready: &ReadyCall,
        context: &CallContext<'_>,
        session: &SessionKey,
        on_tool_done: impl FnOnce(),
    ) -> CallResult {
        let clock = &context.session.clock;
        let arrival = clock.elapsed();
        let permission = match &ready.permission {
            Some(permission) => permission.clone(),
            None => match self.permission_by_rules(ready, context) {
                Ok(permission) => permission,
                Err(denied) => return *denied,
            },
        };
        // Only a call that may write can change files that were read.
        let read_log = &context.session.read_log;
        let may_write = !ready.assessment.access.is_read_only();
        let stale_before = may_write.then(|| read_log.list_stale_files());
        let run_start = clock.elapsed();
        let mut reply = ready.call.run(context).unwrap_or_else(|failure| {
            let text = failure.to_string();
            let output = error_output(&text);
            ToolReply::with_status(CallStatus::Error, tool_use_error(&text), output)
        });
        let run_end = clock.elapsed();
        let mut feedback = ready.feedback.clone();
        if self.hooks.has_hooks_after(&reply) {
            on_tool_done();
            let duration = run_end.saturating_sub(run_start);
            let call = HookedCall {
                ready,
                context,
                session: &session.id,
            };
            self.hooks
                .run_after_call(call, &mut reply, duration, &mut feedback);
        }
        let mut result = self.limit_reply(ready, context.id, reply, session);
        result.add_feedback(feedback);
        result.permission = Some(permission);
        result.confinement = context.session.spawners.confinement_report();
        if let Some(report) = &result.confinement
            && let Some(enforced) = report.file_rules
            && report.looks_denied
        {
            let hint = match enforced.workspace {
                Some(_) => WORKSPACE_HINT,
                None => SANDBOX_HINT,
            };
            let protected_files = match (&result.content, &context.session.sandbox) {
                (Content::Text(text), Some(sandbox)) => sandbox.protected_files_in(text),
                _ => Vec::new(),
            };
            add_text(
                &mut result,
                &format!("{hint}{}", protected_sentence(&protected_files)),
            );
        }
        if let Some(before) = stale_before
            && let Some(hint) = stale_read_hint(&before, &read_log.list_stale_files())
        {
            add_stale_hint(&mut result, hint);
        }
        result.phases = Phases {
            check: run_start.saturating_sub(arrival),
            run: run_end.saturating_sub(run_start),
            map: clock.elapsed().saturating_sub(run_end),
        };
        result
    }

    /// Returns the result of a reply. A text that exceeds the tool's limit is saved to a file and replaced
    /// with an excerpt.
    fn limit_reply(
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
        let limit = self
            .limits
            .limit_of(ready.tool.name(), ready.tool.result_limit());
        let mut result = CallResult {
            changes: reply.changes,
            cancels_siblings: reply.cancels_siblings,
            is_replaceable: limit.is_some(),
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
        let saved = self.state_root.open_session(session).and_then(|session| {
            persist(&session, id, |sink| match &reply.full {
                Some(full) => full.write_to(sink).map(drop),
                None => sink.write_all(text.as_bytes()),
            })
        });
        match saved {
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

/// Returns the whole of a text that could not be saved; `None` if it is longer than [`MAX_UNSAVED`].
fn whole_text(full: &FullText) -> Option<String> {
    if full.bytes() > MAX_UNSAVED {
        return None;
    }
    let mut whole = Vec::new();
    full.write_to(&mut whole).ok()?;
    String::from_utf8(whole).ok()
}

fn add_text(result: &mut CallResult, added: &str) {
    if let Content::Text(text) = &mut result.content {
        text.push_str("\n\n");
        text.push_str(added);
    }
}

/// Returns a sentence about the masked files that a message names.
fn protected_sentence(files: &[PathBuf]) -> String {
    let names: Vec<_> = files
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    match &*names {
        [] => String::new(),
        names => format!(" Protected: {}.", names.join(", ")),
    }
}

fn add_stale_hint(result: &mut CallResult, hint: String) {
    add_text(result, &hint);
    if let Value::Object(structured) = &mut result.structured {
        structured.insert("staleReadFileStateHint".to_owned(), Value::String(hint));
    }
}
