//! `check shell`.

use std::fs;
use std::process::Command;

use crate::turnpipe::{run, shell};

fn verdict(line: &serde_json::Value) -> serde_json::Value {
    let output = run(&["check", "shell"], format!("{line}\n").as_bytes());
    assert_eq!(output.status, Some(0), "{output:?}");
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn each_line_has_one_record() {
    let output = run(
        &["check", "shell"],
        b"\"git log -3\"\n{\"command\":\"ls | tee x\"}\n\n7\n\"\"\n{\"command\":\"ls\",\"cwd\":7}\n",
    );
    let records: Vec<serde_json::Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records.len(), 6);
    assert_eq!(records[0]["verdict"], "read-only");
    let conditions = serde_json::json!(["clean-git-config", "no-terminal"]);
    assert_eq!(records[0]["requires"], conditions);
    assert_eq!(records[1]["verdict"], "unknown");
    assert_eq!(records[1]["span"], serde_json::json!([5, 8]));
    assert_eq!(records[2]["line"], 3);
    assert_eq!(records[3]["line"], 4);
    assert_eq!(records[4]["verdict"], "unknown");
    assert_eq!(records[5]["error"], "`cwd` is not a string but a number");
    assert_eq!(output.status, Some(0));
    assert_eq!(run(&["check", "shell", "--strict"], b"7\n").status, Some(3));
}

#[test]
fn the_exit_status_tells_whether_all_commands_only_read() {
    for (lines, status) in [
        ("\"ls\"\n\"git log\"\n", 0),
        ("\"rm x\"\n\"ls\"\n", 1),
        ("\"$x\"\n", 1),
        ("7\n", 1),
        ("", 0),
    ] {
        let output = run(&["check", "shell", "--exit-status"], lines.as_bytes());
        assert_eq!(output.status, Some(status), "{lines}");
    }
}

#[test]
fn plain_lines_and_explanations() {
    let output = run(&["check", "shell", "--plain"], b"ls -la\n");
    assert!(
        output.stdout.contains("\"verdict\":\"read-only\""),
        "{output:?}"
    );
    let output = run(&["check", "shell", "--plain"], b"seq 9 | sort -R\n");
    assert!(
        output
            .stdout
            .contains("\"requires\":[\"temporary-directory\"]"),
        "{output:?}"
    );
    for command in [
        // Bash warns about the NUL and exits before the command that it reads from.
        "{ x=$(head -c1 /dev/zero; sleep 60); } 2>&1 | true\n",
        // Here it runs out of memory.
        "x=$(tr '\\0' b < /dev/zero; sleep 60)\n",
    ] {
        let output = run(&["check", "shell", "--plain"], command.as_bytes());
        assert!(
            output.stdout.contains("\"requires\":[\"no-leftovers\"]"),
            "{output:?}"
        );
    }
    let output = run(&["check", "shell", "--plain", "-o", "text"], b"ls | rm x\n");
    assert_eq!(
        output.stdout,
        "ls | rm x\n     ^^\nunknown: `rm` is not a command known to be read-only\n\n"
    );
}

#[test]
fn the_configuration_of_a_given_directory_is_read() {
    let place = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let status = Command::new("git")
            .args(arguments)
            .current_dir(place.path())
            .status()
            .unwrap();
        assert!(status.success());
    };
    git(&["init", "-q"]);
    let question = serde_json::json!({"command": "git status", "cwd": place.path()});
    let clean = verdict(&question);
    assert_eq!(clean["verdict"], "read-only", "{clean}");
    assert_eq!(
        clean["requires"],
        serde_json::json!([
            "kernel-enforcement",
            "no-terminal",
            "no-index-refresh",
            "no-leftovers"
        ])
    );
    git(&["config", "core.fsmonitor", "evil"]);
    let dirty = verdict(&question);
    assert_eq!(dirty["verdict"], "unknown");
    assert!(dirty["reason"].as_str().unwrap().contains("core.fsmonitor"));
    fs::remove_dir_all(place.path().join(".git")).unwrap();
    let elsewhere = serde_json::json!({"command": "git -C sub status"});
    assert_eq!(verdict(&elsewhere)["verdict"], "unknown");
}

#[test]
fn a_program_of_the_workspace_is_not_the_known_one() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("bin")).unwrap();
    let script = format!(
        "cd {0} && export PATH={0}/bin:$PATH
         ask() {{ echo '{{\"command\":\"ls | wc -l\",\"cwd\":\"{0}\"}}' | turnpipe check shell; }}
         ask; touch bin/wc; ask",
        place.path().display()
    );
    let output = shell(&script);
    let records: Vec<serde_json::Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records[0]["verdict"], "read-only", "{output:?}");
    assert_eq!(records[1]["verdict"], "unknown");
    assert_eq!(
        records[1]["reason"],
        "`wc` is, or may start, a program of the workspace"
    );
}

#[test]
fn plain_commands_get_a_hint() {
    let output = run(&["check", "shell", "-o", "text"], b"ls -l\n");
    assert_eq!(
        output.stderr,
        "turnpipe: standard input: line 1: not JSON: expected value at column 1\n\
         hint: `--plain` reads each line as raw text\n"
    );
    let output = run(&["check", "shell", "-o", "text"], b"\"ls\"\nls -l\n");
    assert!(!output.stderr.contains("hint"), "{output:?}");
}
