//! `[[ … ]]`: words and operators of its own grammar.

use std::ops::Range;

use tree_sitter::Node;

use super::lexer::{Expansions, Lexer, LineBreaks, Substitution};
use super::refusal::Refusal;
use super::word::Word;

/// Operators that evaluate their operands as arithmetic.
const EVALUATING: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// What stands between the brackets.
enum Piece {
    Word(Word),
    /// `&&`, `||`, `(`, `)`, `<`, `>`.
    Operator,
}

/// Reads the conditional in a range; the substitutions in it are returned.
pub(super) fn check<'tree>(
    text: &str,
    range: Range<usize>,
    substitutions: &[Substitution<'tree>],
) -> Result<Vec<Node<'tree>>, Refusal> {
    let mut lexer = Lexer::new(text, range.clone(), substitutions);
    let mut pieces = Vec::new();
    let mut is_regex = false;
    loop {
        lexer.skip_blanks(LineBreaks::AreBlanks);
        if lexer.rest().is_empty() {
            break;
        }
        if is_regex && !lexer.rest().starts_with(['"', '\'', '$']) {
            plain_regex(&mut lexer)?;
            pieces.push(Piece::Operator);
            is_regex = false;
            continue;
        }
        let operator = operator_length(lexer.rest());
        if operator > 0 {
            lexer.skip(operator);
            pieces.push(Piece::Operator);
            continue;
        }
        let word = lexer.word(Expansions::Unsplit)?;
        is_regex = word.literal() == Some("=~");
        pieces.push(Piece::Word(word));
    }
    let is_closed =
        matches!(pieces.last(), Some(Piece::Word(word)) if word.literal() == Some("]]"));
    if !is_closed {
        return Err(Refusal::unknown(range, "`[[` that is not closed"));
    }
    let words = pieces.iter().filter_map(|piece| match piece {
        Piece::Word(word) => Some(word),
        Piece::Operator => None,
    });
    for word in words {
        match word.literal() {
            Some("-v" | "-R") => {
                return Err(Refusal::unknown(
                    word.span.clone(),
                    "`-v` evaluates the name of a variable",
                ));
            }
            Some(operator) if EVALUATING.contains(&operator) => {
                numbers_only(&pieces, word)?;
            }
            _ => {}
        }
    }
    Ok(lexer.found)
}

fn operator_length(text: &str) -> usize {
    if text.starts_with("&&") || text.starts_with("||") {
        2
    } else if text.starts_with("<(") || text.starts_with(">(") {
        0
    } else {
        usize::from(text.starts_with(['(', ')', '<', '>']))
    }
}

/// A regular expression without quotes, expansions or blanks.
fn plain_regex(lexer: &mut Lexer<'_, '_>) -> Result<(), Refusal> {
    let start = lexer.position();
    let rest = lexer.rest();
    let length = rest.find([' ', '\t', '\n']).unwrap_or(rest.len());
    let regex = rest.get(..length).unwrap_or_default();
    let is_plain = !regex.is_empty()
        && regex.chars().all(|letter| {
            letter.is_ascii_alphanumeric() || "^$.*+?[](){}|-_/,:=@%#!~\\".contains(letter)
        })
        && !regex.contains("$(")
        && !regex.contains("${")
        && !regex.contains("$[");
    if !is_plain {
        return Err(Refusal::unknown(
            start..start + length.max(1),
            "a regular expression that is not plain",
        ));
    }
    lexer.skip(length);
    Ok(())
}

/// Both operands of an arithmetic comparison must be numbers: a variable's value is evaluated, and
/// can run commands.
fn numbers_only(pieces: &[Piece], operator: &Word) -> Result<(), Refusal> {
    let index = pieces
        .iter()
        .position(|piece| matches!(piece, Piece::Word(word) if word.span == operator.span))
        .unwrap_or_default();
    let is_number = |piece: Option<&Piece>| {
        matches!(piece, Some(Piece::Word(word)) if word.literal().is_some_and(|text| {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        }))
    };
    let before = index.checked_sub(1).and_then(|before| pieces.get(before));
    if is_number(before) && is_number(pieces.get(index + 1)) {
        return Ok(());
    }
    Err(Refusal::unknown(
        operator.span.clone(),
        format!("`{}` in `[[` evaluates its operands", operator.prefix),
    ))
}
