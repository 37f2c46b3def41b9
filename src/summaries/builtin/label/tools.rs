//! The acts of calls, by the purpose of their tools. Commands have their own rules.

use serde_json::{Map, Value};

use super::act::{Act, CallActs, Verb};
use super::call::Call;
use super::line::describe_command;
use crate::message::CallOutcome;
use crate::session::find_patch;
use crate::summaries::builtin::cut::cut_end;
use crate::summaries::builtin::names::{
    directory_name, file_name, name_search, quote_pattern, shorten_url,
};
use crate::text::display_width;
use crate::tool_facts::{Parameter, Purpose, find_alias, parameters, texts};

/// Maximum width of a name, in cells.
const NAME_CELLS: usize = 44;

/// Describes what a finished call did.
pub(super) fn describe_call(call: &Call<'_>) -> CallActs {
    if call.outcome == CallOutcome::Cancelled {
        return CallActs::default();
    }
    let runs = matches!(call.purpose, Purpose::Shell | Purpose::Patch);
    let patch = call.input.as_object().filter(|_| runs).and_then(find_patch);
    let command =
        (call.purpose == Purpose::Shell && patch.is_none()).then(|| describe_command(call));
    if let Some(acts) = command.flatten() {
        return acts;
    }
    let act = patch.map_or_else(|| find_act(call), |patch| call.patch_act(patch));
    let is_bad_task = act.verb == Verb::CheckTask && task_code(call).is_some_and(|code| code != 0);
    if call.outcome == CallOutcome::Ok && !is_bad_task {
        return CallActs::done(vec![act]);
    }
    let name = act.describe_attempt(call.cwd);
    CallActs::failed(name, call.failure_word(), Vec::new())
}

/// Returns the exit code of a task in the background.
fn task_code(call: &Call<'_>) -> Option<i64> {
    let tagged = call.text.split_once("<exit_code>");
    let tagged = tagged.and_then(|(_, rest)| rest.split('<').next()?.trim().parse().ok());
    tagged.or(call.status)
}

/// Returns the act of a call by the purpose of its tool.
fn find_act(call: &Call<'_>) -> Act {
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
            let read = |parameter| texts(call.input.as_object()?, parameter);
            let values = [Parameter::Path, Parameter::Glob].map(read);
            let paths = values.into_iter().flatten().flatten();
            Act::on_files(Read, paths, call.cwd)
        }
        Purpose::Write => on_path(Write),
        Purpose::Delete => on_path(Delete),
        Purpose::Edit | Purpose::Patch => on_path(Edit),
        Purpose::Search => {
            let noun = quote_pattern(given(&["pattern", "query", "regex"]));
            search_act(call, Search, name_search(&noun, place, call.cwd))
        }
        Purpose::Find => {
            let noun = quote_pattern(given(&["pattern", "query", "glob"]));
            search_act(call, LookFor, name_search(&noun, place, call.cwd))
        }
        Purpose::List => Act::new(List, directory_name(place, call.cwd)),
        Purpose::Background if given(parameters(Parameter::Stdin)).is_empty() => {
            Act::new(CheckTask, "")
        }
        Purpose::Background => Act::new(SendInput, ""),
        Purpose::StopBackground => Act::new(StopTask, ""),
        Purpose::Agent => {
            let mut first = call.text.lines().take(1);
            let is_launched = first.any(|line| line.contains("agent launched"));
            let continues =
                is_launched || call.is_in_background() || call.name.starts_with("spawn");
            let verb = if continues { StartAgent } else { RunAgent };
            let names = ["description", "task", "title", "prompt", "message"];
            Act::quoting(verb, given(&names))
        }
        Purpose::Todo => Act::new(Note, "todos").with_detail(current_todo(call)),
        Purpose::TaskCreate | Purpose::TaskUpdate => {
            Act::new(Note, "tasks").with_detail(given(&["subject"]).to_owned())
        }
        Purpose::Fetch => {
            let url = call.argument(&["url"]).map(shorten_url);
            Act::new(Request, url.unwrap_or_else(|| "a page".to_owned()))
        }
        Purpose::WebSearch => Act::quoting(SearchWeb, given(&["query", "q"])),
        Purpose::Skill => Act::new(
            LoadSkill,
            cut_end(given(&["skill", "command", "name"]), NAME_CELLS),
        ),
        Purpose::ExitPlan => Act::quoting(
            PresentPlan,
            given(&["plan"]).trim_start_matches(['#', ' ', '*']),
        ),
        Purpose::Ask => Act::quoting(AskUser, first_question(call).unwrap_or_default()),
        Purpose::Mcp => {
            let name = call.name.trim_start_matches("mcp__");
            let (server, tool) = name.split_once("__").unwrap_or(("", name));
            let tool = tool.replace(['-', '_'], " ");
            let named = cut_end(&format!("{tool} ({server})"), NAME_CELLS);
            Act::new(CallTool, named).with_detail(main_argument(call))
        }
        _ => Act::new(UseTool, cut_end(call.name, NAME_CELLS)).with_detail(main_argument(call)),
    }
}

/// Returns the item in progress of a list of todos; may be empty.
fn current_todo(call: &Call<'_>) -> String {
    let input = call.input.as_object().cloned().unwrap_or_default();
    let rewritten = match find_alias(call.name) {
        Some(alias) => alias.rewrite_arguments(input),
        None => Ok(input),
    };
    // Arguments of another form name no item.
    let todos = rewritten.unwrap_or_default().remove("todos");
    let mut items = todos.iter().filter_map(Value::as_array).flatten();
    let only = items.clone().next().filter(|_| items.clone().count() == 1);
    let current = items.find(|item| item["status"] == "in_progress").or(only);
    let content = current.and_then(|item| item["content"].as_str());
    content.unwrap_or_default().to_owned()
}

/// Returns the first question to the user.
fn first_question<'a>(call: &'a Call<'_>) -> Option<&'a str> {
    let first = call.input.get("questions").and_then(|list| list.get(0));
    let first = first.and_then(|first| first.get("question")?.as_str());
    first.or_else(|| call.argument(&["question"]))
}

/// Returns the file or the first short text among the arguments; may be empty.
fn main_argument(call: &Call<'_>) -> String {
    let is_short = |text: &&str| display_width(text) < NAME_CELLS && !text.contains('\n');
    // Ids are mostly digits.
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let is_text = |text: &&str| is_short(text) && digits(text) * 3 < text.len();
    let members = call.input.as_object().into_iter().flat_map(Map::values);
    let first = members.filter_map(Value::as_str).find(is_text);
    let path = call.path().map(|path| file_name(path, call.cwd));
    path.unwrap_or_else(|| first.unwrap_or_default().to_owned())
}

/// Returns the act of a search; `FindNothing` if the result shows that there were no matches.
fn search_act(call: &Call<'_>, verb: Verb, noun: String) -> Act {
    let text = call.text.trim();
    let starts = text.starts_with("No ") || text.starts_with("Found 0 ");
    let says_nothing = text.is_empty() || starts && text.lines().count() < 3;
    let has_no_matches = says_nothing && call.outcome == CallOutcome::Ok;
    // A filtered search says nothing about other files.
    let is_filtered = verb == Verb::Search && call.argument(&["glob", "include", "type"]).is_some();
    let is_proven = has_no_matches && !is_filtered;
    Act::new(if is_proven { Verb::FindNothing } else { verb }, noun)
}
