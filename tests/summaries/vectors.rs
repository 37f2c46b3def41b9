//! Comparison with Qwen Code's services, row by row
//! through the commands: cleaned replies, and automatic titles.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::files::{TALK, qwen, records, write};
use crate::server::{Server, run_with_input, text_reply, titles};
use crate::turnpipe;

fn rows(area: &str) -> Vec<Value> {
    let rows = include_str!("../data/qwen-code.jsonl")
        .lines()
        .map(|line| -> Value { serde_json::from_str(line).unwrap() });
    rows.filter(|row| row["area"] == area).collect()
}

/// Returns a value with repeated texts expanded.
fn plain_value(value: &Value) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(plain_value).collect(),
        Value::Object(members) => match members.get("$repeat") {
            Some(Value::Array(repeat)) => {
                let times = usize::try_from(repeat[1].as_u64().unwrap()).unwrap();
                plain_value(&repeat[0])
                    .as_str()
                    .unwrap()
                    .repeat(times)
                    .into()
            }
            _ => members
                .iter()
                .map(|(key, value)| (key.clone(), plain_value(value)))
                .collect(),
        },
        other => other.clone(),
    }
}

/// Returns a server that replies as in a row.
fn start_server(input: &Value, answer: impl Fn(&str) -> String) -> Server {
    let reply = match &input["reply"] {
        Value::String(reply) => reply.clone(),
        Value::Null => "Done".to_owned(),
        other => other.to_string(),
    };
    let body = answer(&reply);
    let throws = input["throw"] == true;
    Server::start(
        Duration::ZERO,
        Box::new(move |_| {
            if throws {
                bad_request()
            } else {
                (200, body.clone())
            }
        }),
    )
}

fn history(input: &Value) -> String {
    let contents = plain_value(&input["history"]);
    let lines = contents
        .as_array()
        .unwrap()
        .iter()
        .map(|content| format!("{content}\n"));
    lines.collect()
}

/// Returns the record that a command adds to a conversation.
fn outcome(output: &str, kind: &str) -> Value {
    let found = records(output);
    let mut of_kind = found.into_iter().filter(|record| record["type"] == kind);
    of_kind.next().unwrap()
}

#[test]
fn titles_match_qwen_code() {
    for row in rows("sessionTitle.generate") {
        let input = &row["input"];
        // Display texts only come from files; that requests can be stopped
        // is checked elsewhere.
        if input.get("display").is_some() || input.get("abortDuring").is_some() {
            continue;
        }
        let conversation = history(input);
        // An empty input is not a conversation: nothing is printed.
        if conversation.is_empty() {
            continue;
        }
        let server = start_server(input, crate::server::call_reply);
        let output = run_with_input(server.command(&["title", "-q"]), &conversation);
        let found = outcome(&output.stdout, "title");
        let ours = row.get("our_outcome");
        let expected = ours.unwrap_or(&row["expected"]["outcome"]);
        for member in ["ok", "title", "reason"] {
            assert_eq!(
                found[member], expected[member],
                "{member} of {found} for {input}"
            );
        }
        assert_eq!(
            server.bodies.lock().unwrap().is_empty(),
            row["expected"]["request"].is_null(),
            "{input}"
        );
    }
}

#[test]
fn recaps_match_qwen_code() {
    for row in rows("sessionRecap.generate") {
        let input = &row["input"];
        let server = start_server(input, text_reply);
        let mut command = server.command(&["recap", "-q"]);
        if input.get("fastModel").is_none() {
            command.env_remove("TURNPIPE_FAST_MODEL");
            command.env("TURNPIPE_MODEL", "openai:large");
        }
        let output = run_with_input(command, &history(input));
        let found = outcome(&output.stdout, "recap");
        assert_eq!(found["recap"], row["expected"]["result"], "{input}");
        let asked = server.bodies.lock().unwrap()[0]["model"].clone();
        let fast = input.get("fastModel").is_some();
        assert_eq!(asked, if fast { "small" } else { "large" }, "{input}");
    }
}

#[test]
fn labels_match_qwen_code() {
    for row in rows("toolUseSummary.generate") {
        let input = plain_value(&row["input"]);
        let tools = input["tools"].as_array().unwrap();
        // Without a model, labels are built in.
        if input.get("fastModel").is_none() || tools.is_empty() {
            continue;
        }
        let server = start_server(&input, text_reply);
        let said = input["lastAssistantText"].as_str().unwrap_or_default();
        let mut blocks = vec![json!({"type": "text", "text": said})];
        let mut results = Vec::new();
        for (number, tool) in tools.iter().enumerate() {
            let id = format!("t{number}");
            blocks.push(
                json!({"type": "tool_use", "id": id, "name": tool["name"], "input": tool["input"]}),
            );
            results
                .push(json!({"type": "tool_result", "tool_use_id": id, "content": tool["output"]}));
        }
        let stream = format!(
            "{}\n{}\n",
            json!({"type": "assistant", "message": {"id": "m", "role": "assistant", "content": blocks}}),
            json!({"type": "user", "message": {"role": "user", "content": results}}),
        );
        let output = run_with_input(server.command(&["summarize-batch", "--no-echo"]), &stream);
        let found = records(&output.stdout);
        let label = found
            .first()
            .map_or(Value::Null, |record| record["summary"].clone());
        assert_eq!(label, row["expected"]["result"], "{input}");
    }
}

/// A session that is titled automatically, turn by turn.
struct Scenario {
    folder: tempfile::TempDir,
    path: PathBuf,
    server: Server,
    has_model: bool,
    /// Automatic titles by another process.
    autos_of_others: usize,
}

/// Returns the reply to the request with this number.
type Answers = Box<dyn Fn(usize) -> (u16, String) + Send + Sync>;

const TITLE: &str = "Repair parser crash";

fn good_reply() -> (u16, String) {
    (200, titles(TITLE))
}

fn bad_request() -> (u16, String) {
    (400, r#"{"error":{"message":"no"}}"#.to_owned())
}

impl Scenario {
    fn new(talk: &[&str], answers: Answers) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = write(
            folder.path(),
            "22222222-2222-4222-8222-222222222222.jsonl",
            &qwen(talk),
        );
        let asked = AtomicUsize::new(0);
        let server = Server::start(
            Duration::ZERO,
            Box::new(move |_| answers(asked.fetch_add(1, Ordering::SeqCst))),
        );
        Self {
            folder,
            path,
            server,
            has_model: true,
            autos_of_others: 0,
        }
    }

    fn turns(&self, count: usize) {
        let state = self.folder.path().join("state");
        let path = self.path.to_str().unwrap();
        for _ in 0..count {
            let mut command = self
                .server
                .command(&["title", "--write", "--auto", "-q", path]);
            command.arg("--state-dir").arg(&state);
            if !self.has_model {
                command.env_remove("TURNPIPE_FAST_MODEL");
            }
            let output = run_with_input(command, "");
            assert_eq!(records(&output.stdout).len(), 1, "{}", output.stderr);
        }
    }

    /// Returns the number of requests, and the titles in the file.
    fn end(&self) -> (usize, Vec<(String, String)>) {
        let text = std::fs::read_to_string(&self.path).unwrap();
        let found = records(&text)
            .into_iter()
            .filter(|record| record["subtype"] == "custom_title")
            .map(|record| {
                let of = |member: &str| {
                    record["systemPayload"][member]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned()
                };
                (of("customTitle"), of("titleSource"))
            });
        (self.server.bodies.lock().unwrap().len(), found.collect())
    }
}

/// Renames a session like a user.
fn rename(path: &Path, title: &str) {
    let output = turnpipe::run(&["session", "rename", path.to_str().unwrap(), title], b"");
    assert_eq!(output.status, Some(0), "{}", output.stderr);
}

/// Returns a scenario in which the user renames the session while the model is asked.
fn rename_during_request(title: &'static str) -> Scenario {
    change_during_request(move |path| rename(path, title))
}

/// Returns a scenario in which another process writes an automatic title while the model is asked.
fn title_during_request() -> Scenario {
    let scenario = change_during_request(|path| {
        let record = json!({"uuid": "99999999-9999-4999-8999-999999999999", "parentUuid": null,
            "sessionId": "22222222-2222-4222-8222-222222222222", "type": "system",
            "subtype": "custom_title", "timestamp": "2026-01-02T03:04:05.000Z",
            "systemPayload": {"customTitle": "Of somebody else", "titleSource": "auto"}});
        let text = std::fs::read_to_string(path).unwrap();
        std::fs::write(path, format!("{text}{record}\n")).unwrap();
    });
    Scenario {
        autos_of_others: 1,
        ..scenario
    }
}

/// Returns a scenario in which the file is changed while the model is asked.
fn change_during_request(act: impl Fn(&Path) + Send + Sync + 'static) -> Scenario {
    let path: Arc<Mutex<PathBuf>> = Arc::default();
    let known = Arc::clone(&path);
    let scenario = Scenario::new(
        &TALK,
        Box::new(move |_| {
            act(&known.lock().unwrap());
            good_reply()
        }),
    );
    path.lock().unwrap().clone_from(&scenario.path);
    scenario
}

/// Runs a scenario; `None` for scenarios inside an agent.
fn find_scenario(name: &str) -> Option<Scenario> {
    let (scenario, turns) = match name {
        "fast model set; one assistant turn; model returns \"Repair parser crash\"" => {
            (Scenario::new(&TALK, Box::new(|_| good_reply())), 1)
        }
        "no fast model; one assistant turn" => (
            Scenario {
                has_model: false,
                ..Scenario::new(&TALK, Box::new(|_| good_reply()))
            },
            1,
        ),
        "manual title \"chose-this-myself\" recorded first; then one assistant turn" => {
            let scenario = Scenario::new(&TALK, Box::new(|_| good_reply()));
            rename(&scenario.path, "chose-this-myself");
            (scenario, 1)
        }
        "model returns \"...\" (empty_result) on every turn; 5 turns" => {
            (Scenario::new(&TALK, Box::new(|_| (200, titles("...")))), 5)
        }
        "model throws on every turn; 5 turns" => {
            (Scenario::new(&TALK, Box::new(|_| bad_request())), 5)
        }
        "model throws on turn 1, succeeds on turn 2" => {
            let answers = |asked| {
                if asked == 0 {
                    bad_request()
                } else {
                    good_reply()
                }
            };
            (Scenario::new(&TALK, Box::new(answers)), 2)
        }
        "history has one message only (empty_history); 5 turns" => {
            (Scenario::new(&TALK[..1], Box::new(|_| good_reply())), 5)
        }
        "disk already holds manual title from another process when LLM answers" => {
            (rename_during_request("User chose this"), 1)
        }
        "disk already holds AUTO title from another process when LLM answers" => {
            (title_during_request(), 1)
        }
        "manual rename lands while generation in flight, then LLM answers" => {
            (rename_during_request("user-chosen"), 1)
        }
        _ => return None,
    };
    scenario.turns(turns);
    Some(scenario)
}

#[test]
fn automatic_titles_match_qwen_code() {
    let all = rows("autoTitle.scenario");
    let mut played_count = 0;
    for row in &all {
        let name = row["input"].as_str().unwrap();
        let Some(scenario) = find_scenario(name) else {
            continue;
        };
        played_count += 1;
        let others = scenario.autos_of_others;
        let (calls, found) = scenario.end();
        let expected = &row["expected"];
        assert_eq!(json!(calls), expected["llmCalls"], "{name}");
        let current = found
            .last()
            .map(|(title, source)| (json!(title), json!(source)));
        let (title, source) = current.unwrap_or_default();
        assert_eq!(
            (&title, &source),
            (&expected["currentTitle"], &expected["currentSource"]),
            "{name}"
        );
        let autos = found.iter().filter(|(_, source)| source == "auto").count();
        let theirs = expected["titleRecords"].as_array().unwrap().iter();
        assert_eq!(
            autos - others,
            theirs
                .filter(|record| record["titleSource"] == "auto")
                .count(),
            "{name}"
        );
    }
    // The others: a recorder inside an agent that is finished or resumed, and a
    // title without a source that appears while the model is asked (docs/sessions.md, Recording).
    assert_eq!(played_count, 10);
}
