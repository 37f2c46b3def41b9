//! What a call has become, before it is written as a record.

use std::time::Duration;

use serde_json::Value;

use crate::process::Witnessed;
use crate::records::{HookReport, Outcome, Permission};
use crate::results::{Persisted, tool_use_error};
use crate::tools::{Content, ContextChange};

/// The end of one call, whether it ran or not.
#[derive(Debug, Clone)]
pub(super) struct Completed {
    /// How it ended.
    pub(super) outcome: Outcome,
    /// What the model sees.
    pub(super) content: Content,
    /// Structured output of the tool, or the error as text.
    pub(super) structured: Value,
    /// Changes for later calls.
    pub(super) changes: Vec<ContextChange>,
    /// Whether a failure cancels siblings under `--on-error cancel-shell`.
    pub(super) cancels_siblings: bool,
    /// Where the full text went.
    pub(super) persisted: Option<Persisted>,
    /// Whether the turn's budget may replace it: not if its tool declares no limit.
    pub(super) replaceable: bool,
    /// How long the checks before the tool and the mapping after it took.
    pub(super) phases: Phases,
    /// What the permission check said; none if the call never came that far.
    pub(super) permission: Option<Permission>,
    /// How its processes were confined; none if it started none in the parallel lane.
    pub(super) sandbox: Option<Witnessed>,
    /// Why the permission rules denied it.
    pub(super) denial: Option<String>,
    /// Something people should know (on stderr), e.g. that persisting failed.
    pub(super) note: Option<String>,
    /// The hooks that ran.
    pub(super) hooks: Vec<HookReport>,
    /// That the session should go on no further, because a hook says so.
    pub(super) stop: Option<String>,
}

/// How long each phase of a call took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Phases {
    /// Meaning of the input, permission.
    pub(super) check: Duration,
    /// The tool itself.
    pub(super) run: Duration,
    /// Mapping and persisting its result.
    pub(super) map: Duration,
}

/// Why we end a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CancelReason {
    /// The user interrupted.
    Interrupt,
    /// The time of the whole run is up.
    TimeUp,
    /// A sibling failed; the text names it and its error.
    Sibling(String),
}

impl Completed {
    /// A call that did not run, with the text for the model.
    pub(super) fn refused(outcome: Outcome, content: String) -> Self {
        let structured = error_output(&content);
        Self::new(outcome, Content::Text(content), structured)
    }

    /// A call that ended like this, and of which nothing else is known.
    pub(super) fn new(outcome: Outcome, content: Content, structured: Value) -> Self {
        Self {
            outcome,
            content,
            structured,
            changes: Vec::new(),
            cancels_siblings: false,
            persisted: None,
            replaceable: true,
            phases: Phases::default(),
            permission: None,
            sandbox: None,
            denial: None,
            note: None,
            hooks: Vec::new(),
            stop: None,
        }
    }

    /// About how much memory it takes, in bytes.
    pub(super) fn weight(&self) -> usize {
        self.content.weight() + weight(&self.structured)
    }

    /// Whether the result goes to the model as an error.
    pub(super) fn is_error(&self) -> bool {
        self.outcome != Outcome::Ok
    }
}

/// The structured output of a call that failed with this text.
pub(super) fn error_output(text: &str) -> Value {
    let plain = untagged(text);
    let prefix = if plain.starts_with("Error: ") {
        ""
    } else {
        "Error: "
    };
    Value::String(format!("{prefix}{plain}"))
}

/// An error without the tags that tell the model that it is one.
pub(super) fn untagged(text: &str) -> &str {
    text.strip_prefix("<tool_use_error>")
        .and_then(|rest| rest.strip_suffix("</tool_use_error>"))
        .unwrap_or(text)
}

/// The result of a call that never started.
pub(super) fn never_started(reason: &CancelReason) -> Completed {
    match reason {
        CancelReason::Interrupt => Completed::refused(
            Outcome::NotRun,
            "The user interrupted before this call started. It did not run.".to_owned(),
        ),
        CancelReason::TimeUp => Completed::refused(
            Outcome::NotRun,
            "The time for the whole run was up before this call started. It did not run."
                .to_owned(),
        ),
        CancelReason::Sibling(failure) => cancelled_sibling(failure),
    }
}

/// The result of a call that we ended while it ran; `ended` is what it came to, if it is known.
pub(super) fn ended_early(reason: &CancelReason, ended: Option<Completed>) -> Completed {
    let mut completed = match reason {
        CancelReason::Interrupt => Completed::refused(
            Outcome::Interrupted,
            "The user interrupted this call while it was running. It may have done a part of its work."
                .to_owned(),
        ),
        CancelReason::TimeUp => Completed::refused(
            Outcome::Timeout,
            "The time for the whole run was up while this call was running. It may have done a part of its work."
                .to_owned(),
        ),
        CancelReason::Sibling(failure) => cancelled_sibling(failure),
    };
    if let Some(ended) = ended {
        if let (Content::Text(text), Content::Text(output)) =
            (&mut completed.content, &ended.content)
            && !matches!(reason, CancelReason::Sibling(_))
            && !output.trim().is_empty()
        {
            text.push_str("\n\nIts output so far:\n");
            text.push_str(output);
        }
        completed = Completed {
            outcome: completed.outcome,
            content: completed.content,
            structured: ended.structured,
            changes: Vec::new(),
            cancels_siblings: false,
            ..ended
        };
    }
    completed
}

fn cancelled_sibling(failure: &str) -> Completed {
    let text = tool_use_error(&format!("Cancelled: {failure}"));
    Completed::refused(Outcome::CancelledSibling, text)
}

/// The result for siblings of a failed call: which call failed, and how.
pub(super) fn failure_text(label: &str, completed: &Completed) -> String {
    /// Enough of an error to understand it, in bytes.
    const SHOWN: usize = 2000;
    let Content::Text(error) = &completed.content else {
        return format!("parallel tool call {label} errored");
    };
    let shown = &error[..error.floor_char_boundary(SHOWN)];
    format!("parallel tool call {label} errored: {shown}")
}

/// About how much memory a value takes, in bytes. Structured outputs are a few levels deep.
fn weight(value: &Value) -> usize {
    /// What a value costs in addition to its text.
    const EACH: usize = 32;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => EACH,
        Value::String(text) => EACH + text.len(),
        Value::Array(values) => EACH + values.iter().map(weight).sum::<usize>(),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| EACH + name.len() + weight(value));
            EACH + members.sum::<usize>()
        }
    }
}
