//! The acts of calls, by the purpose of their tools. Commands have their own rules.

use serde_json::{Map, Value};

use super::act::{Act, Failure, Told, Verb};
use super::call::Call;
use super::line::tell_command;
use crate::message::CallOutcome;
use crate::session::patch_in;
use crate::summaries::builtin::cut::cut_end;
use crate::summaries::builtin::names::{
    address, directory_name, file_name, pattern_noun, search_noun,
};
use crate::text::display_width;
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
    let (name, how) = (act.attempt(call.cwd), call.failure_word());
    Told::Failed(Failure::new(name, how, Vec::new()))
}

/// Returns the exit code of a task in the background.
fn task_code(call: &Call<'_>) -> Option<i64> {
    let tagged = call.text.split_once("<exit_code>");
    let tagged = tagged.and_then(|(_, rest)| rest.split('<').next()?.trim().parse().ok());
    tagged.or(call.status)
}

fn act(call: &Call<'_>) -> Act {
    use Verb::{
        AskUser, CallTool, CheckTask, Delete, Edit, List, LoadSkill, LookFor, Note, PresentPlan,
        Read, Request, RunAgent, Search, SearchWeb, SendInput, StartAgent, StopTask, UseTool,
        Write,
    };
    let given = |names: &[&str]| call.argument(names).unwrap_or_default().trim();
    let place = call.path().unwrap_or_default();
    // Codex lists the files of an edit in its streams.
    let changes = call.input.get("changes").and_then(Value::as_array);
    let listed = changes.into_iter().flatten();
    let listed = listed.filter_map(|change| change.get("path")?.as_str());
    let path = call.path().filter(|_| changes.is_none()).into_iter();
    let on_path = |verb| Act::on_files(verb, path.clone().chain(listed.clone()), call.cwd);
    match call.purpose {
        Purpose::Read => on_path(Read),
        Purpose::Edit if given(&["command"]) == "view" => on_path(Read),
        Purpose::ReadMany => {
            let held = |held| texts(call.input.as_object()?, held);
            let held = [Parameter::Path, Parameter::Glob].map(held);
            let paths = held.into_iter().flatten().flatten();
            Act::on_files(Read, paths, call.cwd)
        }
        Purpose::Write => on_path(Write),
        Purpose::Delete => on_path(Delete),
        Purpose::Edit | Purpose::Patch => on_path(Edit),
        Purpose::Search => {
            let noun = pattern_noun(given(&["pattern", "query", "regex"]));
            search_act(call, Search, search_noun(&noun, place, call.cwd))
        }
        Purpose::Find => {
            let noun = pattern_noun(given(&["pattern", "query", "glob"]));
            search_act(call, LookFor, search_noun(&noun, place, call.cwd))
        }
        Purpose::List => Act::named(List, directory_name(place, call.cwd)),
        Purpose::Background if given(parameters(Parameter::Stdin)).is_empty() => {
            Act::named(CheckTask, "")
        }
        Purpose::Background => Act::named(SendInput, ""),
        Purpose::StopBackground => Act::named(StopTask, ""),
        Purpose::Agent => {
            let mut first = call.text.lines().take(1);
            let is_launched = first.any(|line| line.contains("agent launched"));
            let goes_on = is_launched || call.is_in_background() || call.name.starts_with("spawn");
            let verb = if goes_on { StartAgent } else { RunAgent };
            let names = ["description", "task", "title", "prompt", "message"];
            Act::about(verb, given(&names))
        }
        Purpose::Todo => Act::named(Note, "todos").with_detail(current_todo(call)),
        Purpose::TaskCreate | Purpose::TaskUpdate => {
            Act::named(Note, "tasks").with_detail(given(&["subject"]).to_owned())
        }
        Purpose::Fetch => Act::named(
            Request,
            call.argument(&["url"]).map_or("a page".to_owned(), address),
        ),
        Purpose::WebSearch => Act::about(SearchWeb, given(&["query", "q"])),
        Purpose::Skill => Act::named(
            LoadSkill,
            cut_end(given(&["skill", "command", "name"]), NAME_CELLS),
        ),
        Purpose::ExitPlan => Act::about(
            PresentPlan,
            given(&["plan"]).trim_start_matches(['#', ' ', '*']),
        ),
        Purpose::Ask => Act::about(AskUser, first_question(call).unwrap_or_default()),
        Purpose::Mcp => {
            let name = call.name.trim_start_matches("mcp__");
            let (server, tool) = name.split_once("__").unwrap_or(("", name));
            let tool = tool.replace(['-', '_'], " ");
            let named = cut_end(&format!("{tool} ({server})"), NAME_CELLS);
            Act::named(CallTool, named).with_detail(argument(call))
        }
        _ => Act::named(UseTool, cut_end(call.name, NAME_CELLS)).with_detail(argument(call)),
    }
}

/// Returns the item of a list of todos that is in work; may be empty.
fn current_todo(call: &Call<'_>) -> String {
    let lists = ["todos", "plan"].iter();
    let items = lists.filter_map(|list| call.input.get(list)?.as_array());
    let is_current = |item: &&Value| item["status"] == "in_progress";
    let current = items.flatten().find(is_current);
    let names = ["content", "step", "description"].iter();
    let mut texts = names.filter_map(|name| current?.get(name)?.as_str());
    texts.next().unwrap_or_default().to_owned()
}

/// Returns the first question to the user.
fn first_question<'a>(call: &'a Call<'_>) -> Option<&'a str> {
    let first = call.input.get("questions").and_then(|list| list.get(0));
    let first = first.and_then(|first| first.get("question")?.as_str());
    first.or_else(|| call.argument(&["question"]))
}

/// Returns the file or the first short text among the arguments; may be empty.
fn argument(call: &Call<'_>) -> String {
    let is_short = |text: &&str| display_width(text) < NAME_CELLS && !text.contains('\n');
    // Ids are mostly digits.
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let is_text = |text: &&str| is_short(text) && digits(text) * 3 < text.len();
    let members = call.input.as_object().into_iter().flat_map(Map::values);
    let first = members.filter_map(Value::as_str).find(is_text);
    let path = call.path().map(|path| file_name(path, call.cwd));
    path.unwrap_or_else(|| first.unwrap_or_default().to_owned())
}

/// Returns the act of a search, which the result may show to have found nothing.
fn search_act(call: &Call<'_>, verb: Verb, noun: String) -> Act {
    let text = call.text.trim();
    let starts = text.starts_with("No ") || text.starts_with("Found 0 ");
    let is_nothing = text.is_empty() || starts && text.lines().count() < 3;
    let has_answer = is_nothing && call.outcome == CallOutcome::Ok;
    // In other files there may be matches.
    let is_filtered = verb == Verb::Search && call.argument(&["glob", "include", "type"]).is_some();
    let is_answer = has_answer && !is_filtered;
    Act::named(if is_answer { Verb::FindNothing } else { verb }, noun)
}
