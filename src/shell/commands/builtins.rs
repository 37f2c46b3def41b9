//! Commands of the shell itself.

use crate::shell::call::CheckedCommand;
use crate::shell::options::arguments;
use crate::shell::source::may_be_set;
use crate::shell::verdict::{Checked, Refusal, is_one_of};
use crate::shell::word::{Value, Word};

/// `cd`
pub(super) fn change_directory(call: &mut CheckedCommand<'_>, _: &Word, words: &[Word]) -> Checked {
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
pub(super) fn read(_: &mut CheckedCommand<'_>, _: &Word, words: &[Word]) -> Checked {
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
            return Err(word.unknown("`read` into something other than an ordinary variable"));
        }
    }
    Ok(())
}

/// `set`: options that only make the shell stricter or print what it runs.
pub(super) fn set(_: &mut CheckedCommand<'_>, name: &Word, words: &[Word]) -> Checked {
    const NAMES: &str = "errexit nounset pipefail xtrace noglob noclobber";
    let mut words = words.iter().peekable();
    let refuse = |word: &Word| {
        Err(word.unknown(format!(
            "`{}` with options that do not make the shell stricter",
            name.prefix
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
            let option = words.next().and_then(Word::literal);
            if !option.is_some_and(|option| is_one_of(NAMES, option)) {
                return refuse(word);
            }
        }
    }
    Ok(())
}

/// `printf`: a format that assigns nothing. `-v` and the conversion `%n` assign variables.
pub(super) fn printf(_: &mut CheckedCommand<'_>, name: &Word, words: &[Word]) -> Checked {
    let format = match words.split_first() {
        Some((first, rest)) if first.literal() == Some("--") => rest.first(),
        Some((first, _)) if first.prefix.starts_with('-') => None,
        Some((first, _)) => Some(first),
        None => None,
    };
    let is_accepted = format.and_then(Word::literal).is_some_and(|format| {
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

/// Returns the letters of the conversions in a format; NUL for one that is cut off.
fn conversions(format: &str) -> impl Iterator<Item = char> + '_ {
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

/// Refuses `eval`, `source` and `exec`: their commands are not in the text.
pub(super) fn unknown_code(_: &mut CheckedCommand<'_>, name: &Word, _: &[Word]) -> Checked {
    Err(name.unknown(format!(
        "`{}` runs something that cannot be analysed",
        name.prefix
    )))
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
