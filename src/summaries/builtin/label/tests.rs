//! Calls of tools, and batches.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;

mod commands;
mod statuses;

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
            status: None,
        })
        .collect();
    write_label(&calls, Some("/home/me/app"))
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
    let added = json!({"input": "*** Begin Patch\n*** Add File: b.rs\n+x\n*** End Patch"});
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
            (
                "TodoWrite",
                json!({"todos": [{"status": "in_progress", "content": "Port it"}]}),
                "",
                false,
            ),
            "Updated todos \"Port it\"",
        ),
        (
            (
                "update_plan",
                json!({"plan": [{"status": "completed", "step": "Read it"}, {"status": "in_progress", "step": "Port it"}]}),
                "",
                false,
            ),
            "Updated todos \"Port it\"",
        ),
        (
            (
                "TodoWrite",
                json!({"todos": [{"status": "completed", "content": "Port it"}]}),
                "",
                false,
            ),
            "Updated todos \"Port it\"",
        ),
        (
            ("update_plan", json!({"plan": "Port it"}), "", false),
            "Updated todos",
        ),
        (
            (
                "AskUserQuestion",
                json!({"questions": [{"question": "Which one?"}]}),
                "",
                false,
            ),
            "Asked user \"Which one?\"",
        ),
        (
            (
                "shell",
                json!({"command": ["powershell.exe", "-NoLogo", "-Command", "& .a/make.ps1 -Json x"]}),
                "",
                false,
            ),
            "Ran make.ps1",
        ),
        (("Bash", bash("ls -la /home/"), "x", false), "Ran ls home/"),
        (
            (
                "Bash",
                bash("conda run -n env python --version"),
                "x",
                false,
            ),
            "Ran python --version",
        ),
        (
            ("Bash", bash("ssh -T git@example.com"), "x", false),
            "Ran ssh git@example.com",
        ),
        (
            (
                "run_shell_command",
                bash("git remote -v"),
                "[Operation Cancelled] Reason: User denied execution.",
                true,
            ),
            "git remote declined",
        ),
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
            "Called create issue (tracker) \"x\"",
        ),
        (
            (
                "mcp__a__create_doc",
                json!({"book": "20251201113102-ctr4bco", "path": "/a b", "text": "a\nb"}),
                "{}",
                false,
            ),
            "Called create doc (a) \"a b\"",
        ),
        (
            ("mcp__a__copy", json!({"from": "x", "to": "y"}), "{}", false),
            "Called copy (a) \"x\"",
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
        (
            (
                "apply_patch",
                patch.clone(),
                r#"{"output":"boom","metadata":{"exit_code":1,"duration_seconds":0.0}}"#,
                false,
            ),
            "Deletion of a.rs failed",
        ),
        (
            (
                "apply_patch",
                patch.clone(),
                "Exit code: 1\nWall time: 0 seconds\nOutput:\nno",
                false,
            ),
            "Deletion of a.rs failed",
        ),
        (("apply_patch", patch, "ok", false), "Deleted a.rs"),
        (("apply_patch", added, "ok", false), "Wrote b.rs"),
        (
            (
                "apply_patch",
                json!({"input": "*** Begin Patch\n*** Delete File: a.rs\n*** Add File: b.rs\n+x\n*** End Patch"}),
                "ok",
                false,
            ),
            "Changed a.rs and b.rs",
        ),
        (
            (
                "Bash",
                json!({"command": "python3 -c 'x'", "description": "Count the \"books\""}),
                "3",
                false,
            ),
            "Ran python3 \"Count the 'books'\"",
        ),
        (
            (
                "Bash",
                json!({"command": "python3 -c 'x'", "description": "Count the books"}),
                "Exit code 1",
                true,
            ),
            "python3 \"Count the books\" failed",
        ),
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
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn a_batch_names_changes_first_and_all_failures() {
    let read = |name: &str| {
        let input = json!({"file_path": format!("/home/me/app/src/{name}.rs")});
        ("Read", input, "x", false)
    };
    let run = |command: &str| ("Bash", bash(command), "", false);
    let fail = |command: &str| ("Bash", bash(command), "Exit code 1", true);
    let agent = |task: &str| ("Task", json!({"description": task}), "x", false);
    let mcp = |tool: &str, query: &str| match tool {
        "search" => ("mcp__a__search", json!({"query": query}), "x", false),
        "create_doc" => ("mcp__a__create_doc", json!({"title": query}), "x", false),
        _ => ("mcp__a__list_memories", json!({"of": query}), "x", false),
    };
    let names: Vec<String> = (0..70).map(|number| format!("f{number}")).collect();
    let mut many: Vec<_> = names.iter().map(|name| read(name)).collect();
    many.push(run("rm z"));
    let cancelled = "Cancelled: parallel tool call Bash errored";
    let rows = [
        (vec![], ""),
        (
            many,
            "Deleted z, read f0.rs, f1.rs, f2.rs, f3.rs and 66 more",
        ),
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
            "Cancelled",
        ),
        // What changes nothing does not lead, and what does not fit is counted call by call.
        (
            vec![read("a"), mcp("list_memories", "x"), mcp("create_doc", "y")],
            "Called list memories (a) and create doc (a), read a.rs",
        ),
        (
            vec![
                run("ls"),
                mcp("search", "x"),
                mcp("search", "y"),
                mcp("search", "z"),
            ],
            "Called search (a), ran ls",
        ),
        (
            vec![
                (
                    "WebSearch",
                    json!({"query": "how to flatten untagged enums with serde"}),
                    "x",
                    false,
                ),
                ("BashOutput", json!({}), "x", false),
                ("BashOutput", json!({}), "x", false),
                read("a"),
            ],
            "Searched web for \"how to flatten untagged…, 3 more steps",
        ),
        (
            vec![
                read("a"),
                fail("make && diff a b && npm run lint-of-everything"),
                read("b"),
            ],
            "make or diff a b or npm run… ended with status 1",
        ),
        (
            vec![
                fail("make a"),
                (
                    "Bash",
                    bash("x"),
                    "The user doesn't want to proceed with this tool use.",
                    true,
                ),
            ],
            "make a and x did not succeed",
        ),
    ];
    let labels = rows.map(|(calls, expected)| (label_of(&calls), expected));
    let wrong = labels
        .into_iter()
        .filter(|(label, expected)| label != expected);
    assert_eq!(wrong.collect::<Vec<_>>(), []);
    let many: Vec<_> = names.iter().map(|name| fail(name)).collect();
    assert_eq!(
        label_of(&many),
        "f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 60 more failed"
    );
    // What is not named is counted call by call.
    let ports = (1..5).map(|port| run(&format!("curl http://localhost:{port}/health")));
    let long = run("pytest tests/a_test_with_a_name_that_takes_the_room.py");
    let calls: Vec<_> = [long].into_iter().chain(ports).collect();
    assert_eq!(
        label_of(&calls),
        "Ran pytest a_test_with_a_name_that_takes_th….py and 4 more"
    );
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
