//! Commands of agents that a hook moves into a sandbox.

use std::path::{PathBuf, absolute};

/// The call of `turnpipe sandbox` in which commands run.
pub struct CommandSandbox {
    /// Its words before the command. `None` if a path is not Unicode or no longer exists.
    words: Option<Vec<String>>,
}

impl CommandSandbox {
    /// Creates the call of this program with these settings files.
    pub fn new(settings: &[PathBuf]) -> Self {
        let build_words = || {
            let mut paths = vec![std::env::current_exe().ok()?];
            paths.extend(["sandbox", "--required"].map(PathBuf::from));
            for file in settings {
                paths.extend(["--settings".into(), absolute(file).ok()?]);
            }
            paths.extend(["--", "bash", "-c"].map(PathBuf::from));
            let words = paths.into_iter().map(PathBuf::into_os_string);
            words.map(|word| word.into_string().ok()).collect()
        };
        Self {
            words: build_words(),
        }
    }

    /// Returns the line that runs a command line in the sandbox. `None` if it contains NUL.
    pub fn line(&self, script: &str) -> Option<String> {
        let words = self.words.as_ref()?.iter().map(String::as_str);
        shlex::try_join(words.chain([script])).ok()
    }

    /// Returns the command line that a line of [`Self::line`] runs. `None` for any other line, even if it runs
    /// `turnpipe sandbox`: its author may have chosen weaker permissions.
    pub fn parse_line(&self, line: &str) -> Option<String> {
        let script = shlex::split(line)?.pop()?;
        (self.line(&script)? == line).then_some(script)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shell::parse_sandbox_call;

    proptest! {
        #[test]
        fn a_line_runs_the_script_as_it_is(script in "[a-z '\"$`\\\\!\n\t;é\u{fffd}~{}*#-]{1,30}") {
            let sandbox = CommandSandbox::new(&["/home/it's/$s.json".into()]);
            let line = sandbox.line(&script).unwrap();
            prop_assert!(parse_sandbox_call(&line).is_none_or(|inside| inside == script));
            prop_assert_eq!(sandbox.parse_line(&line), Some(script));
        }
    }
}
