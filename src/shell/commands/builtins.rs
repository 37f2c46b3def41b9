//! Commands of the shell itself.

use crate::shell::expansion::identifier_length;
use crate::shell::options::{self, Command, Operands, PLAIN, Unknown, Value};
use crate::shell::refusal::Refusal;
use crate::shell::simple_command::Call;
use crate::shell::variables::may_be_set;
use crate::shell::word::Word;

/// The entries.
pub(in crate::shell) const COMMANDS: &[Command] = &[
    Command {
        names: &[":", "true", "false"],
        ..ANY_OPTION
    },
    Command {
        names: &["echo"],
        ..ANY_OPTION
    },
    Command {
        names: &["break", "continue", "exit", "return", "shift"],
        operands: Operands::AtMost(1),
        ..PLAIN
    },
    Command {
        names: &["type"],
        short: "afptP",
        unknown: Unknown::Anywhere,
        ..PLAIN
    },
    Command {
        names: &["dirs"],
        short: "lpv",
        operands: Operands::AtMost(0),
        ..PLAIN
    },
    Command {
        names: &["jobs", "times"],
        short: "lnprs",
        operands: Operands::AtMost(0),
        ..PLAIN
    },
    Command {
        names: &["ulimit"],
        short: "aHS",
        operands: Operands::AtMost(0),
        ..PLAIN
    },
    Command {
        names: &["umask"],
        short: "pS",
        operands: Operands::AtMost(0),
        ..PLAIN
    },
];

/// Every argument is text.
const ANY_OPTION: Command = Command {
    operands: Operands::Text,
    unknown: Unknown::Anywhere,
    ..PLAIN
};

/// `cd`
pub(super) fn change_directory(
    call: &mut Call<'_>,
    name: &Word,
    words: &[Word],
) -> Result<(), Refusal> {
    const CD: Command = Command {
        short: "LPe@",
        operands: Operands::AtMost(1),
        unknown: Unknown::Anywhere,
        ..PLAIN
    };
    // A name that expands to nothing, or to several words, only changes where it goes.
    let arguments = match words {
        [one] if one.literal().is_none() => Vec::new(),
        _ => options::read(&CD, &name.prefix, words)?.operands,
    };
    let target = arguments
        .first()
        .and_then(|word| word.literal())
        .filter(|target| *target != "-" && !target.is_empty())
        .map(str::to_owned);
    call.effects.moved(target, call.place);
    Ok(())
}

/// `read`: variables from standard input.
pub(super) fn read(_: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    const READ: Command = Command {
        short: "rsd:n:N:p:t:u:a:",
        ..PLAIN
    };
    let arguments = options::read(&READ, &name.prefix, words)?;
    let arrays = arguments
        .options
        .iter()
        .filter(|given| given.name == "a")
        .map(|given| match given.value {
            Value::Text(text) => (Some(text), given.word),
            Value::None | Value::Begins(_) => (None, given.word),
        });
    let plain = arguments
        .operands
        .iter()
        .map(|word| (word.literal(), *word));
    for (variable, word) in arrays.chain(plain) {
        let accepted = variable.is_some_and(|variable| {
            !variable.is_empty()
                && identifier_length(variable) == variable.len()
                && may_be_set(variable)
        });
        if !accepted {
            return Err(Refusal::unknown(
                word.span.clone(),
                "`read` into something that is no ordinary variable",
            ));
        }
    }
    Ok(())
}

/// `set`: options that only change how strict the shell is.
pub(super) fn set(_: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    const HARMLESS_NAMES: &[&str] = &[
        "errexit",
        "nounset",
        "pipefail",
        "xtrace",
        "noglob",
        "noclobber",
    ];
    let mut names_follow = false;
    for word in words {
        let accepted = match word.literal() {
            Some(option) if names_follow => {
                names_follow = false;
                HARMLESS_NAMES.contains(&option)
            }
            Some(option) => match option.strip_prefix(['-', '+']) {
                Some(letters) if !letters.is_empty() => {
                    names_follow = letters.ends_with('o');
                    letters
                        .trim_end_matches('o')
                        .bytes()
                        .all(|letter| b"euxfC".contains(&letter))
                }
                _ => false,
            },
            None => false,
        };
        if !accepted {
            return Err(Refusal::unknown(
                word.span.clone(),
                format!("`{}` with something else than checks", name.prefix),
            ));
        }
    }
    if words.is_empty() || names_follow {
        return Err(Refusal::unknown(name.span.clone(), "`set` without options"));
    }
    Ok(())
}

/// `eval`, `source`, `exec`: what runs is not in the text.
pub(super) fn unknown_code(_: &mut Call<'_>, name: &Word, _: &[Word]) -> Result<(), Refusal> {
    Err(Refusal::unknown(
        name.span.clone(),
        format!("`{}` runs something that is not analysed", name.prefix),
    ))
}
