//! `test`, `[` and `[[`: conditions that evaluate nothing.

use crate::shell::verdict::is_one_of;
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
