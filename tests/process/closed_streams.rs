//! A closed standard output is detected although the Rust runtime hides it.

use std::process::{Command, Stdio};

use turnpipe::process::stdout_was_closed;

use crate::support::{TestDir, is_alone, test_command};

#[test]
#[ignore = "writes down how its process was started; run by the test below"]
fn streams_alone() {
    if is_alone() {
        let facts = stdout_was_closed().to_string();
        std::fs::write(std::env::var_os("FACTS").unwrap(), facts).unwrap();
    }
}

/// Redirections of a shell that close some streams, and the expected detection.
const STARTS: [(&str, &str); 5] = [
    ("exec \"$0\" \"$@\" < /dev/null > /dev/null", "false"),
    ("exec \"$0\" \"$@\" <&-", "false"),
    ("exec \"$0\" \"$@\" < /dev/null >&-", "true"),
    ("exec \"$0\" \"$@\" <&- >&-", "true"),
    ("exec \"$0\" \"$@\" <&- >&- 2>&-", "true"),
];

#[test]
fn a_closed_output_is_detected() {
    let dir = TestDir::new();
    for (script, expected) in STARTS {
        let program = test_command("closed_streams::streams_alone");
        let facts = dir.path("facts");
        // It may not exist.
        let _ = std::fs::remove_file(&facts);
        Command::new("/bin/sh")
            .args(["-c", script])
            .arg(program.get_program())
            .args(program.get_args())
            .envs(
                program
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .env("FACTS", &facts)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(
            std::fs::read_to_string(&facts).unwrap(),
            expected,
            "{script}"
        );
    }
}
