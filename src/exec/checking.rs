//! Whether a call may run: by the rules, else by whoever can be asked.

use std::sync::{Arc, PoisonError};

use super::completed::Completed;
use super::lifecycle::{Prepared, Ready};
use super::{Answer, Lifecycle, Question};
use crate::permission::{Behavior, Decided, Rule, Source};
use crate::results::tool_use_error;
use crate::tools::{CallContext, Input};
use crate::wire::Outcome;
use crate::wire::records::{DecidedBy, Decision, Permission};

impl Lifecycle {
    /// Whether something has to be waited for before the call can run.
    pub(super) fn asks_about(&self, ready: &Ready) -> bool {
        ready.clearance.is_none() && self.asker.is_some()
    }

    /// Finds out whether a call may run, and as what. May take as long as a person does.
    pub(super) fn check(&self, ready: &Ready, call: &CallContext<'_>) -> Prepared {
        match self.cleared(ready, call) {
            Ok(ready) => Prepared::Ready(Arc::new(ready)),
            Err(refused) => Prepared::Refused(refused),
        }
    }

    fn cleared(&self, ready: &Ready, call: &CallContext<'_>) -> Result<Ready, Box<Completed>> {
        let assessment = self.assessment_now(ready, call.session);
        let decided = self.decide(ready, &assessment, call.session);
        match decided.decision {
            Decision::Allow => Ok(ready.cleared(permission(decided), assessment)),
            Decision::Deny => Err(denied(ready, decided, &assessment.why)),
            Decision::Ask => self.asked(ready, call, decided, &assessment.why),
        }
    }

    /// What allows a call, where nobody can be asked.
    pub(super) fn permission(
        &self,
        ready: &Ready,
        call: &CallContext<'_>,
    ) -> Result<Permission, Box<Completed>> {
        let assessment = self.assessment_now(ready, call.session);
        let decided = self.decide(ready, &assessment, call.session);
        match decided.decision {
            Decision::Allow => Ok(permission(decided)),
            Decision::Ask | Decision::Deny => Err(denied(ready, decided, &assessment.why)),
        }
    }

    /// Has somebody say whether a call may run.
    fn asked(
        &self,
        ready: &Ready,
        call: &CallContext<'_>,
        decided: Decided,
        why: &str,
    ) -> Result<Ready, Box<Completed>> {
        let Some(asker) = &self.asker else {
            return Err(denied(ready, decided, why));
        };
        let question = Question {
            id: call.id,
            tool: ready.tool.name(),
            input: &ready.input,
            why,
            remedy: decided.remedy.as_deref(),
        };
        let by = DecidedBy::Prompt {
            prompt: asker.name().to_owned(),
        };
        let allowed = Permission {
            decision: Decision::Allow,
            by: by.clone(),
        };
        match asker.ask(&question, call.cancel) {
            Answer::Allow(None) => {
                let assessment = self.assessment_now(ready, call.session);
                Ok(ready.cleared(allowed, assessment))
            }
            Answer::Allow(Some(input)) => self.rewritten(ready, input, allowed, call),
            Answer::AllowAlso(rule) => {
                self.allow_from_now_on(&rule);
                let assessment = self.assessment_now(ready, call.session);
                Ok(ready.cleared(allowed, assessment))
            }
            Answer::Deny(text) => Err(Box::new(Completed {
                permission: Some(Permission {
                    decision: Decision::Deny,
                    by,
                }),
                ..Completed::refused(Outcome::Denied, refusal(ready, text))
            })),
            Answer::Nobody(_) => Err(denied(ready, decided, why)),
        }
    }

    /// The call with other arguments, as far as no rule denies that.
    fn rewritten(
        &self,
        ready: &Ready,
        input: Input,
        allowed: Permission,
        call: &CallContext<'_>,
    ) -> Result<Ready, Box<Completed>> {
        let rewritten = self.ready_with(ready.tool.name(), input, call.session)?;
        let assessment = self.assessment_now(&rewritten, call.session);
        let decided = self.decide(&rewritten, &assessment, call.session);
        match decided.decision {
            Decision::Deny => Err(denied(&rewritten, decided, &assessment.why)),
            Decision::Allow | Decision::Ask => Ok(rewritten.cleared(allowed, assessment)),
        }
    }

    /// Adds a rule for the rest of the run.
    fn allow_from_now_on(&self, rule: &str) {
        let source = Arc::new(Source {
            name: "session".to_owned(),
            anchor: self.anchor.clone(),
        });
        if let Ok(rule) = Rule::parse(rule, Behavior::Allow, &source) {
            let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
            rules.add(rule);
        }
    }
}

fn permission(decided: Decided) -> Permission {
    Permission {
        decision: decided.decision,
        by: decided.by,
    }
}

/// The result of a call that must not run.
fn denied(ready: &Ready, decided: Decided, why: &str) -> Box<Completed> {
    let tool = ready.tool.name();
    let text = format!(
        "Permission to use {tool} was denied: {why}. Without permission only calls that read run here."
    );
    Box::new(Completed {
        permission: Some(Permission {
            decision: Decision::Deny,
            by: decided.by,
        }),
        ..Completed::refused(Outcome::Denied, text)
    })
}

/// What the model reads when somebody said no.
fn refusal(ready: &Ready, text: Option<String>) -> String {
    let tool = ready.tool.name();
    match text {
        Some(text) => tool_use_error(&format!("The use of {tool} was refused: {text}")),
        None => tool_use_error(&format!(
            "The use of {tool} was refused. Do not try to reach the same by other means; ask what to do instead."
        )),
    }
}
