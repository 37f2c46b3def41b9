//! `turn --output-schema` with five APIs, and with a server that writes JSON by a grammar.

use std::path::Path;

use serde_json::{Value, json};

use crate::turns::{Agent, PROVIDERS};
use crate::{aimock, llama, llmock};

/// Runs an agent with a tool until it ends. Returns its statuses and the `result` of its last reply.
fn last_result(agent: &Agent) -> (Vec<Option<i32>>, Value) {
    let schema = json!({
        "type": "object", "properties": {"verdict": {"enum": ["good", "bad"]}, "n": {"const": 3}},
        "required": ["verdict", "n"], "additionalProperties": false,
    });
    let file = agent.folder.path().join("schema.json");
    std::fs::write(&file, schema.to_string()).unwrap();
    let option = ["--output-schema", "schema.json"];
    let mut statuses = vec![agent.run_round(&[&["--prompt", "LOOK_TWICE"][..], &option].concat())];
    while statuses.last() == Some(&Some(0)) && statuses.len() < 9 {
        statuses.push(agent.run_round(&option));
    }
    let result = agent.results().pop().unwrap();
    (statuses, result)
}

pub(crate) fn run(folder: &Path) {
    for delivery in ["--partial", "--no-stream"] {
        // This server writes JSON by the schema, which it reads where each API has it. For Anthropic's it
        // only knows a former name of the member.
        let server = llmock::start(folder, &[]);
        let known = PROVIDERS.into_iter().filter(|row| row.0 != "anthropic");
        for (provider, variable, path, _) in known {
            let agent = Agent::new(provider, variable, server.url(path), delivery);
            let (_, result) = last_result(&agent);
            assert_eq!(result["structured_output"]["n"], 3, "{provider}: {result}");
            assert_eq!(result["num_turns"], 1, "{provider}");
            println!("llmock, {provider}, {delivery}: {}", result["result"]);
        }
        // Calls, then prose, then JSON when told what is missing.
        let ollama = ("ollama", "OLLAMA_HOST", "", "");
        for (provider, variable, _, path) in PROVIDERS.into_iter().chain([ollama]) {
            let server = aimock::start(folder);
            let agent = Agent::new(provider, variable, server.url(path), delivery);
            let (statuses, result) = last_result(&agent);
            assert_eq!(statuses.last(), Some(&Some(10)), "{provider}: {result}");
            assert!(statuses.len() > 1, "{provider}: no calls");
            assert_eq!(
                result["structured_output"]["verdict"], "good",
                "{provider}: {result}"
            );
            assert_eq!(result["num_turns"], 2, "{provider}");
            println!("aimock, {provider}, {delivery}: {}", result["result"]);
        }
        let server = llama::start(folder);
        let agent = Agent::new("llamacpp", "UNUSED", String::new(), delivery);
        agent.configure("llamacpp", &server);
        let (statuses, result) = last_result(&agent);
        assert_eq!(statuses, [Some(0), Some(10)], "{result}");
        assert_eq!(result["structured_output"]["n"], 3, "{result}");
        assert_eq!(result["num_turns"], 2, "{result}");
        println!("llama.cpp, {delivery}: {}", result["structured_output"]);
    }
}
