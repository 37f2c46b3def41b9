//! Globs in the syntax of `.gitignore`, matched without compiling them, since most processes match few paths.

use std::path::PathBuf;
use std::str::Chars;

/// A relative pattern: `*`, `?` and `[…]` match within a name, `**` matches any number of directories. Braces are
/// literal.
#[derive(Debug, Clone)]
pub(super) struct Glob(Vec<String>);

impl Glob {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The reason why the pattern is invalid.
    pub(super) fn parse(pattern: &str) -> Result<Self, &'static str> {
        let mut signs = pattern.chars();
        while let Some(sign) = signs.next() {
            match sign {
                '\\' => signs.next().map(|_| ()).ok_or("dangling '\\'")?,
                '[' => is_in_class(&mut signs, ' ').map(|_| ())?,
                _ => {}
            }
        }
        Ok(Self(pattern.split('/').map(str::to_owned).collect()))
    }

    /// Whether it matches a path.
    pub(super) fn is_match(&self, path: &[u8]) -> bool {
        self.matches(path, false)
    }

    /// Whether it matches a path or a directory that contains it.
    pub(super) fn covers(&self, path: &[u8]) -> bool {
        self.matches(path, true)
    }

    /// Returns the names before the first wildcard, and whether these are all.
    pub(super) fn literal_start(&self) -> (PathBuf, bool) {
        let is_literal = |name: &&String| !name.contains(['*', '?', '[', '\\']);
        let start = self.0.iter().take_while(is_literal);
        let is_whole = start.clone().count() == self.0.len();
        (start.collect(), is_whole)
    }

    /// Returns the directory of which it names everything; `None` if it names something else.
    pub(super) fn directory(&self) -> Option<PathBuf> {
        let (last, names) = self.0.split_last()?;
        let (directory, is_whole) = Self(names.to_vec()).literal_start();
        (last == "**" && is_whole).then_some(directory)
    }

    /// Whether it matches a path, or, with `may_be_above`, the first names of it.
    fn matches(&self, path: &[u8], may_be_above: bool) -> bool {
        let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let (mut parts, mut names) = (self.0.as_slice(), names.as_slice());
        // What follows the last `**`, and where it was last tried.
        let mut retry = None;
        loop {
            match (parts, names) {
                ([], names) if names.is_empty() || may_be_above => return true,
                ([last], names) if last == "**" => return !names.is_empty(),
                ([first, after @ ..], _) if first == "**" => {
                    retry = Some((after, names));
                    parts = after;
                    continue;
                }
                ([part, after @ ..], [name, below @ ..]) if is_name(part, name) => {
                    (parts, names) = (after, below);
                    continue;
                }
                _ => {}
            }
            let Some((after, [_, below @ ..])) = retry else {
                return false;
            };
            retry = Some((after, below));
            (parts, names) = (after, below);
        }
    }
}

/// Whether a pattern matches a name.
fn is_name(mut pattern: &str, mut name: &[u8]) -> bool {
    // What follows the last star, and where it was last tried.
    let mut retry = None;
    loop {
        if pattern.is_empty() && name.is_empty() {
            return true;
        }
        if let Some(after) = pattern.strip_prefix('*') {
            retry = Some((after, name));
            pattern = after;
            continue;
        }
        if let Some((letter, below)) = split_letter(name)
            && let Some(after) = behind_letter(pattern, letter)
        {
            (pattern, name) = (after, below);
            continue;
        }
        let Some((after, tried)) = retry else {
            return false;
        };
        let Some((_, below)) = split_letter(tried) else {
            return false;
        };
        retry = Some((after, below));
        (pattern, name) = (after, below);
    }
}

/// Returns the rest of a pattern whose first sign matches a letter.
fn behind_letter(pattern: &str, letter: char) -> Option<&str> {
    let mut signs = pattern.chars();
    let is_match = match signs.next()? {
        '?' => true,
        '\\' => signs.next() == Some(letter),
        '[' => is_in_class(&mut signs, letter).unwrap_or_default(),
        literal => literal == letter,
    };
    is_match.then_some(signs.as_str())
}

/// Reads a class after its opening bracket. Returns whether a letter is in it.
fn is_in_class(rest: &mut Chars<'_>, letter: char) -> Result<bool, &'static str> {
    let mut next = rest.next();
    let is_negated = matches!(next, Some('!' | '^'));
    if is_negated {
        next = rest.next();
    }
    let (mut is_listed, mut is_first) = (false, true);
    loop {
        let first = next.filter(|sign| *sign != '/');
        let first = first.ok_or("unclosed character class; missing ']'")?;
        if first == ']' && !is_first {
            return Ok(is_listed != is_negated);
        }
        is_first = false;
        let mut after = rest.clone();
        let last = match (after.next(), after.next()) {
            (Some('-'), Some(last)) if last != ']' => {
                *rest = after;
                last
            }
            _ => first,
        };
        if last < first {
            return Err("invalid range");
        }
        is_listed |= (first..=last).contains(&letter);
        next = rest.next();
    }
}

/// Splits off the first letter of a name; a byte that is not UTF-8 counts as one letter.
fn split_letter(name: &[u8]) -> Option<(char, &[u8])> {
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
    let length = letter.map_or(1, char::len_utf8);
    Some((
        letter.unwrap_or(char::REPLACEMENT_CHARACTER),
        name.get(length..)?,
    ))
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn invalid_patterns_are_refused() {
        for pattern in ["a[", "a[]", "[!", "a\\", "[z-a]", "a[/]c", "a[^/]*"] {
            assert!(Glob::parse(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_class_matches_no_separator() {
        assert!(!Glob::parse("a[!b]c").unwrap().is_match(b"a/c"));
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
