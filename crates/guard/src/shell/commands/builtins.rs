//! Commands of the shell itself, and wrappers: commands that start a command in their arguments.

use crate::shell::command_check::CheckedCommand;
use crate::shell::options::arguments;
use crate::shell::parts::CommandPart;
use crate::shell::variables::{may_be_passed, may_be_set};
use crate::shell::verdict::{Checked, Refusal, is_one_of};
use crate::shell::word::PartWord;

/// `cd`
pub(super) fn change_directory(
    call: &mut CheckedCommand,
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
    call.moves.push(target);
    Ok(())
}

/// Whether `read` sets ordinary variables.
pub(super) fn reads_into_variables(words: &[PartWord]) -> Result<bool, Refusal> {
    let arguments = arguments("read", words)?;
    let mut names = arguments.operands.iter().map(|word| word.literal());
    Ok(names.all(|name| name.is_some_and(may_be_set)))
}

/// Whether the options of `set` only make the shell stricter or print what it runs.
pub(super) fn sets_strict_options(words: &[PartWord]) -> bool {
    const STRICT: &str =
        "-e -u -x -eu -ex -ux -eux -o -eo -uo -euo -euxo -exo errexit nounset pipefail xtrace";
    let mut options = words.iter().map(|word| word.literal().unwrap_or_default());
    let begins = words
        .first()
        .is_some_and(|first| first.prefix().starts_with('-'));
    let ends = words
        .last()
        .is_some_and(|last| !last.prefix().ends_with('o'));
    begins && ends && options.all(|option| is_one_of(STRICT, option))
}

/// Whether the format of `printf` assigns nothing. `-v` and the conversion `%n` assign variables.
pub(super) fn prints_a_format(words: &[PartWord]) -> bool {
    let format = match words {
        [first, format, ..] if first.literal() == Some("--") => format,
        [format, ..] if !format.prefix().starts_with('-') => format,
        _ => return false,
    };
    let assigns = |conversion| matches!(conversion, 'n' | '\0');
    format
        .literal()
        .is_some_and(|format| !conversions(format).any(assigns))
}

/// `command`, `env`, `time` and `timeout`, with options and variables before the command that they start.
pub(super) fn wrapper(call: &mut CheckedCommand, name: &PartWord, words: &[PartWord]) -> Checked {
    let arguments = arguments(name.prefix(), words)?;
    if name.prefix() == "command" && arguments.has_one_of(&["v", "V"]) {
        return Ok(());
    }
    let wrapping = CommandPart {
        words: [std::slice::from_ref(name), words].concat(),
        ..CommandPart::default()
    };
    let inner = wrapping.unwrapped();
    let mut passed = inner.iter().flat_map(|inner| &inner.assignments);
    if let Some(set) = passed.find(|set| !may_be_passed(&set.name, &set.word)) {
        let why = format!("`{}` may change what the command does", set.name);
        return Err(set.word.refusal(why));
    }
    match inner {
        Some(inner) => call.check_inner(name, &inner.words),
        None if name.prefix() == "env" => {
            call.reveals = Some(name.prefix().to_owned());
            Ok(())
        }
        None => Err(name.refusal(format!("`{}` without a known command", name.prefix()))),
    }
}

/// `xargs` with a fixed command. The arguments that it reads are unknown words.
pub(super) fn xargs(call: &mut CheckedCommand, name: &PartWord, words: &[PartWord]) -> Checked {
    let arguments = arguments("xargs", words)?;
    let mut inner = words.get(arguments.read..).unwrap_or_default().to_vec();
    if inner.is_empty() {
        // Without a command, it prints like `echo`.
        return Ok(());
    }
    inner.push(PartWord::unknown(name.span.clone(), ""));
    call.check_inner(name, &inner)
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
