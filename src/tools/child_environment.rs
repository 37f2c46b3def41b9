//! The environment that children of tools get.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Arc, OnceLock};

use super::ToolContext;
use crate::io::Environment;
use crate::process::Variables;

/// Variables that would make a harmless command do something else, or that describe another
/// shell than the one that is started. A star stands for any further characters.
const REMOVED: &str = "
    # Files that a shell reads before the command.
    BASH_ENV ENV
    # Options of another shell, e.g. `noexec` or `xtrace`.
    SHELLOPTS BASHOPTS POSIXLY_CORRECT
    # Expanded, and so executed, by the shell itself.
    PS4 PROMPT_COMMAND
    # Exported functions replace commands of the same name.
    BASH_FUNC_*
    # `cd` goes elsewhere, patterns match something else, words end elsewhere.
    CDPATH GLOBIGNORE IFS
    # Where another shell was.
    OLDPWD PWD
    # Code that the loader, the C library or an interpreter takes into every program.
    LD_* DYLD_* GCONV_PATH GETCONF_DIR LOCPATH NLSPATH MALLOC_TRACE HOSTALIASES
    AWK* PYTHON* PERL5* PERLLIB RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH
    JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS
    # Programs, settings and another repository for git; files it writes traces to.
    GIT_*
    # Options that the text of the command does not show.
    RIPGREP_CONFIG_PATH GREP_OPTIONS* TAR_OPTIONS TAPE GZIP BZIP BZIP2 XZ_OPT XZ_DEFAULTS UNZIP
    ZIPINFO _POSIX2_VERSION
    # Programs that show text, and what they start in turn.
    LESS* MAN* PAGER
";

/// Shows programs that they run inside of a tool call.
const MARKER: (&str, &str) = ("TURNPIPE", "1");

/// The variables for the children of a session: worked out when there is a first child, and then
/// shared by all calls of the session, whose environment does not change.
#[derive(Debug, Clone, Default)]
pub struct ChildVariables(Arc<OnceLock<Variables>>);

/// The variables for a child of a session, sorted by name: the session's without what is removed
/// and not kept on request.
pub(super) fn child_environment(session: &ToolContext) -> Variables {
    let variables = session
        .child_variables
        .0
        .get_or_init(|| cleaned(&session.environment, &session.kept_variables).into());
    Arc::clone(variables)
}

/// With the marker `TURNPIPE=1`, and a `PATH` that does not depend on the working directory.
pub(super) fn cleaned(
    environment: &Environment,
    kept: &BTreeSet<OsString>,
) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<_> = environment
        .iter()
        .filter(|(name, _)| *name != MARKER.0 && (kept.contains(*name) || !is_removed(name)))
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

fn is_removed(name: &OsStr) -> bool {
    REMOVED
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(str::split_whitespace)
        .any(|row| match row.strip_suffix('*') {
            Some(prefix) => name.as_bytes().starts_with(prefix.as_bytes()),
            None => name == row,
        })
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
        assert_eq!(cleaned(&environment, &BTreeSet::new()), expected);
        let kept = BTreeSet::from(["PAGER".into()]);
        let passed = cleaned(&environment, &kept);
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
