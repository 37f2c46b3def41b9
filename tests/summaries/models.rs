//! The services with a model, through the real providers.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent_script::wait_until;
use crate::files::{TALK, claude, qwen, records, stream, write};
use crate::server::{CANARY, Server, run_with_input, text_reply, titles};
use crate::turnpipe::run;

const NO_DELAY: Duration = Duration::ZERO;

fn fixed_reply(answer: String) -> Box<crate::server::Answer> {
    Box::new(move |_| (200, answer.clone()))
}

fn labels(output: &str) -> Vec<Value> {
    let mut found = records(output);
    found.retain(|record| record["type"] == "tool_use_summary");
    found
}

#[test]
fn a_label_is_requested_cleaned_and_accounted() {
    let server = Server::start(
        NO_DELAY,
        fixed_reply(text_reply("- **Read a \u{1b}[31mfile**")),
    );
    let result = run_with_input(server.command(&["summarize-batch"]), &stream(1));
    let found = labels(&result.stdout);
    assert_eq!(found.len(), 1, "{}", result.stderr);
    assert_eq!(found[0]["summary"], "Read a file");
    assert_eq!(
        found[0]["turnpipe"]["prompt_id"],
        "tool_use_summary_generation"
    );
    assert_eq!(found[0]["turnpipe"]["usage"]["output_tokens"], 3);
    assert_eq!(found[0]["turnpipe"]["model"], "openai:small");
    let body = server.bodies.lock().unwrap()[0].clone();
    assert_eq!(body["temperature"], 0.3);
    let text = body.to_string();
    assert!(
        text.contains("User's intent (from assistant's last message): I read file 0."),
        "{text}"
    );
    assert!(!format!("{}{}", result.stdout, result.stderr).contains(CANARY));
}

#[test]
fn unusable_answers_are_accounted() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["title", "recap"] {
        let path = write(folder.path(), &format!("{command}.jsonl"), &qwen(&TALK));
        let path = path.to_str().unwrap();
        let server = Server::start(NO_DELAY, fixed_reply(text_reply("")));
        let result = run_with_input(server.command(&[command, "--write", path]), "");
        assert_eq!(records(&result.stdout)[0]["ok"], false, "{}", result.stdout);
        let asked = server.bodies.lock().unwrap().len() as u64;
        let stats = run(&["session", "stats", path, "-o", "jsonl"], b"");
        let paid = &records(&stats.stdout)[0]["by_model"][1];
        assert_eq!(paid["name"], "openai:small", "{}", stats.stdout);
        assert_eq!(paid["usage"]["input_tokens"], 11 * asked);
    }
}

#[test]
fn labels_of_a_slow_model_follow_their_calls() {
    let server = Server::start(
        Duration::from_millis(100),
        fixed_reply(text_reply("Read a file")),
    );
    let result = run_with_input(
        server.command(&["summarize-batch", "--jobs", "8", "--hold-ms", "60000"]),
        &stream(80),
    );
    let found = records(&result.stdout);
    assert_eq!(labels(&result.stdout).len(), 80);
    for (place, record) in found.iter().enumerate() {
        if record["type"] == "tool_use_summary" {
            let before = &found[place - 1]["message"]["content"][0]["tool_use_id"];
            assert_eq!(record["preceding_tool_use_ids"], json!([before]));
        }
    }
    let at_once = server
        .most_at_once
        .load(std::sync::atomic::Ordering::SeqCst);
    assert!((2..=9).contains(&at_once), "{at_once} requests at once");
}

#[test]
fn no_line_waits_longer_than_the_limit_for_a_hanging_model() {
    let server = Server::start(
        Duration::from_mins(1),
        fixed_reply(text_reply("Read a file")),
    );
    let input = stream(20);
    for jobs in ["1", "4"] {
        let words = ["summarize-batch", "--hold-ms", "500", "--jobs", jobs];
        let run = run_with_input(server.command(&words), &input);
        assert_eq!((run.status, &run.stdout), (Some(0), &input));
        assert_eq!(run.stderr.matches("too slow").count(), 1, "{}", run.stderr);
    }
    // A named file is read as its lines are copied: three labels are late, one after the other.
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "stream.jsonl", &input);
    let file = file.to_str().unwrap();
    let words = ["summarize-batch", "--hold-ms", "200", "--jobs", "1", file];
    let run = run_with_input(server.command(&words), "");
    assert_eq!((run.status, &run.stdout), (Some(0), &input));
    assert_eq!(run.stderr.matches("too slow").count(), 1, "{}", run.stderr);
}

#[test]
fn a_closing_line_counts_failures() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["Port it", "Cut it", "Paint it"].map(|prompt| {
        let text = qwen(&[prompt, "Done."]);
        write(folder.path(), &format!("{prompt}.jsonl"), &text)
    });
    let answer = |body: &Value| {
        if body.to_string().contains("Port it") {
            (200, titles("Port the parser"))
        } else {
            (500, "{}".to_owned())
        }
    };
    let server = Server::start(NO_DELAY, Box::new(answer));
    let mut words = vec!["title"];
    words.extend(paths.iter().map(|path| path.to_str().unwrap()));
    let run = run_with_input(server.command(&words), "");
    assert_eq!(run.status, Some(5), "{}", run.stderr);
    let last = run.stderr.lines().last();
    assert_eq!(last, Some("turnpipe: 1 written, 2 not"), "{}", run.stderr);
}

/// With `--hold-ms 0` no line waits for a label, which follows as soon as it is there.
#[test]
fn a_ready_label_is_written_without_holding_the_next_message() {
    let server = Server::start(NO_DELAY, fixed_reply(text_reply("Read a file")));
    let mut child = server
        .command(&["summarize-batch", "--hold-ms", "0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap()).lines();
    // The cost of a late label may be anywhere.
    let mut output = output
        .map(Result::unwrap)
        .filter(|line| !line.contains("\"subtype\":\"usage\""));
    let batches = stream(500);
    let mut labels = Vec::new();
    for (number, line) in batches.lines().skip(1).enumerate() {
        writeln!(input, "{line}").unwrap();
        labels.extend(output.by_ref().take_while(|echoed| echoed != line));
        wait_until("a request", || {
            server.bodies.lock().unwrap().len() >= number / 2
        });
        if !labels.is_empty() {
            break;
        }
    }
    drop(input);
    let label = &records(&labels[0])[0];
    assert_eq!(label["summary"], "Read a file");
    assert!(child.wait().unwrap().success());
}

#[test]
fn without_a_hold_no_line_waits() {
    let server = Server::start(
        Duration::from_secs(20),
        fixed_reply(text_reply("Read a file")),
    );
    let result = run_with_input(
        server.command(&["summarize-batch", "--hold-ms", "0", "-v"]),
        &stream(5),
    );
    assert_eq!(result.stdout, stream(5));
    assert!(
        result
            .stderr
            .contains("[TOOL_USE_SUMMARY] the label of batch 1 was not ready in time"),
        "{}",
        result.stderr
    );
}

#[test]
fn each_cause_of_failure_has_one_line_and_a_status() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "one.jsonl", &claude(&TALK));
    let two = write(folder.path(), "two.jsonl", &qwen(&TALK));
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    for (answer, status) in [(400, 4), (500, 5)] {
        let server = Server::start(
            NO_DELAY,
            Box::new(move |_| (answer, "{\"error\":{\"message\":\"boom\"}}".to_owned())),
        );
        for arguments in [
            &["summarize-batch"][..],
            &["title", one, two],
            &["recap", one, two],
        ] {
            let input = if arguments.len() == 1 {
                stream(2)
            } else {
                String::new()
            };
            let run = run_with_input(server.command(arguments), &input);
            assert_eq!(run.status, Some(status), "{arguments:?}: {run:?}");
            assert_eq!(run.stderr.lines().count(), 1, "{arguments:?}: {run:?}");
            assert!(run.stderr.contains("boom"), "{arguments:?}: {run:?}");
            assert!(run.stdout.starts_with(&input), "{run:?}");
        }
        let verbose = run_with_input(server.command(&["summarize-batch", "-v"]), &stream(1));
        assert!(verbose.stderr.contains("[TOOL_USE_SUMMARY]"), "{verbose:?}");
    }
}

#[test]
fn a_failure_decides_the_status_even_with_a_title() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "one.jsonl", &claude(&TALK));
    let two = write(
        folder.path(),
        "two.jsonl",
        &qwen(&["Name the colours", "Red and blue."]),
    );
    let server = Server::start(
        NO_DELAY,
        Box::new(|body| {
            if body.to_string().contains("colours") {
                (400, "{\"error\":{\"message\":\"boom\"}}".to_owned())
            } else {
                (200, titles("Port the parser"))
            }
        }),
    );
    let paths = [one.to_str().unwrap(), two.to_str().unwrap()];
    let run = run_with_input(server.command(&[&["title"], &paths[..]].concat()), "");
    assert_eq!(run.status, Some(4), "{run:?}");
    assert!(run.stderr.contains("boom"), "{run:?}");
    assert_eq!(records(&run.stdout)[0]["title"], "Port the parser");
}

#[test]
fn a_refusal_has_a_cost_but_no_label() {
    let server = Server::start(NO_DELAY, fixed_reply(text_reply("I cannot summarize this")));
    let result = run_with_input(server.command(&["summarize-batch"]), &stream(1));
    assert!(labels(&result.stdout).is_empty());
    let usage = records(&result.stdout)
        .into_iter()
        .find(|record| record["subtype"] == "usage")
        .unwrap();
    assert_eq!(usage["turnpipe"]["usage"]["input_tokens"], 11);
}

#[test]
fn a_batch_whose_calls_all_failed_is_labelled_from_the_same_prompt() {
    let failed = r#""content":"No such file","is_error":true"#;
    let input = stream(1).replace(r#""content":"1\tfn main() {}""#, failed);
    let server = Server::start(NO_DELAY, fixed_reply(text_reply("Failed to read f0.rs")));
    let result = run_with_input(server.command(&["summarize-batch", "--shortcuts"]), &input);
    let found = labels(&result.stdout);
    assert_eq!(found.len(), 1, "{result:?}");
    assert_eq!(found[0]["summary"], "Failed to read f0.rs");
    assert_eq!(found[0]["preceding_tool_use_ids"], json!(["t0"]));
    let asked = server.bodies.lock().unwrap()[0].to_string();
    assert!(asked.contains("No such file"), "{asked}");
    let result = run_with_input(server.command(&["summarize-batch"]), &stream(1));
    assert!(labels(&result.stdout).is_empty(), "of calls that succeeded");
}

#[test]
fn a_label_in_the_stream_costs_nothing_again() {
    let server = Server::start(NO_DELAY, fixed_reply(text_reply("Read a file")));
    let first = run_with_input(server.command(&["summarize-batch"]), &stream(2));
    let again = run_with_input(server.command(&["summarize-batch"]), &first.stdout);
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(server.bodies.lock().unwrap().len(), 2);
}

#[test]
fn signed_thinking_is_in_no_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let thought = r#""parts":[{"text":"I ponder.","thoughtSignature":"s"},{"text":"Done"#;
    let talk = qwen(&TALK).replace(r#""parts":[{"text":"Done"#, thought);
    assert!(talk.contains("I ponder."));
    let path = write(folder.path(), "s.jsonl", &talk);
    let server = Server::start(NO_DELAY, fixed_reply(titles("Port the parser")));
    for command in ["title", "recap"] {
        // Only its effects matter.
        let _ = run_with_input(server.command(&[command, path.to_str().unwrap()]), "").status;
    }
    let asked = server.bodies.lock().unwrap();
    assert_eq!(asked.len(), 2);
    for body in asked.iter() {
        let body = body.to_string();
        assert!(body.contains("Done.") && !body.contains("ponder"), "{body}");
    }
}

#[test]
fn secrets_are_in_no_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let talk = qwen(&TALK).replace("Done.", &format!("Done with {key}."));
    assert!(talk.contains(&key));
    let path = write(folder.path(), "s.jsonl", &talk);
    let server = Server::start(NO_DELAY, fixed_reply(titles("Port the parser")));
    for command in ["title", "recap"] {
        // Only its effects matter.
        let _ = run_with_input(server.command(&[command, path.to_str().unwrap()]), "").status;
    }
    let input = stream(1)
        .replace("I read file 0.", &format!("I use {key}."))
        .replace(r"1\tfn main() {}", &format!(r"1\t{key}"));
    assert_eq!(input.matches(&key).count(), 2, "{input}");
    // Only its effects matter.
    let _ = run_with_input(server.command(&["summarize-batch"]), &input).status;
    let asked = server.bodies.lock().unwrap();
    assert_eq!(asked.len(), 3);
    for body in asked.iter() {
        let body = body.to_string();
        assert!(
            body.contains("ghp_[redacted]") && !body.contains(&key),
            "{body}"
        );
    }
}

#[test]
fn shortcuts_label_single_reads_without_a_model() {
    let server = Server::start(NO_DELAY, fixed_reply(text_reply("never")));
    let result = run_with_input(
        server.command(&["summarize-batch", "--shortcuts"]),
        &stream(3),
    );
    assert_eq!(labels(&result.stdout).len(), 3);
    assert!(server.bodies.lock().unwrap().is_empty());
}

#[test]
fn titles_come_from_the_function_or_from_json_in_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "s.jsonl", &qwen(&TALK));
    let path = path.to_str().unwrap();
    let rows = [
        (
            titles("**Port config parser.**"),
            Some("Port config parser"),
            "",
        ),
        (
            text_reply("```json\n{\"title\": \"Port config parser\"}\n```"),
            Some("Port config parser"),
            "",
        ),
        (titles("Fix login button on mobile"), None, "empty_result"),
        (titles("   ...  "), None, "empty_result"),
        (titles("移植配置解析器"), None, "empty_result"),
        (text_reply("no json here"), None, "model_error"),
    ];
    for (answer, title, reason) in rows {
        let server = Server::start(NO_DELAY, fixed_reply(answer.clone()));
        let result = run_with_input(server.command(&["title", path]), "");
        let record = &records(&result.stdout)[0];
        match title {
            Some(title) => assert_eq!(record["title"], title, "{answer}"),
            None => assert_eq!(record["reason"], reason, "{answer}"),
        }
        assert_eq!(record["turnpipe"]["prompt_id"], "session_title", "{record}");
        let body = server.bodies.lock().unwrap()[0].to_string();
        assert!(body.contains("Answer in English"), "{body}");
    }
}

#[test]
fn the_language_of_the_conversation_is_requested() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(
        folder.path(),
        "s.jsonl",
        &claude(&["请把配置解析器移植到 Rust，谢谢", "好的，我开始移植。"]),
    );
    let server = Server::start(NO_DELAY, fixed_reply(titles("移植配置解析器")));
    for options in [&[][..], &["--language", "zh-CN"], &["--language", "auto"]] {
        let words = [&["title"], options, &[path.to_str().unwrap()]].concat();
        let result = run_with_input(server.command(&words), "");
        assert_eq!(records(&result.stdout)[0]["title"], "移植配置解析器");
    }
    assert!(
        server.bodies.lock().unwrap()[0]
            .to_string()
            .contains("Answer in Chinese")
    );
    let other = run_with_input(
        server.command(&["title", "--language", "de", path.to_str().unwrap()]),
        "",
    );
    assert_eq!(records(&other.stdout)[0]["reason"], "empty_result");
}

#[test]
fn recaps_are_the_text_in_the_tag() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "s.jsonl", &claude(&TALK));
    let path = path.to_str().unwrap();
    let server = Server::start(
        NO_DELAY,
        fixed_reply(text_reply(
            "Let me think.\n<recap>Porting the parser. Next: delete the old one.</recap>",
        )),
    );
    let result = run_with_input(server.command(&["recap", path]), "");
    let record = &records(&result.stdout)[0];
    assert_eq!(
        record["recap"],
        "Porting the parser. Next: delete the old one."
    );
    assert_eq!(record["turnpipe"]["prompt_id"], "session_recap");
    let server = Server::start(NO_DELAY, fixed_reply(text_reply("Let me think about it.")));
    let result = run_with_input(server.command(&["recap", path]), "");
    assert_eq!(records(&result.stdout)[0]["reason"], "empty_result");
}

#[test]
fn an_interrupt_stops_the_request_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "s.jsonl", &claude(&TALK));
    let server = Server::start(Duration::from_secs(30), fixed_reply(titles("x")));
    let mut command = server.command(&["title", path.to_str().unwrap()]);
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    wait_until("a request", || !server.bodies.lock().unwrap().is_empty());
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::INT,
    )
    .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["reason"], "aborted");
}
