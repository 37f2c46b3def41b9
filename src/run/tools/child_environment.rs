//! The environment of child processes of tools.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, OnceLock};

use super::removed_variables::removed_variable;
use crate::io::Environment;
use crate::process::Variables;
use crate::text::{is_secret, redact};

/// The search path if `PATH` is not set.
const SAFE_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Marks child processes as started by a tool call.
const MARKER: (&str, &str) = ("TURNPIPE", "1");

/// The variables for the children of a session, computed for the first child and shared by all calls
/// of the session, whose environment does not change.
#[derive(Debug, Clone, Default)]
pub struct ChildVariables(Arc<OnceLock<Variables>>);

impl ChildVariables {
    /// Returns the variables of [`clean_environment`], computed by the first call.
    pub(super) fn get(
        &self,
        environment: &Environment,
        kept_variables: &BTreeSet<OsString>,
    ) -> Variables {
        let variables = self
            .0
            .get_or_init(|| clean_environment(environment, kept_variables).into());
        Arc::clone(variables)
    }
}

/// Returns the cleaned variables, with the marker `TURNPIPE=1` and a `PATH` that does not depend on
/// the working directory.
pub fn clean_environment(
    environment: &Environment,
    kept_variables: &BTreeSet<OsString>,
) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<_> = environment
        .iter()
        .filter(|(name, _)| *name != MARKER.0 && *name != "PATH")
        .filter(|(name, value)| {
            kept_variables.contains(*name)
                || !(removed_variable(name).is_some() || holds_secret(name, value))
        })
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    variables.push((MARKER.0.into(), MARKER.1.into()));
    variables.push(("PATH".into(), search_path(environment)));
    variables.sort();
    variables
}

/// Whether a variable contains a key, token or password, judging by its name and value.
pub fn holds_secret(name: &OsStr, value: &OsStr) -> bool {
    // Nearly every environment has these variables. Their names contain parts of names of secrets, so that each value
    // would be compared with all patterns.
    if ["PATH", "PWD", "OLDPWD"].iter().any(|known| name == *known) {
        return false;
    }
    let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
    // Most variables are paths, which are not secret.
    is_secret(&name, &value) || (!value.starts_with('/') && redact(&value) != value)
}

/// Returns the search path of children: `PATH` without relative and empty entries, which would find
/// programs in the working directory. Never empty, because a shell would then search the working
/// directory or its compiled-in path.
pub(super) fn search_path(environment: &Environment) -> OsString {
    let path = environment.get("PATH").unwrap_or_default();
    let absolute = std::env::split_paths(path).filter(|entry| entry.is_absolute());
    // Entries that were split contain no separator, so that joining cannot fail.
    let joined = std::env::join_paths(absolute).unwrap_or_default();
    if joined.is_empty() {
        SAFE_PATH.into()
    } else {
        joined
    }
}

/// Adds settings that keep git from refreshing the index and fetching objects.
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
    fn only_dangerous_variables_are_removed() {
        let environment: Environment = [
            ("BASH_ENV", "/tmp/evil"),
            ("BASH_FUNC_ls%%", "() { rm -rf x; }"),
            ("BASHFUL", "no"),
            ("ENVIRONMENT", "kept"),
            ("HOME", "/root"),
            ("GIT_EXTERNAL_DIFF", "/tmp/evil"),
            ("GREP", "/tmp/evil"),
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
        assert_eq!(clean_environment(&environment, &BTreeSet::new()), expected);
        let kept = BTreeSet::from(["PAGER".into()]);
        let passed = clean_environment(&environment, &kept);
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
