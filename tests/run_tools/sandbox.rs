//! Deny rules about files, which the kernel enforces on the commands of a run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::bench::{BYPASS, Bench, Driver, bash, call, pairs};
use crate::skip::{is_missing, skip};

const DENIED: [&str; 4] = ["--deny", "Read(**/.env)", "--deny", "Edit(locked)"];

/// Returns a bench with files that rules name; `None` if this machine has no namespaces.
fn bench() -> Option<Bench> {
    let bench = Bench::new();
    bench.write(".env", "KEY=verysecret");
    bench.write("locked", "original");
    fs::hard_link(bench.work().join(".env"), bench.work().join("innocent")).unwrap();
    let run = bench.run(&[&BYPASS[..], &DENIED].concat(), bash("a", "echo > free"));
    if run.result("a")["turnpipe"]["sandbox"]["file_rules"].is_null() {
        assert!(run.stderr.contains("not enforced by the kernel"), "{run:?}");
        skip("mount namespaces");
        return None;
    }
    Some(bench)
}

/// Returns a script that runs another one, which the rules cannot see in its text.
fn write_hidden_script(bench: &Bench, name: &str, script: &str) -> String {
    let path = bench.write(name, format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("./{name}")
}

#[test]
fn no_command_reads_or_changes_the_files_of_deny_rules() {
    let Some(bench) = bench() else { return };
    let read = write_hidden_script(&bench, "read", "cat .env innocent");
    let change = write_hidden_script(
        &bench,
        "change",
        "echo changed > locked; rm locked; mv locked x",
    );
    let calls = [
        bash("parallel", "cat innocent"),
        bash("serial", &format!("{read} > copy")),
        bash("change", &change),
    ];
    let arguments = [&BYPASS[..], &DENIED, &["--on-error", "continue"]].concat();
    for call in calls {
        let run = bench.run(&arguments, call);
        assert!(!run.stdout.contains("verysecret"), "{run:?}");
        let (id, outcome) = &run.outcomes()[0];
        assert_eq!(outcome, "error", "{run:?}");
        let report = &run.result(id)["turnpipe"]["sandbox"]["file_rules"];
        assert_eq!(
            *report,
            json!({"isolates_calls": true, "looks_denied": true})
        );
        assert!(
            run.content(id).contains("The sandbox may be the cause"),
            "{run:?}"
        );
    }
    assert_eq!(bench.read("copy"), "");
    assert_eq!(bench.read("locked"), "original");
}

#[test]
fn other_files_are_as_without_rules() {
    let Some(bench) = bench() else { return };
    let calls = [
        bash("a", "echo new > made && mv made moved && cat moved; exit 3"),
        bash("b", "cd / && pwd"),
        bash("c", "sleep 1000 & kill $!; wait $!; echo $?"),
    ];
    let arguments = [&BYPASS[..], &DENIED, &["--on-error", "continue"]].concat();
    let run = bench.run(&arguments, calls.concat());
    assert!(run.content("a").starts_with("Exit code 3"), "{run:?}");
    assert_eq!(bench.read("moved"), "new\n");
    assert_eq!(run.content("c"), "143", "{run:?}");
}

#[test]
fn a_file_that_was_replaced_outside_is_masked_again() {
    let Some(bench) = bench() else { return };
    let read = write_hidden_script(&bench, "read", "cat .env sub*/.env; exit 0");
    let mut driver: Driver = bench.start_driver(&[&BYPASS[..], &DENIED].concat());
    for number in 0..3 {
        bench.write("replacement", format!("KEY=verysecret{number}"));
        fs::rename(bench.work().join("replacement"), bench.work().join(".env")).unwrap();
        bench.write(&format!("sub{number}/.env"), "KEY=verysecret");
        let id = number.to_string();
        let script = format!("{read} 2>&1; touch x{number}");
        driver.send(&bash(&id, &script));
        let result = driver.result(&id);
        assert!(!result.to_string().contains("verysecret"), "{result}");
        assert!(result.to_string().contains("Permission denied"), "{result}");
    }
    // Only its effects matter.
    let _ = driver.finish();
}

#[test]
fn calls_at_the_same_time_do_not_reach_each_other() {
    let Some(bench) = bench() else { return };
    let forge = "for i in 1 2 3; do for p in /proc/[0-9]*; do [ $p = /proc/$$ ] || \
        { echo forged > $p/fd/1; cat $p/environ $p/cwd/.env; } 2>/dev/null; done; sleep 0.1; done; echo end";
    let calls = [
        bash("a", "MINE=mine sleep 0.5; echo real"),
        bash("b", forge),
        bash("c", "MINE=mine sleep 0.5; echo real"),
    ];
    // Also in the lane without a sandbox.
    for rules in [&DENIED[..], &[]] {
        let further = ["--assume-read-only", "--no-echo"];
        let run = bench.run(&[&BYPASS[..], rules, &further].concat(), calls.concat());
        assert_eq!(run.content("a"), "real", "{run:?}");
        assert_eq!(run.content("c"), "real", "{run:?}");
        let found = run.content("b");
        assert!(!found.contains("MINE") && found.ends_with("end"), "{run:?}");
    }
}

#[test]
fn command_tools_and_servers_have_the_masks() {
    let Some(bench) = bench() else { return };
    let manifest = bench.write(
        "tools.toml",
        "[[tool]]\nname = 'peek'\ndescription = 'd'\ncommand = ['sh', '-c', 'cat innocent']\n",
    );
    let arguments = [
        &BYPASS[..],
        &DENIED,
        &["--tools", manifest.to_str().unwrap(), "--no-echo"],
    ]
    .concat();
    let run = bench.run(&arguments, call("a", "peek", &json!({})));
    assert!(
        !run.stdout.contains("verysecret") && run.content("a").contains("denied"),
        "{run:?}"
    );
    if is_missing("python3") {
        return;
    }
    let server = "import json,sys\nfor line in sys.stdin:\n    m = json.loads(line)\n    if 'id' not in m: continue\n    \
        r = {'initialize': {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 's', 'version': '1'}}, \
        'tools/list': {'tools': [{'name': 'peek', 'inputSchema': {'type': 'object'}}]}}.get(m['method'])\n    \
        if r is None:\n        try: t = open('innocent').read()\n        except OSError as e: t = str(e)\n        \
        r = {'content': [{'type': 'text', 'text': t}]}\n    print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': r}), flush=True)\n";
    bench.write("server.py", server);
    let servers = json!({"mcpServers": {"s": {"command": "python3", "args": ["server.py"]}}});
    let file = bench.write("servers.json", servers.to_string());
    let arguments = [
        &BYPASS[..],
        &DENIED,
        &["--mcp-config", file.to_str().unwrap(), "--no-echo"],
    ]
    .concat();
    let run = bench.run(&arguments, call("a", "mcp__s__peek", &json!({})));
    assert!(run.content("a").contains("Permission denied"), "{run:?}");
}

#[test]
fn the_sandbox_can_be_off_or_required() {
    let Some(bench) = bench() else { return };
    let read = write_hidden_script(&bench, "read", "cat innocent");
    let run = |arguments: &[&str]| {
        let all = [&BYPASS[..], &["--no-echo"], arguments].concat();
        bench.run(&all, bash("a", &format!("{read}; touch x")))
    };
    let off = run(&[&DENIED[..], &["--sandbox", "off"]].concat());
    assert!(off.content("a").contains("verysecret"), "{off:?}");
    assert_eq!(off.result("a")["turnpipe"]["sandbox"], Value::Null);
    // Without rules about files there is nothing to enforce.
    let none = run(&["--deny", "Bash(rm *)"]);
    assert_eq!(none.result("a")["turnpipe"]["sandbox"], Value::Null);
    let gap = ["--deny", "Read(//opt/**/*.key)"];
    let warned = run(&[&DENIED[..], &gap].concat());
    assert!(
        warned
            .stderr
            .contains("not enforced by the kernel: Read(//opt/**/*.key)"),
        "{warned:?}"
    );
    assert_eq!(warned.outcomes(), pairs(&[("a", "ok")]), "{warned:?}");
    let required = run(&[&DENIED[..], &gap, &["--sandbox-required"]].concat());
    assert_eq!(required.status, Some(2), "{required:?}");
}

#[test]
fn a_failure_names_the_masked_file() {
    let Some(bench) = Bench::with_program("git").and_then(|_| self::bench()) else {
        return;
    };
    let made = bench.shell(
        "git init -q . && git add .env && git -c user.name=a -c user.email=b@c commit -qm one",
    );
    assert_eq!(made.status, Some(0), "{made:?}");
    let arguments = [&BYPASS[..], &DENIED, &["--on-error", "continue"]].concat();
    let run = bench.run(
        &arguments,
        bash("a", "git -c user.name=a -c user.email=b@c commit -qam two"),
    );
    let named = format!(
        "Protected: {}",
        bench.work().canonicalize().unwrap().join(".env").display()
    );
    assert!(run.content("a").contains(&named), "{run:?}");
    let log = bench.shell("git log --format=%s -- .env");
    assert_eq!(log.stdout, "one\n");
}
