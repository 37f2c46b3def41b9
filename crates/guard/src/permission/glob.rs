//! Globs in the syntax of `.gitignore`, matched without compiling them, since most processes match few paths.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// A relative pattern: `*`, `?` and `[…]` match within a name, `**` matches any number of directories. Braces are
/// literal.
#[derive(Debug, Clone)]
pub(super) struct Glob(Vec<Part>);

#[derive(Debug, Clone)]
enum Part {
    /// `**`
    Directories,
    /// A name without wildcards.
    Literal(Vec<u8>),
    Name(Vec<Token>),
}

#[derive(Debug, Clone)]
enum Token {
    Char(char),
    Any,
    Star,
    Class {
        is_negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Glob {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The reason why the pattern is invalid.
    pub(super) fn parse(pattern: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = Some(pattern);
        while let Some(text) = rest {
            let name = text.split('/').next().unwrap_or_default();
            if name.contains(['*', '?', '[', '\\']) {
                let (tokens, below) = tokens(text)?;
                parts.push(part(tokens));
                rest = below;
            } else {
                parts.push(Part::Literal(name.as_bytes().to_vec()));
                rest = text.get(name.len() + 1..);
            }
        }
        Ok(Self(parts))
    }

    /// Whether it matches a path.
    pub(super) fn is_match(&self, path: &[u8]) -> bool {
        self.matches(path, |rest| rest.is_none())
    }

    /// Returns the names before the first wildcard, and whether these are all.
    pub(super) fn literal_start(&self) -> (PathBuf, bool) {
        let names = self.0.iter().map_while(|part| match part {
            Part::Literal(name) => Some(OsStr::from_bytes(name)),
            Part::Directories | Part::Name(_) => None,
        });
        let start: Vec<&OsStr> = names.collect();
        let is_whole = start.len() == self.0.len();
        (start.into_iter().collect(), is_whole)
    }

    /// Returns the directory of which it names everything; `None` if it names something else.
    pub(super) fn directory(&self) -> Option<PathBuf> {
        let (last, names) = self.0.split_last()?;
        let names = Self(names.to_vec()).literal_start();
        (matches!(last, Part::Directories) && names.1).then_some(names.0)
    }

    /// Whether it matches a path or a directory that contains it.
    pub(super) fn covers(&self, path: &[u8]) -> bool {
        self.matches(path, |_| true)
    }

    /// Whether it matches the first names of a path such that `may_follow` accepts the others.
    fn matches(&self, path: &[u8], may_follow: fn(Option<&[u8]>) -> bool) -> bool {
        let (mut parts, mut rest) = (self.0.as_slice(), Some(path));
        // What follows the last `**`, and where it was last tried.
        let mut retry = None;
        loop {
            match (parts.split_first(), rest) {
                (None, rest) if may_follow(rest) => return true,
                (Some((Part::Directories, [])), rest) => return rest.is_some(),
                (Some((Part::Directories, after)), rest) => {
                    retry = Some((after, rest));
                    parts = after;
                    continue;
                }
                (Some(_), None) => return false,
                (Some((part, after)), Some(text)) => {
                    let (name, below) = split(text);
                    if part.is_match(name) {
                        (parts, rest) = (after, below);
                        continue;
                    }
                }
                (None, _) => {}
            }
            let Some((after, Some(text))) = retry else {
                return false;
            };
            let (_, below) = split(text);
            retry = Some((after, below));
            (parts, rest) = (after, below);
        }
    }
}

/// Returns the first name of a path, and what follows it.
fn split(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    match path.iter().position(|byte| *byte == b'/') {
        Some(at) => (&path[..at], Some(&path[at + 1..])),
        None => (path, None),
    }
}

/// Parses the first name of a pattern. Returns its tokens, and what follows the separator.
fn tokens(pattern: &str) -> Result<(Vec<Token>, Option<&str>), String> {
    let mut tokens = Vec::new();
    let mut rest = pattern.chars();
    while let Some(letter) = rest.next() {
        tokens.push(match letter {
            '/' => return Ok((tokens, Some(rest.as_str()))),
            '\\' => Token::Char(rest.next().ok_or("dangling '\\'")?),
            '*' => Token::Star,
            '?' => Token::Any,
            '[' => class(&mut rest)?,
            letter => Token::Char(letter),
        });
    }
    Ok((tokens, None))
}

fn part(tokens: Vec<Token>) -> Part {
    if matches!(tokens[..], [Token::Star, Token::Star]) {
        return Part::Directories;
    }
    let letters = tokens.iter().map(|token| match token {
        Token::Char(letter) => Some(*letter),
        _ => None,
    });
    match letters.collect::<Option<String>>() {
        Some(literal) => Part::Literal(literal.into_bytes()),
        None => Part::Name(tokens),
    }
}

/// Parses a class after its opening bracket.
fn class(rest: &mut std::str::Chars<'_>) -> Result<Token, String> {
    let unclosed = "unclosed character class; missing ']'";
    let mut letter = rest.next();
    let is_negated = matches!(letter, Some('!' | '^'));
    if is_negated {
        letter = rest.next();
    }
    let mut ranges = Vec::new();
    loop {
        let first = letter.ok_or(unclosed)?;
        if first == ']' && !ranges.is_empty() {
            return Ok(Token::Class { is_negated, ranges });
        }
        let mut after = rest.clone();
        let last = match (after.next(), after.next()) {
            (Some('-'), Some(last)) if last != ']' => {
                *rest = after;
                last
            }
            _ => first,
        };
        if last < first {
            return Err("invalid range".to_owned());
        }
        ranges.push((first, last));
        letter = rest.next();
    }
}

impl Part {
    /// Whether it matches a name.
    fn is_match(&self, name: &[u8]) -> bool {
        let tokens = match self {
            Self::Directories => return true,
            Self::Literal(literal) => return literal == name,
            Self::Name(tokens) => tokens,
        };
        let (mut token, mut at) = (0, 0);
        // What follows the last star, and where it was last tried.
        let mut retry = None;
        loop {
            match (tokens.get(token), next_letter(&name[at..])) {
                (None, None) => return true,
                (Some(Token::Star), _) => {
                    token += 1;
                    retry = Some((token, at));
                    continue;
                }
                (Some(next), Some((letter, length))) if next.is_match(letter) => {
                    (token, at) = (token + 1, at + length);
                    continue;
                }
                _ => {}
            }
            let Some((after, tried)) = retry else {
                return false;
            };
            let Some((_, length)) = next_letter(&name[tried..]) else {
                return false;
            };
            (token, at) = (after, tried + length);
            retry = Some((token, at));
        }
    }
}

impl Token {
    fn is_match(&self, letter: char) -> bool {
        match self {
            Self::Char(literal) => *literal == letter,
            Self::Any | Self::Star => true,
            Self::Class { is_negated, ranges } => {
                let mut ranges = ranges.iter();
                ranges.any(|(first, last)| (*first..=*last).contains(&letter)) != *is_negated
            }
        }
    }
}

/// Returns the first letter of a name and its length in bytes; a byte that is not UTF-8 counts as one letter.
fn next_letter(name: &[u8]) -> Option<(char, usize)> {
    let length = match name.first()? {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0.. => 4,
        _ => 1,
    };
    let text = name
        .get(..length)
        .and_then(|bytes| str::from_utf8(bytes).ok());
    let letter = text.and_then(|text| text.chars().next());
    Some(letter.map_or((char::REPLACEMENT_CHARACTER, 1), |letter| (letter, length)))
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn invalid_patterns_are_refused() {
        for pattern in ["a[", "a[]", "[!", "a\\", "[z-a]"] {
            assert!(Glob::parse(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_class_matches_no_separator() {
        for pattern in ["a[!b]c", "a[/]c", "a[^/]*"] {
            assert!(!Glob::parse(pattern).unwrap().is_match(b"a/c"), "{pattern}");
        }
    }

    #[test]
    fn a_wildcard_matches_a_letter_of_several_bytes() {
        for (pattern, name, expected) in [
            ("caf?.txt", "café.txt".as_bytes(), true),
            ("caf??.txt", "café.txt".as_bytes(), false),
            ("caf[é].*", "café.txt".as_bytes(), true),
            ("[а-я]*", "ключ".as_bytes(), true),
            ("[!а-я]*", "ключ".as_bytes(), false),
            ("*?", b"\xff", true),
            ("a[!b]", b"a\xe2", true),
            ("\u{e9}*", b"\xc3", false),
        ] {
            let found = Glob::parse(pattern).unwrap().is_match(name);
            assert_eq!(found, expected, "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn agrees_with_a_regular_expression(
            pattern in r"(\*\*/){0,2}([ab.?*]|\[!?[ab]-?[bc]?\]|\\\*){0,4}(/(\*\*|[ab.?*]{0,3})){0,4}",
            path in "([ab.]{1,3}(/[ab*.]{1,3}){0,5})?",
        ) {
            let parts = pattern.split('/').filter(|part| !part.is_empty());
            let pattern = parts.collect::<Vec<_>>().join("/");
            // A class of `globset` matches separators.
            let classes = pattern.replace("[!", "[!/");
            let glob = GlobBuilder::new(&classes)
                .literal_separator(true)
                .backslash_escape(true)
                .build();
            prop_assume!(glob.is_ok());
            let expected = glob.unwrap().compile_matcher();
            let glob = Glob::parse(&pattern).unwrap();
            prop_assert_eq!(glob.is_match(path.as_bytes()), expected.is_match(&path));
            // The ancestors of a `Path` leave out `.`, which a pattern may match.
            let ends = path.match_indices('/').map(|(at, _)| at);
            let is_covered = ends
                .chain([path.len()])
                .any(|end| expected.is_match(&path[..end]));
            prop_assert_eq!(glob.covers(path.as_bytes()), is_covered);
        }
    }
}
