//! Costs of sessions: `session stats --by`, `--prices`.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::bench::{Run, data, files, run, session, turnpipe};

const FILES: [&str; 4] = [
    "../costs/claude.jsonl",
    "../costs/codex.jsonl",
    "../costs/gemini.jsonl",
    "../costs/qwen.jsonl",
];

/// Costs of 20 requests in US dollars, calculated by hand from the providers' price lists.
const BY_HAND: [(&str, u64, f64); 6] = [
    ("claude-haiku-4-5-20251001", 4, 0.575_130_1),
    ("claude-opus-4-5-20251101", 4, 3.204_220_5),
    // One of its prompts is longer than 200,000 tokens.
    ("claude-sonnet-4-5-20250929", 4, 0.887_832),
    ("gemini-2.5-pro", 3, 0.337_75),
    ("gpt-5.1-codex", 3, 0.114_146),
    ("qwen3-coder-plus", 2, 0.111_8),
];

const TOTAL: f64 = 5.230_878_6;

fn stats(arguments: &[&str], files: &[&str]) -> Run {
    let files: Vec<String> = files.iter().map(|name| data(name)).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    session(&[&["stats"], arguments, &files].concat())
}

/// Compares costs to a millionth of a dollar.
fn assert_costs(usage: &Value, dollars: f64) {
    let cost = usage["cost_usd"].as_f64().unwrap();
    assert!(
        (cost - dollars).abs() <= 5.1e-7,
        "{cost} instead of {dollars}"
    );
}

#[test]
fn costs_match_a_manual_calculation() {
    let result = stats(&["--by", "model"], &FILES);
    assert_eq!((result.status, result.messages.as_str()), (Some(0), ""));
    let records = result.records();
    assert_eq!(records.len(), BY_HAND.len());
    for (record, (model, replies, dollars)) in records.iter().zip(BY_HAND) {
        assert_eq!(record["type"], "session_cost");
        assert_eq!(record["dimensions"], json!({"model": model}));
        assert_eq!(record["replies"], replies);
        assert_costs(&record["usage"], dollars);
    }
    let all = &stats(&[], &FILES).records()[0];
    assert_costs(&all["usage"], TOTAL);
    assert_costs(&all["by_model"][0]["usage"], BY_HAND[0].2);
    assert_eq!(all["usage"]["cache_creation_input_tokens"], 157_272);
    assert_eq!(all["usage"]["ephemeral_1h_input_tokens"], 71_866);
    let page = stats(&["--by", "model", "-o", "text"], &FILES).text;
    assert!(page.starts_with("MODEL "), "{page}");
    assert!(page.contains(" $3.20\n"), "{page}");
    assert!(page.ends_with(" $5.23\n"), "{page}");
    let page = stats(&["-o", "text"], &FILES).text;
    assert!(
        page.starts_with("4 sessions, 4 prompts, 20 replies, $5.23\n"),
        "{page}"
    );
}

/// A fast reply, a reply confined to the United States, and three web searches, two of which only the result of
/// a call states. A second session repeats the first one and continues it. Computed by hand.
#[test]
fn tiers_regions_and_web_searches_cost_what_the_provider_charges() {
    // Which file counts as the original depends on which changed first.
    let folder = tempfile::tempdir().unwrap();
    for (minutes, name) in [
        "aaaaaaaa-1111-4111-8111-111111111111.jsonl",
        "bbbbbbbb-2222-4222-8222-222222222222.jsonl",
    ]
    .iter()
    .enumerate()
    {
        let copy = folder.path().join(name);
        std::fs::copy(data(&format!("../continued/{name}")), &copy).unwrap();
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(60 * minutes as u64);
        let file = File::options().write(true).open(&copy).unwrap();
        file.set_modified(changed).unwrap();
    }
    let root = folder.path().to_str().unwrap();
    let result = session(&["stats", "--root", root]);
    let all = &result.records()[0];
    assert_eq!(all["usage"]["cost_usd"], 0.047_472_5);
    assert_eq!(all["usage"]["web_search_requests"], 3);
    assert_eq!((&all["replies"], &all["prompts"]), (&json!(4), &json!(2)));
    assert_eq!(all["recorded_cost_usd"], 0.07);
    let by_session = session(&["stats", "--root", root, "--by", "session"]).records();
    let recorded = by_session.iter().map(|record| &record["recorded_cost_usd"]);
    assert_eq!(recorded.collect::<Vec<_>>(), [&json!(0.07), &Value::Null]);
    let listed = session(&["list", "--root", root, "--counts"]).records();
    let usage = |record: &Value| record["counts"]["usage"]["web_search_requests"].clone();
    assert!(listed.iter().all(|record| usage(record) == 3), "{listed:?}");
}

#[test]
fn rows_have_the_requested_dimensions() {
    let rows = |by: &str| {
        let records = stats(&["--by", by], &FILES).records();
        let costs = records
            .iter()
            .map(|record| record["usage"]["cost_usd"].as_f64().unwrap());
        assert!((costs.sum::<f64>() - TOTAL).abs() < 1e-5, "{by}");
        let names = records
            .iter()
            .map(|record| record["dimensions"].to_string());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        rows("day"),
        r#"{"day":"2026-01-01"} {"day":"2026-01-02"} {"day":"2026-02-01"}"#
    );
    assert_eq!(rows("week"), r#"{"week":"2026-W01"} {"week":"2026-W05"}"#);
    assert_eq!(
        rows("month,agent"),
        r#"{"month":"2026-01","agent":"claude"} {"month":"2026-01","agent":"codex"} {"month":"2026-01","agent":"gemini"} {"month":"2026-02","agent":"qwen"}"#
    );
    assert_eq!(
        rows("cwd"),
        r#"{"cwd":"/home/me/lexer"} {"cwd":"/home/me/parser"} {"cwd":"926574"}"#
    );
    assert!(rows("session").starts_with(r#"{"session":"c0575000-0000-4000-8000-000000000001"}"#));
    assert_eq!(rows("prompt"), r#"{"prompt":"main"}"#);
    let table = stats(&["--by", "agent,day", "-o", "text"], &FILES).text;
    assert!(table.starts_with("AGENT   DAY "), "{table}");
    assert!(
        table.lines().last().unwrap().starts_with("TOTAL   "),
        "{table}"
    );
}

#[test]
fn a_model_without_a_price_is_never_free() {
    let files = ["claude-parallel.jsonl", "../costs/qwen.jsonl"];
    let result = stats(&["--by", "model"], &files);
    let records = result.records();
    assert_eq!(records[0]["unpriced_models"], json!(["model-a"]));
    assert_eq!(records[0]["usage"].get("cost_usd"), None);
    assert_eq!(records[2].get("unpriced_models"), None);
    assert_eq!(
        result.messages,
        "turnpipe: the cost leaves out model-a, model-b\n\
         hint: `--prices FILE` adds prices\n"
    );
    assert_eq!(stats(&["--quiet"], &files).messages, "");
    let table = stats(&["--by", "model", "-o", "text"], &files).text;
    let costs = table.lines().map(|line| line.rsplit(' ').next().unwrap());
    assert_eq!(
        costs.collect::<Vec<_>>(),
        ["COST", "?", "?", "$0.11", "$0.11+"]
    );
    let all = &stats(&[], &files).records()[0];
    assert_eq!(all["unpriced_models"], json!(["model-a", "model-b"]));
    assert_costs(&all["usage"], 0.1118);
}

/// Recorded costs apply, except 0, which means that the agent knows no price.
#[test]
fn recorded_costs_count() {
    let result = stats(&[], &["pi.jsonl"]);
    let all = &result.records()[0];
    assert_eq!(all["usage"]["cost_usd"], 0.25);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("free.jsonl").display().to_string();
    let text = std::fs::read_to_string(data("pi.jsonl")).unwrap();
    std::fs::write(&path, text.replace(r#""total":0.25"#, r#""total":0"#)).unwrap();
    let all = &session(&["stats", &path]).records()[0];
    assert_eq!(all["usage"].get("cost_usd"), None);
    assert_eq!(all["unpriced_models"], json!(["model-p"]));
}

#[test]
fn own_prices_take_precedence() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let price = |model: &str, input: f64| {
        format!("[[price]]\nmodels = [\"{model}\"]\ninput = {input}\noutput = 0\ncache_read = 0\n")
    };
    let flag = write("flag.toml", &price("qwen3-*", 1000.0));
    write(
        "mine.toml",
        &(price("qwen3-coder-plus", 1.0) + &price("model-*", 0.0)),
    );
    let config = write("config.toml", "prices = \"mine.toml\"\n");
    let path = data("../costs/qwen.jsonl");
    let cost = |arguments: &[&str]| {
        let result = session(&[&["stats", &path], arguments].concat());
        result.records()[0]["usage"]["cost_usd"].as_f64().unwrap()
    };
    assert_eq!(format!("{:.6}", cost(&["--prices", &flag])), "60.000000");
    assert_eq!(format!("{:.6}", cost(&["--config", &config])), "0.060000");
    assert_eq!(
        format!("{:.6}", cost(&["--config", &config, "--prices", &flag])),
        "60.000000"
    );
    let free = stats(&["--config", &config], &["claude-parallel.jsonl"]);
    assert_eq!(
        (
            free.records()[0]["usage"]["cost_usd"].as_f64(),
            free.messages
        ),
        (Some(0.0), String::new())
    );
    let bad = write("bad.toml", "[[price]]\nmodels = [\"x\"]\ninput = 1\n");
    let result = session(&["stats", "--prices", &bad, &path]);
    assert_eq!(result.status, Some(2));
    assert!(
        result.messages.contains("bad.toml: line "),
        "{}",
        result.messages
    );
    assert!(
        result.messages.contains("missing field `output`"),
        "{}",
        result.messages
    );
    assert_eq!(
        turnpipe(&["session", "stats", "--tz", "Nowhere", &path])
            .output()
            .unwrap()
            .status
            .code(),
        Some(2)
    );
}

/// Lines of Claude Code without certain words are skipped if only costs are requested.
#[test]
fn the_costs_of_each_file_do_not_depend_on_how_much_of_it_is_read() {
    let mut paths = Vec::new();
    files(Path::new(&data("")), &["jsonl", "json"], &mut paths);
    files(Path::new(&data("../costs")), &["jsonl"], &mut paths);
    assert!(paths.len() > 15);
    for path in paths {
        let path = path.display().to_string();
        let short = session(&["stats", "--quiet", "--by", "model", &path]).records();
        let whole = &session(&["stats", "--quiet", &path]).records()[0];
        let shares = short
            .iter()
            .map(|cost| json!([cost["dimensions"]["model"], cost["replies"], cost["usage"]]));
        let expected = whole["by_model"].as_array().unwrap().iter();
        let expected =
            expected.map(|share| json!([share["name"], share["replies"], share["usage"]]));
        assert_eq!(
            shares.collect::<Vec<_>>(),
            expected.collect::<Vec<_>>(),
            "{path}"
        );
        let project = &session(&["stats", "--quiet", "--by", "cwd,session", &path]).records();
        let start = &session(&["show", &path, "--range", "1"]).records()[0];
        if let (Some(cost), Some(directory)) = (project.first(), start.get("cwd")) {
            assert_eq!(&cost["dimensions"]["cwd"], directory, "{path}");
            assert_eq!(cost["dimensions"]["session"], start["session_id"], "{path}");
        }
    }
}

#[test]
fn subagents_count_in_all_locations_of_claude_code() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, id: &str, is_side: bool| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let rows = [
            json!({"type": "user", "uuid": format!("u{id}"), "isSidechain": is_side,
                "sessionId": "one", "cwd": "/p", "timestamp": "2026-01-01T00:00:00Z",
                "message": {"role": "user", "content": "go on"}}),
            json!({"type": "assistant", "uuid": format!("a{id}"), "isSidechain": is_side,
                "sessionId": "one", "cwd": "/p", "timestamp": "2026-01-01T00:00:01Z",
                "message": {"id": id, "role": "assistant", "model": "claude-haiku-4-5",
                    "content": [], "usage": {"input_tokens": 1, "output_tokens": 10}}}),
        ];
        let lines = rows.map(|row| format!("{row}\n")).concat();
        std::fs::write(path, lines).unwrap();
    };
    write("p/one.jsonl", "m", false);
    write("p/agent-a.jsonl", "old", true);
    write("p/one/subagents/agent-b.jsonl", "new", true);
    write("p/one/subagents/workflows/w/agent-c.jsonl", "flow", true);
    // Its session's own file was deleted.
    write("p/gone/subagents/agent-d.jsonl", "gone", true);
    let root = root.path().to_str().unwrap();
    for by in [&["--by", "session"][..], &[]] {
        let result = session(&[&["stats", "--root", root, "-o", "jsonl"], by].concat());
        let records = result.records();
        assert_eq!(records.len(), 1, "{}", result.text);
        assert_eq!(records[0]["usage"]["output_tokens"], 50, "{}", result.text);
        if by.is_empty() {
            let counts = (&records[0]["sessions"], &records[0]["prompts"]);
            assert_eq!(counts, (&json!(1), &json!(1)));
        }
    }
    assert_eq!(session(&["list", "--root", root]).records().len(), 1);
    let pages = tempfile::tempdir().unwrap();
    let pages = pages.path().to_str().unwrap();
    let result = session(&["export", pages, "--root", root]);
    let counts = "1 session, 2 subagents, 3 written";
    assert!(result.messages.contains(counts), "{}", result.messages);
}

#[test]
fn costs_in_records_are_rounded() {
    for by in ["model", "day", "session"] {
        for record in stats(&["--by", by], &FILES).records() {
            let cost = record["usage"]["cost_usd"].to_string();
            let decimals = cost
                .split_once('.')
                .map_or(0, |(_, decimals)| decimals.len());
            assert!(decimals <= 9, "{cost}");
        }
    }
}

#[test]
fn tools_are_counted_with_the_size_of_their_results() {
    let files = ["claude-parallel.jsonl"];
    let records = stats(&["--by", "tool"], &files).records();
    assert_eq!(
        records,
        [json!({
            "type": "session_tool",
            "dimensions": {"tool": "Read"},
            "calls": 2,
            "results": 2,
            "failed": 1,
            "result_bytes": 6,
            "result_tokens": 2,
        })]
    );
    let records = stats(&["--by", "tool,model,cwd"], &files).records();
    assert_eq!(
        records[0]["dimensions"],
        json!({"tool": "Read", "model": "model-a", "cwd": "/home/me/demo"})
    );
    let result = stats(&["--by", "tool", "-o", "text"], &files);
    assert_eq!(
        result.text,
        "TOOL   CALLS  FAILED  RESULTS  BYTES  ~TOKENS\n\
         Read       2       1        2      6        2\n\
         TOTAL      2       1        2      6        2\n"
    );
    assert_eq!(result.messages, "");
    let later = ["--by", "tool", "--since", "2026-01-02"];
    assert_eq!(stats(&later, &files).records().len(), 0);
}

#[test]
fn a_limit_of_the_cost_is_a_line_and_a_status() {
    let result = |limit: &str, form: &str| {
        stats(
            &["--max-cost", limit, "--since", "2026-01-01", "-o", form],
            &FILES,
        )
    };
    let table = [("5.24", Some(0)), ("5.23", Some(6)), ("0", Some(6))];
    for (limit, status) in table {
        let result = result(limit, "jsonl");
        assert_eq!(result.status, status, "{limit}");
        assert_eq!(result.records().len(), 1);
        assert_costs(&result.records()[0]["usage"], TOTAL);
    }
    assert_eq!(result("20", "text").text, "$5.23 of $20.00\n");
    for wrong in ["-1", "much", "inf"] {
        let limit = format!("--max-cost={wrong}");
        assert_eq!(stats(&[&limit], &FILES).status, Some(2), "{wrong}");
    }
    // An unknown cost may be too high.
    let unknown = stats(
        &["--max-cost", "9", "-o", "text"],
        &["claude-parallel.jsonl"],
    );
    assert_eq!(
        (unknown.status, unknown.text.as_str()),
        (Some(6), "? of $9.00\n")
    );
    assert!(
        unknown.messages.contains("gate failed"),
        "{}",
        unknown.messages
    );
}

/// Only the sum of the requests is known, each of which may have read more than the limit of the ordinary price.
#[test]
fn sums_of_requests_have_ordinary_prices() {
    let folder = tempfile::tempdir().unwrap();
    let cost = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let result = session(&["stats", path.to_str().unwrap()]);
        let record = &result.records()[0];
        (
            record["usage"]["cost_usd"].as_f64().unwrap(),
            record["unpriced_models"].to_string(),
        )
    };
    let gemini = |input: u64, calls: u64| {
        format!(
            r#"{{"type":"init","timestamp":"2026-01-30T06:18:17.750Z","session_id":"s","model":"gemini-3-pro-preview"}}
{{"type":"message","timestamp":"2026-01-30T06:18:20.000Z","role":"assistant","content":"one","delta":true}}
{{"type":"result","timestamp":"2026-01-30T06:26:18.281Z","status":"success","stats":{{"total_tokens":{},"input_tokens":{input},"output_tokens":10000,"cached":0,"tool_calls":{calls}}}}}
"#,
            input + 10_000
        )
    };
    let copilot = |input: u64| {
        format!(
            r#"{{"type":"session.start","data":{{"sessionId":"s","selectedModel":"gpt-5.5"}},"id":"e1","timestamp":"2026-05-07T14:16:48.000Z","parentId":null}}
{{"type":"session.shutdown","data":{{"modelMetrics":{{"gpt-5.5":{{"usage":{{"inputTokens":{input},"outputTokens":10000,"cacheReadTokens":0,"cacheWriteTokens":0}}}}}},"currentModel":"gpt-5.5"}},"id":"e4","timestamp":"2026-05-07T14:17:00.000Z","parentId":"e1"}}
"#
        )
    };
    let table = [
        (
            "g.jsonl",
            gemini(1_000_000, 40),
            2.12,
            r#"["gemini-3-pro-preview (long prompts)"]"#,
        ),
        ("h.jsonl", gemini(100_000, 40), 0.32, "null"),
        // The run was one request.
        ("i.jsonl", gemini(1_000_000, 0), 4.18, "null"),
        (
            "c.jsonl",
            copilot(1_000_000),
            5.30,
            r#"["gpt-5.5 (long prompts)"]"#,
        ),
        ("d.jsonl", copilot(100_000), 0.80, "null"),
    ];
    for (name, text, dollars, unpriced) in table {
        assert_eq!(cost(name, &text), (dollars, unpriced.to_owned()), "{name}");
    }
    let gate = |limit: &str| {
        let path = folder.path().join("c.jsonl");
        let arguments = ["report", "--max-cost", limit, path.to_str().unwrap()];
        session(&arguments).status
    };
    assert_eq!((gate("9"), gate("1")), (Some(6), Some(6)));
}

#[test]
fn the_current_block_has_an_end_and_the_time_left() {
    let page = |clock: &str, form: &str| {
        let mut command = turnpipe(&[
            "stats",
            "--by",
            "block",
            "-o",
            form,
            &data("../costs/claude.jsonl"),
        ]);
        command.env("TURNPIPE_CLOCK", clock);
        run(command)
    };
    let records = page("2026-01-02T10:30:00Z", "jsonl").records();
    let ends = records
        .iter()
        .map(|record| json!([record["block_end"], record["left_ms"]]));
    let ends: Vec<Value> = ends.collect();
    let last = json!(["2026-01-02T13:00:00Z", 9_000_000]);
    assert_eq!(ends.last(), Some(&last), "{ends:?}");
    assert!(
        ends[..ends.len() - 1]
            .iter()
            .all(|end| end[0].is_string() && end[1].is_null())
    );
    let text = page("2026-01-02T10:30:00Z", "text").text;
    assert!(
        text.ends_with("\nThe block of 2026-01-02 08:00 lasts until 13:00, 2 h 30 min left.\n"),
        "{text}"
    );
    let later = page("2026-01-02T13:00:00Z", "text").text;
    assert!(!later.contains("left"), "{later}");
}

#[test]
fn a_status_line_fits_claude_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder
        .path()
        .join("c0575000-0000-4000-8000-000000000001.jsonl");
    std::fs::copy(data("../costs/claude.jsonl"), &path).unwrap();
    let line = |input: &str| {
        let root = folder.path().display().to_string();
        let mut command = turnpipe(&["session", "stats", "--statusline", "--root", &root]);
        // Three requests are from the day before, one is from midnight, eight are from the block.
        command.env("TURNPIPE_CLOCK", "2026-01-02T10:30:00Z");
        let file = folder.path().join("input");
        std::fs::write(&file, input).unwrap();
        let output = command
            .stdin(std::fs::File::open(file).unwrap())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), text)
    };
    let transcript = path.display();
    let whole = format!(
        r#"{{"session_id":"x","transcript_path":"{transcript}","model":{{"id":"m","display_name":"Opus\u001b[31m 4.5"}},
            "workspace":{{"current_dir":"/"}},"cost":{{"total_cost_usd":1.234}},"context_window":{{"used_percentage":41.7}}}}"#
    );
    assert_eq!(
        line(&whole),
        (
            Some(0),
            "Opus 4.5 · $1.23 session · $2.72 today · $1.46 block (until 13:00, 2 h 30 min left) · 42% context\n"
                .to_owned()
        )
    );
    let old = format!(r#"{{"transcript_path":"{transcript}"}}"#);
    assert!(
        line(&old).1.starts_with("$4.67 session · "),
        "{:?}",
        line(&old)
    );
    // A byte order mark, and control characters that a name contains.
    let odd =
        format!("\u{feff}{{\"session_name\":\"a\nb\tc\",\"transcript_path\":\"{transcript}\"}}");
    assert_eq!(line(&odd), line(&old));
    assert_eq!(line("{}").0, Some(0));
    assert_eq!(line("no json").0, Some(2));
}

/// Droid records one sum for a session, without a time.
#[test]
fn a_sum_without_a_time_counts_if_its_session_lies_in_the_period() {
    let root = data("../more_agents/droid");
    let count = |period: &[&str]| {
        let mut arguments = vec!["stats", "--root", &root, "--by", "agent", "-o", "jsonl"];
        arguments.extend(period);
        let run = session(&arguments);
        let input = run
            .records()
            .first()
            .map(|sum| sum["usage"]["input_tokens"].clone());
        (input, run.messages.contains("leave out 1 session"))
    };
    let listed = session(&["list", "--root", &root, "--json"]).records();
    let [start, end] = ["started", "last_activity"].map(|time| listed[0][time].as_str().unwrap());
    let whole = count(&[]);
    assert!(whole.0.as_ref().is_some_and(|input| *input != 0) && !whole.1);
    assert_eq!(count(&["--since", start]), whole);
    assert_eq!(count(&["--since", end]), (Some(json!(0)), true));
    assert_eq!(count(&["--until", start]), (None, false));
}
