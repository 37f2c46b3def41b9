//! Commands, as in `Bash(npm run *)`.

use super::wildcard::Wildcard;

/// The commands of a rule.
#[derive(Debug, Clone)]
pub(super) struct CommandPattern {
    text: String,
    pattern: Wildcard,
    /// Without its arguments, if they may be missing.
    without_arguments: Option<Wildcard>,
}

impl CommandPattern {
    /// Reads a command in which `*` stands for anything. `:*` at the end is the same as ` *`, and after
    /// a single ` *` the arguments may be missing.
    pub(super) fn parse(pattern: &str) -> Self {
        let pattern = match pattern.strip_suffix(":*") {
            Some(prefix) => format!("{prefix} *"),
            None => pattern.to_owned(),
        };
        let wildcard = Wildcard::parse(&pattern);
        let without_arguments = pattern
            .strip_suffix(" *")
            .filter(|_| wildcard.stars() == 1)
            .map(Wildcard::parse);
        Self {
            text: pattern,
            pattern: wildcard,
            without_arguments,
        }
    }

    /// Whether it begins with this, word for word.
    pub(super) fn begins_with(&self, text: &str) -> bool {
        self.text.starts_with(text)
    }

    /// Whether it is one command, word for word.
    pub(super) fn is_literal(&self) -> bool {
        self.pattern.stars() == 0
    }

    /// Whether it is about the command with this text.
    pub(super) fn covers(&self, text: &str) -> bool {
        self.alternatives().any(|pattern| pattern.covers(text))
    }

    /// Whether it may be about a command of whose text a part is not known.
    pub(super) fn may_cover(&self, text: &str) -> bool {
        self.alternatives().any(|pattern| pattern.may_cover(text))
    }

    fn alternatives(&self) -> impl Iterator<Item = &Wildcard> {
        std::iter::once(&self.pattern).chain(&self.without_arguments)
    }
}
