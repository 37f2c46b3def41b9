//! `xargs` with a fixed command.

use crate::shell::options::{self, Command, Operands, PLAIN, Value};
use crate::shell::refusal::Refusal;
use crate::shell::simple_command::Call;
use crate::shell::word::{Shape, Word};

const XARGS: Command = Command {
    short: "0a:d:E:I:L:n:P:rs:tx",
    long: &[
        "null",
        "arg-file=",
        "delimiter=",
        "max-lines[=]",
        "max-args=",
        "max-procs=",
        "no-run-if-empty",
        "max-chars=",
        "verbose",
        "exit",
        "replace[=]",
    ],
    operands: Operands::EndOptions,
    ..PLAIN
};

/// The arguments that are read count as words of which nothing is known.
pub(super) fn check(call: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    let arguments = options::read(&XARGS, "xargs", words)?;
    let mut replaced = None;
    for given in &arguments.options {
        if matches!(given.name, "I" | "replace") {
            replaced = match given.value {
                Value::Text(text) if !text.is_empty() => Some(text),
                Value::None => Some("{}"),
                Value::Text(_) | Value::Begins(_) => {
                    return Err(Refusal::unknown(
                        given.word.span.clone(),
                        "`xargs -I` with a text that is only known when it runs",
                    ));
                }
            };
        }
    }
    let fixed = words.get(arguments.read..).unwrap_or_default();
    if fixed.is_empty() {
        // It prints, like `echo`.
        return Ok(());
    }
    let inner: Vec<Word> = match replaced {
        None => {
            let end = fixed.last().map_or(0..0, |word| word.span.clone());
            fixed.iter().cloned().chain([Word::anything(end)]).collect()
        }
        Some(text) => fixed.iter().map(|word| replace(word, text)).collect(),
    };
    call.check_inner(name, &inner)
}

/// The word with an unknown text in place of `text`.
fn replace(word: &Word, text: &str) -> Word {
    match word.prefix.split_once(text) {
        Some((before, _)) => Word {
            span: word.span.clone(),
            prefix: before.to_owned(),
            shape: word.shape.max(Shape::Single),
        },
        None => word.clone(),
    }
}
