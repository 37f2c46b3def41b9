use std::fmt::Write;

use jiff::Timestamp;
use proptest::prelude::*;
use tokio::runtime::Builder;
use tokio::sync::mpsc;

use super::*;
use crate::client::http::{Headers, HttpFailure, Redaction, Response};
use crate::client::model::test_samples::{SAMPLES, Sample};
use crate::client::model::{CallInput, EmptyReply, ReplyEvent, ReplyPart};
use crate::io::{FixedClock, SeededIds};

#[path = "exchange_call_tests.rs"]
mod calls;

/// Formats a reply on one line.
pub(in crate::client::model) fn describe(reply: &Reply) -> String {
    let mut described = format!("text={:?} thinking={:?}", reply.text, reply.thinking);
    for call in &reply.calls {
        let input = match &call.input {
            CallInput::Object(raw) => raw.get().to_owned(),
            CallInput::Unusable(text) => format!("unusable {text}"),
        };
        write!(described, " call={}:{}:{input}", call.id, call.name).unwrap();
    }
    let usage = reply.usage;
    write!(
        described,
        " in={} out={} read={} write={} thought={}",
        usage.input, usage.output, usage.cache_read, usage.cache_write, usage.thinking
    )
    .unwrap();
    described
}

struct Answer<'a> {
    api: Api,
    status: u16,
    content_type: Option<&'a str>,
    pieces: Vec<Vec<u8>>,
    ending: Option<HttpFailure>,
}

/// Reads a response. Returns the reply and the events.
fn read(answer: Answer<'_>, delivery: Delivery) -> (Result<Reply, Failure>, Vec<ReplyEvent>) {
    let content_type = answer.content_type.map(str::to_owned);
    let header = content_type.map(|value| ("content-type".to_owned(), value));
    let headers: Headers = header.into_iter().collect();
    let response = Response::from_recording(answer.status, headers, answer.pieces, answer.ending);
    let (listener, mut heard) = mpsc::channel(10_000);
    let clock = FixedClock(Timestamp::UNIX_EPOCH);
    let mut reading = ResponseReader {
        api: answer.api,
        delivery,
        ids: Arc::new(SeededIds::new(1)),
        clock: &clock,
        listener: Listener::new(&listener, Redaction::default()),
    };
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let outcome = runtime.block_on(reading.read_reply(Incoming::from_response(response)));
    let mut events = Vec::new();
    while let Ok(event) = heard.try_recv() {
        events.push(event);
    }
    (outcome, events)
}

fn in_pieces(sample: &Sample, pieces: Vec<Vec<u8>>) -> (Result<Reply, Failure>, Vec<ReplyEvent>) {
    let answer = Answer {
        api: sample.api,
        status: 200,
        content_type: Some(sample.content_type),
        pieces,
        ending: None,
    };
    let delivery = if sample.is_stream() {
        Delivery::Streamed
    } else {
        Delivery::Whole
    };
    read(answer, delivery)
}

fn body(api: Api, content_type: &str, body: &str) -> Result<Reply, Failure> {
    body_in_pieces(api, content_type, vec![body.as_bytes().to_vec()])
}

fn body_in_pieces(api: Api, content_type: &str, pieces: Vec<Vec<u8>>) -> Result<Reply, Failure> {
    let answer = Answer {
        api,
        status: 200,
        content_type: Some(content_type),
        pieces,
        ending: None,
    };
    read(answer, Delivery::Whole).0
}

#[test]
fn replies_do_not_depend_on_how_they_are_split() {
    for sample in SAMPLES {
        let bytes = sample.body.as_bytes();
        for split in 0..=bytes.len() {
            let pieces = vec![bytes[..split].to_vec(), bytes[split..].to_vec()];
            let (reply, _) = in_pieces(sample, pieces);
            assert_eq!(
                describe(&reply.unwrap()),
                sample.says,
                "{} at {split}",
                sample.name
            );
        }
        let single = bytes.iter().map(|byte| vec![*byte]).collect();
        let (reply, _) = in_pieces(sample, single);
        assert_eq!(describe(&reply.unwrap()), sample.says, "{}", sample.name);
    }
}

#[test]
fn the_events_of_a_stream_form_its_reply() {
    for sample in SAMPLES.iter().filter(|sample| sample.is_stream()) {
        let single = sample.body.bytes().map(|byte| vec![byte]).collect();
        let (reply, events) = in_pieces(sample, single);
        let reply = reply.unwrap();
        let (mut text, mut thinking) = (String::new(), String::new());
        let mut calls: Vec<(String, String, String)> = Vec::new();
        for event in events {
            match event {
                ReplyEvent::Restart | ReplyEvent::Retry { .. } => panic!("nothing was cut"),
                ReplyEvent::Part(part) => match part {
                    ReplyPart::Signature(_) | ReplyPart::RedactedThinking(_) => {}
                    ReplyPart::Text(part) => text.push_str(&part),
                    ReplyPart::Thinking(part) => thinking.push_str(&part),
                    ReplyPart::CallBegins { index, id, name } => {
                        assert_eq!(index, calls.len());
                        calls.push((id, name, String::new()));
                    }
                    ReplyPart::CallInput { index, fragment } => calls[index].2.push_str(&fragment),
                },
            }
        }
        assert_eq!(
            (text, thinking),
            (reply.text, reply.thinking),
            "{}",
            sample.name
        );
        assert_eq!(calls.len(), reply.calls.len());
        for ((id, name, input), call) in calls.iter().zip(&reply.calls) {
            let CallInput::Object(object) = &call.input else {
                panic!("{call:?}")
            };
            let input = if input.is_empty() { "{}" } else { input };
            assert_eq!((id, name, input), (&call.id, &call.name, object.get()));
        }
    }
}

#[test]
fn a_reply_that_is_cut_anywhere_is_a_failure() {
    for sample in SAMPLES {
        let bytes = sample.body.as_bytes();
        // OpenAI's streams are complete once they contain a finish reason; only usage follows.
        let reason = sample
            .body
            .find("\"finish_reason\":\"tool_calls\"")
            .filter(|_| sample.is_stream());
        let needed = match reason {
            Some(at) => at + sample.body[at..].find('\n').unwrap(),
            None => bytes.len() - sample.dispensable,
        };
        for end in 0..needed {
            let (outcome, _) = in_pieces(sample, vec![bytes[..end].to_vec()]);
            let failure = outcome.expect_err(&format!("{} cut at {end}", sample.name));
            let expected = matches!(failure, Failure::Cut { .. } | Failure::Malformed { .. });
            assert!(expected, "{} cut at {end}: {failure:?}", sample.name);
        }
        let (outcome, _) = in_pieces(sample, vec![bytes[..needed].to_vec()]);
        assert!(outcome.is_ok(), "{} at {needed}: {outcome:?}", sample.name);
    }
}

#[test]
fn a_broken_connection_always_cuts_the_reply() {
    for sample in SAMPLES {
        for end in [0, sample.body.len() / 2] {
            let answer = Answer {
                api: sample.api,
                status: 200,
                content_type: Some(sample.content_type),
                pieces: vec![sample.body.as_bytes()[..end].to_vec()],
                ending: Some(HttpFailure::Broken {
                    message: "reset".to_owned(),
                }),
            };
            let (outcome, _) = read(answer, Delivery::Whole);
            assert!(
                matches!(outcome, Err(Failure::Cut { .. })),
                "{}: {outcome:?}",
                sample.name
            );
        }
    }
}

#[test]
fn a_response_in_an_unexpected_framing_is_read() {
    for sample in SAMPLES {
        for delivery in [Delivery::Whole, Delivery::Streamed] {
            for content_type in [Some(sample.content_type), None, Some("text/plain")] {
                let answer = Answer {
                    api: sample.api,
                    status: 200,
                    content_type,
                    pieces: vec![sample.body.as_bytes().to_vec()],
                    ending: None,
                };
                let (outcome, events) = read(answer, delivery);
                assert_eq!(
                    describe(&outcome.unwrap()),
                    sample.says,
                    "{} {content_type:?}",
                    sample.name
                );
                assert!(!events.is_empty());
            }
        }
    }
}

#[test]
fn a_stream_of_gemini_may_be_an_array() {
    let parts = r#"[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},
        {"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}]"#;
    assert_eq!(
        body(Api::Gemini, "application/json", parts).unwrap().text,
        "ab"
    );
    let error = r#"[{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]"#;
    assert!(matches!(
        body(Api::Gemini, "application/json", error),
        Err(Failure::Overloaded {
            status: Some(503),
            ..
        })
    ));
}

/// Expected result of a response.
#[derive(Debug, PartialEq)]
enum Ending {
    Rejected,
    Overloaded,
    Budget,
    Cut,
    Declined,
    Empty,
    OnlyThinking,
    Malformed,
    Says(&'static str),
}

fn ending(outcome: Result<Reply, Failure>) -> Ending {
    match outcome {
        Ok(reply) => Ending::Says(describe(&reply).leak()),
        Err(Failure::Rejected { .. }) => Ending::Rejected,
        Err(Failure::Overloaded { .. }) => Ending::Overloaded,
        Err(Failure::OverBudget { .. }) => Ending::Budget,
        Err(Failure::Cut { .. }) => Ending::Cut,
        Err(Failure::Declined { .. }) => Ending::Declined,
        Err(Failure::Empty {
            kind: EmptyReply::Complete,
            ..
        }) => Ending::Empty,
        Err(Failure::Empty {
            kind: EmptyReply::OnlyThinking,
            ..
        }) => Ending::OnlyThinking,
        Err(Failure::Malformed { .. }) => Ending::Malformed,
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn each_unusable_response_has_its_failure() {
    use Api::{Anthropic, Gemini, Ollama, OpenaiChat, Responses};
    const EVENTS: &str = "text/event-stream";
    const JSON: &str = "application/json";
    let rows = [
        (
            OpenaiChat,
            JSON,
            r#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}"#,
            Ending::Empty,
        ),
        (
            OpenaiChat,
            JSON,
            r#"{"choices":[{"message":{"content":"Fix lo"},"finish_reason":"length"}]}"#,
            Ending::Budget,
        ),
        (
            OpenaiChat,
            JSON,
            r#"{"choices":[{"message":{"content":null,"refusal":"I can't"},"finish_reason":"stop"}]}"#,
            Ending::Declined,
        ),
        (
            OpenaiChat,
            JSON,
            r#"{"choices":[{"message":{"content":"x"},"finish_reason":"content_filter"}]}"#,
            Ending::Declined,
        ),
        (
            OpenaiChat,
            JSON,
            r#"{"choices":[{"message":{"content":"","reasoning_content":"hm"},"finish_reason":"stop"}]}"#,
            Ending::OnlyThinking,
        ),
        (
            OpenaiChat,
            JSON,
            r#"{"choices":[{"message":{"content":"<think>hm</think>"},"finish_reason":"stop"}]}"#,
            Ending::OnlyThinking,
        ),
        (
            OpenaiChat,
            JSON,
            r#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}],"usage":{"completion_tokens_details":{"reasoning_tokens":9}}}"#,
            Ending::OnlyThinking,
        ),
        (OpenaiChat, JSON, r#"{"choices":[]}"#, Ending::Malformed),
        (
            OpenaiChat,
            JSON,
            r#"{"object":"list","data":[]}"#,
            Ending::Malformed,
        ),
        (OpenaiChat, JSON, "", Ending::Malformed),
        (OpenaiChat, JSON, "null", Ending::Malformed),
        (OpenaiChat, JSON, "oops", Ending::Malformed),
        (OpenaiChat, "text/html", "<html></html>", Ending::Malformed),
        (OpenaiChat, "text/plain", "It works!", Ending::Malformed),
        (
            OpenaiChat,
            JSON,
            r#"{"error":{"code":502,"message":"upstream"},"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}"#,
            Ending::Overloaded,
        ),
        (
            OpenaiChat,
            JSON,
            r#"{"error":{"code":"invalid_api_key","type":"invalid_request_error","message":"no"}}"#,
            Ending::Rejected,
        ),
        (
            OpenaiChat,
            JSON,
            r#"{"choices":[{"message":{"content":"partly"},"finish_reason":"error","error":{"code":502,"message":"gone"}}]}"#,
            Ending::Overloaded,
        ),
        (
            OpenaiChat,
            EVENTS,
            "data: {\"choices\":[{\"delta\":{\"content\":\"Throttling\"},\"finish_reason\":\"error_finish\"}]}\n\ndata: [DONE]\n\n",
            Ending::Overloaded,
        ),
        (
            OpenaiChat,
            EVENTS,
            "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n",
            Ending::Says("text=\"a\" thinking=\"\" in=0 out=0 read=0 write=0 thought=0"),
        ),
        (
            OpenaiChat,
            EVENTS,
            "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"object\":\"error\",\"message\":\"bad\"}\n\ndata: [DONE]\n\n",
            Ending::Rejected,
        ),
        (
            Responses,
            EVENTS,
            "data: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"bad\",\"param\":null}\n\n",
            Ending::Overloaded,
        ),
        (
            OpenaiChat,
            EVENTS,
            "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"code\":429,\"message\":\"slow\"}}\n\n",
            Ending::Overloaded,
        ),
        (OpenaiChat, EVENTS, "data: nonsense\n\n", Ending::Malformed),
        (
            OpenaiChat,
            EVENTS,
            "data: {\"choices\":[]}\n\ndata: nonsense\n\n",
            Ending::Overloaded,
        ),
        (OpenaiChat, EVENTS, "", Ending::Cut),
        (
            Anthropic,
            JSON,
            r#"{"content":[],"stop_reason":"end_turn"}"#,
            Ending::Empty,
        ),
        (
            Anthropic,
            JSON,
            r#"{"content":[{"type":"tool_use","id":"t","name":"f","input":{}}],"stop_reason":"max_tokens"}"#,
            Ending::Budget,
        ),
        (
            Anthropic,
            JSON,
            r#"{"content":[{"type":"text","text":"x"}],"stop_reason":"refusal"}"#,
            Ending::Declined,
        ),
        (
            Anthropic,
            JSON,
            r#"{"content":[{"type":"redacted_thinking","data":"x"},{"type":"thinking","thinking":"hm"}],"stop_reason":"end_turn"}"#,
            Ending::OnlyThinking,
        ),
        (
            Anthropic,
            JSON,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Ending::Overloaded,
        ),
        (
            Anthropic,
            EVENTS,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
            Ending::Overloaded,
        ),
        (
            Gemini,
            JSON,
            r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#,
            Ending::Declined,
        ),
        (
            Gemini,
            JSON,
            r#"{"candidates":[{"finishReason":"MAX_TOKENS","index":0}],"usageMetadata":{"thoughtsTokenCount":100}}"#,
            Ending::Budget,
        ),
        (
            Gemini,
            JSON,
            r#"{"candidates":[{"finishReason":"RECITATION"}]}"#,
            Ending::Declined,
        ),
        (
            Gemini,
            JSON,
            r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#,
            Ending::Overloaded,
        ),
        (
            Gemini,
            JSON,
            r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]},"finishReason":"STOP"}]}"#,
            Ending::OnlyThinking,
        ),
        (
            Gemini,
            JSON,
            r#"{"candidates":[{"content":{"role":"model"},"finishReason":"STOP"}]}"#,
            Ending::Empty,
        ),
        (Gemini, JSON, "{}", Ending::Malformed),
        (
            Ollama,
            JSON,
            r#"{"error":"model 'x' not found"}"#,
            Ending::Overloaded,
        ),
        (
            Ollama,
            JSON,
            r#"{"message":{"content":"Fi"},"done":true,"done_reason":"length"}"#,
            Ending::Budget,
        ),
        (
            Ollama,
            JSON,
            r#"{"message":{"content":""},"done":true,"done_reason":"load"}"#,
            Ending::Empty,
        ),
        (Ollama, JSON, r#"{"models":[]}"#, Ending::Malformed),
        (
            Ollama,
            "application/x-ndjson",
            "{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"error\":\"broke\"}\n",
            Ending::Overloaded,
        ),
        (
            Ollama,
            "application/x-ndjson",
            "{\"message\":{\"content\":\"a\"},\"done\":false}\n",
            Ending::Cut,
        ),
    ];
    for (api, content_type, text, expected) in rows {
        assert_eq!(ending(body(api, content_type, text)), expected, "{text}");
    }
}

#[test]
fn unusual_responses_are_accepted() {
    let rows = [
        // Content as a list, without a finish reason.
        (
            r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}"#,
            r#"text="ab" thinking="""#,
        ),
        // Arguments as an object.
        (
            r#"{"choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":{"x":1}}}]},"finish_reason":"tool_calls"}]}"#,
            r#"text="" thinking="" call=1:f:{"x":1}"#,
        ),
        // The old form of a call, without an id.
        (
            r#"{"choices":[{"message":{"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"function_call"}]}"#,
            r#"text="" thinking="" call=call_910a2dec890241fc8a37ff1d5a3b2a0b:f:{}"#,
        ),
        // Arguments that are not JSON.
        (
            r#"{"choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{oops"}}]},"finish_reason":"stop"}]}"#,
            r#"text="" thinking="" call=1:f:unusable {oops"#,
        ),
        // An incomplete character at the end.
        (
            r#"{"choices":[{"message":{"content":"a\ud83d"},"finish_reason":"stop"}]}"#,
            "text=\"a\u{fffd}\" thinking=\"\"",
        ),
        // Several alternatives: index 0 counts, at any position.
        (
            r#"{"choices":[{"index":1,"message":{"content":"b"}},{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}"#,
            r#"text="a" thinking="""#,
        ),
    ];
    for (json, expected) in rows {
        let described = describe(&body(Api::OpenaiChat, "application/json", json).unwrap());
        let (said, _) = described.split_once(" in=").unwrap();
        if expected.contains("call=call_") {
            assert!(
                said.contains("call=call_") && said.ends_with(":f:{}"),
                "{said}"
            );
        } else {
            assert_eq!(said, expected, "{json}");
        }
    }
}

#[test]
fn events_of_any_content_type_are_read_as_they_arrive() {
    let stream = ": hi\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    for content_type in ["application/json", "text/plain", ""] {
        for start in ["", "\u{feff}", "\r\n"] {
            let body = format!("{start}{stream}");
            let pieces = body.bytes().map(|byte| vec![byte]).collect();
            let reply = body_in_pieces(Api::OpenaiChat, content_type, pieces).unwrap();
            assert_eq!(reply.text, "a", "{content_type} {start:?}");
        }
    }
}

#[test]
fn a_compressed_response_is_named() {
    for (status, expected) in [
        (
            200,
            "unusable reply: the response is compressed, which the request did not allow",
        ),
        (
            400,
            "the provider refused: status 400: the response is compressed, which the request did not allow",
        ),
    ] {
        let headers = [
            ("content-encoding", "gzip"),
            ("content-type", "text/event-stream"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let response =
            Response::from_recording(status, headers.into(), vec![vec![0x1f, 0x8b]], None);
        let clock = FixedClock(Timestamp::UNIX_EPOCH);
        let (listener, _) = mpsc::channel(1);
        let mut reading = ResponseReader {
            api: Api::OpenaiChat,
            delivery: Delivery::Streamed,
            ids: Arc::new(SeededIds::new(1)),
            clock: &clock,
            listener: Listener::new(&listener, Redaction::default()),
        };
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let outcome = runtime.block_on(reading.read_reply(Incoming::from_response(response)));
        assert_eq!(outcome.unwrap_err().to_string(), expected);
    }
}

proptest! {
    #[test]
    fn any_body_is_read_alike_in_one_piece_and_in_two(
        api in prop::sample::select(vec![
            Api::OpenaiChat, Api::Anthropic, Api::Gemini, Api::Ollama,
        ]),
        content_type in prop::sample::select(vec![
            "application/json", "text/event-stream", "application/x-ndjson", "text/plain",
        ]),
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "data: ", "\n", "\n\n", "{", "}", "[", "]", "\"", ":", ",", "null", "true", "0",
                "\"choices\":", "\"delta\":", "\"message\":", "\"content\":", "\"candidates\":",
                "\"parts\":", "\"type\":", "\"index\":", "\"tool_calls\":", "\"error\":",
                "\"usage\":", "\"message_start\"", "\"content_block_start\"", "\"done\":", "\\ud83d",
            ]),
            0..60,
        ),
        at in any::<prop::sample::Index>(),
    ) {
        let text = parts.concat();
        let (first, second) = text.as_bytes().split_at(at.index(text.len() + 1));
        let pieces = vec![first.to_vec(), second.to_vec()];
        let in_two = body_in_pieces(api, content_type, pieces).map(|reply| describe(&reply));
        let in_one = body(api, content_type, &text).map(|reply| describe(&reply));
        prop_assert_eq!(in_two.ok(), in_one.ok());
    }

    #[test]
    fn a_damaged_reply_is_read_alike_in_one_piece_and_in_two(
        which in 0..SAMPLES.len(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let sample = &SAMPLES[which];
        let mut bytes = sample.body.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let pieces = vec![bytes[..at].to_vec(), bytes[at..].to_vec()];
        let in_two = in_pieces(sample, pieces).0.map(|reply| describe(&reply));
        let in_one = in_pieces(sample, vec![bytes]).0.map(|reply| describe(&reply));
        prop_assert_eq!(in_two.ok(), in_one.ok());
    }
}
