//! `test` and `[`: conditions that evaluate nothing.

use crate::shell::refusal::Refusal;
use crate::shell::simple_command::Call;
use crate::shell::word::Word;

/// Operators with one operand. Not `-v` and `-R`, which evaluate the name of a variable, nor `-a`
/// and `-o`, which mostly stand between conditions.
const UNARY: &[&str] = &[
    "-b", "-c", "-d", "-e", "-f", "-g", "-G", "-h", "-k", "-L", "-n", "-N", "-O", "-p", "-r", "-s",
    "-S", "-t", "-u", "-w", "-x", "-z",
];

/// Operators between two operands.
const BINARY: &[&str] = &[
    "=", "==", "!=", "<", ">", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-ef", "-nt", "-ot",
];

/// Three words with an operator in the middle are always compared.
fn is_comparison(words: &[Word]) -> bool {
    match words {
        [_, operator, _] => operator
            .literal()
            .is_some_and(|text| BINARY.contains(&text)),
        _ => false,
    }
}

/// `[ … ]`
pub(super) fn bracket(call: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    match words.split_last() {
        Some((last, condition)) if last.literal() == Some("]") => check(call, name, condition),
        _ => Err(Refusal::unknown(
            name.span.clone(),
            "`[` that is not closed",
        )),
    }
}

/// `test …`
pub(super) fn check(_: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    for (index, word) in words.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| words.get(before));
        let literal =
            |word: Option<&Word>| word.and_then(Word::literal).unwrap_or_default().to_owned();
        let is_operand = UNARY.contains(&literal(before).as_str())
            || BINARY.contains(&literal(before).as_str())
            || BINARY.contains(&literal(words.get(index + 1)).as_str());
        match word.literal() {
            Some("-v" | "-R") if !is_comparison(words) => {
                return Err(Refusal::unknown(
                    word.span.clone(),
                    format!(
                        "`{} {}` evaluates the name of a variable",
                        name.prefix, word.prefix
                    ),
                ));
            }
            Some(_) => {}
            None if !word.is_one_argument() => {
                return Err(Refusal::unknown(
                    word.span.clone(),
                    format!(
                        "`{}`: what this expands to could be an operator",
                        name.prefix
                    ),
                ));
            }
            // Alone, it is only compared with nothing.
            None if words.len() == 1 || is_operand || !word.prefix.is_empty() => {}
            None if words.len() == 2 && literal(before) == "!" => {}
            None => {
                return Err(Refusal::unknown(
                    word.span.clone(),
                    format!(
                        "`{}`: what this expands to could be an operator",
                        name.prefix
                    ),
                ));
            }
        }
    }
    Ok(())
}
