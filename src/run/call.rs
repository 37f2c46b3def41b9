//! A call from its arrival to its result: a state with its data.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::call_result::{CallResult, CancelReason, HookFeedback};
use super::turn_tracker::{BatchNumber, TurnNumber};
use crate::io::CancelToken;
use crate::message::ToolUseId;
use crate::permission::Request;
use crate::records::{Lane, Permission, VerdictAccess, VerdictReport};
use crate::run::tools::{
    Access, Assessment, Input, PathSet, PreparedCall, Tool, ToolContext, ToolKind,
};
use crate::text::{redact, terminal_safe_line};
use crate::tool_facts::{Parameter, parameters};

/// A call that this run executes.
pub(super) struct RunCall {
    pub(super) id: ToolUseId,
    /// The tool name as the model wrote it.
    pub(super) name: String,
    pub(super) turn: TurnNumber,
    pub(super) profile: Profile,
    pub(super) state: CallState,
    /// Approximate memory use, in bytes.
    pub(super) weight: usize,
    pub(super) cancel: CancelToken,
    pub(super) cancel_reason: Option<CancelReason>,
    pub(super) times: CallTimes,
    /// The last description of the call's progress.
    pub(super) note: Option<String>,
}

pub(super) enum CallState {
    /// The server that may have the tool is starting. Until it responds, the call counts as touching
    /// everything.
    Resolving(Arc<UnresolvedCall>),
    /// Waits for its start.
    Queued(Arc<ReadyCall>),
    /// Hooks, a judge or the user decide whether it may run.
    Checking(Arc<ReadyCall>),
    /// A worker thread runs it.
    Running(Arc<ReadyCall>),
    /// It has its result. A call that is refused on arrival has one while it is still queued: it counts
    /// as touching everything, to keep its place between its neighbours.
    Done(Box<CallResult>),
}

/// The description of a call for records, messages and the schedule.
pub(super) struct Profile {
    /// A short description, such as `Bash(npm test)`.
    pub(super) label: String,
    pub(super) lane: Lane,
    /// The result of the analysis, for records.
    pub(super) verdict: Option<VerdictReport>,
}

/// Points in time of a call, on the run's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallTimes {
    pub(super) arrival: Duration,
    /// The start of the permission check, if it had to wait for one.
    pub(super) check_start: Option<Duration>,
    pub(super) start: Option<Duration>,
}

/// A call whose tool is unknown until an MCP server has started.
pub(super) struct UnresolvedCall {
    /// The tool name as the model wrote it.
    pub(super) name: String,
    pub(super) input: Input,
    /// The calls before it, for the judge.
    pub(super) earlier: Vec<String>,
}

/// A call that can run.
#[derive(Clone)]
pub(super) struct ReadyCall {
    pub(super) tool: Arc<dyn Tool>,
    /// Its arguments, valid under the tool's schema.
    pub(super) input: Input,
    pub(super) call: Arc<dyn PreparedCall>,
    /// Its access, with the reason.
    pub(super) assessment: Assessment,
    /// The tool name as the model wrote it.
    pub(super) written_name: String,
    /// The feedback of hooks so far.
    pub(super) feedback: HookFeedback,
    /// The permission to run; `None` before the decision.
    pub(super) permission: Option<Permission>,
    /// The calls before it, for the judge.
    pub(super) earlier: Vec<String>,
}

/// A call with its result, ready to be written.
pub(super) struct FinishedCall {
    pub(super) id: ToolUseId,
    /// The tool name as the model wrote it.
    pub(super) name: String,
    pub(super) turn: TurnNumber,
    pub(super) batch: Option<BatchNumber>,
    pub(super) lane: Lane,
    pub(super) verdict: Option<VerdictReport>,
    /// Approximate memory use, in bytes.
    pub(super) weight: usize,
    pub(super) result: CallResult,
}

impl RunCall {
    pub(super) fn is_running(&self) -> bool {
        matches!(self.state, CallState::Running(_))
    }

    /// Returns the time since its start.
    pub(super) fn elapsed(&self, now: Duration) -> Duration {
        now.saturating_sub(self.times.start.unwrap_or(now))
    }

    /// Whether a thread resolves the call or checks its permission.
    pub(super) fn is_being_checked(&self) -> bool {
        matches!(self.state, CallState::Resolving(_) | CallState::Checking(_))
    }

    /// Cancels the call. The first reason is kept.
    pub(super) fn cancel(&mut self, reason: &CancelReason) {
        self.cancel_reason.get_or_insert_with(|| reason.clone());
        self.cancel.cancel();
    }

    /// Returns the call with its result; `None` while it has none.
    pub(super) fn into_finished(self, batch: Option<BatchNumber>) -> Option<FinishedCall> {
        let CallState::Done(result) = self.state else {
            return None;
        };
        Some(FinishedCall {
            id: self.id,
            name: self.name,
            turn: self.turn,
            batch,
            lane: self.profile.lane,
            verdict: self.profile.verdict,
            weight: self.weight,
            result: *result,
        })
    }
}

impl CallState {
    /// Returns the call itself, unless its tool is unknown or it is done.
    pub(super) fn ready(&self) -> Option<&Arc<ReadyCall>> {
        match self {
            Self::Queued(ready) | Self::Checking(ready) | Self::Running(ready) => Some(ready),
            Self::Resolving(_) | Self::Done(_) => None,
        }
    }

    /// Returns the profile of the call `name`, and its access for the schedule.
    pub(super) fn profile(&self, name: &str) -> (Profile, Access) {
        let Some(ready) = self.ready() else {
            let profile = Profile {
                label: name.to_owned(),
                lane: Lane::Serial,
                verdict: None,
            };
            return (profile, Access::everything());
        };
        (ready.profile(), ready.assessment.access.clone())
    }

    /// Returns the kind of the tool, if it is known.
    pub(super) fn kind(&self) -> Option<ToolKind> {
        self.ready().map(|ready| ready.tool.kind())
    }
}

impl ReadyCall {
    /// Returns the call as permission rules see it, with the given assessment.
    pub(super) fn request<'a>(
        &'a self,
        assessment: &'a Assessment,
        session: &'a ToolContext,
    ) -> Request<'a> {
        session.request(self.tool.name(), &self.input, &assessment.action)
    }

    /// Returns the same call with its permission and its current assessment.
    pub(super) fn with_permission(self, permission: Permission, assessment: Assessment) -> Self {
        Self {
            assessment,
            permission: Some(permission),
            ..self
        }
    }

    fn profile(&self) -> Profile {
        let Assessment { access, why, .. } = &self.assessment;
        let verdict = match (access.is_read_only(), &access.writes) {
            (true, _) => VerdictAccess::ReadOnly,
            (false, PathSet::Paths(_)) => VerdictAccess::Writes,
            (false, PathSet::Everything | PathSet::Session | PathSet::Nothing) => {
                VerdictAccess::Unknown
            }
        };
        Profile {
            label: self.label(),
            lane: if access.is_side_effect_free() {
                Lane::Parallel
            } else {
                Lane::Serial
            },
            verdict: Some(VerdictReport {
                access: verdict,
                why: why.clone(),
            }),
        }
    }

    /// Returns the tool with the argument that identifies the call, such as `Bash(npm test)`, without secrets.
    fn label(&self) -> String {
        /// Maximum length of the argument shown, in characters.
        const MAX_SUBJECT: usize = 60;
        let tool = self.tool.name();
        let [commands, paths] = [Parameter::Command, Parameter::Path].map(parameters);
        let mut fields = [&["description"], commands, &["pattern"], paths]
            .into_iter()
            .flatten();
        let subject = fields.find_map(|field| self.input.get(*field).and_then(Value::as_str));
        let Some(subject) = subject.map(|subject| terminal_safe_line(&redact(subject))) else {
            return tool.to_owned();
        };
        let shown: String = subject.chars().take(MAX_SUBJECT).collect();
        let ellipsis = if shown.len() < subject.len() {
            "…"
        } else {
            ""
        };
        format!("{tool}({shown}{ellipsis})")
    }
}
