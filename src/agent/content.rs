//! Helpers that several formats share.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::api::{self, Signed};
use crate::io::Environment;
pub(super) use crate::json::{is_true, string};
use crate::json::{number, object, text};
use crate::message::{Block, Message, Origin, ResultPart, Role, Usage, split_typed};
pub(super) use crate::message::{input_of, result_parts};

/// Returns a timestamp.
pub(super) fn time_in(raw: Option<&RawValue>) -> Option<Timestamp> {
    text(raw)?.parse().ok()
}

/// Whether the word is in a list of words separated by blanks.
pub(crate) fn is_in(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// Returns a count, or 0 if it is absent.
pub(super) fn count(raw: Option<&RawValue>) -> u64 {
    number(raw).unwrap_or_default()
}

/// Returns the tokens of these counts: input, output, read from the cache, and written to it.
pub(super) fn tokens(counts: [Option<&RawValue>; 4]) -> Usage {
    let [input, output, cache_read, cache_write] = counts.map(count);
    Usage {
        input,
        output,
        cache_read,
        cache_write,
        ..Usage::default()
    }
}

/// Like [`tokens`], if the input includes what is cached.
pub(super) fn tokens_with_cached_input(counts: [Option<&RawValue>; 4]) -> Usage {
    let usage = tokens(counts);
    Usage {
        input: usage
            .input
            .saturating_sub(usage.cache_read + usage.cache_write),
        ..usage
    }
}

/// Reads content of the Gemini API. Results of shell tools that report a failure count as failed.
pub(super) fn gemini_blocks(content: Option<&RawValue>, signed: Signed) -> Vec<Block> {
    let blocks = api::gemini_blocks(content, signed).into_iter();
    let checked = blocks.map(|(mut block, _)| {
        if let Block::Result(result) = &mut block {
            result.failed |= shell_failed(&result.parts);
        }
        block
    });
    checked.collect()
}

/// Returns a message with a single text block.
pub(super) fn note(role: Role, origin: Origin, text: String) -> Message {
    message(role, origin, vec![Block::Text(text)])
}

/// Returns a message with these blocks.
pub(super) fn message(role: Role, origin: Origin, blocks: Vec<Block>) -> Message {
    Message {
        blocks,
        ..Message::new(role, origin)
    }
}

/// Splits a user row into messages of one origin each: results, text that the agent injected, and text that
/// the user typed.
pub(super) fn user_messages(origin: Origin, content: Vec<Block>) -> Vec<Message> {
    if content.is_empty() {
        return vec![message(Role::User, origin, content)];
    }
    let is_result = |block: &Block| matches!(block, Block::Result(_));
    let is_text = |block: &Block| matches!(block, Block::Text(_));
    let (mut results, mut rest): (Vec<_>, Vec<_>) = content.into_iter().partition(is_result);
    if !results.is_empty() && !rest.iter().any(is_text) {
        results.append(&mut rest);
    }
    let (injected, own) = match origin {
        Origin::Prompt => split_typed(rest),
        _ => (Vec::new(), rest),
    };
    let parts = [
        (Origin::Results, results),
        (Origin::Injected, injected),
        (origin, own),
    ];
    let parts = parts.into_iter().filter(|(_, blocks)| !blocks.is_empty());
    parts
        .map(|(origin, blocks)| message(Role::User, origin, blocks))
        .collect()
}

/// Whether the output of a shell tool reports a failure. Agents record such calls as successful.
pub(super) fn shell_failed(parts: &[ResultPart]) -> bool {
    let code = parts.iter().find_map(|part| match part {
        ResultPart::Text(text) => exit_code(text),
        ResultPart::Media(_) => None,
    });
    code.is_some_and(|code| code != 0)
}

object! { Link { uuid, parent = "parentUuid", sidechain = "isSidechain" } }

/// Returns the id of a record of the main conversation whose records have the members `uuid` and
/// `parentUuid`.
pub(super) fn uuid_link(record: &str) -> Option<String> {
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
pub(super) fn beside_session(session: &Path, ending: &str) -> Option<PathBuf> {
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

/// Number of lines at the start and at the end of the output that may contain the code.
const LINES: usize = 8;

/// Prefixes of the code.
const MARKS: [&str; 6] = [
    "Process exited with code ",
    "Exit code: ",
    "Exit Code: ",
    "Command exited with code ",
    "Exit code ",
    "exit code ",
];

/// Returns the exit code in the text of a result.
pub fn exit_code(text: &str) -> Option<i64> {
    let text = text.trim_start();
    if text.starts_with('{')
        && let Some((_, rest)) = text.split_once("\"metadata\":{\"exit_code\":")
    {
        let end = rest.find(|character: char| !character.is_ascii_digit() && character != '-');
        return rest.get(..end.unwrap_or(rest.len()))?.parse().ok();
    }
    let head = text.lines().take(LINES);
    let foot = text.lines().rev().take(LINES);
    head.chain(foot).find_map(|line| {
        let line = line.trim();
        let rest = MARKS.iter().find_map(|mark| line.strip_prefix(mark))?;
        rest.trim().parse().ok()
    })
}

/// The result of a shell tool that starts with lines about the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellOutput<'a> {
    /// The exit code.
    pub code: Option<i64>,
    /// The duration, with its unit.
    pub duration: Option<&'a str>,
    /// The output, without those lines.
    pub output: &'a str,
}

/// Returns the parts of a result as Codex writes it. `None` if it has another form.
pub fn shell_output(text: &str) -> Option<ShellOutput<'_>> {
    let starts = ["Exit code: ", "Chunk ID: ", "Wall time: "];
    let (head, output) = text.split_once("\nOutput:")?;
    let is_head = starts.iter().any(|start| head.starts_with(start));
    let mut lines = head.lines();
    (is_head && head.lines().count() <= LINES).then(|| ShellOutput {
        code: exit_code(head),
        duration: lines.find_map(|line| line.strip_prefix("Wall time: ")),
        output: output.strip_prefix('\n').unwrap_or(output),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_shell_follows_the_lines_about_it() {
        let text = "Chunk ID: a\nWall time: 0.5 seconds\nProcess exited with code 7\nOutput:\nx\nOutput:\n";
        let expected = ShellOutput {
            code: Some(7),
            duration: Some("0.5 seconds"),
            output: "x\nOutput:\n",
        };
        assert_eq!(shell_output(text), Some(expected));
        let empty = shell_output("Exit code: 0\nWall time: 0 seconds\nOutput:");
        assert_eq!(empty.unwrap().output, "");
        for text in ["", "Output:\nx", "They said\nOutput:\nx"] {
            assert_eq!(shell_output(text), None);
        }
    }

    #[test]
    fn codes_are_found_only_at_the_start_and_the_end() {
        let rows = [
            (
                "Wall time: 1\nProcess exited with code 3\nOutput:\nx",
                Some(3),
            ),
            ("Exit code: 0\nOutput:\n", Some(0)),
            (
                "<untrusted_context>\nOutput: x\nExit Code: 7\n</untrusted_context>",
                Some(7),
            ),
            ("three\n\n\nCommand exited with code 1", Some(1)),
            ("Exit code 2\nx", Some(2)),
            ("{\"output\":\"\",\"metadata\":{\"exit_code\":0}}", Some(0)),
            ("{\"exit_code\":3}\nExit Code: 0", Some(0)),
            ("they said Exit code: 3", None),
            ("", None),
        ];
        for (text, code) in rows {
            assert_eq!(exit_code(text), code, "{text}");
        }
        let buried = format!("{0}Exit code: 3\n{0}", "line\n".repeat(20));
        assert_eq!(exit_code(&buried), None);
    }
}
