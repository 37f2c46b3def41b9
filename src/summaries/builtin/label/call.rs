//! The finished calls of a batch, as the rules see them.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use super::act::{Act, Verb};
use crate::agent::{has_failed, parse_exit_code};
use crate::message::CallOutcome;
use crate::text::{redact, redact_strings};
use crate::tool_facts::{Parameter, Purpose, parameters, patch_files};

/// A finished call of a batch.
#[derive(Debug, Clone, Copy)]
pub struct FinishedCall<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// The arguments: a JSON object.
    pub input: &'a RawValue,
    /// The text of the result, or the start and the end of a long one.
    pub text: &'a str,
    /// Whether the call failed.
    pub failed: bool,
    /// The exit status of the process, if it is recorded apart from the text.
    pub status: Option<i64>,
}

/// A parsed finished call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) purpose: Purpose,
    pub(super) input: Value,
    pub(super) text: Cow<'a, str>,
    pub(super) outcome: CallOutcome,
    /// The exit status of its command.
    pub(super) status: Option<i64>,
    pub(super) cwd: Option<&'a str>,
}

impl<'a> Call<'a> {
    /// Parses a finished call. Masks secrets before anything is cut, because a part of a secret is not recognisable. Paths
    /// are shown relative to `cwd`.
    pub(super) fn parse(call: &FinishedCall<'a>, cwd: Option<&'a str>) -> Self {
        // Arguments that are not JSON count as empty.
        let mut input = serde_json::from_str(call.input.get()).unwrap_or_default();
        redact_strings(&mut input);
        let purpose = Purpose::from_tool(call.name);
        // Claude Code marks failed commands itself, but exports of its sessions only have their text.
        let has_status = matches!(purpose, Purpose::Shell | Purpose::Patch)
            && (call.name != "Bash" || call.text.starts_with("Exit code "));
        let has_failed = call.failed || has_status && has_failed(call.text);
        Self {
            name: call.name,
            purpose,
            input,
            text: redact(call.text),
            outcome: CallOutcome::from_result(call.text, has_failed),
            status: call.status.or_else(|| parse_exit_code(call.text)),
            cwd,
        }
    }

    /// Returns the first file or directory in the arguments.
    pub(super) fn path(&self) -> Option<&str> {
        self.argument(parameters(Parameter::Path))
    }

    /// Returns the first of these members that is a non-empty string.
    pub(super) fn argument(&self, names: &[&str]) -> Option<&str> {
        let mut texts = names.iter().map(|name| self.input.get(name)?.as_str());
        texts
            .find_map(|text| text)
            .filter(|text| !text.trim().is_empty())
    }

    /// Whether the model asked for the call to run in the background.
    pub(super) fn is_in_background(&self) -> bool {
        let names = ["run_in_background", "is_background"];
        let is_set = |name: &&str| self.input.get(name) == Some(&Value::Bool(true));
        names.iter().any(is_set)
    }

    /// Returns the act of a patch in the format of Codex: a write or a deletion if the patch only adds or deletes files.
    pub(super) fn patch_act(&self, patch: &str) -> Act {
        let is_change = |line: &&str| line.starts_with("*** ") && line.contains(" File: ");
        let changes = || patch.lines().filter(is_change);
        let has = |start| changes().any(|line| line.starts_with(start));
        let verb = match ["*** Add", "*** Update", "*** Delete"].map(has) {
            [true, false, false] => Verb::Write,
            [_, _, false] => Verb::Edit,
            [false, false, true] => Verb::Delete,
            _ => Verb::Change,
        };
        Act::on_files(verb, patch_files(patch), self.cwd)
    }

    /// Returns the words for the end of a call that did not succeed.
    pub(super) fn failure_word(&self) -> &'static str {
        match self.outcome {
            CallOutcome::Declined => "declined",
            CallOutcome::Denied => "denied",
            CallOutcome::Interrupted => "interrupted",
            CallOutcome::Cancelled => "cancelled",
            CallOutcome::Ok | CallOutcome::Failed => "failed",
        }
    }
}

/// Whether a tool of any agent only reads, searches or lists files.
pub fn is_lookup(tool: &str) -> bool {
    matches!(
        Purpose::from_tool(tool),
        Purpose::Read | Purpose::Search | Purpose::Find | Purpose::List
    )
}

/// Returns the maximum number of bytes that the rules need of a result of this tool. The outcome is at the start;
/// contents of files are not used.
pub fn max_result_bytes(tool: &str) -> usize {
    match Purpose::from_tool(tool) {
        Purpose::Read | Purpose::ReadMany | Purpose::Write | Purpose::Edit => 768,
        _ => usize::MAX,
    }
}
