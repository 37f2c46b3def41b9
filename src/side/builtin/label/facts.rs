//! Turns a finished call into a fact.

use super::{Call, files, mcp, others};
use crate::agent::exit_code;
use crate::side::builtin::command;
use crate::tool_facts::Purpose;

/// The fact of one call.
pub(super) fn fact(call: &Call<'_>) -> Fact {
    let mut fact = match call.kind {
        Purpose::Read | Purpose::ReadMany => files::read(call),
        Purpose::Write => files::write(call),
        Purpose::Edit | Purpose::Patch => files::edit(call),
        Purpose::Search => files::search(call),
        Purpose::Find => files::find(call),
        Purpose::List => files::list(call),
        Purpose::Shell => command(call),
        Purpose::Background | Purpose::StopBackground => others::background(call),
        Purpose::Agent => others::agent(call),
        Purpose::Todo => others::todo(call),
        Purpose::TaskCreate | Purpose::TaskUpdate | Purpose::TaskList | Purpose::TaskGet => {
            others::task(call)
        }
        Purpose::Fetch => others::fetch(call),
        Purpose::WebSearch => others::web_search(call),
        Purpose::Skill | Purpose::SlashCommand => others::skill(call),
        Purpose::ExitPlan | Purpose::EnterPlan => others::plan(call),
        Purpose::Ask => others::ask(call),
        Purpose::Lsp => others::lsp(call),
        Purpose::Memory => others::plain(call, Class::Other, "Saved memory", "Saving memory"),
        Purpose::ToolSearch => {
            others::plain(call, Class::Search, "Searched for tools", "Tool search")
        }
        Purpose::Mcp => mcp::mcp(call),
        Purpose::Delete | Purpose::Other => others::unknown(call),
    };
    if call.status == Status::Cancelled {
        fact.outcome = Outcome::Cancelled;
    }
    fact
}

fn command(call: &Call<'_>) -> Fact {
    let Some(text) = command::command_of(&call.input) else {
        return others::unknown(call);
    };
    let start = beginning(call.text);
    let background = others::is_in_background(call)
        || start.contains("running in background")
        || start.contains("running in the background");
    let report = command::describe(&command::Run {
        command: &text,
        description: call.argument(&["description"]),
        output: call.text,
        ending: match call.status {
            Status::Ok if background => command::Ending::InBackground,
            Status::Ok => match exit_code(call.text) {
                // Claude Code marks failed commands itself.
                Some(code) if code != 0 && call.name != "Bash" => {
                    command::Ending::Failed(Some(code))
                }
                _ => command::Ending::Ok,
            },
            Status::Failed => command::Ending::Failed(exit_code(call.text)),
            other => command::Ending::Refused(other.ending()),
        },
        cwd: call.cwd,
    });
    let class = if report.is_check {
        Class::Check
    } else {
        Class::Shell
    };
    let fact = if report.failed {
        Fact::bad(class, report.phrase)
    } else {
        Fact::good(class, report.phrase)
    };
    fact.counted("", "command").about(About::Act {
        verb: report.verb,
        object: report.object,
        finding: report.finding,
    })
}

/// Size of the start of a result that is read, in bytes.
const START_BYTES: usize = 600;

/// The status of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
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

impl Status {
    /// The words for an unsuccessful call.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Declined => "declined by user",
            Self::Denied => "denied",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
            Self::Ok | Self::Failed => "failed",
        }
    }
}

/// Results of calls that did not run, or not to the end.
const REFUSALS: [(&str, Status); 8] = [
    (
        "doesn't want to proceed with this tool use",
        Status::Declined,
    ),
    ("tool use was rejected", Status::Declined),
    ("Operation cancelled by user", Status::Declined),
    ("requested permission", Status::Denied),
    ("Permission to use ", Status::Denied),
    ("denied by permission rule", Status::Denied),
    ("[Request interrupted by user", Status::Interrupted),
    ("Sibling tool call errored", Status::Cancelled),
];

/// The part of a result that shows the status.
pub(super) fn beginning(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.floor_char_boundary(START_BYTES)]
}

/// Finds the status of a call in its result.
pub(super) fn status(text: &str, failed: bool) -> Status {
    let start = beginning(text);
    // The same words inside a file have no meaning.
    let says = |words: &str| {
        if failed {
            start.contains(words)
        } else {
            start
                .strip_prefix("The user ")
                .unwrap_or(start)
                .starts_with(words)
        }
    };
    if let Some((_, status)) = REFUSALS.iter().find(|(words, _)| says(words)) {
        return *status;
    }
    if failed || start.starts_with("<tool_use_error>") {
        return Status::Failed;
    }
    Status::Ok
}

/// The class of a call, in the order of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Class {
    /// Tests, lints, builds.
    Check,
    Edit,
    Write,
    Shell,
    Agent,
    Plan,
    Ask,
    Mcp,
    Web,
    Background,
    Skill,
    Read,
    Search,
    Find,
    List,
    Task,
    Todo,
    Other,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It succeeded, as far as known.
    Good,
    /// It failed, was declined, or its output reports failures.
    Bad,
    /// It was cancelled because of another call.
    Cancelled,
}

/// The topic of a call, with which several calls can share a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum About {
    /// None.
    Nothing,
    /// A file, by its path.
    File(String),
    /// A search.
    Sought {
        /// The searched text.
        noun: String,
        /// There was a match.
        found: bool,
    },
    /// A name.
    Named(String),
    /// A task that changed to this state.
    Task(&'static str),
    /// A command: verb and object.
    Act {
        /// E.g. `Ran`, `Viewed git`.
        verb: String,
        /// E.g. `lint`, `log`.
        object: String,
        /// The result in the output, e.g. `passed`.
        finding: String,
    },
}

/// A finished call, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    /// The class.
    pub(super) class: Class,
    /// The phrase for this call alone.
    pub(super) phrase: String,
    /// The outcome.
    pub(super) outcome: Outcome,
    /// The topic.
    pub(super) about: About,
    /// The verb of a success, e.g. `Edited`.
    pub(super) verb: &'static str,
    /// The noun for counted calls, e.g. `edit`.
    pub(super) noun: &'static str,
}

impl Fact {
    /// Creates a success without a topic.
    pub(super) fn good(class: Class, phrase: impl Into<String>) -> Self {
        Self {
            class,
            phrase: phrase.into(),
            outcome: Outcome::Good,
            about: About::Nothing,
            verb: "",
            noun: "call",
        }
    }

    /// Creates a failure.
    pub(super) fn bad(class: Class, phrase: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Bad,
            ..Self::good(class, phrase)
        }
    }

    /// Sets the topic.
    pub(super) fn about(self, about: About) -> Self {
        Self { about, ..self }
    }

    /// Sets the verb and the noun for several such calls.
    pub(super) fn counted(self, verb: &'static str, noun: &'static str) -> Self {
        Self { verb, noun, ..self }
    }
}

#[cfg(test)]
mod status_tests {
    use super::*;

    #[test]
    fn results_show_the_status() {
        let table = [
            (
                "The user doesn't want to proceed with this tool use.",
                true,
                Status::Declined,
            ),
            ("12: // The tool use was rejected", false, Status::Ok),
            (
                "Permission to use Bash with command rm has been denied.",
                true,
                Status::Denied,
            ),
            (
                "[Request interrupted by user for tool use]",
                true,
                Status::Interrupted,
            ),
            (
                "<tool_use_error>Sibling tool call errored</tool_use_error>",
                true,
                Status::Cancelled,
            ),
            (
                "<tool_use_error>File does not exist.</tool_use_error>",
                false,
                Status::Failed,
            ),
            ("fine", false, Status::Ok),
        ];
        for (text, failed, expected) in table {
            assert_eq!(status(text, failed), expected, "{text}");
        }
    }
}
