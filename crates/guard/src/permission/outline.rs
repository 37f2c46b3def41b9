//! The outline of a word: its text as far as it is known before the command runs.

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
                let is_own_home = match word.pieces.get(index + 1) {
                    None => true,
                    Some(WordPiece::Text(next)) => next.starts_with('/'),
                    Some(_) => false,
                };
                match context.home().filter(|_| is_own_home) {
                    Some(home) => text.push_str(&home.to_string_lossy()),
                    None => text.push(UNKNOWN),
                }
            }
            WordPiece::Unknown => text.push(UNKNOWN),
        }
    }
    text
}

/// Returns the parts of an outline that may name a file: all of it, and the text behind an option of one letter, behind
/// a group of such options, and behind `=`, `@`, `:`, `,` or `{`. Each is given to its end and to the next separator.
pub(super) fn find_names<'a>(word: &'a str) -> impl Iterator<Item = &'a str> {
    let is_letter = |letter: char| letter.is_ascii_alphabetic();
    let may_be_path = word.len() <= MAX_PATH && !word.contains('\n');
    let path = if may_be_path { word } else { "" };
    let separators = path.match_indices(['=', '@', ':', ',', '{']);
    let behind_separators = separators.filter_map(|(at, _)| path.get(at + 1..));
    let behind_option = path.get(2..).filter(|_| path.starts_with('-'));
    // `grep -rf/etc/passwd`
    let behind_letters = path
        .strip_prefix('-')
        .map(|option| option.trim_start_matches(is_letter));
    let behind_dash = behind_option.into_iter().chain(behind_letters);
    let names = std::iter::once(path)
        .chain(behind_separators)
        .chain(behind_dash);
    // `-v ./x:/y`, `file:///x?y`
    let before_separator = |name: &'a str| {
        let (before, _) = name.split_once([':', ',', '?', '#', '}'])?;
        (!before.contains([' ', UNKNOWN])).then_some(before)
    };
    let parts = names.flat_map(move |name| [Some(name), before_separator(name)]);
    parts.flatten().filter(|name| !name.is_empty())
}
