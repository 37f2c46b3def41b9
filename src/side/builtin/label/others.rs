//! Facts about calls other than those on files and commands.

use serde_json::Value;

use super::fact::{About, Call, Class, Fact};
use crate::agent::exit_code;
use crate::message::CallOutcome;
use crate::side::builtin::clean::{cut, lower_first, upper_first};
use crate::side::builtin::names::{address, file_name};
use crate::tool_facts::{Parameter, Purpose, parameters};

pub(super) fn unknown(call: &Call<'_>) -> Fact {
    let name = cut(call.name, 36);
    Fact::of(call, Class::Other, &format!("Used {name}"), &name)
}

pub(super) fn is_in_background(call: &Call<'_>) -> bool {
    call.input.get("run_in_background").and_then(Value::as_bool) == Some(true)
}

pub(super) fn background(call: &Call<'_>) -> Fact {
    let plain = |did, doing| Fact::of(call, Class::Background, did, doing);
    if call.kind == Purpose::StopBackground {
        return plain("Stopped background task", "Stopping background task");
    }
    let tagged = |tag: &str| {
        let (_, rest) = call.text.split_once(&format!("<{tag}>"))?;
        rest.split('<').next().map(str::trim)
    };
    let code = tagged("exit_code").and_then(|code| code.parse().ok());
    let code = code.or_else(|| exit_code(&call.text));
    let did = match (tagged("status").unwrap_or_default(), code) {
        _ if call.argument(parameters(Parameter::Stdin)).is_some() => {
            "Sent input to background task"
        }
        ("running" | "not_ready" | "pending", _) => "Background task still running",
        ("failed" | "killed" | "error", _) | (_, Some(..=-1 | 1..))
            if call.status == CallOutcome::Ok =>
        {
            return Fact::bad(Class::Background, "Background task failed");
        }
        ("completed", _) | (_, Some(_)) => "Background task finished",
        _ => "Checked background task",
    };
    plain(did, "Background task check")
}

pub(super) fn agent(call: &Call<'_>) -> Fact {
    let topic = call.argument(&["description", "task", "title", "prompt", "message"]);
    let topic = topic.and_then(|text| text.lines().next());
    let topic = lower_first(&cut(topic.unwrap_or_default().trim(), 44));
    let is_started = is_in_background(call) || call.text.starts_with("Async agent launched");
    let verb = if is_started { "Started" } else { "Ran" };
    let fact = Fact::of(call, Class::Agent, &format!("{verb} agent"), "Agent").on(&topic);
    fact.counted(verb, "agent", About::Nothing)
}

pub(super) fn todo(call: &Call<'_>) -> Fact {
    let mut lists = ["todos", "plan", "items"].iter();
    let list = lists.find_map(|name| call.input.get(name)?.as_array());
    let did = list.map(|list| {
        let is_done = |todo: &&Value| matches!(todo["status"].as_str(), Some("completed" | "done"));
        let done = list.iter().filter(is_done).count();
        format!("Updated todos, {done} of {} done", list.len())
    });
    let did = did.as_deref().unwrap_or("Updated todos");
    Fact::of(call, Class::Todo, did, "Todo update")
}

pub(super) fn task(call: &Call<'_>) -> Fact {
    let verb = match (call.kind, call.argument(&["status"])) {
        (Purpose::TaskCreate, _) => "Added",
        (Purpose::TaskGet | Purpose::TaskList, _) => "Read",
        (_, Some("in_progress")) => "Started",
        (_, Some("completed")) => "Completed",
        (_, Some("deleted" | "cancelled")) => "Deleted",
        _ => "Updated",
    };
    let id = call.argument(&["taskId", "task_id", "id"]);
    let noun = if call.kind == Purpose::TaskList {
        "tasks"
    } else {
        "task"
    };
    let did = format!("{verb} {noun} {}", id.unwrap_or_default());
    let subject = call.argument(&["subject", "title", "description"]);
    let subject = subject.filter(|_| call.kind == Purpose::TaskCreate);
    let fact = Fact::of(call, Class::Task, did.trim_end(), "Task call");
    let fact = fact.on(&cut(subject.unwrap_or_default(), 46));
    fact.counted(verb, "task", About::Nothing)
}

pub(super) fn fetch(call: &Call<'_>) -> Fact {
    let in_prompt = || {
        let mut words = call.argument(&["prompt"])?.split_whitespace();
        words.find(|word| word.contains("://"))
    };
    let place = call.argument(&["url"]).or_else(in_prompt);
    let place = place.map_or_else(|| "a page".to_owned(), address);
    let attempt = format!("Fetch of {place}");
    if call.status == CallOutcome::Ok && call.text.trim_start().starts_with("REDIRECT DETECTED") {
        return Fact::bad(Class::Web, format!("{attempt} redirected"));
    }
    let fact = Fact::of(call, Class::Web, &format!("Fetched {place}"), &attempt);
    fact.counted("Fetched", "fetch", About::Named(place))
}

pub(super) fn web_search(call: &Call<'_>) -> Fact {
    let query = call.argument(&["query", "q"]).unwrap_or_default();
    let is_shown = |word: &&str| !word.contains("site:") && !word.contains("filetype:");
    let words: Vec<&str> = query.split_whitespace().filter(is_shown).collect();
    let query = cut(&words.join(" ").replace(['"', '\''], ""), 36);
    let did = format!("Searched web for {query}");
    Fact::of(call, Class::Web, &did, "Web search")
}

pub(super) fn skill(call: &Call<'_>) -> Fact {
    let name = call.argument(&["skill", "command", "name"]);
    let name = name.and_then(|name| name.split(' ').next()?.rsplit(':').next());
    let name = cut(name.unwrap_or_default().trim_start_matches('/'), 36);
    let (did, doing) = match call.kind {
        Purpose::SlashCommand => ("Ran command", "Command"),
        _ => ("Loaded skill", "Skill"),
    };
    let (did, doing) = (format!("{did} {name}"), format!("{doing} {name}"));
    Fact::of(call, Class::Skill, &did, &doing)
}

pub(super) fn plan(call: &Call<'_>) -> Fact {
    if call.kind == Purpose::EnterPlan {
        let (did, doing) = ("Entered plan mode", "Entering plan mode");
        return Fact::of(call, Class::Plan, did, doing);
    }
    let mut lines = call.argument(&["plan"]).unwrap_or_default().lines();
    let heading = lines.find(|line| !line.trim().is_empty());
    let heading = heading.unwrap_or_default().trim_matches(['#', ' ', '*']);
    let subject = heading.split_once("Plan:");
    let subject = subject.map_or(heading, |(_, subject)| subject);
    let did = if call.text.contains("approved") {
        "Plan approved"
    } else {
        "Presented plan"
    };
    Fact::of(call, Class::Plan, did, "Plan").on(&cut(subject.trim(), 42))
}

pub(super) fn ask(call: &Call<'_>) -> Fact {
    let question = &call.input["questions"][0];
    let header = question["header"].as_str();
    let header = header.or_else(|| question["question"].as_str());
    let header = header.or_else(|| call.argument(&["question"]));
    let header = lower_first(&cut(header.unwrap_or_default().trim_end_matches('?'), 40));
    let did = match header.as_str() {
        "" => "Asked user".to_owned(),
        header => format!("Asked user about {header}"),
    };
    Fact::of(call, Class::Ask, &did, "Question to user")
}

pub(super) fn lsp(call: &Call<'_>) -> Fact {
    let operation = call.argument(&["operation"]).unwrap_or("lookup");
    let name = file_name(call.path().unwrap_or_default(), call.cwd);
    let (did, doing) = (
        format!("Ran LSP {operation} in {name}"),
        format!("LSP {operation}"),
    );
    Fact::of(call, Class::Read, &did, &doing)
}

/// Maximum length of a label that ends with the server's name, in bytes.
const MAX_SERVER_BYTES: usize = 36;

pub(super) fn mcp(call: &Call<'_>) -> Fact {
    let mut parts = call.name.splitn(3, "__").skip(1);
    let server = parts.next().unwrap_or_default();
    let words = parts.next().unwrap_or(server).replace(['-', '_'], " ");
    let mut ids = ["id", "issueId", "issue_id", "number", "pull_number", "key"].iter();
    let id = ids.find_map(|name| match call.input.get(name)? {
        Value::String(id) if id.len() <= 12 => Some(format!(" {id}")),
        Value::Number(number) => Some(format!(" {number}")),
        _ => None,
    });
    let id = id.unwrap_or_default();
    // The name of a tool does not tell what it changes.
    let did = format!("Called {words}{id}");
    let named = format!("{did} ({server})");
    let did = if named.len() <= MAX_SERVER_BYTES {
        named
    } else {
        did
    };
    Fact::of(call, Class::Mcp, &did, &upper_first(&words))
}
