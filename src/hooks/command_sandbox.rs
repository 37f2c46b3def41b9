//! Commands of agents that a hook moves into a sandbox.

use std::io;
use std::path::{PathBuf, absolute};

/// The call of `turnpipe sandbox` in which commands run.
pub struct CommandSandbox {
    /// The absolute path of this program.
    program: PathBuf,
    /// The absolute paths of settings files.
    settings: Vec<PathBuf>,
}

impl CommandSandbox {
    /// Creates the call of this program with these settings files.
    ///
    /// # Errors
    /// A path cannot be made absolute.
    pub fn new(settings: &[PathBuf]) -> io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            settings: settings.iter().map(absolute).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the line that runs a command line in the sandbox. `None` if no line can say it: a path is not Unicode, or
    /// the command line contains NUL.
    pub fn line(&self, script: &str) -> Option<String> {
        let mut words = vec![self.program.to_str()?, "sandbox", "--required"];
        for file in &self.settings {
            words.extend(["--settings", file.to_str()?]);
        }
        words.extend(["--", "bash", "-c", script]);
        shlex::try_join(words).ok()
    }

    /// Returns the command line that such a line runs. `None` for any other line, also with a sandbox: its author would
    /// choose what that permits.
    pub fn script_in(&self, line: &str) -> Option<String> {
        let script = shlex::split(line)?.pop()?;
        (self.line(&script)? == line).then_some(script)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shell::inside_sandbox;

    fn sandbox() -> CommandSandbox {
        CommandSandbox {
            program: "/opt/a b/turnpipe".into(),
            settings: vec!["/home/it's/$s.json".into()],
        }
    }

    #[test]
    fn only_its_own_lines_stay() {
        let line = sandbox().line("make").unwrap();
        let rows = [
            line.replace("--required", "--mode files"),
            line.replace("--required ", ""),
            line.replace("a b", "a c"),
            line.replace("make", "\"$(make)\""),
            format!("{line}; rm a"),
            format!("{line} > a"),
            format!("X=1 {line}"),
            format!("{line} # a"),
            "make".to_owned(),
        ];
        for other in rows {
            assert_eq!(sandbox().script_in(&other), None, "{other}");
        }
        assert_eq!(sandbox().line("a\0b"), None);
    }

    proptest! {
        #[test]
        fn a_line_runs_the_script_as_it_is(script in "[a-z '\"$`\\\\!\n\t;é\u{fffd}~{}*#-]{1,30}") {
            let line = sandbox().line(&script).unwrap();
            prop_assert_eq!(sandbox().script_in(&line), Some(script.clone()));
            prop_assert_eq!(inside_sandbox(&line), Some(script));
        }
    }
}
