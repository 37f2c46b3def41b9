//! The environment that children of tools get.
//!
//! What is taken away is data ([`SCRUBBED`]); why a variable is dangerous stands beside it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use crate::io::Environment;

/// Which variables a row of the table means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scrubbed {
    /// The variable of this name.
    Name(&'static str),
    /// Every variable whose name begins like this.
    Prefix(&'static str),
}

/// Variables that would make a harmless command do something else, or that describe another
/// shell than the one that is started.
const SCRUBBED: &[Scrubbed] = &[
    // Files that a shell reads before the command.
    Scrubbed::Name("BASH_ENV"),
    Scrubbed::Name("ENV"),
    // Options of another shell, e.g. `noexec` or `xtrace`.
    Scrubbed::Name("SHELLOPTS"),
    Scrubbed::Name("BASHOPTS"),
    Scrubbed::Name("POSIXLY_CORRECT"),
    // Expanded, and so executed, by the shell itself.
    Scrubbed::Name("PS4"),
    Scrubbed::Name("PROMPT_COMMAND"),
    // Exported functions replace commands of the same name.
    Scrubbed::Prefix("BASH_FUNC_"),
    // `cd` goes elsewhere, patterns match something else.
    Scrubbed::Name("CDPATH"),
    Scrubbed::Name("GLOBIGNORE"),
    // Where another shell was.
    Scrubbed::Name("OLDPWD"),
    Scrubbed::Name("PWD"),
];

/// Tells programs that they run inside of a tool call.
const MARKER: (&str, &str) = ("TURNPIPE", "1");

impl Scrubbed {
    fn matches(self, name: &OsStr) -> bool {
        match self {
            Self::Name(scrubbed) => name == scrubbed,
            Self::Prefix(prefix) => name.as_bytes().starts_with(prefix.as_bytes()),
        }
    }
}

/// The variables for a child, sorted by name: `environment` without what is scrubbed, with the
/// marker `TURNPIPE=1`.
pub(super) fn child_environment(environment: &Environment) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<_> = environment
        .iter()
        .filter(|(name, _)| *name != MARKER.0 && !SCRUBBED.iter().any(|row| row.matches(name)))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    variables.push((MARKER.0.into(), MARKER.1.into()));
    variables.sort();
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dangerous_variables_go_and_the_rest_stays() {
        let environment: Environment = [
            ("BASH_ENV", "/tmp/evil"),
            ("BASH_FUNC_ls%%", "() { rm -rf x; }"),
            ("BASHFUL", "no"),
            ("ENVIRONMENT", "kept"),
            ("HOME", "/root"),
            ("OLDPWD", "/elsewhere"),
            ("PS4", "$(id)"),
            ("SHELLOPTS", "noexec"),
            ("TURNPIPE", "9"),
        ]
        .into_iter()
        .collect();
        let expected: Vec<(OsString, OsString)> = [
            ("BASHFUL", "no"),
            ("ENVIRONMENT", "kept"),
            ("HOME", "/root"),
            ("TURNPIPE", "1"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        assert_eq!(child_environment(&environment), expected);
    }
}
