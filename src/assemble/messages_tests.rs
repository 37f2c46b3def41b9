use super::*;

/// The messages in a record: role, model, input tokens, and blocks.
fn read(record: &str) -> Option<Vec<String>> {
    let messages = MessageReader::default().record(&Envelope::read(record)?)?;
    let outline = |message: Message| {
        let blocks = message.blocks.iter().map(|block| match block {
            Block::Text(text) => text.clone(),
            Block::Thinking(thought) => format!("({})", thought.text()),
            Block::Call(call) => format!("{} {}", call.id, call.name),
            Block::Result(result) => {
                let mark = if result.failed { "!" } else { "=" };
                format!("{}{mark}{}", result.id, result.text())
            }
            Block::Media(media) => media.media_type.clone(),
        });
        let blocks: Vec<String> = blocks.collect();
        let input = message.usage.map_or(0, |usage| usage.input);
        let model = message.model.as_deref().unwrap_or("-");
        format!("{:?} {model} {input} {}", message.role, blocks.join(", "))
    };
    Some(messages.into_iter().map(outline).collect())
}

#[test]
fn whole_records_of_all_dialects_are_messages() {
    for (record, expected) in [
        (
            r#"{"role":"assistant","id":"m","model":"a","content":"hi","usage":{"input_tokens":3}}"#,
            "Assistant a 3 hi",
        ),
        (
            r#"{"type":"tool_use","id":"c","name":"f","input":{"a":1}}"#,
            "Assistant - 0 c f",
        ),
        (
            r#"{"type":"tool_result","tool_use_id":"c","content":"x","is_error":true}"#,
            "User - 0 c!x",
        ),
        (
            r#"{"object":"response","id":"r","model":"a","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}"#,
            "Assistant a 0 hi",
        ),
        (
            r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#,
            "Assistant - 0 c f",
        ),
        (
            r#"{"type":"function_call_output","call_id":"c","output":"x"}"#,
            "User - 0 c=x",
        ),
        (
            r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"e"}"#,
            "Assistant - 0 (s)",
        ),
        (
            r#"{"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":{"rows":1}}}]}"#,
            r#"User - 0 c={"rows":1}"#,
        ),
    ] {
        let found = read(record).map(|messages| messages.join("\n"));
        assert_eq!(found.as_deref(), Some(expected), "{record}");
    }
}

fn said(lines: &[&str]) -> Vec<String> {
    let mut stream = DialogStream::default();
    let mut texts = Vec::new();
    let mut take = |message: Message| texts.push(message.text());
    for line in lines {
        stream.record(line, &mut take);
    }
    stream.finish(&mut take);
    texts
}

#[test]
fn items_and_replies_of_the_responses_api_are_read() {
    let mut stream = DialogStream::default();
    let mut messages = Vec::new();
    for line in [
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"What is here?"}]}"#,
        r#"{"id":"resp_1","object":"response","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"c1","name":"Bash","arguments":"{\"command\":\"ls\"}"}]}"#,
        r#"{"type":"function_call_output","call_id":"c1","output":"a"}"#,
    ] {
        stream.record(line, &mut |message| messages.push(message));
    }
    stream.finish(&mut |message| messages.push(message));
    let texts: Vec<String> = messages.iter().map(Message::text).collect();
    assert_eq!(texts[..2], ["What is here?", "I look."], "{messages:?}");
    let calls = messages.iter().flat_map(Message::calls);
    let ids: Vec<String> = calls.map(|call| call.id.clone()).collect();
    assert_eq!(ids, ["c1"]);
}

#[test]
fn calls_of_the_chat_api_are_read() {
    let mut stream = DialogStream::default();
    let mut messages = Vec::new();
    for line in [
        r#"{"role":"system","content":"Be brief."}"#,
        r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"Read","arguments":"{\"file_path\":\"a\"}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c1","content":"text"}"#,
    ] {
        stream.record(line, &mut |message| messages.push(message));
    }
    stream.finish(&mut |message| messages.push(message));
    assert_eq!(stream.instructions(), "Be brief.");
    assert_eq!(messages[0].text(), "hi");
    let call = messages[1].calls().next().unwrap();
    assert_eq!((&*call.id, &*call.name), ("c1", "Read"));
    assert_eq!(call.input.get(), r#"{"file_path":"a"}"#);
    let result = messages[2].results().next().unwrap();
    assert_eq!((&*result.id, result.text()), ("c1", "text".to_owned()));
}

#[test]
fn streams_of_other_agents_are_read() {
    let table: [(&str, &str, &[&str]); 4] = [
        (
            include_str!("../../tests/data/wire/codex-stream.jsonl"),
            "01a1ffef-903c-7483-b6e0-47cca357d950",
            &["Two of four calls failed."],
        ),
        (
            include_str!("../../tests/data/wire/gemini-cli-stream.jsonl"),
            "2b959a4e-7a24-41cd-8f71-ece70de8d9e0",
            &["Do a mixed batch.", "Two of four calls failed."],
        ),
        (
            include_str!("../../tests/data/wire/pi-stream.jsonl"),
            "01a1fff1-5990-7566-ab9c-2aac816aa839",
            &[
                "Run the tests.",
                "The tests fail: `parses_quotes` panicked, exit code 3.",
            ],
        ),
        (
            include_str!("../../tests/data/wire/opencode-stream.jsonl"),
            "ses_e000dc035ffeD30LDk8C8ch6K5",
            &[
                "I will read the three files first.",
                "Now the fix.",
                "Fixed: fields are now trimmed in `src/parser.rs`.",
            ],
        ),
    ];
    for (rows, session, expected) in table {
        let mut stream = DialogStream::default();
        let mut messages = Vec::new();
        for row in rows.lines() {
            stream.record(row, &mut |message| messages.push(message));
        }
        stream.finish(&mut |message| messages.push(message));
        let said: Vec<String> = messages.iter().map(Message::text).collect();
        let said: Vec<&str> = said
            .iter()
            .map(String::as_str)
            .filter(|text| !text.is_empty())
            .collect();
        assert_eq!(said, expected);
        assert_eq!(stream.session_id(), Some(session));
    }
}

#[test]
fn dialogs_of_several_forms_are_read() {
    let table: [&[&str]; 4] = [
        &[
            r#"{"type":"user","message":{"role":"user","content":"hi"}}"#,
            r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"ho"}]}}"#,
        ],
        &[
            r#"{"role":"user","content":"hi"}"#,
            r#"{"role":"assistant","content":"ho"}"#,
        ],
        &[
            r#"{"role":"user","parts":[{"text":"hi"}]}"#,
            r#"{"role":"model","parts":[{"text":"ho"}]}"#,
        ],
        &[
            r#"{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","parts":[{"text":"hi"}]}}"#,
            r#"{"type":"assistant","uuid":"b","sessionId":"s","message":{"role":"model","parts":[{"text":"ho"}]}}"#,
        ],
    ];
    for lines in table {
        assert_eq!(said(lines), ["hi", "ho"], "{lines:?}");
    }
}

#[test]
fn the_text_of_a_reply_without_a_role_is_read_from_its_first_chunk() {
    let chunks = [
        r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"b"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    ];
    assert_eq!(said(&chunks), ["ab"]);
}
