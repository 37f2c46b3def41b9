//! Words before the command runs, and the names of files in them.

use super::path_context::PathContext;
use super::wildcard::{GLOB, UNKNOWN};
use crate::shell::{PartWord, WordPiece};

/// Maximum number of option letters in one word that a value may follow.
const MAX_LETTERS: usize = 255;

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

/// Returns the parts of a word that may name a file: the whole word, and the text after option
/// letters, `=`, `@`, `:`, `,`, `)`, `{` or `//`, to the end or the next sign.
pub(super) fn names_in<'a>(word: &'a str) -> impl Iterator<Item = &'a str> {
    let is_path = word.len() <= MAX_PATH && !word.contains('\n');
    let word = if is_path { word } else { "" };
    let behind_sign = word
        .match_indices(['=', '@', ':', ')', ',', '{'])
        .filter_map(|(at, _)| word.get(at + 1..));
    let letters = word.strip_prefix(['-', '+']).unwrap_or_default();
    let count = letters.bytes().take_while(u8::is_ascii_alphabetic).count();
    let behind_letters = (1..=count.min(MAX_LETTERS)).filter_map(|at| letters.get(at..));
    let digits = letters.get(count..).unwrap_or_default();
    let behind_digits = digits.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let behind_scheme = word.match_indices("//").flat_map(|(at, _)| {
        let rest = word.get(at + 2..).unwrap_or_default();
        let is_file = word[..at].to_ascii_lowercase().ends_with("file:");
        let behind_host = rest.find('/').filter(|_| is_file);
        std::iter::once(rest).chain(behind_host.and_then(|host| rest.get(host..)))
    });
    let names = std::iter::once(word)
        .chain(behind_sign)
        .chain(behind_scheme)
        .chain(behind_letters)
        .chain(Some(behind_digits));
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
