//! One call from look-up to result.
//!
//! `prepare` is what must be known before a call can be scheduled: the tool, a valid input, what
//! it touches. `check` (in `checking`) asks whoever has to be asked. `execute` is everything after the
//! scheduler let it run: the tool itself, mapping, persistence. Each step that fails ends the call with
//! a result.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

use super::Prompter;
use super::call::Children;
use super::checking::denied;
use super::completed::{Completed, Phases, error_output};
use super::hooking::{Heard, RunHooks};
use super::judging::JudgeSeat;
use crate::assemble::ToolCall;
use crate::hooks::HookEvent;
use crate::message::{Decision, ToolUseId};
use crate::permission::{Action, Decided, Mode, Request, Rules};
use crate::records::{Lane, Outcome, Permission, Verdict, VerdictAccess};
use crate::results::{ToolLimits, empty_result, persist, stale_read_hint, tool_use_error};
use crate::state::{SessionKey, StateRoot};
use crate::text::{terminal_safe_line, utf16_length};
use crate::tool_facts::{Parameter, parameters};
use crate::tools::{
    Access, Assessment, CallContext, CallStatus, Content, FullText, Input, LookupError,
    PreparedCall, Registry, Tool, ToolContext, ToolKind, ToolReply, Touch,
};

/// Everything that is the same for all calls of a run.
pub struct Lifecycle {
    /// The tools on offer.
    pub registry: Arc<Registry>,
    /// What happens to calls about which no rule decides.
    pub mode: Mode,
    /// Which calls may run.
    pub rules: RwLock<Rules>,
    /// Where rules that are added during the run apply.
    pub anchor: PathBuf,
    /// Programs of the user that look at calls.
    pub hooks: Option<RunHooks>,
    /// Who judges calls that the rules leave open, in the mode `auto`.
    pub judge: Option<JudgeSeat>,
    /// Who decides about calls that no rule decides; without them, those do not run.
    pub prompter: Option<Box<dyn Prompter>>,
    /// What stays inline.
    pub limits: ToolLimits,
    /// Whether the analysis of shell commands counts.
    pub shell_verdicts: ShellVerdicts,
    /// If set, only these tools run.
    pub tools_only: Option<BTreeSet<String>>,
    /// Where the state of sessions is kept, and results that are too large for the stream.
    pub state_root: StateRoot,
}

/// What shell commands count as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShellVerdicts {
    /// What the analysis says.
    #[default]
    Analysed,
    /// All only read. For tests of the enforcement: nothing else then keeps a command from writing.
    AssumedReadOnly,
}

/// A call on its way to the scheduler.
pub(super) enum Prepared {
    /// Whoever has its tool has to be asked first. Until then it counts as touching everything.
    Unresolved(Arc<Unresolved>),
    /// It can be scheduled.
    Ready(Arc<Ready>),
    /// It already has its result. It is scheduled as touching everything all the same, so that
    /// it keeps its place between its neighbours.
    Refused(Box<Completed>),
}

impl Prepared {
    /// What it touches.
    pub(super) fn access(&self) -> Access {
        match self {
            Self::Ready(ready) => ready.assessment.access.clone(),
            Self::Unresolved(_) | Self::Refused(_) => Access::everything(),
        }
    }

    /// What the kernel lets its processes do.
    pub(super) fn children(&self) -> Children {
        if self.access().is_read_only() {
            Children::Confined
        } else {
            Children::Free
        }
    }

    /// The lane that it runs in.
    pub(super) fn lane(&self) -> Lane {
        if self.access().is_side_effect_free() {
            Lane::Parallel
        } else {
            Lane::Serial
        }
    }

    /// What the analysis said, in the words of records.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let Self::Ready(ready) = self else {
            return None;
        };
        let Assessment { access, why, .. } = &ready.assessment;
        let verdict = match (access.is_read_only(), &access.writes) {
            (true, _) => VerdictAccess::ReadOnly,
            (false, Touch::Paths(_)) => VerdictAccess::Writes,
            (false, Touch::Everything | Touch::Session | Touch::Nothing) => VerdictAccess::Unknown,
        };
        Some(Verdict {
            access: verdict,
            why: why.clone(),
        })
    }

    /// A short description: the tool and the argument that people know the call by, e.g.
    /// `Bash(npm test)`. `name` is the tool's name as the model wrote it.
    pub(super) fn label(&self, name: &str) -> String {
        /// Enough to recognise a call, in characters.
        const SHOWN: usize = 60;
        let Self::Ready(ready) = self else {
            return name.to_owned();
        };
        let tool = ready.tool.name();
        let [commands, paths] = [Parameter::Command, Parameter::Path].map(parameters);
        let mut fields = [&["description"], commands, &["pattern"], paths]
            .into_iter()
            .flatten();
        let subject = fields.find_map(|field| ready.input.get(*field).and_then(Value::as_str));
        let Some(subject) = subject.map(terminal_safe_line) else {
            return tool.to_owned();
        };
        let shown: String = subject.chars().take(SHOWN).collect();
        let ellipsis = if shown.len() < subject.len() {
            "…"
        } else {
            ""
        };
        format!("{tool}({shown}{ellipsis})")
    }
}

/// A call whose tool is known only when somebody has been asked, such as a server that starts.
pub(super) struct Unresolved {
    /// The name that the model called it by.
    name: String,
    input: Input,
    /// The calls before it, for the judge.
    earlier: Vec<String>,
}

/// A call that can run.
#[derive(Clone)]
pub(super) struct Ready {
    pub(super) tool: Arc<dyn Tool>,
    /// Its arguments, valid under the tool's schema.
    pub(super) input: Input,
    /// The call itself, parsed and analysed.
    call: Arc<dyn PreparedCall>,
    /// What it touches, and why it counts as touching that.
    pub(super) assessment: Assessment,
    /// The name that the model called it by.
    pub(super) called: String,
    /// What hooks said so far.
    pub(super) heard: Heard,
    /// That it may run, if that is settled.
    pub(super) clearance: Option<Permission>,
    /// The calls before it, for the judge.
    pub(super) earlier: Vec<String>,
}

impl Ready {
    /// The call, which is `assessed` like this, as rules see it.
    pub(super) fn request<'a>(
        &'a self,
        assessed: &'a Assessment,
        session: &'a ToolContext,
    ) -> Request<'a> {
        session.request(self.tool.name(), &self.input, &assessed.action)
    }

    /// The same call, which may run, and what it touches now.
    pub(super) fn cleared(self, permission: Permission, assessment: Assessment) -> Self {
        Self {
            assessment,
            clearance: Some(permission),
            ..self
        }
    }
}

impl Lifecycle {
    /// Finds the tool, checks the input against its schema and asks what the call touches; as far
    /// as nothing has to be waited for.
    pub(super) fn prepare(&self, call: &ToolCall, session: &ToolContext) -> Prepared {
        let prepared = self.prepared(call, session);
        prepared.unwrap_or_else(Prepared::Refused)
    }

    fn prepared(&self, call: &ToolCall, session: &ToolContext) -> Result<Prepared, Box<Completed>> {
        let raw = match &call.input {
            Ok(input) => input.get(),
            Err(reason) => return Err(invalid_input(&format!("the call was not run: {reason}"))),
        };
        let input: Input = serde_json::from_str(raw)
            .map_err(|error| invalid_input(&format!("{} {error}", call.name)))?;
        let earlier = || match &self.judge {
            Some(seat) => seat.follow(&call.name, raw),
            None => Vec::new(),
        };
        if let Some(tool) = self.registry.slow_name(&call.name) {
            self.refuse_unasked(tool, &input, session)?;
            return Ok(Prepared::Unresolved(Arc::new(Unresolved {
                name: call.name.clone(),
                input,
                earlier: earlier(),
            })));
        }
        let ready = self.ready_with(&call.name, input, session)?;
        Ok(Prepared::Ready(Arc::new(Ready {
            earlier: earlier(),
            ..ready
        })))
    }

    /// Refuses a call of a tool that has to be waited for, if it will not run whatever is found.
    fn refuse_unasked(
        &self,
        tool: &str,
        input: &Input,
        session: &ToolContext,
    ) -> Result<(), Box<Completed>> {
        self.check_offered(tool)?;
        // Nothing is known about it, and nothing that its server says would permit it.
        let decided = self.decide(&session.request(tool, input, &Action::Anything));
        if self.is_final(&decided) {
            return Err(denied(tool, decided, None));
        }
        Ok(())
    }

    /// The rest of [`Lifecycle::prepare`]. May take as long as a server does to start.
    pub(super) fn resolve(&self, unresolved: &Unresolved, session: &ToolContext) -> Prepared {
        let Unresolved {
            name,
            input,
            earlier,
        } = unresolved;
        match self.ready_with(name, input.clone(), session) {
            Ok(ready) => Prepared::Ready(Arc::new(Ready {
                earlier: earlier.clone(),
                ..ready
            })),
            Err(refused) => Prepared::Refused(refused),
        }
    }

    /// A call of the tool with this name or alias, and these arguments.
    pub(super) fn ready_with(
        &self,
        name: &str,
        input: Input,
        session: &ToolContext,
    ) -> Result<Ready, Box<Completed>> {
        let resolved = self
            .registry
            .resolve(name, input)
            .map_err(|error| match error {
                LookupError::Unknown { .. } => {
                    let text = tool_use_error(&format!("Error: {error}"));
                    refused(Outcome::UnknownTool, text)
                }
                LookupError::Unavailable { .. } => {
                    refused(Outcome::Error, tool_use_error(&error.to_string()))
                }
                LookupError::Unmappable(_) => invalid_input(&error.to_string()),
            })?;
        let tool = resolved.tool;
        self.check_offered(tool.name())?;
        let input = Value::Object(resolved.input);
        self.registry
            .check_schema(&*tool, &input)
            .map_err(|issues| invalid_input(&issues))?;
        let Value::Object(input) = input else {
            return Err(invalid_input("not an object"));
        };
        let call = tool
            .prepare(&input)
            .map_err(|error| refused(Outcome::InvalidInput, tool_use_error(&error.to_string())))?;
        let assessment = self.assess(&*tool, &*call, session);
        Ok(Ready {
            tool,
            input,
            call: call.into(),
            assessment,
            called: name.to_owned(),
            heard: Heard::default(),
            clearance: None,
            earlier: Vec::new(),
        })
    }

    fn check_offered(&self, tool: &str) -> Result<(), Box<Completed>> {
        match &self.tools_only {
            Some(only) if !only.contains(tool) => {
                let text = format!("{tool} was not run: it is not among the tools of this run.");
                Err(refused(Outcome::NotRun, text))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What a call that waits touches if it starts now.
    pub(super) fn reassess(&self, ready: &Ready, session: &ToolContext) -> Assessment {
        self.assess(&*ready.tool, &*ready.call, session)
    }

    fn assess(
        &self,
        tool: &dyn Tool,
        call: &dyn PreparedCall,
        session: &ToolContext,
    ) -> Assessment {
        match (self.shell_verdicts, tool.kind()) {
            (ShellVerdicts::AssumedReadOnly, ToolKind::Shell) => Assessment {
                access: Access::reads_everything(),
                why: "assumed".to_owned(),
                action: Action::Harmless,
            },
            _ => call.assess(session),
        }
    }

    /// What a call touches when it starts. A shell command that only read when it was queued may do
    /// more now, since calls before it may have changed where it runs, and git's settings there.
    pub(super) fn assessment_now(&self, ready: &Ready, session: &ToolContext) -> Assessment {
        let queued = &ready.assessment;
        if ready.tool.kind() == ToolKind::Shell && queued.access.is_read_only() {
            self.reassess(ready, session)
        } else {
            queued.clone()
        }
    }

    /// Whether calls that have run are looked at by hooks.
    pub(super) fn looks_afterwards(&self) -> bool {
        self.hears(HookEvent::PostToolUse) || self.hears(HookEvent::PostToolUseFailure)
    }

    /// What is decided about a call, as far as it can be told before it starts.
    pub(super) fn decision(&self, prepared: &Prepared, session: &ToolContext) -> Option<Decision> {
        match prepared {
            Prepared::Ready(ready) => {
                let request = ready.request(&ready.assessment, session);
                Some(self.decide(&request).decision)
            }
            Prepared::Unresolved(_) | Prepared::Refused(_) => None,
        }
    }

    /// Whether a call may run.
    pub(super) fn decide(&self, request: &Request<'_>) -> Decided {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        rules.decide(self.mode, request)
    }

    /// Runs a call of a session to its end on the calling thread. Calls `worked` when the tool is done and
    /// hooks follow.
    pub(super) fn execute(
        &self,
        ready: &Ready,
        context: &CallContext<'_>,
        session: &SessionKey,
        worked: impl FnOnce(),
    ) -> Completed {
        let clock = &context.session.clock;
        let arrived = clock.elapsed();
        let permission = match &ready.clearance {
            Some(permission) => permission.clone(),
            None => match self.permission(ready, context) {
                Ok(permission) => permission,
                Err(denied) => return *denied,
            },
        };
        // Only a call that may write can make what was read out of date.
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
        let mut heard = ready.heard.clone();
        if self.looks_at(&reply) {
            worked();
            let took = ended.saturating_sub(begun);
            self.after(ready, &mut reply, took, context, &session.id, &mut heard);
        }
        let mut completed = self.map(ready, context.id, reply, session);
        completed.hear(heard);
        completed.permission = Some(permission);
        completed.sandbox = context.session.spawners.witnessed();
        if let Some(before) = stale_before
            && let Some(hint) = stale_read_hint(&before, &read_log.stale_files())
        {
            add_stale_hint(&mut completed, hint);
        }
        completed.phases = Phases {
            check: begun.saturating_sub(arrived),
            run: ended.saturating_sub(begun),
            map: clock.elapsed().saturating_sub(ended),
        };
        completed
    }

    fn map(
        &self,
        ready: &Ready,
        id: &ToolUseId,
        reply: ToolReply,
        session: &SessionKey,
    ) -> Completed {
        let outcome = match reply.status {
            CallStatus::Ok => Outcome::Ok,
            CallStatus::Error => Outcome::Error,
            CallStatus::TimedOut => Outcome::Timeout,
            CallStatus::Cancelled => Outcome::Interrupted,
        };
        let limit = self.limits.of(ready.tool.name(), ready.tool.result_limit());
        let mut completed = Completed {
            changes: reply.changes,
            cancels_siblings: reply.cancels_siblings,
            replaceable: limit.is_some(),
            ..Completed::new(outcome, reply.content, reply.structured)
        };
        let Content::Text(text) = &completed.content else {
            return completed;
        };
        if text.trim().is_empty() && outcome != Outcome::Interrupted {
            completed.content = Content::Text(empty_result(ready.tool.name()));
            return completed;
        }
        let is_excerpt = reply.full.is_some() && limit.is_some();
        if !is_excerpt && limit.is_none_or(|limit| utf16_length(text) <= limit) {
            return completed;
        }
        let written = self.state_root.session(session).and_then(|session| {
            persist(&session, id, |sink| match &reply.full {
                Some(full) => full.write_to(sink).map(drop),
                None => sink.write_all(text.as_bytes()),
            })
        });
        match written {
            Ok(persisted) => {
                completed.content = Content::Text(persisted.stand_in(text));
                completed.persisted = Some(persisted);
            }
            Err(error) => {
                if let Some(whole) = reply.full.as_ref().and_then(whole_text) {
                    completed.content = Content::Text(whole);
                }
                completed.note = Some(format!(
                    "cannot save the result of {id}, it is sent whole: {error}"
                ));
            }
        }
        completed
    }
}

/// The whole of a text that could not be saved, unless it would fill the memory.
fn whole_text(full: &FullText) -> Option<String> {
    /// Longest text that is sent instead of saved, in bytes.
    const LONGEST: u64 = 4 * 1024 * 1024;
    if full.bytes() > LONGEST {
        return None;
    }
    let mut whole = Vec::new();
    full.write_to(&mut whole).ok()?;
    String::from_utf8(whole).ok()
}

fn refused(outcome: Outcome, text: String) -> Box<Completed> {
    Box::new(Completed::refused(outcome, text))
}

fn invalid_input(issues: &str) -> Box<Completed> {
    let text = tool_use_error(&format!("InputValidationError: {issues}"));
    refused(Outcome::InvalidInput, text)
}

fn add_stale_hint(completed: &mut Completed, hint: String) {
    if let Content::Text(text) = &mut completed.content {
        text.push_str("\n\n");
        text.push_str(&hint);
    }
    if let Value::Object(structured) = &mut completed.structured {
        structured.insert("staleReadFileStateHint".to_owned(), Value::String(hint));
    }
}
