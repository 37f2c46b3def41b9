//! `check text`.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::turnpipe::{command, quiet_run, run};

const TERMINAL: [&str; 4] = ["check", "text", "--kind", "terminal"];

fn with_options(options: &[&'static str]) -> Vec<&'static str> {
    [&TERMINAL[..], options].concat()
}

fn clean_text(output: &str) -> String {
    format!(
        "{{\"type\":\"check\",\"check\":\"text\",\"kind\":\"terminal\",\"output\":\"{output}\",\"rejected\":null}}\n"
    )
}

#[test]
fn every_line_has_one_record_in_order() {
    let input = "\"a\\u001b[31mb\\u001b[0m\"\n{\"text\":\"two\\nlines\"}\n\"\"\n\"\\ud83d\"";
    let answers = [
        clean_text("ab"),
        clean_text("two lines"),
        clean_text(""),
        clean_text("\u{fffd}"),
    ];
    assert_eq!(
        run(&TERMINAL, input.as_bytes()),
        quiet_run(0, &answers.concat())
    );
}

#[test]
fn empty_input_has_no_output() {
    assert_eq!(run(&TERMINAL, b""), quiet_run(0, ""));
}

#[test]
fn an_unusable_line_is_an_error_and_the_next_one_is_read() {
    let input = b"\"a\"\n17\n\"b\"\n";
    let error = "{\"type\":\"check\",\"check\":\"text\",\"line\":2,\"error\":\"expected a string or an \
                 object with a string `text`, found a number\"}\n";
    let answers = [clean_text("a"), error.to_owned(), clean_text("b")].concat();
    assert_eq!(run(&TERMINAL, input), quiet_run(0, &answers));
    assert_eq!(
        run(&with_options(&["--strict"]), input),
        quiet_run(3, &answers)
    );
}

#[test]
fn plain_lines_are_text() {
    let input = b"\"quoted\" \x1b]0;t\x07text\r\n\n";
    let answers = [clean_text("\\\"quoted\\\" text"), clean_text("")].concat();
    assert_eq!(
        run(&with_options(&["--plain"]), input),
        quiet_run(0, &answers)
    );
}

#[test]
fn invalid_utf_8_is_reported_on_standard_error() {
    let result = run(&with_options(&["--strict"]), b"\"a\xffb\"\n");
    assert_eq!(result.status, Some(3));
    assert_eq!(result.stdout, clean_text("a\u{fffd}b"));
    assert_eq!(
        result.stderr,
        "turnpipe: standard input: line 1: invalid UTF-8 was replaced by U+FFFD\n"
    );
    assert_eq!(
        run(&with_options(&["--quiet"]), b"\"a\xffb\"\n"),
        quiet_run(0, &clean_text("a\u{fffd}b"))
    );
}

#[test]
fn a_byte_order_mark_is_not_text() {
    assert_eq!(
        run(&TERMINAL, "\u{feff}\"a\"\n".as_bytes()),
        quiet_run(0, &clean_text("a"))
    );
}

#[test]
fn deep_nesting_is_an_error_not_a_crash() {
    let input = format!("{}\n\"after\"\n", "[".repeat(1_000_000));
    let result = run(&TERMINAL, input.as_bytes());
    assert_eq!(result.status, Some(0));
    let lines: Vec<&str> = result.stdout.lines().collect();
    assert!(
        lines[0].contains("\"line\":1,\"error\":\"not JSON"),
        "{}",
        lines[0]
    );
    assert_eq!(lines[1], clean_text("after").trim_end());
}

#[test]
fn files_are_read_in_the_given_order() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("one"), "\"1\"\nx\n").unwrap();
    std::fs::write(path("two"), "\"2\"").unwrap();
    let (one, two) = (path("one"), path("two"));
    let arguments = [&TERMINAL[..], &[two.as_str(), "-", one.as_str()]].concat();
    let result = run(&arguments, b"\"in\"\n");
    assert_eq!(result.status, Some(0));
    let lines: Vec<&str> = result.stdout.lines().collect();
    let expected = [clean_text("2"), clean_text("in"), clean_text("1")];
    for (line, expected) in lines.iter().zip(&expected) {
        assert_eq!(*line, expected.trim_end());
    }
    let error: serde_json::Value = serde_json::from_str(lines[3]).unwrap();
    assert_eq!(
        (error["line"].as_u64(), error["path"].as_str()),
        (Some(2), Some(one.as_str()))
    );
}

#[test]
fn a_record_does_not_wait_for_the_next_line() {
    let child = command()
        .args(TERMINAL)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for text in ["first", "second"] {
        writeln!(stdin, "\"{text}\"").unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, clean_text(text));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn texts_are_cleaned_by_kind() {
    let table = [
        (
            "label",
            "● **Ported the parser**",
            "Ported the parser",
            "null",
        ),
        ("label", "- Ported the parser", "Ported the parser", "null"),
        ("label", "I cannot do that", "", "\"refusal\""),
        ("title", "**Port the parser.", "Port the parser", "null"),
        ("title", "Fix login button on mobile", "", "\"prompt_echo\""),
        (
            "recap",
            "hm <recap>Porting it.</recap>",
            "Porting it.",
            "null",
        ),
        ("recap", "Porting it.", "", "\"no_tag\""),
        ("recap", "<recap> </recap>", "", "\"empty\""),
    ];
    for (kind, text, output, rejected) in table {
        let answer = format!(
            "{{\"type\":\"check\",\"check\":\"text\",\"kind\":\"{kind}\",\"output\":\"{output}\",\"rejected\":{rejected}}}\n"
        );
        let result = run(
            &["check", "text", "--kind", kind],
            format!("\"{text}\"\n").as_bytes(),
        );
        assert_eq!(result, quiet_run(0, &answer), "{text}");
    }
}
