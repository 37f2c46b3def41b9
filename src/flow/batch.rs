//! The calls of one message and the parts of their results that labels need.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::excerpt::beginning_and_end;
use crate::api::ResultBody;
use crate::assemble::ToolCall;
use crate::message::{SessionId, ToolUseId};
use crate::side::builtin::{FinishedCall, needed_of_result};
use crate::side::label::{CallsEnded, shown};

/// How much of the beginning and of the end of a result is kept for the rules, in bytes.
const KEPT: usize = 64 * 1024;

/// What stands where a result was cut, so that the rules count nothing that may be missing.
const TRUNCATED: &str = "\n[truncated]\n";

/// Longer arguments are cut, in bytes.
const LARGE_INPUT: usize = 64 * 1024;

/// How much of each text in long arguments is kept, in bytes.
const KEPT_ARGUMENT: usize = 16 * 1024;

/// How many calls of a batch are kept.
const MOST_CALLS: usize = 128;

/// What a batch is kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// For the rules.
    Rules,
    /// For a model.
    Model,
    /// For both.
    Both,
}

/// The calls of one message.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Counted from 0.
    pub number: u64,
    /// In their order.
    pub calls: Vec<BatchCall>,
    /// The part of the last text of the model that prompts show.
    pub said: String,
    /// The session.
    pub session: Option<SessionId>,
    /// The working directory, if the stream contains it.
    pub cwd: Option<String>,
}

/// A call.
#[derive(Debug, Clone)]
pub struct BatchCall {
    /// Its id.
    pub id: ToolUseId,
    /// The tool.
    pub name: String,
    /// The arguments, perhaps with texts cut short.
    pub input: Box<RawValue>,
    /// The arguments as prompts show them.
    pub input_shown: String,
    /// Its result.
    pub result: Option<BatchResult>,
}

/// The result of a call.
#[derive(Debug, Clone)]
pub struct BatchResult {
    /// The text: the beginning and the end of a long one.
    pub text: String,
    /// As prompts show it.
    pub shown: String,
    /// Whether the call failed.
    pub failed: bool,
}

impl Batch {
    /// Whether every call has a result, and there is one.
    pub fn is_complete(&self) -> bool {
        !self.calls.is_empty() && self.calls.iter().all(|call| call.result.is_some())
    }

    /// Whether a call has a result.
    pub fn has_results(&self) -> bool {
        self.calls.iter().any(|call| call.result.is_some())
    }

    /// The calls that belong into a prompt, and what became of them: those that succeeded, or if none
    /// did, those that failed. Reading or setting the agent's own goal does not belong there.
    pub fn shown_calls(&self) -> (Vec<&BatchCall>, CallsEnded) {
        let is_own = |call: &BatchCall| matches!(call.name.as_str(), "get_goal" | "update_goal");
        let calls = self.calls.iter().filter(|call| !is_own(call));
        let with_result = calls.filter_map(|call| Some((call, call.result.as_ref()?.failed)));
        let (failed, succeeded): (Vec<_>, Vec<_>) = with_result.partition(|(_, failed)| *failed);
        let (shown, ended) = if succeeded.is_empty() {
            (failed, CallsEnded::Badly)
        } else {
            (succeeded, CallsEnded::Well)
        };
        (shown.into_iter().map(|(call, _)| call).collect(), ended)
    }

    /// Whether there is room for another call.
    pub fn has_room(&self) -> bool {
        self.calls.len() < MOST_CALLS
    }

    /// The calls with results, as the rules read them.
    pub fn finished_calls(&self) -> Vec<FinishedCall<'_>> {
        let calls = self.calls.iter().filter_map(|call| {
            let result = call.result.as_ref()?;
            Some(FinishedCall {
                name: &call.name,
                input: &call.input,
                text: &result.text,
                failed: result.failed,
            })
        });
        calls.collect()
    }
}

impl BatchCall {
    /// A call without a result yet.
    pub fn new(call: ToolCall, need: Need) -> Self {
        let empty = || RawValue::from_string("{}".to_owned());
        let input = call.input.or_else(|_| empty()).unwrap_or_default();
        let input_shown = match need {
            Need::Rules => String::new(),
            Need::Model | Need::Both => shown(input.get()),
        };
        let input = match need {
            Need::Model => RawValue::NULL.to_owned(),
            Need::Rules | Need::Both => bounded(input),
        };
        Self {
            id: call.id,
            name: call.name,
            input,
            input_shown,
            result: None,
        }
    }
}

impl BatchResult {
    /// The parts of a result of this tool that are needed.
    pub fn new(content: &ResultBody<'_>, tool: &str, need: Need) -> Self {
        let text = match need {
            Need::Model => String::new(),
            Need::Rules | Need::Both => {
                let text = content.text(needed_of_result(tool));
                beginning_and_end(&text, KEPT, TRUNCATED).into_owned()
            }
        };
        let shown = match need {
            Need::Rules => String::new(),
            Need::Model | Need::Both => shown(&content.json()),
        };
        Self {
            text,
            shown,
            failed: content.failed,
        }
    }
}

/// Arguments with long texts cut.
fn bounded(input: Box<RawValue>) -> Box<RawValue> {
    if input.get().len() <= LARGE_INPUT {
        return input;
    }
    let Ok(Value::Object(members)) = serde_json::from_str(input.get()) else {
        return RawValue::NULL.to_owned();
    };
    let members: Map<String, Value> = members
        .into_iter()
        .filter_map(|(name, value)| match value {
            Value::String(text) => {
                let end = text.floor_char_boundary(KEPT_ARGUMENT);
                Some((name, Value::from(&text[..end])))
            }
            other => (other.to_string().len() <= LARGE_INPUT).then_some((name, other)),
        })
        .collect();
    serde_json::value::to_raw_value(&members).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::side::builtin::label;

    /// The label of a call with this result.
    fn label_of(tool: &str, input: &str, text: Option<&str>) -> String {
        let call = ToolCall {
            id: ToolUseId::from("t"),
            name: tool.to_owned(),
            input: Ok(RawValue::from_string(input.to_owned()).unwrap()),
            message: None,
        };
        let content = serde_json::value::to_raw_value(&text).unwrap();
        let body = ResultBody::new(Some(&content), false);
        let mut call = BatchCall::new(call, Need::Rules);
        call.result = text.map(|_| BatchResult::new(&body, tool, Need::Rules));
        let batch = Batch {
            number: 0,
            calls: vec![call],
            said: String::new(),
            session: None,
            cwd: None,
        };
        label(&batch.finished_calls(), None)
    }

    #[test]
    fn a_call_without_a_result_has_no_label() {
        let input = r#"{"file_path":"a.rs"}"#;
        assert_eq!(label_of("Read", input, None), "");
        assert_eq!(label_of("Read", input, Some("")), "Read a.rs");
    }

    #[test]
    fn what_may_be_missing_from_a_long_result_is_not_counted() {
        let paths = |count: usize| format!("/w/{}.rs\n", "x".repeat(60)).repeat(count);
        let passed =
            |count: usize| format!("test result: ok. 1 passed; 0 failed;{:60}\n", "").repeat(count);
        let (glob, cargo) = (r#"{"pattern":"**/*.rs"}"#, r#"{"command":"cargo test"}"#);
        let rows = [
            ("Glob", glob, paths(1000), "Found 1000 files for *.rs"),
            ("Glob", glob, paths(4000), "Listed files for *.rs"),
            ("Bash", cargo, passed(1000), "Ran cargo test, 1000 passed"),
            ("Bash", cargo, passed(4000), "Ran cargo test, passed"),
            (
                "Read",
                r#"{"file_path":"a.rs"}"#,
                "é\n\t\"x\"".repeat(40_000),
                "Read a.rs",
            ),
        ];
        for (tool, input, text, expected) in rows {
            assert_eq!(label_of(tool, input, Some(&text)), expected);
        }
    }
}
