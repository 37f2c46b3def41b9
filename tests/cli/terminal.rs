//! The output of commands on a pseudo-terminal.

use std::fs::File;
use std::io::{Read, Seek};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::termios::{OptionalActions, OutputModes};

use crate::pty::open_pty;
use crate::turnpipe::{command, data};

/// The streams of a command that are the terminal. The others are files, whose content is
/// ignored unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attached {
    Output,
    Messages,
    Both,
    /// The output; messages go to a file that is read afterwards, so no progress is drawn, which depends on time.
    OutputBesideMessages,
}

/// Returns the output of a command with these arguments.
pub(crate) fn run_on_terminal(
    columns: u16,
    attached: Attached,
    arguments: &[&str],
    stdin: Stdio,
) -> (Option<i32>, String) {
    let no_pager = [("TERM", "xterm"), ("PAGER", "")];
    run_with_variables(&no_pager, columns, attached, arguments, stdin)
}

/// Like [`run_on_terminal`], with these environment variables.
fn run_with_variables(
    variables: &[(&str, &str)],
    columns: u16,
    attached: Attached,
    arguments: &[&str],
    stdin: Stdio,
) -> (Option<i32>, String) {
    let mut command = command();
    let command = command.args(arguments).envs(variables.iter().copied());
    run_on_pty(columns, attached, command.stdin(stdin))
}

/// Returns everything that a command shows on a terminal of this width, and its exit status.
pub(crate) fn run_on_pty(
    columns: u16,
    attached: Attached,
    command: &mut Command,
) -> (Option<i32>, String) {
    let (controller, terminal) = open_pty(columns);
    let mut modes = rustix::termios::tcgetattr(&terminal).unwrap();
    modes.output_modes.remove(OutputModes::OPOST);
    rustix::termios::tcsetattr(&terminal, OptionalActions::Now, &modes).unwrap();
    let mut messages = tempfile::tempfile().unwrap();
    let stream = |is_terminal: bool| {
        let file = if is_terminal { &terminal } else { &messages };
        Stdio::from(OwnedFd::from(file.try_clone().unwrap()))
    };
    let has_messages = matches!(attached, Attached::Messages | Attached::Both);
    let mut child = command
        .stdout(stream(attached != Attached::Messages))
        .stderr(stream(has_messages))
        .spawn()
        .unwrap();
    // A terminal is at its end when no process has it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    drop(terminal);
    let mut shown = Vec::new();
    // The end of a terminal is an error.
    let _ = File::from(controller).read_to_end(&mut shown);
    let status = child.wait().unwrap().code();
    if attached == Attached::OutputBesideMessages {
        messages.rewind().unwrap();
        messages.read_to_end(&mut shown).unwrap();
    }
    (status, String::from_utf8_lossy(&shown).into_owned())
}

/// Returns the output of a command on a terminal.
fn stdout_at(columns: u16, arguments: &[&str]) -> String {
    let (status, page) = run_on_terminal(columns, Attached::Output, arguments, Stdio::null());
    assert_eq!(status, Some(0), "{arguments:?}: {page}");
    page
}

#[test]
fn a_list_of_sessions_fits() {
    let root = data("");
    for columns in [80, 132] {
        let page = stdout_at(
            columns,
            &["--color", "never", "session", "list", "--root", &root],
        );
        assert!(page.lines().count() > 5, "{page}");
        for line in page.lines() {
            assert!(line.chars().count() <= usize::from(columns), "{line}");
        }
    }
}

#[test]
fn long_text_goes_through_the_pager() {
    let (root, file) = (data(""), data("claude-parallel.jsonl"));
    let commands: [&[&str]; 4] = [
        &["session", "list", "--root", &root],
        &["session", "show", &file],
        &["session", "search", "differ", &file],
        &["session", "stats", "--quiet", &file],
    ];
    let path = std::env::var("PATH").unwrap();
    let page = |variables: &[(&str, &str)], arguments: &[&str]| {
        let variables = [&[("PATH", path.as_str())], variables].concat();
        run_with_variables(&variables, 80, Attached::Output, arguments, Stdio::null())
    };
    let pager = "sed \"s/^/$LESS|/\"";
    for arguments in commands {
        let through = |variables: &[(&str, &str)]| {
            let (status, page) = page(variables, arguments);
            assert_eq!(status, Some(0), "{arguments:?}: {page}");
            assert!(page.lines().count() > 2, "{page}");
            let through_it = page.lines().filter(|line| line.starts_with("FRX|"));
            assert!([0, page.lines().count()].contains(&through_it.clone().count()));
            through_it.count() > 0
        };
        let term = ("TERM", "xterm");
        assert!(through(&[term, ("PAGER", pager)]), "{arguments:?}");
        assert!(through(&[
            term,
            ("PAGER", "false"),
            ("TURNPIPE_PAGER", pager)
        ]));
        assert!(!through(&[term, ("PAGER", pager), ("TURNPIPE_PAGER", "")]));
        assert!(!through(&[
            term,
            ("PAGER", pager),
            ("TURNPIPE_PAGER", "cat")
        ]));
        assert!(!through(&[("TERM", "dumb"), ("PAGER", pager)]));
        let plain = [arguments, &["--no-pager"]].concat();
        let (status, shown) = page(&[term, ("PAGER", pager)], &plain);
        assert_eq!((status, shown.contains("FRX|")), (Some(0), false));
    }
    let records = ["session", "list", "--root", &root, "--json"];
    let (_, shown) = page(&[("TERM", "xterm"), ("PAGER", pager)], &records);
    assert!(shown.starts_with('{'), "{shown}");
    // A pager that leaves early ends the command, a missing one changes nothing.
    let (status, _) = page(&[("TERM", "xterm"), ("PAGER", "exit 0")], commands[0]);
    assert!([Some(0), Some(141)].contains(&status), "{status:?}");
    let nothing = [("TERM", "xterm"), ("PATH", "/nowhere")];
    let (status, shown) = page(&nothing, commands[1]);
    assert_eq!(status, Some(0));
    assert!(shown.contains("They differ."), "{shown}");
}

#[test]
fn a_wide_list_shows_resume_commands() {
    let root = data("");
    let list = ["--color", "never", "session", "list", "--root", &root];
    let command = "claude --resume 5e551011-0000-4000-8000-000000000001";
    assert!(!stdout_at(120, &list).contains("RESUME"));
    let page = stdout_at(200, &list);
    assert!(page.contains(command), "{page}");
    assert!(
        page.contains("BRANCH") && page.contains("feature"),
        "{page}"
    );
    assert!(
        page.lines().all(|line| line.chars().count() <= 200),
        "{page}"
    );
    let asked = stdout_at(80, &[&list[..], &["--resume"]].concat());
    assert!(asked.contains(&format!("\n    {command}\n")), "{asked}");
    assert!(asked.contains("Compare files"), "{asked}");
    let counted = stdout_at(200, &[&list[..], &["--counts"]].concat());
    assert!(counted.contains("MESSAGES  CALLS  COST"), "{counted}");
}

#[test]
fn the_end_of_a_session_is_readable() {
    let file = data("claude-parallel.jsonl");
    let expected = "\
> Compare the two files

  Read(a.txt)
    ⎿ one
  Read(b.txt)
    ⎿ failed: two

They differ.

";
    let page = stdout_at(80, &["--color", "never", "session", "tail", &file]);
    assert_eq!(page, expected);
    let tail = ["--color", "never", "session", "tail"];
    let followed = ["-f", "--until-idle", "1ms"];
    let page = stdout_at(80, &[&tail[..], &[&file], &followed].concat());
    for line in expected.lines() {
        assert!(page.contains(line), "{line}: {page}");
    }
    // A long result is a line, whether it is followed or not.
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("s.jsonl").display().to_string();
    let lines = "\"content\":\"one\\n  two\\n".to_owned() + &"three\\n".repeat(98) + "\"";
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&long, text.replace("\"content\":\"one\"", &lines)).unwrap();
    for follow in [&followed[..], &[]] {
        let page = stdout_at(80, &[&tail[..], &[&long], follow].concat());
        assert!(page.contains("    ⎿ one two three three"), "{page}");
        assert!(page.contains("… (100 lines)\n"), "{page}");
    }
}

#[test]
fn records_are_harmless_and_stay_the_same() {
    let evil = "\u{9b}31m \u{9d}0;x\u{9c} \u{202e}abc";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evil.jsonl");
    let mut text = std::fs::read_to_string(data("claude-parallel.jsonl")).unwrap();
    text = text.replace("They differ.", evil);
    std::fs::write(&file, &text).unwrap();
    let path = file.to_str().unwrap();
    for arguments in [
        &["session", "tail", path, "--json"][..],
        &["session", "tail", path, "--raw"],
        &["session", "show", path, "-o", "jsonl"],
        &["session", "search", "abc", path, "--json"],
        &["run-tools", "--json"],
        &["summarize-batch", "--model", "none", "-o", "jsonl"],
    ] {
        let stdin = || Stdio::from(File::open(&file).unwrap());
        let (status, page) = run_on_terminal(80, Attached::Output, arguments, stdin());
        assert_eq!(status, Some(0), "{arguments:?}: {page}");
        assert!(!page.contains(['\u{9b}', '\u{9d}', '\u{202e}']), "{page}");
        assert!(page.contains(r"\u202eabc"), "{arguments:?}: {page}");
        let piped = command().args(arguments).stdin(stdin()).output().unwrap();
        let values = |text: &str| -> Vec<serde_json::Value> {
            text.lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect()
        };
        assert_eq!(
            values(&page),
            values(&String::from_utf8(piped.stdout).unwrap())
        );
    }
}

/// Returns a file whose content is `text`, for standard input.
pub(crate) fn input(text: &str) -> Stdio {
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    Stdio::from(file)
}

/// Returns a call of `Bash`, as a line.
fn call(id: &str, command: &str) -> String {
    let input = serde_json::json!({"command": command});
    let call = serde_json::json!({"type": "tool_use", "id": id, "name": "Bash", "input": input});
    format!("{call}\n")
}

#[test]
fn a_long_call_shows_a_progress_line_that_disappears() {
    let script = call("1", "sleep 2");
    for attached in [Attached::Messages, Attached::Both] {
        let (status, page) = run_on_terminal(80, attached, &["run-tools"], input(&script));
        assert_eq!(status, Some(0), "{page}");
        let drawn = page.matches("1 started, 1 running, 1 open").count();
        assert!(drawn >= 3, "{drawn} times: {page:?}");
        let end = page.rsplit("1 open").next().unwrap();
        assert!(end.contains("\u{1b}[2K"), "it does not vanish: {page:?}");
    }
}

#[test]
fn a_run_is_text_and_shows_its_lanes() {
    let script = [
        call("1", "sleep 2"),
        call("2", "sleep 1; true"),
        call("3", "touch /nowhere/x"),
    ];
    for (variable, is_styled) in [("SHELL", true), ("NO_COLOR", false)] {
        let variables = [("TERM", "xterm"), (variable, "1")];
        let stdin = input(&script.concat());
        let (status, page) =
            run_with_variables(&variables, 80, Attached::Both, &["run-tools"], stdin);
        assert_eq!(status, Some(0), "{page}");
        assert!(
            page.contains("  parallel Bash(sleep 2)"),
            "no row: {page:?}"
        );
        assert_eq!(page.contains("\u{1b}[2m"), is_styled, "{page:?}");
        let text = page
            .replace("\u{1b}[1m", "")
            .replace("\u{1b}[2m", "")
            .replace("\u{1b}[0m", "");
        let shown = text.split_once("✓ parallel  Bash  sleep 2").unwrap().1;
        let shown = shown
            .split_once("✓ parallel  Bash  sleep 1; true")
            .unwrap()
            .1;
        let shown = shown
            .split_once("✗ serial    Bash  touch /nowhere/x")
            .unwrap()
            .1;
        assert!(shown.contains("--allow"), "{page:?}");
        assert!(shown.ends_with("3 calls: 2 ok, 1 denied\n"), "{page:?}");
        assert_eq!(page.matches("was denied").count(), 1, "{page:?}");
    }
}

#[test]
fn progress_is_shown_for_files_but_not_for_pipes() {
    // Accepts connections but never responds, so that a line waits for its label.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", silent.local_addr().unwrap());
    let variables = [("TERM", "xterm"), ("OPENAI_BASE_URL", address.as_str())];
    let file = data("claude-parallel.jsonl");
    let arguments = [
        "summarize-batch",
        "--hold-ms",
        "1500",
        "--model",
        "openai:m",
    ];
    let (of_file, of_pipe) = ([&arguments[..], &[&file]].concat(), &arguments[..]);
    let show = |arguments: &[&str], stdin| {
        let (status, page) =
            run_with_variables(&variables, 100, Attached::Messages, arguments, stdin);
        assert_eq!(status, Some(0), "{page}");
        page
    };
    let page = show(&of_file, Stdio::null());
    let size = std::fs::metadata(&file).unwrap().len();
    assert!((2304..2406).contains(&size), "{size}");
    for part in ["labelling ", "/2.3KB, ", "/s, ", " left"] {
        assert!(page.contains(part), "no {part:?} in {page:?}");
    }
    let end = page.rsplit(" left").next().unwrap();
    assert!(end.contains("\u{1b}[2K"), "it does not vanish: {page:?}");
    let (reader, mut writer) = std::io::pipe().unwrap();
    std::io::copy(&mut File::open(&file).unwrap(), &mut writer).unwrap();
    drop(writer);
    let page = show(of_pipe, Stdio::from(reader));
    assert!(!page.contains("labelling"), "{page:?}");
}

#[test]
fn whole_lines_are_printed_above_the_progress() {
    let script = [
        call("1", "sleep 2"),
        call("2", "touch /nowhere/x"),
        "{\"type\":\"user\",\n".to_owned(),
    ]
    .concat();
    let arguments = ["run-tools", "--json"];
    let (_, page) = run_on_terminal(80, Attached::Both, &arguments, input(&script));
    assert!(page.contains(" started, "), "{page:?}");
    let mut records = 0;
    for line in page.split('\n') {
        // The rest of a line after it was cleared.
        let line = line.rsplit("\u{1b}[2K").next().unwrap();
        let line = line.rsplit('\r').next().unwrap();
        let line = line.trim_start_matches("\u{1b}[1A");
        if line.contains("\"type\":\"") && line != "{\"type\":\"user\"," {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
            records += 1;
        } else if line.contains("cut off") {
            assert!(line.starts_with("turnpipe: input line 3"), "{line:?}");
        }
    }
    assert!(records >= 4, "{page:?}");
}

#[test]
fn decisions_about_calls_fit() {
    let folder = tempfile::tempdir().unwrap();
    let calls = folder.path().join("calls");
    let settings = folder.path().join("settings.json");
    std::fs::write(
        &calls,
        "rm a/long/path/that/goes/on/and/on/and/on/and/on\n修复解析器 && ls\n",
    )
    .unwrap();
    std::fs::write(&settings, r#"{"permissions":{"deny":["Bash(rm *)"]}}"#).unwrap();
    let arguments = [
        "check",
        "permission",
        "--plain",
        "--settings",
        settings.to_str().unwrap(),
        calls.to_str().unwrap(),
    ];
    let page = stdout_at(80, &arguments);
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(lines.len(), 2, "{page}");
    assert!(
        lines[0].starts_with("deny   Bash       rm a/long/path"),
        "{page}"
    );
    assert!(
        lines[0].contains("…  Bash(rm *) (…") && lines[0].ends_with("/settings.json)"),
        "{page}"
    );
    assert!(
        lines[1].starts_with("ask    Bash       修复解析器 && ls   "),
        "{page}"
    );
}
