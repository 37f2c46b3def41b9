use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;

/// A call: tool, input, output, whether it failed.
type Row<'a> = (&'a str, Value, &'a str, bool);

fn label_of(calls: &[Row<'_>]) -> String {
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

fn assert_labels(rows: &[(&'static str, &str, bool, &'static str)]) {
    let label = |(command, output, failed, expected): &(&'static str, &str, bool, &'static str)| {
        let call = ("Bash", bash(command), *output, *failed);
        (*command, label_of(&[call]), *expected)
    };
    let labels = rows.iter().map(label);
    let wrong: Vec<_> = labels
        .filter(|(_, label, expected)| label != expected)
        .collect();
    assert_eq!(wrong, []);
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn calls_are_named_by_their_act_and_object() {
    let file = |name: &str| json!({"file_path": format!("/home/me/app/src/{name}")});
    let todos = json!({"todos": [{"status": "completed"}, {"status": "pending"}]});
    let patch = json!({"input": "*** Begin Patch\n*** Delete File: a.rs\n*** End Patch"});
    let editor = |command: &str| json!({"command": command, "path": "a.rs"});
    let rows: &[(Row<'_>, &str)] = &[
        (("Read", file("a.rs"), "1\tfn", false), "Read a.rs"),
        (
            ("read_file", json!({"absolute_path": "/x/b.go"}), "x", false),
            "Read b.go",
        ),
        (
            ("Read", file("a.rs"), "File does not exist.", true),
            "Read of a.rs failed",
        ),
        (("Write", file("a.rs"), "File created", false), "Wrote a.rs"),
        (
            ("Grep", json!({"pattern": "^fn main"}), "a.rs:1", false),
            "Searched for ^fn main",
        ),
        (
            (
                "Grep",
                json!({"pattern": "foo", "path": "src"}),
                "No matches found",
                false,
            ),
            "No matches for foo in src",
        ),
        (
            (
                "Grep",
                json!({"pattern": "foo("}),
                "regex parse error",
                true,
            ),
            "Search for foo( failed",
        ),
        (
            (
                "mcp__tracker__create_issue",
                json!({"title": "x"}),
                "{}",
                false,
            ),
            "Called create issue (tracker)",
        ),
        (
            ("mcp__a__merge", json!({}), r#"{"merged":false}"#, false),
            "Called merge (a)",
        ),
        (
            ("mcp__a__merge", json!({}), "401", true),
            "Merge (a) failed",
        ),
        (("TodoWrite", todos, "ok", false), "Updated todos"),
        (
            (
                "TaskUpdate",
                json!({"taskId": "2", "status": "completed"}),
                "ok",
                false,
            ),
            "Updated tasks",
        ),
        (("Frobnicate", json!({}), "x", false), "Used Frobnicate"),
        (("Frobnicate", json!({}), "x", true), "Frobnicate failed"),
        (
            (
                "WebFetch",
                json!({"url": "https://a.io/b"}),
                "HTTP 500",
                false,
            ),
            "Requested a.io/b",
        ),
        (
            ("Task", json!({"description": "Find it"}), "x", true),
            "Agent \"Find it\" failed",
        ),
        (
            ("spawn_agent", json!({"message": "Find it"}), "{}", false),
            "Started agent \"Find it\"",
        ),
        (
            (
                "apply_patch",
                patch.clone(),
                "apply_patch verification failed: no",
                false,
            ),
            "Deletion of a.rs failed",
        ),
        (
            (
                "apply_patch",
                patch.clone(),
                "patch rejected by user",
                false,
            ),
            "Deletion of a.rs declined",
        ),
        (("apply_patch", patch, "ok", false), "Deleted a.rs"),
        (
            ("str_replace_editor", editor("view"), "ok", false),
            "Read a.rs",
        ),
        (
            ("str_replace_editor", editor("create"), "ok", false),
            "Edited a.rs",
        ),
        (
            ("write_stdin", json!({"chars": "rm x\n"}), "ok", false),
            "Sent input to background task",
        ),
        (
            ("write_stdin", json!({"chars": ""}), "ok", false),
            "Checked background task",
        ),
        (
            ("BashOutput", json!({}), "<exit_code>1</exit_code>", false),
            "Background task failed",
        ),
    ];
    let labels = rows
        .iter()
        .map(|(call, expected)| (label_of(std::slice::from_ref(call)), *expected));
    let wrong: Vec<_> = labels
        .filter(|(label, expected)| label != expected)
        .collect();
    assert_eq!(wrong, []);
}

#[test]
fn commands_are_named_by_what_they_may_change() {
    let rows = [
        ("find . -name '*.log' -exec rm {} +", "Ran find -exec rm"),
        ("find . -name '*.log' -delete", "Ran find -delete"),
        ("find . -name '*.orig' | xargs rm -f", "Deleted files"),
        ("grep -rl foo src | xargs sed -i s/foo/bar/", "Edited files"),
        (
            "grep -rl foo src | xargs -0 perl -pi -e s/foo/bar/",
            "Edited files",
        ),
        ("sed -i s/a/b/ a.py b.py c.py", "Edited a.py and 2 more"),
        ("perl -0pi -e 's/a/b/g' A.md B.md", "Edited A.md and B.md"),
        (
            "curl -s -X DELETE https://api.example.com/v1/7",
            "Ran curl api.example.com/…/7",
        ),
        ("sort -o a.txt b.txt", "Ran sort a.txt b.txt"),
        ("cat a.txt | tee b.txt", "Wrote b.txt"),
        ("grep x a.txt | sort -u > b.txt", "Wrote b.txt"),
        (
            "cat > f.py <<'E'\nx\nE\npython3 f.py",
            "Wrote f.py, ran f.py",
        ),
        ("git diff --output=a.patch", "Ran git diff"),
        ("find . -name '*.rs' -fprint out", "Ran find *.rs"),
        (": > a.log", "Wrote a.log"),
        ("(ls; date) > a.log", "Wrote a.log"),
        ("ls && $(echo rm) x", "Ran a program"),
        ("git ls-files | xargs dos2unix", "Ran dos2unix"),
        ("cargo test && rm -rf tmp/", "Deleted tmp/, ran cargo test"),
        (
            "npm run build && npm run deploy",
            "Ran npm run build and npm run deploy",
        ),
        (
            "docker ps; docker stop web",
            "Ran docker ps and docker stop web",
        ),
        ("bash -c \"rm a.txt\"", "Ran bash"),
        ("npx eslint . --fix", "Ran eslint"),
        ("ls `rm a`", "Ran shell script"),
        (
            "kubectl get po > po.yml",
            "Wrote po.yml, ran kubectl get po",
        ),
        (
            "git branch --merged | xargs git branch -d",
            "Ran git branch",
        ),
        ("mkdir -p a b c", "Ran mkdir a and 2 more"),
        ("git add a.rs b.rs c.rs", "Ran git add a.rs and 2 more"),
        ("git diff -- a.py b.py c.py", "Ran git diff"),
        (
            "mise run test:ci -- -run x | tail -3",
            "Ran mise run test:ci",
        ),
        ("./server --port 80", "Ran server"),
        ("curl -s https://a.io/b | jq .", "Ran curl a.io/b"),
        ("ruff check --fix .", "Ran ruff check"),
        ("perl -ne 'print if /x/' a.txt", "Ran perl"),
        ("grep -c '' a.txt", "Searched for lines in a.txt"),
        ("go test ./src/net/...", "Ran go test net/"),
        ("a; b; c", "Ran a, b and c"),
        (
            "ffmpeg -i a b; convert b c; identify c; exiftool c; jhead c",
            "Ran ffmpeg, convert b c, identify c, exiftool c and jhead c",
        ),
        // These only read.
        (
            "find . -name '*.rs' | xargs grep -l foo",
            "Looked for *.rs files",
        ),
        ("cat a.txt | sort | uniq -c", "Read a.txt"),
        ("sed -n 1,5p a.txt", "Read a.txt"),
        ("grep foo $FILES", "Searched for foo"),
        (
            "grep -A 10 '^[[:space:]]*constructor' a.ts",
            "Searched for ^[[:space:]]*constructor in a.ts",
        ),
        ("rg --files", "Looked for files"),
        ("git diff --stat && cat a.rs", "Ran git diff, read a.rs"),
        (
            "command -v nginx || command -v caddy || true",
            "Ran command -v",
        ),
        ("/x/turnpipe sandbox -- bash -c 'cat a.md'", "Read a.md"),
        ("gh pr view 7 | head", "Ran gh pr view 7"),
    ];
    let rows = rows.map(|(command, expected)| (command, "x", false, expected));
    assert_labels(&rows);
}

#[test]
fn a_success_is_claimed_only_if_the_status_or_the_silence_of_the_program_shows_it() {
    assert_labels(&[
        ("rm a.txt", "", false, "Deleted a.txt"),
        ("rm a.txt; true", "", false, "Deleted a.txt"),
        ("rm a.txt 2>/dev/null; true", "", false, "Ran rm a.txt"),
        (
            "rm a.txt || true",
            "rm: cannot remove 'a.txt'",
            false,
            "Ran rm a.txt, errors in output",
        ),
        (
            "ls scripts || true",
            "ls: cannot access 'scripts'",
            false,
            "Ran ls scripts, errors in output",
        ),
        (
            "if [ -f x ]; then cat x; else touch x; fi",
            "",
            false,
            "May have run touch x",
        ),
        ("test -f a && rm b; ls", "", false, "May have run rm b"),
        (
            "foo | head",
            "bash: line 1: foo: command not found",
            false,
            "Ran foo, errors in output",
        ),
        (
            "cargo test | tail -1",
            "test result: FAILED. 1 passed; 2 failed",
            false,
            "Ran cargo test",
        ),
        (
            "git commit -m x | head -1",
            "[main 1234567] Fix it",
            false,
            "Committed: Fix it",
        ),
        (
            "git commit -m x; git log",
            "nothing to commit",
            false,
            "Ran git commit",
        ),
        (
            "xargs -a list.txt rm",
            "rm: cannot remove 'x'",
            false,
            "Ran rm, errors in output",
        ),
        (
            "pkill x; npm run dev &",
            "",
            false,
            "Ran pkill x, started in background: npm run dev",
        ),
        ("git push &", "", false, "Started in background: git push"),
        (
            "./serve.sh",
            "Command running in background with ID: 7",
            false,
            "Started in background: serve.sh",
        ),
        (
            "cat notes.md",
            "a\nb\nc\nd\ne\nit is running in background",
            false,
            "Read notes.md",
        ),
    ]);
}

#[test]
fn a_command_that_may_not_have_run_is_not_said_to_have_run() {
    assert_labels(&[
        ("a || b", "", false, "Ran a, may have run b"),
        ("test -d x && a || b", "", false, "May have run a and b"),
        ("a && b || c", "", false, "Ran a, may have run b and c"),
        ("a || b && c", "", false, "Ran a and c, may have run b"),
        ("a && b; c", "", false, "Ran a and c, may have run b"),
        ("a && b | tail", "", false, "Ran a and b"),
        ("cd x && a | tail", "", false, "Ran a"),
        ("(cd x && a)", "", false, "Ran a"),
        ("cat a || cat b", "", false, "Read a"),
        (
            "cat a || cat b",
            "cat: a: No such file",
            false,
            "Ran cat a and cat b, errors in output",
        ),
        ("[ -d x ] || npm ci", "", false, "May have run npm ci"),
        (
            "if a; then b; fi; c",
            "",
            false,
            "Ran a and c, may have run b",
        ),
        (
            "case $x in a) b;; esac; c",
            "",
            false,
            "May have run b, ran c",
        ),
        ("for f in a b; do c $f; done", "", false, "Ran c"),
        ("for f in *.o; do rm $f; done", "", false, "Ran rm"),
        (
            "a || b; c",
            "Exit code 1",
            true,
            "Ran a, may have run b, c failed",
        ),
        ("a || b", "Exit code 1", true, "a or b failed"),
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn a_failure_names_the_command_that_failed() {
    assert_labels(&[
        ("cargo test", "Exit code 101", true, "cargo test failed"),
        (
            "cd web && cargo test",
            "Exit code 101",
            true,
            "cargo test failed",
        ),
        (
            "cd no && cargo test",
            "Exit code 1\nbash: line 1: cd: no: No such file",
            true,
            "cd failed",
        ),
        (
            "npm run lint && npm test",
            "Exit code 1\nboom",
            true,
            "npm run lint or npm test failed",
        ),
        (
            "a && b && c",
            "Exit code 1",
            true,
            "One of 3 commands failed",
        ),
        (
            "touch x; cargo test",
            "Exit code 101",
            true,
            "Wrote x, cargo test failed",
        ),
        (
            "cat > f.py <<'E'\nx\nE\npython3 f.py",
            "Exit code 1\nTraceback",
            true,
            "Wrote f.py, f.py failed",
        ),
        ("false && git push", "Exit code 1", true, "git push failed"),
        (
            "grep a b.txt | head",
            "Exit code 2",
            true,
            "grep a b.txt failed",
        ),
        (
            "a && b && c",
            "The user doesn't want to proceed with this tool use.",
            true,
            "a and 2 more declined",
        ),
        ("sleep 9; echo x", "Command aborted", true, "Command failed"),
        // `exit` hands over the status of a command before it.
        (
            "pytest -q 2>&1 | tail -4; exit ${PIPESTATUS[0]}",
            "Exit code 1",
            true,
            "pytest failed",
        ),
        (
            "make x; rc=$?; echo $rc; exit $rc",
            "Exit code 2\n2",
            true,
            "make x failed",
        ),
        (
            "mvn verify; rc=$?; tail a.log; exit $rc",
            "Exit code 1",
            true,
            "mvn verify failed",
        ),
        (
            "echo bad >&2; exit 7",
            "Exit code 7\nbad",
            true,
            "Command failed",
        ),
        ("npm test || exit 1", "Exit code 1", true, "npm test failed"),
        // The last command of a pipeline decides, unless it only passes text on.
        (
            "head -50 a.json | jq . 2>/dev/null",
            "Exit code 5",
            true,
            "jq failed",
        ),
        (
            "cargo test | tee log | tail -3",
            "Exit code 101",
            true,
            "cargo test failed",
        ),
        (
            "set -o pipefail; cargo test | grep foo",
            "Exit code 1\nx",
            true,
            "cargo test or grep foo ended with status 1",
        ),
        // `xargs` tells that a command ended with a status from 1 to 125.
        (
            "find . -name '*.md' | xargs grep -l foo",
            "Exit code 123",
            true,
            "Looked for *.md files, no matches for foo",
        ),
        (
            "find . -name '*.md' | xargs grep -l foo",
            "Exit code 123\na.md",
            true,
            "Looked for *.md files, searched for foo",
        ),
        // Time limits.
        (
            "cd web && timeout 60 npm test | tail -5",
            "Exit code 124",
            true,
            "npm test failed",
        ),
        (
            "make && npm test",
            "Exit code 143\nCommand timed out after 2m 0.0s",
            true,
            "make or npm test timed out",
        ),
        ("npm test", "Exit code 124", true, "npm test failed"),
        // Status 1 is an answer of these.
        (
            "rg -n foo src",
            "(no output)\n\nCommand exited with code 1",
            true,
            "No matches for foo in src",
        ),
        (
            "rg foo no",
            "Exit code 2\nrg: no: No such file",
            true,
            "rg foo no failed",
        ),
        (
            "grep foo $X*",
            "Exit code 1\n(eval):1: parse error near `)'",
            true,
            "grep foo failed",
        ),
        (
            "command -v a || command -v b",
            "Exit code 1",
            true,
            "Ran command -v",
        ),
        (
            "ls x && command -v magick",
            "Exit code 1\nicon.png",
            true,
            "Ran ls x and command -v",
        ),
        (
            "cargo build | grep ^error",
            "Exit code 1",
            true,
            "Ran cargo build, no matches for ^error",
        ),
        (
            "rg a || rg b",
            "Exit code 1",
            true,
            "No matches for a and b",
        ),
        (
            "rg a && rg b",
            "Exit code 1",
            true,
            "rg a or rg b ended with status 1",
        ),
        (
            "npm test && diff a b",
            "Exit code 1",
            true,
            "npm test or diff a b ended with status 1",
        ),
        ("diff a b", "Exit code 1\n< a", true, "Ran diff a b"),
        ("git diff --quiet", "Exit code 1", true, "Ran git diff"),
        ("git grep -n TODO", "Exit code 1", true, "Ran git grep"),
        ("ag foo", "Exit code 1", true, "No matches for foo"),
        ("pgrep -f foo", "Exit code 1", true, "Ran pgrep"),
        (
            "ps | grep -v x",
            "Exit code 1",
            true,
            "Ran ps, no matches for lines",
        ),
        (
            "which rg fd",
            "Exit code 1\n/usr/bin/rg",
            true,
            "Ran which rg fd",
        ),
        (
            "until false; do :; done",
            "Command timed out",
            true,
            "Command timed out",
        ),
        ("test -f x", "Exit code 1", true, "Ran test"),
        (
            "rg -tpy foo",
            "Exit code 1",
            true,
            "No matches for foo (some files)",
        ),
        ("sed -i s/a/b/ x/*.md y", "", false, "Edited x/*.md and y"),
    ]);
    // Other agents record the status in the text.
    let rows = [
        (
            "exec_command",
            "cargo test",
            "Process exited with code 101\nOutput:\n",
            "cargo test failed",
        ),
        (
            "exec_command",
            "rg foo",
            "Process exited with code 1\nOutput:\n",
            "No matches for foo",
        ),
        (
            "shell",
            "npm run e2e",
            "Wall time: 12.5 seconds\naborted by user",
            "npm run e2e interrupted",
        ),
        (
            "shell",
            "npm run e2e",
            "Exit code: 124\nWall time: 10 seconds\nOutput:\ncommand timed out after 10000 milliseconds\n",
            "npm run e2e timed out",
        ),
        (
            "bash",
            "cat x | grep y",
            "(no output)\n\nCommand exited with code 1",
            "Read x, no matches for y",
        ),
        (
            "run_shell_command",
            "ls no",
            "Output: ls: no such file\nExit Code: 2",
            "ls no failed",
        ),
    ];
    for (tool, command, output, expected) in rows {
        let call = (
            tool,
            json!({"command": command, "cmd": command}),
            output,
            false,
        );
        assert_eq!(label_of(&[call]), expected, "{command}");
    }
}

#[test]
fn a_batch_names_changes_first_and_all_failures() {
    let read = |name: &str| {
        let input = json!({"file_path": format!("/home/me/app/src/{name}.rs")});
        ("Read", input, "x", false)
    };
    let run = |command: &str| ("Bash", bash(command), "", false);
    let fail = |command: &str| ("Bash", bash(command), "Exit code 1", true);
    let agent = |task: &str| ("Task", json!({"description": task}), "x", false);
    let names: Vec<String> = (0..70).map(|number| format!("f{number}")).collect();
    let mut many: Vec<_> = names.iter().map(|name| read(name)).collect();
    many.push(run("rm z"));
    let cancelled = "Cancelled: parallel tool call Bash errored";
    let rows = [
        (vec![], ""),
        (many, "Deleted z, read f0.rs and 69 more"),
        (vec![read("a"), read("a")], "Read a.rs"),
        (
            vec![
                run("cat big.log"),
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
            vec![run("ls"), run("git status"), run("rm x")],
            "Deleted x, ran ls and git status",
        ),
        (
            vec![
                read("a"),
                ("delete_file", json!({"path": "b"}), "ok", false),
            ],
            "Deleted b, read a.rs",
        ),
        (
            vec![agent("Find it"), agent("Fix it")],
            "Ran agent \"Find it\" and \"Fix it\"",
        ),
        (
            vec![read("a"), fail("false && git push")],
            "Read a.rs, git push failed",
        ),
        (
            vec![fail("make a"), fail("make b")],
            "make a and make b failed",
        ),
        (
            vec![
                run("cargo build"),
                fail("cargo test"),
                ("Bash", bash("cargo doc"), cancelled, true),
            ],
            "Ran cargo build, cargo test failed",
        ),
        (
            vec![("Bash", bash("cargo doc"), cancelled, true)],
            "Call cancelled",
        ),
    ];
    let labels = rows.map(|(calls, expected)| (label_of(&calls), expected));
    let wrong = labels
        .into_iter()
        .filter(|(label, expected)| label != expected);
    assert_eq!(wrong.collect::<Vec<_>>(), []);
    let many: Vec<_> = names.iter().map(|name| fail(name)).collect();
    assert_eq!(label_of(&many), "70 calls failed");
    // Many commands in one line.
    let long = (0..3000).fold(String::new(), |line, number| format!("{line}c{number};"));
    let label = label_of(&[run(&long)]);
    assert!(
        label.starts_with("Ran c0, c1, ") && label.ends_with(" more"),
        "{label}"
    );
}

mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::text::{display_width, terminal_safe_line};

    /// The words of a label with a call that did not succeed. Status 1 of a search is an answer.
    const BAD: [&str; 8] = [
        "ended with status",
        "failed",
        "declined",
        "denied",
        "interrupted",
        "timed out",
        "cancelled",
        "o match",
    ];

    proptest! {
        #[test]
        fn labels_are_narrow_and_safe_and_mention_failures(
            calls in prop::collection::vec(
                (prop::sample::select(vec!["Bash", "Read", "Edit", "Grep", "Glob", "Task", "WebFetch", "x"]), "(rm |cat |a && |b \\| |sed -i |)[a-z./$'|&;<> -]{0,40}\\PC{0,20}", "\\PC{0,80}", any::<bool>()),
                1..5,
            ),
        ) {
            let calls: Vec<Row<'_>> = calls
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
                prop_assert!(BAD.iter().any(|word| label.contains(word)), "{}", label);
            }
        }

        #[test]
        fn commands_that_depend_on_others_are_not_said_to_have_run(
            operators in prop::collection::vec(prop::sample::select(vec![" && ", " || ", "; ", " | "]), 1..5),
        ) {
            let line = operators.iter().zip('b'..).fold("a".to_owned(), |line, (operator, name)| line + operator + &name.to_string());
            let label = label_of(&[("Bash", bash(&line), "", false)]);
            let ran = label.split(", may").next().unwrap_or_default();
            for ((operator, after), name) in operators.iter().zip(operators.iter().skip(1).map(Some).chain([None])).zip('b'..) {
                let is_named = ran.split([' ', ',']).any(|word| word == name.to_string());
                prop_assert!(*operator != " || " || !is_named, "{line}: {label}");
                let is_free = *operator == "; " || after.is_none() && *operator != " || ";
                let follows_free = operators.iter().all(|operator| *operator != " && " && *operator != " || ");
                prop_assert!(!(is_free && follows_free) || is_named, "{line}: {label}");
            }
        }
    }
}
