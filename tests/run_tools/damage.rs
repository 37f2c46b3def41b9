//! Damaged input: everything is passed on, and usable records are used.

use serde_json::json;

use crate::bench::{BYPASS, Bench, bash, pairs};

/// Lines around a good call, the report of `--strict` (`""` for none), and whether the report is the same without
/// `--strict`, which only reads lines that may contain a call or a result.
#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn a_bad_line_is_reported_and_everything_after_it_survives() {
    let good = bash("a", "echo a");
    let deep = format!(
        "{{\"type\":\"x\",\"d\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let cases: Vec<(&str, Vec<u8>, &str, bool)> = vec![
        (
            "a byte order mark",
            [b"\xef\xbb\xbf", good.as_bytes()].concat(),
            "",
            false,
        ),
        ("crlf", good.replace('\n', "\r\n").into_bytes(), "", false),
        (
            "nul run",
            [b"\0\0\0\n", good.as_bytes()].concat(),
            "input line 1 (byte 0)",
            false,
        ),
        (
            "nul run before the record",
            [b"\0\0\0", good.as_bytes()].concat(),
            "input line 1",
            true,
        ),
        (
            "invalid UTF-8",
            [b"{\"type\":\"x\",\"t\":\"\xff\"}\n", good.as_bytes()].concat(),
            "input line 1",
            false,
        ),
        (
            "lone surrogate",
            [br#"{"type":"x","t":"\ud83d"}"#, &b"\n"[..], good.as_bytes()].concat(),
            "",
            false,
        ),
        (
            "duplicate keys",
            format!("{{\"type\":\"x\",\"type\":\"y\"}}\n{good}").into_bytes(),
            "",
            false,
        ),
        (
            "numbers that do not fit",
            format!(
                "{{\"type\":\"x\",\"n\":1e999,\"m\":{}}}\n{good}",
                "9".repeat(400)
            )
            .into_bytes(),
            "",
            false,
        ),
        ("depth", format!("{deep}\n{good}").into_bytes(), "", false),
        (
            "two records on a line",
            format!("{{\"type\":\"x\"}}{good}").into_bytes(),
            "input line 1",
            true,
        ),
        (
            "a prefix glued to a record",
            format!("{{\"type\":\"assistant\",\"mess{good}").into_bytes(),
            "input line 1",
            true,
        ),
        (
            "a broken line",
            format!("{{\"type\":\"x\",}}\n{good}").into_bytes(),
            "input line 1 (byte",
            false,
        ),
        (
            "a raw control character",
            format!("{{\"type\":\"x\u{1}\"}}\n{good}").into_bytes(),
            "input line 1",
            false,
        ),
        (
            "blank lines",
            format!("\n  \n{good}\n").into_bytes(),
            "",
            false,
        ),
        (
            "a scalar",
            format!("42\n{good}").into_bytes(),
            "input line 1",
            false,
        ),
        (
            "a torn last line",
            format!("{good}{{\"type\":\"x").into_bytes(),
            "input line 2",
            false,
        ),
        (
            "no final newline",
            good.trim_end().as_bytes().to_vec(),
            "",
            false,
        ),
        (
            "a whole matrix before",
            [&b"{\"a\":\n}{\n\xff\n\0\n"[..], good.as_bytes()].concat(),
            "input line 1",
            false,
        ),
    ];
    std::thread::scope(|scope| {
        for (name, input, report, read) in cases {
            scope.spawn(move || check_survival(name, &input, report, read));
        }
    });
}

fn check_survival(name: &str, input: &[u8], report: &str, read: bool) {
    let bench = Bench::new();
    let run = bench.shell_with_input(
        "turnpipe run-tools --permission-mode bypassPermissions",
        input,
    );
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{name}: {run:?}");
    assert_eq!(run.status, Some(0), "{name}");
    if read {
        assert!(run.stderr.contains(report), "{name}: {}", run.stderr);
    } else {
        assert_eq!(run.stderr, "", "{name}");
    }
    let strict = bench.run(&[&BYPASS[..], &["--strict"]].concat(), input);
    assert_eq!(
        strict.outcomes(),
        pairs(&[("a", "ok")]),
        "{name}: {strict:?}"
    );
    if report.is_empty() {
        assert_eq!(strict.stderr, "", "{name}");
    } else {
        assert!(strict.stderr.contains(report), "{name}: {}", strict.stderr);
    }
    assert_eq!(
        strict.status,
        Some(if report.is_empty() { 0 } else { 3 }),
        "{name}"
    );
}

#[test]
fn own_records_are_never_inside_a_torn_line() {
    let bench = Bench::new();
    let torn = "{\"type\":\"x";
    let run = bench.run(&BYPASS, format!("{}{torn}", bash("a", "sleep 0.1; echo a")));
    let lines: Vec<_> = run.stdout.lines().collect();
    assert!(lines.contains(&torn), "{run:?}");
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]));
}

#[test]
fn long_lines_pass_in_constant_memory() {
    let bench = Bench::new();
    let script = "
        { echo '{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"Bash\",\"input\":{\"command\":\"echo a\"}}'
          printf '{\"type\":\"x\",\"t\":\"'; head -c 60000000 /dev/zero | tr '\\0' 'x'; echo '\"}'
          echo '{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"Bash\",\"input\":{\"command\":\"echo b\"}}'
        } > input
        turnpipe run-tools --permission-mode bypassPermissions < input > output &
        wait $!; echo status $?
        grep -v '\"turnpipe\"\\|turn_end' output | cmp - input && echo same
        grep -o '\"outcome\":\"[a-z]*\"' output";
    let run = bench.shell(script);
    assert_eq!(
        run.stdout, "status 0\nsame\n\"outcome\":\"ok\"\n\"outcome\":\"ok\"\n",
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("input line 2"), "{}", run.stderr);
}

#[test]
fn empty_and_closed_input_is_a_no_op() {
    let bench = Bench::new();
    for script in ["turnpipe run-tools < /dev/null", "turnpipe run-tools <&-"] {
        let run = bench.shell(script);
        assert_eq!(
            (run.status, run.stdout.as_str(), run.stderr.as_str()),
            (Some(0), "", ""),
            "{script}"
        );
    }
}

/// A streamed reply as `curl` prints it.
#[test]
fn server_sent_events_are_read_as_their_records() {
    let bench = Bench::new();
    let events = [
        r#"{"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"Bash","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"echo a\"}"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let event = |data: &&str| format!("event: of the stream\ndata: {data}\n\n");
    let input: String = events.iter().map(event).collect();
    let run = bench.run(
        &[&BYPASS[..], &["--strict"]].concat(),
        format!(": comment\n{input}data: [DONE]\n\n"),
    );
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{run:?}");
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
}

/// An error as `curl` or `curl -i` prints it.
#[test]
fn errors_of_apis_are_reported() {
    let rows = [
        (
            r#"{"error":{"message":"bad key","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            "refused: bad key",
            3,
        ),
        (
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"r"}"#,
            "refused: invalid x-api-key",
            3,
        ),
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "failing: Overloaded",
            5,
        ),
        (
            r#"{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}"#,
            "failing: status 429: slow down",
            5,
        ),
        (
            r#"[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]"#,
            "refused: status 400: bad",
            3,
        ),
        (
            r#"{"error":"model 'x' not found"}"#,
            "model 'x' not found",
            5,
        ),
        (
            r#"{"object":"error","message":"no such model","type":"NotFoundError","param":null,"code":404}"#,
            "no such model",
            3,
        ),
        (
            "data: {\"object\":\"error\",\"message\":\"engine died\",\"type\":\"InternalServerError\",\"code\":500}\n\n",
            "failing: status 500: engine died",
            5,
        ),
        (
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"broke\"}}\n\n",
            "failing: broke",
            5,
        ),
        (
            "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\n\r\n{\n  \"error\": {\n    \"message\": \"no key\", \"type\": \"authentication_error\"\n  }\n}\n",
            "refused: no key",
            3,
        ),
    ];
    for (body, message, status) in rows {
        for options in [&[][..], &["--results", "anthropic"]] {
            let bench = Bench::new();
            let run = bench.run(options, body);
            assert!(run.stderr.contains(message), "{run:?}");
            assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
            assert_eq!(run.status, Some(status), "{run:?}");
        }
    }
    let others = [
        r#"{"type":"system","subtype":"api_error","error":{"message":"x"}}"#,
        r#"{"type":"message","role":"assistant","content":[],"error":null}"#,
        r#"{"level":"info","message":"x"}"#,
    ];
    for record in others {
        let bench = Bench::new();
        assert_eq!(bench.run(&[], record).status, Some(0), "{record}");
    }
}

/// A reply as `curl` or `curl | jq .` prints it.
#[test]
fn replies_on_several_lines_are_read() {
    let arguments = r#"{"command":"echo a"}"#;
    let openai = json!({"id": "c", "object": "chat.completion", "choices": [{"index": 0,
        "message": {"role": "assistant", "tool_calls": [{"id": "a", "type": "function",
            "function": {"name": "Bash", "arguments": arguments}}]}, "finish_reason": "tool_calls"}]});
    let anthropic = json!({"id": "m", "type": "message", "role": "assistant", "content": [
        {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "echo a"}}],
        "stop_reason": "tool_use"});
    let gemini = json!({"responseId": "r", "candidates": [{"content": {"role": "model", "parts": [
        {"functionCall": {"id": "a", "name": "Bash", "args": {"command": "echo a"}}}]},
        "finishReason": "STOP"}]});
    let pretty = |reply: &serde_json::Value| serde_json::to_string_pretty(reply).unwrap();
    let inputs = [
        pretty(&openai),
        pretty(&anthropic) + "\n",
        pretty(&gemini) + "\n",
        format!("[{}\n]\n", pretty(&gemini)),
        pretty(&json!([{"candidates": []}, gemini])),
        json!([{"candidates": []}, gemini]).to_string() + "\n",
        pretty(&anthropic).replace('\n', "\r\n") + "\r\n",
        format!(
            "{{\"type\":\"x\"}}\n{}\n{{\"type\":\"x\"}}\n",
            pretty(&openai)
        ),
    ];
    for input in inputs {
        let bench = Bench::new();
        let run = bench.run(&[&BYPASS[..], &["--strict"]].concat(), input.clone());
        assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{run:?}");
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
        let is_own = |line: &&str| line.contains("\"turnpipe\"") || line.contains("turn_end");
        let echo: Vec<&str> = run.stdout.lines().filter(|line| !is_own(line)).collect();
        assert_eq!(echo, input.lines().collect::<Vec<_>>());
        let twice = bench.shell_with_input(
            "turnpipe run-tools --permission-mode bypassPermissions | turnpipe run-tools",
            input.as_bytes(),
        );
        assert_eq!(twice.outcomes(), pairs(&[("a", "ok")]), "{twice:?}");
    }
}
