//! State belongs to one session: equal ids or file names do not share it.

use serde_json::{Value, json};

use crate::bench::{Bench, Run, bash};

/// Options of runs that allow all calls.
const RUN: &str = "run-tools --permission-mode bypassPermissions";

/// Returns the record that opens a stream of ours.
fn init(id: &str, extension: &Value) -> String {
    let record =
        json!({"type": "system", "subtype": "init", "session_id": id, "turnpipe": extension});
    format!("{record}\n")
}

/// Runs a call in a directory of the bench.
fn run(bench: &Bench, directory: &str, options: &str, input: &str) -> Run {
    let script = format!("(cd {directory}; turnpipe {RUN} {options})");
    let run = bench.shell_with_input(&script, input.as_bytes());
    assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{run:?}");
    run
}

/// Returns the working directory of calls, relative to the bench.
fn run_pwd(bench: &Bench, directory: &str, options: &str, stream: &str) -> String {
    let run = run(
        bench,
        directory,
        options,
        &(stream.to_owned() + &bash("p", "pwd")),
    );
    let work = bench.work().canonicalize().unwrap();
    let content = run.content("p");
    let place = content.strip_prefix(work.to_str().unwrap());
    place.unwrap().trim_start_matches('/').to_owned()
}

fn run_cd(bench: &Bench, directory: &str, options: &str, stream: &str) {
    // Only its effects matter.
    let _ = run(
        bench,
        directory,
        options,
        &(stream.to_owned() + &bash("m", "cd sub")),
    );
}

fn bench() -> Bench {
    let bench = Bench::new();
    for file in ["q1/sub/x", "q2/sub/x"] {
        bench.write(file, "");
    }
    bench
}

#[test]
fn an_id_belongs_to_the_directory_in_which_a_run_starts() {
    let v1 = json!({"v": 1});
    for (options, stream) in [
        ("", init("work", &v1)),
        ("--session-id work", String::new()),
    ] {
        let bench = bench();
        run_cd(&bench, "q1", options, &stream);
        assert_eq!(run_pwd(&bench, "q2", options, &stream), "q2");
        assert_eq!(run_pwd(&bench, "q1", options, &stream), "q1/sub");
    }
}

#[test]
fn an_id_belongs_to_a_session_file() {
    let bench = bench();
    let file = |name: &str| format!("--session-id work --session {name}");
    run_cd(&bench, "q1", &file("work.jsonl"), "");
    assert_eq!(run_pwd(&bench, "q1", &file("work.jsonl"), ""), "q1/sub");
    assert_eq!(run_pwd(&bench, "q1", &file("copy.jsonl"), ""), "q1");
    assert_eq!(run_pwd(&bench, "q2", &file("work.jsonl"), ""), "q2");
    // The same session from elsewhere starts in a directory of this run.
    assert_eq!(run_pwd(&bench, "q2", &file("../q1/work.jsonl"), ""), "q2");
    let both = file("../q1/work.jsonl") + " --add-dir ../q1";
    run_cd(&bench, "q1", &file("work.jsonl"), "");
    assert_eq!(run_pwd(&bench, "q2", &both, ""), "q1/sub");
    // The file that the stream names does not matter then.
    let of = |file: &str| init("other", &json!({"v": 1, "session_file": file}));
    run_cd(&bench, "q1", "--session other.jsonl", &of("a"));
    let found = run_pwd(&bench, "q1", "--session other.jsonl", &of("b"));
    assert_eq!(found, "q1/sub");
}

#[test]
fn the_file_named_by_a_stream_is_part_of_its_identity() {
    let bench = bench();
    let of = |file: &str| init("work", &json!({"v": 1, "session_file": file}));
    run_cd(&bench, "q1", "", &of("a"));
    assert_eq!(run_pwd(&bench, "q1", "", &of("a")), "q1/sub");
    assert_eq!(run_pwd(&bench, "q1", "", &of("b")), "q1");
    assert_eq!(run_pwd(&bench, "q2", "", &of("a")), "q2");
    assert_eq!(run_pwd(&bench, "q1", "--session-id work", &of("b")), "q1");
    assert_eq!(
        run_pwd(&bench, "q1", "--session-id work", &of("a")),
        "q1/sub"
    );
}

#[test]
fn a_stream_without_an_id_belongs_to_the_session_that_is_recorded() {
    let bench = bench();
    let round = |seed: u8, call: String| {
        let script = format!(
            "(export TURNPIPE_ID_SEED={seed}; cd q1; turnpipe {RUN} --session s.jsonl | turnpipe session append s.jsonl)"
        );
        let run = bench.shell_with_input(&script, call.as_bytes());
        assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{run:?}");
        run
    };
    // Only its effects matter.
    let _ = round(1, bash("a", "cd sub"));
    let ids = || -> Vec<Value> {
        let text = bench.read("q1/s.jsonl");
        let records = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.map(|record| record["sessionId"].clone()).collect()
    };
    let first = ids()[0].clone();
    assert_ne!(first, "s");
    assert!(round(2, bash("b", "pwd")).content("b").ends_with("/q1/sub"));
    assert!(ids().iter().all(|id| *id == first), "{:?}", ids());
    // A new file of the same name is a new session.
    std::fs::remove_file(bench.work().join("q1/s.jsonl")).unwrap();
    assert!(round(3, bash("c", "pwd")).content("c").ends_with("/q1"));
    assert_ne!(ids()[0], first);
}

#[test]
fn a_stored_directory_that_now_leads_elsewhere_is_not_used() {
    let bench = bench();
    let options = "--session-id work";
    run_cd(&bench, "q1", options, "");
    let sub = bench.work().join("q1/sub");
    std::fs::remove_dir_all(&sub).unwrap();
    std::os::unix::fs::symlink(bench.work().join("q2"), sub).unwrap();
    assert_eq!(run_pwd(&bench, "q1", options, ""), "q1");
}

#[test]
fn hooks_get_the_path_of_the_session_file() {
    let bench = bench();
    let hook = json!({"hooks": [{"type": "command", "command": "cat > ../input.json"}]});
    bench.write(
        "q1/settings.json",
        json!({"hooks": {"PreToolUse": [hook]}}).to_string(),
    );
    let seen = |options: &str| {
        let options = format!("--settings settings.json {options}");
        // Only its effects matter.
        let _ = run(&bench, "q1", &options, &bash("a", "true"));
        let input: Value = serde_json::from_str(&bench.read("input.json")).unwrap();
        input["transcript_path"].as_str().unwrap().to_owned()
    };
    let q1 = bench.work().canonicalize().unwrap().join("q1");
    assert_eq!(
        seen("--session s.jsonl"),
        q1.join("s.jsonl").to_str().unwrap()
    );
    assert_eq!(seen(""), "");
}
