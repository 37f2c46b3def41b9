//! Broken, full, closed and interactive standard streams.

use crate::turnpipe::{failed_run, quiet_run, shell};

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let run = shell(
        "set -o pipefail\n\
         for i in {1..20000}; do echo '\"a\"'; done | turnpipe check text --kind terminal | head -n 1 >/dev/null\n\
         echo ${PIPESTATUS[1]}",
    );
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), "0\n"));
    assert!(!run.stderr.contains("turnpipe"), "{}", run.stderr);
}

#[test]
fn a_full_disk_is_reported() {
    for command in [
        "check text --kind terminal <<<'\"a\"'",
        "--version",
        "--help",
        "completions bash",
    ] {
        let run = shell(&format!("turnpipe {command} >/dev/full"));
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (Some(74), ""),
            "{command}"
        );
        assert_eq!(
            run.stderr,
            "turnpipe: cannot write output after 0 bytes: No space left on device (os error 28)\n",
            "{command}"
        );
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_reported() {
    let run =
        shell("f=$(mktemp); (ulimit -f 1; turnpipe completions bash >$f); s=$?; rm $f; exit $s");
    assert_eq!((run.status, run.stdout.as_str()), (Some(74), ""));
    assert!(run.stderr.contains("File too large"), "{run:?}");
}

#[test]
fn a_closed_input_counts_as_empty() {
    let run = shell("turnpipe check text --kind terminal <&-");
    assert_eq!(run, quiet_run(0, ""));
}

#[test]
fn a_closed_standard_error_only_loses_the_message() {
    let run = shell("turnpipe --bogus 2>&-; echo $?");
    assert_eq!(run, quiet_run(0, "2\n"));
}

#[test]
fn an_input_error_is_a_failure() {
    // Nothing is mapped at the beginning of a process's memory.
    let run = shell("turnpipe check text --kind terminal < /proc/self/mem");
    let expected = "turnpipe: cannot read `standard input`: Input/output error (os error 5)\n";
    assert_eq!(run, failed_run(74, expected));
}

#[test]
fn a_closed_output_is_reported_before_anything_runs() {
    for command in ["--version", "check text --kind terminal", "run-tools"] {
        let run = shell(&format!("turnpipe {command} >&-"));
        let expected = "turnpipe: cannot write output: standard output is closed\n";
        assert_eq!(run, failed_run(74, expected), "{command}");
    }
}
