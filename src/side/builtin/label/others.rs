//! Facts about calls other than those on files and commands.

use serde_json::Value;

use super::Call;
use super::fact::{About, Class, Fact, ending};
use crate::agent::exit_code;
use crate::message::CallOutcome;
use crate::side::builtin::clean::{cut, lower_first, upper_first};
use crate::side::builtin::names::{address, file_name};
use crate::side::builtin::prose::past_of;
use crate::tool_facts::Purpose;

/// Returns the fact about a call: `did` on success, else `doing` and the ending.
pub(super) fn plain(call: &Call<'_>, class: Class, did: &str, doing: &str) -> Fact {
    match call.status {
        CallOutcome::Ok => Fact::good(class, did),
        other => Fact::bad(class, format!("{doing} {}", ending(other))),
    }
}

pub(super) fn unknown(call: &Call<'_>) -> Fact {
    let name = cut(call.name, 36);
    plain(call, Class::Other, &format!("Used {name}"), &name)
}

/// Appends the topic to a phrase, if there is one.
fn about(phrase: &str, topic: &str) -> String {
    let colon = if topic.is_empty() { "" } else { ": " };
    format!("{phrase}{colon}{topic}")
}

pub(super) fn is_in_background(call: &Call<'_>) -> bool {
    call.input.get("run_in_background").and_then(Value::as_bool) == Some(true)
}

pub(super) fn background(call: &Call<'_>) -> Fact {
    let class = Class::Background;
    if call.kind == Purpose::StopBackground {
        return plain(
            call,
            class,
            "Stopped background task",
            "Stopping background task",
        );
    }
    if call.status != CallOutcome::Ok {
        return plain(call, class, "", "Background task check");
    }
    let tagged = |tag: &str| {
        let (_, rest) = call.text.split_once(&format!("<{tag}>"))?;
        rest.split('<').next().map(str::trim)
    };
    let code = tagged("exit_code").and_then(|code| code.parse().ok());
    let code = code.or_else(|| exit_code(call.text));
    match (tagged("status").unwrap_or_default(), code) {
        ("running" | "not_ready" | "pending", _) => {
            Fact::good(class, "Background task still running")
        }
        (_, Some(code)) if code != 0 => {
            Fact::bad(class, format!("Background task failed, exit {code}"))
        }
        ("failed" | "killed" | "error", _) => Fact::bad(class, "Background task failed"),
        ("completed", _) | (_, Some(_)) => Fact::good(class, "Background task finished"),
        _ => Fact::good(class, "Checked background task"),
    }
}

pub(super) fn agent(call: &Call<'_>) -> Fact {
    let topic = call.argument(&["description", "task", "title", "prompt", "message"]);
    let topic = topic
        .and_then(|text| text.lines().next())
        .unwrap_or_default();
    let topic = lower_first(&cut(topic.trim(), 44));
    let is_started = is_in_background(call) || call.text.starts_with("Async agent launched");
    let verb = if is_started { "Started" } else { "Ran" };
    let fact = match call.status {
        CallOutcome::Ok => Fact::good(Class::Agent, about(&format!("{verb} agent"), &topic)),
        CallOutcome::Declined => Fact::bad(Class::Agent, about("Agent rejected", &topic)),
        other => {
            let phrase = format!("Agent {}", ending(other));
            Fact::bad(Class::Agent, about(&phrase, &topic))
        }
    };
    fact.counted(verb, "agent").about(About::Named(topic))
}

pub(super) fn todo(call: &Call<'_>) -> Fact {
    let lists = ["todos", "plan", "items"];
    let list = lists
        .iter()
        .find_map(|name| call.input.get(name)?.as_array());
    let phrase = match list {
        None => "Updated todos".to_owned(),
        Some(list) => {
            let is_done =
                |todo: &&Value| matches!(todo["status"].as_str(), Some("completed" | "done"));
            let (count, done) = (list.len(), list.iter().filter(is_done).count());
            match (count, done) {
                (0, _) => "Cleared todos".to_owned(),
                (1, 1) => "Completed the only todo".to_owned(),
                _ if count == done => format!("Completed all {count} todos"),
                _ => format!("Updated todos, {done} of {count} done"),
            }
        }
    };
    plain(call, Class::Todo, &phrase, "Todo update")
}

pub(super) fn task(call: &Call<'_>) -> Fact {
    let id = call
        .argument(&["taskId", "task_id", "id"])
        .unwrap_or_default();
    let subject = call.argument(&["subject", "title", "description"]);
    let subject = cut(subject.unwrap_or_default(), 46);
    let state = match (call.kind, call.argument(&["status"])) {
        (Purpose::TaskCreate, _) => "added",
        (_, Some("in_progress")) => "started",
        (_, Some("completed")) => "completed",
        (_, Some("deleted" | "cancelled")) => "deleted",
        (_, Some("pending")) => "reopened",
        _ => "updated",
    };
    let (did, doing) = match call.kind {
        Purpose::TaskCreate => (format!("Added task: {subject}"), "Adding task".to_owned()),
        Purpose::TaskUpdate => (
            upper_first(&format!("{state} task {id}")),
            format!("Updating task {id}"),
        ),
        Purpose::TaskGet => (format!("Read task {id}"), format!("Reading task {id}")),
        _ => ("Listed tasks".to_owned(), "Listing tasks".to_owned()),
    };
    let fact = plain(call, Class::Task, &did, &doing);
    match call.kind {
        Purpose::TaskCreate | Purpose::TaskUpdate => fact.about(About::Task(state)),
        _ => fact,
    }
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
    let mut fact = plain(call, Class::Web, &format!("Fetched {place}"), &attempt);
    if let Some(code) = http_status(call.text).filter(|_| call.status == CallOutcome::Failed) {
        fact.phrase = format!("{}, {code}", fact.phrase);
    }
    fact.counted("Fetched", "fetch").about(About::Named(place))
}

fn http_status(text: &str) -> Option<&str> {
    let (_, rest) = text
        .split_once("status code ")
        .or_else(|| text.split_once("HTTP "))?;
    let code = rest.get(..3)?;
    code.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some(code)
}

pub(super) fn web_search(call: &Call<'_>) -> Fact {
    let query = call.argument(&["query", "q"]).unwrap_or_default();
    let words: Vec<&str> = query
        .split_whitespace()
        .filter(|word| !word.contains("site:") && !word.contains("filetype:"))
        .map(|word| word.trim_matches(['"', '\'']))
        .collect();
    let did = format!("Searched web for {}", cut(&words.join(" "), 36));
    plain(call, Class::Web, &did, "Web search")
}

pub(super) fn skill(call: &Call<'_>) -> Fact {
    let name = call
        .argument(&["skill", "command", "name"])
        .unwrap_or_default();
    let name = name.rsplit(':').next().unwrap_or_default();
    let name = name
        .trim_start_matches('/')
        .split(' ')
        .next()
        .unwrap_or_default();
    let name = cut(name, 36);
    if call.status == CallOutcome::Failed && call.text.contains("Unknown skill") {
        return Fact::bad(Class::Skill, format!("Unknown skill {name}"));
    }
    let (did, doing) = match call.kind {
        Purpose::SlashCommand => (format!("Ran /{name}"), format!("Command /{name}")),
        _ => (format!("Loaded skill {name}"), format!("Skill {name}")),
    };
    plain(call, Class::Skill, &did, &doing)
}

pub(super) fn plan(call: &Call<'_>) -> Fact {
    if call.kind == Purpose::EnterPlan {
        return plain(call, Class::Plan, "Entered plan mode", "Entering plan mode");
    }
    let mut lines = call.argument(&["plan"]).unwrap_or_default().lines();
    let heading = lines
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let heading = heading.trim_start_matches(['#', ' ', '*']);
    let prefixes = ["Plan:", "Implementation Plan:", "Plan -"];
    let subject = prefixes
        .iter()
        .find_map(|prefix| heading.strip_prefix(prefix));
    let subject = cut(subject.unwrap_or(heading).trim(), 42);
    match call.status {
        CallOutcome::Ok if call.text.contains("approved") => {
            Fact::good(Class::Plan, about("Plan approved", &subject))
        }
        CallOutcome::Ok => Fact::good(Class::Plan, about("Presented plan", &subject)),
        CallOutcome::Declined => Fact::bad(Class::Plan, about("Plan rejected", &subject)),
        other => {
            let phrase = format!("Plan {}", ending(other));
            Fact::bad(Class::Plan, about(&phrase, &subject))
        }
    }
}

pub(super) fn ask(call: &Call<'_>) -> Fact {
    let question = &call.input["questions"][0];
    let header = question["header"]
        .as_str()
        .or_else(|| question["question"].as_str());
    let header = header
        .or_else(|| call.argument(&["question"]))
        .unwrap_or_default();
    let header = lower_first(&cut(header.trim_end_matches('?'), 40));
    let did = match header.as_str() {
        "" => "Asked user".to_owned(),
        header => format!("Asked user about {header}"),
    };
    match call.status {
        CallOutcome::Denied | CallOutcome::Declined => {
            Fact::bad(Class::Ask, "Question to user declined")
        }
        _ => plain(call, Class::Ask, &did, "Question to user"),
    }
}

pub(super) fn lsp(call: &Call<'_>) -> Fact {
    let name = call
        .path()
        .map(|path| file_name(path, call.cwd))
        .unwrap_or_default();
    let words: Vec<&str> = call.text.split_whitespace().take(5).collect();
    let did = match words.as_slice() {
        [
            "Found",
            count,
            "references" | "reference",
            "across" | "in",
            files,
        ] if count
            .bytes()
            .chain(files.bytes())
            .all(|byte| byte.is_ascii_digit()) =>
        {
            format!("Found {count} references in {files} files")
        }
        _ => {
            let what = match call.argument(&["operation"]) {
                Some("findReferences") => "references",
                Some("hover") => "type",
                Some("documentSymbol" | "workspaceSymbol") => "symbols",
                Some(operation) if operation.to_lowercase().contains("call") => "calls",
                _ => "definition",
            };
            format!("Looked up {what} in {name}")
        }
    };
    plain(call, Class::Read, &did, &format!("LSP lookup in {name}"))
}

/// Maximum length of a phrase that is followed by the server's name, in bytes.
const MAX_PHRASE_BYTES: usize = 24;

pub(super) fn mcp(call: &Call<'_>) -> Fact {
    let mut parts = call.name.splitn(3, "__").skip(1);
    let server = parts.next().unwrap_or_default();
    let tool = parts.next().unwrap_or(server);
    let spaced = tool.replace(['-', '_'], " ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (first, rest) = words
        .split_first()
        .map_or(("", String::new()), |(first, rest)| {
            (*first, rest.join(" "))
        });
    let verb = match first {
        "get" => Some("Read"),
        other => past_of(other),
    };
    let noun = match thing(call) {
        Some(id) if !rest.is_empty() => format!("{rest} {id}"),
        Some(id) => id,
        None => rest.clone(),
    };
    let phrase = match (call.status, verb) {
        (CallOutcome::Ok, Some(verb)) => format!("{verb} {noun}"),
        (CallOutcome::Ok, None) => format!("Ran {}", words.join(" ")),
        (other, _) => format!("{} {}", upper_first(&words.join(" ")), ending(other)),
    };
    let phrase = phrase.trim().to_owned();
    if call.status != CallOutcome::Ok {
        return Fact::bad(Class::Mcp, phrase);
    }
    let shown = server.trim_end_matches("-server");
    let named = if phrase.len() <= MAX_PHRASE_BYTES
        && !phrase.contains('-')
        && shown.len() <= 12
        && shown != tool
    {
        format!("{phrase} ({shown})")
    } else {
        phrase
    };
    Fact::good(Class::Mcp, named)
}

/// Returns the id, if it is a short key or a number.
fn thing(call: &Call<'_>) -> Option<String> {
    let given = [
        "id",
        "issueId",
        "issue_id",
        "number",
        "pull_number",
        "issue_number",
        "key",
    ]
    .iter()
    .find_map(|name| match call.input.get(name)? {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    given
        .filter(|id| is_key(id))
        .or_else(|| identifier(call.text))
}

fn identifier(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("\"identifier\"")?;
    let id = rest
        .trim_start_matches([':', ' '])
        .strip_prefix('"')?
        .split('"')
        .next()?;
    is_key(id).then(|| id.to_owned())
}

/// `ABC-12`, or a number.
fn is_key(id: &str) -> bool {
    let digits = |text: &str| {
        !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    digits(id)
        || id.split_once('-').is_some_and(|(team, number)| {
            digits(number)
                && (1..=10).contains(&team.len())
                && team.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}
