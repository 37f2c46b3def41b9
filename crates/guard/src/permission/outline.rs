//! Words before the command runs, and the names of files in them.

use super::path_context::PathContext;
use super::pattern::{GLOB, UNKNOWN};
use crate::shell::{PartWord, WordPiece};

/// Maximum length of a word that may name files, in bytes: the limit of paths.
const MAX_PATH: usize = 4096;

/// Returns the value of a word, with [`UNKNOWN`] or [`GLOB`] for parts known only at run time.
pub(super) fn outline(word: &PartWord, context: &PathContext<'_>) -> String {
    if let Some(value) = &word.value {
        return value.clone();
    }
    let mut text = String::new();
    for (index, piece) in word.pieces.iter().enumerate() {
        match piece {
            WordPiece::Text(known) => text.push_str(known),
            WordPiece::Glob => text.push(GLOB),
            WordPiece::Home => {
                let is_own = match word.pieces.get(index + 1) {
                    None => true,
                    Some(WordPiece::Text(next)) => next.starts_with('/'),
                    Some(_) => false,
                };
                match context.home().filter(|_| is_own) {
                    Some(home) => text.push_str(&home.to_string_lossy()),
                    None => text.push(UNKNOWN),
                }
            }
            WordPiece::Unknown => text.push(UNKNOWN),
        }
    }
    text
}

/// Returns the parts of a word that may name a file: the whole word, and the text behind an option of one letter, options
/// of letters, `=`, `@`, `:`, `,` or `{`, to the end or the next sign.
pub(super) fn names_in<'a>(word: &'a str) -> impl Iterator<Item = &'a str> {
    let is_path = word.len() <= MAX_PATH && !word.contains('\n');
    let word = if is_path { word } else { "" };
    let behind_sign = word.match_indices(['=', '@', ':', ',', '{']);
    let behind_sign = behind_sign.filter_map(|(at, _)| word.get(at + 1..));
    let behind_option = word.get(2..).filter(|_| word.starts_with('-'));
    // `grep -rf/etc/passwd`
    let behind_letters = word
        .strip_prefix('-')
        .map(|word| word.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()));
    let names = std::iter::once(word)
        .chain(behind_sign)
        .chain(behind_option)
        .chain(behind_letters);
    // `-v ./x:/y`, `file:///x?y`
    let before_sign = |name: &'a str| {
        let (before, _) = name.split_once([':', ',', '?', '#', '}'])?;
        (!before.contains([' ', UNKNOWN])).then_some(before)
    };
    names
        .flat_map(move |name| [Some(name), before_sign(name)])
        .flatten()
        .filter(|name| !name.is_empty())
}
