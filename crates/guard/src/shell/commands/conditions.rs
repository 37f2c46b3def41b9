//! `test`, `[` and `[[`: checks that they evaluate no operand.

use crate::shell::verdict::is_one_of;
use crate::shell::word::PartWord;

/// Operators with one operand, except `-v` and `-R`, which evaluate the name of a variable.
const UNARY: &str = "-b -c -d -e -f -g -G -h -k -L -n -N -O -p -r -s -S -t -u -w -x -z";

/// Operators that compare two operands literally.
const BINARY: &str = "= == != < > -ef -nt -ot";

/// Operators between numbers. `[[` evaluates their operands.
const NUMERIC: &str = "-eq -ne -lt -le -gt -ge";

/// Whether the words of `[` end with a bracket, and the others are a plain test.
pub(super) fn is_plain_bracket(words: &[PartWord]) -> bool {
    match words.split_last() {
        Some((last, condition)) if last.literal() == Some("]") => is_plain_test(condition),
        _ => false,
    }
}

/// Whether the words of `test` are one condition with a literal operator, and each is one argument.
pub(super) fn is_plain_test(words: &[PartWord]) -> bool {
    let is_operator = |operators, word: &PartWord| {
        let literal = word.literal();
        literal.is_some_and(|text| is_one_of(operators, text))
    };
    let is_binary = |word| is_operator(BINARY, word) || is_operator(NUMERIC, word);
    let condition = match words {
        // With three words, an operator in the middle has precedence.
        [_, operator, _] if is_binary(operator) => words,
        [first, rest @ ..] if !rest.is_empty() && first.literal() == Some("!") => rest,
        _ => words,
    };
    let is_plain = match condition {
        [] | [_] => true,
        [operator, _] => is_operator(UNARY, operator),
        [_, operator, _] => is_binary(operator),
        _ => false,
    };
    is_plain && words.iter().all(PartWord::is_one_argument)
}

/// Whether a word of `[[` may be an operator that evaluates a name or a number.
pub(in crate::shell) fn may_evaluate_operand(word: &PartWord) -> bool {
    word.literal()
        .is_some_and(|text| is_one_of(NUMERIC, text) || is_one_of("-v -R -o", text))
}
