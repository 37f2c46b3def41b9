//! The effect of failed calls on their siblings, and permission.

use serde_json::json;

use crate::bench::{BYPASS, Bench, bash, call, pairs, turn};

#[test]
fn a_failing_shell_command_cancels_the_shell_commands_of_its_turn() {
    let bench = Bench::new();
    let file = bench.write("file", "text\n");
    let mut calls = turn(
        "m",
        &[
            ("a", "echo before"),
            ("b", "rmdir nowhere; echo broken >&2; exit 3"),
            ("c", "touch ran"),
        ],
    );
    calls += &turn("n", &[("d", "echo next turn")]);
    let read = json!({"type": "tool_use", "id": "r", "name": "Read", "input": {"file_path": file}});
    let third = r#"{"type":"tool_use","id":"c""#;
    let mixed = calls.replace(third, &format!("{read},{third}"));
    assert_ne!(mixed, calls, "the read call must be included");
    let run = bench.run(&BYPASS, mixed.clone());
    let expected = [
        ("a", "ok"),
        ("b", "error"),
        ("r", "ok"),
        ("c", "cancelled_sibling"),
        ("d", "ok"),
    ];
    assert_eq!(run.outcomes(), pairs(&expected), "{run:?}");
    assert!(!bench.work().join("ran").exists());
    let told = run.content("c");
    assert!(
        told.contains("Bash(rmdir nowhere; echo broken >&2; exit 3)"),
        "{told}"
    );
    assert!(
        told.contains("Exit code 3") && told.contains("broken"),
        "{told}"
    );

    let run = bench.run(
        &[&BYPASS[..], &["--on-error", "continue"]].concat(),
        mixed.clone(),
    );
    assert_eq!(run.outcomes()[3], ("c".to_owned(), "ok".to_owned()));

    let run = bench.run(
        &[&BYPASS[..], &["--on-error", "cancel-all"]].concat(),
        mixed,
    );
    let expected = [
        ("a", "ok"),
        ("b", "error"),
        ("r", "cancelled_sibling"),
        ("c", "cancelled_sibling"),
        ("d", "ok"),
    ];
    assert_eq!(run.outcomes(), pairs(&expected));
}

#[test]
fn exit_1_of_a_search_is_not_a_failure() {
    let bench = Bench::new();
    bench.write("file", "text\n");
    let run = bench.run(
        &BYPASS,
        turn("m", &[("a", "grep nothing file"), ("b", "echo b")]),
    );
    assert_eq!(run.outcomes(), pairs(&[("a", "ok"), ("b", "ok")]));
}

#[test]
fn without_permission_only_reading_calls_run() {
    let bench = Bench::new();
    let file = bench.write("file", "text\n");
    let input = [
        bash("a", "touch ran"),
        call("b", "Read", &json!({"file_path": file})),
        call(
            "c",
            "Write",
            &json!({"file_path": bench.work().join("new"), "content": "x"}),
        ),
    ]
    .concat();
    let run = bench.run(&[], input.clone());
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "denied"), ("b", "ok"), ("c", "denied")])
    );
    assert_eq!(run.status, Some(0));
    assert!(
        run.stderr
            .contains("`--allow 'Bash(touch ran)'` would allow it"),
        "{run:?}"
    );
    assert_eq!(
        run.result("a")["turnpipe"]["permission"]["decision"],
        "deny"
    );
    assert!(!bench.work().join("ran").exists() && !bench.work().join("new").exists());
    assert_eq!(bench.run(&["--exit-status"], input).status, Some(1));
}

#[test]
fn tools_only_excludes_other_tools() {
    let bench = Bench::new();
    let file = bench.write("file", "text\n");
    let input = [
        bash("a", "touch ran"),
        call("b", "Read", &json!({"file_path": file})),
    ]
    .concat();
    let run = bench.run(
        &[&BYPASS[..], &["--tools-only", "Read,Grep"]].concat(),
        input,
    );
    assert_eq!(run.outcomes(), pairs(&[("a", "not_run"), ("b", "ok")]));
    assert!(!bench.work().join("ran").exists());
}

#[test]
fn unusable_calls_get_a_result_each() {
    let bench = Bench::new();
    let input = [
        call("a", "Nope", &json!({})),
        call("b", "Bash", &json!({"comand": "ls"})),
        call("c", "Read", &json!({"file_path": 3})),
        call("d", "Bash", &json!({"command": "ls", "run_in_background": true})),
        "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"e\",\"name\":\"Bash\",\"input\":[1]}]}}\n".to_owned(),
    ]
    .concat();
    let run = bench.run(&BYPASS, input);
    let expected = [
        ("a", "unknown_tool"),
        ("b", "invalid_input"),
        ("c", "invalid_input"),
        ("d", "invalid_input"),
        ("e", "invalid_input"),
    ];
    assert_eq!(run.outcomes(), pairs(&expected), "{run:?}");
    assert!(run.content("a").contains("No such tool available: Nope"));
    assert!(
        run.content("b")
            .contains("The required parameter `command` is missing")
    );
    assert!(
        run.content("b")
            .contains("An unexpected parameter `comand` was provided")
    );
    assert!(
        run.content("c")
            .contains("expected as `string` but provided as `number`")
    );
    assert_eq!(run.status, Some(0));
}

#[test]
fn edits_of_different_files_run_concurrently_by_access() {
    let bench = Bench::new();
    let manifest = bench.write(
        "tools.toml",
        r#"
[[tool]]
name = "Touch"
description = "Writes a file and waits until another one is there."
input_schema = { type = "object", properties = { mine = { type = "string" }, theirs = { type = "string" } }, required = ["mine", "theirs"] }
command = ["sh", "-c", "touch \"$1\"; until [ -e \"$2\" ]; do sleep 0.01; done", "touch", "{mine}", "{theirs}"]
access = { reads = [], writes = ["{mine}"] }
"#,
    );
    let input = [
        call("a", "Touch", &json!({"mine": "x", "theirs": "y"})),
        call("b", "Touch", &json!({"mine": "y", "theirs": "x"})),
    ]
    .concat();
    let tools = [
        "--tools",
        manifest.to_str().unwrap(),
        "--schedule",
        "access",
    ];
    let run = bench.run(&[&BYPASS[..], &tools].concat(), input);
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "ok"), ("b", "ok")]),
        "{run:?}"
    );
}

#[test]
fn a_deferred_tool_of_a_manifest_is_found_by_search() {
    let bench = Bench::new();
    bench.write(
        "tools.toml",
        r#"
[[tool]]
name = "Slow"
description = "prints a list"
command = ["echo", "{what}"]
deferred = true
input_schema = { type = "object", properties = { what = { type = "array" } }, required = ["what"] }

[[tool]]
name = "Quick"
description = "prints nothing"
command = ["true"]
"#,
    );
    let search = |id: &str, query: &str| call(id, "ToolSearch", &json!({ "query": query }));
    let input = call("wrong", "Slow", &json!({"what": 1}))
        + &search("exact", "select:Slow,Quick,Read")
        + &search("words", "PRINTS")
        + &call("right", "Slow", &json!({"what": [1]}));
    let run = bench.run(&[&BYPASS[..], &["--tools", "tools.toml"]].concat(), input);
    let hint = "Load them with ToolSearch (query `select:Slow`)";
    assert!(run.content("wrong").contains(hint), "{run:?}");
    for id in ["exact", "words"] {
        let declared: serde_json::Value = serde_json::from_str(&run.content(id)).unwrap();
        assert_eq!(declared["name"], "Slow", "{run:?}");
        assert_eq!(declared["input_schema"]["required"][0], "what");
    }
    assert_eq!(run.content("right"), "[1]");

    let names = |arguments: &str, pointer: &str| {
        let run = bench.shell(&format!("turnpipe tools --json {arguments}"));
        let tools = run.records().remove(0);
        let tools = tools.as_array().unwrap().iter();
        let names = tools.map(|tool| tool.pointer(pointer).unwrap().as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let offered = names("--tools tools.toml --format openai", "/function/name");
    assert!(
        offered.ends_with(&["Quick".to_owned(), "ToolSearch".to_owned()]),
        "{offered:?}"
    );
    let without = names("--format openai", "/function/name");
    assert!(!without.contains(&"ToolSearch".to_owned()));
    let none = bench.run(&BYPASS, search("a", "x"));
    assert_eq!(none.outcomes(), pairs(&[("a", "unknown_tool")]), "{none:?}");
}

#[test]
fn the_working_directory_changes_for_later_calls() {
    let bench = Bench::new();
    bench.write("sub/file", "text\n");
    let run = bench.run(
        &BYPASS,
        turn(
            "m",
            &[
                ("a", "cd sub"),
                ("b", "cat file"),
                ("c", "cd /"),
                ("d", "pwd"),
            ],
        ),
    );
    assert_eq!(run.content("b"), "text");
    assert!(
        run.content("c").contains("Shell cwd was reset to"),
        "{}",
        run.content("c")
    );
    assert_eq!(
        run.content("d"),
        bench.work().canonicalize().unwrap().to_str().unwrap()
    );
}

#[test]
fn a_plan_shows_the_batches_and_runs_nothing() {
    let bench = Bench::new();
    let file = bench.write("file", "text\n");
    let read = |id: &str| call(id, "Read", &json!({"file_path": file}));
    let input = [
        read("a"),
        read("b"),
        bash("c", "touch ran"),
        read("d"),
        call("e", "Nope", &json!({})),
    ]
    .concat();
    let run = bench.run(&["--plan"], input.clone());
    let plans: Vec<_> = run
        .records()
        .into_iter()
        .filter(|record| record["subtype"] == "plan")
        .map(|record| (record["lane"].clone(), record["tool_use_ids"].clone()))
        .collect();
    let expected = [
        (json!("parallel"), json!(["a", "b"])),
        (json!("serial"), json!(["c"])),
        (json!("parallel"), json!(["d"])),
        (json!("serial"), json!(["e"])),
    ];
    assert_eq!(plans, expected);
    assert!(!bench.work().join("ran").exists());
    assert!(run.stdout.starts_with(&input));
}

/// Returns the plan of each call: the lane of its batch, its id, and its outcome if it would not
/// run.
fn plan(bench: &Bench, arguments: &[&str], input: &str) -> Vec<(String, String, String)> {
    let run = bench.run(&[&["--plan"], arguments].concat(), input);
    let mut calls = Vec::new();
    for record in run.records() {
        for call in record["calls"].as_array().into_iter().flatten() {
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            let lane = format!("{} {}", text(&record["lane"]), record["batch"]);
            calls.push((lane, text(&call["tool_use_id"]), text(&call["outcome"])));
        }
    }
    calls
}

#[test]
fn a_plan_shows_what_would_happen() {
    let bench = Bench::new();
    let edit = |id: &str, file: &str| {
        call(
            id,
            "Write",
            &json!({"file_path": bench.work().join(file), "content": "x"}),
        )
    };
    let answer = json!({"type": "tool_result", "tool_use_id": "answered", "content": "x"});
    let cut = json!({"role": "assistant", "stop_reason": "max_tokens", "content": [
        {"type": "tool_use", "id": "cut", "name": "Bash", "input": {}}]});
    let input = [
        bash("answered", "true"),
        format!("{answer}\n"),
        edit("a", "a"),
        edit("b", "b"),
        bash("excluded", "true"),
        format!("{cut}\n"),
    ]
    .concat();
    let rows = |rows: &[(&str, &str, &str)]| -> Vec<_> {
        let row = |(lane, id, outcome): &(&str, &str, &str)| {
            ((*lane).to_owned(), (*id).to_owned(), (*outcome).to_owned())
        };
        rows.iter().map(row).collect()
    };
    let only = ["--tools-only", "Write"];
    assert_eq!(
        plan(&bench, &only, &input),
        rows(&[
            ("serial 0", "a", "denied"),
            ("serial 1", "b", "denied"),
            ("serial 2", "excluded", "not_run"),
            ("serial 0", "cut", "invalid_input"),
        ])
    );
    let by_file = [&BYPASS[..], &only, &["--schedule", "access"]].concat();
    assert_eq!(
        plan(&bench, &by_file, &input),
        rows(&[
            ("parallel 0", "a", ""),
            ("parallel 0", "b", ""),
            ("serial 1", "excluded", "not_run"),
            ("serial 0", "cut", "invalid_input"),
        ])
    );
}

#[test]
fn tools_only_takes_names_of_tools() {
    let bench = Bench::new();
    let run = bench.run(&["--tools-only", "Nope"], bash("a", "true"));
    assert_eq!(run.status, Some(2));
    assert!(
        run.stderr
            .contains("--tools-only: No such tool available: Nope"),
        "{}",
        run.stderr
    );
    let alias = bench.run(&["--tools-only", "run_shell_command"], bash("a", "true"));
    assert_eq!(alias.outcomes(), pairs(&[("a", "ok")]), "{alias:?}");
}

#[test]
fn searches_do_not_show_denied_files() {
    let bench = Bench::new();
    for (name, text) in [
        ("src/a.txt", "needle open\n"),
        ("src/secrets/b.txt", "needle hidden\n"),
        ("src/.env", "needle=key\n"),
        ("elsewhere/c.txt", "needle\n"),
    ] {
        std::fs::create_dir_all(bench.work().join(name).parent().unwrap()).unwrap();
        bench.write(name, text);
    }
    std::os::unix::fs::symlink("secrets/b.txt", bench.work().join("src/link.txt")).unwrap();
    let calls = [
        call(
            "grep",
            "Grep",
            &json!({"pattern": "needle", "output_mode": "content"}),
        ),
        call(
            "below",
            "Grep",
            &json!({"pattern": "needle", "path": "src"}),
        ),
        call("glob", "Glob", &json!({"pattern": "**/*"})),
    ];
    let shown = |arguments: &[&str]| {
        let run = bench.run(arguments, calls.join("\n"));
        ["grep", "below", "glob"].map(|id| run.content(id))
    };
    let denied = shown(&["--deny", "Read(.env)", "--deny", "Read(**/secrets/**)"]);
    for text in &denied {
        assert!(text.contains("a.txt"), "{text}");
        for hidden in ["secrets", ".env", "hidden", "link.txt"] {
            assert!(!text.contains(hidden), "{hidden}: {text}");
        }
    }
    assert!(denied[0].contains("elsewhere"), "{}", denied[0]);
    let all = shown(&["--deny", "Read(elsewhere)"]);
    assert!(
        all[0].contains("hidden") && all[0].contains(".env"),
        "{}",
        all[0]
    );
    assert!(
        all[2].contains("link.txt") && !all[2].contains("elsewhere"),
        "{}",
        all[2]
    );
}

#[test]
fn restrictions_of_a_settings_file_count_or_stop_the_run() {
    let bench = Bench::new();
    let settings = |permissions: &serde_json::Value| {
        let text = json!({ "permissions": permissions }).to_string();
        let file = bench.write("settings.json", text);
        ["--settings".to_owned(), file.to_str().unwrap().to_owned()]
    };
    let elsewhere = bench.work().parent().unwrap().join("outside.txt");
    let calls = call(
        "a",
        "Write",
        &json!({"file_path": elsewhere, "content": "x"}),
    ) + &call(
        "b",
        "Write",
        &json!({"file_path": bench.work().join("inside.txt"), "content": "x"}),
    );
    let known =
        json!({"blockWritesOutsideWorkingDirectories": true, "denyInsteadOfPrompting": true});
    let file = settings(&known);
    let file: Vec<&str> = file.iter().map(String::as_str).collect();
    let run = bench.run(&[&BYPASS[..], &file].concat(), calls.clone());
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "denied"), ("b", "ok")]),
        "{run:?}"
    );
    assert!(
        run.content("a")
            .contains("`blockWritesOutsideWorkingDirectories` of"),
        "{run:?}"
    );
    assert!(!elsewhere.exists());
    // The controlling program is not asked either.
    let asked = bench.run(
        &[&file[..], &["--permission-prompt", "stdio"]].concat(),
        calls.clone(),
    );
    assert_eq!(
        asked.outcomes(),
        pairs(&[("a", "denied"), ("b", "denied")]),
        "{asked:?}"
    );
    assert!(!asked.stdout.contains("can_use_tool"), "{asked:?}");

    let file = settings(&json!({"blockWritesEverywhere": true}));
    let file: Vec<&str> = file.iter().map(String::as_str).collect();
    let stopped = bench.run(&[&BYPASS[..], &file].concat(), calls.clone());
    assert_eq!(
        (stopped.status, &*stopped.stdout),
        (Some(2), ""),
        "{stopped:?}"
    );
    assert!(
        stopped
            .stderr
            .contains("settings.json: unknown setting `permissions.blockWritesEverywhere`"),
        "{stopped:?}"
    );
    assert!(
        stopped.stderr.contains("hint: `--ignore-unknown-settings`"),
        "{stopped:?}"
    );
    let ignoring = [&BYPASS[..], &file, &["--ignore-unknown-settings"]].concat();
    let ran = bench.run(&ignoring, calls);
    assert!(ran.stderr.contains("ignored `permissions"), "{ran:?}");
}

/// Rules see the tool that runs, whatever the call names it.
#[test]
fn another_name_of_a_tool_evades_no_rule() {
    let bench = Bench::new();
    bench.write("secret", "s\n");
    let rules = [
        "--deny",
        "Bash(touch *)",
        "--deny",
        "Read(secret)",
        "--deny",
        "Write",
        "--deny",
        "Edit",
    ];
    let arguments = [&BYPASS[..], &rules].concat();
    let touch = json!({"command": "touch ran"});
    let edit = json!({"filePath": "secret", "oldString": "s", "newString": "t"});
    let rows = [
        ("bash", touch.clone()),
        ("BASH", touch.clone()),
        ("functions.bash", touch.clone()),
        ("run_shell_command", touch),
        ("shell", json!({"command": ["touch", "ran"]})),
        ("read", json!({"filePath": "secret"})),
        ("READ", json!({"path": "secret"})),
        ("view", json!({"path": "secret"})),
        ("write", json!({"filePath": "ran", "content": ""})),
        ("create", json!({"path": "ran", "file_text": ""})),
        ("edit", edit.clone()),
        ("EDIT", edit),
    ];
    for (name, input) in rows {
        let run = bench.run(&arguments, call("a", name, &input));
        assert_eq!(run.outcomes(), pairs(&[("a", "denied")]), "{name}: {run:?}");
    }
    assert!(!bench.work().join("ran").exists());
    assert_eq!(bench.read("secret"), "s\n");
    let run = bench.run(&BYPASS, call("a", "read", &json!({"filePath": "secret"})));
    assert_eq!(run.content("a"), "     1\ts\n".trim_end());
}
