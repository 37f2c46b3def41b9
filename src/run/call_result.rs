//! The result of a call, before it is written as a record.

use std::time::Duration;

use serde_json::Value;

use crate::process::ConfinementReport;
use crate::records::{HookReport, Outcome, Permission};
use crate::run::results::{PersistedResult, tool_use_error};
use crate::run::tools::{Content, ContextChange};

/// The result of one call, whether it ran or not.
#[derive(Debug, Clone)]
pub(super) struct CallResult {
    pub(super) outcome: Outcome,
    /// The text or blocks for the model.
    pub(super) content: Content,
    /// Structured output of the tool, or the error as text.
    pub(super) structured: Value,
    /// Context changes for later calls.
    pub(super) changes: Vec<ContextChange>,
    /// Whether a failure cancels siblings under `--on-error cancel-shell`.
    pub(super) cancels_siblings: bool,
    /// The file with the full text, if the content is only an excerpt.
    pub(super) persisted: Option<PersistedResult>,
    /// Whether the turn's budget may replace the content: `false` if the tool declares no limit.
    pub(super) is_replaceable: bool,
    pub(super) phases: Phases,
    /// The permission decision; `None` if the call ended before the decision.
    pub(super) permission: Option<Permission>,
    /// The reason for a denial, for the user.
    pub(super) denial: Option<String>,
    /// The confinement of its processes; `None` if the parallel lane started none.
    pub(super) confinement: Option<ConfinementReport>,
    /// A message for the user on stderr, such as a failure to save the full text.
    pub(super) note: Option<String>,
    /// The hooks that ran.
    pub(super) hooks: Vec<HookReport>,
    /// The reason of a hook that stops the session.
    pub(super) stop: Option<String>,
}

/// The duration of each phase of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Phases {
    /// The permission check.
    pub(super) check: Duration,
    /// The tool itself.
    pub(super) run: Duration,
    /// Post-hooks, and mapping and saving the result.
    pub(super) map: Duration,
}

/// The reason for a cancellation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CancelReason {
    /// The user interrupted the run.
    Interrupt,
    /// The run reached its time limit.
    TimeUp,
    /// A sibling failed; the text names it and its error.
    Sibling(String),
}

/// The feedback of hooks on a call so far.
#[derive(Debug, Clone, Default)]
pub(super) struct HookFeedback {
    /// The hooks that ran, for the record.
    pub(super) reports: Vec<HookReport>,
    /// Messages for the user.
    pub(super) messages: Vec<String>,
    /// Texts for the model.
    pub(super) contexts: Vec<String>,
    /// The reason of a hook that stops the session.
    pub(super) stop: Option<String>,
}

impl CallResult {
    /// Returns the result of a call that did not run, with the text for the model.
    pub(super) fn refusal(outcome: Outcome, content: String) -> Self {
        let structured = error_output(&content);
        Self::new(outcome, Content::Text(content), structured)
    }

    /// Returns a result whose other fields are empty.
    pub(super) fn new(outcome: Outcome, content: Content, structured: Value) -> Self {
        Self {
            outcome,
            content,
            structured,
            changes: Vec::new(),
            cancels_siblings: false,
            persisted: None,
            is_replaceable: true,
            phases: Phases::default(),
            permission: None,
            denial: None,
            confinement: None,
            note: None,
            hooks: Vec::new(),
            stop: None,
        }
    }

    /// Returns the result of a call that never started.
    pub(super) fn never_started(reason: &CancelReason) -> Self {
        let text = match reason {
            CancelReason::Interrupt => {
                "The user interrupted before this call started. It did not run."
            }
            CancelReason::TimeUp => {
                "The run reached its time limit before this call started. It did not run."
            }
            CancelReason::Sibling(failure) => return Self::sibling_cancellation(failure),
        };
        Self::refusal(Outcome::NotRun, text.to_owned())
    }

    /// Returns the result of a call that was cancelled while it ran. `partial` is the tool's own
    /// result, if it returned one.
    pub(super) fn cancellation(reason: &CancelReason, partial: Option<Self>) -> Self {
        let (outcome, text) = match reason {
            CancelReason::Interrupt => (
                Outcome::Interrupted,
                "The user interrupted this call while it was running. It may have partly completed.",
            ),
            CancelReason::TimeUp => (
                Outcome::Timeout,
                "The run reached its time limit while this call was running. It may have partly completed.",
            ),
            CancelReason::Sibling(failure) => {
                let cancelled = Self::sibling_cancellation(failure);
                return match partial {
                    Some(partial) => partial.with_content(cancelled.outcome, cancelled.content),
                    None => cancelled,
                };
            }
        };
        let Some(partial) = partial else {
            return Self::refusal(outcome, text.to_owned());
        };
        let text = match &partial.content {
            Content::Text(output) if !output.trim().is_empty() => {
                format!("{text}\n\nIts output so far:\n{output}")
            }
            Content::Text(_) | Content::Blocks(_) => text.to_owned(),
        };
        partial.with_content(outcome, Content::Text(text))
    }

    /// Returns the result with other content, and without effects on other calls.
    fn with_content(self, outcome: Outcome, content: Content) -> Self {
        Self {
            outcome,
            content,
            changes: Vec::new(),
            cancels_siblings: false,
            ..self
        }
    }

    fn sibling_cancellation(failure: &str) -> Self {
        let text = tool_use_error(&format!("Cancelled: {failure}"));
        Self::refusal(Outcome::CancelledSibling, text)
    }

    pub(super) fn add_feedback(&mut self, feedback: HookFeedback) {
        self.hooks.extend(feedback.reports);
        if self.stop.is_none() {
            self.stop = feedback.stop;
        }
        if let Content::Text(text) = &mut self.content {
            for context in feedback.contexts {
                text.push_str("\n\n<system-reminder>\n");
                text.push_str(&context);
                text.push_str("\n</system-reminder>");
            }
        }
        self.note = self
            .note
            .take()
            .into_iter()
            .chain(feedback.messages)
            .reduce(|all, next| all + "\n" + &next);
    }

    /// Returns the approximate memory use, in bytes.
    pub(super) fn weight(&self) -> usize {
        self.content.weight() + weight(&self.structured)
    }

    /// Whether the result is an error for the model.
    pub(super) fn is_error(&self) -> bool {
        self.outcome != Outcome::Ok
    }

    /// Returns the reason that cancelled siblings get: the failed call and its error.
    pub(super) fn failure_text(&self, label: &str) -> String {
        /// Maximum length of the error text shown, in bytes.
        const MAX_ERROR: usize = 2000;
        let Content::Text(error) = &self.content else {
            return format!("parallel tool call {label} errored");
        };
        let shown = &error[..error.floor_char_boundary(MAX_ERROR)];
        format!("parallel tool call {label} errored: {shown}")
    }
}

/// Returns the structured output of a call that failed with this text.
pub(super) fn error_output(text: &str) -> Value {
    let plain = strip_error_tags(text);
    let prefix = if plain.starts_with("Error: ") {
        ""
    } else {
        "Error: "
    };
    Value::String(format!("{prefix}{plain}"))
}

/// Returns the text of an error without its `<tool_use_error>` tags.
pub(super) fn strip_error_tags(text: &str) -> &str {
    text.strip_prefix("<tool_use_error>")
        .and_then(|rest| rest.strip_suffix("</tool_use_error>"))
        .unwrap_or(text)
}

/// Returns the approximate memory use of a value, in bytes. Structured outputs are only a few levels deep.
fn weight(value: &Value) -> usize {
    /// Overhead of a value, in bytes.
    const OVERHEAD: usize = 32;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => OVERHEAD,
        Value::String(text) => OVERHEAD + text.len(),
        Value::Array(values) => OVERHEAD + values.iter().map(weight).sum::<usize>(),
        Value::Object(members) => {
            let sizes = members
                .iter()
                .map(|(name, value)| OVERHEAD + name.len() + weight(value));
            OVERHEAD + sizes.sum::<usize>()
        }
    }
}
