//! The argument of `bash -c`: the model's command, then a report of the directory it ended in.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// The system takes at most 128 KiB as one argument; longer commands go through a file.
const LONGEST_ARGUMENT: usize = 120 * 1024;

/// One command ready for the shell. Its files in the scratch directory go when it is dropped.
#[derive(Debug)]
pub(super) struct Script {
    text: OsString,
    directory_file: PathBuf,
    command_file: Option<PathBuf>,
}

/// Where the shell was when it ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FinalDirectory {
    /// Its physical path.
    At(PathBuf),
    /// The directory no longer exists.
    Gone,
    /// The shell did not get to the end: it was killed, or the command called `exit` or `exec`.
    Unknown,
}

impl Script {
    /// Wraps a command. Its files go to `scratch`.
    ///
    /// # Errors
    /// The command contains a NUL, or is too long for an argument and cannot be written to a file.
    pub(super) fn new(command: &str, scratch: &Path) -> io::Result<Self> {
        // The directory may be shared. The name cannot be guessed, so no other user can place a
        // link there first.
        let name = format!("turnpipe-{}", Uuid::new_v4().simple());
        let directory_file = scratch.join(format!("{name}.directory"));

        let quoted = quote(command.as_bytes())?;
        let mut script = Self {
            text: OsString::new(),
            command_file: None,
            directory_file,
        };
        let evaluated = if quoted.len() <= LONGEST_ARGUMENT {
            quoted.into_owned()
        } else {
            let file = scratch.join(format!("{name}.command"));
            let options = fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&file);
            options?.write_all(command.as_bytes())?;
            let quoted = quote(file.as_os_str().as_bytes())?.into_owned();
            script.command_file = Some(file);
            [b"\"$(<", quoted.as_slice(), b")\""].concat()
        };
        // One line, because bash reads it as a whole before it evaluates the command, whose syntax
        // errors can upset its parser. A group, so that errors of the report itself (a directory
        // that is gone, a scratch directory that may not be written) do not show as the command's.
        let report = quote(script.directory_file.as_os_str().as_bytes())?;
        script.text = OsString::from_vec(
            [
                b"eval ",
                evaluated.as_slice(),
                b"; { turnpipe_status=$?; builtin pwd -P >| ",
                &report,
                // With `set -e` a report that cannot be written would end the shell.
                b" || :; } 2>/dev/null; exit \"$turnpipe_status\"",
            ]
            .concat(),
        );
        Ok(script)
    }

    /// The argument after `-c`.
    pub(super) fn text(&self) -> &OsString {
        &self.text
    }

    /// What the shell reported; to be asked once it has ended.
    pub(super) fn final_directory(&self) -> FinalDirectory {
        let Ok(mut report) = fs::read(&self.directory_file) else {
            return FinalDirectory::Unknown;
        };
        // One line feed is `pwd`'s; a directory's name may end in more of them.
        if report.pop().is_none() {
            return FinalDirectory::Gone;
        }
        FinalDirectory::At(PathBuf::from(OsString::from_vec(report)))
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // A file that was never made is not an error.
        let _ = fs::remove_file(&self.directory_file);
        if let Some(file) = &self.command_file {
            let _ = fs::remove_file(file);
        }
    }
}

fn quote(word: &[u8]) -> io::Result<Cow<'_, [u8]>> {
    shlex::bytes::try_quote(word)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "contains a NUL character"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn run(
        command: &str,
        directory: &Path,
        scratch: &Path,
    ) -> (std::process::Output, FinalDirectory) {
        let script = Script::new(command, scratch).unwrap();
        let output = Command::new("bash")
            .args(["--noprofile", "--norc", "-c"])
            .arg(script.text())
            .current_dir(directory)
            .output()
            .unwrap();
        let end = script.final_directory();
        (output, end)
    }

    #[test]
    fn status_and_directory_survive() {
        let scratch = tempfile::tempdir().unwrap();
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        fs::create_dir(place.join("sub")).unwrap();
        fs::create_dir(place.join("odd\nname\n")).unwrap();
        fs::create_dir(place.join("doomed")).unwrap();
        let rows: &[(&str, i32, FinalDirectory)] = &[
            ("true", 0, FinalDirectory::At(place.clone())),
            ("cd sub", 0, FinalDirectory::At(place.join("sub"))),
            ("cd sub; false", 1, FinalDirectory::At(place.join("sub"))),
            ("(cd sub)", 0, FinalDirectory::At(place.clone())),
            (
                "cd sub # with a comment",
                0,
                FinalDirectory::At(place.join("sub")),
            ),
            (
                "set -o noclobber; cd sub",
                0,
                FinalDirectory::At(place.join("sub")),
            ),
            (
                "pwd() { echo no; }; cd sub",
                0,
                FinalDirectory::At(place.join("sub")),
            ),
            (
                "exec >/dev/null; cd sub",
                0,
                FinalDirectory::At(place.join("sub")),
            ),
            (
                "cd $'odd\\nname\\n'",
                0,
                FinalDirectory::At(place.join("odd\nname\n")),
            ),
            ("cd doomed && rmdir ../doomed", 0, FinalDirectory::Gone),
            ("cd sub; exit 7", 7, FinalDirectory::Unknown),
            ("exec true", 0, FinalDirectory::Unknown),
            ("kill -9 $$", -1, FinalDirectory::Unknown),
            (
                "cd sub\necho 'unfinished",
                2,
                FinalDirectory::At(place.join("sub")),
            ),
            ("cd sub\nif", 2, FinalDirectory::At(place.join("sub"))),
        ];
        for (command, code, end) in rows {
            let (output, found) = run(command, &place, scratch.path());
            assert_eq!(
                output.status.code().unwrap_or(-1),
                *code,
                "{command}: {output:?}"
            );
            assert_eq!(found, *end, "{command}");
        }
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_report_that_cannot_be_written_changes_nothing() {
        let place = tempfile::tempdir().unwrap();
        let missing = place.path().join("missing");
        let (output, found) = run(
            "echo out; exit_code() { return 3; }; exit_code",
            place.path(),
            &missing,
        );
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(output.stdout, b"out\n");
        assert_eq!(output.stderr, b"");
        assert_eq!(found, FinalDirectory::Unknown);
    }

    #[test]
    fn very_long_commands_go_through_a_file() {
        let scratch = tempfile::tempdir().unwrap();
        let long = "x".repeat(300_000);
        let command = format!("cat <<'END' | wc -c\n{long}\nEND\ncd /; (exit 5)");
        let (output, found) = run(&command, scratch.path(), scratch.path());
        assert_eq!(output.stdout, b"300001\n");
        assert_eq!(output.status.code(), Some(5));
        assert_eq!(found, FinalDirectory::At("/".into()));
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_command_with_a_nul_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        assert!(Script::new("echo a\0b", scratch.path()).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Quoting survives bash twice: once as a word of the wrapper, once inside of the command.
        #[test]
        fn words_reach_the_program_unchanged(word in "[^\0]{0,40}") {
            let scratch = tempfile::tempdir().unwrap();
            let quoted = shlex::try_quote(&word).unwrap();
            let (output, _) = run(&format!("printf %s {quoted}"), scratch.path(), scratch.path());
            prop_assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }
}
