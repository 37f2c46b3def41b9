//! Models over real sockets.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::exchange::tests::describe;
use super::test_samples::SAMPLES;
use super::test_server::{Observation, Step, TestServer, open_answer, response_bytes};
use super::test_socks_server::SocksServer;
use super::*;
use crate::client::http::{Header, HttpSettings, PlainText, Proxies, Secret, TimeLimits};
use crate::io::{CancelToken, Environment, FixedClock, SeededIds};
use crate::process::Supervisor;

const JSON: (&str, &str) = ("content-type", "application/json");
const EVENTS: (&str, &str) = ("content-type", "text/event-stream");
const CANARY: &str = "sk-canary-0123456789";
const GOOD: &str = r#"{"choices":[{"message":{"content":"Fix login"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#;

fn deps() -> ModelDeps {
    ModelDeps {
        environment: Environment::default(),
        clock: Arc::new(FixedClock("2026-01-02T03:04:05Z".parse().unwrap())),
        ids: Arc::new(SeededIds::new(1)),
        children: Supervisor::default(),
    }
}

fn limits() -> TimeLimits {
    TimeLimits {
        connect: Duration::from_secs(5),
        idle: Duration::from_mins(1),
        total: Duration::from_mins(2),
    }
}

fn settings(provider: &str, url: &str) -> ModelSettings {
    let mut settings = ModelSettings {
        http: HttpSettings {
            limits: limits(),
            ..HttpSettings::default()
        },
        ..ModelSettings::default()
    };
    let described = ProviderSettings {
        base_url: Some(url.to_owned()),
        key: KeySource::Key(Secret::new(CANARY)),
        ..ProviderSettings::default()
    };
    settings.providers.insert(provider.to_owned(), described);
    settings
}

fn quick_retries() -> RetryPolicy {
    RetryPolicy {
        first_wait: Duration::from_millis(20),
        ..RetryPolicy::default()
    }
}

fn connector(settings: ModelSettings) -> Connector {
    let mut connector = Connector::new(settings, deps(), KeyCheck::Required);
    connector.policy = quick_retries();
    connector
}

fn provider(connector: &Connector, name: &str) -> Arc<dyn Provider> {
    match connector.connect(&name.parse().unwrap()).unwrap() {
        Model::Provider(provider) => provider,
        Model::None | Model::Builtin => panic!("{name}"),
    }
}

fn openai(server: &TestServer) -> Arc<dyn Provider> {
    provider(
        &connector(settings("openai", &server.url("/v1"))),
        "openai:m",
    )
}

fn request() -> Request {
    Request {
        system: "Be brief.".to_owned(),
        turns: vec![Turn::user("Hello")],
        ..Request::new(PromptId::SESSION_TITLE, 100)
    }
}

fn persistent_request() -> Request {
    Request {
        attempts: Attempts::ByPolicy,
        ..request()
    }
}

fn name_of(api: Api) -> &'static str {
    match api {
        Api::OpenaiChat => "openai",
        Api::Responses => "responses",
        Api::Anthropic => "anthropic",
        Api::Gemini => "gemini",
        Api::Ollama => "ollama",
    }
}

#[test]
fn every_reply_arrives_byte_by_byte() {
    for sample in SAMPLES {
        let head = open_answer(200, &[("content-type", sample.content_type)]);
        let script = vec![Step::Send(head), Step::SendBytewise(sample.body.into())];
        let server = TestServer::start(vec![script]);
        let name = name_of(sample.api);
        let model = provider(
            &connector(settings(name, &server.url(""))),
            &format!("{name}:m"),
        );
        let mut parts = 0;
        let reply = if sample.is_stream() {
            model.ask(
                &request(),
                Delivery::Streamed,
                &CancelToken::default(),
                &mut |_| parts += 1,
            )
        } else {
            model.complete(&request(), &CancelToken::default())
        };
        assert_eq!(describe(&reply.unwrap()), sample.says, "{}", sample.name);
        assert_eq!(parts > 0, sample.is_stream());
    }
}

#[test]
fn keys_are_sent_in_the_header_of_each_api() {
    let rows = [
        (
            "openai",
            "/v1",
            "POST /v1/chat/completions HTTP/1.1",
            format!("authorization: Bearer {CANARY}"),
        ),
        (
            "anthropic",
            "",
            "POST /v1/messages HTTP/1.1",
            format!("x-api-key: {CANARY}"),
        ),
        (
            "gemini",
            "/gemini",
            "POST /gemini/v1beta/models/m:generateContent HTTP/1.1",
            format!("x-goog-api-key: {CANARY}"),
        ),
        (
            "ollama",
            "",
            "POST /api/chat HTTP/1.1",
            format!("authorization: Bearer {CANARY}"),
        ),
    ];
    for (name, base, line, key) in rows {
        let server = TestServer::with_answers([response_bytes(200, &[JSON], "{}")]);
        let model = provider(
            &connector(settings(name, &server.url(base))),
            &format!("{name}:m"),
        );
        assert!(model.complete(&request(), &CancelToken::default()).is_err());
        let (head, _) = server.requests().remove(0);
        assert_eq!(head.lines().next(), Some(line));
        assert!(head.contains(&key), "{head}");
        assert_eq!(
            head.contains("anthropic-version: 2023-06-01"),
            name == "anthropic"
        );
    }
}

#[test]
fn side_requests_are_tried_once() {
    for body in [
        response_bytes(500, &[JSON], "{}"),
        response_bytes(429, &[("retry-after", "0")], ""),
    ] {
        let server = TestServer::with_answers([body]);
        let failure = openai(&server)
            .complete(&request(), &CancelToken::default())
            .unwrap_err();
        assert_eq!(failure.retryability(), Retryability::Temporary, "{failure}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_requested_delay_is_respected() {
    let in_body = r#"{"error":{"code":429,"message":"q","details":[{"retryDelay":"0.2s"}]}}"#;
    let rows = [
        (
            response_bytes(429, &[JSON, ("Retry-After", "0.2")], "{}"),
            200,
        ),
        (
            response_bytes(503, &[JSON, ("retry-after-ms", "100")], "{}"),
            100,
        ),
        (
            response_bytes(
                429,
                &[JSON, ("retry-after", "Fri, 02 Jan 2026 03:04:06 GMT")],
                "{}",
            ),
            1000,
        ),
        (response_bytes(429, &[JSON], in_body), 200),
    ];
    for (refusal, least) in rows {
        let server = TestServer::with_answers([refusal, response_bytes(200, &[JSON], GOOD)]);
        let start = Instant::now();
        let reply = openai(&server)
            .complete(&persistent_request(), &CancelToken::default())
            .unwrap();
        assert_eq!(reply.text, "Fix login");
        assert!(
            start.elapsed() >= Duration::from_millis(least),
            "{:?}",
            start.elapsed()
        );
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn only_temporary_failures_are_retried() {
    let passing = [
        response_bytes(500, &[JSON], "{}"),
        response_bytes(
            529,
            &[JSON],
            r#"{"type":"error","error":{"type":"overloaded_error","message":"o"}}"#,
        ),
        response_bytes(408, &[], ""),
        // Cut in the middle of the body.
        response_bytes(200, &[JSON], GOOD)[..150].to_vec(),
        // Closed before the response.
        Vec::new(),
        response_bytes(
            200,
            &[JSON],
            r#"{"error":{"code":502,"message":"upstream"}}"#,
        ),
    ];
    for refusal in passing {
        let server =
            TestServer::with_answers([refusal.clone(), response_bytes(200, &[JSON], GOOD)]);
        let reply = openai(&server).complete(&persistent_request(), &CancelToken::default());
        let described = String::from_utf8_lossy(&refusal);
        assert_eq!(reply.unwrap().text, "Fix login", "{described}");
    }
    let quota =
        r#"{"error":{"message":"gone","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    let hopeless = [
        response_bytes(400, &[JSON], "{}"),
        response_bytes(401, &[JSON], "{}"),
        response_bytes(404, &[("content-type", "text/html")], "<html>nginx</html>"),
        response_bytes(429, &[JSON], quota),
        response_bytes(
            200,
            &[("content-type", "text/html")],
            "<html>Welcome</html>",
        ),
        response_bytes(302, &[("location", "https://elsewhere.example.com/")], ""),
        response_bytes(
            200,
            &[JSON],
            r#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}"#,
        ),
    ];
    for refused in hopeless {
        let described = String::from_utf8_lossy(&refused).into_owned();
        let server = TestServer::with_answers([refused]);
        let failure = openai(&server)
            .complete(&persistent_request(), &CancelToken::default())
            .unwrap_err();
        assert_eq!(
            failure.retryability(),
            Retryability::Permanent,
            "{described}: {failure}"
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_status_of_404_names_the_address_and_a_repeated_part() {
    let rows = [
        ("/v1", "/v1/chat/completions: gone"),
        (
            "/v1/v1?key=hidden",
            "/v1/v1/chat/completions?key=[redacted] (`v1` occurs twice: shorten the base URL): gone",
        ),
    ];
    for (path, expected) in rows {
        let server =
            TestServer::with_answers([response_bytes(404, &[JSON], r#"{"error":"gone"}"#)]);
        let model = provider(
            &connector(settings("openai", &server.url(path))),
            "openai:m",
        );
        let failure = model
            .complete(&request(), &CancelToken::default())
            .unwrap_err();
        let expected = format!("the provider refused: status 404: {}", server.url(expected));
        assert_eq!(failure.to_string(), expected);
    }
}

#[test]
fn a_stream_that_is_cut_fails_and_is_not_retried_once_forwarded() {
    let part = "data: {\"choices\":[{\"delta\":{\"content\":\"Fix\"}}]}\n\n";
    for head in [
        open_answer(200, &[EVENTS]),
        open_answer(200, &[EVENTS, ("transfer-encoding", "chunked")]),
    ] {
        let mut cut = head.clone();
        if head.windows(7).any(|window| window == b"chunked") {
            cut.extend_from_slice(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes());
        } else {
            cut.extend_from_slice(part.as_bytes());
        }
        let server = TestServer::with_answers([cut]);
        let mut heard = Vec::new();
        let failure = openai(&server)
            .ask(
                &request(),
                Delivery::Streamed,
                &CancelToken::default(),
                &mut |event| {
                    heard.push(event);
                },
            )
            .unwrap_err();
        assert!(matches!(failure, Failure::Cut { .. }), "{failure:?}");
        assert_eq!(heard, [ReplyEvent::Part(ReplyPart::Text("Fix".to_owned()))]);
        assert_eq!(server.requests().len(), 1);
    }
    // It is retried before any delta was sent, and afterwards only if the deltas can be withdrawn.
    let empty = open_answer(200, &[EVENTS]);
    let mut begun = open_answer(200, &[EVENTS]);
    begun.extend_from_slice(part.as_bytes());
    let mut good = open_answer(200, &[EVENTS]);
    good.extend_from_slice(part.as_bytes());
    good.extend_from_slice(
        b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    );
    let server = TestServer::with_answers([empty, begun, good]);
    let mut heard = Vec::new();
    let reply = openai(&server).ask(
        &persistent_request(),
        Delivery::Streamed,
        &CancelToken::default(),
        &mut |event| {
            heard.push(event);
        },
    );
    assert_eq!(reply.unwrap().text, "Fix");
    let fix = ReplyEvent::Part(ReplyPart::Text("Fix".to_owned()));
    let retries = heard.extract_if(.., |event| matches!(event, ReplyEvent::Retry { .. }));
    assert_eq!(retries.count(), 2);
    assert_eq!(heard, [fix.clone(), ReplyEvent::Restart, fix]);
}

#[test]
fn a_forwarded_block_is_not_withdrawn() {
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"Fix\"}}]}\n\n";
    let call = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n";
    let cut = |parts: &[&str]| {
        let mut answer = open_answer(200, &[EVENTS]);
        answer.extend_from_slice(parts.concat().as_bytes());
        answer
    };
    let attempts = |answers: Vec<Vec<u8>>| {
        let server = TestServer::with_answers(answers);
        let request = Request {
            attempts: Attempts::UntilABlock,
            ..persistent_request()
        };
        let reply = openai(&server).ask(
            &request,
            Delivery::Streamed,
            &CancelToken::default(),
            &mut |_| (),
        );
        reply.unwrap_err();
        server.requests().len()
    };
    let refusal = || response_bytes(400, &[JSON], "{}");
    assert_eq!(attempts(vec![cut(&[text]), refusal()]), 2);
    assert_eq!(attempts(vec![cut(&[call]), refusal()]), 2);
    assert_eq!(attempts(vec![cut(&[text, call])]), 1);
}

#[test]
fn silent_and_slow_responses_time_out() {
    let stuck = vec![Step::Send(open_answer(200, &[EVENTS])), Step::AwaitClose];
    let silent = vec![Step::AwaitClose];
    let drip = |_| {
        [
            Step::Send(b": x\n\n".to_vec()),
            Step::Pause(Duration::from_millis(40)),
        ]
    };
    let dripping: Vec<Step> = std::iter::once(Step::Send(open_answer(200, &[EVENTS])))
        .chain((0..100).flat_map(drip))
        .collect();
    let ms = Duration::from_millis;
    let minute = Duration::from_mins(1);
    for (script, idle, total) in [
        (stuck, ms(200), minute),
        (silent, ms(200), minute),
        (dripping, minute, ms(400)),
    ] {
        let server = TestServer::start(vec![script]);
        let mut settings = settings("openai", &server.url("/v1"));
        settings.http.limits.idle = idle;
        settings.http.limits.total = total;
        let model = provider(&connector(settings), "openai:m");
        let start = Instant::now();
        let failure = model
            .ask(
                &request(),
                Delivery::Streamed,
                &CancelToken::default(),
                &mut |_| (),
            )
            .unwrap_err();
        let limit = idle.min(total);
        assert_eq!(failure, Failure::TimedOut { limit });
        assert!(start.elapsed() < minute / 2, "{:?}", start.elapsed());
    }
}

#[test]
fn stopping_closes_the_connection_at_once() {
    let begun = Step::Send(open_answer(200, &[EVENTS]));
    for script in [vec![Step::AwaitClose], vec![begun, Step::AwaitClose]] {
        let server = TestServer::start(vec![script]);
        let model = openai(&server);
        let stop = CancelToken::default();
        let start = std::thread::scope(|scope| {
            let call = scope.spawn(|| {
                model.ask(
                    &persistent_request(),
                    Delivery::Streamed,
                    &stop,
                    &mut |_| (),
                )
            });
            assert!(matches!(server.next(), Observation::Request { .. }));
            let start = Instant::now();
            stop.cancel();
            assert_eq!(call.join().unwrap().unwrap_err(), Failure::Aborted);
            start
        });
        assert_eq!(server.next(), Observation::Closed);
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{:?}",
            start.elapsed()
        );
        // No further attempt starts.
        assert_eq!(
            model.complete(&request(), &stop).unwrap_err(),
            Failure::Aborted
        );
    }
}

#[test]
fn several_threads_send_requests_at_once() {
    let server = TestServer::start(
        (0..8)
            .map(|_| vec![Step::Send(response_bytes(200, &[JSON], GOOD))])
            .collect(),
    );
    let model = openai(&server);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| model.complete(&request(), &CancelToken::default())))
            .collect();
        for call in calls {
            assert_eq!(call.join().unwrap().unwrap().text, "Fix login");
        }
    });
    assert_eq!(server.requests().len(), 8);
}

#[test]
fn a_connection_error_names_the_host() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let settings = settings("openai", &format!("http://127.0.0.1:{port}/v1"));
    let failure = provider(&connector(settings), "openai:m")
        .complete(&persistent_request(), &CancelToken::default())
        .unwrap_err();
    assert!(
        matches!(failure, Failure::Unreachable { .. }),
        "{failure:?}"
    );
    let address = format!("127.0.0.1:{port}: ");
    assert!(failure.to_string().contains(&address), "{failure}");
}

#[test]
fn no_key_is_ever_shown() {
    let echoes = [
        response_bytes(401, &[JSON], &json!({"error": {"message": format!("Incorrect key: {CANARY}.")}}).to_string()),
        response_bytes(500, &[], &format!("at line\n1: authorization: Bearer {CANARY}")),
        response_bytes(200, &[JSON], &format!("nonsense {CANARY}")),
        response_bytes(302, &[("location", &format!("http://x/?key={CANARY}"))], ""),
        response_bytes(200, &[JSON], &json!({"choices": [{"message": {"content": "", "refusal": CANARY}, "finish_reason": "stop"}]}).to_string()),
    ];
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("recording.jsonl");
    for echo in echoes {
        let server = TestServer::with_answers([echo]);
        let mut settings = settings("openai", &server.url("/v1"));
        let described = settings.providers.get_mut("openai").unwrap();
        described.headers = vec![Header::secret("x-team", "team-canary-77")];
        assert!(!format!("{settings:?}").contains("canary"));
        let mut connector = connector(settings);
        connector.recorder = Some(Arc::new(Recorder::open(&file).unwrap()));
        let failure = provider(&connector, "openai:m")
            .complete(&request(), &CancelToken::default())
            .unwrap_err();
        let shown = format!("{failure} {failure:?}");
        assert!(!shown.contains("canary"), "{shown}");
        assert!(!shown.contains('\n'), "{shown}");
        let (head, _) = server.requests().remove(0);
        assert!(head.contains("x-team: team-canary-77") && head.contains(CANARY));
    }
    let recorded = std::fs::read_to_string(&file).unwrap();
    assert_eq!(recorded.lines().count(), 5);
    assert!(!recorded.contains("canary"), "{recorded}");
}

#[test]
fn a_reply_that_contains_the_key_is_redacted() {
    let body = json!({"choices": [{"message": {"content": format!("Your key is {CANARY}.")}, "finish_reason": "stop"}]});
    let server = TestServer::with_answers([response_bytes(200, &[JSON], &body.to_string())]);
    let reply = openai(&server)
        .complete(&request(), &CancelToken::default())
        .unwrap();
    assert_eq!(reply.text, "Your key is [redacted].");

    let mut stream = open_answer(200, &[EVENTS]);
    for part in ["It is s", "k-canary-01", "23456789.", " Or sk-"] {
        let part = json!({"choices": [{"delta": {"content": part}}]});
        stream.extend_from_slice(format!("data: {part}\n\n").as_bytes());
    }
    let call = json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {
        "name": "f", "arguments": json!({"key": CANARY}).to_string(),
    }}]}, "finish_reason": "stop"}]});
    stream.extend_from_slice(format!("data: {call}\n\ndata: [DONE]\n\n").as_bytes());
    let server = TestServer::with_answers([stream]);
    let mut heard = String::new();
    let reply = openai(&server).ask(
        &request(),
        Delivery::Streamed,
        &CancelToken::default(),
        &mut |event| match event {
            ReplyEvent::Part(
                ReplyPart::Text(part) | ReplyPart::CallInput { fragment: part, .. },
            ) => {
                heard.push_str(&part);
            }
            ReplyEvent::Part(_) | ReplyEvent::Restart | ReplyEvent::Retry { .. } => {}
        },
    );
    assert_eq!(heard, "It is [redacted]. Or sk-{\"key\":\"[redacted]\"}");
    assert!(describe(&reply.unwrap()).contains("call=a:f:{\"key\":\"[redacted]\"}"));
}

#[test]
fn a_key_is_not_sent_unencrypted_to_public_networks() {
    let far = settings("openai", "http://198.51.100.7/v1");
    let failure = provider(&connector(far.clone()), "openai:m")
        .complete(&request(), &CancelToken::default())
        .unwrap_err();
    assert_eq!(
        failure.to_string(),
        "a key is not sent to 198.51.100.7 without https; `allow_plain_http` of the provider permits it"
    );
    assert_eq!(far.providers["openai"].plain_text, PlainText::Nearby);
}

#[test]
fn requests_use_the_proxy_except_for_listed_hosts() {
    let server = TestServer::with_answers([response_bytes(200, &[JSON], GOOD)]);
    let mut settings = settings("vllm", "http://gpu.internal:8000/v1");
    settings.http.proxies = Proxies {
        http: Some(Secret::new(format!(
            "http://user:proxy-canary@127.0.0.1:{}",
            server.port
        ))),
        ..Proxies::default()
    };
    settings.providers.get_mut("vllm").unwrap().key = KeySource::None;
    let model = provider(&connector(settings.clone()), "vllm:m");
    assert_eq!(
        model
            .complete(&request(), &CancelToken::default())
            .unwrap()
            .text,
        "Fix login"
    );
    let (head, _) = server.requests().remove(0);
    assert!(
        head.starts_with("POST http://gpu.internal:8000/v1/chat/completions "),
        "{head}"
    );
    assert!(
        head.to_lowercase().contains("proxy-authorization: basic "),
        "{head}"
    );

    let direct = TestServer::with_answers([response_bytes(200, &[JSON], GOOD)]);
    settings.providers.get_mut("vllm").unwrap().base_url = Some(direct.url("/v1"));
    settings.http.proxies.excluded = Some("127.0.0.1".to_owned());
    let model = provider(&connector(settings), "vllm:m");
    assert_eq!(
        model
            .complete(&request(), &CancelToken::default())
            .unwrap()
            .text,
        "Fix login"
    );
}

#[test]
fn requests_use_socks_proxies() {
    let rows = [
        // The scheme determines who resolves the name; here only the proxy can.
        (
            "socks5h",
            "",
            "http://gpu.internal:8000/v1",
            "gpu.internal:8000",
        ),
        (
            "socks5h",
            "user:proxy-canary@",
            "http://gpu.internal:8000/v1",
            "gpu.internal:8000",
        ),
        ("socks5", "", "http://127.0.0.2:8000/v1", "127.0.0.2:8000"),
    ];
    for (scheme, login, url, target) in rows {
        let server = TestServer::with_answers([response_bytes(200, &[JSON], GOOD)]);
        let proxy = SocksServer::with_target(server.port);
        let mut settings = settings("vllm", url);
        settings.providers.get_mut("vllm").unwrap().key = KeySource::None;
        settings.http.proxies = Proxies {
            all: Some(Secret::new(format!(
                "{scheme}://{login}127.0.0.1:{}",
                proxy.port
            ))),
            ..Proxies::default()
        };
        let model = provider(&connector(settings), "vllm:m");
        let reply = model.complete(&request(), &CancelToken::default());
        assert_eq!(reply.unwrap().text, "Fix login", "{scheme} {login}");
        let request = proxy.next_request();
        assert_eq!(request.target, target, "{scheme} {login}");
        let login = (!login.is_empty()).then(|| ("user".to_owned(), "proxy-canary".to_owned()));
        assert_eq!(request.login, login);
        let (head, _) = server.requests().remove(0);
        assert!(head.starts_with("POST /v1/chat/completions "), "{head}");
    }
}

#[test]
fn an_unreachable_socks_proxy_is_named_without_its_password() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let mut settings = settings("vllm", "http://gpu.internal:8000/v1");
    settings.providers.get_mut("vllm").unwrap().key = KeySource::None;
    settings.http.proxies.all = Some(Secret::new(format!(
        "socks5h://user:proxy-canary@127.0.0.1:{port}"
    )));
    let model = provider(&connector(settings), "vllm:m");
    let failure = model
        .complete(&request(), &CancelToken::default())
        .unwrap_err();
    let described = format!("{failure} {failure:?}");
    assert!(described.contains("socks proxy"), "{described}");
    assert!(!described.contains("canary"), "{described}");
}

#[test]
fn a_request_is_adapted_to_what_a_server_refuses() {
    let refusal = r#"{"error":{"message":"The value of the enable_thinking parameter is restricted to True.","code":"invalid_parameter_error"}}"#;
    let server = TestServer::with_answers([
        response_bytes(400, &[JSON], refusal),
        response_bytes(200, &[JSON], GOOD),
        response_bytes(200, &[JSON], GOOD),
    ]);
    let model = provider(
        &connector(settings("dashscope", &server.url("/v1"))),
        "dashscope:qwen3",
    );
    for _ in 0..2 {
        assert_eq!(
            model
                .complete(&request(), &CancelToken::default())
                .unwrap()
                .text,
            "Fix login"
        );
    }
    let bodies = server.requests().into_iter();
    let thinking: Vec<bool> = bodies
        .map(|(_, body)| body.contains("enable_thinking"))
        .collect();
    assert_eq!(thinking, [true, false, false]);
}

#[test]
fn a_missing_key_and_an_unknown_provider_are_reported_before_anything_is_sent() {
    let connector = |keys| Connector::new(ModelSettings::default(), deps(), keys);
    let fails = |name: &str| {
        let name: ModelName = name.parse().unwrap();
        match connector(KeyCheck::Required).connect(&name) {
            Ok(_) => panic!("{name}"),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(
        fails("openai:m"),
        "no key for openai: set OPENAI_API_KEY, or `api_key_cmd` in the configuration"
    );
    assert!(fails("opnai:m").starts_with("unknown model provider `opnai`"));
    assert!(fails("replay:/nonexistent").starts_with("recording /nonexistent: "));
    for name in [
        "none",
        "builtin",
        "ollama:m",
        "llamacpp:m",
        "vllm:m",
        "lmstudio:m",
    ] {
        assert!(
            connector(KeyCheck::Required)
                .connect(&name.parse().unwrap())
                .is_ok(),
            "{name}"
        );
    }
    assert!(
        connector(KeyCheck::Optional)
            .connect(&"openai:m".parse().unwrap())
            .is_ok()
    );
}

#[test]
fn clients_ignore_the_environment_of_the_process() {
    // A client that is never used builds nothing: no thread, no certificates.
    let model = provider(
        &connector(settings("openai", "https://example.com/v1")),
        "openai:m",
    );
    assert!(
        model
            .body(&request(), Delivery::Whole)
            .contains("max_completion_tokens")
    );
}
