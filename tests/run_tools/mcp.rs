//! Tools of MCP servers: a scripted one that misbehaves on request, and one over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};

use crate::bench::{BYPASS, Bench, Driver, Run, bash, call, pairs, wait_for};

/// Returns the entry of a scripted server that writes to `log`.
pub(crate) fn scripted_server(log: &str, words: &[&str]) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_server.py");
    let arguments: Vec<&str> = [script, log]
        .into_iter()
        .chain(words.iter().copied())
        .collect();
    json!({"command": "python3", "args": arguments, "env": {"OWN": "${OWN:-own}"}})
}

/// Returns a file with servers.
fn config(bench: &Bench, servers: &Value) -> PathBuf {
    bench.write("servers.json", json!({ "mcpServers": servers }).to_string())
}

/// Returns `run-tools` with the servers and all calls allowed.
pub(crate) fn command(bench: &Bench, servers: &Value, further: &[&str]) -> Command {
    let file = config(bench, servers);
    let servers = ["--mcp-config", file.to_str().unwrap(), "--no-echo"];
    let mut command = bench.run_tools(&[&BYPASS[..], &servers, further].concat());
    // A busy machine must not decide.
    command.env("MCP_TIMEOUT", "600000");
    command
}

pub(crate) fn finish(mut command: Command, variables: &[(&str, &str)], calls: &str) -> Run {
    command.envs(variables.iter().copied());
    let mut driver = Driver::start(command);
    driver.send(calls);
    driver.finish()
}

/// Returns a run with one scripted server `s`.
fn run(bench: &Bench, variables: &[(&str, &str)], calls: &str) -> Run {
    let servers = json!({"s": scripted_server("log", &[])});
    finish(command(bench, &servers, &[]), variables, calls)
}

/// Returns a call of a tool of the server `s`.
pub(crate) fn tool(id: &str, name: &str) -> String {
    call(id, &format!("mcp__s__{name}"), &json!({"text": id}))
}

/// Returns how often the server has started, and whether the last one is still alive.
pub(crate) fn server_starts(bench: &Bench) -> (usize, bool) {
    let log = bench.read("log");
    let started: Vec<&str> = log
        .lines()
        .filter(|line| line.starts_with("started "))
        .collect();
    let pid = started.last().unwrap().split(' ').nth(1).unwrap();
    (
        started.len(),
        std::path::Path::new("/proc").join(pid).exists(),
    )
}

#[test]
fn a_server_is_started_when_it_is_needed_and_ended_after_the_run() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"s": scripted_server("log", &[]), "other": scripted_server("other", &[])});
    let variables = [("MY_TOKEN", "sk-ant-api03-abcdefghijklmnopqrstuvwxyz")];
    let none = finish(command(&bench, &servers, &[]), &variables, "");
    assert_eq!(none.status, Some(0), "{none:?}");
    assert!(!bench.work().join("log").exists());

    let one = finish(
        command(&bench, &servers, &[]),
        &variables,
        &tool("a", "echo"),
    );
    assert_eq!(one.content("a"), "echo: a");
    assert_eq!(server_starts(&bench), (1, false));
    let log = bench.read("log");
    assert!(log.contains("mark=1 token=None own=own"), "{log}");
    assert!(log.ends_with("ended\n"), "{log}");
    assert!(!bench.work().join("other").exists());
}

#[test]
fn responses_become_results() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let rows = [
        ("echo", "ok", json!("echo: echo")),
        ("data", "ok", json!("{\"degrees\":21}")),
        ("fail", "error", json!("no such table")),
        (
            "refuse",
            "error",
            json!("<tool_use_error>MCP server s: not today</tool_use_error>"),
        ),
        ("chatter", "ok", json!("said all")),
        ("both", "ok", json!("it is warm\n{\"degrees\":21}")),
        ("same", "ok", json!("{ \"degrees\": 21 }")),
        ("words", "ok", json!("one\n2")),
        (
            "input",
            "error",
            json!(
                "<tool_use_error>MCP server s: it wants input for the 10th time</tool_use_error>"
            ),
        ),
        (
            "odd",
            "error",
            json!(
                "<tool_use_error>MCP server s: the response is not a tool result</tool_use_error>"
            ),
        ),
        (
            "missing",
            "unknown_tool",
            json!(
                "<tool_use_error>Error: No such tool available: mcp__s__missing</tool_use_error>"
            ),
        ),
    ];
    let calls: String = rows.iter().map(|(name, ..)| tool(name, name)).collect();
    let run = run(&bench, &[], &calls);
    for (name, outcome, content) in rows {
        let result = run.result(name);
        assert_eq!(result["turnpipe"]["outcome"], outcome, "{name}: {run:?}");
        assert_eq!(
            result["message"]["content"][0]["content"], content,
            "{name}"
        );
        assert_eq!(
            result["message"]["content"][0]["is_error"],
            outcome != "ok",
            "{name}"
        );
    }
}

#[test]
fn hooks_replace_results_in_the_form_in_which_they_get_them() {
    let masking = r#"python3 -c '
import json, sys
call = json.load(sys.stdin)
if call["tool_name"] == "Bash":
    output = call["tool_response"] | {"stdout": "masked"}
elif call["tool_name"] == "Read":
    call["tool_response"]["file"]["content"] = "masked"
    output = call["tool_response"]
else:
    output = [block | {"text": "masked"} if block["type"] == "text" else block for block in call["tool_response"]]
member = "MEMBER"
print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", member: output}}))
'"#;
    let servers = json!({"s": scripted_server("log", &[])});
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png"}});
    for member in ["updatedMCPToolOutput", "updatedToolOutput"] {
        let Some(bench) = Bench::with_program("python3") else {
            return;
        };
        let hook = masking.replace("MEMBER", member);
        let hooks = json!([{"hooks": [{"type": "command", "command": hook}]}]);
        let settings = json!({"hooks": {"PostToolUse": hooks}}).to_string();
        let settings = bench.write("settings.json", settings);
        let file = bench.write("file", "a secret\n");
        let calls = tool("text", "echo")
            + &tool("blocks", "blocks")
            + &bash("bash", "echo a secret")
            + &call("read", "Read", &json!({"file_path": file}));
        let settings = ["--settings", settings.to_str().unwrap()];
        let run = finish(command(&bench, &servers, &settings), &[], &calls);
        assert_eq!(run.content("text"), "masked", "{run:?}");
        let mut content = run.result("blocks")["message"]["content"][0]["content"].take();
        assert_eq!(content[0]["text"], "masked", "{run:?}");
        assert!(
            content[1]["source"]["data"]
                .take()
                .as_str()
                .unwrap()
                .starts_with("iVBOR")
        );
        content[1]["source"].as_object_mut().unwrap().remove("data");
        assert_eq!(content[1], image);
        assert_eq!(content[3]["text"], "[resource file:///a]\ninside");
        let is_ignored = member == "updatedMCPToolOutput";
        for id in ["bash", "read"] {
            assert_eq!(run.content(id) == "masked", !is_ignored, "{id}: {run:?}");
            assert_eq!(run.content(id).contains("a secret"), is_ignored, "{run:?}");
        }
        let warning = "ignored updatedMCPToolOutput: not a tool of an MCP server: Bash";
        assert_eq!(run.stderr.contains(warning), is_ignored, "{run:?}");
    }
}

#[test]
fn images_and_resources_become_blocks() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let run = run(&bench, &[], &tool("a", "blocks"));
    let result = run.result("a");
    let blocks = result["message"]["content"][0]["content"]
        .as_array()
        .unwrap();
    assert_eq!(blocks[0], json!({"type": "text", "text": "before"}));
    assert_eq!(blocks[1]["source"]["media_type"], "image/png");
    assert!(
        blocks[1]["source"]["data"]
            .as_str()
            .unwrap()
            .starts_with("iVBOR")
    );
    let texts: Vec<&str> = blocks[2..]
        .iter()
        .map(|block| block["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        texts,
        [
            "[audio not shown: audio/wav, 3 bytes]",
            "[resource file:///a]\ninside",
            "[resource file:///b not shown: application/zip, 3 bytes]",
            "[link to resource see, file:///c]",
        ]
    );
}

#[test]
fn texts_next_to_images_are_bounded() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let run = run(&bench, &[], &tool("a", "album"));
    let result = run.result("a");
    let blocks = result["message"]["content"][0]["content"]
        .as_array()
        .unwrap();
    let images = blocks.iter().filter(|block| block["type"] == "image");
    assert_eq!(images.count(), 1);
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    let texts: Vec<&str> = texts.collect();
    assert_eq!(texts[0], "[image not shown: image/png, 4718592 bytes]");
    assert!(texts[1].len() == 30_000 && texts[2].ends_with("[truncated]"));
    assert_eq!(texts.len(), 3, "empty texts are omitted");
}

#[test]
fn a_tool_can_raise_the_limit_of_its_results() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let run = run(
        &bench,
        &[],
        &(tool("big", "big_file") + &tool("long", "long")),
    );
    assert_eq!(run.content("big").len(), 60000);
    assert!(
        run.content("long").starts_with("<persisted-output>"),
        "{run:?}"
    );
    let structured = run.result("long")["tool_use_result"].to_string();
    assert!(structured.len() < 51_000, "{}", structured.len());
}

#[test]
fn calls_that_only_read_run_together() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    // Each waits for the other.
    let run = run(
        &bench,
        &[("MCP_TOOL_TIMEOUT", "30000")],
        &(tool("a", "meet") + &tool("b", "meet")),
    );
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "ok"), ("b", "ok")]),
        "{run:?}"
    );
    for id in ["a", "b"] {
        let turnpipe = &run.result(id)["turnpipe"];
        assert_eq!(turnpipe["lane"], "parallel");
        assert_eq!(turnpipe["batch"], 0);
    }
}

#[test]
fn denied_calls_start_no_server() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let file = config(&bench, &json!({"s": scripted_server("log", &[])}));
    let servers = ["--mcp-config", file.to_str().unwrap()];
    let rows: [(&[&str], &str); 6] = [
        (&[], "denied"),
        (&["--plan"], "denied"),
        (&["--deny", "mcp__s"], "denied"),
        (
            &["--deny", "mcp__s__echo", "--permission-prompt", "stdio"],
            "denied",
        ),
        (&["--permission-mode", "dontAsk"], "denied"),
        (
            &[
                "--permission-mode",
                "bypassPermissions",
                "--tools-only",
                "Read",
            ],
            "not_run",
        ),
    ];
    for (arguments, outcome) in rows {
        let run = bench.run(&[&servers[..], arguments].concat(), tool("a", "echo"));
        let outcome = format!(r#""outcome":"{outcome}""#);
        assert!(run.stdout.contains(&outcome), "{arguments:?} {run:?}");
        assert!(!bench.work().join("log").exists(), "{arguments:?}");
    }
    let allowed = [&servers[..], &BYPASS, &["--plan"]].concat();
    let run = bench.run(&allowed, tool("a", "echo"));
    let records = run.records();
    let plan = records.iter().find(|record| record["subtype"] == "plan");
    assert_eq!(plan.unwrap()["lane"], "serial", "{run:?}");
    assert!(!bench.work().join("log").exists());
}

#[test]
fn a_slow_server_delays_only_later_calls() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    bench.write("note", "before");
    let servers =
        json!({"s": scripted_server("log", &["late"]), "t": scripted_server("other", &["late"])});
    let mut driver = Driver::start(command(&bench, &servers, &[]));
    let read = |id: &str| call(id, "Read", &json!({"file_path": "note"}));
    let other = call("c", "mcp__t__echo", &json!({"text": "c"}));
    driver.send(&(read("a") + &tool("b", "echo") + &other + &read("d")));
    assert_eq!(driver.result("a")["turnpipe"]["outcome"], "ok");
    let is_started = |log: &str| bench.work().join(log).exists();
    wait_for("both servers", || is_started("log") && is_started("other"));
    bench.write("log.go", "");
    assert_eq!(driver.result("b")["turnpipe"]["outcome"], "ok");
    bench.write("other.go", "");
    let run = driver.finish();
    assert_eq!(
        run.outcomes(),
        pairs(&[("c", "ok"), ("d", "ok")]),
        "{run:?}"
    );
}

#[test]
fn an_interrupt_does_not_wait_for_a_server_that_starts() {
    let search = call("a", "ToolSearch", &json!({"query": "x"}));
    for (call, outcome) in [(tool("a", "echo"), "not_run"), (search, "interrupted")] {
        let Some(bench) = Bench::with_program("python3") else {
            return;
        };
        let servers = json!({"s": scripted_server("log", &["silent"])});
        let mut command = command(&bench, &servers, &[]);
        command.env("MCP_TIMEOUT", "600000");
        let mut driver = Driver::start(command);
        driver.send(&call);
        wait_for("the server", || bench.work().join("log").exists());
        driver.signal("INT");
        assert_eq!(driver.result("a")["turnpipe"]["outcome"], outcome);
        let run = driver.finish();
        assert_eq!(run.status, Some(130), "{run:?}");
        assert_eq!(server_starts(&bench), (1, false));
    }
}

#[test]
fn hints_of_a_server_grant_no_permission() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let file = config(&bench, &json!({"s": scripted_server("log", &[])}));
    let servers = ["--mcp-config", file.to_str().unwrap()];
    let rows: [(&[&str], &str); 5] = [
        (&[], "denied"),
        (&["--allow", "mcp__s__echo"], "ok"),
        (&["--allow", "mcp__s"], "ok"),
        (&["--allow", "mcp__s", "--deny", "mcp__s__echo"], "denied"),
        (&["--permission-mode", "plan"], "denied"),
    ];
    for (rules, outcome) in rows {
        let run = bench.run(&[&servers[..], rules].concat(), tool("a", "echo"));
        assert_eq!(
            run.outcomes(),
            pairs(&[("a", outcome)]),
            "{rules:?} {run:?}"
        );
    }
}

#[test]
fn a_server_of_an_unknown_transport_is_reported_and_the_others_work() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"s": scripted_server("log", &[]), "ws": {"type": "ws", "url": "ws://x"}});
    let calls = tool("a", "echo") + &call("b", "mcp__ws__echo", &json!({}));
    let run = finish(command(&bench, &servers, &[]), &[], &calls);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert_eq!(run.content("a"), "echo: a");
    let reason = "MCP server ws: unknown transport `ws`; use `stdio` or `http`";
    assert!(run.content("b").contains(reason), "{run:?}");
    let listed = bench.shell("turnpipe tools --mcp-config servers.json");
    assert_eq!(listed.status, Some(0), "{listed:?}");
    assert!(listed.stderr.contains(reason), "{listed:?}");
    assert!(listed.stdout.contains("mcp__s__echo"), "{listed:?}");
}

#[test]
fn a_server_that_dies_fails_one_call_and_is_restarted() {
    let rows = [
        (
            "die",
            "MCP server s: exited with status 3: the database is gone",
        ),
        ("killed", "MCP server s: killed by signal 9"),
        (
            "flood",
            "MCP server s: its output has a line that is too long",
        ),
        (
            "babble",
            "MCP server s: it wrote too much unsolicited output",
        ),
    ];
    for (name, error) in rows {
        let Some(bench) = Bench::with_program("python3") else {
            return;
        };
        let run = run(&bench, &[], &(tool("a", name) + &tool("b", "echo")));
        assert_eq!(
            run.outcomes(),
            pairs(&[("a", "error"), ("b", "ok")]),
            "{run:?}"
        );
        assert!(run.content("a").contains(error), "{run:?}");
        assert_eq!(server_starts(&bench), (2, false), "{name}");
    }
}

#[test]
fn a_call_without_a_response_times_out() {
    for name in ["hang", "deaf"] {
        let Some(bench) = Bench::with_program("python3") else {
            return;
        };
        let run = run(&bench, &[("MCP_TOOL_TIMEOUT", "300")], &tool("a", name));
        assert_eq!(run.outcomes(), pairs(&[("a", "timeout")]), "{run:?}");
        let text = run.content("a");
        assert!(
            text.contains("no response to the call within 0.3 s"),
            "{text}"
        );
        assert_eq!(server_starts(&bench), (1, false), "{name}");
        let told = bench.read("log").contains("notifications/cancelled");
        assert_eq!(told, name == "hang");
    }
}

#[test]
fn an_interrupt_is_passed_on() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"s": scripted_server("log", &[])});
    let mut driver = Driver::start(command(&bench, &servers, &[]));
    driver.send(&tool("a", "hang"));
    let has_logged = |text: &str| {
        let log = std::fs::read_to_string(bench.work().join("log"));
        log.is_ok_and(|log| log.contains(text))
    };
    wait_for("the call", || has_logged("tools/call"));
    driver.signal("INT");
    let result = driver.result("a");
    assert_eq!(result["turnpipe"]["outcome"], "interrupted");
    let text = result["message"]["content"][0]["content"].to_string();
    assert!(!text.contains("output"), "{text}");
    wait_for("the cancellation", || has_logged("notifications/cancelled"));
    drop(driver.finish());
    assert_eq!(server_starts(&bench), (1, false));
}

#[test]
#[cfg(target_os = "linux")]
fn servers_end_when_the_run_is_killed() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"s": scripted_server("log", &[])});
    let mut driver = Driver::start(command(&bench, &servers, &[]));
    driver.send(&tool("a", "deaf"));
    let is_called = || {
        let log = std::fs::read_to_string(bench.work().join("log"));
        log.is_ok_and(|log| log.contains("tools/call"))
    };
    wait_for("the call", is_called);
    driver.signal("KILL");
    drop(driver.wait());
    wait_for("the end of the server", || !server_starts(&bench).1);
}

#[test]
fn a_server_that_cannot_be_used_gives_an_error_and_is_not_retried() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({
        "silent": scripted_server("log", &["silent"]),
        "missing": {"command": "no-such-program"},
        "text": {"command": "sh", "args": ["-c", "echo hello; echo why >&2; exit 4"]},
        "away": {"url": "http://127.0.0.1:9/mcp"},
        "plain": {"url": "http://example.com/mcp", "headers": {"Authorization": "Bearer x"}},
    });
    let calls: String = ["silent", "silent", "missing", "text", "away", "plain"]
        .iter()
        .enumerate()
        .map(|(number, server)| {
            call(
                &format!("{server}{number}"),
                &format!("mcp__{server}__x"),
                &json!({}),
            )
        })
        .collect();
    let run = finish(
        command(&bench, &servers, &[]),
        &[("MCP_TIMEOUT", "10000")],
        &calls,
    );
    let rows = [
        ("silent0", "MCP server silent: no response within 10 s"),
        ("silent1", "MCP server silent: no response within 10 s"),
        (
            "missing2",
            "MCP server missing: no-such-program: command not found",
        ),
        ("text3", "MCP server text: exited with status 4: why"),
        ("away4", "MCP server away: "),
        (
            "plain5",
            "MCP server plain: a key is not sent to example.com without https",
        ),
    ];
    for (id, error) in rows {
        assert_eq!(run.result(id)["turnpipe"]["outcome"], "error", "{run:?}");
        assert!(run.content(id).contains(error), "{id}: {run:?}");
    }
    assert_eq!(server_starts(&bench), (1, false));
}

#[test]
fn a_list_of_tools_that_changes_is_read_again() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"s": scripted_server("log", &[])});
    let mut driver = Driver::start(command(&bench, &servers, &[]));
    driver.send(&tool("a", "grow"));
    assert_eq!(driver.result("a")["turnpipe"]["outcome"], "ok");
    driver.send(&tool("b", "grown"));
    let run = driver.finish();
    assert_eq!(run.outcomes(), pairs(&[("b", "ok")]), "{run:?}");
}

#[test]
fn a_list_that_cannot_be_reread_is_kept() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"s": scripted_server("log", &["unlistable"])});
    let mut driver = Driver::start(command(&bench, &servers, &[]));
    driver.send(&tool("a", "grow"));
    assert_eq!(driver.result("a")["turnpipe"]["outcome"], "ok");
    driver.send(&(tool("b", "echo") + &tool("c", "echo")));
    let run = driver.finish();
    assert_eq!(
        run.outcomes(),
        pairs(&[("b", "ok"), ("c", "ok")]),
        "{run:?}"
    );
    assert_eq!(server_starts(&bench), (1, false));
}

#[test]
fn a_restarted_server_is_listed_again() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"s": scripted_server("log", &["new"])});
    let mut driver = Driver::start(command(&bench, &servers, &[]));
    driver.send(&(tool("a", "grown") + &tool("b", "die")));
    assert_eq!(driver.result("a")["turnpipe"]["outcome"], "unknown_tool");
    assert_eq!(driver.result("b")["turnpipe"]["outcome"], "error");
    driver.send(&tool("c", "grown"));
    let run = driver.finish();
    assert_eq!(run.outcomes(), pairs(&[("c", "ok")]), "{run:?}");
}

#[test]
fn an_endless_list_is_an_error() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"s": scripted_server("log", &["endless"])});
    let run = finish(command(&bench, &servers, &[]), &[], &tool("a", "echo"));
    let text = run.content("a");
    assert!(
        text.contains("MCP server s: its list of tools is too long"),
        "{text}"
    );
    assert_eq!(server_starts(&bench), (1, false));
}

#[test]
fn a_server_that_fails_does_not_hide_the_tools_of_another() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"s": {"command": "false"}, "s__t": scripted_server("log", &[])});
    let run = finish(command(&bench, &servers, &[]), &[], &tool("a", "t__echo"));
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{run:?}");
}

#[test]
fn the_mark_of_our_processes_is_kept() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let mut server = scripted_server("log", &[]);
    server["env"]["TURNPIPE"] = json!("mine");
    drop(finish(
        command(&bench, &json!({"s": server}), &[]),
        &[],
        &tool("a", "echo"),
    ));
    assert!(bench.read("log").contains("mark=1"));
}

#[test]
fn a_tool_decides_whether_calls_run() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    bench.write("kept/file", "");
    let file = config(&bench, &json!({"s": scripted_server("log", &[])}));
    let flags = [
        "--mcp-config",
        file.to_str().unwrap(),
        "--permission-prompt",
        "mcp__s__ask",
    ];
    let arguments = [&flags[..], &["--deny", "Bash(rm *)"]].concat();
    let rows = [
        ("allowed", "ok", ""),
        ("as-it-is", "ok", ""),
        ("changed", "ok", ""),
        ("forbidden", "denied", "the rule `Bash(rm *)`"),
        ("chatty", "denied", "The use of Bash was refused: nnnn"),
        ("refused", "denied", "no Bash of refused"),
        (
            "undecided",
            "denied",
            "mcp__s__ask gave no decision: {\"behavior\": \"perhaps\"}",
        ),
        ("babbled", "denied", "mcp__s__ask gave no decision: what?"),
        ("failed", "denied", "mcp__s__ask gave no decision: what?"),
        (
            "unanswered",
            "denied",
            "no response to the call within 1.5 s",
        ),
    ];
    let calls = rows.map(|(word, ..)| bash(word, &format!("touch {word}")));
    let command = bench.run_tools(&arguments);
    let run = finish(command, &[("MCP_TOOL_TIMEOUT", "1500")], &calls.concat());
    for (word, outcome, text) in rows {
        let result = run.result(word);
        assert_eq!(result["turnpipe"]["outcome"], outcome, "{run:?}");
        assert!(run.content(word).contains(text), "{word}: {run:?}");
        assert!(run.content(word).len() < 11_000, "{word}");
        let runs_as_it_is = ["allowed", "as-it-is"].contains(&word);
        assert_eq!(bench.work().join(word).exists(), runs_as_it_is, "{word}");
        if word != "forbidden" {
            let by = &result["turnpipe"]["permission"]["decided_by"];
            assert_eq!(*by, json!({"prompt": "mcp__s__ask"}), "{word}");
        }
    }
    assert!(bench.work().join("other").exists() && bench.work().join("kept").exists());
}

#[test]
fn a_tool_that_cannot_decide_allows_nothing() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"s": scripted_server("log", &[]), "away": {"command": "false"}});
    let file = config(&bench, &servers);
    let rows = [
        ("mcp__s__missing", Some(0)),
        ("mcp__away__ask", Some(0)),
        ("mcp__nobody__ask", Some(2)),
        ("Bash", Some(2)),
    ];
    for (tool, status) in rows {
        let flags = [
            "--mcp-config",
            file.to_str().unwrap(),
            "--permission-prompt",
            tool,
        ];
        let run = bench.run(&flags, bash("a", "touch made"));
        assert_eq!(run.status, status, "{tool}: {run:?}");
        if status == Some(0) {
            assert_eq!(run.outcomes(), pairs(&[("a", "denied")]), "{tool}");
            assert!(run.content("a").contains(tool), "{tool}: {run:?}");
        } else {
            assert!(run.stdout.is_empty(), "{tool}: {run:?}");
        }
        assert!(!bench.work().join("made").exists());
    }
}

#[test]
fn malformed_files_end_the_run_before_it_begins() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let file = bench.write(
        "servers.json",
        r#"{"mcpServers": {"s": {"command": "${NONE}"}}}"#,
    );
    let run = bench.run(&["--mcp-config", file.to_str().unwrap()], tool("a", "echo"));
    assert_eq!(run.status, Some(2));
    assert!(run.stdout.is_empty());
    assert!(
        run.stderr
            .contains("server s: ${NONE} is not set\nhint: set NONE, or write a default"),
        "{run:?}"
    );
}

/// Returns the declarations that `turnpipe tools` prints, and its stderr.
fn list_declarations(bench: &Bench, servers: &Value, format: &str) -> (Vec<Value>, String) {
    config(bench, servers);
    let run = bench.shell(&format!(
        "turnpipe tools --mcp-config servers.json --json --format {format}"
    ));
    assert_eq!(run.status, Some(0), "{run:?}");
    let tools = run.records().remove(0);
    (tools.as_array().unwrap().clone(), run.stderr)
}

#[test]
fn tools_are_listed_after_the_others_and_servers_that_fail_are_reported() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"b.x": scripted_server("log", &["few"]), "a": scripted_server("other", &["few"]), "broken": {"command": "false"}});
    let (tools, messages) = list_declarations(&bench, &servers, "anthropic");
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let first = names
        .iter()
        .position(|name| name.starts_with("mcp__"))
        .unwrap();
    assert!(names[..first].contains(&"Write") && !names.contains(&"ToolSearch"));
    assert!(names[first..].is_sorted() && names[first].starts_with("mcp__a__"));
    assert!(names.contains(&"mcp__b_x__big_file"), "{names:?}");
    let echo = tools
        .iter()
        .find(|tool| tool["name"] == "mcp__a__echo")
        .unwrap();
    assert_eq!(echo["description"], "Does echo. Really.");
    assert_eq!(echo["input_schema"]["properties"]["text"]["type"], "string");
    assert!(
        messages.contains("MCP server broken: exited with status 1"),
        "{messages}"
    );
    assert_eq!(server_starts(&bench), (1, false));
}

#[test]
fn schemas_of_a_long_list_are_found_by_search() {
    let Some(bench) = Bench::with_program("python3") else {
        return;
    };
    let servers = json!({"s": scripted_server("log", &["many"])});
    let (tools, _) = list_declarations(&bench, &servers, "openai");
    let names = tools
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap());
    let names: Vec<&str> = names
        .filter(|name| !name.chars().next().unwrap().is_lowercase())
        .collect();
    assert_eq!(
        names.len(),
        tools.len(),
        "the tools of the server are deferred"
    );
    assert!(names.contains(&"ToolSearch"));
    let (tools, _) = list_declarations(&bench, &servers, "anthropic");
    let echo = tools
        .iter()
        .find(|tool| tool["name"] == "mcp__s__echo")
        .unwrap();
    assert_eq!(echo["defer_loading"], true);

    // The total number of tools counts.
    let few = |log: &str| scripted_server(log, &["few"]);
    let two = json!({"s": few("one"), "t": few("two")});
    let three = json!({"s": few("one"), "t": few("two"), "u": few("three")});
    for (servers, deferred) in [(two, false), (three, true)] {
        let (tools, _) = list_declarations(&bench, &servers, "anthropic");
        let any = tools.iter().any(|tool| tool["defer_loading"] == true);
        assert_eq!(any, deferred, "{servers}");
    }

    let search =
        |id: &str, query: &str| call(id, "ToolSearch", &json!({"query": query, "max_results": 3}));
    let calls = search("exact", "select:mcp__s__echo, mcp__s__die")
        + &search("words", "really EXTRA7")
        + &search("nothing", "select:mcp__s__none")
        + &call("wrong", "mcp__s__echo", &json!({"text": 1}));
    let run = finish(command(&bench, &servers, &[]), &[], &calls);
    let names = |id: &str| run.result(id)["tool_use_result"]["matches"].clone();
    assert_eq!(
        names("exact"),
        json!(["mcp__s__die", "mcp__s__echo"]),
        "{run:?}"
    );
    assert_eq!(names("words")[0], "mcp__s__extra7");
    assert_eq!(names("words").as_array().unwrap().len(), 3);
    assert_eq!(run.content("nothing"), "No tool matches.");
    let declared = run.content("exact");
    let declaration: Value = serde_json::from_str(declared.lines().next().unwrap()).unwrap();
    assert_eq!(declaration["input_schema"]["additionalProperties"], false);
    assert!(
        run.content("wrong").contains("select:mcp__s__echo"),
        "{run:?}"
    );
}

/// A request to the server over HTTP: its method, headers and body.
struct Request {
    method: String,
    headers: String,
    body: Value,
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let begin = head.len();
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
        if head[begin..].trim().is_empty() {
            break;
        }
    }
    let headers = head.to_lowercase();
    let length = headers
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        method: head.split(' ').next()?.to_owned(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}

fn respond(mut stream: &TcpStream, status: &str, headers: &str, body: &str) {
    let length = body.len();
    // The client may have closed the connection.
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
}

/// A server over HTTP with the tools `echo` (responds in an event stream), `hang` (never responds), `fail`, `cut` (the
/// response is incomplete) and `gone` (the server ends during the response).
fn serve(listener: &TcpListener, requests: &Sender<Request>) {
    for stream in listener.incoming() {
        let stream = stream.unwrap();
        let Some(request) = read_request(&stream) else {
            continue;
        };
        let (method, id) = (request.body["method"].clone(), request.body["id"].clone());
        let result =
            |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        let json_type = "content-type: application/json\r\n";
        if request.body["params"]["name"] == "gone" {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            // The client may have closed the connection.
            let _ = (&stream).write_all(format!("{head}id: 1\ndata:\n\n").as_bytes());
            return;
        }
        match (request.method.as_str(), method.as_str().unwrap_or_default()) {
            ("POST", "initialize") => {
                let version = &request.body["params"]["protocolVersion"];
                let body = result(
                    json!({"protocolVersion": version, "capabilities": {"tools": {}},
                    "serverInfo": {"name": "web", "version": "1"}}),
                );
                respond(
                    &stream,
                    "200 OK",
                    &format!("{json_type}mcp-session-id: s-1\r\n"),
                    &body,
                );
            }
            ("POST", "server/discover") => {
                respond(&stream, "400 Bad Request", "", "not initialized");
            }
            ("POST", "tools/list") => {
                let tools = ["echo", "hang", "fail", "cut", "gone"]
                    .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
                respond(
                    &stream,
                    "200 OK",
                    json_type,
                    &result(json!({"tools": tools})),
                );
            }
            ("POST", "tools/call") if request.body["params"]["name"] == "echo" => {
                let body = result(json!({"content": [{"type": "text", "text": "from afar"}]}));
                let events = format!("event: message\ndata: {body}\n\n");
                respond(
                    &stream,
                    "200 OK",
                    "content-type: text/event-stream\r\n",
                    &events,
                );
            }
            ("POST", "tools/call") if request.body["params"]["name"] == "fail" => {
                respond(&stream, "503 Service Unavailable", "", "later");
            }
            ("POST", "tools/call") if request.body["params"]["name"] == "cut" => drop(stream),
            ("POST", "tools/call") => std::mem::forget(stream.try_clone().unwrap()),
            ("GET", _) => respond(&stream, "405 Method Not Allowed", "", ""),
            _ => respond(&stream, "202 Accepted", "", ""),
        }
        if requests.send(request).is_err() {
            return;
        }
    }
}

#[test]
fn servers_are_reached_over_http() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, requests): (_, Receiver<Request>) = channel();
    std::thread::spawn(move || serve(&listener, &sender));
    let servers = json!({"web": {"type": "http", "url": format!("http://{address}/mcp"),
        "headers": {"X-Key": "${KEY}"}}});
    let names = [("a", "echo"), ("b", "hang"), ("c", "fail"), ("d", "cut")];
    let calls = names.map(|(id, name)| call(id, &format!("mcp__web__{name}"), &json!({})));
    let variables = [("KEY", "secret-1"), ("MCP_TOOL_TIMEOUT", "1500")];
    let run = finish(command(&bench, &servers, &[]), &variables, &calls.concat());
    let outcomes = [
        ("a", "ok"),
        ("b", "timeout"),
        ("c", "error"),
        ("d", "error"),
    ];
    assert_eq!(run.outcomes(), pairs(&outcomes), "{run:?}");
    assert_eq!(run.content("a"), "from afar");
    let requests: Vec<Request> = requests.try_iter().collect();
    assert!(
        requests
            .iter()
            .all(|request| request.headers.contains("x-key: secret-1"))
    );
    let mut without_session = requests
        .iter()
        .filter(|request| !request.headers.contains("mcp-session-id: s-1"));
    let starts = ["server/discover", "initialize"];
    assert!(
        without_session.all(|request| starts.contains(&request.body["method"].as_str().unwrap()))
    );
    let has = |method: &str, name: &str| {
        let mut all = requests.iter();
        all.any(|request| {
            request.method == method && request.body["method"].as_str().unwrap_or_default() == name
        })
    };
    for (_, name) in names {
        let called = requests.iter();
        let called = called.filter(|request| request.body["params"]["name"] == name);
        assert_eq!(called.count(), 1, "{name} is sent once");
    }
    assert!(
        has("POST", "notifications/cancelled"),
        "the server hears of the end of the call"
    );
    assert!(has("DELETE", ""), "the session is ended");
}

#[test]
fn a_server_over_http_that_ends_fails_one_call() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, _requests) = channel();
    let again = sender.clone();
    std::thread::spawn(move || serve(&listener, &sender));
    let servers = json!({"web": {"type": "http", "url": format!("http://{address}/mcp")}});
    let mut driver = Driver::start(command(&bench, &servers, &[]));
    let send = |name: &str| call(name, &format!("mcp__web__{name}"), &json!({}));
    driver.send(&send("gone"));
    assert_eq!(driver.result("gone")["turnpipe"]["outcome"], "error");
    let listener = TcpListener::bind(address).unwrap();
    std::thread::spawn(move || serve(&listener, &again));
    driver.send(&send("echo"));
    let run = driver.finish();
    assert_eq!(run.outcomes(), pairs(&[("echo", "ok")]), "{run:?}");
}
