//! Wrappers: commands that start a command in their arguments.

use crate::shell::call::CheckedCommand;
use crate::shell::options::arguments;
use crate::shell::source::may_be_passed;
use crate::shell::verdict::{Checked, Refusal};
use crate::shell::word::{Value, Word, WordPiece, WordShape};

/// `timeout [options] duration command`
pub(super) fn timeout(call: &mut CheckedCommand<'_>, name: &Word, words: &[Word]) -> Checked {
    let read = arguments("timeout", words)?.read;
    match words.get(read..).unwrap_or_default().split_first() {
        Some((duration, inner)) if duration.literal().is_some() => started(call, name, inner),
        _ => Err(without_command(name)),
    }
}

/// `time [-p] command`: the keyword, or the program.
pub(super) fn time(call: &mut CheckedCommand<'_>, name: &Word, words: &[Word]) -> Checked {
    let read = arguments("time", words)?.read;
    started(call, name, words.get(read..).unwrap_or_default())
}

/// `command [-pvV] command`
pub(super) fn command(call: &mut CheckedCommand<'_>, name: &Word, words: &[Word]) -> Checked {
    let arguments = arguments("command", words)?;
    if arguments.has_one_of(&["v", "V"]) {
        return Ok(());
    }
    started(call, name, words.get(arguments.read..).unwrap_or_default())
}

/// `env [NAME=value …] [command]`
pub(super) fn env(call: &mut CheckedCommand<'_>, name: &Word, words: &[Word]) -> Checked {
    let mut rest = words
        .get(arguments("env", words)?.read..)
        .unwrap_or_default();
    while let Some((word, others)) = rest.split_first() {
        let Some((variable, value)) = word.prefix.split_once('=') else {
            break;
        };
        let value = Word {
            prefix: value.to_owned(),
            ..word.clone()
        };
        if !may_be_passed(variable, &value) {
            return Err(word.unknown(format!(
                "`{}` may change what the command does",
                word.prefix
            )));
        }
        rest = others;
    }
    if rest.is_empty() {
        return Ok(());
    }
    started(call, name, rest)
}

/// `xargs` with a fixed command. The arguments that it reads are unknown words. `-n` cancels `-I`,
/// so they are not accepted together.
pub(super) fn xargs(call: &mut CheckedCommand<'_>, name: &Word, words: &[Word]) -> Checked {
    let arguments = arguments("xargs", words)?;
    let mut replaced = None;
    for given in &arguments.options {
        match (given.name, given.value) {
            ("I", Value::Text(text)) if !text.is_empty() && !arguments.has("n") => {
                replaced = Some(text);
            }
            ("n", Value::Text("1")) => {}
            ("I" | "n", _) => {
                return Err(given
                    .word
                    .unknown("`xargs` with options that cannot be combined"));
            }
            _ => {}
        }
    }
    let fixed = words.get(arguments.read..).unwrap_or_default();
    if fixed.is_empty() {
        // Without a command, it prints like `echo`.
        return Ok(());
    }
    let inner: Vec<Word> = match replaced {
        None => {
            let end = fixed.last().map_or(0..0, |word| word.span.clone());
            fixed.iter().cloned().chain([Word::anything(end)]).collect()
        }
        Some(text) => fixed.iter().map(|word| replace(word, text)).collect(),
    };
    started(call, name, &inner)
}

/// Returns the word with an unknown text in place of `text`.
fn replace(word: &Word, text: &str) -> Word {
    match word.prefix.split_once(text) {
        Some((before, _)) => Word {
            span: word.span.clone(),
            prefix: before.to_owned(),
            shape: word.shape.max(WordShape::Single),
            pieces: vec![WordPiece::Unknown],
        },
        None => word.clone(),
    }
}

fn started(call: &mut CheckedCommand<'_>, name: &Word, inner: &[Word]) -> Checked {
    if inner.is_empty() {
        return Err(without_command(name));
    }
    call.check_inner(name, inner)
}

fn without_command(name: &Word) -> Refusal {
    name.unknown(format!("`{}` without a known command", name.prefix))
}
