//! Turns a finished call into a fact.

use super::fact::{About, Call, Class, Fact, Outcome, ending};
use super::{files, others};
use crate::agent::exit_code;
use crate::message::{CallOutcome, start_of_result};
use crate::side::builtin::command;
use crate::tool_facts::{Parameter, Purpose, command_line, parameters};

/// Returns the fact of one call.
pub(super) fn fact(call: &Call<'_>) -> Fact {
    let mut fact = match call.kind {
        Purpose::Read | Purpose::ReadMany => files::read(call),
        Purpose::Write => files::write(call),
        Purpose::Edit if call.argument(&["command"]) == Some("view") => files::read(call),
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
        Purpose::Memory => Fact::of(call, Class::Other, "Saved memory", "Saving memory"),
        Purpose::ToolSearch => Fact::of(call, Class::Search, "Searched for tools", "Tool search"),
        Purpose::Mcp => others::mcp(call),
        Purpose::Delete => files::delete(call),
        Purpose::McpResource | Purpose::Other => others::unknown(call),
    };
    if call.status == CallOutcome::Cancelled {
        fact.outcome = Outcome::Cancelled;
    }
    fact
}

fn command(call: &Call<'_>) -> Fact {
    let mut names = parameters(Parameter::Command).iter();
    let given = names.find_map(|name| call.input.get(name));
    let Some(text) = given.and_then(command_line) else {
        return others::unknown(call);
    };
    let start = start_of_result(&call.text);
    let line = text.trim_end();
    let ends_in_background = line.ends_with('&') && !line.ends_with("&&");
    let background = others::is_in_background(call)
        || ends_in_background
        || start.contains("running in background")
        || start.contains("running in the background")
        || start.contains("Process running with session ID");
    let report = command::describe(&command::Run {
        command: &text,
        description: call.argument(&["description"]),
        output: &call.text,
        ending: match call.status {
            CallOutcome::Ok if background => command::Ending::InBackground,
            CallOutcome::Ok => match exit_code(&call.text) {
                // Claude Code marks failed commands itself.
                Some(code) if code != 0 && call.name != "Bash" => {
                    command::Ending::Failed(Some(code))
                }
                _ => command::Ending::Ok,
            },
            CallOutcome::Failed => command::Ending::Failed(exit_code(&call.text)),
            other => command::Ending::Refused(ending(other)),
        },
        cwd: call.cwd,
    });
    let class = if report.is_check {
        Class::Check
    } else {
        Class::Shell
    };
    let create = if report.failed { Fact::bad } else { Fact::good };
    Fact {
        finding: report.finding,
        effect: report.effect,
        ..create(class, report.phrase).counted(&report.verb, "command", About::Named(report.object))
    }
}
