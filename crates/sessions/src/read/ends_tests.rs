use std::fs;

use super::*;
use crate::files::side_file::SIDE_FILE_SUFFIX;

/// `Session::title` and `Session::summary` find the same title.
#[test]
fn the_title_does_not_depend_on_other_facts() {
    let own = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"hi"}}"#;
    let summary = |leaf: &str, text: &str| {
        format!(r#"{{"type":"summary","summary":"{text}","leafUuid":"{leaf}"}}"#)
    };
    let (sum, foreign) = (summary("u1", "Sum"), summary("foreign", "Foreign"));
    let (newer, another) = (summary("u2", "Newer"), own.replace("u1", "u2"));
    let custom = r#"{"type":"custom-title","customTitle":"Custom","sessionId":"s"}"#;
    let qwen = r#"{"uuid":"q1","parentUuid":null,"sessionId":"q","timestamp":"2026-01-01T00:00:00Z","type":"user","message":{"role":"user","parts":[{"text":"hi"}]}}"#;
    let auto = r#"{"uuid":"q2","type":"system","subtype":"custom_title","systemPayload":{"customTitle":"Auto","titleSource":"auto"}}"#;
    let side_file_title = r#"{"type":"custom-title","customTitle":"Beside","sessionId":"s"}"#;
    let rows: [(Vec<&str>, Option<&str>, Option<&str>); 10] = [
        (vec![own], None, None),
        (vec![own, &sum], None, Some("Sum")),
        (vec![&foreign, own], None, None),
        (
            vec![&another, own, &sum, &newer, &foreign],
            None,
            Some("Newer"),
        ),
        (
            vec![own, &another, &newer, &sum, &foreign],
            None,
            Some("Sum"),
        ),
        (vec![own, &sum, custom], None, Some("Custom")),
        (vec![own, custom], Some(side_file_title), Some("Custom")),
        (vec![own, &foreign], Some(side_file_title), Some("Beside")),
        (vec![qwen, auto], None, Some("Auto")),
        (vec![qwen], None, None),
    ];
    for (number, (lines, side, expected)) in rows.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        if let Some(side) = side {
            let mut name = path.clone().into_os_string();
            name.push(SIDE_FILE_SUFFIX);
            fs::write(name, format!("{side}\n")).unwrap();
        }
        let session = Session::open(&path).unwrap();
        let alone = session.title(Mapping::Allowed).unwrap();
        let among = session.summary(Mapping::Allowed).unwrap().title;
        assert_eq!(alone, among, "{number}");
        let text = alone.map(|title| title.text);
        assert_eq!(text.as_deref(), expected, "{number}");
    }
}

/// Lines without a prompt are skipped if it is late or missing.
#[test]
fn the_last_activity_is_found_before_a_late_prompt_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let row = |minute: usize, content: &str| {
        format!(
            r#"{{"uuid":"u{minute}","sessionId":"s","cwd":"/p","timestamp":"2026-01-01T00:{minute:02}:00Z","type":"user","message":{{"role":"user","content":{content}}}}}"#
        )
    };
    let text = "x".repeat(4000);
    let result = format!(r#"[{{"type":"tool_result","tool_use_id":"t","content":"{text}"}}]"#);
    let results: Vec<String> = (0..30).map(|minute| row(minute, &result)).collect();
    let facts = |rows: &[String]| {
        fs::write(&path, rows.join("\n") + "\n").unwrap();
        let session = Session::open(&path).unwrap();
        session.summary(Mapping::Allowed).unwrap()
    };
    let without = facts(&results);
    assert_eq!(without.first_prompt, None);
    assert_eq!(without.started, "2026-01-01T00:00:00Z".parse().ok());
    assert_eq!(without.last_activity, "2026-01-01T00:29:00Z".parse().ok());
    let late = [results, vec![row(30, r#""at last""#), row(31, &result)]].concat();
    let late = facts(&late);
    assert_eq!(late.first_prompt.as_deref(), Some("at last"));
    assert_eq!(late.last_activity, "2026-01-01T00:31:00Z".parse().ok());
}

/// The first prompt is only searched for near the ends.
#[test]
fn a_prompt_after_a_long_head_is_found_near_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let row = |content: &str| {
        format!(
            r#"{{"uuid":"u","sessionId":"s","cwd":"/p","timestamp":"2026-01-01T00:00:00Z","type":"user","message":{{"content":{content}}}}}"#
        )
    };
    let result = |text: &str| {
        row(&format!(
            r#"[{{"type":"tool_result","tool_use_id":"t","content":"{text}"}}]"#
        ))
    };
    let mut rows = vec![result(&"x".repeat(200_000)); 90];
    rows.push(row(r#""at last""#));
    rows.extend(std::iter::repeat_n(result("y"), 8));
    fs::write(&path, rows.join("\n") + "\n").unwrap();
    let facts = Session::open(&path).unwrap().summary(Mapping::Allowed);
    assert_eq!(facts.unwrap().first_prompt.as_deref(), Some("at last"));
}

#[test]
fn the_last_activity_is_the_latest_time_of_the_last_three_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let row = |kind: &str, minute: usize| {
        format!(
            r#"{{"type":"{kind}","sessionId":"s","cwd":"/p","timestamp":"2026-01-01T00:{minute:02}:00Z","message":{{"model":"m","content":"hi"}}}}"#
        )
    };
    for from_end in 1..=3 {
        let mut rows = vec![row("user", 0)];
        rows.extend((1..8).map(|minute| row("assistant", minute)));
        let at = rows.len() - from_end;
        rows[at] = row("assistant", 30);
        fs::write(&path, rows.join("\n")).unwrap();
        let facts = Session::open(&path).unwrap().summary(Mapping::Allowed);
        let latest = "2026-01-01T00:30:00Z".parse().ok();
        assert_eq!(facts.unwrap().last_activity, latest, "{from_end}");
    }
}

#[test]
fn the_last_directory_is_known_wherever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let row = |kind: &str, more: &str| {
        format!(
            r#"{{"type":"{kind}","sessionId":"s","timestamp":"2026-01-01T00:00:00Z"{more},"message":{{"model":"m","content":"hi"}}}}"#
        )
    };
    let mut rows = vec![
        row("user", r#","cwd":"/p""#),
        row("assistant", r#","cwd":"/q""#),
    ];
    rows.extend(std::iter::repeat_n(row("assistant", ""), 9));
    fs::write(&path, rows.join("\n")).unwrap();
    let facts = Session::open(&path).unwrap().summary(Mapping::Allowed);
    assert_eq!(facts.unwrap().cwd.as_deref(), Some("/q"));
}

#[test]
fn the_last_model_may_be_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let reply = |model: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{model}","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{{"model":"{model}","content":[]}}}}"#
        )
    };
    let progress = format!(
        r#"{{"type":"progress","sessionId":"s","cwd":"/p","timestamp":"2026-01-01T00:00:00Z","data":{{"model":"other","text":"{}"}}}}"#,
        "x".repeat(4000)
    );
    let mut rows = vec![
        r#"{"type":"user","uuid":"u","sessionId":"s","cwd":"/p","timestamp":"2026-01-01T00:00:00Z","message":{"content":"hi"}}"#.to_owned(),
        reply("first"),
    ];
    rows.extend(std::iter::repeat_n(progress, 90));
    rows.insert(30, reply("last"));
    fs::write(&path, rows.join("\n")).unwrap();
    let session = Session::open(&path).unwrap();
    for mapping in [Mapping::Allowed, Mapping::Refused] {
        let facts = session.summary(mapping).unwrap();
        assert_eq!(facts.model.as_deref(), Some("last"));
        assert_eq!(facts, session.facts(mapping).unwrap().0);
    }
}

#[test]
fn the_title_may_be_a_summary_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let row = |number: u32| {
        format!(
            r#"{{"type":"user","uuid":"u{number}","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"user","content":"{}"}}}}"#,
            "x".repeat(4000)
        )
    };
    let mut rows: Vec<String> = (0..60).map(row).collect();
    rows.insert(
        30,
        r#"{"type":"summary","summary":"Sum","leafUuid":"u3"}"#.to_owned(),
    );
    fs::write(&path, rows.join("\n")).unwrap();
    let title = Session::open(&path).unwrap().summary(Mapping::Refused);
    assert_eq!(title.unwrap().title.unwrap().text, "Sum");
}

#[test]
fn a_role_is_not_a_model() {
    let rows = [
        (r#"{"role":"model","parts":[]}"#, false),
        (r#"{"role":"model"}"#, false),
        (r#"{"model":"m"}"#, true),
        (r#"{"modelId" : "m"}"#, true),
        (r#"{"role":"model","model":"m"}"#, true),
        (r#"{"text":"\"model\":\"m\""}"#, false),
        (r#"{"model"#, false),
    ];
    for (line, is_named) in rows {
        assert_eq!(has_model_key(line.as_bytes()), is_named, "{line}");
    }
}

/// Claude Code 2.0 wrote a "Warmup" of a subagent first.
#[test]
fn the_main_conversation_decides_whether_a_file_is_that_of_a_subagent() {
    let folder = tempfile::tempdir().unwrap();
    let row = |side: bool, kind: &str, uuid: &str, content: &str| {
        format!(
            r#"{{"isSidechain":{side},"sessionId":"s","type":"{kind}","uuid":"{uuid}","parentUuid":null,"cwd":"/w","timestamp":"2026-01-01T10:00:00Z","message":{{"role":"{kind}","content":"{content}"}}}}"#
        )
    };
    let warmup = [
        row(true, "user", "a", "Warmup"),
        row(true, "assistant", "b", "Ready."),
    ];
    let main = [
        row(false, "user", "c", "Fix it"),
        row(false, "assistant", "d", "Fixed."),
    ];
    for (name, rows, is_subagent, prompt) in [
        (
            "mixed.jsonl",
            [&warmup[..], &main].concat(),
            false,
            "Fix it",
        ),
        ("side.jsonl", warmup.to_vec(), true, "Warmup"),
        ("agent-x.jsonl", warmup.to_vec(), true, "Warmup"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, rows.join("\n") + "\n").unwrap();
        let session = Session::open(&path).unwrap();
        for facts in [
            session.summary(Mapping::Allowed).unwrap(),
            session.facts(Mapping::Allowed).unwrap().0,
        ] {
            assert_eq!(facts.is_subagent, is_subagent, "{name}");
            assert_eq!(facts.first_prompt.as_deref(), Some(prompt), "{name}");
        }
    }
}

/// The last lines may not name the model, however many they are.
#[test]
fn the_model_is_that_of_the_last_record_that_names_one() {
    let user = |cwd: &str| {
        format!(
            r#"{{"type":"user","uuid":"u{cwd}","sessionId":"s","cwd":"/{cwd}","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"user","content":"hi"}}}}"#
        )
    };
    let reply = |model: &str, seconds: usize| {
        format!(
            r#"{{"type":"assistant","uuid":"a{model}{seconds}","sessionId":"s","timestamp":"2026-01-01T00:01:{seconds:02}Z","message":{{"role":"assistant","model":"{model}","content":[{{"type":"text","text":"x"}}]}}}}"#
        )
    };
    let bare = |seconds: usize| {
        format!(
            r#"{{"type":"user","uuid":"b{seconds}","sessionId":"s","timestamp":"2026-01-01T00:02:{seconds:02}Z","message":{{"role":"user","content":"more"}}}}"#
        )
    };
    for behind_model in 0..7 {
        for behind_directory in 0..7 {
            let mut lines = vec![user("a"), reply("old", 0), user("b")];
            lines.extend((0..behind_directory).map(bare));
            lines.push(reply("new", 1));
            lines.extend((0..behind_model).map(|seconds| bare(seconds + 10)));
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("s.jsonl");
            fs::write(&path, lines.join("\n") + "\n").unwrap();
            let summary = Session::open(&path).unwrap().summary(Mapping::Refused);
            let summary = summary.unwrap();
            let case = (behind_model, behind_directory);
            assert_eq!(summary.model.as_deref(), Some("new"), "{case:?}");
        }
    }
}

#[test]
fn only_a_large_file_that_is_not_compressed_must_consist_of_lines() {
    use crate::{has_only_lines, open_safely};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let limit = 64 * 1024 * 1024;
    for (start, size, expected) in [
        (b"".as_slice(), 0, false),
        (b"{}\n", limit, false),
        (b"{}\n", limit + 1, true),
        (&[0x28, 0xb5, 0x2f, 0xfd], limit, false),
        (&[0x28, 0xb5, 0x2f, 0xfd], limit + 1, false),
    ] {
        fs::write(&path, start).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_len(size).unwrap();
        let file = open_safely(&path).unwrap();
        assert_eq!(has_only_lines(&file).unwrap(), expected, "{start:?} {size}");
    }
}

/// Records of a subagent may precede a main conversation, but not in the file of a subagent.
#[test]
fn the_head_ends_with_the_first_prompt_of_the_conversation_that_a_file_is_named_after() {
    let row = |is_side: bool, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"u","sessionId":"s","cwd":"/p","isSidechain":{is_side},"timestamp":"2026-01-01T00:00:00Z","message":{{"content":"{text}"}}}}"#
        )
    };
    let codex = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"{kind}","payload":{payload}}}"#)
    };
    let codex_prompt = codex(
        "response_item",
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#,
    );
    let codex_subagent = codex(
        "session_meta",
        r#"{"id":"c","cwd":"/p","source":{"subagent":{"thread_spawn":{"parent_thread_id":"a","depth":1}}}}"#,
    );
    let (side, main) = (row(true, "side"), row(false, "main"));
    for (name, rows, lines, prompt) in [
        ("s.jsonl", [&main, &main, &main], 1, "main"),
        ("s.jsonl", [&side, &main, &main], 2, "main"),
        ("s.jsonl", [&side, &side, &side], 3, "side"),
        ("agent-s.jsonl", [&side, &side, &side], 1, "side"),
        (
            "rollout-c.jsonl",
            [&codex_subagent, &codex_prompt, &codex_prompt],
            2,
            "hi",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let rows = rows.map(|row| format!("{row}\n"));
        fs::write(&path, rows.concat()).unwrap();
        let (facts, end) = Session::open(&path)
            .unwrap()
            .read_head_facts(Detail::Full)
            .unwrap();
        assert_eq!(facts.first_prompt.as_deref(), Some(prompt), "{name}");
        assert_eq!(end, rows[..lines].concat().len() as u64, "{name} {rows:?}");
    }
}
