//! Facts about calls of MCP tools: a verb, a noun, and an id.

use super::Call;
use super::fact::{Class, Fact, ending};
use crate::message::CallOutcome;
use crate::side::builtin::clean::upper_first;
use crate::side::builtin::command::past_of;

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
