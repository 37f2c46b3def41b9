//! From a finished call to a fact.

use super::fact::{About, Class, Fact, Outcome};
use super::status::{Status, beginning};
use super::tool_kind::ToolKind;
use super::{Call, files, mcp, others};
use crate::dialog::exit_code;
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
                // Claude Code says by itself which of its shells failed.
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
