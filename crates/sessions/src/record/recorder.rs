//! Selects the records of a stream to keep, and converts them.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::chain::Chain;
use turnpipe_core::io::Moment;
use turnpipe_formats::agent::{ManualTitle, NewRecord, Title, TitleSource, own_record};

/// Types of the records to keep.
const KEPT_TYPES: [&str; 7] = [
    "user",
    "assistant",
    "title",
    "recap",
    "tool_use_summary",
    "content_replacement",
    "content-replacement",
];

/// Subtypes of the `system` records to keep.
const KEPT_SUBTYPES: [&str; 2] = ["away_summary", "usage"];

/// Facts shared by all lines of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFacts {
    /// The session id.
    pub session_id: String,
    /// The working directory.
    pub directory: String,
    /// The branch, if the stream names it.
    pub branch: Option<String>,
    /// The model of replies that name none.
    pub model: Option<String>,
    /// The title, if the stream names it.
    pub title: Option<Title>,
}

impl SessionFacts {
    /// Creates the facts that do not come from the stream.
    pub fn new(session_id: impl Into<String>, directory: impl Into<String>) -> Self {
        Self {
            session_id: session_id.into(),
            directory: directory.into(),
            branch: None,
            model: None,
            title: None,
        }
    }

    /// Reads the facts in a record that starts a session.
    pub(super) fn update(&mut self, record: &Value) {
        if record["type"] != "system"
            || !matches!(record["subtype"].as_str(), Some("session_start" | "init"))
        {
            return;
        }
        let text = |names: [&str; 2]| {
            let found = names.iter().find_map(|name| record[*name].as_str());
            found.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        if let Some(directory) = text(["current_cwd", "cwd"]) {
            self.directory = directory;
        }
        self.branch = text(["git_branch", "gitBranch"]).or(self.branch.take());
        self.model = text(["model", "model"]).or(self.model.take());
        let title = text(["title", "title"]).map(|text| Title {
            text,
            source: record["title_source"]
                .as_str()
                .and_then(TitleSource::by_name)
                .unwrap_or(TitleSource::Auto),
        });
        self.title = title.or(self.title.take());
    }
}

/// Converts records to the lines of a transcript. Every line has the key `turnpipe`.
pub(super) struct Recorder {
    facts: SessionFacts,
    /// The end of the conversation so far.
    pub(super) chain: Chain,
    /// The id of the last record that has one.
    last_uuid: Option<String>,
    /// The time of the last line of the conversation.
    latest: Option<(Timestamp, String)>,
    moment: Moment,
}

impl Recorder {
    /// Converts records of a session.
    pub(super) fn new(facts: SessionFacts, moment: Moment) -> Self {
        Self {
            facts,
            chain: Chain::default(),
            last_uuid: None,
            latest: None,
            moment,
        }
    }

    /// Whether records of this type may be kept, or may describe the session.
    pub(super) fn may_keep(kind: &str) -> bool {
        kind == "system" || KEPT_TYPES.contains(&kind)
    }

    /// Whether this kind of record is kept. [`Recorder::format_line`] may still reject the record as
    /// incomplete.
    pub(super) fn keeps(record: &Value) -> bool {
        let text = |name: &str| record.get(name).and_then(Value::as_str);
        text("type").is_some_and(|kind| match text("subtype") {
            Some(subtype) if kind == "system" => KEPT_SUBTYPES.contains(&subtype),
            _ => KEPT_TYPES.contains(&kind),
        })
    }

    /// Returns the line to append for a record, or `None` if it is not kept.
    pub(super) fn format_line(&mut self, mut record: Value) -> Option<String> {
        // Messages of subagents belong to another session.
        if !record["parent_tool_use_id"].is_null() {
            return None;
        }
        let text = |name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
        let (kind, subtype) = (text("type")?, text("subtype"));
        let turnpipe = record.get("turnpipe").cloned().filter(Value::is_object);
        let has_cost = turnpipe
            .as_ref()
            .is_some_and(|ours| ours["usage"].is_object());
        let has = |name: &str| !record[name].is_null();
        let mut line = match (kind.as_str(), subtype.as_deref()) {
            ("user" | "assistant", _) if record["message"].is_object() => {
                let mut message = record["message"].take();
                if kind == "assistant"
                    && message["model"].is_null()
                    && let Some(model) = &self.facts.model
                {
                    message["model"] = model.as_str().into();
                }
                let is_injected = record["turnpipe"]["origin"] == "injected";
                let output = record.get_mut("tool_use_result").map(Value::take);
                self.format_chained_line(&record, |at| {
                    own_record::new_message(at, kind.into(), message, is_injected, output)
                })
            }
            ("recap", _) if has("recap") => {
                let recap = record["recap"].take();
                self.format_chained_line(&record, |at| own_record::new_recap(at, recap))
            }
            ("system", Some("away_summary")) => {
                let recap = record["content"].take();
                self.format_chained_line(&record, |at| own_record::new_recap(at, recap))
            }
            ("title", _) if record["ok"] == true && has("title") => {
                let source = text("title_source")
                    .as_deref()
                    .and_then(TitleSource::by_name);
                let title = Title {
                    text: text("title")?,
                    source: source.unwrap_or(TitleSource::Auto),
                };
                let is_superseding = record["turnpipe"]["supersedes_manual"] == true;
                self.format_unchained_line(own_record::new_title(&title, is_superseding.into()))
            }
            ("tool_use_summary", _) if has("summary") && has("preceding_tool_use_ids") => self
                .format_unchained_line(json!({
                    "type": kind,
                    "summary": record["summary"].take(),
                    "preceding_tool_use_ids": record["preceding_tool_use_ids"].take(),
                })),
            ("content_replacement" | "content-replacement", _) if has("replacements") => {
                let replacements = record["replacements"].take();
                self.format_unchained_line(own_record::new_replacements(&replacements))
            }
            // A failed request may have cost something.
            ("system", Some("usage")) | ("title" | "recap", _) if has_cost => {
                self.format_unchained_line(json!({"type": "system", "subtype": "usage"}))
            }
            _ => return None,
        };
        line["turnpipe"] = turnpipe.unwrap_or_else(|| json!({"v": 1}));
        Some(line.to_string())
    }

    /// Returns a line that belongs to the conversation.
    fn format_chained_line(
        &mut self,
        record: &Value,
        create: impl FnOnce(&NewRecord<'_>) -> Value,
    ) -> Value {
        let text = |name: &str| record[name].as_str().map(str::to_owned);
        // Some agents write a reply and its results in one record, which has one id.
        let uuid = text("uuid").filter(|uuid| self.last_uuid.as_ref() != Some(uuid));
        self.last_uuid = text("uuid");
        let uuid = uuid.unwrap_or_else(|| self.moment.uuid());
        // A record can be older than the one before it: some have no time, and results have the time when they
        // were written.
        let own = text("timestamp").unwrap_or_else(|| self.moment.now());
        let timestamp = match (own.parse::<Timestamp>(), &self.latest) {
            (Ok(time), Some((latest, text))) if time < *latest => text.clone(),
            (Ok(time), _) => self.latest.insert((time, own)).1.clone(),
            (Err(_), _) => own,
        };
        let parent = self.chain.leaf.replace(uuid.clone());
        create(&NewRecord {
            session_id: &self.facts.session_id,
            directory: &self.facts.directory,
            branch: self.facts.branch.as_deref(),
            parent: parent.as_deref(),
            uuid: &uuid,
            timestamp: &timestamp,
        })
    }

    /// Returns the line for the title that the start of the stream names.
    pub(super) fn format_title_line(&self) -> Option<String> {
        let title = self.facts.title.as_ref()?;
        let mut line = self.format_unchained_line(own_record::new_title(title, ManualTitle::Keep));
        line["turnpipe"] = json!({"v": 1});
        Some(line.to_string())
    }

    /// Returns a line outside the conversation with these members.
    fn format_unchained_line(&self, members: Value) -> Value {
        // Records that follow a label can be older than the label.
        let latest = self.latest.as_ref().map(|(_, text)| text.clone());
        let timestamp = latest.unwrap_or_else(|| self.moment.now());
        let at = NewRecord {
            session_id: &self.facts.session_id,
            directory: &self.facts.directory,
            branch: self.facts.branch.as_deref(),
            parent: None,
            uuid: &self.moment.uuid(),
            timestamp: &timestamp,
        };
        own_record::into_side_record(&at, members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::Arc;
    use turnpipe_core::io::{FixedClock, SeededIds};

    fn recorder() -> Recorder {
        let facts = SessionFacts::new("s", "/w");
        let clock = FixedClock("2026-01-02T03:04:05Z".parse().unwrap());
        let moment = Moment {
            clock: Arc::new(clock),
            ids: Arc::new(SeededIds::new(7)),
        };
        Recorder::new(facts, moment)
    }

    impl Recorder {
        fn line_of(&mut self, record: &str) -> Option<String> {
            self.format_line(serde_json::from_str(record).unwrap())
        }
    }

    fn value(line: Option<String>) -> Value {
        serde_json::from_str(&line.unwrap()).unwrap()
    }

    #[test]
    fn messages_form_a_chain() {
        let mut recorder = recorder();
        let first = value(recorder.line_of(
            r#"{"type":"user","message":{"role":"user","content":"hi"},"uuid":"a","session_id":"x"}"#,
        ));
        assert_eq!(first["parentUuid"], Value::Null);
        assert_eq!(first["sessionId"], "s");
        assert_eq!(first["cwd"], "/w");
        assert_eq!(first["turnpipe"]["v"], 1);
        let second = value(recorder.line_of(
            r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[]}}"#,
        ));
        assert_eq!(second["parentUuid"], "a");
        let result = value(recorder.line_of(
            r#"{"type":"user","message":{"role":"user","content":[]},"tool_use_result":{"stdout":"x"},"turnpipe":{"v":1,"outcome":"ok"}}"#,
        ));
        assert_eq!(result["parentUuid"], second["uuid"]);
        assert_eq!(result["toolUseResult"]["stdout"], "x");
        assert_eq!(result["turnpipe"]["outcome"], "ok");
    }

    #[test]
    fn no_line_is_older_than_the_line_before_it() {
        let mut recorder = recorder();
        let mut time = |record: &str| value(recorder.line_of(record))["timestamp"].take();
        let call = r#"{"type":"assistant","message":{"role":"assistant","content":[]}}"#;
        let result = |time: &str| {
            format!(
                r#"{{"type":"user","message":{{"role":"user","content":[]}},"timestamp":"{time}"}}"#
            )
        };
        assert_eq!(
            time(&result("2026-01-01T00:00:00Z")),
            "2026-01-01T00:00:00Z"
        );
        assert_eq!(time(call), "2026-01-02T03:04:05.000Z");
        assert_eq!(
            time(&result("2026-01-02T03:04:04.999Z")),
            "2026-01-02T03:04:05.000Z"
        );
        assert_eq!(
            time(&result("2026-01-02T03:04:06Z")),
            "2026-01-02T03:04:06Z"
        );
        // A label is written when it arrives, and may be older than what follows it.
        let label =
            r#"{"type":"tool_use_summary","summary":"Read","preceding_tool_use_ids":["a"]}"#;
        for record in [label, &result("2026-01-02T03:04:05.5Z"), call] {
            assert_eq!(time(record), "2026-01-02T03:04:06Z", "{record}");
        }
        assert_eq!(time(&result("soon")), "soon");
    }

    #[test]
    fn only_labels_titles_and_recaps_are_kept() {
        let mut recorder = recorder();
        let title = value(recorder.line_of(r#"{"type":"title","ok":true,"title":"Fix login"}"#));
        assert_eq!(
            (&title["type"], &title["aiTitle"]),
            (&json!("ai-title"), &json!("Fix login"))
        );
        let label = value(recorder.line_of(
            r#"{"type":"tool_use_summary","summary":"Read a","preceding_tool_use_ids":["t"]}"#,
        ));
        assert_eq!(label["preceding_tool_use_ids"], json!(["t"]));
        assert!(label.get("parentUuid").is_none());
        let recap = value(recorder.line_of(r#"{"type":"recap","ok":true,"recap":"x"}"#));
        assert_eq!(recap["parentUuid"], Value::Null);
        for other in [
            r#"{"type":"title","ok":false,"reason":"empty_history"}"#,
            r#"{"type":"stream_event","event":{}}"#,
            r#"{"type":"system","subtype":"executor"}"#,
            r#"{"type":"result","subtype":"success"}"#,
            r#"{"type":"assistant","parent_tool_use_id":"t","message":{"role":"assistant"}}"#,
            "[1]",
        ] {
            assert_eq!(recorder.line_of(other), None, "{other}");
        }
    }

    #[test]
    fn records_keep_their_meaning_under_an_old_name() {
        for [new, old] in [
            [
                r#"{"type":"recap","ok":true,"recap":"x"}"#,
                r#"{"type":"system","subtype":"away_summary","content":"x"}"#,
            ],
            [
                r#"{"type":"content_replacement","replacements":[],"session_id":"x"}"#,
                r#"{"type":"content-replacement","replacements":[],"sessionId":"x"}"#,
            ],
        ] {
            let line = recorder().line_of(new);
            assert!(line.is_some(), "{new}");
            assert_eq!(line, recorder().line_of(old));
        }
    }
}
