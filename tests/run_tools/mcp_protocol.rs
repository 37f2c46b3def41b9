//! MCP servers: revisions of the protocol, resources, and progress.

use serde_json::{Value, json};

use crate::bench::{BYPASS, Bench, Run, call, pairs};
use crate::mcp::{command, finish, scripted_server, server_starts, tool};

/// Returns a run with one scripted server `s`, started with these words.
fn run(bench: &Bench, words: &[&str], calls: &str) -> Run {
    let servers = json!({"s": scripted_server("log", words)});
    finish(command(bench, &servers, &[]), &[], calls)
}

fn read(id: &str, server: &str, uri: &str) -> String {
    let input = json!({"server": server, "uri": uri});
    call(id, "ReadMcpResourceTool", &input)
}

fn list(id: &str, input: &Value) -> String {
    call(id, "ListMcpResourcesTool", input)
}

#[test]
fn servers_of_every_revision_are_used() {
    // A server that exits when it is asked for the newest revision is started again.
    for (words, started, methods) in [
        (&["stateless"][..], 1, "server/discover tools/list"),
        (&[], 1, "server/discover initialize"),
        (&["strict"], 2, "server/discover initialize"),
    ] {
        let Some(bench) = Bench::with_program("python3") else {
            return;
        };
        let run = run(&bench, words, &tool("a", "echo"));
        assert_eq!(run.content("a"), "echo: a", "{words:?} {run:?}");
        assert_eq!(server_starts(&bench), (started, false), "{words:?}");
        let log = bench.read("log");
        let asked = log
            .lines()
            .filter(|line| line.contains('/') || *line == "initialize");
        let asked: Vec<&str> = asked.take(2).collect();
        assert_eq!(asked.join(" "), methods, "{words:?}");
    }
}

#[test]
fn changes_of_tools_are_heard_without_a_handshake() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"s": scripted_server("log", &["stateless"])});
    let mut driver = crate::bench::Driver::start(command(&bench, &servers, &[]));
    driver.send(&tool("a", "echo"));
    assert_eq!(driver.result("a")["turnpipe"]["outcome"], "ok");
    crate::bench::wait_for("the subscription", || {
        bench.read("log").contains("acknowledged")
    });
    driver.send(&tool("b", "grow"));
    assert_eq!(driver.result("b")["turnpipe"]["outcome"], "ok");
    driver.send(&tool("c", "grown"));
    let run = driver.finish();
    assert_eq!(run.content("c"), "did grown", "{run:?}");
}

#[test]
fn resources_are_listed_and_read() {
    for words in [&["resources"][..], &["resources", "stateless"]] {
        let Some(bench) = Bench::with_program("python3") else {
            return;
        };
        let calls = [
            list("all", &json!({"server": "s"})),
            read("text", "s", "note:///a"),
            read("image", "s", "note:///pixel"),
            read("missing", "s", "note:///b"),
            read("unknown", "x", "note:///a"),
        ];
        let run = run(&bench, words, &calls.concat());
        let listed = run.content("all");
        let lines: Vec<Value> = listed
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(
            lines[0],
            json!({"uri": "note:///a", "name": "a", "server": "s"})
        );
        assert_eq!(lines[2]["uriTemplate"], "note:///{name}");
        assert_eq!(run.content("text"), "[resource note:///a]\nthe note");
        let image = &run.result("image")["message"]["content"][0]["content"][0];
        assert_eq!(image["source"]["media_type"], "image/png");
        let errors = [
            ("missing", "MCP server s: no resource note:///b"),
            ("unknown", "unknown MCP server `x`; available: s"),
        ];
        for (id, error) in errors {
            assert!(run.content(id).contains(error), "{id}: {run:?}");
        }
        assert_eq!(run.result("text")["turnpipe"]["lane"], "parallel");
    }
}

#[test]
fn only_malformed_items_of_a_list_are_left_out() {
    for words in [
        &["resources", "malformed"][..],
        &["resources", "malformed", "stateless"],
    ] {
        let Some(bench) = Bench::with_program("python3") else {
            return;
        };
        let calls = [
            tool("first", "echo"),
            tool("loose", "loose"),
            tool("last", "long"),
            tool("bad", "bad0"),
            list("all", &json!({"server": "s"})),
        ];
        let run = run(&bench, words, &calls.concat());
        let outcomes = ["ok", "ok", "ok", "unknown_tool", "ok"];
        let ids = ["first", "loose", "last", "bad", "all"];
        assert_eq!(
            run.outcomes(),
            pairs(&ids.into_iter().zip(outcomes).collect::<Vec<_>>()),
            "{run:?}"
        );
        assert_eq!(run.content("all").lines().count(), 3, "{run:?}");
        let lines = |start: &str| {
            let start = format!("turnpipe: MCP server s: {start}");
            let mut lines = run
                .stderr
                .lines()
                .filter(|line| line.starts_with(&start))
                .peekable();
            assert!(lines.peek().is_some(), "{start}: {run:?}");
            lines.count()
        };
        for number in (0..17).filter(|number| !(10..12).contains(number)) {
            assert_eq!(
                lines(&format!("tool bad{number} is left out: ")),
                1,
                "{number}"
            );
        }
        assert_eq!(
            lines("tool bad0 is left out: inputSchema: must have the type \"object\""),
            1
        );
        assert_eq!(lines("tool without a name is left out: "), 5);
        assert_eq!(lines("tool "), 20);
        for name in ["odd", "nowhere", "without a name"] {
            assert_eq!(lines(&format!("resource {name} is left out: ")), 1);
        }
    }
}

#[test]
fn a_list_of_all_resources_names_servers_that_fail() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({
        "s": scripted_server("log", &["resources"]), "none": scripted_server("other", &[]),
        "broken": {"command": "no-such-program"},
    });
    let calls = list("a", &json!({}))
        + &list("b", &json!({"server": "broken"}))
        + &list("c", &json!({"server": "none"}));
    let run = finish(command(&bench, &servers, &[]), &[], &calls);
    let listed = run.content("a");
    let servers: Vec<Value> = listed
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["server"].take())
        .collect();
    assert_eq!(servers, ["broken", "s", "s", "s"]);
    let error = "MCP server broken: no-such-program: command not found";
    assert!(listed.lines().next().unwrap().contains(error), "{listed}");
    assert_eq!(run.result("b")["turnpipe"]["outcome"], "error");
    assert!(run.content("b").contains(error), "{run:?}");
    assert_eq!(run.content("c"), "No resources found.");
}

#[test]
fn tools_for_resources_are_declared_if_a_server_has_some() {
    for (words, expected) in [(&["resources"][..], true), (&[], false)] {
        let Some(bench) = Bench::with_program("python3") else {
            return;
        };
        let servers = json!({"mcpServers": {"s": scripted_server("log", words)}});
        bench.write("servers.json", servers.to_string());
        let listed = bench.shell("turnpipe tools --mcp-config servers.json --json");
        for name in ["ListMcpResourcesTool", "ReadMcpResourceTool"] {
            let is_declared = listed.stdout.contains(&format!("\"{name}\""));
            assert_eq!(is_declared, expected, "{name} {listed:?}");
        }
    }
}

#[test]
fn rules_about_a_server_cover_its_resources() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"mcpServers": {"s": scripted_server("log", &["resources"])}});
    bench.write("servers.json", servers.to_string());
    let rows: [(&[&str], [&str; 2]); 5] = [
        (&[], ["denied", "denied"]),
        (&["--allow", "mcp__s"], ["ok", "denied"]),
        (&["--allow", "mcp__s__echo"], ["denied", "denied"]),
        (
            &[BYPASS[0], BYPASS[1], "--deny", "mcp__s"],
            ["denied", "denied"],
        ),
        (
            &[BYPASS[0], BYPASS[1], "--deny", "mcp__s__echo"],
            ["ok", "ok"],
        ),
    ];
    for (rules, outcomes) in rows {
        // It may not exist.
        let _ = std::fs::remove_file(bench.work().join("log"));
        let arguments = [&["--mcp-config", "servers.json"], rules].concat();
        let calls = read("a", "s", "note:///a") + &list("b", &json!({}));
        let run = bench.run(&arguments, calls);
        let expected = [("a", outcomes[0]), ("b", outcomes[1])];
        assert_eq!(run.outcomes(), pairs(&expected), "{rules:?} {run:?}");
        let is_started = bench.work().join("log").exists();
        assert_eq!(is_started, outcomes[0] == "ok", "{rules:?}");
    }
}

#[test]
fn progress_is_reported_and_extends_the_timeout() {
    for words in [&[][..], &["stateless"]] {
        let Some(bench) = Bench::with_program("python3") else {
            return;
        };
        let servers = json!({"s": scripted_server("log", words)});
        let variables = [("MCP_TOOL_TIMEOUT", "1500")];
        let run = finish(
            command(&bench, &servers, &[]),
            &variables,
            &tool("a", "work"),
        );
        assert_eq!(run.content("a"), "cooked", "{run:?}");
        let records = run.records();
        let mut notes = records
            .iter()
            .filter(|record| record["type"] == "tool_progress");
        let first = notes.next().unwrap();
        assert_eq!(first["note"], "1/40 cooking", "{first}");
        assert_eq!(first["tool_use_id"], "a");
        assert_eq!(first["heartbeat"], Value::Null);
    }
}

#[test]
fn a_server_that_asks_a_user_who_is_not_there_fails_with_its_question() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let calls = [tool("a", "form"), tool("b", "input")].concat();
    let run = run(&bench, &["stateless"], &calls);
    let failed = |reason: &str| format!("<tool_use_error>MCP server s: {reason}</tool_use_error>");
    let expected =
        "it asks the user: Who are you?; nobody can be asked without `--permission-prompt tty`";
    assert_eq!(run.content("a"), failed(expected));
    // It never says that it is less busy.
    assert_eq!(run.content("b"), failed("it wants input for the 10th time"));
    let log = bench.read("log");
    let requests = log.lines().filter(|line| *line == "tools/call");
    assert_eq!(requests.count(), 11);
}
