//! The acts of calls, by the purpose of their tools. Commands have their own rules.

use serde_json::Value;

use super::act::{Act, Failure, Object, Told, Verb};
use super::call::Call;
use super::line::tell_command;
use crate::agent::exit_code;
use crate::message::CallOutcome;
use crate::side::builtin::clean::{lower_first, upper_first};
use crate::side::builtin::cut::cut;
use crate::side::builtin::names::{
    address, directory_name, file_names, glob_noun, pattern_noun, sought,
};
use crate::tool_facts::{Parameter, Purpose, parameters, texts};

/// Maximum width of a topic, in cells.
const TOPIC_CELLS: usize = 44;

/// Tells what a finished call did.
pub(super) fn tell(call: &Call<'_>) -> Told {
    if call.outcome == CallOutcome::Cancelled {
        return Told::Cancelled;
    }
    let command = (call.purpose == Purpose::Shell).then(|| tell_command(call));
    if let Some(told) = command.flatten() {
        return told;
    }
    let act = act(call);
    let is_bad_task = act.verb == Verb::CheckTask && task_code(call).is_some_and(|code| code != 0);
    if call.outcome == CallOutcome::Ok && !is_bad_task {
        return Told::Done(vec![act]);
    }
    let (past, attempt) = act.verb.words();
    let object = match act.object {
        Object::Named(name) => name,
        Object::Files(paths) => file_names(&paths, call.cwd),
    };
    let name = match (attempt, object.as_str()) {
        ("", "") => past.to_owned(),
        ("", object) => upper_first(object),
        (attempt, object) => format!("{attempt} {object}").trim_end().to_owned(),
    };
    let topic = act.topic;
    Told::Failed(Failure {
        topic,
        ..Failure::new(name, call.how_it_failed(), Vec::new())
    })
}

/// Returns the exit code of a task in the background.
fn task_code(call: &Call<'_>) -> Option<i64> {
    let tagged = call.text.split_once("<exit_code>");
    let tagged = tagged.and_then(|(_, rest)| rest.split('<').next()?.trim().parse().ok());
    tagged.or_else(|| exit_code(&call.text))
}

fn act(call: &Call<'_>) -> Act {
    use Verb::{
        AddTask, AskUser, CallTool, CheckTask, Delete, Edit, List, LoadSkill, LookFor, Note,
        PresentPlan, Read, Request, Run, RunAgent, Search, SearchWeb, SendInput, StartAgent,
        StopTask, UseTool, Write,
    };
    let given = |names: &[&str]| call.argument(names).unwrap_or_default().trim();
    let topic = |names: &[&str]| cut(given(names).lines().next().unwrap_or_default(), TOPIC_CELLS);
    let on_path = |verb| call.on_files(verb, call.path().into_iter());
    match call.purpose {
        Purpose::Read => on_path(Read),
        Purpose::Edit if given(&["command"]) == "view" => on_path(Read),
        Purpose::ReadMany => {
            let held = |held| texts(call.input.as_object()?, held);
            let paths = [Parameter::Path, Parameter::Glob]
                .into_iter()
                .filter_map(held);
            call.on_files(Read, paths.flatten())
        }
        Purpose::Write => on_path(Write),
        Purpose::Delete => on_path(Delete),
        Purpose::Patch if call.path().is_none() => {
            call.on_patch(given(parameters(Parameter::Patch)))
        }
        Purpose::Edit | Purpose::Patch => on_path(Edit),
        Purpose::Search => {
            let pattern = given(&["pattern", "query", "regex"]);
            let noun = pattern_noun(pattern).unwrap_or_else(|| cut(pattern, 30));
            let place = call.path().unwrap_or_default();
            found(call, Search, sought(&noun, place, call.cwd))
        }
        Purpose::Find => {
            let noun = glob_noun(given(&["pattern", "query", "glob"]));
            found(call, LookFor, noun)
        }
        Purpose::List => {
            let place = call.path().unwrap_or_default();
            Act::named(List, directory_name(place, call.cwd))
        }
        Purpose::Background if given(parameters(Parameter::Stdin)).is_empty() => {
            Act::named(CheckTask, "")
        }
        Purpose::Background => Act::named(SendInput, ""),
        Purpose::StopBackground => Act::named(StopTask, ""),
        Purpose::Agent => {
            let goes_on = call.is_in_background()
                || call.name.starts_with("spawn")
                || call
                    .text
                    .lines()
                    .next()
                    .is_some_and(|line| line.contains("agent launched"));
            let about = topic(&["description", "task", "title", "prompt", "message"]);
            let verb = if goes_on { StartAgent } else { RunAgent };
            Act::about(verb, lower_first(&about))
        }
        Purpose::Todo => Act::named(Note, todos(call)),
        Purpose::TaskCreate => Act::named(AddTask, topic(&["subject", "title", "description"])),
        Purpose::TaskUpdate => {
            let (id, status) = (given(&["taskId", "task_id", "id"]), given(&["status"]));
            let task = format!("task {id} ({status})").replace(" ()", "");
            Act::named(Note, cut(&task, TOPIC_CELLS))
        }
        Purpose::TaskList | Purpose::TaskGet => Act::named(Read, "tasks"),
        Purpose::Fetch => Act::named(Request, fetched(call)),
        Purpose::WebSearch => {
            Act::named(SearchWeb, topic(&["query", "q"]).replace(['"', '\''], ""))
        }
        Purpose::Skill | Purpose::SlashCommand => {
            let name = given(&["skill", "command", "name"]).split(' ').next();
            let is_skill = call.purpose == Purpose::Skill;
            let verb = if is_skill { LoadSkill } else { Run };
            Act::named(verb, cut(name.unwrap_or_default(), 36))
        }
        Purpose::ExitPlan => {
            let heading = given(&["plan"]).lines().next().unwrap_or_default();
            let heading = heading.trim_matches(['#', ' ', '*']);
            Act::about(PresentPlan, cut(heading, TOPIC_CELLS))
        }
        Purpose::Ask => {
            let asked = &call.input["questions"][0];
            let header = asked["header"].as_str().or(asked["question"].as_str());
            let header = header.unwrap_or_else(|| given(&["question"]));
            Act::about(AskUser, cut(header, TOPIC_CELLS))
        }
        Purpose::ToolSearch => Act::named(LookFor, "tools"),
        Purpose::Mcp => {
            // The name does not tell what the call changes.
            let name = call.name.trim_start_matches("mcp__");
            let (server, tool) = name.split_once("__").unwrap_or(("", name));
            let named = format!("{} ({server})", tool.replace(['-', '_'], " "));
            Act::named(CallTool, cut(&named, TOPIC_CELLS))
        }
        _ => Act::named(UseTool, cut(call.name, 36)),
    }
}

/// Returns the act of a search, which the result may show to have found nothing.
fn found(call: &Call<'_>, verb: Verb, noun: String) -> Act {
    let text = call.text.trim();
    let starts = text.starts_with("No ") || text.starts_with("Found 0 ");
    let is_nothing = text.is_empty() || starts && text.lines().count() < 3;
    let is_nothing = is_nothing && call.outcome == CallOutcome::Ok;
    Act::named(if is_nothing { Verb::FindNothing } else { verb }, noun)
}

/// Returns the name of the page of a request.
fn fetched(call: &Call<'_>) -> String {
    let prompt = call.argument(&["prompt"]).unwrap_or_default();
    let in_prompt = prompt.split_whitespace().find(|word| word.contains("://"));
    let place = call.argument(&["url"]).or(in_prompt);
    place.map_or_else(|| "a page".to_owned(), address)
}

/// Returns `todos, 1 of 3 done`.
fn todos(call: &Call<'_>) -> String {
    let mut lists = ["todos", "plan", "items"].iter();
    let list = lists.find_map(|name| call.input.get(name)?.as_array());
    let is_done = |todo: &&Value| matches!(todo["status"].as_str(), Some("completed" | "done"));
    let Some(list) = list else {
        return "todos".to_owned();
    };
    format!(
        "todos, {} of {} done",
        list.iter().filter(is_done).count(),
        list.len()
    )
}
