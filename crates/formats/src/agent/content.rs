//! Helpers that several formats share.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::shell_end::has_failed;
use crate::api::{self, Signed};
use turnpipe_core::io::Environment;
pub(super) use turnpipe_core::json::{is_true, string};
use turnpipe_core::json::{number, object, text};
use turnpipe_core::message::{
    Block, Call, CallEnd, Message, Origin, ResultPart, Role, ToolResult, Usage, split_blocks,
};
pub(super) use turnpipe_core::message::{input_of, result_parts};

/// Returns the time in a record: RFC 3339, or milliseconds since 1970.
pub(super) fn parse_time(raw: Option<&RawValue>) -> Option<Timestamp> {
    match number(raw) {
        Some(milliseconds) => Timestamp::from_millisecond(i64::try_from(milliseconds).ok()?).ok(),
        None => timestamp(text(raw).as_deref()),
    }
}

/// Parses a time as stored in a record; `None` if it is not RFC 3339.
pub fn timestamp(time: Option<&str>) -> Option<Timestamp> {
    time?.parse().ok()
}

/// Whether the word is in a list of words separated by blanks.
pub fn is_in(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// Returns a count, or 0 if it is absent.
pub(super) fn read_count(raw: Option<&RawValue>) -> u64 {
    number(raw).unwrap_or_default()
}

/// Returns a number that may have a fraction, such as a cost.
pub(super) fn read_decimal(raw: Option<&RawValue>) -> Option<f64> {
    raw?.get().parse().ok()
}

/// Returns the tokens of these counts: input, output, read from the cache, and written to it.
pub(super) fn read_tokens(counts: [Option<&RawValue>; 4]) -> Usage {
    let [input, output, cache_read, cache_write] = counts.map(read_count);
    Usage {
        input,
        output,
        cache_read,
        cache_write,
        ..Usage::default()
    }
}

/// Like [`read_tokens`], if the input includes what is cached.
pub(super) fn read_inclusive_tokens(counts: [Option<&RawValue>; 4]) -> Usage {
    let usage = read_tokens(counts);
    Usage {
        input: usage
            .input
            .saturating_sub(usage.cache_read + usage.cache_write),
        ..usage
    }
}

/// Reads content of the Gemini API. Results of shell tools that report a failure count as failed.
pub(super) fn read_gemini_blocks(content: Option<&RawValue>, signed: Signed) -> Vec<Block> {
    let blocks = api::read_gemini_blocks(content, signed).into_iter();
    let checked = blocks.map(|(mut block, _)| {
        if let Block::Result(result) = &mut block {
            result.failed |= has_shell_failed(&result.parts);
        }
        block
    });
    checked.collect()
}

/// Creates a message with a single text block.
pub(super) fn new_text(role: Role, origin: Origin, text: String) -> Message {
    new_message(role, origin, vec![Block::Text(text)])
}

/// Creates a message with the result of a call.
pub(super) fn new_result(result: ToolResult) -> Message {
    new_results(vec![Block::Result(result)])
}

/// Creates a message with results of calls.
pub(super) fn new_results(results: Vec<Block>) -> Message {
    new_message(Role::User, Origin::Results, results)
}

/// Creates a reply of the model.
pub(super) fn new_reply(blocks: Vec<Block>) -> Message {
    new_message(Role::Assistant, Origin::Reply, blocks)
}

/// Creates a call.
pub(super) fn new_call(id: String, name: String, input: Box<RawValue>) -> Block {
    Block::Call(Call {
        id,
        name,
        input,
        signature: None,
    })
}

/// Creates a message.
pub(super) fn new_message(role: Role, origin: Origin, blocks: Vec<Block>) -> Message {
    Message {
        blocks,
        ..Message::new(role, origin)
    }
}

/// Splits a user row into messages of one origin each: results, text that the agent injected, and text that
/// the user typed.
pub(super) fn split_user(origin: Origin, content: Vec<Block>) -> Vec<Message> {
    if content.is_empty() {
        return vec![new_message(Role::User, origin, content)];
    }
    let is_result = |block: &Block| matches!(block, Block::Result(_));
    let is_text = |block: &Block| matches!(block, Block::Text(_));
    let (mut results, mut rest): (Vec<_>, Vec<_>) = content.into_iter().partition(is_result);
    if !results.is_empty() && !rest.iter().any(is_text) {
        results.append(&mut rest);
    }
    let (injected, own) = match origin {
        Origin::Prompt => split_blocks(rest),
        _ => (Vec::new(), rest),
    };
    let parts = [
        (Origin::Results, results),
        (Origin::Injected, injected),
        (origin, own),
    ];
    let parts = parts.into_iter().filter(|(_, blocks)| !blocks.is_empty());
    parts
        .map(|(origin, blocks)| new_message(Role::User, origin, blocks))
        .collect()
}

/// Whether the output of a shell tool reports a failure. Agents record such calls as successful.
pub(super) fn has_shell_failed(parts: &[ResultPart]) -> bool {
    let mut parts = parts.iter();
    parts.any(|part| matches!(part, ResultPart::Text(text) if has_failed(text)))
}

/// Builds an object with one member.
pub(super) fn wrap_member(name: &str, raw: Option<&RawValue>) -> Box<RawValue> {
    let value = raw.map_or("null", RawValue::get);
    // Names of members need no escaping, so this is valid JSON.
    RawValue::from_string(format!("{{\"{name}\":{value}}}")).unwrap_or_default()
}

/// Returns the end of a call whose process exited with this status.
pub(super) fn read_exit(status: Option<&RawValue>) -> Option<CallEnd> {
    Some(CallEnd::Exited(status?.get().parse().ok()?))
}

object! { Link { uuid, parent = "parentUuid", sidechain = "isSidechain" } }

/// Returns the id of a record of the main conversation whose records have the members `uuid` and
/// `parentUuid`.
pub(super) fn read_uuid_link(record: &str) -> Option<String> {
    let record = Link::read(record)?;
    (record.parent.is_some() && !is_true(record.sidechain)).then(|| string(record.uuid))?
}

/// The extension of compressed files, after the usual one.
pub const COMPRESSED: &str = "zst";

/// Returns the name of a session file without its extensions.
pub fn session_stem(session: &Path) -> Option<&OsStr> {
    let stem = session.file_stem()?;
    if session.extension().is_some_and(|end| end == COMPRESSED) {
        return Path::new(stem).file_stem();
    }
    Some(stem)
}

/// Whether a name is a unique id. Other directories next to a session may belong to the user.
pub(super) fn is_unique_id(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| Uuid::try_parse(name).is_ok())
}

/// Returns the path of a file next to a session, with the name of the session and this ending.
pub(super) fn sibling_path(session: &Path, ending: &str) -> Option<PathBuf> {
    let mut name = session_stem(session)?.to_owned();
    name.push(ending);
    Some(session.with_file_name(name))
}

/// Returns the directory that a variable names, or else one below the home directory.
pub(super) fn home_dir(
    environment: &Environment,
    variables: &[&str],
    usual: &str,
) -> Option<PathBuf> {
    let named = variables.iter().find_map(|name| environment.text(name));
    match named {
        Some(path) => Some(path.into()),
        None => Some(Path::new(environment.text("HOME")?).join(usual)),
    }
}
