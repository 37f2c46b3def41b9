//! The tools that a hook applies to.

use regex::Regex;

/// The matcher of a group of hooks.
#[derive(Debug, Clone)]
pub(super) enum Matcher {
    /// Every tool.
    Any,
    /// Tools with these names.
    Names(Vec<String>),
    /// Tools whose name matches.
    Pattern(Regex),
}

impl Matcher {
    /// Parses a matcher: empty or `*` for all tools, names separated by `|` or `,`, or a regular expression.
    pub(super) fn parse(text: &str) -> Result<Self, regex::Error> {
        if text.is_empty() || text == "*" {
            return Ok(Self::Any);
        }
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_- ,|".contains(letter);
        if text.chars().all(is_plain) {
            let names = text.split(['|', ',']).map(|name| name.trim().to_owned());
            return Ok(Self::Names(names.filter(|name| !name.is_empty()).collect()));
        }
        Regex::new(text).map(Self::Pattern)
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Names(names) => names.iter().any(|one| one == name),
            Self::Pattern(pattern) => pattern.is_match(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lists_and_patterns_match() {
        let table = [
            ("", "Bash", true),
            ("*", "Bash", true),
            (".*", "Bash", true),
            ("Bash", "Bash", true),
            ("Bash", "BashOutput", false),
            ("bash", "Bash", false),
            ("Edit|Write", "Write", true),
            ("Edit, Write", "Write", true),
            ("Edit|Write", "MultiEdit", false),
            ("mcp__memory", "mcp__memory__add", false),
            ("mcp__memory__.*", "mcp__memory__add", true),
            ("^Note", "NotebookEdit", true),
            ("Edit.?", "NotebookEdit", true),
        ];
        for (text, name, expected) in table {
            let matcher = Matcher::parse(text).unwrap();
            assert_eq!(matcher.matches(name), expected, "{text}: {name}");
        }
        assert!(Matcher::parse("(").is_err());
    }
}
