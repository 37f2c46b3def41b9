//! Calls that need the approval of the user or a program.

use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::bench::{Bench, Driver, bash, call, pairs, turn, wait_for};
use crate::mcp::{scripted_server, tool};
use crate::pty::open_pty;

const STDIO: [&str; 3] = ["--permission-prompt", "stdio", "--no-echo"];

/// Returns the next question, and its call.
fn question(run: &Driver) -> (String, Value) {
    loop {
        let record: Value = serde_json::from_str(&run.line()).unwrap();
        if record["type"] == "control_request" {
            assert_eq!(record["request"]["subtype"], "can_use_tool");
            let id = record["request_id"].as_str().unwrap().to_owned();
            return (id, record["request"].clone());
        }
    }
}

/// Returns two concurrent questions, about calls `a` and `b` that do not conflict.
fn read_two_questions(run: &Driver) -> [String; 2] {
    let (one, request) = question(run);
    let (other, _) = question(run);
    if request["tool_use_id"] == "a" {
        [one, other]
    } else {
        [other, one]
    }
}

fn answer(request_id: &str, response: &Value) -> String {
    let response = json!({"subtype": "success", "request_id": request_id, "response": response});
    format!(
        "{}\n",
        json!({"type": "control_response", "response": response})
    )
}

#[test]
fn the_program_at_the_other_end_decides() {
    let bench = Bench::new();
    let table = [
        (json!({"behavior": "allow"}), "ok", true),
        (
            json!({"behavior": "allow", "updatedInput": {"command": "touch other"}}),
            "ok",
            false,
        ),
        (
            json!({"behavior": "deny", "message": "not now"}),
            "denied",
            false,
        ),
        (json!({"behavior": "perhaps"}), "denied", false),
        (json!(null), "denied", false),
    ];
    for (number, (reply, outcome, made)) in table.into_iter().enumerate() {
        let file = format!("file{number}");
        let mut run = bench.start_driver(&STDIO);
        run.send(&bash("a", &format!("touch {file}")));
        let (id, request) = question(&run);
        assert_eq!(request["input"]["command"], format!("touch {file}"));
        assert_eq!(request["tool_use_id"], "a");
        // A response with another id is ignored.
        run.send(&answer("other", &json!({"behavior": "allow"})));
        run.send(&answer(&id, &reply));
        let result = run.result("a");
        assert_eq!(result["turnpipe"]["outcome"], outcome, "{reply}: {result}");
        assert_eq!(bench.work().join(&file).exists(), made, "{reply}");
        if outcome == "ok" {
            let by = &result["turnpipe"]["permission"]["decided_by"];
            assert_eq!(*by, json!({"prompt": "stdio"}));
        }
        assert_eq!(run.finish().status, Some(0));
    }
    assert!(
        bench.work().join("other").exists(),
        "a rewritten call runs as rewritten"
    );
}

#[test]
fn a_question_holds_no_slot_and_delays_only_conflicts() {
    let bench = Bench::new();
    let write = |id: &str, file: &str| {
        let path = bench.work().join(file);
        call(id, "Write", &json!({"file_path": path, "content": "x"}))
    };
    let options = ["--schedule", "access", "--max-concurrency", "1"];
    let mut run = bench.start_driver(&[&STDIO[..], &options].concat());
    run.send(&(write("a", "a") + &write("b", "b") + &write("c", "a")));
    let [first, second] = read_two_questions(&run);
    run.send(&answer(&second, &json!({"behavior": "allow"})));
    wait_for("the second call", || bench.work().join("b").exists());
    assert!(!bench.work().join("a").exists());
    run.send(&answer(&first, &json!({"behavior": "allow"})));
    assert_eq!(run.result("a")["turnpipe"]["outcome"], "ok");
    assert_eq!(run.result("b")["turnpipe"]["outcome"], "ok");
    // The third one writes the same file as the first one, so its question had to wait for that call.
    let (third, _) = question(&run);
    run.send(&answer(&third, &json!({"behavior": "deny"})));
    assert_eq!(run.result("c")["turnpipe"]["outcome"], "denied");
    assert_eq!(run.finish().status, Some(0));
}

#[test]
fn an_interrupt_ends_a_question() {
    let bench = Bench::new();
    let mut run = bench.start_driver(&STDIO);
    run.send(&turn("m", &[("a", "touch x"), ("b", "touch y")]));
    question(&run);
    run.signal("INT");
    let end = run.wait();
    assert_eq!(end.status, Some(130), "{end:?}");
    let expected = [("a", "not_run"), ("b", "not_run")];
    assert_eq!(end.outcomes(), pairs(&expected), "{end:?}");
}

#[test]
fn a_question_is_withdrawn_when_a_sibling_fails() {
    let bench = Bench::new();
    let options = ["--schedule", "access", "--on-error", "cancel-all"];
    let mut run = bench.start_driver(&[&STDIO[..], &options].concat());
    let write = |id: &str| {
        let path = bench.work().join(id);
        call(id, "Write", &json!({"file_path": path, "content": "x"}))
    };
    run.send(&(write("a") + &write("b")));
    let [first, second] = read_two_questions(&run);
    std::fs::create_dir(bench.work().join("b")).unwrap();
    run.send(&answer(&second, &json!({"behavior": "allow"})));
    assert_eq!(run.result("a")["turnpipe"]["outcome"], "cancelled_sibling");
    assert_eq!(run.result("b")["turnpipe"]["outcome"], "error");
    let withdrawn = loop {
        let record: Value = serde_json::from_str(&run.line()).unwrap();
        if record["type"] == "control_cancel_request" {
            break record;
        }
    };
    assert_eq!(withdrawn["request_id"], first.as_str());
    assert_eq!(run.finish().status, Some(0));
}

#[test]
fn the_end_of_input_is_not_a_response() {
    let bench = Bench::new();
    let run = bench.run(&STDIO, bash("a", "touch x") + &bash("b", "echo read"));
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "denied"), ("b", "ok")]),
        "{run:?}"
    );
    assert_eq!(run.status, Some(0));
}

/// A shell script whose controlling terminal is a pseudo-terminal.
struct OnTerminal {
    child: std::process::Child,
    controller: std::fs::File,
    shown: String,
}

impl OnTerminal {
    /// Starts a script in which `$0` is the binary.
    fn start(bench: &Bench, script: &str) -> Self {
        let (controller, terminal) = open_pty(100);
        let binary = env!("CARGO_BIN_EXE_turnpipe");
        let child = std::process::Command::new("setsid")
            .args(["--ctty", "--wait", "bash", "-c", script, binary])
            .current_dir(bench.work())
            .env("TERM", "xterm")
            .stdout(terminal.try_clone().unwrap())
            .stderr(terminal.try_clone().unwrap())
            .stdin(terminal)
            .spawn()
            .unwrap();
        Self {
            child,
            controller: controller.into(),
            shown: String::new(),
        }
    }

    /// Reads until a text is shown for the `count`th time.
    fn read_until(&mut self, text: &str, count: usize) {
        while self.shown.matches(text).count() < count {
            let mut piece = [0; 10_000];
            let length = self.controller.read(&mut piece).unwrap_or(0);
            assert!(length > 0, "no {text}: {:?}", self.shown);
            self.shown += &String::from_utf8_lossy(&piece[..length]);
        }
    }

    fn enter(&mut self, text: &str) {
        self.controller.write_all(text.as_bytes()).unwrap();
    }

    /// Reads to the end. Returns everything shown.
    fn finish(mut self) -> String {
        let mut rest = Vec::new();
        // The end of a terminal is an error.
        let _ = self.controller.read_to_end(&mut rest);
        self.child.wait().unwrap();
        self.shown + &String::from_utf8_lossy(&rest)
    }
}

/// Returns a call that needs approval and does not conflict with calls of other files.
fn write(bench: &Bench, name: &str) -> String {
    let path = bench.work().join(name);
    call(name, "Write", &json!({"file_path": path, "content": "x"}))
}

#[test]
fn the_user_decides_on_the_terminal() {
    let bench = Bench::new();
    let calls = [
        ("a", "touch one\u{1b}[2J"),
        ("b", "touch two"),
        ("c", "touch three"),
    ];
    bench.write("calls", turn("m", &calls));
    let mut terminal = OnTerminal::start(
        &bench,
        "\"$0\" run-tools --no-config --permission-prompt tty --on-error continue < calls 2> err |
        \"$0\" session append session.jsonl --no-echo",
    );
    for (number, reply) in ["what\n", "y\n", "n\n", "y\n"].into_iter().enumerate() {
        terminal.read_until("no: ", number + 1);
        terminal.enter(reply);
    }
    let shown = terminal.finish();
    let done = |name: &str| bench.work().join(name).exists();
    assert!(
        done("one\u{1b}[2J") && !done("two") && done("three"),
        "{shown}"
    );
    assert!(
        shown.contains("Bash wants to run") && shown.contains("touch two"),
        "{shown}"
    );
    assert!(
        !shown.contains("\u{1b}[2J"),
        "the call must not control the terminal: {shown:?}"
    );
    let report = bench.shell("turnpipe session report session.jsonl -o jsonl");
    let report = &report.records()[0];
    assert_eq!(
        (&report["denied"], &report["failed"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn the_end_of_input_on_the_terminal_is_no_cancelled_question() {
    let bench = Bench::new();
    bench.write("calls", bash("a", "touch x"));
    let command = "\"$0\" run-tools --no-config --permission-prompt tty < calls";
    let mut terminal = OnTerminal::start(&bench, command);
    terminal.read_until("no: ", 1);
    terminal.enter("\u{4}");
    let shown = terminal.finish();
    let reason = "the input ended before a response";
    assert!(shown.contains(reason), "{shown}");
}

/// Returns what is shown, and the content of the result of a call that needs input of the user, who types these lines.
fn filled_in(words: &[&str], lines: &[(&str, &str)]) -> Option<(String, Value)> {
    let bench = Bench::with_program("python3")?;
    let servers = json!({"s": scripted_server("log", &[&["asking"], words].concat())});
    bench.write("servers.json", json!({ "mcpServers": servers }).to_string());
    bench.write("calls", tool("a", "form"));
    let mut terminal = OnTerminal::start(
        &bench,
        "\"$0\" run-tools --no-config --permission-prompt tty --allow mcp__s --mcp-config servers.json --no-echo \\
        < calls > records 2> err",
    );
    for (label, line) in lines {
        let count = terminal.shown.matches(label).count();
        terminal.read_until(label, count + 1);
        terminal.enter(line);
    }
    let shown = terminal.finish();
    let records = bench.read("records");
    let records = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut content =
        records.filter_map(|record| record.pointer("/message/content/0/content").cloned());
    Some((shown, content.next_back().unwrap()))
}

#[test]
fn a_form_of_a_server_is_filled_in_at_the_terminal() {
    // A server that answers with a request for input, and one that sends a request during the call.
    for words in [&["stateless"][..], &[]] {
        let lines = [
            ("Name: ", "\n"),
            ("a value is needed\r\nName: ", "Ada L\n"),
            ("age (integer): ", "old\n"),
            ("expected an integer\r\nage (integer): ", "36\n"),
            ("colour (one of red, blue; default \"red\"): ", "\n"),
        ];
        let Some((shown, content)) = filled_in(words, &lines) else {
            return;
        };
        let accepted =
            json!({"action": "accept", "content": {"age": 36, "colour": "red", "name": "Ada L"}});
        let content: Value = serde_json::from_str(content.as_str().unwrap()).unwrap();
        assert_eq!(content, accepted, "{shown}");
        assert!(shown.contains("MCP server s asks: Who are you?"), "{shown}");
        assert!(
            !shown.contains("\u{1b}[2J"),
            "the server must not control the terminal"
        );
        let Some((_, content)) = filled_in(words, &[("Name: ", "\u{4}")]) else {
            return;
        };
        assert_eq!(content, "{\"action\": \"decline\"}");
    }
}

#[test]
fn an_open_question_is_alone_on_the_terminal() {
    let commands = [
        "--json",
        "--json --quiet",
        "--json 2> errors",
        "--json 2> /dev/tty",
        "> output",
        // The output of another process of the job.
        "| \"$0\" session append session.jsonl --json",
    ];
    for command in commands {
        let bench = Bench::new();
        let calls = write(&bench, "a") + &write(&bench, "b") + &bash("c", "echo done");
        bench.write("calls", calls);
        let lines = (0..10_000).map(|line| format!("{{\"type\":\"line{line}\"}}\n"));
        bench.write("lines", lines.collect::<String>());
        // Progress is drawn after half a second.
        let script = format!(
            "{{ cat calls; sleep 1; cat lines; touch fed; }} |
            \"$0\" run-tools --no-config --permission-prompt tty {command}"
        );
        let mut terminal = OnTerminal::start(&bench, &script);
        for number in 1..=2 {
            terminal.read_until("[n] no: ", number);
            wait_for("the end of the input", || bench.work().join("fed").exists());
            terminal.enter("y\n");
        }
        let shown = terminal.finish();
        let mut questions = shown.split("\r\nWrite wants to run (").skip(1);
        for name in ["a", "b"] {
            let question = questions.next().unwrap();
            let (question, _) = question.split_once("no: y\r\n").expect(command);
            let question = &question[question.find("):").unwrap()..];
            let path = bench.work().join(name).display().to_string();
            let expected = format!(
                "):\r\n  {{\r\n  \"file_path\": \"{path}\",\r\n  \"content\": \"x\"\r\n  }}\r\n\
                [y] yes, once  [a] allow Edit(./{name}) for this run  [n] "
            );
            assert_eq!(question, expected, "{command}");
            assert!(bench.work().join(name).exists());
        }
        let first = shown.find("\"line0\"");
        assert_eq!(first.is_some(), command != "> output", "{command}");
        let answered = shown.find("no: y").unwrap();
        assert!(first.is_none_or(|first| first > answered), "{command}");
        // Progress of one process may cut a line of another one.
        if !command.starts_with(['>', '|']) {
            let lines = shown
                .lines()
                .filter_map(|line| line.split_once("{\"type\":\"line"));
            let numbers =
                lines.map(|(_, rest)| rest.trim_end_matches("\"}").parse::<u32>().unwrap());
            assert!(numbers.eq(0..10_000), "{command}");
        }
    }
}

#[test]
fn a_question_is_asked_again_after_a_stop() {
    let bench = Bench::new();
    bench.write("calls", bash("a", "touch one"));
    let mut terminal = OnTerminal::start(
        &bench,
        "echo $$ > id; exec \"$0\" run-tools --no-config --permission-prompt tty < calls",
    );
    terminal.read_until("no: ", 1);
    // Not an answer, since the question is asked again.
    terminal.enter("y");
    terminal.read_until("no: y", 1);
    // An orphaned job cannot be stopped from its terminal.
    let script = format!("kill -CONT {}", bench.read("id").trim());
    let continued = std::process::Command::new("sh")
        .args(["-c", &script])
        .status();
    assert!(continued.unwrap().success());
    terminal.read_until("touch one", 2);
    terminal.read_until("no: ", 2);
    terminal.enter("n\n");
    let shown = terminal.finish();
    assert!(!bench.work().join("one").exists(), "{shown}");
}

#[test]
fn an_interrupt_ends_a_question_on_the_terminal() {
    let bench = Bench::new();
    bench.write("calls", bash("a", "touch one") + &bash("b", "touch two"));
    let mut terminal = OnTerminal::start(
        &bench,
        "trap : INT; \"$0\" run-tools --no-config --permission-prompt tty < calls; echo $? > status",
    );
    terminal.read_until("no: ", 1);
    terminal.enter("\u{3}");
    let shown = terminal.finish();
    assert_eq!(bench.read("status"), "130\n", "{shown}");
    assert_eq!(shown.matches("no: ").count(), 1, "{shown}");
    assert!(
        shown.contains("2 not run"),
        "the summary follows: {shown:?}"
    );
}

#[test]
fn without_a_terminal_nothing_runs() {
    let bench = Bench::new();
    let run = bench.run(&["--permission-prompt", "tty"], bash("a", "echo read"));
    if run.status == Some(2) {
        assert!(run.stderr.contains("tty: no terminal"), "{run:?}");
        assert_eq!(run.stdout, "");
    }
}
