//! Facts about everything that is neither a file nor a command.

use serde_json::Value;

use super::Finished;
use super::fact::{About, Class, Fact};
use super::facts::refusal;
use super::files::PATHS;
use super::status::{Status, exit_code};
use super::tool_kind::ToolKind;
use crate::side::builtin::clean::cut;
use crate::side::builtin::names::{address, file_name};
use crate::side::builtin::shell::lowered_first;

/// A success and a failure in plain words.
pub(super) fn plain(call: &Finished<'_>, class: Class, did: &str, doing: &str) -> Fact {
    match call.status {
        Status::Ok => Fact::good(class, did),
        other => Fact::bad(
            class,
            format!("{doing} {}", refusal(other).unwrap_or("failed")),
        ),
    }
}

pub(super) fn unknown(call: &Finished<'_>) -> Fact {
    let name = cut(call.name, 36);
    plain(call, Class::Other, &format!("Used {name}"), &name)
}

pub(super) fn background(call: &Finished<'_>) -> Fact {
    if call.kind == ToolKind::StopBackground {
        return plain(
            call,
            Class::Background,
            "Stopped background task",
            "Stopping background task",
        );
    }
    let tagged = |tag: &str| {
        let (_, rest) = call.text.split_once(&format!("<{tag}>"))?;
        rest.split('<').next().map(str::trim)
    };
    let state = tagged("status").unwrap_or_default();
    let code = tagged("exit_code")
        .and_then(|code| code.parse().ok())
        .or_else(|| exit_code(call.text));
    match (call.status, state, code) {
        (Status::Ok, "running" | "not_ready" | "pending", _) => {
            Fact::good(Class::Background, "Background task still running")
        }
        (Status::Ok, "failed" | "killed" | "error", Some(code)) if code != 0 => Fact::bad(
            Class::Background,
            format!("Background task failed, exit {code}"),
        ),
        (Status::Ok, "failed" | "killed" | "error", _) => {
            Fact::bad(Class::Background, "Background task failed")
        }
        (Status::Ok, _, Some(code)) if code != 0 => Fact::bad(
            Class::Background,
            format!("Background task failed, exit {code}"),
        ),
        (Status::Ok, "completed", _) | (Status::Ok, _, Some(_)) => {
            Fact::good(Class::Background, "Background task finished")
        }
        (Status::Ok, _, _) => Fact::good(Class::Background, "Checked background task"),
        (other, _, _) => Fact::bad(
            Class::Background,
            format!(
                "Background task check {}",
                refusal(other).unwrap_or("failed")
            ),
        ),
    }
}

pub(super) fn agent(call: &Finished<'_>) -> Fact {
    let about = call
        .argument(&["description", "task", "title", "prompt", "message"])
        .map(|text| text.lines().next().unwrap_or_default().trim())
        .unwrap_or_default();
    let about = lowered_first(&cut(about, 44));
    let colon = if about.is_empty() { "" } else { ": " };
    let in_background = call.input.get("run_in_background").and_then(Value::as_bool) == Some(true)
        || call.text.starts_with("Async agent launched");
    let phrase = match call.status {
        Status::Ok if in_background => format!("Started agent{colon}{about}"),
        Status::Ok => format!("Ran agent{colon}{about}"),
        Status::Declined => format!("Agent rejected{colon}{about}"),
        other => format!("Agent {}{colon}{about}", refusal(other).unwrap_or("failed")),
    };
    let fact = match call.status {
        Status::Ok => Fact::good(Class::Agent, phrase),
        _ => Fact::bad(Class::Agent, phrase),
    };
    let verb = if in_background { "Started" } else { "Ran" };
    fact.counted(verb, "agent").about(About::Named(about))
}

pub(super) fn todo(call: &Finished<'_>) -> Fact {
    let list = ["todos", "plan", "items"]
        .iter()
        .find_map(|name| call.input.get(name)?.as_array());
    if call.status != Status::Ok {
        return plain(call, Class::Todo, "", "Todo update");
    }
    let Some(list) = list else {
        return Fact::good(Class::Todo, "Updated todos");
    };
    let done = list
        .iter()
        .filter(|todo| matches!(todo["status"].as_str(), Some("completed" | "done")))
        .count();
    let count = list.len();
    let phrase = match (count, done) {
        (0, _) => "Cleared todos".to_owned(),
        (1, 1) => "Completed the only todo".to_owned(),
        _ if count == done => format!("Completed all {count} todos"),
        _ => format!("Updated todos, {done} of {count} done"),
    };
    Fact::good(Class::Todo, phrase)
}

pub(super) fn task(call: &Finished<'_>) -> Fact {
    let id = call
        .argument(&["taskId", "task_id", "id"])
        .unwrap_or_default();
    match call.kind {
        ToolKind::TaskCreate => {
            let subject = cut(
                call.argument(&["subject", "title", "description"])
                    .unwrap_or_default(),
                46,
            );
            plain(
                call,
                Class::Task,
                &format!("Added task: {subject}"),
                "Adding task",
            )
            .about(About::Task("added"))
        }
        ToolKind::TaskUpdate => {
            let (did, state) = match call.argument(&["status"]) {
                Some("in_progress") => ("Started", "started"),
                Some("completed") => ("Completed", "completed"),
                Some("deleted" | "cancelled") => ("Deleted", "deleted"),
                Some("pending") => ("Reopened", "reopened"),
                _ => ("Updated", "updated"),
            };
            plain(
                call,
                Class::Task,
                &format!("{did} task {id}"),
                &format!("Updating task {id}"),
            )
            .about(About::Task(state))
        }
        ToolKind::TaskGet => plain(
            call,
            Class::Task,
            &format!("Read task {id}"),
            &format!("Reading task {id}"),
        ),
        _ => plain(call, Class::Task, "Listed tasks", "Listing tasks"),
    }
}

pub(super) fn fetch(call: &Finished<'_>) -> Fact {
    let place = call
        .argument(&["url"])
        .or_else(|| url_in(call.argument(&["prompt"])?));
    let place = place.map_or_else(|| "a page".to_owned(), address);
    match call.status {
        Status::Ok if call.text.trim_start().starts_with("REDIRECT DETECTED") => {
            Fact::bad(Class::Web, format!("Fetch of {place} redirected"))
        }
        Status::Ok => Fact::good(Class::Web, format!("Fetched {place}"))
            .counted("Fetched", "fetch")
            .about(About::Named(place)),
        Status::Failed => {
            let code = http_status(call.text).map_or_else(String::new, |code| format!(", {code}"));
            Fact::bad(Class::Web, format!("Fetch of {place} failed{code}"))
        }
        other => Fact::bad(
            Class::Web,
            format!("Fetch of {place} {}", refusal(other).unwrap_or("failed")),
        ),
    }
}

fn url_in(text: &str) -> Option<&str> {
    text.split_whitespace().find(|word| word.contains("://"))
}

fn http_status(text: &str) -> Option<&str> {
    let at = text
        .find("status code ")
        .map(|at| at + 12)
        .or_else(|| text.find("HTTP ").map(|at| at + 5))?;
    text.get(at..at + 3)
        .filter(|code| code.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(super) fn web_search(call: &Finished<'_>) -> Fact {
    let query = call.argument(&["query", "q"]).unwrap_or_default();
    let words: Vec<&str> = query
        .split_whitespace()
        .filter(|word| !word.contains("site:") && !word.contains("filetype:"))
        .map(|word| word.trim_matches(['"', '\'']))
        .collect();
    let query = cut(&words.join(" "), 36);
    plain(
        call,
        Class::Web,
        &format!("Searched web for {query}"),
        "Web search",
    )
}

pub(super) fn skill(call: &Finished<'_>) -> Fact {
    let name = call
        .argument(&["skill", "command", "name"])
        .unwrap_or_default();
    let name = name.rsplit(':').next().unwrap_or_default();
    let name = cut(
        name.trim_start_matches('/')
            .split(' ')
            .next()
            .unwrap_or_default(),
        36,
    );
    match call.status {
        Status::Failed if call.text.contains("Unknown skill") => {
            Fact::bad(Class::Skill, format!("Unknown skill {name}"))
        }
        _ if call.kind == ToolKind::SlashCommand => plain(
            call,
            Class::Skill,
            &format!("Ran /{name}"),
            &format!("Command /{name}"),
        ),
        _ => plain(
            call,
            Class::Skill,
            &format!("Loaded skill {name}"),
            &format!("Skill {name}"),
        ),
    }
}

pub(super) fn plan(call: &Finished<'_>) -> Fact {
    if call.kind == ToolKind::EnterPlan {
        return plain(call, Class::Plan, "Entered plan mode", "Entering plan mode");
    }
    let heading = call
        .argument(&["plan"])
        .and_then(|plan| plan.lines().find(|line| !line.trim().is_empty()))
        .map(|line| line.trim_start_matches(['#', ' ', '*']))
        .unwrap_or_default();
    let heading = ["Plan:", "Implementation Plan:", "Plan -"]
        .iter()
        .find_map(|prefix| heading.strip_prefix(prefix))
        .unwrap_or(heading)
        .trim();
    let heading = cut(heading, 42);
    let colon = if heading.is_empty() { "" } else { ": " };
    match call.status {
        Status::Ok if call.text.contains("approved") => {
            Fact::good(Class::Plan, format!("Plan approved{colon}{heading}"))
        }
        Status::Ok => Fact::good(Class::Plan, format!("Presented plan{colon}{heading}")),
        Status::Failed => Fact::bad(Class::Plan, format!("Plan failed{colon}{heading}")),
        Status::Declined => Fact::bad(Class::Plan, format!("Plan rejected{colon}{heading}")),
        other => Fact::bad(
            Class::Plan,
            format!(
                "Plan {}{colon}{heading}",
                refusal(other).unwrap_or("failed")
            ),
        ),
    }
}

pub(super) fn ask(call: &Finished<'_>) -> Fact {
    let question = &call.input["questions"][0];
    let header = question["header"]
        .as_str()
        .or_else(|| question["question"].as_str());
    let header = header
        .or_else(|| call.argument(&["question"]))
        .unwrap_or_default();
    let header = lowered_first(&cut(header.trim_end_matches('?'), 40));
    let about = if header.is_empty() {
        String::new()
    } else {
        format!(" about {header}")
    };
    match call.status {
        Status::Ok => Fact::good(Class::Ask, format!("Asked user{about}")),
        Status::Failed => Fact::bad(Class::Ask, "Question to user failed"),
        Status::Denied | Status::Declined => Fact::bad(Class::Ask, "Question to user declined"),
        other => Fact::bad(
            Class::Ask,
            format!("Question to user {}", refusal(other).unwrap_or("failed")),
        ),
    }
}

pub(super) fn lsp(call: &Finished<'_>) -> Fact {
    let name = call
        .argument(&PATHS)
        .map(|path| file_name(path, call.cwd))
        .unwrap_or_default();
    if call.status != Status::Ok {
        return plain(call, Class::Read, "", &format!("LSP lookup in {name}"));
    }
    let words: Vec<&str> = call.text.split_whitespace().take(7).collect();
    if let [
        "Found",
        count,
        "references" | "reference",
        "across" | "in",
        files,
        "files:" | "files" | "file:" | "file",
        ..,
    ] = words.as_slice()
        && count
            .bytes()
            .chain(files.bytes())
            .all(|byte| byte.is_ascii_digit())
    {
        return Fact::good(
            Class::Read,
            format!("Found {count} references in {files} files"),
        );
    }
    let what = match call.argument(&["operation"]) {
        Some("goToDefinition" | "goToImplementation") => "definition",
        Some("findReferences") => "references",
        Some("hover") => "type",
        Some("documentSymbol" | "workspaceSymbol") => "symbols",
        Some(operation) if operation.contains("Call") || operation.contains("call") => "calls",
        _ => "definition",
    };
    Fact::good(Class::Read, format!("Looked up {what} in {name}"))
}
