//! The values of words as known before the command runs.

use super::path_context::PathContext;
use super::wildcard::{GAP, GLOB};
use crate::shell::{PartWord, WordPiece};

/// Maximum number of values per word.
const MAX_VALUES: usize = 64;

/// Maximum number of option letters in one word that a value may follow.
const MAX_LETTERS: usize = 255;

/// Returns the possible values of a word, with [`GAP`] or [`GLOB`] for parts known only at run
/// time.
pub(super) fn outlines(word: &PartWord, context: &PathContext<'_>) -> Vec<String> {
    if let Some(value) = &word.value {
        // `curl` decodes such an address, and expands globs in it.
        let is_coded =
            value.contains(['%', '[', '{']) && value.to_ascii_lowercase().contains("file:");
        return vec![if is_coded {
            GAP.to_string()
        } else {
            value.clone()
        }];
    }
    if context.ignores_case() && word.pieces.contains(&WordPiece::Glob) {
        return vec![GAP.to_string()];
    }
    filled(&word.pieces, context)
        .filter(|values| !values.is_empty())
        .unwrap_or_else(|| vec![GAP.to_string()])
}

/// Returns the value of a word, with gaps; a word with several possible values is one gap.
pub(super) fn outline(word: &PartWord, context: &PathContext<'_>) -> String {
    match outlines(word, context).as_slice() {
        [one] => one.clone(),
        _ => GAP.to_string(),
    }
}

fn filled(pieces: &[WordPiece], context: &PathContext<'_>) -> Option<Vec<String>> {
    let mut values = vec![String::new()];
    for (index, piece) in pieces.iter().enumerate() {
        let added = match piece {
            WordPiece::Text(text) => vec![text.clone()],
            WordPiece::Brace(letter) => vec![letter.to_string()],
            WordPiece::Bracket => vec!["[".to_owned()],
            WordPiece::Glob if context.finds_hidden() => vec![GAP.to_string()],
            WordPiece::Glob => vec![GLOB.to_string()],
            WordPiece::Home => {
                let is_own = match pieces.get(index + 1) {
                    None => true,
                    Some(WordPiece::Text(next)) => next.starts_with('/'),
                    Some(_) => false,
                };
                let home = context.home().filter(|_| is_own);
                vec![home.map_or(GAP.to_string(), |home| home.to_string_lossy().into_owned())]
            }
            WordPiece::Unknown | WordPiece::Variable { .. } => vec![GAP.to_string()],
            WordPiece::OneOf(alternatives) => {
                let mut all = Vec::new();
                for pieces in alternatives {
                    all.extend(filled(pieces, context)?);
                }
                all
            }
        };
        let joined = values
            .iter()
            .flat_map(|value| added.iter().map(move |added| format!("{value}{added}")));
        values = joined.take(MAX_VALUES + 1).collect();
        if values.len() > MAX_VALUES {
            return None;
        }
    }
    values.sort_unstable();
    values.dedup();
    Some(values)
}

/// Returns the parts of a word that may name a file: the whole word, and the text after option
/// letters, `=`, `@`, `:`, `,`, `)` or `//`.
pub(super) fn names_in(word: &str) -> impl Iterator<Item = &str> {
    let behind_sign = word
        .match_indices(['=', '@', ':', ')', ','])
        .filter_map(|(at, _)| word.get(at + 1..));
    let letters = word.strip_prefix('-').unwrap_or_default();
    let count = letters.bytes().take_while(u8::is_ascii_alphabetic).count();
    let behind_letters = (1..=count.min(MAX_LETTERS)).filter_map(|at| letters.get(at..));
    let digits = letters.get(count..).unwrap_or_default();
    let behind_digits = digits.trim_start_matches(|letter: char| letter.is_ascii_digit());

    let behind_scheme = word
        .match_indices("//")
        .filter_map(|(at, _)| word.get(at + 2..));
    std::iter::once(word)
        .chain(behind_sign)
        .chain(behind_scheme)
        .chain(behind_letters)
        .chain(Some(behind_digits))
        .filter(|name| !name.is_empty())
}
