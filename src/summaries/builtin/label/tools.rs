//! The acts of calls, by the purpose of their tools. Commands have their own rules.

use super::act::{Act, Failure, Told, Verb};
use super::call::Call;
use super::line::tell_command;
use crate::agent::exit_code;
use crate::message::CallOutcome;
use crate::session::patch_in;
use crate::summaries::builtin::cut::cut;
use crate::summaries::builtin::names::{address, directory_name, pattern_noun, sought};
use crate::tool_facts::{Parameter, Purpose, parameters, texts};

/// Maximum width of a name, in cells.
const NAME_CELLS: usize = 44;

/// Tells what a finished call did.
pub(super) fn tell(call: &Call<'_>) -> Told {
    if call.outcome == CallOutcome::Cancelled {
        return Told::Cancelled;
    }
    let runs = matches!(call.purpose, Purpose::Shell | Purpose::Patch);
    let patch = call.input.as_object().filter(|_| runs).and_then(patch_in);
    let command = (call.purpose == Purpose::Shell && patch.is_none()).then(|| tell_command(call));
    if let Some(told) = command.flatten() {
        return told;
    }
    let act = patch.map_or_else(|| act(call), |patch| call.on_patch(patch));
    let is_bad_task = act.verb == Verb::CheckTask && task_code(call).is_some_and(|code| code != 0);
    if call.outcome == CallOutcome::Ok && !is_bad_task {
        return Told::Done(vec![act]);
    }
    let (name, how) = (act.attempt(call.cwd), call.how_it_failed());
    Told::Failed(Failure::new(name, how, Vec::new()))
}

/// Returns the exit code of a task in the background.
fn task_code(call: &Call<'_>) -> Option<i64> {
    let tagged = call.text.split_once("<exit_code>");
    let tagged = tagged.and_then(|(_, rest)| rest.split('<').next()?.trim().parse().ok());
    tagged.or_else(|| exit_code(&call.text))
}

fn act(call: &Call<'_>) -> Act {
    use Verb::{
        AskUser, CallTool, CheckTask, Delete, Edit, List, LoadSkill, LookFor, Note, PresentPlan,
        Read, Request, RunAgent, Search, SearchWeb, SendInput, StartAgent, StopTask, UseTool,
        Write,
    };
    let given = |names: &[&str]| call.argument(names).unwrap_or_default().trim();
    let place = call.path().unwrap_or_default();
    let on_path = |verb| Act::on_files(verb, call.path(), call.cwd);
    match call.purpose {
        Purpose::Read => on_path(Read),
        Purpose::Edit if given(&["command"]) == "view" => on_path(Read),
        Purpose::ReadMany => {
            let held = |held| texts(call.input.as_object()?, held);
            let paths = [Parameter::Path, Parameter::Glob]
                .into_iter()
                .filter_map(held);
            Act::on_files(Read, paths.flatten(), call.cwd)
        }
        Purpose::Write => on_path(Write),
        Purpose::Delete => on_path(Delete),
        Purpose::Edit | Purpose::Patch => on_path(Edit),
        Purpose::Search => {
            let noun = pattern_noun(given(&["pattern", "query", "regex"]));
            found(call, Search, sought(&noun, place, call.cwd))
        }
        Purpose::Find => found(
            call,
            LookFor,
            pattern_noun(given(&["pattern", "query", "glob"])),
        ),
        Purpose::List => Act::named(List, directory_name(place, call.cwd)),
        Purpose::Background if given(parameters(Parameter::Stdin)).is_empty() => {
            Act::named(CheckTask, "")
        }
        Purpose::Background => Act::named(SendInput, ""),
        Purpose::StopBackground => Act::named(StopTask, ""),
        Purpose::Agent => {
            let is_launched = call
                .text
                .lines()
                .take(1)
                .any(|line| line.contains("agent launched"));
            let goes_on = is_launched || call.is_in_background() || call.name.starts_with("spawn");
            let verb = if goes_on { StartAgent } else { RunAgent };
            Act::about(
                verb,
                given(&["description", "task", "title", "prompt", "message"]),
            )
        }
        Purpose::Todo => Act::named(Note, "todos"),
        Purpose::TaskCreate | Purpose::TaskUpdate => Act::named(Note, "tasks"),
        Purpose::Fetch => Act::named(
            Request,
            call.argument(&["url"]).map_or("a page".to_owned(), address),
        ),
        Purpose::WebSearch => Act::about(SearchWeb, given(&["query", "q"])),
        Purpose::Skill => Act::named(
            LoadSkill,
            cut(given(&["skill", "command", "name"]), NAME_CELLS),
        ),
        Purpose::ExitPlan => Act::about(
            PresentPlan,
            given(&["plan"]).trim_start_matches(['#', ' ', '*']),
        ),
        Purpose::Ask => Act::named(AskUser, ""),
        Purpose::Mcp => {
            // The name does not tell what the call changes.
            let name = call.name.trim_start_matches("mcp__");
            let (server, tool) = name.split_once("__").unwrap_or(("", name));
            let named = format!("{} ({server})", tool.replace(['-', '_'], " "));
            Act::named(CallTool, cut(&named, NAME_CELLS))
        }
        _ => Act::named(UseTool, cut(call.name, NAME_CELLS)),
    }
}

/// Returns the act of a search, which the result may show to have found nothing.
fn found(call: &Call<'_>, verb: Verb, noun: String) -> Act {
    let text = call.text.trim();
    let starts = text.starts_with("No ") || text.starts_with("Found 0 ");
    let is_nothing = text.is_empty() || starts && text.lines().count() < 3;
    let has_answer = is_nothing && call.outcome == CallOutcome::Ok;
    let is_filtered = verb == Verb::Search && call.argument(&["glob", "include", "type"]).is_some();
    match (has_answer, is_filtered) {
        (false, _) => Act::named(verb, noun),
        (true, false) => Act::named(Verb::FindNothing, noun),
        (true, true) => Act::named(Verb::FindNothing, noun).in_some_files(),
    }
}
