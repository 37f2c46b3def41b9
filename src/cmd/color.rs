//! When help and usage errors are coloured.

use std::ffi::OsString;

use crate::io::Environment;

/// When to use colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorWhen {
    /// What the arguments ask for. Read before they are parsed, since what it decides about are
    /// the messages of the parser; the last one wins, and what makes no sense is left to it.
    pub(super) fn requested(arguments: &[OsString]) -> Self {
        let texts: Vec<&str> = arguments
            .iter()
            .map_while(|argument| argument.to_str().filter(|text| *text != "--"))
            .collect();
        let value_of = |position: usize| match texts[position].split_once('=') {
            Some(("--color", value)) => Some(value),
            None if texts[position] == "--color" => texts.get(position + 1).copied(),
            _ => None,
        };
        let named = |value| <Self as clap::ValueEnum>::from_str(value, false).ok();
        (0..texts.len())
            .rev()
            .find_map(|position| value_of(position).and_then(named))
            .unwrap_or_default()
    }

    /// Whether a stream gets colours.
    pub(super) fn applies(self, stream_is_terminal: bool, environment: &Environment) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                stream_is_terminal
                    && environment.text("NO_COLOR").is_none()
                    && environment.text("TERM").is_none_or(|name| name != "dumb")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_request_wins() {
        let table: [(&[&str], ColorWhen); 6] = [
            (&["turnpipe"], ColorWhen::Auto),
            (&["turnpipe", "--color", "never"], ColorWhen::Never),
            (&["turnpipe", "--color=always", "x"], ColorWhen::Always),
            (
                &["turnpipe", "--color=always", "--color=never"],
                ColorWhen::Never,
            ),
            (&["turnpipe", "--color=pink"], ColorWhen::Auto),
            (&["turnpipe", "--", "--color=always"], ColorWhen::Auto),
        ];
        for (arguments, when) in table {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            assert_eq!(ColorWhen::requested(&arguments), when, "{arguments:?}");
        }
    }

    #[test]
    fn colours_need_a_terminal_that_wants_them() {
        let none = Environment::default();
        let refused: Environment = [("NO_COLOR", "1")].into_iter().collect();
        let dumb: Environment = [("TERM", "dumb")].into_iter().collect();
        assert!(ColorWhen::Auto.applies(true, &none));
        assert!(!ColorWhen::Auto.applies(false, &none));
        assert!(!ColorWhen::Auto.applies(true, &refused));
        assert!(!ColorWhen::Auto.applies(true, &dumb));
        assert!(ColorWhen::Always.applies(false, &refused));
        assert!(!ColorWhen::Never.applies(true, &none));
    }
}
