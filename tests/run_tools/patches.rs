//! Calls of `apply_patch`, in the forms of Codex and of OpenAI's APIs.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{BYPASS, Bench, Run, call, pairs};

fn patch(lines: &[&str]) -> String {
    format!("*** Begin Patch\n{}\n*** End Patch\n", lines.join("\n"))
}

/// Runs one call in Anthropic's form.
fn apply_patch(bench: &Bench, arguments: &[&str], lines: &[&str]) -> Run {
    let calls = call("c", "apply_patch", &json!({"input": patch(lines)}));
    bench.run(arguments, calls)
}

fn is_ok(run: &Run) -> bool {
    run.outcomes() == pairs(&[("c", "ok")])
}

#[test]
fn a_patch_changes_moves_makes_and_removes_files() {
    let lines = [
        "*** Add File: new/one.txt",
        "+one",
        "+",
        "*** Update File: a.rs",
        "*** Move to: b.rs",
        "@@ fn two() {",
        "-    1",
        "+    2",
        " }",
        "*** Update File: dos.txt",
        "@@",
        " first",
        "-second",
        "+2nd",
        "+3rd",
        "*** Delete File: gone",
    ];
    let input = patch(&lines);
    let custom =
        json!({"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": input});
    let arguments = json!({"input": input}).to_string();
    let function = json!({"type": "function_call", "call_id": "c", "name": "apply_patch", "arguments": arguments});
    let chat = json!({"id": "c", "type": "function", "function": {"name": "apply_patch", "arguments": arguments}});
    let chat = json!({"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "tool_calls": [chat]}}]});
    let responses = |item: Value| json!({"object": "response", "output": [item]}).to_string();
    for reply in [responses(custom), responses(function), chat.to_string()] {
        let bench = Bench::new();
        bench.write("a.rs", "fn one() {\n    1\n}\nfn two() {\n    1\n}\n");
        bench.write("dos.txt", "first\r\nsecond\r\nthird\r\n");
        bench.write("gone", "x");
        let run = bench.run(&[&BYPASS[..], &["--no-echo"]].concat(), reply.as_str());
        let content = run.content("c");
        assert!(content.starts_with("Success."), "{reply} {content}");
        assert_eq!(bench.read("new/one.txt"), "one\n\n");
        assert_eq!(
            bench.read("b.rs"),
            "fn one() {\n    1\n}\nfn two() {\n    2\n}\n"
        );
        assert_eq!(bench.read("dos.txt"), "first\r\n2nd\r\n3rd\r\nthird\r\n");
        for name in ["a.rs", "gone"] {
            assert!(!bench.work().join(name).exists(), "{name}");
        }
    }
}

#[test]
fn nothing_changes_if_a_part_of_a_patch_does_not_apply() {
    let add = ["*** Add File: new", "+x"];
    for (rest, expected) in [
        (
            &["*** Update File: a", "@@", "-gone", "+here"][..],
            "A hunk does not apply",
        ),
        (
            &["*** Update File: a", "*** Move to: b", "@@", "-one", "+1"],
            "exists already",
        ),
        (&["*** Add File: a", "+x"], "exists already"),
        (&["*** Add File: ./new", "+y"], "names a file twice"),
        (&["*** Delete File: missing"], "does not exist"),
        (&["*** Rename File: a"], "invalid line"),
    ] {
        let bench = Bench::new();
        bench.write("a", "one\n");
        bench.write("b", "two\n");
        let run = apply_patch(&bench, &BYPASS, &[&add[..], rest].concat());
        assert!(run.content("c").contains(expected), "{run:?}");
        assert_eq!(
            (bench.read("a"), bench.read("b")),
            ("one\n".to_owned(), "two\n".to_owned())
        );
        assert!(!bench.work().join("new").exists(), "{rest:?}");
    }
    let bench = Bench::new();
    let cut = json!({"input": "*** Begin Patch\n*** Add File: new\n+x\n"});
    let run = bench.run(&BYPASS, call("c", "apply_patch", &cut));
    assert!(run.content("c").contains("invalid line"), "{run:?}");
}

#[test]
fn every_path_of_a_patch_is_judged() {
    let update = ["*** Update File: a", "@@", "-one", "+1"];
    let rules = ["--allow", "Edit", "--deny", "Edit(secret/**)"];
    for rest in [
        &["*** Add File: secret/new", "+x"][..],
        &[
            "*** Update File: b",
            "*** Move to: secret/b",
            "@@",
            "-two",
            "+2",
        ],
        &[
            "*** Update File: secret/c",
            "*** Move to: c",
            "@@",
            "-three",
            "+3",
        ],
        &["*** Delete File: secret/c"],
        &["*** Delete File: link/c"],
    ] {
        let bench = Bench::new();
        bench.write("a", "one\n");
        bench.write("b", "two\n");
        bench.write("secret/c", "three\n");
        std::os::unix::fs::symlink("secret", bench.work().join("link")).unwrap();
        let run = apply_patch(&bench, &rules, &[&update[..], rest].concat());
        assert_eq!(
            run.outcomes(),
            pairs(&[("c", "denied")]),
            "{rest:?} {run:?}"
        );
        assert_eq!(bench.read("a"), "one\n");
        assert_eq!(
            fs::read_dir(bench.work().join("secret")).unwrap().count(),
            1
        );
        // The same rules allow the other file.
        assert!(is_ok(&apply_patch(&bench, &rules, &update)));
        assert_eq!(bench.read("a"), "1\n");
    }
}
