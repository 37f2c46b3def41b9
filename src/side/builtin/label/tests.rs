use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;

/// A batch: tool, input, output, whether it failed.
type Row<'a> = (&'a [(&'a str, Value, &'a str, bool)], &'a str);

fn label_of(calls: &[(&str, Value, &str, bool)]) -> String {
    let inputs: Vec<Box<RawValue>> = calls
        .iter()
        .map(|(_, input, ..)| serde_json::value::to_raw_value(input).unwrap())
        .collect();
    let calls: Vec<FinishedCall<'_>> = calls
        .iter()
        .zip(&inputs)
        .map(|((name, _, text, failed), input)| FinishedCall {
            name,
            input,
            text,
            failed: *failed,
        })
        .collect();
    label(&calls, Some("/home/me/app"))
}

fn bash(command: &str) -> Value {
    json!({"command": command})
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn batches_get_one_line() {
    let read = |name: &str| json!({"file_path": format!("/home/me/app/src/{name}")});
    let rows: &[Row<'_>] = &[
        (&[("Read", read("a.rs"), "1\tfn", false)], "Read a.rs"),
        (
            &[("read_file", json!({"absolute_path": "/x/b.go"}), "x", false)],
            "Read b.go",
        ),
        (
            &[
                ("Read", read("a.rs"), "x", false),
                ("Read", read("a.rs"), "y", false),
            ],
            "Read a.rs",
        ),
        (
            &[(
                "Bash",
                bash("cat notes.md"),
                &format!("{}it is running in background", "line\n".repeat(200)),
                false,
            )],
            "Read notes.md",
        ),
        (
            &[(
                "Bash",
                bash("/x/turnpipe sandbox -- bash -c 'cat a.md'"),
                "a",
                false,
            )],
            "Read a.md",
        ),
        (
            &[(
                "Bash",
                bash("./serve.sh"),
                "Command running in background with ID: 7",
                false,
            )],
            "Started serve.sh in background",
        ),
        (
            &[
                ("Bash", bash("cat big.log"), "x", false),
                (
                    "Read",
                    json!({"file_path": "/home/me/app/big.log"}),
                    "x",
                    false,
                ),
            ],
            "Read big.log",
        ),
        (
            &[(
                "Bash",
                bash("for i in 1 2; do time QUIET=1 ./server help > /dev/null; done"),
                "",
                false,
            )],
            "Ran server help",
        ),
        (
            &[(
                "Read",
                read("a.rs"),
                "<tool_use_error>File does not exist.</tool_use_error>",
                true,
            )],
            "a.rs not found",
        ),
        (
            &[
                ("Edit", read("a.rs"), "ok", false),
                ("Edit", read("b.rs"), "ok", false),
            ],
            "Edited a.rs and b.rs",
        ),
        (
            &[("Grep", json!({"pattern": "^fn main"}), "a.rs:1", false)],
            "Searched for fn main",
        ),
        (
            &[("Grep", json!({"pattern": "foo"}), "No matches found", false)],
            "No matches for foo",
        ),
        (
            &[(
                "Bash",
                bash("cargo test 2>&1"),
                "test result: ok. 12 passed; 0 failed;",
                false,
            )],
            "Ran cargo test, 12 passed",
        ),
        (
            &[(
                "Bash",
                bash("cargo test"),
                "Exit code 101\ntest result: FAILED. 1 passed; 2 failed;",
                true,
            )],
            "Ran cargo test, 2 failed",
        ),
        (
            &[(
                "Bash",
                bash("cargo test | head -5"),
                "test result: ok. 12 passed; 0 failed;",
                false,
            )],
            "Ran cargo test",
        ),
        (
            &[(
                "Bash",
                bash("npm run lint && npm test"),
                "Exit code 1\nboom",
                true,
            )],
            "Failed: lint, npm test",
        ),
        (
            &[(
                "Bash",
                bash("git push"),
                " ! [rejected] main -> main (fetch first)",
                false,
            )],
            "git push rejected",
        ),
        (
            &[("Bash", bash("rm -rf target/"), "", false)],
            "Deleted target/",
        ),
        (
            &[(
                "mcp__tracker__create_issue",
                json!({"title": "x"}),
                r#"{"identifier":"AB-12"}"#,
                false,
            )],
            "Called create issue (tracker)",
        ),
        (
            &[(
                "TodoWrite",
                json!({"todos": [{"status": "completed"}, {"status": "pending"}]}),
                "ok",
                false,
            )],
            "Updated todos, 1 of 2 done",
        ),
        (&[("Frobnicate", json!({}), "x", false)], "Used Frobnicate"),
        (
            &[(
                "shell",
                json!({"command": ["bash", "-lc", "git status"]}),
                "nothing to commit, working tree clean",
                false,
            )],
            "Checked git status, clean",
        ),
        (
            &[
                ("Read", read("a.rs"), "x", false),
                ("Bash", bash("false && git push"), "Exit code 1", true),
            ],
            "Read a.rs, git push failed",
        ),
    ];
    for (calls, expected) in rows {
        assert_eq!(label_of(calls), *expected, "{calls:?}");
    }
}

#[test]
fn commands_that_change_something_are_not_labelled_as_reads() {
    let rows = [
        (
            "find . -name '*.log' -exec rm {} +",
            "Ran rm on *.log files",
        ),
        ("find . -name '*.log' -delete", "Deleted *.log files"),
        ("find . -name '*.orig' | xargs rm -f", "Deleted files"),
        ("grep -rl foo src | xargs sed -i s/foo/bar/", "Edited files"),
        (
            "grep -rl foo src | xargs -0 perl -pi -e s/foo/bar/",
            "Edited files",
        ),
        (
            "curl -s -X DELETE https://api.example.com/v1/users/7",
            "Sent DELETE to api.example.com/…/7",
        ),
        ("sort -o a.txt b.txt", "Ran sort"),
        ("cat a.txt | tee b.txt", "Wrote b.txt"),
        ("grep x a.txt | sort -u > b.txt", "Wrote b.txt"),
        ("git diff --output=a.patch", "Ran git diff"),
        ("find . -name '*.rs' -fprint out", "Ran find"),
        (": > a.log", "Wrote a.log"),
        ("(ls; date) > a.log", "Wrote a.log"),
        ("ls && $(echo rm) x", "Ran $() x"),
        ("git ls-files | xargs dos2unix", "Ran dos2unix"),
        ("curl -sX DELETE https://a.io/b", "Sent DELETE to a.io/b"),
        (
            "curl -s -X POST https://a.io/b | jq .",
            "Sent POST to a.io/b",
        ),
        (
            "cargo test && rm -rf tmp/",
            "Ran cargo test and deleted tmp/",
        ),
        (
            "npm run build && npm run deploy",
            "Ran build and npm deploy",
        ),
        (
            "docker ps; docker stop web",
            "Ran docker ps and docker stop",
        ),
        ("bash -c \"rm a.txt\"", "Deleted a.txt"),
        ("ls *.log | xargs -I{} mv {} logs/", "Moved logs/"),
        ("npx eslint . --fix", "Ran eslint --fix"),
        ("ls `rm a`", "Ran rm"),
        ("kubectl get po -o yaml > po.yml", "Wrote po.yml"),
        ("find . -exec cat {} + > all.md", "Wrote all.md"),
        ("trap 'rm a' EXIT; ls", "Ran trap"),
        ("curl -sT a.txt https://x.io/up", "Sent POST to x.io/up"),
        (
            "git branch --merged | xargs git branch -d",
            "Deleted branch",
        ),
        ("ls > /dev/stderr", "Ran ls"),
        ("mkdir -p a b c", "Created 3 directories"),
        // These only read.
        (
            "find . -name '*.rs' | xargs grep -l foo",
            "Looked for *.rs files",
        ),
        ("cat a.txt | sort | uniq -c", "Read a.txt"),
        ("sed -n 1,5p a.txt", "Read a.txt"),
        ("grep foo $FILES", "Searched for foo"),
        ("gh pr view 7 | head", "Viewed PR #7"),
        ("git log --oneline | head -3", "Viewed git log"),
    ];
    for (command, expected) in rows {
        let call = ("Bash", bash(command), "x", false);
        assert_eq!(label_of(&[call]), expected, "{command}");
    }
}

#[test]
fn a_success_is_claimed_only_if_the_status_or_the_output_shows_it() {
    let rows = [
        (
            "pip install a | tail -1",
            "ERROR: No matching distribution found for a",
            "Ran pip install, errors in output",
        ),
        (
            "npm install a 2>&1 | tail -3",
            "npm ERR! 404 Not Found",
            "Ran npm install, errors in output",
        ),
        (
            "apt-get install -y a | tail -1",
            "E: Unable to locate package a",
            "Ran apt-get install, errors in output",
        ),
        ("npm install a || true", "", "Ran npm install"),
        (
            "go test ./... 2>&1 | tail -1",
            "ok  \tpkg/z\t0.1s",
            "Ran go test",
        ),
        (
            "cargo build 2>&1 | tail -1",
            "For more information, try `rustc --explain E0425`.",
            "Ran cargo build",
        ),
        ("cargo build -p a 2>&1 | tail -1", "x", "Ran cargo build"),
        (
            "git push 2>&1 | tail -1",
            "fatal: x",
            "Ran git push, errors in output",
        ),
        (
            "git push 2>&1 | tail -1",
            "   1..2  main -> main",
            "Pushed main",
        ),
        (
            "git commit -m x | head -1",
            "[main 1234567] Fix it",
            "Committed: Fix it",
        ),
        (
            "set -o pipefail; npm install a | tail -3",
            "added 1 package",
            "Installed a",
        ),
        (
            "npm install a && npm test | tail -3",
            "x",
            "Ran npm test and installed a",
        ),
        ("npm install a", "added 1 package", "Installed a"),
        ("rm a.txt 2>/dev/null; true", "", "Ran rm"),
        ("pkill web; ps", "1 web", "Sent signal to processes"),
        ("git merge x; git status", "", "Ran git merge"),
        ("git push --dry-run", "", "Ran git --dry-run"),
        ("rsync -avn a b", "", "Ran rsync"),
        (
            "git push; git status",
            "error: failed to push some refs",
            "Ran git push, errors in output",
        ),
        (
            "mkdir a; ls",
            "mkdir: cannot create directory 'a': File exists",
            "Ran mkdir, errors in output",
        ),
        ("git push &", "", "Started git push in background"),
    ];
    for (command, output, expected) in rows {
        let call = ("Bash", bash(command), output, false);
        assert_eq!(label_of(&[call]), expected, "{command}");
    }
}

#[test]
fn a_batch_names_a_change_before_what_it_only_counts() {
    let read = |name: &str| {
        let input = json!({"file_path": format!("/home/me/app/src/{name}.rs")});
        ("Read", input, "x", false)
    };
    let run = |command: &str| ("Bash", bash(command), "", false);
    let names: Vec<String> = (0..70).map(|number| format!("f{number}")).collect();
    let mut many: Vec<_> = names.iter().map(|name| read(name)).collect();
    many.push(run("rm z"));
    let passed = (
        "Bash",
        bash("cargo test"),
        "test result: ok. 1 passed;",
        false,
    );
    let patch = json!({"input": "*** Begin Patch\n*** Delete File: a.rs\n*** End Patch"});
    let command = |command| {
        let input = json!({"command": command, "path": "a.rs"});
        ("str_replace_editor", input, "ok", false)
    };
    let input = |chars| ("write_stdin", json!({"chars": chars}), "ok", false);
    let refused = ("mcp__a__merge", json!({}), r#"{"merged":false}"#, false);
    let rows = [
        (many, "Deleted z, read 70 files in src/"),
        (
            vec![run("ls"), run("git status"), run("rm x")],
            "Deleted x, 2 more commands",
        ),
        (
            vec![run("git add a"), run("git commit"), run("git push")],
            "Pushed branch, 2 more commands",
        ),
        (
            vec![passed, read("a"), run("rm x"), read("b")],
            "Deleted x, 3 more calls",
        ),
        (
            vec![
                read("a"),
                ("delete_file", json!({"path": "b"}), "ok", false),
            ],
            "Deleted b, read a.rs",
        ),
        (vec![("apply_patch", patch, "ok", false)], "Deleted a.rs"),
        (vec![command("view")], "Read a.rs"),
        (vec![command("create")], "Edited a.rs"),
        (vec![input("rm x\n")], "Sent input to background task"),
        (vec![input("")], "Checked background task"),
        (vec![refused], "Called merge (a)"),
    ];
    for (calls, expected) in rows {
        assert_eq!(label_of(&calls), expected);
    }
}

#[test]
fn an_empty_batch_has_no_label() {
    assert_eq!(label(&[], None), "");
}

mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::text::{display_width, terminal_safe_line};

    proptest! {
        #[test]
        fn labels_are_narrow_and_safe_and_mention_failures(
            calls in prop::collection::vec(
                (prop::sample::select(vec!["Bash", "Read", "Edit", "Grep", "Glob", "Task", "WebFetch", "x"]), "\\PC{0,60}", "\\PC{0,80}", any::<bool>()),
                1..5,
            ),
        ) {
            let calls: Vec<(&str, Value, &str, bool)> = calls
                .iter()
                .map(|(name, argument, output, failed)| {
                    (*name, json!({"command": argument, "file_path": argument, "pattern": argument, "url": argument}), output.as_str(), *failed)
                })
                .collect();
            let label = label_of(&calls);
            prop_assert!(display_width(&label) <= compose::MAX_CELLS, "{label}");
            prop_assert_eq!(terminal_safe_line(&label), label.clone());
            prop_assert!(!label.is_empty());
            if calls.iter().any(|(.., failed)| *failed) {
                prop_assert!(compose::names_failure(&label), "{}", label);
            }
        }
    }
}
