//! From a finished call to a fact.

use super::fact::{Class, Fact, Verdict};
use super::status::Status;
use super::tool_kind::ToolKind;
use super::{Call, files, mcp, others};
use crate::side::builtin::command;

/// The fact of one call.
pub(super) fn fact(call: &Call<'_>) -> Fact {
    let mut fact = match call.kind {
        ToolKind::Read | ToolKind::ReadMany => files::read(call),
        ToolKind::Write => files::write(call),
        ToolKind::Edit | ToolKind::Patch => files::edit(call),
        ToolKind::Search => files::search(call),
        ToolKind::Find => files::find(call),
        ToolKind::List => files::list(call),
        ToolKind::Shell => command(call),
        ToolKind::Background | ToolKind::StopBackground => others::background(call),
        ToolKind::Agent => others::agent(call),
        ToolKind::Todo => others::todo(call),
        ToolKind::TaskCreate | ToolKind::TaskUpdate | ToolKind::TaskList | ToolKind::TaskGet => {
            others::task(call)
        }
        ToolKind::Fetch => others::fetch(call),
        ToolKind::WebSearch => others::web_search(call),
        ToolKind::Skill | ToolKind::SlashCommand => others::skill(call),
        ToolKind::ExitPlan | ToolKind::EnterPlan => others::plan(call),
        ToolKind::Ask => others::ask(call),
        ToolKind::Lsp => others::lsp(call),
        ToolKind::Memory => others::plain(call, Class::Other, "Saved memory", "Saving memory"),
        ToolKind::ToolSearch => {
            others::plain(call, Class::Search, "Searched for tools", "Tool search")
        }
        ToolKind::Mcp => mcp::mcp(call),
        ToolKind::Unknown => others::unknown(call),
    };
    if call.status == Status::Cancelled {
        fact.verdict = Verdict::Cancelled;
    }
    fact
}

/// What a refusal is called, after what was refused; nothing for a success or a plain failure.
pub(super) fn refusal(status: Status) -> Option<&'static str> {
    match status {
        Status::Declined => Some("declined by user"),
        Status::Denied => Some("denied"),
        Status::Interrupted => Some("interrupted"),
        Status::Cancelled => Some("cancelled"),
        Status::Ok | Status::Failed => None,
    }
}

fn command(call: &Call<'_>) -> Fact {
    let text = command::command_of(&call.input);
    let Some(text) = text else {
        return others::unknown(call);
    };
    let background = call
        .input
        .get("run_in_background")
        .and_then(serde_json::Value::as_bool)
        == Some(true)
        || call.text.contains("running in background")
        || call.text.contains("running in the background");
    let told = command::describe(&command::Run {
        command: &text,
        description: call.argument(&["description"]),
        output: call.text,
        ending: match call.status {
            Status::Ok if background => command::Ending::InBackground,
            Status::Ok => match super::status::exit_code(call.text) {
                Some(code) if code != 0 => command::Ending::Failed(Some(code)),
                _ => command::Ending::Ok,
            },
            Status::Failed => command::Ending::Failed(super::status::exit_code(call.text)),
            other => command::Ending::Refused(refusal(other).unwrap_or("failed")),
        },
        cwd: call.cwd,
    });
    let class = if told.is_check {
        Class::Check
    } else {
        Class::Shell
    };
    let fact = if told.failed {
        Fact::bad(class, told.phrase)
    } else {
        Fact::good(class, told.phrase)
    };
    fact.counted("", "command").about(super::fact::About::Act {
        verb: told.verb,
        object: told.object,
        finding: told.finding,
    })
}
