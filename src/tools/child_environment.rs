//! The environment that children of tools get.
//!
//! What is taken away is data ([`SCRUBBED`]); why a variable is dangerous stands beside it.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Arc, OnceLock};

use super::ToolContext;
use crate::io::Environment;
use crate::process::Variables;

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
    // `cd` goes elsewhere, patterns match something else, words end elsewhere.
    Scrubbed::Name("CDPATH"),
    Scrubbed::Name("GLOBIGNORE"),
    Scrubbed::Name("IFS"),
    // Where another shell was.
    Scrubbed::Name("OLDPWD"),
    Scrubbed::Name("PWD"),
    // Code that the loader, the C library or an interpreter takes into every program.
    Scrubbed::Prefix("LD_"),
    Scrubbed::Prefix("DYLD_"),
    Scrubbed::Name("GCONV_PATH"),
    Scrubbed::Name("GETCONF_DIR"),
    Scrubbed::Name("LOCPATH"),
    Scrubbed::Name("NLSPATH"),
    Scrubbed::Name("MALLOC_TRACE"),
    Scrubbed::Name("HOSTALIASES"),
    Scrubbed::Prefix("AWK"),
    Scrubbed::Prefix("PYTHON"),
    Scrubbed::Prefix("PERL5"),
    Scrubbed::Name("PERLLIB"),
    Scrubbed::Name("RUBYOPT"),
    Scrubbed::Name("RUBYLIB"),
    Scrubbed::Name("NODE_OPTIONS"),
    Scrubbed::Name("NODE_PATH"),
    Scrubbed::Name("JAVA_TOOL_OPTIONS"),
    Scrubbed::Name("JDK_JAVA_OPTIONS"),
    // Programs, settings and another repository for git; files it writes traces to.
    Scrubbed::Prefix("GIT_"),
    // Options that the text of the command does not show.
    Scrubbed::Name("RIPGREP_CONFIG_PATH"),
    Scrubbed::Prefix("GREP_OPTIONS"),
    Scrubbed::Name("TAR_OPTIONS"),
    Scrubbed::Name("GZIP"),
    Scrubbed::Name("XZ_OPT"),
    Scrubbed::Name("XZ_DEFAULTS"),
    Scrubbed::Name("UNZIP"),
    Scrubbed::Name("ZIPINFO"),
    // Programs that show text, and what they start in turn.
    Scrubbed::Prefix("LESS"),
    Scrubbed::Prefix("MAN"),
    Scrubbed::Name("PAGER"),
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

/// The variables for the children of a session: worked out when there is a first child, and then
/// shared by all calls of the session, whose environment does not change.
#[derive(Debug, Clone, Default)]
pub struct ChildVariables(Arc<OnceLock<Variables>>);

/// The variables for a child of a session, sorted by name: the session's without what is scrubbed
/// and not kept on request.
pub(super) fn child_environment(session: &ToolContext) -> Variables {
    let variables = session
        .child_variables
        .0
        .get_or_init(|| without_scrubbed(&session.environment, &session.kept_variables).into());
    Arc::clone(variables)
}

/// The same for a child of no session.
pub(super) fn scrubbed(environment: &Environment) -> Vec<(OsString, OsString)> {
    without_scrubbed(environment, &BTreeSet::new())
}

/// With the marker `TURNPIPE=1`, and a `PATH` that does not depend on the working directory.
fn without_scrubbed(
    environment: &Environment,
    kept: &BTreeSet<OsString>,
) -> Vec<(OsString, OsString)> {
    let is_scrubbed = |name: &OsStr| SCRUBBED.iter().any(|row| row.matches(name));
    let mut variables: Vec<_> = environment
        .iter()
        .filter(|(name, _)| *name != MARKER.0 && (kept.contains(*name) || !is_scrubbed(name)))
        .map(|(name, value)| {
            let value = if name == "PATH" {
                absolute_entries(value)
            } else {
                value.to_owned()
            };
            (name.to_owned(), value)
        })
        .collect();
    variables.push((MARKER.0.into(), MARKER.1.into()));
    variables.sort();
    variables
}

/// A search path without entries that are relative or empty: programs of the working directory.
fn absolute_entries(path: &OsStr) -> OsString {
    let absolute = std::env::split_paths(path).filter(|entry| entry.is_absolute());
    // What was split joins again.
    std::env::join_paths(absolute).unwrap_or_default()
}

/// Settings with which git reads without writing: it neither refreshes the index nor fetches.
pub(super) fn keep_git_from_writing(variables: &mut Vec<(OsString, OsString)>) {
    const SETTINGS: [(&str, &str); 6] = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "diff.autoRefreshIndex"),
        ("GIT_CONFIG_VALUE_0", "false"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ];
    variables.retain(|(name, _)| SETTINGS.iter().all(|(ours, _)| name != ours));
    variables.extend(SETTINGS.map(|(name, value)| (name.into(), value.into())));
    variables.sort();
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
            ("GIT_EXTERNAL_DIFF", "/tmp/evil"),
            ("LD_PRELOAD", "/tmp/evil.so"),
            ("LESSOPEN", "|evil %s"),
            ("MANPAGER", "evil"),
            ("OLDPWD", "/elsewhere"),
            ("PAGER", "evil"),
            ("PATH", "/bin:.::/usr/bin:bin"),
            ("PYTHONPATH", "."),
            ("RIPGREP_CONFIG_PATH", "/tmp/evil"),
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
            ("PATH", "/bin:/usr/bin"),
            ("TURNPIPE", "1"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        assert_eq!(scrubbed(&environment), expected);
        let kept = BTreeSet::from(["PAGER".into()]);
        let passed = without_scrubbed(&environment, &kept);
        assert!(passed.contains(&("PAGER".into(), "evil".into())));
        assert_eq!(passed.len(), expected.len() + 1);
    }

    #[test]
    fn our_settings_replace_others() {
        let mut variables = vec![("GIT_CONFIG_COUNT".into(), "7".into())];
        keep_git_from_writing(&mut variables);
        assert_eq!(variables.len(), 6);
        assert!(variables.contains(&("GIT_CONFIG_COUNT".into(), "1".into())));
    }
}
