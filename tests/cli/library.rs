//! The examples of the library's documentation.

use std::path::Path;

use turnpipe::message::Decision;

#[path = "../../crates/guard/examples/analyse_command.rs"]
#[allow(dead_code, reason = "the function main")]
mod analyse_command;
#[path = "../../crates/guard/examples/decide.rs"]
#[allow(dead_code, reason = "the function main")]
mod decide;
#[path = "../../crates/sessions/examples/list_sessions.rs"]
#[allow(dead_code, reason = "the function main")]
mod list_sessions;
#[path = "../../crates/sessions/examples/session_tokens.rs"]
#[allow(dead_code, reason = "the function main")]
mod session_tokens;

#[test]
fn the_library_reads_a_session() {
    let session = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/session.jsonl");
    let described = session_tokens::describe(&session).unwrap();
    assert!(described.starts_with("turnpipe: "), "{described}");
}

#[test]
fn the_library_lists_sessions_with_totals() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let listed = list_sessions::list(Some(examples));
    let login = listed.iter().find(|line| line.contains("login.jsonl"));
    assert!(
        login.is_some_and(|line| line.ends_with(": claude, 59620 tokens, $ 0.08")),
        "{listed:?}"
    );
}

#[test]
fn the_library_analyses_a_command() {
    let read = analyse_command::describe("grep -r TODO src | head");
    assert!(read[0].starts_with("read-only: "), "{read:?}");
    let writes = analyse_command::describe("ls; rm -rf build");
    let expected = [
        "unknown: `rm` is not a command known to be read-only",
        "runs ls",
        "runs rm -rf build",
    ];
    assert_eq!(writes, expected);
}

#[test]
fn the_library_decides_by_rules() {
    let directory = Path::new("/project");
    let rules = ["allow:Bash(npm run *)", "deny:Bash(git push *)"].map(str::to_owned);
    let rules = decide::parse_rules(&rules, directory).unwrap();
    let decide = |script: &str| decide::decide(script, &rules, directory);
    assert_eq!(decide("npm run build"), Decision::Allow);
    assert_eq!(
        decide("npm run build && git push origin main"),
        Decision::Deny
    );
    assert_eq!(decide("make"), Decision::Ask);
}
