//! Patterns with `*`.

/// Placeholder for any text, also for several names, in the patterns of tools.
pub(super) const GAP: char = '\0';

/// Placeholder for the expansion of a glob by the shell: no `/`, and no leading dot in a name.
pub(super) const GLOB: char = '\x01';

/// Placeholder for a part of a word that is known only at run time: a name that no rule has.
pub(super) const UNKNOWN: char = '\x02';

/// Maximum length of a text with gaps for comparison, in bytes; longer texts may always match. The
/// time is the product of the lengths of text and pattern.
const MAX_COMPARED: usize = 1024;

/// A pattern; `*` matches any text.
#[derive(Debug, Clone)]
pub(super) struct Wildcard {
    /// Literal text between the stars; never empty.
    pieces: Vec<String>,
}

impl Wildcard {
    /// Parses a pattern; `\*` is a literal star and `\\` a backslash.
    pub(super) fn parse(pattern: &str) -> Self {
        if !pattern.contains('\\') {
            let pieces = pattern.split('*').map(str::to_owned).collect();
            return Self { pieces };
        }
        let mut pieces = Vec::new();
        let mut piece = String::new();
        let mut characters = pattern.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' => piece.push(
                    characters
                        .next_if(|next| matches!(next, '*' | '\\'))
                        .unwrap_or('\\'),
                ),
                '*' => pieces.push(std::mem::take(&mut piece)),
                _ => piece.push(character),
            }
        }
        pieces.push(piece);
        Self { pieces }
    }

    /// Returns the number of stars.
    pub(super) fn stars(&self) -> usize {
        self.pieces.len() - 1
    }

    /// Whether it matches the text. Only a star matches a gap.
    pub(super) fn covers(&self, text: &str) -> bool {
        let Some((first, others)) = self.pieces.split_first() else {
            return false;
        };
        let Some(mut rest) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        let Some((last, middle)) = others.split_last() else {
            return rest.is_empty();
        };
        for piece in middle {
            let Some(at) = rest.find(piece.as_str()) else {
                return false;
            };
            rest = rest.get(at + piece.len()..).unwrap_or_default();
        }
        rest.ends_with(last.as_str())
    }

    /// Whether it may match the text for some values of its gaps.
    pub(super) fn may_cover(&self, text: &str) -> bool {
        let first = self.pieces.first().map_or("", String::as_str);
        let Some((known, _)) = text.split_once([GAP, GLOB]) else {
            return self.covers(text);
        };
        if !first.starts_with(known) && !known.starts_with(first) {
            return false;
        }
        if text.len() > MAX_COMPARED {
            return true;
        }
        // `None` is a star. Each row, from the end: whether the suffixes may match.
        let mut pattern: Vec<Option<u8>> = Vec::new();
        for (index, piece) in self.pieces.iter().enumerate() {
            pattern.extend((index > 0).then_some(None));
            pattern.extend(piece.bytes().map(Some));
        }
        let text = text.as_bytes();
        let is_gap = |byte: u8| byte == GAP as u8 || byte == GLOB as u8;
        let mut below = vec![false; text.len() + 1];
        for at in (0..=pattern.len()).rev() {
            let mut row = vec![false; text.len() + 1];
            for index in (0..=text.len()).rev() {
                row[index] = match (pattern.get(at), text.get(index)) {
                    (None, None) => true,
                    (Some(None), None) => below[index],
                    (Some(None), Some(_)) => below[index] || row[index + 1],
                    (Some(Some(next)), Some(gap)) if is_gap(*gap) => {
                        let before = at.checked_sub(1).and_then(|before| pattern[before]);
                        let is_hidden = *next == b'.' && before == Some(b'/');
                        let may_fill = *gap == GAP as u8 || (*next != b'/' && !is_hidden);
                        (may_fill && below[index]) || row[index + 1]
                    }
                    (None, Some(gap)) if is_gap(*gap) => row[index + 1],
                    (Some(Some(one)), Some(other)) => one == other && below[index + 1],
                    (Some(_), None) | (None, Some(_)) => false,
                };
            }
            below = row;
        }
        below.first().copied().unwrap_or_default()
    }
}

/// Converts a text to a pattern that matches only the text.
pub(super) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('*', "\\*")
}

#[cfg(test)]
mod tests {
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
            let found = Wildcard::parse(pattern).may_cover(text);
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
            let found = Wildcard::parse(pattern).may_cover(&path.replace(GAP, &GLOB.to_string()));
            assert_eq!(found, expected, "{pattern} {path:?}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_regular_expression(pattern in "[ab*]{0,8}", text in "[ab*]{0,10}") {
            let expression = format!("^{}$", pattern.replace('*', ".*"));
            let expected = regex::Regex::new(&expression).unwrap().is_match(&text);
            let wildcard = Wildcard::parse(&pattern);
            prop_assert_eq!(wildcard.covers(&text), expected);
            prop_assert!(Wildcard::parse(&escaped(&text)).covers(&text));
            // Every prefix and suffix as a gap.
            let may_cover_all = (0..=text.len()).all(|cut| {
                wildcard.may_cover(&format!("{}\0", &text[..cut]))
                    && wildcard.may_cover(&format!("\0{}", &text[cut..]))
            });
            prop_assert!(!expected || may_cover_all);
        }
    }
}
