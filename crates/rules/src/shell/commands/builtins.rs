//! Commands of the shell itself, and wrappers: commands that start a command in their arguments.

use crate::shell::call::CheckedCommand;
use crate::shell::options::arguments;
use crate::shell::variables::{may_be_passed, may_be_set};
use crate::shell::verdict::{Checked, Refusal, is_one_of};
use crate::shell::word::{PartWord, Value, WordShape};

/// `cd`
pub(super) fn change_directory(
    call: &mut CheckedCommand<'_>,
    _: &PartWord,
    words: &[PartWord],
) -> Checked {
    // A name that expands to zero or several words only changes the target.
    let arguments = match words {
        [one] if one.literal().is_none() => Vec::new(),
        _ => arguments("cd", words)?.operands,
    };
    let target = arguments
        .first()
        .and_then(|word| word.literal())
        .filter(|target| *target != "-" && !target.is_empty())
        .map(str::to_owned);
    call.effects.moved(target, call.context);
    Ok(())
}

/// `read`: variables from standard input.
pub(super) fn read(_: &mut CheckedCommand<'_>, _: &PartWord, words: &[PartWord]) -> Checked {
    let arguments = arguments("read", words)?;
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
        if !variable.is_some_and(may_be_set) {
            return Err(word.refusal("`read` into something other than an ordinary variable"));
        }
    }
    Ok(())
}

/// `set`: options that only make the shell stricter or print what it runs.
pub(super) fn set(_: &mut CheckedCommand<'_>, name: &PartWord, words: &[PartWord]) -> Checked {
    const NAMES: &str = "errexit nounset pipefail xtrace noglob noclobber";
    let mut words = words.iter().peekable();
    let refuse = |word: &PartWord| {
        Err(word.refusal(format!(
            "`{}` with options that do not make the shell stricter",
            name.prefix()
        )))
    };
    if words.peek().is_none() {
        return refuse(name);
    }
    while let Some(word) = words.next() {
        let letters = word
            .literal()
            .and_then(|text| text.strip_prefix(['-', '+']));
        let flags = letters.map(|letters| letters.strip_suffix('o').unwrap_or(letters));
        let is_accepted = flags.is_some_and(|flags| {
            letters != Some("") && flags.bytes().all(|letter| b"euxfC".contains(&letter))
        });
        if !is_accepted {
            return refuse(word);
        }
        if letters != flags {
            let option = words.next().and_then(PartWord::literal);
            if !option.is_some_and(|option| is_one_of(NAMES, option)) {
                return refuse(word);
            }
        }
    }
    Ok(())
}

/// `printf`: a format that assigns nothing. `-v` and the conversion `%n` assign variables.
pub(super) fn printf(_: &mut CheckedCommand<'_>, name: &PartWord, words: &[PartWord]) -> Checked {
    let format = match words.split_first() {
        Some((first, rest)) if first.literal() == Some("--") => rest.first(),
        Some((first, _)) if first.prefix().starts_with('-') => None,
        Some((first, _)) => Some(first),
        None => None,
    };
    let is_accepted = format.and_then(PartWord::literal).is_some_and(|format| {
        conversions(format).all(|conversion| CONVERSIONS.contains(conversion))
    });
    if is_accepted {
        return Ok(());
    }
    Err(Refusal::unknown(
        format.unwrap_or(name).span.clone(),
        "`printf` with a format that may assign a variable",
    ))
}

/// Conversions that only print; `(` is a time.
const CONVERSIONS: &str = "%diouxXfFeEgGaAcsbqQ(";

/// Refuses `eval`, `source` and `exec`: their commands are not in the text.
pub(super) fn unknown_code(_: &mut CheckedCommand<'_>, name: &PartWord, _: &[PartWord]) -> Checked {
    Err(name.refusal(format!(
        "`{}` runs something that cannot be analysed",
        name.prefix()
    )))
}

/// `timeout [options] duration command`
pub(super) fn timeout(
    call: &mut CheckedCommand<'_>,
    name: &PartWord,
    words: &[PartWord],
) -> Checked {
    let read = arguments("timeout", words)?.read;
    match words.get(read..).unwrap_or_default().split_first() {
        Some((duration, inner)) if duration.literal().is_some() => started(call, name, inner),
        _ => Err(without_command(name)),
    }
}

/// `time [-p] command`: the keyword, or the program.
pub(super) fn time(call: &mut CheckedCommand<'_>, name: &PartWord, words: &[PartWord]) -> Checked {
    let read = arguments("time", words)?.read;
    started(call, name, words.get(read..).unwrap_or_default())
}

/// `command [-pvV] command`
pub(super) fn command(
    call: &mut CheckedCommand<'_>,
    name: &PartWord,
    words: &[PartWord],
) -> Checked {
    let arguments = arguments("command", words)?;
    if arguments.has_one_of(&["v", "V"]) {
        return Ok(());
    }
    started(call, name, words.get(arguments.read..).unwrap_or_default())
}

/// `env [NAME=value …] [command]`
pub(super) fn env(call: &mut CheckedCommand<'_>, name: &PartWord, words: &[PartWord]) -> Checked {
    let mut rest = words
        .get(arguments("env", words)?.read..)
        .unwrap_or_default();
    while let Some((word, others)) = rest.split_first() {
        let Some((variable, value)) = word.prefix().split_once('=') else {
            break;
        };
        let value = match word.literal() {
            Some(_) => PartWord::known(value),
            None => PartWord::unknown(word.span.clone(), ""),
        };
        if !may_be_passed(variable, &value) {
            return Err(word.refusal(format!(
                "`{}` may change what the command does",
                word.prefix()
            )));
        }
        rest = others;
    }
    if rest.is_empty() {
        call.effects.reveals.push(name.prefix().to_owned());
        return Ok(());
    }
    started(call, name, rest)
}

/// `xargs` with a fixed command. The arguments that it reads are unknown words. `-n` cancels `-I`,
/// so they are not accepted together.
pub(super) fn xargs(call: &mut CheckedCommand<'_>, name: &PartWord, words: &[PartWord]) -> Checked {
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
                    .refusal("`xargs` with options that cannot be combined"));
            }
            _ => {}
        }
    }
    let fixed = words.get(arguments.read..).unwrap_or_default();
    if fixed.is_empty() {
        // Without a command, it prints like `echo`.
        return Ok(());
    }
    let inner: Vec<PartWord> = match replaced {
        None => {
            let end = fixed.last().map_or(0..0, |word| word.span.clone());
            fixed
                .iter()
                .cloned()
                .chain([PartWord::unknown(end, "")])
                .collect()
        }
        Some(text) => fixed.iter().map(|word| replace(word, text)).collect(),
    };
    started(call, name, &inner)
}

/// Returns the word with an unknown text in place of `text`.
fn replace(word: &PartWord, text: &str) -> PartWord {
    match word.prefix().split_once(text) {
        Some((before, _)) => word.starting_with(before, word.shape().max(WordShape::Single)),
        None => word.clone(),
    }
}

fn started(call: &mut CheckedCommand<'_>, name: &PartWord, inner: &[PartWord]) -> Checked {
    if inner.is_empty() {
        return Err(without_command(name));
    }
    call.check_inner(name, inner)
}

fn without_command(name: &PartWord) -> Refusal {
    name.refusal(format!("`{}` without a known command", name.prefix()))
}

/// Returns the letters of the conversions in a format; NUL for one that is cut off.
pub(in crate::shell) fn conversions(format: &str) -> impl Iterator<Item = char> + '_ {
    let mut rest = format;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once('%')?;
        let after = after.trim_start_matches(|letter: char| {
            letter.is_ascii_digit() || "-+ #'.*hlLjzt".contains(letter)
        });
        let mut letters = after.chars();
        let conversion = letters.next().unwrap_or('\0');
        rest = letters.as_str();
        Some(conversion)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_of_formats_are_found() {
        let rows = [
            ("plain", ""),
            ("%s\\n", "s"),
            ("%-10.3f|%5d%%", "fd%"),
            ("%*n", "n"),
            ("%ld %hhn", "dn"),
            ("%(%F)T", "(F"),
            ("100%", "\0"),
        ];
        for (format, expected) in rows {
            let found: String = conversions(format).collect();
            assert_eq!(found, expected, "{format}");
        }
    }
}
