//! Selects the records of a stream to keep, and converts them.

use serde_json::{Value, json};

use super::Moment;
use super::chain::Chain;
use crate::session::content::is_in;

/// Types of the records to keep.
const KEPT: &str = "user assistant title recap tool_use_summary content-replacement";

/// Subtypes of the `system` records to keep.
const KEPT_OF_SYSTEM: &str = "away_summary usage";

/// Facts shared by all lines of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFacts {
    /// The session id.
    pub session_id: String,
    /// The working directory.
    pub directory: String,
}

impl SessionFacts {
    /// The members of a line in Claude Code's form that belongs to the conversation.
    pub(super) fn message(&self, parent: Option<&str>, uuid: &str, timestamp: &str) -> Value {
        json!({
            "parentUuid": parent,
            "isSidechain": false,
            "userType": "external",
            "cwd": self.directory,
            "sessionId": self.session_id,
            "version": env!("CARGO_PKG_VERSION"),
            "uuid": uuid,
            "timestamp": timestamp,
        })
    }
}

/// Converts records to the lines of a transcript in Claude Code's form, so that tools for those
/// files read ours. Every line has the key `turnpipe`.
pub(super) struct Recorder {
    facts: SessionFacts,
    /// The end of the conversation so far.
    pub(super) chain: Chain,
    moment: Moment,
}

impl Recorder {
    /// Converts records of a session.
    pub(super) fn new(facts: SessionFacts, moment: Moment) -> Self {
        Self {
            facts,
            chain: Chain::default(),
            moment,
        }
    }

    /// Whether this kind of record is kept. [`Recorder::line`] may still reject the record as
    /// incomplete.
    pub(super) fn keeps(record: &str) -> bool {
        #[derive(serde::Deserialize)]
        struct Kind {
            r#type: String,
            subtype: Option<String>,
        }
        serde_json::from_str::<Kind>(record).is_ok_and(|kind| match kind.subtype {
            Some(subtype) if kind.r#type == "system" => is_in(KEPT_OF_SYSTEM, &subtype),
            _ => is_in(KEPT, &kind.r#type),
        })
    }

    /// The line to append for a record, or `None` if it is not kept.
    pub(super) fn line(&mut self, record: &str) -> Option<String> {
        let mut record: Value = serde_json::from_str(record).ok()?;
        if !record["parent_tool_use_id"].is_null() {
            return None;
        }
        let kind = record["type"].as_str()?.to_owned();
        let subtype = record["subtype"].as_str().map(str::to_owned);
        let turnpipe = record.get("turnpipe").cloned().filter(Value::is_object);
        let has_cost = turnpipe
            .as_ref()
            .is_some_and(|ours| ours["usage"].is_object());
        let has = |name: &str| !record[name].is_null();
        let mut line = match (kind.as_str(), subtype.as_deref()) {
            ("user" | "assistant", _) if record["message"].is_object() => {
                let mut line = self.chained(&record);
                line["type"] = kind.into();
                line["message"] = record["message"].take();
                if record["turnpipe"]["origin"] == "injected" {
                    line["isMeta"] = true.into();
                }
                if let Some(output) = record.get_mut("tool_use_result") {
                    line["toolUseResult"] = output.take();
                }
                line
            }
            ("system", Some(recap @ "away_summary")) => {
                let mut line = self.chained(&record);
                line["type"] = kind.into();
                line["subtype"] = recap.into();
                line["content"] = record["content"].take();
                line
            }
            ("title", _) if record["ok"] == true && has("title") => {
                let title = record["title"].take();
                let is_superseding = turnpipe
                    .as_ref()
                    .is_some_and(|turnpipe| turnpipe["supersedes_manual"] == true);
                self.unchained(if is_superseding {
                    json!({"type": "custom-title", "customTitle": title, "titleSource": "auto"})
                } else {
                    json!({"type": "ai-title", "aiTitle": title})
                })
            }
            ("tool_use_summary", _) if has("summary") && has("preceding_tool_use_ids") => self
                .unchained(json!({
                    "type": kind,
                    "summary": record["summary"].take(),
                    "preceding_tool_use_ids": record["preceding_tool_use_ids"].take(),
                })),
            ("content-replacement", _) if has("replacements") => {
                let replacements = record["replacements"].take();
                self.unchained(json!({"type": kind, "replacements": replacements}))
            }
            // What failed may have cost something.
            ("system", Some("usage")) | ("title" | "recap", _) if has_cost => {
                self.unchained(json!({"type": "system", "subtype": "usage"}))
            }
            _ => return None,
        };
        line["turnpipe"] = turnpipe.unwrap_or_else(|| json!({"v": 1}));
        Some(line.to_string())
    }

    /// The members of a line that belongs to the conversation.
    fn chained(&mut self, record: &Value) -> Value {
        let text = |name: &str| record[name].as_str().map(str::to_owned);
        let uuid = text("uuid").unwrap_or_else(|| self.moment.uuid());
        let timestamp = text("timestamp").unwrap_or_else(|| self.moment.now());
        let parent = self.chain.leaf.replace(uuid.clone());
        self.facts.message(parent.as_deref(), &uuid, &timestamp)
    }

    /// A line outside the conversation, with these members of its own.
    fn unchained(&self, mut line: Value) -> Value {
        line["sessionId"] = self.facts.session_id.clone().into();
        line["uuid"] = self.moment.uuid().into();
        line["timestamp"] = self.moment.now().into();
        line
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::io::{FixedClock, SeededIds};

    fn recorder() -> Recorder {
        let facts = SessionFacts {
            session_id: "s".to_owned(),
            directory: "/w".to_owned(),
        };
        let clock = FixedClock("2026-01-02T03:04:05Z".parse().unwrap());
        let moment = Moment {
            clock: Arc::new(clock),
            ids: Arc::new(SeededIds::new(7)),
        };
        Recorder::new(facts, moment)
    }

    fn value(line: Option<String>) -> Value {
        serde_json::from_str(&line.unwrap()).unwrap()
    }

    #[test]
    fn messages_form_a_chain() {
        let mut recorder = recorder();
        let first = value(recorder.line(
            r#"{"type":"user","message":{"role":"user","content":"hi"},"uuid":"a","session_id":"x"}"#,
        ));
        assert_eq!(first["parentUuid"], Value::Null);
        assert_eq!(first["sessionId"], "s");
        assert_eq!(first["cwd"], "/w");
        assert_eq!(first["turnpipe"]["v"], 1);
        let second =
            value(recorder.line(
                r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[]}}"#,
            ));
        assert_eq!(second["parentUuid"], "a");
        let result = value(recorder.line(
            r#"{"type":"user","message":{"role":"user","content":[]},"tool_use_result":{"stdout":"x"},"turnpipe":{"v":1,"outcome":"ok"}}"#,
        ));
        assert_eq!(result["parentUuid"], second["uuid"]);
        assert_eq!(result["toolUseResult"]["stdout"], "x");
        assert_eq!(result["turnpipe"]["outcome"], "ok");
    }

    #[test]
    fn labels_titles_and_recaps_are_kept_the_rest_is_not() {
        let mut recorder = recorder();
        let title = value(recorder.line(r#"{"type":"title","ok":true,"title":"Fix login"}"#));
        assert_eq!(
            (&title["type"], &title["aiTitle"]),
            (&json!("ai-title"), &json!("Fix login"))
        );
        let label = value(recorder.line(
            r#"{"type":"tool_use_summary","summary":"Read a","preceding_tool_use_ids":["t"]}"#,
        ));
        assert_eq!(label["preceding_tool_use_ids"], json!(["t"]));
        assert!(label.get("parentUuid").is_none());
        let recap =
            value(recorder.line(r#"{"type":"system","subtype":"away_summary","content":"x"}"#));
        assert_eq!(recap["parentUuid"], Value::Null);
        for other in [
            r#"{"type":"title","ok":false,"reason":"empty_history"}"#,
            r#"{"type":"stream_event","event":{}}"#,
            r#"{"type":"system","subtype":"executor"}"#,
            r#"{"type":"result","subtype":"success"}"#,
            r#"{"type":"assistant","parent_tool_use_id":"t","message":{"role":"assistant"}}"#,
            "[1]",
        ] {
            assert_eq!(recorder.line(other), None, "{other}");
        }
    }
}
