use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use super::*;
use crate::run::tools::load_manifest;
use crate::run::tools::test_session::{TestSession, object, text};

/// Returns a tool whose program is a shell script next to its manifest.
fn tool(session: &TestSession, script: &str, rest: &str) -> CommandTool {
    let program = session.path("program");
    fs::write(&program, format!("#!/bin/bash\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let manifest = session.path("tools.toml");
    let text = format!("[[tool]]\nname = \"Probe\"\ndescription = \"Looks\"\n{rest}\n");
    fs::write(&manifest, text).unwrap();
    load_manifest(&manifest).unwrap().remove(0).tool
}

const SCHEMA: &str = "input_schema = { type = \"object\", properties = { \
    a = { type = \"string\" }, b = {}, paths = { type = \"array\" } } }";

#[test]
fn arguments_arrive_one_by_one() {
    let session = TestSession::new();
    let probe = tool(
        &session,
        "printf '<%s>' \"$@\"",
        &format!(
            "command = [\"./program\", \"{{a}}\", \"-b={{b}}\", \"{{{{x}}}}\", \"{{paths}}\"]\n{SCHEMA}"
        ),
    );
    let rows = [
        (
            json!({"a": "x y; rm -rf * $(id)\n", "b": 3, "paths": [1, "p q"]}),
            "<x y; rm -rf * $(id)\n><-b=3><{x}><[1,\"p q\"]>",
        ),
        (json!({"a": "", "b": true}), "<><-b=true><{x}>"),
        (json!({"a": "-n"}), "<-n><-b=><{x}>"),
        (json!({}), "<-b=><{x}>"),
    ];
    for (input, expected) in rows {
        let reply = session.call(&probe, &input).unwrap();
        assert_eq!(text(&reply), expected, "{input}");
    }
}

#[test]
fn results_and_failures_are_returned() {
    let session = TestSession::new();
    let probe = tool(
        &session,
        "echo out; echo err >&2; exit \"$1\"",
        &format!("command = [\"./program\", \"{{b}}\"]\n{SCHEMA}"),
    );
    let good = session.call(&probe, &json!({"b": 0})).unwrap();
    assert_eq!((good.status, text(&good)), (CallStatus::Ok, "out"));
    assert_eq!(
        good.structured,
        json!({"stdout": "out", "stderr": "err", "exitCode": 0, "interrupted": false})
    );
    let bad = session.call(&probe, &json!({"b": 7})).unwrap();
    assert_eq!(
        (bad.status, text(&bad)),
        (CallStatus::Error, "Exit code 7\nout\nerr")
    );
    assert_eq!(bad.structured["exitCode"], 7);
    assert!(!bad.cancels_siblings);
}

#[test]
fn the_input_is_passed_as_a_line_of_json() {
    let session = TestSession::new();
    let probe = tool(
        &session,
        "wc -l; echo \"$MARK $OWN $TURNPIPE\"; pwd",
        "command = [\"./program\"]\nstdin = \"json\"\nenvironment = { OWN = \"mine\" }",
    );
    let reply = session.call(&probe, &json!({"a": "x\ny"})).unwrap();
    let home = session.context.home_directory.display();
    assert_eq!(text(&reply), format!("1\nkept mine 1\n{home}"));
    let probe = tool(
        &session,
        "cat",
        "command = [\"./program\"]\nstdin = \"json\"",
    );
    let reply = session.call(&probe, &json!({"a": "x\ny"})).unwrap();
    assert_eq!(text(&reply), "{\"a\":\"x\\ny\"}");
}

#[test]
fn a_slow_program_times_out() {
    let session = TestSession::new();
    let probe = tool(
        &session,
        "echo begun; exec sleep 60",
        "command = [\"./program\"]\ntimeout_ms = 300",
    );
    let reply = session.call(&probe, &json!({})).unwrap();
    assert_eq!(reply.status, CallStatus::TimedOut);
    assert_eq!(text(&reply), "Probe timed out after 0.3s\nbegun");
    assert_eq!(reply.structured["timedOutAfterMs"], 300);
}

#[test]
fn long_results_have_their_own_limit() {
    let session = TestSession::new();
    let probe = tool(
        &session,
        "seq 10000",
        "command = [\"./program\"]\nmax_result_chars = 500",
    );
    let reply = session.call(&probe, &json!({})).unwrap();
    assert!(reply.full.is_some());
    assert!((501..600).contains(&text(&reply).len()));
}

#[test]
fn a_missing_program_is_an_error() {
    let session = TestSession::new();
    let probe = tool(&session, "", "command = [\"./other\"]");
    let failure = session.call(&probe, &json!({})).unwrap_err();
    assert!(failure.0.contains("other"), "{failure}");
}

#[test]
fn a_nul_cannot_be_passed_on() {
    let session = TestSession::new();
    let probe = tool(
        &session,
        "",
        &format!("command = [\"./program\", \"{{a}}\"]\n{SCHEMA}"),
    );
    let check = |input: Value| probe.prepare(&object(&input));
    assert!(check(json!({"a": "x\0"})).is_err());
    assert!(check(json!({"a": "x", "b": "\0"})).is_ok());
}

#[test]
fn the_access_of_a_call_is_declared() {
    let session = TestSession::new();
    let home = session.context.directory.clone();
    fs::create_dir(home.join("real")).unwrap();
    symlink("real", home.join("link")).unwrap();
    let paths = |paths: &[&str]| PathSet::Paths(paths.iter().map(|path| home.join(path)).collect());
    let with = |access: &str| {
        tool(
            &session,
            "",
            &format!("command = [\"./program\"]\n{SCHEMA}\n{access}"),
        )
    };
    let rows = [
        ("", json!({}), Ok(Access::everything())),
        ("access = \"world\"", json!({}), Ok(Access::everything())),
        (
            "access = \"read-only\"",
            json!({}),
            Ok(Access::reads_everything()),
        ),
        ("access = {}", json!({}), Ok(Access::nothing())),
        (
            "access = { reads = [\"{a}\", \"/etc/{b}\"], writes = [\"out/../{a}.log\"] }",
            json!({"a": "x/./y", "b": 5}),
            Ok(Access {
                reads: paths(&["x/y", "/etc/5"]),
                writes: paths(&["x/y.log"]),
            }),
        ),
        (
            "access = { reads = [\"{paths}\"] }",
            json!({"paths": ["p", "/q"]}),
            Ok(Access {
                reads: paths(&["p", "/q"]),
                writes: PathSet::Nothing,
            }),
        ),
        (
            "access = { writes = [\"link/new/{a}\"] }",
            json!({"a": "f"}),
            Ok(Access {
                reads: PathSet::Nothing,
                writes: paths(&["real/new/f"]),
            }),
        ),
        (
            "access = { reads = [\"{paths}\"] }",
            json!({"paths": [1]}),
            Err("1 is not a path"),
        ),
        (
            "access = { reads = [\"{a}\"] }",
            json!({}),
            Err("`a` is missing"),
        ),
        (
            "access = { reads = [\"{a}\"] }",
            json!({"a": null}),
            Err("`a` is missing"),
        ),
    ];
    for (access, input, expected) in rows {
        let call = with(access).prepare(&object(&input)).unwrap();
        let found = call.assess(&session.context);
        match expected {
            Ok(expected) => assert_eq!(found.access, expected, "{access} {input}"),
            Err(reason) => {
                assert_eq!(found.access, Access::everything(), "{access} {input}");
                assert_eq!(found.why, format!("Probe cannot be analysed: {reason}"));
            }
        }
    }
}
