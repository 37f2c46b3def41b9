//! Commands that start another one that stands in their arguments.

use crate::shell::options::{self, Command, Operands, PLAIN};
use crate::shell::refusal::Refusal;
use crate::shell::simple_command::Call;
use crate::shell::variables::may_be_passed;
use crate::shell::word::{Shape, Word};

const WRAPPER: Command = Command {
    operands: Operands::EndOptions,
    ..PLAIN
};

/// `timeout [options] duration command`
pub(super) fn timeout(call: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    const TIMEOUT: Command = Command {
        short: "k:s:vfp",
        long: &[
            "foreground",
            "kill-after=",
            "preserve-status",
            "signal=",
            "verbose",
        ],
        ..WRAPPER
    };
    let read = options::read(&TIMEOUT, "timeout", words)?.read;
    let rest = words.get(read..).unwrap_or_default();
    match rest.split_first() {
        Some((duration, inner)) if duration.literal().is_some() => started(call, name, inner),
        _ => Err(without_command(name)),
    }
}

/// `nice [-n number] command`
pub(super) fn nice(call: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    const NICE: Command = Command {
        short: "n:",
        long: &["adjustment="],
        numbers: true,
        ..WRAPPER
    };
    let read = options::read(&NICE, "nice", words)?.read;
    started(call, name, words.get(read..).unwrap_or_default())
}

/// `nohup command`
pub(super) fn nohup(call: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    let read = options::read(&WRAPPER, "nohup", words)?.read;
    started(call, name, words.get(read..).unwrap_or_default())
}

/// `stdbuf -oL command`
pub(super) fn stdbuf(call: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    const STDBUF: Command = Command {
        short: "i:o:e:",
        long: &["input=", "output=", "error="],
        ..WRAPPER
    };
    let read = options::read(&STDBUF, "stdbuf", words)?.read;
    started(call, name, words.get(read..).unwrap_or_default())
}

/// `time [-p] command`: the keyword, or the program.
pub(super) fn time(call: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    const TIME: Command = Command {
        short: "p",
        ..WRAPPER
    };
    let read = options::read(&TIME, "time", words)?.read;
    started(call, name, words.get(read..).unwrap_or_default())
}

/// `command [-pvV] command`
pub(super) fn command(call: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    const COMMAND: Command = Command {
        short: "pvV",
        ..WRAPPER
    };
    let arguments = options::read(&COMMAND, "command", words)?;
    if arguments.has("v") || arguments.has("V") {
        return Ok(());
    }
    started(call, name, words.get(arguments.read..).unwrap_or_default())
}

/// `env [options] [NAME=value …] [command]`
pub(super) fn env(call: &mut Call<'_>, _: &Word, words: &[Word]) -> Result<(), Refusal> {
    const ENV: Command = Command {
        short: "i0u:v",
        long: &[
            "ignore-environment",
            "null",
            "unset=",
            "debug",
            "help",
            "version",
        ],
        ..WRAPPER
    };
    let arguments = options::read(&ENV, "env", words)?;
    let takes_away = ["i", "ignore-environment", "u", "unset"]
        .iter()
        .any(|option| arguments.has(option));
    let mut rest = words.get(arguments.read..).unwrap_or_default();
    while let Some((word, others)) = rest.split_first() {
        let Some((variable, value)) = word.prefix.split_once('=') else {
            break;
        };
        let value = Word {
            span: word.span.clone(),
            prefix: value.to_owned(),
            shape: word.shape,
        };
        if !may_be_passed(variable, &value) {
            return Err(Refusal::unknown(
                word.span.clone(),
                format!("`{}` may change what the command does", word.prefix),
            ));
        }
        rest = others;
    }
    match rest.split_first() {
        None => Ok(()),
        Some((inner, _)) => {
            let before = call.effects.git_calls();
            call.check_inner(inner, rest)?;
            // What keeps git from writing the index while it reads stands in the environment.
            if takes_away && call.effects.git_calls() > before {
                return Err(Refusal::unknown(
                    inner.span.clone(),
                    "git without the environment that keeps it from writing",
                ));
            }
            Ok(())
        }
    }
}

fn started(call: &mut Call<'_>, name: &Word, inner: &[Word]) -> Result<(), Refusal> {
    match inner.first() {
        None => Err(without_command(name)),
        Some(first) if first.shape != Shape::Literal => Err(Refusal::unknown(
            first.span.clone(),
            "the name of the command is only known when it runs",
        )),
        Some(_) => call.check_inner(name, inner),
    }
}

fn without_command(name: &Word) -> Refusal {
    Refusal::unknown(
        name.span.clone(),
        format!("`{}` without a command that is known", name.prefix),
    )
}
