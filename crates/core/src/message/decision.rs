//! Decisions about calls, and how calls end.

use crate::text::names;
use schemars::JsonSchema;
use serde::Serialize;

/// Permission decision for a call, ordered by strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call may run.
    Allow,
    /// The user must approve the call.
    Ask,
    /// The call must not run.
    Deny,
}

/// Origin of a permission decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DecidedBy {
    /// The permission mode.
    Mode {
        /// The mode, e.g. `acceptEdits`.
        #[schemars(with = "String")]
        mode: Mode,
    },
    /// A built-in rule.
    Builtin {
        /// The rule, e.g. `critical-path`.
        #[schemars(with = "String")]
        builtin: BuiltinRule,
    },
    /// A configured rule.
    Rule {
        /// The rule, as written.
        rule: String,
        /// Decision for matching calls.
        behavior: Decision,
        /// The option or file that contains the rule.
        source: String,
    },
    /// A hook.
    Hook {
        /// The hook event.
        hook: String,
    },
    /// A permission prompt.
    Prompt {
        /// Kind of prompt: `tty`, `stdio`, or the name of a tool.
        prompt: String,
    },
    /// Nothing matched.
    Default {
        /// Always `true`.
        default: bool,
    },
}

/// The permission mode (`--permission-mode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Read-only calls run; all others need approval. `manual` is the same.
    #[default]
    #[cfg_attr(feature = "clap", value(alias = "manual"))]
    Default,
    /// Changes to files in the working directories run as well.
    #[cfg_attr(feature = "clap", value(name = "acceptEdits"))]
    AcceptEdits,
    /// Read-only calls run; all others need approval, even if a rule allows them.
    Plan,
    /// A model decides about calls that no rule decides.
    Auto,
    /// Calls that no rule decides are denied.
    #[cfg_attr(feature = "clap", value(name = "dontAsk"))]
    DontAsk,
    /// All calls run, except calls that no mode allows.
    #[cfg_attr(feature = "clap", value(name = "bypassPermissions"))]
    BypassPermissions,
}

names! {
    Mode: Default = "default", AcceptEdits = "acceptEdits", Plan = "plan", Auto = "auto",
    DontAsk = "dontAsk", BypassPermissions = "bypassPermissions",
}

/// A built-in rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuiltinRule {
    /// Read-only calls are allowed.
    ReadOnly,
    /// Commands that the kernel keeps in a workspace are allowed.
    Confined,
    /// Removing critical paths outside the project needs approval.
    CriticalPath,
    /// Changing files that determine which programs run needs approval.
    Protected,
    /// A command line that cannot be parsed needs approval.
    Unparsable,
    /// A command needs approval if its program or paths are known only at run time and a rule restricts
    /// some of them.
    Unresolved,
}

impl BuiltinRule {
    /// Returns the effect of a call that triggers the rule, as a verb phrase.
    pub fn effect(self) -> &'static str {
        match self {
            Self::ReadOnly => "only reads",
            Self::Confined => "cannot leave its workspace",
            Self::CriticalPath => "removes a critical path",
            Self::Protected => "changes a file that determines which programs run",
            Self::Unparsable => "cannot be parsed",
            Self::Unresolved => "evaluates text that may do what a deny or ask rule is about",
        }
    }
}

/// Size of the start of a result that is read, in bytes.
const MAX_START_BYTES: usize = 600;

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// It succeeded.
    Ok,
    /// It failed.
    Failed,
    /// The user declined it.
    Declined,
    /// A rule denied it.
    Denied,
    /// The user interrupted it.
    Interrupted,
    /// It was cancelled because a parallel call failed.
    Cancelled,
}

/// Beginnings of results that agents do not mark as failed.
const OUTCOME_PREFIXES: [(&str, CallOutcome); 18] = [
    ("<tool_use_error>", CallOutcome::Failed),
    (
        "Command was automatically cancelled because it exceeded the timeout",
        CallOutcome::Failed,
    ),
    ("Command was cancelled", CallOutcome::Interrupted),
    ("Command cancelled by user", CallOutcome::Interrupted),
    ("Command timed out after ", CallOutcome::Failed),
    ("command timed out after ", CallOutcome::Failed),
    ("aborted by user", CallOutcome::Interrupted),
    ("exec command rejected by user", CallOutcome::Declined),
    ("patch rejected by user", CallOutcome::Declined),
    ("patch rejected: ", CallOutcome::Denied),
    ("apply_patch verification failed: ", CallOutcome::Failed),
    ("exec_command failed", CallOutcome::Failed),
    ("exec command failed", CallOutcome::Failed),
    ("sandbox denied exec error", CallOutcome::Failed),
    ("execution error: ", CallOutcome::Failed),
    ("failed in sandbox", CallOutcome::Failed),
    ("failed to parse function arguments: ", CallOutcome::Failed),
    ("unsupported call: ", CallOutcome::Failed),
];

/// Phrases in results of calls that did not run or did not finish.
const OUTCOME_PHRASES: [(&str, CallOutcome); 23] = [
    (
        "doesn't want to proceed with this tool use",
        CallOutcome::Declined,
    ),
    (
        "doesn't want to take this action right now",
        CallOutcome::Declined,
    ),
    ("Permission for this action was denied", CallOutcome::Denied),
    ("tool use was rejected", CallOutcome::Declined),
    ("User did not allow tool call", CallOutcome::Declined),
    ("User denied execution", CallOutcome::Declined),
    ("requested permission", CallOutcome::Denied),
    ("Permission to use ", CallOutcome::Denied),
    ("denied by permission rule", CallOutcome::Denied),
    ("but that permission was declined", CallOutcome::Denied),
    ("Tool execution denied by policy", CallOutcome::Denied),
    ("Tool execution blocked: ", CallOutcome::Denied),
    ("Command blocked by PreToolUse hook", CallOutcome::Denied),
    ("Rejected(\\\"rejected by user", CallOutcome::Declined),
    ("CreateProcess { message: \"Rejected(", CallOutcome::Denied),
    ("<tool_use_error>The use of ", CallOutcome::Denied),
    (" hook blocked this call of ", CallOutcome::Denied),
    ("[Request interrupted by user", CallOutcome::Interrupted),
    ("Operation cancelled by user", CallOutcome::Interrupted),
    (
        "The user interrupted before this call",
        CallOutcome::Interrupted,
    ),
    ("The user interrupted this call", CallOutcome::Interrupted),
    ("Sibling tool call errored", CallOutcome::Cancelled),
    ("Cancelled: parallel tool call ", CallOutcome::Cancelled),
];

/// Returns the part of a result that shows the outcome.
pub fn start_of_result(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.floor_char_boundary(MAX_START_BYTES)]
}

impl CallOutcome {
    /// Whether the user or a rule denied the call.
    pub fn is_denied(self) -> bool {
        matches!(self, Self::Denied | Self::Declined)
    }

    /// Determines the outcome of a call from the text of its result and the agent's failure mark. A known beginning
    /// counts first, then a phrase, then the mark; but a phrase takes precedence over a beginning that only says that
    /// the call failed.
    pub fn from_result(text: &str, failed: bool) -> Self {
        let start = start_of_result(text);
        let after_label = start.strip_prefix("Wall time: ");
        let after_time = after_label.and_then(|after_label| Some(after_label.split_once('\n')?.1));
        let start = after_time.unwrap_or(start);
        let mut prefixes = OUTCOME_PREFIXES.iter();
        let by_prefix = prefixes
            .find(|(words, _)| start.starts_with(words))
            .map(|(_, outcome)| *outcome)
            .or(failed.then_some(Self::Failed));
        // A successful result may quote a phrase, so only its start counts.
        let has_phrase = |words: &str| {
            if by_prefix.is_some() {
                start.contains(words)
            } else {
                start
                    .strip_prefix("The user ")
                    .unwrap_or(start)
                    .starts_with(words)
            }
        };
        let refusal = OUTCOME_PHRASES.iter().find(|(words, _)| has_phrase(words));
        let refusal = refusal.map(|(_, outcome)| *outcome);
        let by_prefix = by_prefix.filter(|known| refusal.is_none() || *known != Self::Failed);
        by_prefix.or(refusal).unwrap_or(Self::Ok)
    }
}

#[cfg(test)]
mod outcome_tests {
    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "it is a table")]
    fn results_show_the_outcome() {
        let table = [
            (
                "The user doesn't want to proceed with this tool use.",
                true,
                CallOutcome::Declined,
            ),
            ("12: // The tool use was rejected", false, CallOutcome::Ok),
            (
                "Permission to use Bash with command rm has been denied.",
                true,
                CallOutcome::Denied,
            ),
            (
                "Qwen Code requires permission to use \"edit\", but that permission was declined.",
                true,
                CallOutcome::Denied,
            ),
            (
                "Tool execution denied by policy.",
                true,
                CallOutcome::Denied,
            ),
            (
                "Command blocked by PreToolUse hook: no. Command: make",
                false,
                CallOutcome::Denied,
            ),
            (
                "<tool_use_error>The use of Bash was refused: not now</tool_use_error>",
                true,
                CallOutcome::Denied,
            ),
            (
                "A PreToolUse hook blocked this call of Bash: no",
                true,
                CallOutcome::Denied,
            ),
            (
                "The user interrupted before this call started. It did not run.",
                true,
                CallOutcome::Interrupted,
            ),
            (
                "<tool_use_error>Cancelled: parallel tool call Bash(x) errored: y</tool_use_error>",
                true,
                CallOutcome::Cancelled,
            ),
            (
                "[Request interrupted by user for tool use]",
                true,
                CallOutcome::Interrupted,
            ),
            (
                "[Operation Cancelled] Reason: Operation cancelled by user",
                true,
                CallOutcome::Interrupted,
            ),
            (
                "[Operation Cancelled] Reason: User did not allow tool call",
                true,
                CallOutcome::Declined,
            ),
            (
                "<tool_use_error>Sibling tool call errored</tool_use_error>",
                true,
                CallOutcome::Cancelled,
            ),
            (
                "<tool_use_error>File does not exist.</tool_use_error>",
                false,
                CallOutcome::Failed,
            ),
            (
                "Wall time: 12.5 seconds\naborted by user",
                false,
                CallOutcome::Interrupted,
            ),
            ("aborted by user after 5.0s", true, CallOutcome::Interrupted),
            (
                "exec command rejected by user",
                false,
                CallOutcome::Declined,
            ),
            ("patch rejected by user", false, CallOutcome::Declined),
            (
                "patch rejected: writing outside of the project; rejected by user approval settings",
                false,
                CallOutcome::Denied,
            ),
            (
                "exec_command failed for `rm x`: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }",
                false,
                CallOutcome::Declined,
            ),
            (
                "exec_command failed: CreateProcess { message: \"Rejected(\\\"unacceptable risk\\\")\" }",
                false,
                CallOutcome::Denied,
            ),
            (
                "exec_command failed for `x`: CreateProcess { message: \"No such file\" }",
                false,
                CallOutcome::Failed,
            ),
            (
                "apply_patch verification failed: Failed to find expected lines in a.rs",
                false,
                CallOutcome::Failed,
            ),
            ("execution error: Io(NotFound)", false, CallOutcome::Failed),
            (
                "failed in sandbox LinuxSeccomp with execution error: Timeout",
                false,
                CallOutcome::Failed,
            ),
            (
                "Wall time: 1 seconds\nOutput:\naborted by user",
                false,
                CallOutcome::Ok,
            ),
            (
                "Command was cancelled by user before it could complete.",
                false,
                CallOutcome::Interrupted,
            ),
            (
                "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes",
                false,
                CallOutcome::Failed,
            ),
            ("Command timed out after 2m 0s", false, CallOutcome::Failed),
            ("Command timed out after 2m 0s", true, CallOutcome::Failed),
            (
                "exec command failed: CreateProcess { message: \"Rejected(\\\"no\\\")\" }",
                false,
                CallOutcome::Denied,
            ),
            (
                "The user doesn't want to take this action right now. STOP",
                true,
                CallOutcome::Declined,
            ),
            (
                "Permission for this action was denied by the classifier. Reason: x",
                true,
                CallOutcome::Denied,
            ),
            ("12: aborted by user", false, CallOutcome::Ok),
            ("fine", false, CallOutcome::Ok),
        ];
        for (text, failed, expected) in table {
            assert_eq!(CallOutcome::from_result(text, failed), expected, "{text}");
        }
    }
}
