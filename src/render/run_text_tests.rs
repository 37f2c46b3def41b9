use std::io::Write as _;

use super::*;

/// A reply with escape sequences and wide characters, and results.
const RUN: &str = r#"
{"type":"user","message":{"role":"user","content":"Fix the login\u001b[2J form, which lets one attempt too many through and says nothing about it"}}
{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"I look at \u001b]0;x\u0007the form: 日本語のテキスト in one line that is longer than sixty columns.\n\n    if attempts > MAX:"},{"type":"tool_use","id":"1","name":"Grep","input":{"pattern":"TODO\u001b[31m","path":"src"}},{"type":"tool_use","id":"2","name":"Bash","input":{"command":"cat 日本語のとても長いファイル名その一.txt 日本語のとても長いファイル名その二.txt 日本語のとても長いファイル名その三.txt"}},{"type":"tool_use","id":"3","name":"Edit","input":{"file_path":"src/a.py","old_string":"a","new_string":"b"}},{"type":"tool_use","id":"4","name":"Read","input":{"file_path":"b"}}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a","is_error":false}]},"turnpipe":{"v":1,"outcome":"ok","lane":"parallel","duration_ms":40}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"2","content":"cat: no such file\u001b[2J\nexit status 1","is_error":true}]},"turnpipe":{"v":1,"outcome":"error","lane":"parallel","duration_ms":61250}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"3","content":"Edit writes, and no rule allows it; `--allow 'Edit(./src/**)'` would allow it.","is_error":true}]},"turnpipe":{"v":1,"outcome":"denied","lane":"serial","duration_ms":0}}
{"type":"result","subtype":"success","total_cost_usd":0.01234,"usage":{"input_tokens":1200,"output_tokens":34}}
"#;

fn look(columns: usize) -> RunLook {
    RunLook {
        style: Style::Plain,
        columns: Arc::new(move || Some(columns)),
        shows_messages: true,
    }
}

/// Returns the text of records that arrive in parts of `size` bytes.
fn render_in_parts(records: &str, look: RunLook, size: usize) -> String {
    let mut text = Vec::new();
    let mut run = RunText::new(&mut text, look).unwrap();
    for part in records.as_bytes().chunks(size) {
        run.write_all(part).unwrap();
    }
    drop(run);
    String::from_utf8(text).unwrap()
}

fn render(records: &str, look: RunLook) -> String {
    render_in_parts(records, look, usize::MAX)
}

#[test]
fn a_run_fits_its_columns() {
    let at_60 = "\
> Fix the login form, which lets one attempt too many
  through and says nothing about it

I look at the form: 日本語のテキスト in one line that is
longer than sixty columns.

    if attempts > MAX:

✓ parallel  Grep  TODO in src                           0.0s
✗ parallel  Bash  cat 日本語のとても長いファ…   failed 61.3s
      cat: no such file exit status 1
✗ serial    Edit  src/a.py (+1 -1)                    denied
      Edit writes, and no rule allows it; `--allow
      'Edit(./src/**)'` would allow it.
→           Read  b

4 calls: 1 ok, 1 failed, 1 denied, 1 not run here · 1200
tokens in, 34 out · $0.0123
";
    let at_80 = "\
> Fix the login form, which lets one attempt too many through and says nothing
  about it

I look at the form: 日本語のテキスト in one line that is longer than sixty
columns.

    if attempts > MAX:

✓ parallel  Grep  TODO in src                                               0.0s
✗ parallel  Bash  cat 日本語のとても長いファイル名その一.txt 日本…  failed 61.3s
      cat: no such file exit status 1
✗ serial    Edit  src/a.py (+1 -1)                                        denied
      Edit writes, and no rule allows it; `--allow 'Edit(./src/**)'` would allow
      it.
→           Read  b

4 calls: 1 ok, 1 failed, 1 denied, 1 not run here · 1200 tokens in, 34 out ·
$0.0123
";
    let at_120 = "\
> Fix the login form, which lets one attempt too many through and says nothing about it

I look at the form: 日本語のテキスト in one line that is longer than sixty columns.

    if attempts > MAX:

✓ parallel  Grep  TODO in src                                                                                       0.0s
✗ parallel  Bash  cat 日本語のとても長いファイル名その一.txt 日本語のとても長いファイル名その二.txt 日本…   failed 61.3s
      cat: no such file exit status 1
✗ serial    Edit  src/a.py (+1 -1)                                                                                denied
      Edit writes, and no rule allows it; `--allow 'Edit(./src/**)'` would allow it.
→           Read  b

4 calls: 1 ok, 1 failed, 1 denied, 1 not run here · 1200 tokens in, 34 out · $0.0123
";
    for (columns, expected) in [(60, at_60), (80, at_80), (120, at_120)] {
        assert_eq!(render(RUN, look(columns)), expected, "{columns}");
    }
}

#[test]
fn text_does_not_depend_on_how_records_are_split() {
    let whole = render(RUN, look(80));
    for size in [1, 7, 1000] {
        assert_eq!(render_in_parts(RUN, look(80), size), whole, "{size}");
    }
}

#[test]
fn styles_are_the_only_escape_sequences() {
    let styled = RunLook {
        style: Style::Ansi,
        ..look(80)
    };
    let page = render(RUN, styled);
    let codes: Vec<&str> = page.split('\u{1b}').skip(1).collect();
    assert!(codes.len() > 8, "{page:?}");
    for code in codes {
        assert!(
            ["[0m", "[1m", "[2m"]
                .iter()
                .any(|own| code.starts_with(own)),
            "{code:?}"
        );
    }
    assert!(!render(RUN, look(80)).contains('\u{1b}'));
}

#[test]
fn long_and_foreign_lines_are_shown_safely() {
    let long = "x\u{1b}[2J y ".repeat(100_000);
    let call = serde_json::json!({"type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "text", "text": long},
        {"type": "tool_use", "id": "1", "name": long, "input": {"command": long}},
    ]}});
    let result = serde_json::json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "1", "content": long, "is_error": true},
    ]}});
    let records = format!("{call}\n{result}\n{long}\nevent: ping\n{{\"cut\n");
    let page = render(&records, look(80));
    assert!(!page.contains('\u{1b}'));
    let (said, rest) = page.split_once("\n✗ ").unwrap();
    assert_eq!(said.matches('x').count(), 100_000);
    assert!(rest.len() < 1000, "{rest}");
    assert!(!page.contains("ping"), "{rest}");
    for line in page.lines() {
        assert!(display_width(line) <= 80, "{line}");
    }
}

#[test]
fn calls_without_results_are_limited() {
    let mut run = RunText::new(Vec::new(), look(80)).unwrap();
    for number in 0..2 * MAX_WAITING {
        let call = serde_json::json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": number.to_string(), "name": "Read", "input": {}},
        ]}});
        writeln!(run, "{call}").unwrap();
    }
    assert_eq!(run.waiting.len(), MAX_WAITING);
}

#[test]
fn a_failed_write_is_reported_and_not_repeated() {
    struct FullSink(u32);
    impl Write for &mut FullSink {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            Err(ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut full = FullSink(0);
    let mut run = RunText::new(&mut full, look(80)).unwrap();
    let error = run.write_all(RUN.as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    drop(run);
    assert_eq!(full.0, 1);
}

#[test]
fn lines_of_a_reply_are_shown_while_it_is_written() {
    let part = |text: &str| {
        let delta = serde_json::json!({"type": "text_delta", "text": text});
        let event = serde_json::json!({"type": "content_block_delta", "index": 0, "delta": delta});
        let record = serde_json::json!({"type": "stream_event", "event": event});
        format!("{record}\n")
    };
    let mut page = Vec::new();
    let mut run = RunText::new(&mut page, look(80)).unwrap();
    let start = r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m","role":"assistant"}}}"#;
    writeln!(run, "{start}").unwrap();
    for text in ["I look", ".\n", "\n- one\n- t"] {
        run.write_all(part(text).as_bytes()).unwrap();
    }
    assert_eq!(run.live_shown, "I look.\n\n- one\n".len());
    let whole = serde_json::json!({"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [
        {"type": "text", "text": "I look.\n\n- one\n- two\n"},
    ]}});
    run.write_all(part("wo\n").as_bytes()).unwrap();
    writeln!(run, "{whole}").unwrap();
    drop(run);
    assert_eq!(
        String::from_utf8(page).unwrap(),
        "I look.\n\n- one\n- two\n"
    );
}
