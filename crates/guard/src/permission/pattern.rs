//! Patterns of rules: texts with `*`, and paths in the syntax of `.gitignore`. They are matched without compiling them,
//! since most processes match few texts.

use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Placeholder for any text, also for several names, in the patterns of tools.
pub(super) const GAP: char = '\0';

/// Placeholder for the expansion of a glob by the shell: no `/`, and no leading dot in a name.
pub(super) const GLOB: char = '\x01';

/// Placeholder for a part of a word that is known only at run time: a name that no rule has.
pub(super) const UNKNOWN: char = '\x02';

/// The tokens of a pattern.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern(Vec<Token>);

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Sign(char),
    /// Any text.
    Text,
    /// Any text within a name.
    Name,
    /// Any number of directories, each with its `/`.
    Directories,
    /// A sign within a name: one of these, or with `true` any other.
    Class(bool, Vec<RangeInclusive<char>>),
}

impl Pattern {
    /// Parses a text, in which `*` matches any text; `\*` is a literal star and `\\` a backslash.
    pub(super) fn of_text(pattern: &str) -> Self {
        let mut signs = pattern.chars().peekable();
        let mut tokens = Vec::new();
        while let Some(sign) = signs.next() {
            tokens.push(match sign {
                '*' => Token::Text,
                '\\' => Token::Sign(signs.next_if(|next| "*\\".contains(*next)).unwrap_or('\\')),
                _ => Token::Sign(sign),
            });
        }
        Self(tokens)
    }

    /// Parses a relative path: `*`, `?` and `[…]` match within a name, `**` matches any number of directories. Braces
    /// are literal.
    ///
    /// # Errors
    /// The reason why the pattern is invalid.
    pub(super) fn of_path(pattern: &str) -> Result<Self, &'static str> {
        let mut tokens = Vec::new();
        let mut rest = pattern;
        while let Some(sign) = rest.chars().next() {
            let begins_name = matches!(
                tokens.last(),
                None | Some(Token::Sign('/') | Token::Directories)
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
            rest = &rest[sign.len_utf8()..];
            tokens.push(match sign {
                '*' => Token::Name,
                '?' => Token::Class(true, Vec::new()),
                '[' => class(&mut rest)?,
                '\\' => {
                    let escaped = rest.chars().next().ok_or("dangling '\\'")?;
                    rest = &rest[escaped.len_utf8()..];
                    Token::Sign(escaped)
                }
                _ => Token::Sign(sign),
            });
        }
        Ok(Self(tokens))
    }

    /// Returns a pattern of paths below a directory.
    pub(super) fn below(&self, directory: &str) -> Self {
        let signs = directory.trim_end_matches('/').chars().chain(['/']);
        let tokens = signs.map(Token::Sign).chain(self.0.iter().cloned());
        Self(tokens.collect())
    }

    /// Returns the number of stars in a text.
    pub(super) fn stars(&self) -> usize {
        self.0.iter().filter(|token| **token == Token::Text).count()
    }

    /// Whether it is a star alone.
    pub(super) fn is_star(&self) -> bool {
        self.0 == [Token::Text]
    }

    /// Whether it matches the text. Only a star matches a gap.
    pub(super) fn covers(&self, text: &str) -> bool {
        self.matches(text, false)
    }

    /// Whether it matches the text for some values of its gaps.
    pub(super) fn may_cover(&self, text: &str) -> bool {
        self.matches(text, true)
    }

    /// Whether it matches a path, for some values of its gaps, or a directory that contains it.
    pub(super) fn may_contain(&self, path: &str) -> bool {
        // A gap may have names below the directory.
        let ends = path.match_indices(['/', GAP]);
        let ends = ends.map(|(at, sign)| at + usize::from(sign != "/"));
        let mut above = ends.chain([path.len()]);
        above.any(|end| self.matches(&path[..end], true))
    }

    /// Returns the names before the first wildcard, and whether these are all.
    pub(super) fn literal_start(&self) -> (PathBuf, bool) {
        let literal = self.literal().collect::<String>();
        if literal.chars().count() == self.0.len() {
            return (literal.into(), true);
        }
        let names = literal.rsplit_once('/').map_or("", |(names, _)| names);
        (names.into(), false)
    }

    /// Returns the directory of which it names everything; `None` if it names something else.
    pub(super) fn directory(&self) -> Option<PathBuf> {
        let (last, before) = self.0.split_last()?;
        let (directory, _) = self.literal_start();
        let is_whole = self.literal().count() == before.len();
        (*last == Token::Text && is_whole).then_some(directory)
    }

    /// Returns the signs before the first wildcard.
    fn literal(&self) -> impl Iterator<Item = char> {
        self.0.iter().map_while(|token| match token {
            Token::Sign(sign) => Some(*sign),
            _ => None,
        })
    }

    /// Whether a text cannot match, since it begins or ends with other signs.
    fn excludes(&self, text: &str, fills: bool) -> bool {
        let differs = |(token, sign): (&Token, char)| match token {
            Token::Sign(known) if !(fills && [GAP, GLOB].contains(&sign)) => Some(*known != sign),
            _ => None,
        };
        let (start, end) = (self.0.iter(), self.0.iter().rev());
        let mut differing = start.zip(text.chars()).map_while(differs);
        let mut at_end = end.zip(text.chars().rev()).map_while(differs);
        differing.any(|differs| differs) || at_end.any(|differs| differs)
    }

    /// Looks for the tokens in one pass over the text, with all positions in the pattern that may be reached. Only a star
    /// matches a gap, unless it is filled.
    fn matches(&self, text: &str, fills: bool) -> bool {
        if self.excludes(text, fills) {
            return false;
        }
        let end = self.0.len();
        let mut reached = vec![false; end + 1];
        reached[0] = true;
        let mut begins_name = true;
        for sign in text.chars() {
            self.skip_empty(&mut reached, begins_name);
            if fills && [GAP, GLOB].contains(&sign) {
                // It may fill many tokens.
                for at in 0..end {
                    reached[at + 1] |= reached[at] && (sign == GAP || self.is_within_name(at));
                }
            } else {
                for at in (0..=end).rev() {
                    let moves = at > 0 && reached[at - 1] && self.0[at - 1].is_sign(sign);
                    let stays = self.0.get(at).is_some_and(|token| token.holds(sign));
                    reached[at] = moves || reached[at] && stays;
                }
            }
            if !reached.contains(&true) {
                return false;
            }
            begins_name = sign == '/' || fills && sign == GAP;
        }
        self.skip_empty(&mut reached, begins_name);
        reached[end]
    }

    /// Whether the expansion of a glob may have what the token matches: no `/`, and no dot at the start of a name.
    fn is_within_name(&self, at: usize) -> bool {
        match &self.0[at] {
            Token::Sign('/') | Token::Directories => false,
            Token::Sign('.') => {
                at > 0 && !matches!(self.0[at - 1], Token::Sign('/') | Token::Directories)
            }
            _ => true,
        }
    }

    /// Marks the positions behind wildcards that match nothing. Directories end where a name begins.
    fn skip_empty(&self, reached: &mut [bool], begins_name: bool) {
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
    /// Whether it matches the sign alone.
    fn is_sign(&self, sign: char) -> bool {
        match self {
            Self::Sign(known) => *known == sign,
            Self::Class(is_negated, ranges) => {
                let is_listed = ranges.iter().any(|range| range.contains(&sign));
                sign != '/' && is_listed != *is_negated
            }
            Self::Text | Self::Name | Self::Directories => false,
        }
    }

    /// Whether it matches a text with the sign.
    fn holds(&self, sign: char) -> bool {
        match self {
            Self::Text | Self::Directories => true,
            Self::Name => sign != '/',
            Self::Sign(_) | Self::Class(..) => false,
        }
    }
}

/// Reads a class after its opening bracket.
fn class(rest: &mut &str) -> Result<Token, &'static str> {
    let inside = rest.strip_prefix(['!', '^']);
    let text = inside.unwrap_or(rest);
    // A bracket at the start is one of its signs.
    let end = text.char_indices().skip(1).find(|(_, sign)| *sign == ']');
    let (end, _) = end.ok_or("unclosed character class; missing ']'")?;
    let mut signs = text[..end].chars().peekable();
    let mut ranges = Vec::new();
    while let Some(first) = signs.next() {
        let mut after = signs.clone();
        let last = match (after.next(), after.next()) {
            (Some('-'), Some(last)) => {
                signs = after;
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
    Ok(Token::Class(inside.is_some(), ranges))
}

/// Converts a text to a pattern that matches only the text.
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
            let found = Pattern::of_text(pattern).may_cover(text);
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
            let found = Pattern::of_text(pattern).may_cover(&path.replace(GAP, &GLOB.to_string()));
            assert_eq!(found, expected, "{pattern} {path:?}");
        }
    }

    #[test]
    fn invalid_patterns_are_refused() {
        for pattern in ["a[", "a[]", "[!", "a\\", "[z-a]", "a[/]c", "a[^/]*"] {
            assert!(Pattern::of_path(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_class_matches_no_separator() {
        assert!(!Pattern::of_path("a[!b]c").unwrap().covers("a/c"));
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
            let found = Pattern::of_path(pattern)
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
            let wildcard = Pattern::of_text(&pattern);
            prop_assert_eq!(wildcard.covers(&text), expected);
            prop_assert!(Pattern::of_text(&escape(&text)).covers(&text));
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
            let glob = Pattern::of_path(&pattern).unwrap();
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
