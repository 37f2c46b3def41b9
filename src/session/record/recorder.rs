//! Selects the records of a stream to keep, and converts them.

use serde_json::{Map, Value, json};

use super::foreign::manual_title;
use super::{Chain, Moment};
use crate::session::ManualTitle;

/// Types, and subtypes where they matter, of the records to keep.
const KEPT: [(&str, Option<&str>); 8] = [
    ("user", None),
    ("assistant", None),
    ("title", None),
    ("recap", None),
    ("tool_use_summary", None),
    ("content-replacement", None),
    ("system", Some("away_summary")),
    ("system", Some("usage")),
];

/// Facts shared by all lines of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFacts {
    /// The session id.
    pub session_id: String,
    /// The working directory.
    pub directory: String,
}

/// Converts records to the lines of a transcript in Claude Code's form, so that tools for those
/// files read ours. Every line has the key `turnpipe`.
pub struct Recorder {
    facts: SessionFacts,
    chain: Chain,
    moment: Moment,
}

impl Recorder {
    /// Continues after the end of `chain`.
    pub fn new(facts: SessionFacts, chain: Chain, moment: Moment) -> Self {
        Self {
            facts,
            chain,
            moment,
        }
    }

    /// Follows a line of the file.
    pub(super) fn follow(&mut self, line: &str) {
        self.chain.follow(line);
    }

    /// Whether this kind of record is kept. [`Recorder::line`] may still reject the record as
    /// incomplete.
    pub(super) fn keeps(record: &str) -> bool {
        #[derive(serde::Deserialize)]
        struct Kind {
            r#type: String,
            subtype: Option<String>,
        }
        serde_json::from_str::<Kind>(record).is_ok_and(|kind| {
            KEPT.contains(&(kind.r#type.as_str(), None))
                || KEPT.contains(&(kind.r#type.as_str(), kind.subtype.as_deref()))
        })
    }

    /// The line to append for a record, or `None` if it is not kept.
    pub fn line(&mut self, record: &str) -> Option<String> {
        let Ok(Value::Object(mut record)) = serde_json::from_str(record) else {
            return None;
        };
        if record
            .get("parent_tool_use_id")
            .is_some_and(|parent| !parent.is_null())
        {
            return None;
        }
        let text = |record: &Map<String, Value>, name: &str| {
            record.get(name).and_then(Value::as_str).map(str::to_owned)
        };
        let line = match (
            text(&record, "type")?.as_str(),
            text(&record, "subtype").as_deref(),
        ) {
            ("user" | "assistant", _) if record.get("message").is_some_and(Value::is_object) => {
                let mut line = self.link(&mut record);
                line.extend(
                    record
                        .shift_remove("type")
                        .map(|kind| ("type".to_owned(), kind)),
                );
                line.extend(
                    record
                        .shift_remove("message")
                        .map(|body| ("message".to_owned(), body)),
                );
                if let Some(output) = record.shift_remove("tool_use_result") {
                    line.insert("toolUseResult".to_owned(), output);
                }
                line
            }
            ("system", Some("away_summary")) => {
                let mut line = self.link(&mut record);
                for name in ["type", "subtype", "content"] {
                    line.extend(
                        record
                            .shift_remove(name)
                            .map(|value| (name.to_owned(), value)),
                    );
                }
                line
            }
            ("title", _) if record.get("ok") == Some(&Value::Bool(true)) => {
                let title = record.shift_remove("title")?;
                let on_request = record.get("turnpipe").map(manual_title);
                if on_request == Some(ManualTitle::Supersede) {
                    let source = Value::from("auto");
                    let own = [("customTitle", title), ("titleSource", source)];
                    self.unchained("custom-title", own)
                } else {
                    self.unchained("ai-title", [("aiTitle", title)])
                }
            }
            ("tool_use_summary", _) => {
                let (summary, ids) = (
                    record.shift_remove("summary")?,
                    record.shift_remove("preceding_tool_use_ids")?,
                );
                self.unchained(
                    "tool_use_summary",
                    [("summary", summary), ("preceding_tool_use_ids", ids)],
                )
            }
            ("content-replacement", _) => {
                let replacements = record.shift_remove("replacements")?;
                self.unchained("content-replacement", [("replacements", replacements)])
            }
            // What failed may have cost something.
            ("system", Some("usage")) | ("title" | "recap", _)
                if record
                    .get("turnpipe")
                    .is_some_and(|ours| ours.get("usage").is_some()) =>
            {
                self.unchained("system", [("subtype", Value::from("usage"))])
            }
            _ => return None,
        };
        let mut line = line;
        let ours = record
            .shift_remove("turnpipe")
            .filter(Value::is_object)
            .unwrap_or_else(|| json!({"v": 1}));
        line.insert("turnpipe".to_owned(), ours);
        Some(Value::Object(line).to_string())
    }

    /// The members of a line that belongs to the conversation.
    fn link(&mut self, record: &mut Map<String, Value>) -> Map<String, Value> {
        let uuid = match record.get("uuid").and_then(Value::as_str) {
            Some(uuid) => uuid.to_owned(),
            None => self.moment.uuid(),
        };
        let parent = self.chain.append(&uuid);
        let timestamp = match record.get("timestamp").and_then(Value::as_str) {
            Some(timestamp) => timestamp.to_owned(),
            None => self.moment.now(),
        };
        members([
            ("parentUuid", parent.map_or(Value::Null, Value::from)),
            ("isSidechain", Value::from(false)),
            ("userType", Value::from("external")),
            ("cwd", Value::from(self.facts.directory.clone())),
            ("sessionId", Value::from(self.facts.session_id.clone())),
            ("version", Value::from(env!("CARGO_PKG_VERSION"))),
            ("uuid", Value::from(uuid)),
            ("timestamp", Value::from(timestamp)),
        ])
    }

    /// A line outside the conversation.
    fn unchained<const COUNT: usize>(
        &self,
        kind: &str,
        own: [(&str, Value); COUNT],
    ) -> Map<String, Value> {
        let mut line = members([("type", Value::from(kind))]);
        line.extend(members(own));
        line.extend(members([
            ("sessionId", Value::from(self.facts.session_id.clone())),
            ("uuid", Value::from(self.moment.uuid())),
            ("timestamp", Value::from(self.moment.now())),
        ]));
        line
    }
}

fn members<const COUNT: usize>(pairs: [(&str, Value); COUNT]) -> Map<String, Value> {
    pairs
        .into_iter()
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
        Recorder::new(facts, Chain::default(), moment)
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
