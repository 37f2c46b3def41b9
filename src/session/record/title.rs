//! Records with titles and recaps in the form that an agent's own tools read.

use serde_json::{Map, Value, json};

use super::{Chain, RenameFacts};
use crate::session::{Agent, Standing};

/// The record of a title that a model made; nothing if the agent's files have no place for one.
/// `chain` is the end of the session file as it is now, `ours` what turnpipe has to say about it.
pub fn title_record(
    agent: Agent,
    title: &str,
    standing: Standing,
    facts: &RenameFacts,
    chain: &Chain,
    ours: Value,
) -> Option<String> {
    let mut ours = ours;
    if standing == Standing::OnRequest {
        ours["supersedes_manual"] = Value::from(true);
    }
    let record = match agent {
        Agent::Claude => json!({
            "type": "ai-title",
            "aiTitle": title,
            "sessionId": facts.session_id,
            "uuid": facts.uuid,
            "timestamp": facts.timestamp,
            "turnpipe": ours,
        }),
        Agent::Qwen => of_qwen(
            facts,
            chain,
            "custom_title",
            &json!({"customTitle": title, "titleSource": "auto"}),
            &ours,
        ),
        Agent::Codex | Agent::Gemini | Agent::Pi => return None,
    };
    Some(record.to_string())
}

/// The record by which a manual title is given again, because an automatic one came after it.
pub fn manual_title_again(
    agent: Agent,
    title: &str,
    facts: &RenameFacts,
    chain: &Chain,
) -> Option<String> {
    let record = match agent {
        Agent::Claude => {
            json!({"type": "custom-title", "customTitle": title, "sessionId": facts.session_id})
        }
        Agent::Qwen => of_qwen(
            facts,
            chain,
            "custom_title",
            &json!({"customTitle": title, "titleSource": "manual"}),
            &json!({"v": 1}),
        ),
        Agent::Codex | Agent::Gemini | Agent::Pi => return None,
    };
    Some(record.to_string())
}

/// The record of a recap; nothing if the agent's files have no place for one.
pub fn recap_record(
    agent: Agent,
    recap: &str,
    facts: &RenameFacts,
    chain: &Chain,
    ours: &Value,
) -> Option<String> {
    let record = match agent {
        Agent::Claude => json!({
            "parentUuid": chain.leaf().map_or(Value::Null, Value::from),
            "isSidechain": false,
            "userType": "external",
            "cwd": facts.directory,
            "sessionId": facts.session_id,
            "version": env!("CARGO_PKG_VERSION"),
            "type": "system",
            "subtype": "away_summary",
            "content": recap,
            "isMeta": false,
            "uuid": facts.uuid,
            "timestamp": facts.timestamp,
            "turnpipe": ours,
        }),
        Agent::Qwen => of_qwen(
            facts,
            chain,
            "slash_command",
            &json!({
                "phase": "result",
                "rawCommand": "/recap",
                "outputHistoryItems": [{"type": "away_recap", "text": recap}],
            }),
            ours,
        ),
        Agent::Codex | Agent::Gemini | Agent::Pi => return None,
    };
    Some(record.to_string())
}

fn of_qwen(
    facts: &RenameFacts,
    chain: &Chain,
    subtype: &str,
    payload: &Value,
    ours: &Value,
) -> Value {
    let mut record: Map<String, Value> = Map::new();
    let mut put = |name: &str, value: Value| record.insert(name.to_owned(), value);
    put("uuid", facts.uuid.clone().into());
    put("parentUuid", chain.leaf().map_or(Value::Null, Value::from));
    put("sessionId", facts.session_id.clone().into());
    put("timestamp", facts.timestamp.clone().into());
    put("type", "system".into());
    put("subtype", subtype.into());
    put("cwd", facts.directory.clone().into());
    put("version", env!("CARGO_PKG_VERSION").into());
    put("systemPayload", payload.clone());
    put("turnpipe", ours.clone());
    Value::Object(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> RenameFacts {
        RenameFacts {
            session_id: "s".to_owned(),
            directory: Some("/w".to_owned()),
            uuid: "u".to_owned(),
            timestamp: "2026-01-02T03:04:05.000Z".to_owned(),
        }
    }

    fn parsed(record: Option<String>) -> Value {
        serde_json::from_str(&record.unwrap()).unwrap()
    }

    #[test]
    fn each_agent_gets_its_own_records() {
        let mut chain = Chain::default();
        chain.follow(r#"{"type":"user","uuid":"last","parentUuid":null}"#);
        let title = |agent, standing| {
            title_record(agent, "Fix it", standing, &facts(), &chain, json!({"v": 1}))
        };
        let claude = parsed(title(Agent::Claude, Standing::Ordinary));
        assert_eq!(
            (&claude["type"], &claude["aiTitle"]),
            (&json!("ai-title"), &json!("Fix it"))
        );
        assert_eq!(claude["turnpipe"], json!({"v": 1}));
        let qwen = parsed(title(Agent::Qwen, Standing::OnRequest));
        assert_eq!(qwen["systemPayload"]["titleSource"], "auto");
        assert_eq!(qwen["turnpipe"]["supersedes_manual"], true);
        assert_eq!(title(Agent::Codex, Standing::Ordinary), None);
        let recap = |agent| recap_record(agent, "Here.", &facts(), &chain, &json!({"v": 1}));
        assert_eq!(parsed(recap(Agent::Claude))["parentUuid"], "last");
        let item = parsed(recap(Agent::Qwen));
        assert_eq!(
            item["systemPayload"]["outputHistoryItems"][0]["text"],
            "Here."
        );
        assert_eq!(recap(Agent::Pi), None);
    }

    #[test]
    fn the_records_are_read_back() {
        for agent in [Agent::Claude, Agent::Qwen] {
            let chain = Chain::default();
            let record = title_record(
                agent,
                "T",
                Standing::Ordinary,
                &facts(),
                &chain,
                json!({"v": 1}),
            );
            let read = agent.format().title(&record.unwrap()).unwrap();
            assert_eq!(read.title.text, "T", "{agent:?}");
            let record = recap_record(agent, "R", &facts(), &chain, &json!({"v": 1})).unwrap();
            let said = agent.format().messages(&record);
            assert!(
                said.iter().any(|message| message.text() == "R"),
                "{agent:?}"
            );
        }
    }
}
