//! What the words of a command name.

use std::path::{Path, PathBuf};

use super::surroundings::{Place, Surroundings, normalised};
use super::wildcard::GAP;
use crate::shell::PartWord;

/// A file that a word names.
#[derive(Debug, Clone)]
pub(super) enum NamedFile {
    /// This one.
    Known(Place),
    /// One below a known directory, with gaps in its path.
    Outlined {
        path: PathBuf,
        /// Whether the gaps are to be filled with names of files, of which those that begin with a full
        /// stop have to be spelled out.
        is_glob: bool,
    },
    /// One in a directory that is not known; the path is as if it were the working directory.
    Somewhere(PathBuf),
}

impl NamedFile {
    /// The file that `name`, which is a word or a part of it, means in each of these directories. With
    /// no directory, nothing is known of where relative paths lead.
    pub(super) fn of<'a>(
        name: &'a str,
        word: &PartWord,
        directories: &'a [PathBuf],
        surroundings: &'a Surroundings<'_>,
    ) -> Vec<Self> {
        let path = Path::new(name);
        let begins_anywhere =
            word.text == "{}" || (name.starts_with(GAP) && word.text.contains(['$', '`']));
        if begins_anywhere || (path.is_relative() && directories.is_empty()) {
            return vec![Self::Somewhere(surroundings.request.directory.join(path))];
        }
        let root = [PathBuf::from("/")];
        let directories = if path.is_absolute() {
            root.as_slice()
        } else {
            directories
        };
        directories
            .iter()
            .map(|directory| {
                let path = directory.join(path);
                if name.contains(GAP) {
                    Self::Outlined {
                        path: normalised(&path),
                        // Some shells look for `**` in all directories below.
                        is_glob: !word.text.contains(['{', '$', '`'])
                            && !word.text.contains("**")
                            && !surroundings.finds_hidden(),
                    }
                } else {
                    Self::Known(surroundings.place(&path))
                }
            })
            .collect()
    }

    /// The file, as far as it is known.
    pub(super) fn place(&self) -> Place {
        match self {
            Self::Known(place) => place.clone(),
            Self::Outlined { path, .. } | Self::Somewhere(path) => Place {
                name: path.clone(),
                real: None,
            },
        }
    }
}

/// What is known of a word before the command runs, with gaps for the rest.
pub(super) fn outline(word: &PartWord, surroundings: &Surroundings<'_>) -> String {
    if let Some(value) = &word.value {
        return value.clone();
    }
    let home = surroundings.request.home.map(Path::to_string_lossy);
    let mut outline = String::new();
    let mut rest = word.text.as_str();
    if let (Some(after), Some(home)) = (rest.strip_prefix('~'), &home)
        && (after.is_empty() || after.starts_with('/'))
    {
        outline.push_str(home);
        rest = after;
    }
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '$' | '`' | '*' | '?' | '[' | '{' => unknown_length(rest),
            _ => 0,
        };
        let (unknown, after) = rest.split_at(length);
        match (unknown, &home) {
            ("", _) => {
                let mut characters = rest.chars();
                let first = characters
                    .next()
                    .filter(|first| !matches!(first, '"' | '\''));
                outline.extend(match first {
                    Some('\\') => characters.next(),
                    first => first,
                });
                rest = characters.as_str();
                continue;
            }
            ("$HOME" | "${HOME}", Some(home)) => outline.push_str(home),
            _ => outline.push(GAP),
        }
        rest = after;
    }
    outline
}

/// How much of a text that begins with a special character may become anything.
fn unknown_length(text: &str) -> usize {
    let through = |end: Option<usize>| end.map_or(text.len(), |at| at + 1);
    let after = text.get(1..).unwrap_or_default();
    match text.chars().next() {
        Some('`') => through(text.rfind('`')),
        Some('{') => text.rfind('}').map_or(0, |at| at + 1),
        Some('[') => text.find(']').map_or(0, |at| at + 1),
        Some('$') => match after.chars().next() {
            Some('(') => through(text.rfind(')')),
            Some('{') => through(text.find('}')),
            Some('"' | '\'') | None => 0,
            Some(first) if first.is_ascii_alphanumeric() || first == '_' => {
                let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                1 + after.bytes().take_while(is_name).count()
            }
            Some(first) => 1 + first.len_utf8(),
        },
        _ => 1,
    }
}
