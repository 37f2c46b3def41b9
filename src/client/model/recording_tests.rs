use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::client::http::Secret;
use crate::client::model::test_server::{TestServer, open_answer, response_bytes};
use crate::client::model::{
    Attempts, Connector, Delivery, Failure, KeyCheck, KeySource, Model, ModelDeps, ModelName,
    ModelSettings, PromptId, Provider, ProviderSettings, Recorder, ReplyEvent, Request,
    RetryPolicy, Turn,
};
use crate::io::{CancelToken, Environment, SeededIds, SystemClock};
use crate::process::Supervisor;

const JSON: (&str, &str) = ("content-type", "application/json");

fn connector(providers: &[(&str, String)]) -> Connector {
    let mut settings = ModelSettings::default();
    for (name, url) in providers {
        let described = ProviderSettings {
            base_url: Some(url.clone()),
            key: KeySource::Key(Secret::new("sk-canary-0123")),
            ..ProviderSettings::default()
        };
        settings.providers.insert((*name).to_owned(), described);
    }
    let deps = ModelDeps {
        environment: Environment::default(),
        clock: Arc::new(SystemClock::default()),
        ids: Arc::new(SeededIds::new(1)),
        children: Supervisor::default(),
    };
    let policy = RetryPolicy {
        first_wait: std::time::Duration::from_millis(5),
        ..RetryPolicy::default()
    };
    let mut connector = Connector::new(settings, deps, KeyCheck::Required);
    connector.policy = policy;
    connector
}

fn provider(connector: &Connector, name: &ModelName) -> Arc<dyn Provider> {
    match connector.connect(name).unwrap() {
        Model::Provider(provider) => provider,
        Model::None | Model::Builtin => panic!("{name}"),
    }
}

fn request(text: &str) -> Request {
    Request {
        turns: vec![Turn::user(text)],
        attempts: Attempts::ByPolicy,
        ..Request::new(PromptId::SESSION_TITLE, 50)
    }
}

fn replay(file: &Path) -> Arc<dyn Provider> {
    provider(&connector(&[]), &ModelName::Replay(file.to_owned()))
}

fn reply(text: &str) -> Vec<u8> {
    let body =
        format!(r#"{{"choices":[{{"message":{{"content":"{text}"}},"finish_reason":"stop"}}]}}"#);
    response_bytes(200, &[JSON], &body)
}

#[test]
fn a_recording_replays_without_network_and_key() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("recording.jsonl");
    let mut stream = open_answer(200, &[("content-type", "text/event-stream")]);
    stream.extend_from_slice(
        b"data: {\"choices\":[{\"delta\":{\"content\":\"St\xFFream\"}}]}\n\n\
          data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    );
    let server = TestServer::with_answers([
        response_bytes(503, &[JSON, ("retry-after-ms", "5")], "{}"),
        reply("one"),
        reply("two"),
        stream,
        response_bytes(401, &[JSON], r#"{"error":{"message":"no"}}"#),
    ]);
    let ask = |model: &dyn Provider| {
        let stop = CancelToken::default();
        let mut events: Vec<ReplyEvent> = Vec::new();
        let outcomes = [
            model.complete(&request("a"), &stop),
            model.complete(&request("a"), &stop),
            model.ask(&request("b"), Delivery::Streamed, &stop, &mut |event| {
                events.push(event);
            }),
            model.complete(&request("c"), &stop),
        ];
        let outcomes = outcomes.map(|outcome| outcome.map(|reply| reply.text));
        (outcomes, events, model.name().to_owned())
    };
    let recorded = {
        let mut connector = connector(&[("openai", server.url("/v1"))]);
        connector.recorder = Some(Arc::new(Recorder::open(&file).unwrap()));
        ask(&*provider(&connector, &"openai:m".parse().unwrap()))
    };
    drop(server);
    assert_eq!(recorded.0[0].as_deref(), Ok("one"));
    assert_eq!(recorded.0[1].as_deref(), Ok("two"));
    assert_eq!(recorded.0[2].as_deref(), Ok("St\u{fffd}ream"));
    assert_eq!(ask(&*replay(&file)), recorded);

    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 5);
    assert!(!text.contains("canary"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_request_that_was_not_recorded_is_compared_with_the_nearest() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("recording.jsonl");
    let server = TestServer::with_answers([reply("one"), reply("two")]);
    let mut connector = connector(&[("openai", server.url("/v1"))]);
    connector.recorder = Some(Arc::new(Recorder::open(&file).unwrap()));
    let model = provider(&connector, &"openai:m".parse().unwrap());
    for text in ["What is this?", "Something else altogether"] {
        model
            .complete(&request(text), &CancelToken::default())
            .unwrap();
    }
    let failure = replay(&file)
        .complete(&request("What is that?"), &CancelToken::default())
        .unwrap_err();
    let Failure::NotRecorded {
        reason, difference, ..
    } = failure
    else {
        panic!("{failure:?}")
    };
    assert_eq!(reason, "the nearest request differs in 2 lines");
    assert!(
        difference.contains("-      \"content\": \"What is this?\""),
        "{difference}"
    );
    assert!(
        difference.contains("+      \"content\": \"What is that?\""),
        "{difference}"
    );
}

#[test]
fn several_models_may_be_in_one_recording() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("recording.jsonl");
    let openai = TestServer::with_answers([reply("one")]);
    let ollama = TestServer::with_answers([response_bytes(
        200,
        &[JSON],
        r#"{"message":{"content":"two"},"done":true,"done_reason":"stop"}"#,
    )]);
    let mut connector = connector(&[("openai", openai.url("/v1")), ("ollama", ollama.url(""))]);
    connector.recorder = Some(Arc::new(Recorder::open(&file).unwrap()));
    let stop = CancelToken::default();
    for (name, text) in [("openai:m", "a"), ("ollama:n", "b")] {
        let model = provider(&connector, &name.parse().unwrap());
        model.complete(&request(text), &stop).unwrap();
    }
    let model = replay(&file);
    assert_eq!(model.complete(&request("b"), &stop).unwrap().text, "two");
    assert_eq!(model.complete(&request("a"), &stop).unwrap().text, "one");
}

#[test]
fn failures_are_recorded_too() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("recording.jsonl");
    let server = TestServer::with_answers([reply("one")[..100].to_vec()]);
    let mut connector = connector(&[("openai", server.url("/v1"))]);
    connector.recorder = Some(Arc::new(Recorder::open(&file).unwrap()));
    let once = Request {
        attempts: Attempts::One,
        ..request("a")
    };
    let model = provider(&connector, &"openai:m".parse().unwrap());
    let failure = model.complete(&once, &CancelToken::default()).unwrap_err();
    assert!(matches!(failure, Failure::Cut { .. }), "{failure:?}");
    assert_eq!(
        replay(&file)
            .complete(&once, &CancelToken::default())
            .unwrap_err(),
        failure
    );
}

#[test]
fn a_file_that_is_not_a_recording_is_refused_with_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("recording.jsonl");
    let refusal = |text: &str| {
        fs::write(&file, text).unwrap();
        let connected = connector(&[]).connect(&ModelName::Replay(file.clone()));
        connected.err().unwrap().to_string()
    };
    assert!(refusal("").ends_with("contains no exchange"));
    assert!(refusal("\n{\"type\":\"user\"}\n").contains("line 2 is not an exchange"));
}

#[test]
fn secrets_of_any_known_form_are_masked() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("recording.jsonl");
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let server = TestServer::with_answers([reply(&format!("use {token}"))]);
    let mut connector = connector(&[("openai", server.url("/v1"))]);
    connector.recorder = Some(Arc::new(Recorder::open(&file).unwrap()));
    let asked = request(&format!("export API_TOKEN='{token}' \"quoted\""));
    let stop = CancelToken::default();
    let model = provider(&connector, &"openai:m".parse().unwrap());
    assert!(model.complete(&asked, &stop).unwrap().text.contains(&token));
    let recorded = fs::read_to_string(&file).unwrap();
    assert!(!recorded.contains(&token), "{recorded}");
    let replayed = replay(&file).complete(&asked, &stop).unwrap();
    assert_eq!(replayed.text, "use ghp_[redacted]");
}
