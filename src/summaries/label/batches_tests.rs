use super::*;
use crate::assemble::Decoder;
use crate::summaries::builtin::write_label;

fn batches(lines: &[&str]) -> Vec<Vec<String>> {
    let mut decoder = Decoder::with_detection();
    let mut batches = Batches::new(Need::Both);
    let mut found = Vec::new();
    let take = |batches: &mut Batches, found: &mut Vec<Vec<String>>| {
        for open in batches.take_before_boundary() {
            let calls = open.batch.calls.iter().filter(|call| call.result.is_some());
            found.push(calls.map(|call| call.id.0.clone()).collect());
        }
    };
    for line in lines {
        decoder.decode(line, |decoded| {
            if Batches::is_boundary(&decoded.events) {
                take(&mut batches, &mut found);
            }
            batches.record(&decoded.source, decoded.events);
        });
    }
    take(&mut batches, &mut found);
    found
}

fn call(message: &str, id: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"{message}","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Read","input":{{"file_path":"a"}}}}]}}}}"#
    )
}

fn result(id: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}]}}}}"#
    )
}

#[test]
fn a_batch_is_the_calls_of_one_message() {
    let (a, b, c) = (call("m1", "a"), call("m1", "b"), call("m2", "c"));
    let (ra, rb, rc) = (result("a"), result("b"), result("c"));
    let rows: [(&[&str], &[&[&str]]); 5] = [
        (&[&a, &b, &ra, &rb, &c, &rc], &[&["a", "b"], &["c"]]),
        (&[&a, &ra, &b, &rb, &c], &[&["a", "b"]]),
        (&[&a, &b, &ra, &c, &rb], &[&["a"]]),
        // A late result still gets its label.
        (&[&a, &c, &ra, &rc], &[&["a"], &["c"]]),
        (&[&a], &[]),
    ];
    for (lines, expected) in rows {
        assert_eq!(batches(lines), expected, "{lines:?}");
    }
}

#[test]
fn the_commands_of_codex_are_batches() {
    let item = |id: &str, rest: &str| {
        format!(r#"{{"type":"item.completed","item":{{"id":"{id}",{rest}}}}}"#)
    };
    let lines = [
        r#"{"type":"thread.started","thread_id":"t"}"#.to_owned(),
        item(
            "a",
            r#""type":"command_execution","command":"ls","aggregated_output":"x","exit_code":0"#,
        ),
        item(
            "b",
            r#""type":"file_change","changes":[{"path":"/a","kind":"add"}],"status":"completed""#,
        ),
        item("c", r#""type":"agent_message","text":"Next.""#),
        item(
            "d",
            r#""type":"command_execution","command":"ls","aggregated_output":"x","exit_code":1"#,
        ),
        r#"{"type":"turn.completed"}"#.to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(batches(&lines), [vec!["a", "b"], vec!["d"]]);
}

#[test]
fn the_items_of_codex_are_told_as_its_calls() {
    let label_of = |rest: &str| {
        let item = format!(r#"{{"type":"item.completed","item":{{"id":"a",{rest}}}}}"#);
        let mut decoder = Decoder::with_detection();
        let mut batches = Batches::new(Need::Rules);
        for line in [r#"{"type":"thread.started","thread_id":"t"}"#, &item] {
            decoder.decode(line, |decoded| {
                batches.record(&decoded.source, decoded.events);
            });
        }
        let due = batches.take_before_boundary();
        write_label(&due[0].batch.finished_calls(), None)
    };
    let command = |script: &str, status: &str, code: &str| {
        label_of(&format!(
            r#""type":"command_execution","command":"/bin/bash -lc '{script}'","aggregated_output":"","exit_code":{code},"status":"{status}""#
        ))
    };
    let changes = |changes: &str, status: &str| {
        label_of(&format!(
            r#""type":"file_change","changes":[{changes}],"status":"{status}""#
        ))
    };
    let (add, remove) = (
        r#"{"path":"/a.rs","kind":"add"}"#,
        r#"{"path":"/b.rs","kind":"delete"}"#,
    );
    let both = format!("{add},{remove}");
    let rows = [
        (
            command("rg foo src", "failed", "1"),
            "No matches for foo in src",
        ),
        (command("test -f x", "failed", "1"), "Checked a condition"),
        (command("git diff --quiet", "failed", "1"), "Ran git diff"),
        (command("make", "failed", "2"), "make failed"),
        (command("make", "completed", "0"), "Ran make"),
        (command("make", "declined", "null"), "make declined"),
        (changes(remove, "completed"), "Deleted b.rs"),
        (changes(&both, "completed"), "Edited a.rs and b.rs"),
        (changes(&both, "failed"), "Edit of a.rs and b.rs failed"),
    ];
    for (label, expected) in rows {
        assert_eq!(label, expected);
    }
}

#[test]
fn a_result_belongs_to_the_last_call_of_a_repeated_id() {
    let lines = [call("m1", "a"), call("m2", "a"), result("a")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut decoder = Decoder::with_detection();
    let mut batches = Batches::new(Need::Both);
    for line in lines {
        decoder.decode(line, |decoded| {
            batches.record(&decoded.source, decoded.events);
        });
    }
    let due = batches.take_before_boundary();
    let numbers: Vec<u64> = due.iter().map(|open| open.batch.number).collect();
    assert_eq!(numbers, [1]);
}

#[test]
fn subagents_have_no_batches() {
    let side = call("m1", "a").replace(
        r#""type":"assistant","message""#,
        r#""type":"assistant","isSidechain":true,"message""#,
    );
    let sub = call("m2", "b").replace(
        r#""type":"assistant","message""#,
        r#""type":"assistant","parent_tool_use_id":"t","message""#,
    );
    assert!(batches(&[&side, &result("a"), &sub, &result("b")]).is_empty());
}

#[test]
fn a_batch_is_settled_when_nothing_can_follow() {
    let mut decoder = Decoder::with_detection();
    let mut batches = Batches::new(Need::Model);
    for line in [call("m1", "a"), result("a")] {
        decoder.decode(&line, |decoded| {
            batches.record(&decoded.source, decoded.events);
        });
    }
    assert!(batches.take_settled(false).is_empty());
    assert_eq!(batches.take_settled(true).len(), 1);
    assert!(batches.take_settled(true).is_empty());
    assert!(batches.take_before_boundary()[0].is_returned);
}
