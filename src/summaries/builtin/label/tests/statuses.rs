//! The ends of commands.

use super::*;

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn a_success_is_claimed_only_if_the_status_or_the_silence_of_the_program_shows_it() {
    assert_labels(&[
        ("rm a.txt", "", false, "Deleted a.txt"),
        ("rm a.txt; true", "", false, "Deleted a.txt"),
        ("rm a.txt 2>/dev/null; true", "", false, "Ran rm a.txt"),
        (
            "rm a.txt || true",
            "rm: cannot remove 'a.txt'",
            false,
            "Ran rm a.txt",
        ),
        (
            "ls scripts || true",
            "ls: cannot access 'scripts'",
            false,
            "Ran ls scripts",
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
            "foo failed",
        ),
        (
            "cat a.ts | head -40",
            "cat: a.ts: No such file or directory",
            false,
            "cat a.ts failed",
        ),
        (
            "cd web && cargo build 2>&1 | tail -1",
            "error: could not compile `web`",
            false,
            "cargo build failed",
        ),
        (
            "find . -name a | head -5 / echo",
            "head: cannot open 'echo'\n\nExit code 1",
            true,
            "head echo failed",
        ),
        (
            "cargo build 2>&1 | grep error",
            "error: could not compile `web`",
            false,
            "Ran cargo build",
        ),
        (
            "make a; make b | tail -1",
            "error: no rule",
            false,
            "Ran make a and make b",
        ),
        (
            "cargo build | tail -2",
            "error: bad flag\nFinished",
            false,
            "Ran cargo build",
        ),
        (
            "make | tail -1",
            "make: Nothing to be done for 'all'.",
            false,
            "Ran make",
        ),
        (
            "cd /a && grep -n \"on_map`/`on_unmap\" PLAN.md",
            "/bin/bash: line 1: /: Is a directory\n\nExit code 1",
            true,
            "Shell script failed",
        ),
        (
            "rg --files -g '*.tf' /a/b",
            "Now using node v22\n\nExit code 1",
            true,
            "No matches for *.tf files in b",
        ),
        (
            "psql -c x | head -3",
            "(eval):1: command not found: psql",
            false,
            "psql failed",
        ),
        (
            "cd no; npm test",
            "/bin/sh: line 0: cd: no: No such file or directory",
            false,
            "Ran npm test, cd no failed",
        ),
        (
            "git log --oneline",
            "bwrap: loopback: no permission\n\nExit code 1",
            true,
            "git log failed",
        ),
        ("git diff --quiet", "Exit code 1", true, "Ran git diff"),
        (
            "git pull | tail; cargo build",
            "error: could not compile\n\nExit code 101",
            true,
            "Ran git pull, cargo build failed",
        ),
        (
            "make && ./x",
            "make: Nothing to be done for 'all'.\n\nExit code 1",
            true,
            "make or x failed",
        ),
        ("make", "make: 'all' is up to date.", false, "Ran make"),
        (
            "kill 7; sleep 1; ps -p 7",
            "  PID TTY\n\nExit code 1",
            true,
            "Ran kill 7 and ps",
        ),
        (
            "ruff check a.py b.py c.py && mypy a.py b.py c.py",
            "a.py: error: x\n\nExit code 1",
            true,
            "ruff check a.py b.py c.py or mypy a.py b.py c.py failed",
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
            "Ran rm",
        ),
        (
            "pkill x; npm run dev &",
            "",
            false,
            "Ran pkill x, started npm run dev",
        ),
        ("git push &", "", false, "Started git push"),
        (
            "cd x && npm start & sleep 3; curl a.io/b",
            "",
            false,
            "Started npm start, ran curl a.io/b",
        ),
        (
            "uvicorn a:b & disown; curl -f x",
            "Exit code 7",
            true,
            "Started uvicorn a:b, curl failed",
        ),
        (
            "./serve.sh",
            "Command running in background with ID: 7",
            false,
            "Started serve.sh",
        ),
        (
            "make && gh pr checks 7",
            "Exit code 8",
            true,
            "make or gh pr checks 7 ended with status 8",
        ),
        ("rm a && echo ok || echo no", "rm: a\nno", false, "Ran rm a"),
        ("! rm a", "", false, "Ran rm a"),
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
            "Ran cat a and cat b",
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
        ("a || b", "Exit code 1", true, "a and b failed"),
        ("[ -d x ] || mkdir x", "Exit code 1", true, "mkdir x failed"),
        ("cd x && a || echo no", "no", false, "Ran a"),
        (
            "rm a && cat b",
            "Exit code 1\nrm: cannot remove 'a'",
            true,
            "rm a failed",
        ),
        ("a || exit 1; b", "", false, "Ran a and b"),
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
            "cd no failed",
        ),
        (
            "npm run lint && npm test",
            "Exit code 1\nboom",
            true,
            "npm run lint or npm test failed",
        ),
        ("a && b && c", "Exit code 1", true, "a or b or c failed"),
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
        // A here-document is written, not read.
        (
            "cat <<'E' > no/a.md\nx\nE",
            "Exit code 1\nbash: line 1: no/a.md: No such file",
            true,
            "Write of a.md failed",
        ),
        (
            "node --import x --test a.test.ts",
            "Exit code 1",
            true,
            "a.test.ts failed",
        ),
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
            "a and b and c declined",
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
        // A signal may have ended any command.
        (
            "pkill -f x; sleep 1; curl -s http://a.io/b",
            "Exit code 144",
            true,
            "pkill or curl a.io/b failed",
        ),
        (
            "git add -A && git commit -m 'x' && git push && git fetch",
            "Exit code 130",
            true,
            "One of 4 commands failed",
        ),
        ("make && make", "Exit code 2", true, "make failed"),
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
        ("lsof -i :3000", "Exit code 1", true, "Ran lsof"),
        (
            "! grep -rn foo src",
            "Exit code 1\nsrc/a: foo",
            true,
            "Searched for foo in src",
        ),
        (
            "git show HEAD:a > b && diff b a",
            "Exit code 1\n< a",
            true,
            "Wrote b, ran diff b a",
        ),
        (
            "git merge-base --is-ancestor a b",
            "Exit code 1",
            true,
            "Ran git merge-base",
        ),
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
            "which rg fd ag",
            "Exit code 1\n/usr/bin/rg",
            true,
            "Ran which rg fd ag",
        ),
        (
            "until false; do :; done",
            "Command timed out",
            true,
            "Command timed out",
        ),
        ("test -f x", "Exit code 1", true, "Checked a condition"),
        (
            "ls x && [ -d y ]",
            "Exit code 1\na",
            true,
            "Ran ls x, checked a condition",
        ),
        (
            "gh pr checks 7",
            "Exit code 8\npending",
            true,
            "Ran gh pr checks 7",
        ),
        (
            "terraform plan -detailed-exitcode",
            "Exit code 2",
            true,
            "Ran terraform plan",
        ),
        ("rg -tpy foo", "Exit code 1", true, "Searched for foo"),
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
        (
            "run_shell_command",
            "make",
            "Command was cancelled by user before it could complete.",
            "make interrupted",
        ),
        (
            "run_shell_command",
            "make",
            "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes",
            "make timed out",
        ),
        (
            "run_shell_command",
            "make",
            "Output: x\nSignal: 9\nProcess Group PGID: 3",
            "make failed",
        ),
        (
            "run_shell_command",
            "make",
            "Command: make\nOutput: (empty)\nError: spawn ENOENT\nExit Code: (none)",
            "make failed",
        ),
        (
            "run_shell_command",
            "make",
            "Command moved to background (PID: 7). Output hidden.",
            "Started make",
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
fn an_end_may_be_stated_apart_from_the_text() {
    let call = |command: &str, status| {
        let input = serde_json::value::to_raw_value(&bash(command)).unwrap();
        let call = FinishedCall {
            name: "Bash",
            input: &input,
            text: "",
            failed: true,
            status,
        };
        write_label(&[call], None)
    };
    assert_eq!(call("rg foo", Some(1)), "No matches for foo");
    assert_eq!(call("rg foo", Some(2)), "rg foo failed");
    assert_eq!(call("rg foo", None), "No matches for foo");
    assert_eq!(call("cargo test", None), "cargo test failed");
}

#[test]
fn a_call_in_the_background_is_started() {
    for argument in ["run_in_background", "is_background"] {
        let input = json!({"command": "tail -f a.log", argument: true});
        let call = ("run_shell_command", input, "", false);
        assert_eq!(label_of(&[call]), "Started tail a.log", "{argument}");
        let input = json!({"command": "tail -f a.log", argument: false});
        let call = ("run_shell_command", input, "", false);
        assert_eq!(label_of(&[call]), "Read a.log", "{argument}");
    }
}
