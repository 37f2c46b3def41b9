//! `test`, `[`, `[[` and `find`: conditions that evaluate nothing, and the actions of `find` that only print.

use super::CheckedCommand;
use crate::shell::verdict::{Checked, excerpt, is_one_of};
use crate::shell::word::PartWord;

/// Operators with one operand. Not `-v` and `-R`, which evaluate the name of a variable.
const UNARY: &str = "-b -c -d -e -f -g -G -h -k -L -n -N -O -p -r -s -S -t -u -w -x -z";

/// Operators that compare two operands literally.
const BINARY: &str = "= == != < > -ef -nt -ot";

/// Operators between numbers. `[[` would evaluate the operands.
const NUMERIC: &str = "-eq -ne -lt -le -gt -ge";

/// Whether `[` ends with a bracket, and evaluates nothing.
pub(super) fn is_plain_bracket(words: &[PartWord]) -> bool {
    match words.split_last() {
        Some((last, condition)) if last.literal() == Some("]") => is_plain_test(condition),
        _ => false,
    }
}

/// Whether `test` has one condition, whose operator is written out.
pub(super) fn is_plain_test(words: &[PartWord]) -> bool {
    let is_one = |operators, word: &PartWord| {
        let literal = word.literal();
        literal.is_some_and(|text| is_one_of(operators, text))
    };
    let is_binary = |word| is_one(BINARY, word) || is_one(NUMERIC, word);
    let condition = match words {
        // With three words, an operator in the middle has precedence.
        [_, operator, _] if is_binary(operator) => words,
        [first, rest @ ..] if !rest.is_empty() && first.literal() == Some("!") => rest,
        _ => words,
    };
    let is_plain = match condition {
        [] | [_] => true,
        [operator, _] => is_one(UNARY, operator),
        [_, operator, _] => is_binary(operator),
        _ => false,
    };
    is_plain && words.iter().all(PartWord::is_one_argument)
}

/// Whether a word of `[[` may be an operator that evaluates a name or a number.
pub(in crate::shell) fn evaluates(word: &PartWord) -> bool {
    word.literal()
        .is_some_and(|text| is_one_of(NUMERIC, text) || is_one_of("-v -R -o", text))
}

/// Primaries without an argument that all versions of `find` read alike.
const ALONE: &str = "! ( ) -a -and -o -or -not -mount -xdev -empty -executable -false -true -readable -writable -print \
    -print0 -ls -prune -quit";

/// Primaries with one argument.
const WITH_ARGUMENT: &str = "\
    -maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -ctime -gid -group -ilname -iname -inum -ipath \
    -iregex -iwholename -links -lname -mmin -mtime -name -newer -newermt -path -perm -regex -samefile -size -type \
    -uid -user -wholename -xtype -printf";

/// Checks `find`. Actions that delete, write or start programs are not listed.
pub(super) fn find(call: &mut CheckedCommand, words: &[PartWord]) -> Checked {
    let mut words = words;
    while let Some((word, rest)) = words.split_first() {
        words = rest;
        let Some(text) = word.literal() else {
            if word.cannot_be_option() && !word.prefix().starts_with(['(', ')', '!', ',']) {
                continue;
            }
            return Err(word.refusal("`find`: its expansion could be an action"));
        };
        if is_one_of(WITH_ARGUMENT, text) {
            // One that looks like an action is probably a mistake.
            let argument = rest.first().filter(|argument| {
                let letters = argument.prefix().strip_prefix('-').unwrap_or_default();
                let is_action = letters.starts_with(|first: char| first.is_ascii_alphabetic());
                argument.is_one_argument() && (text == "-perm" || !is_action)
            });
            let Some(argument) = argument else {
                return Err(word.refusal(format!("`find {text}` without a clear argument")));
            };
            if argument.literal().is_none() {
                call.read_language("find");
            }
            words = rest.get(1..).unwrap_or_default();
        } else if text.starts_with('-') && !is_one_of(ALONE, text) {
            let shown = excerpt(text);
            return Err(word.refusal(format!("`find`: `{shown}` is not in the accepted set")));
        }
    }
    Ok(())
}
