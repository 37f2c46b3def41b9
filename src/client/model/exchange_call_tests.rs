//! Calls in replies, with marks that servers omit, repeat or send late.

use super::*;

/// Marks of calls that repeat, are missing or come late; and names in pieces.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn calls_with_unusual_marks_are_joined() {
    let call = |index: Option<u64>, id: Option<&str>, name: &str, arguments: &str| {
        let mut call = serde_json::json!({"function": {"name": name, "arguments": arguments}});
        if let Some(index) = index {
            call["index"] = index.into();
        }
        if let Some(id) = id {
            call["id"] = id.into();
        }
        call
    };
    let (zero, half, rest) = (Some(0), "{\"n\":", "1}");
    let rows = [
        // All with the index 0 and an empty id; in one delta, whole, and in parts.
        (
            vec![vec![
                call(zero, Some(""), "f", "{}"),
                call(zero, Some(""), "f", "{}"),
            ]],
            "?:f:{} ?:f:{}",
        ),
        (
            vec![
                vec![call(zero, Some(""), "f", "")],
                vec![call(zero, None, "", half)],
                vec![call(zero, None, "", rest)],
                vec![call(zero, Some(""), "f", "")],
                vec![call(zero, None, "", half)],
                vec![call(zero, None, "", rest)],
            ],
            "?:f:{\"n\":1} ?:f:{\"n\":1}",
        ),
        (
            vec![vec![
                call(zero, Some(""), "f", ""),
                call(zero, Some(""), "g", ""),
            ]],
            "?:f:{} ?:g:{}",
        ),
        // The name is repeated with every delta, also after the arguments.
        (
            vec![
                vec![call(zero, Some("a"), "f", half)],
                vec![call(zero, Some("a"), "f", rest)],
                vec![call(zero, Some("a"), "f", "")],
            ],
            "a:f:{\"n\":1}",
        ),
        // The id comes late, and the name in pieces.
        (
            vec![
                vec![call(zero, None, "f", half)],
                vec![call(zero, Some("a"), "", rest)],
            ],
            "?:f:{\"n\":1}",
        ),
        (
            vec![
                vec![call(zero, None, "f", "")],
                vec![call(zero, Some("a"), "o", "")],
                vec![call(zero, None, "", "{}")],
            ],
            "a:fo:{}",
        ),
        (
            vec![
                vec![call(zero, Some("a"), "f", "")],
                vec![call(zero, None, "oo", half)],
                vec![call(zero, None, "", rest)],
                vec![call(Some(1), Some("b"), "g", "")],
            ],
            "a:foo:{\"n\":1} b:g:{}",
        ),
        // Each delta has another id.
        (
            vec![
                vec![call(zero, Some("a"), "f", half)],
                vec![call(zero, Some("b"), "", rest)],
            ],
            "a:f:{\"n\":1}",
        ),
        // Equal ids without an index.
        (
            vec![
                vec![call(None, Some("a"), "f", "{}")],
                vec![call(None, Some("a"), "f", "{}")],
            ],
            "a:f:{} a:f:{}",
        ),
    ];
    for (deltas, expected) in rows {
        let event = |calls: &Vec<serde_json::Value>| {
            let delta = serde_json::json!({"choices": [{"delta": {"tool_calls": calls}}]});
            format!("data: {delta}\n\n")
        };
        let mut stream: String = deltas.iter().map(event).collect();
        stream
            .push_str("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n");
        let sample = Sample {
            name: expected,
            api: Api::OpenaiChat,
            content_type: "text/event-stream",
            body: stream.clone().leak(),
            says: expected,
            dispensable: 0,
        };
        let (reply, events) = in_pieces(&sample, stream.bytes().map(|byte| vec![byte]).collect());
        let begun = events.iter().filter_map(|event| match event {
            ReplyEvent::Part(ReplyPart::CallBegins { id, name, .. }) => Some((id, name)),
            _ => None,
        });
        let calls = reply.unwrap().calls;
        let marks = calls.iter().map(|call| (&call.id, &call.name));
        assert!(begun.eq(marks), "{expected}: {events:?}");
        let described = calls.iter().map(|call| {
            let id = if call.id.starts_with("call_") {
                "?"
            } else {
                &call.id
            };
            let CallInput::Object(input) = &call.input else {
                panic!("{call:?}")
            };
            format!("{id}:{}:{}", call.name, input.get())
        });
        assert_eq!(
            described.collect::<Vec<_>>().join(" "),
            expected,
            "{stream}"
        );
    }
}

#[test]
fn calls_without_an_index_are_distinguished() {
    let stream = concat!(
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"h\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n",
    );
    let described = describe(&body(Api::OpenaiChat, "text/event-stream", stream).unwrap());
    assert!(
        described.contains("call=a:f:{} call=b:g:{} call=c:h:{}"),
        "{described}"
    );
}
