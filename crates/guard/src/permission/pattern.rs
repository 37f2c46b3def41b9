//! Patterns of rules: texts with `*`, and paths in the syntax of `.gitignore`. They are not compiled to regular
//! expressions, since most processes match few texts.

use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Placeholder for any text, even several names: the expansion of a pattern by a tool.
pub(super) const GAP: char = '\0';

/// Placeholder for the expansion of a glob by the shell: text without `/` and without a dot at the start of a name.
pub(super) const GLOB: char = '\x01';

/// Placeholder for a part of a word that is known only at run time. No rule has this character.
pub(super) const UNKNOWN: char = '\x02';

/// A word that is [`UNKNOWN`] as a whole.
pub(super) const UNKNOWN_WORD: &str = "\x02";

/// Placeholders whose text may be filled in by [`Pattern::may_cover`].
const GAPS: &[char] = &[GAP, GLOB];

/// The tokens of a pattern.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern(Vec<Token>);

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Literal(char),
    /// Any text.
    Text,
    /// Any text within a name.
    Name,
    /// Any number of directories, each with its `/`.
    Directories,
    /// A character within a name, in one of the ranges.
    Class(Vec<RangeInclusive<char>>),
    /// A character within a name, in none of the ranges.
    NegatedClass(Vec<RangeInclusive<char>>),
}

impl Pattern {
    /// Parses a text, in which `*` matches any text; `\*` is a literal star and `\\` a backslash.
    pub(super) fn from_text(pattern: &str) -> Self {
        let is_special = |next: &char| "*\\".contains(*next);
        let mut letters = pattern.chars().peekable();
        let mut tokens = Vec::new();
        while let Some(letter) = letters.next() {
            tokens.push(match letter {
                '*' => Token::Text,
                '\\' => Token::Literal(letters.next_if(is_special).unwrap_or('\\')),
                _ => Token::Literal(letter),
            });
        }
        Self(tokens)
    }

    /// Parses a relative path: `*`, `?` and `[…]` match within a name, `**` matches any number of directories. Braces
    /// are literal.
    ///
    /// # Errors
    /// The reason why the pattern is invalid.
    pub(super) fn from_path(pattern: &str) -> Result<Self, &'static str> {
        let mut tokens = Vec::new();
        let mut rest = pattern;
        while let Some(letter) = rest.chars().next() {
            let begins_name = matches!(
                tokens.last(),
                None | Some(Token::Literal('/') | Token::Directories)
            );
            if let Some(below) = rest.strip_prefix("**/").filter(|_| begins_name) {
                tokens.push(Token::Directories);
                rest = below;
                continue;
            }
            if rest == "**" && begins_name {
                tokens.push(Token::Text);
                break;
            }
            rest = &rest[letter.len_utf8()..];
            tokens.push(match letter {
                '*' => Token::Name,
                '?' => Token::NegatedClass(Vec::new()),
                '[' => parse_class(&mut rest)?,
                '\\' => {
                    let escaped = rest.chars().next().ok_or("dangling '\\'")?;
                    rest = &rest[escaped.len_utf8()..];
                    Token::Literal(escaped)
                }
                _ => Token::Literal(letter),
            });
        }
        Ok(Self(tokens))
    }

    /// Returns a pattern for the same paths below a literal directory.
    pub(super) fn below(&self, directory: &str) -> Self {
        let letters = directory.trim_end_matches('/').chars().chain(['/']);
        let tokens = letters.map(Token::Literal).chain(self.0.iter().cloned());
        Self(tokens.collect())
    }

    /// Counts the stars of a pattern for texts.
    pub(super) fn count_stars(&self) -> usize {
        self.0.iter().filter(|token| **token == Token::Text).count()
    }

    /// Whether it is a single star.
    pub(super) fn is_star(&self) -> bool {
        self.0 == [Token::Text]
    }

    /// Whether it matches the text. Only a star matches a gap.
    pub(super) fn covers(&self, text: &str) -> bool {
        self.matches(text, &[])
    }

    /// Whether it matches the text if its gaps are filled in some way.
    pub(super) fn may_cover(&self, text: &str) -> bool {
        self.matches(text, GAPS)
    }

    /// Whether it matches a path or a directory above it, if the gaps of the path are filled in some way.
    pub(super) fn may_contain(&self, path: &str) -> bool {
        // A gap may end with a name below the directory.
        let separators = path.match_indices(['/', GAP]);
        let ends = separators.map(|(at, letter)| at + usize::from(letter != "/"));
        let mut above = ends.chain([path.len()]);
        above.any(|end| self.matches(&path[..end], GAPS))
    }

    /// Returns the path before the first name with a wildcard, and whether the pattern has none.
    pub(super) fn literal_start(&self) -> (PathBuf, bool) {
        let literal = self.literal_prefix().collect::<String>();
        if literal.chars().count() == self.0.len() {
            return (literal.into(), true);
        }
        let names = literal.rsplit_once('/').map_or("", |(names, _)| names);
        (names.into(), false)
    }

    /// Returns the directory of a pattern `DIRECTORY/**`.
    pub(super) fn directory(&self) -> Option<PathBuf> {
        let (last, before) = self.0.split_last()?;
        let (directory, _) = self.literal_start();
        let is_whole = self.literal_prefix().count() == before.len();
        (*last == Token::Text && is_whole).then_some(directory)
    }

    /// Returns the characters before the first wildcard.
    fn literal_prefix(&self) -> impl Iterator<Item = char> {
        self.0.iter().map_while(|token| match token {
            Token::Literal(letter) => Some(*letter),
            _ => None,
        })
    }

    /// Whether a text cannot match since it starts or ends with other characters than the pattern.
    fn excludes(&self, text: &str, fillable: &[char]) -> bool {
        let differs = |(token, letter): (&Token, char)| match token {
            Token::Literal(literal) if !fillable.contains(&letter) => Some(*literal != letter),
            _ => None,
        };
        let from_start = self.0.iter().zip(text.chars());
        let from_end = self.0.iter().rev().zip(text.chars().rev());
        let mut in_start = from_start.map_while(differs);
        let mut in_end = from_end.map_while(differs);
        in_start.any(|differs| differs) || in_end.any(|differs| differs)
    }

    /// Whether it matches the text if the `fillable` placeholders may stand for any text. Of the tokens, only a star
    /// matches other placeholders. One pass over the text keeps all positions in the pattern that can be reached.
    fn matches(&self, text: &str, fillable: &[char]) -> bool {
        if self.excludes(text, fillable) {
            return false;
        }
        let end = self.0.len();
        let mut reached = vec![false; end + 1];
        reached[0] = true;
        let mut begins_name = true;
        for letter in text.chars() {
            self.mark_skipped(&mut reached, begins_name);
            if fillable.contains(&letter) {
                // The text of a gap may match many tokens.
                for at in 0..end {
                    reached[at + 1] |= reached[at] && (letter == GAP || self.is_in_glob(at));
                }
            } else {
                for at in (0..=end).rev() {
                    let advances = at > 0 && reached[at - 1] && self.0[at - 1].matches(letter);
                    let stays = self.0.get(at).is_some_and(|token| token.spans(letter));
                    reached[at] = advances || reached[at] && stays;
                }
            }
            if !reached.contains(&true) {
                return false;
            }
            begins_name = letter == '/' || letter == GAP && fillable.contains(&letter);
        }
        self.mark_skipped(&mut reached, begins_name);
        reached[end]
    }

    /// Whether the text of a [`GLOB`] may have what the token at a position matches.
    fn is_in_glob(&self, at: usize) -> bool {
        match &self.0[at] {
            Token::Literal('/') | Token::Directories => false,
            Token::Literal('.') => {
                at > 0 && !matches!(self.0[at - 1], Token::Literal('/') | Token::Directories)
            }
            _ => true,
        }
    }

    /// Marks the positions that can be reached because a wildcard matches no text. [`Token::Directories`] does so only
    /// where a name begins.
    fn mark_skipped(&self, reached: &mut [bool], begins_name: bool) {
        for (at, token) in self.0.iter().enumerate() {
            let may_be_empty = match token {
                Token::Text | Token::Name => true,
                Token::Directories => begins_name,
                _ => false,
            };
            reached[at + 1] |= reached[at] && may_be_empty;
        }
    }
}

impl Token {
    /// Whether it matches exactly one character, which is this one.
    fn matches(&self, letter: char) -> bool {
        let contains = |range: &RangeInclusive<char>| range.contains(&letter);
        match self {
            Self::Literal(literal) => *literal == letter,
            Self::Class(ranges) => letter != '/' && ranges.iter().any(contains),
            Self::NegatedClass(ranges) => letter != '/' && !ranges.iter().any(contains),
            Self::Text | Self::Name | Self::Directories => false,
        }
    }

    /// Whether it matches texts of any length with the character.
    fn spans(&self, letter: char) -> bool {
        match self {
            Self::Text | Self::Directories => true,
            Self::Name => letter != '/',
            Self::Literal(_) | Self::Class(_) | Self::NegatedClass(_) => false,
        }
    }
}

/// Parses the rest of a class after its opening bracket, and removes it from the text.
///
/// # Errors
/// The reason why the class is invalid.
fn parse_class(rest: &mut &str) -> Result<Token, &'static str> {
    let negated = rest.strip_prefix(['!', '^']);
    let text = negated.unwrap_or(rest);
    // A bracket at the start is a member of the class.
    let mut ends = text.char_indices().skip(1);
    let end = ends.find(|(_, letter)| *letter == ']');
    let (end, _) = end.ok_or("unclosed character class; missing ']'")?;
    let mut letters = text[..end].chars().peekable();
    let mut ranges = Vec::new();
    while let Some(first) = letters.next() {
        let mut after = letters.clone();
        let last = match (after.next(), after.next()) {
            (Some('-'), Some(last)) => {
                letters = after;
                last
            }
            _ => first,
        };
        ranges.push(first..=last);
    }
    if text[..end].contains('/') {
        return Err("unclosed character class; missing ']'");
    }
    if ranges.iter().any(RangeInclusive::is_empty) {
        return Err("invalid range");
    }
    *rest = &text[end + 1..];
    Ok(match negated {
        Some(_) => Token::NegatedClass(ranges),
        None => Token::Class(ranges),
    })
}

/// Escapes a text so that [`Pattern::from_text`] matches only the text.
pub(super) fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('*', "\\*")
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn gaps_match_any_text() {
        let rows = [
            ("rm -rf *", "rm \0", true),
            ("rm -rf *", "rm -r\0 x", true),
            ("rm -rf *", "rm -v\0", false),
            ("rm -rf *", "\0 x", true),
            ("git push", "git \0", true),
            ("git push", "git pu\0sh x", false),
            ("*.env", "a/.en\0", true),
            ("*.env", "a\0.ex", false),
            ("a*b*c", "\0b\0", true),
            ("", "\0", true),
        ];
        for (pattern, text, expected) in rows {
            let found = Pattern::from_text(pattern).may_cover(text);
            assert_eq!(found, expected, "{pattern} {text:?}");
        }
    }

    #[test]
    fn gaps_of_globs_stay_within_a_name_and_match_no_hidden_files() {
        let rows = [
            ("/*/.env", "/a/\0", false),
            ("/*/.env", "/a/\0.rs", false),
            ("/*/.env/*", "/a/\0.rs", false),
            ("/*/.env", "/a/\0/b.rs", false),
            ("/*/.env", "/a/.\0", true),
            ("/*/.env", "/a/.e\0v", true),
            ("/*/a.env", "/b/\0", true),
            ("/*/secrets/*", "/a/\0.rs", false),
            ("/*/secrets/*", "/a/\0/b", true),
            ("/*/secrets/*", "/a/s\0/b", true),
        ];
        for (pattern, path, expected) in rows {
            let found =
                Pattern::from_text(pattern).may_cover(&path.replace(GAP, &GLOB.to_string()));
            assert_eq!(found, expected, "{pattern} {path:?}");
        }
    }

    #[test]
    fn invalid_patterns_are_refused() {
        for pattern in ["a[", "a[]", "[!", "a\\", "[z-a]", "a[/]c", "a[^/]*"] {
            assert!(Pattern::from_path(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_class_matches_no_separator() {
        assert!(!Pattern::from_path("a[!b]c").unwrap().covers("a/c"));
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
            let found = Pattern::from_path(pattern)
                .unwrap()
                .covers(&String::from_utf8_lossy(name));
            assert_eq!(found, expected, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn a_text_agrees_with_a_regular_expression(pattern in "[ab*]{0,8}", text in "[ab*]{0,10}") {
            let expression = format!("^{}$", pattern.replace('*', ".*"));
            let expected = regex::Regex::new(&expression).unwrap().is_match(&text);
            let wildcard = Pattern::from_text(&pattern);
            prop_assert_eq!(wildcard.covers(&text), expected);
            prop_assert!(Pattern::from_text(&escape(&text)).covers(&text));
            // Every prefix and suffix as a gap.
            let may_cover_all = (0..=text.len()).all(|cut| {
                wildcard.may_cover(&format!("{}\0", &text[..cut]))
                    && wildcard.may_cover(&format!("\0{}", &text[cut..]))
            });
            prop_assert!(!expected || may_cover_all);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn a_path_agrees_with_a_regular_expression(
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
            let glob = Pattern::from_path(&pattern).unwrap();
            prop_assert_eq!(glob.covers(&path), expected.is_match(&path));
            // The ancestors of a `Path` leave out `.`, which a pattern may match.
            let ends = path.match_indices('/').map(|(at, _)| at);
            let is_covered = ends
                .chain([path.len()])
                .any(|end| expected.is_match(&path[..end]));
            prop_assert_eq!(glob.may_contain(&path), is_covered);
        }
    }
}
