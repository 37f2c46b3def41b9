//! The keys in the environment of `run-tools` itself, which no tool, command, hook or server sees.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::bench::{BYPASS, Bench, Driver, Run, bash, call, pairs};
use crate::skip::sample;

/// Unlike the key of any other process.
fn key() -> String {
    format!("sk-ant-test-{}-a1B2c3D4", std::process::id())
}

/// Returns `run-tools` with the key in its environment only.
fn run_with_key(bench: &Bench, arguments: &[&str], calls: impl AsRef<str>) -> Run {
    let mut command = bench.run_tools(arguments);
    command
        .env("ANTHROPIC_API_KEY", key())
        .env("GITHUB_TOKEN", "ghp_x");
    let mut driver = Driver::start(command);
    driver.send(calls.as_ref());
    driver.finish()
}

/// Returns a script that names each process whose environment has the key, by any path.
fn search() -> String {
    let key = key();
    let (start, end) = key.split_at(8);
    // The arguments of the search must not look like a process with the key.
    format!(
        "k={start}; for f in /proc/$PPID/environ /proc/$PPID/task/*/environ /proc/[0-9]*/environ; do \
         if grep -saqF \"${{k}}{end}\" $f 2>/dev/null; then echo $f; fi; done; echo end"
    )
}

#[cfg(target_os = "linux")]
#[test]
fn no_file_tool_opens_the_files_of_a_process() {
    let bench = Bench::new();
    for (target, link) in [
        ("/proc/self/environ", "environ"),
        ("/proc/self", "own"),
        ("/proc", "all"),
    ] {
        symlink(target, bench.work().join(link)).unwrap();
    }
    let places = [
        "/proc/self",
        "/proc/thread-self",
        "/dev/../proc/self",
        "own",
        "all/self",
    ];
    let mut paths: Vec<String> = Vec::new();
    for entry in std::fs::read_dir("/proc/self").unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        paths.extend(places.iter().map(|place| format!("{place}/{name}")));
    }
    // Each file, in some of the places.
    let mut paths = sample(paths, 4, |_| ());
    let more = [
        "environ",
        "own",
        "all",
        "/proc",
        "/proc/self",
        "/proc/self/cwd/x",
        "/proc/self/fd/0",
        "/proc/self/task/../environ",
        "/proc/1/environ",
        "/proc/self/root/proc/self/environ",
        "/dev/fd",
        "/dev/fd/0",
        "/dev/stdin",
        "/proc/kcore",
        "/proc/kmsg",
    ];
    paths.extend(more.map(str::to_owned));
    let mut calls = String::new();
    let mut ids = 0..;
    let mut add = |tool: &str, input: &Value| {
        calls += &call(&ids.next().unwrap().to_string(), tool, input);
    };
    for path in &paths {
        // A pattern that every file of a process matches which is not empty.
        for mode in ["count", "content"] {
            add(
                "Grep",
                &json!({"pattern": ".", "path": path, "output_mode": mode}),
            );
        }
        add("Read", &json!({"file_path": path}));
        add("LS", &json!({"path": path}));
        add("Glob", &json!({"pattern": "**/*", "path": path}));
        add("Glob", &json!({"pattern": format!("{path}/*")}));
        add("Write", &json!({"file_path": path, "content": "x"}));
        add(
            "Edit",
            &json!({"file_path": path, "old_string": "a", "new_string": "b"}),
        );
    }
    for arguments in [&["--permission-mode", "plan"][..], &BYPASS] {
        let run = run_with_key(&bench, arguments, &calls);
        assert_eq!(run.outcomes().len(), paths.len() * 8);
        for record in run.records() {
            let Some(outcome) = record["turnpipe"]["outcome"].as_str() else {
                continue;
            };
            assert!(["error", "denied"].contains(&outcome), "{record}");
            assert_eq!(
                record["message"]["content"][0]["is_error"], true,
                "{record}"
            );
        }
        assert!(!run.stdout.contains(&key()));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn files_about_the_machine_are_read() {
    let bench = Bench::new();
    symlink("/proc/meminfo", bench.work().join("memory")).unwrap();
    let calls = [
        call("a", "Read", &json!({"file_path": "/proc/cpuinfo"})),
        call(
            "b",
            "Grep",
            &json!({"pattern": "^MemTotal", "path": "memory"}),
        ),
    ];
    let run = run_with_key(&bench, &[], calls.concat());
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "ok"), ("b", "ok")]),
        "{run:?}"
    );
}

#[test]
fn commands_do_not_find_the_key() {
    let bench = Bench::new();
    let file = bench.write("search", search());
    let manifest = bench.write(
        "tools.toml",
        format!(
            "[[tool]]\nname = \"Search\"\ndescription = \"d\"\naccess = \"read-only\"\n\
             command = [\"bash\", \"{}\"]\ninput_schema = {{ type = \"object\" }}\n",
            file.display()
        ),
    );
    let tools = ["--tools", manifest.to_str().unwrap()];
    let calls = [bash("a", &search()), call("b", "Search", &json!({}))].concat();
    for arguments in [&BYPASS[..], &["--assume-read-only"]] {
        let run = run_with_key(&bench, &[arguments, &tools].concat(), &calls);
        assert_eq!(
            (&*run.content("a"), &*run.content("b")),
            ("end", "end"),
            "{run:?}"
        );
    }
}

#[test]
fn hooks_get_no_secrets_that_are_not_meant_for_them() {
    let bench = Bench::new();
    let script = format!("({}; printenv GITHUB_TOKEN HOOK_TOKEN) > found", search());
    let hook = format!("bash {}", bench.write("hook", script).display());
    let settings = json!({
        "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": hook}]}]},
        "env": {"HOOK_TOKEN": "for hooks"},
    });
    let settings = bench.write("settings.json", settings.to_string());
    for (arguments, found) in [
        (&[][..], "end\nfor hooks\n"),
        (&["--env", "GITHUB_TOKEN"], "end\nghp_x\nfor hooks\n"),
    ] {
        let settings = ["--settings", settings.to_str().unwrap()];
        let arguments = [&settings, arguments].concat();
        let run = run_with_key(&bench, &arguments, bash("a", "echo x"));
        assert_eq!(run.content("a"), "x", "{run:?}");
        assert_eq!(bench.read("found"), found);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_of_the_process_cannot_be_read() {
    let bench = Bench::new();
    let script = "cat /proc/$PPID/maps /proc/$PPID/task/*/maps 2>/dev/null; echo end";
    let in_lane = run_with_key(&bench, &["--assume-read-only"], bash("a", script));
    assert_eq!(in_lane.content("a"), "end", "{in_lane:?}");
    // Root may look at every process, except in the lane.
    if !rustix::process::geteuid().is_root() {
        let run = run_with_key(&bench, &BYPASS, bash("a", script));
        assert_eq!(run.content("a"), "end", "{run:?}");
    }
}

#[test]
fn variables_are_read_as_before() {
    let bench = Bench::new();
    let mut command = bench.run_tools(&[]);
    command.env("EMPTY", "").env("SOME", "a=b c\n");
    let mut driver = Driver::start(command);
    driver.send(&bash("a", "printf '%s|' \"${EMPTY-unset}\" \"$SOME\""));
    let run = driver.finish();
    assert_eq!(run.content("a"), "|a=b c\n|", "{run:?}");
}
