//! The arguments of `bash -c`: the command of the model, then a report of the final directory, without files.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// Descriptor on which the shell reports its directory. Bash moves its own descriptors to 10
/// and above, out of the way of commands.
pub(super) const REPORT_DESCRIPTOR: RawFd = 9;

/// Maximum length of an argument, in bytes; the limit of the system is 128 KiB.
const MAX_ARGUMENT: usize = 120 * 1024;

/// The directory of the shell when it ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FinalDirectory {
    /// Its physical path.
    At(PathBuf),
    /// The directory no longer exists.
    Gone,
    /// Unknown: the shell was killed, or the command called `exit` or `exec`.
    Unknown,
}

/// Returns the arguments of bash after `-c` for a command without NUL characters. The command is in positional
/// parameters, each at most [`MAX_ARGUMENT`] bytes long, which are unset before it runs.
pub(super) fn bash_arguments(command: &str) -> Vec<OsString> {
    let mut parameters = vec![OsString::from("bash")];
    let mut rest = command;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.floor_char_boundary(MAX_ARGUMENT));
        parameters.push(part.into());
        rest = after;
    }
    let references = (1..parameters.len()).map(|number| format!("${{{number}}}"));
    let joined: String = references.collect();
    // On one line, because bash reads a line as a whole before it evaluates the command, whose syntax
    // errors can upset its parser. The command does not see the descriptor. A group, so that errors
    // of the report itself (a removed directory) are not shown as the command's; with `set -e`
    // they would end the shell.
    let script = format!(
        "eval \"set --; {joined}\" {REPORT_DESCRIPTOR}>&-; {{ turnpipe_status=$?; builtin pwd -P >&{REPORT_DESCRIPTOR} || echo >&{REPORT_DESCRIPTOR} || :; }} \
         2>/dev/null; exit \"$turnpipe_status\""
    );
    std::iter::once(script.into()).chain(parameters).collect()
}

/// Parses the report of a shell that has ended.
pub(super) fn parse_final_directory(mut report: Vec<u8>) -> FinalDirectory {
    // `pwd` adds one line feed; the name of a directory may end with more.
    match report.pop() {
        None => FinalDirectory::Unknown,
        Some(_) if report.is_empty() => FinalDirectory::Gone,
        Some(_) => FinalDirectory::At(PathBuf::from(OsString::from_vec(report))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::io::CancelToken;
    use crate::process::{Capture, Command, ExitStatus, Finished, Limits, Stdin, Supervisor};

    fn run(command: &str, directory: &Path) -> (Finished, FinalDirectory) {
        let options = ["--noprofile", "--norc", "-c"].map(OsString::from);
        let path = std::env::var_os("PATH").unwrap();
        let command = Command {
            program: "bash".into(),
            arguments: [options.to_vec(), bash_arguments(command)].concat(),
            environment: [("PATH".into(), path)].into(),
            directory: directory.into(),
            stdin: Stdin::Null,
            report: Some(REPORT_DESCRIPTOR),
            capture: Capture::default(),
            limits: Limits::with_timeout(Duration::from_mins(1)),
        };
        let finished = Supervisor::default()
            .spawners(1)
            .run(&command, &CancelToken::default())
            .unwrap();
        let end = parse_final_directory(finished.report.clone());
        (finished, end)
    }

    #[test]
    fn status_and_directory_survive() {
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
            ("kill -9 $$", 137, FinalDirectory::Unknown),
            (
                "exec 9>nine 10>ten; echo x >&9; cd sub",
                0,
                FinalDirectory::At(place.join("sub")),
            ),
            (
                "[ \"$(ls /proc/self/fd | tr '\\n' ' ')\" = '0 1 2 3 ' ] || exit 7; echo x >&9",
                1,
                FinalDirectory::At(place.clone()),
            ),
            (
                "(sleep 1000; true) & cd sub",
                0,
                FinalDirectory::At(place.join("sub")),
            ),
            (
                "cd sub\necho 'unfinished",
                2,
                FinalDirectory::At(place.join("sub")),
            ),
            ("cd sub\nif", 2, FinalDirectory::At(place.join("sub"))),
        ];
        for (command, code, end) in rows {
            let (finished, found) = run(command, &place);
            assert_eq!(
                finished.status.shell_code(),
                *code,
                "{command}: {finished:?}"
            );
            assert_eq!(found, *end, "{command}");
        }
        assert_eq!(fs::read_to_string(place.join("nine")).unwrap(), "x\n");
        assert_eq!(fs::read_to_string(place.join("ten")).unwrap(), "");
    }

    #[test]
    fn very_long_commands_run_completely() {
        let place = tempfile::tempdir().unwrap();
        // Characters of several bytes, so that parts do not end at fixed numbers of bytes.
        let long = "äx".repeat(300_000);
        let command = format!("cat <<'END' | wc -c\n{long}\nEND\necho $#; cd /; (exit 5)");
        let (finished, found) = run(&command, place.path());
        assert_eq!(finished.stdout.text().unwrap(), "900001\n0\n");
        assert_eq!(finished.status, ExitStatus::Code(5));
        assert_eq!(found, FinalDirectory::At("/".into()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Quoting survives bash twice: once as a word of the wrapper, once inside the command.
        #[test]
        fn words_reach_the_program_unchanged(word in "[^\0]{0,40}") {
            let quoted = shlex::try_quote(&word).unwrap();
            let (finished, _) = run(&format!("printf %s {quoted}"), Path::new("/"));
            prop_assert_eq!(finished.stdout.text().unwrap(), word);
        }
    }
}
