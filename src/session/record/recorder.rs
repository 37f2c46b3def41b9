//! Selects the records of a stream to keep, and converts them.

use serde_json::{Map, Value, json};

use super::Moment;
use super::chain::Chain;
use super::foreign::manual_title;
use crate::session::ManualTitle;
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
        let Ok(Value::Object(mut record)) = serde_json::from_str(record) else {
            return None;
        };
        if record
            .get("parent_tool_use_id")
            .is_some_and(|parent| !parent.is_null())
        {
            return None;
        }
        let text = |name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
        let turnpipe = record.get("turnpipe").cloned().filter(Value::is_object);
        let mut line = match (text("type")?.as_str(), text("subtype").as_deref()) {
            ("user" | "assistant", _) if record.get("message").is_some_and(Value::is_object) => {
                let mut own = taken(&mut record, ["type", "message"])?;
                if let Some(output) = record.shift_remove("tool_use_result") {
                    own.insert("toolUseResult".to_owned(), output);
                }
                self.chained(&record, own)
            }
            ("system", Some("away_summary")) => {
                let own = taken(&mut record, ["type", "subtype", "content"])?;
                self.chained(&record, own)
            }
            ("title", _) if record.get("ok") == Some(&Value::Bool(true)) => {
                let title = record.shift_remove("title")?;
                if turnpipe.as_ref().map(manual_title) == Some(ManualTitle::Supersede) {
                    let own = [("customTitle", title), ("titleSource", "auto".into())];
                    self.unchained("custom-title", members(own))
                } else {
                    self.unchained("ai-title", members([("aiTitle", title)]))
                }
            }
            (kind @ "tool_use_summary", _) => {
                let own = taken(&mut record, ["summary", "preceding_tool_use_ids"])?;
                self.unchained(kind, own)
            }
            (kind @ "content-replacement", _) => {
                self.unchained(kind, taken(&mut record, ["replacements"])?)
            }
            // What failed may have cost something.
            ("system", Some("usage")) | ("title" | "recap", _)
                if turnpipe
                    .as_ref()
                    .is_some_and(|ours| ours.get("usage").is_some()) =>
            {
                self.unchained("system", members([("subtype", "usage".into())]))
            }
            _ => return None,
        };
        let turnpipe = turnpipe.unwrap_or_else(|| json!({"v": 1}));
        line["turnpipe"] = turnpipe;
        Some(line.to_string())
    }

    /// A line that belongs to the conversation, with these members of its own.
    fn chained(&mut self, record: &Map<String, Value>, own: Map<String, Value>) -> Value {
        let text = |name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
        let uuid = text("uuid").unwrap_or_else(|| self.moment.uuid());
        let timestamp = text("timestamp").unwrap_or_else(|| self.moment.now());
        let parent = self.chain.leaf.replace(uuid.clone());
        let mut line = self.facts.message(parent.as_deref(), &uuid, &timestamp);
        for (name, value) in own {
            line[name] = value;
        }
        line
    }

    /// A line outside the conversation, with these members of its own.
    fn unchained(&self, kind: &str, own: Map<String, Value>) -> Value {
        let mut line = json!({"type": kind});
        for (name, value) in own {
            line[name] = value;
        }
        line["sessionId"] = self.facts.session_id.clone().into();
        line["uuid"] = self.moment.uuid().into();
        line["timestamp"] = self.moment.now().into();
        line
    }
}

/// Takes these members out of a record, or returns `None` if one is missing.
fn taken<const COUNT: usize>(
    record: &mut Map<String, Value>,
    names: [&str; COUNT],
) -> Option<Map<String, Value>> {
    let own = names.map(|name| Some((name.to_owned(), record.shift_remove(name)?)));
    own.into_iter().collect()
}

fn members<const COUNT: usize>(pairs: [(&str, Value); COUNT]) -> Map<String, Value> {
    let pairs = pairs.into_iter();
    pairs
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
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
