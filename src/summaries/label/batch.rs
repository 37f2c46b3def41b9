//! The calls of one message and the parts of their results that labels need.

use serde_json::value::RawValue;

use super::CallsEnded;
use super::question::json_excerpt;
use crate::api::ResultBody;
use crate::assemble::ToolCall;
use crate::message::{SessionId, ToolUseId};
use crate::summaries::builtin::{FinishedCall, max_result_bytes};
use crate::summaries::excerpt::{TRUNCATED, beginning_and_end, bound_input};
use crate::text::sha256;

/// Bytes of the beginning and of the end of a result that are kept for the rules.
const KEPT_BYTES: usize = 64 * 1024;

/// Length of the digest of a batch, in hexadecimal digits.
const DIGEST_LENGTH: usize = 16;

/// Maximum number of calls in a batch.
const MAX_CALLS: usize = 128;

/// The consumers of a batch, which need different parts of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// The rules.
    Rules,
    /// A model.
    Model,
    /// Both.
    Both,
}

/// The calls of one message.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    /// The number of the batch in the stream, from 0.
    pub(super) number: u64,
    /// The calls, in the order of the message.
    pub(super) calls: Vec<BatchCall>,
    /// The part of the model's last text that prompts show.
    pub(super) model_text: String,
    /// The session.
    pub(super) session: Option<SessionId>,
    /// The working directory, if the stream contains it.
    pub(super) cwd: Option<String>,
}

/// A call of a batch.
#[derive(Debug, Clone)]
pub(super) struct BatchCall {
    /// The id.
    pub(super) id: ToolUseId,
    /// The tool.
    pub(super) name: String,
    /// The arguments; long texts may be cut.
    pub(super) input: Box<RawValue>,
    /// The arguments as prompts show them.
    pub(super) input_shown: String,
    /// The result, once there is one.
    pub(super) result: Option<BatchResult>,
}

/// The result of a call.
#[derive(Debug, Clone)]
pub(super) struct BatchResult {
    /// The text: the beginning and the end of a long one.
    pub(super) text: String,
    /// As prompts show it.
    pub(super) shown: String,
    /// Whether the call failed.
    pub(super) failed: bool,
    /// The exit status of its process, if it is recorded apart from the text.
    status: Option<i64>,
}

impl Batch {
    /// Whether there is a call, and every call has a result.
    pub(super) fn is_complete(&self) -> bool {
        !self.calls.is_empty() && self.calls.iter().all(|call| call.result.is_some())
    }

    /// Whether a call has a result.
    pub(super) fn has_results(&self) -> bool {
        self.calls.iter().any(|call| call.result.is_some())
    }

    /// Returns the calls that a prompt shows: the successful ones, or the failed ones if all
    /// failed. Calls about the agent's own goal are omitted.
    pub(super) fn shown_calls(&self) -> (Vec<&BatchCall>, CallsEnded) {
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

    /// Returns a digest of the calls with these ids, which identifies them although servers reuse ids.
    pub(super) fn digest(&self, ids: &[ToolUseId]) -> String {
        let calls = self.calls.iter().filter(|call| ids.contains(&call.id));
        let shown = calls.map(|call| match &*call.input_shown {
            "" => format!("{}\0{}", call.name, json_excerpt(call.input.get())),
            input => format!("{}\0{input}", call.name),
        });
        let mut digest = sha256(shown.collect::<Vec<_>>().join("\0"));
        digest.truncate(DIGEST_LENGTH);
        digest
    }

    /// Whether another call fits.
    pub(super) fn has_room(&self) -> bool {
        self.calls.len() < MAX_CALLS
    }

    /// Returns the calls with results, for the rules.
    pub(super) fn finished_calls(&self) -> Vec<FinishedCall<'_>> {
        let calls = self.calls.iter().filter_map(|call| {
            let result = call.result.as_ref()?;
            Some(FinishedCall {
                name: &call.name,
                input: &call.input,
                text: &result.text,
                failed: result.failed,
                status: result.status,
            })
        });
        calls.collect()
    }
}

impl BatchCall {
    /// Creates a call without a result.
    pub(super) fn new(call: ToolCall, need: Need) -> Self {
        let empty = || RawValue::from_string("{}".to_owned());
        // Arguments that are not JSON count as empty.
        let input = call.input.or_else(|_| empty()).unwrap_or_default();
        let input_shown = match need {
            Need::Rules => String::new(),
            Need::Model | Need::Both => json_excerpt(input.get()),
        };
        let input = match need {
            Need::Model => RawValue::NULL.to_owned(),
            Need::Rules | Need::Both => bound_input(input),
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
    /// Creates a result with the parts that are needed.
    pub(super) fn new(content: &ResultBody<'_>, tool: &str, need: Need) -> Self {
        let text = match need {
            Need::Model => String::new(),
            Need::Rules | Need::Both => {
                let text = content.text(max_result_bytes(tool));
                beginning_and_end(&text, KEPT_BYTES, TRUNCATED).into_owned()
            }
        };
        let shown = match need {
            Need::Rules => String::new(),
            Need::Model | Need::Both => json_excerpt(&content.json()),
        };
        Self {
            text,
            shown,
            failed: content.failed,
            status: content.status,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summaries::builtin::write_label;

    /// Returns the label of a call with this result.
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
            model_text: String::new(),
            session: None,
            cwd: None,
        };
        write_label(&batch.finished_calls(), None)
    }

    #[test]
    fn a_call_without_a_result_has_no_label() {
        let input = r#"{"file_path":"a.rs"}"#;
        assert_eq!(label_of("Read", input, None), "");
        assert_eq!(label_of("Read", input, Some("")), "Read a.rs");
    }

    #[test]
    fn long_results_do_not_change_labels() {
        let paths = |count: usize| format!("/w/{}.rs\n", "x".repeat(60)).repeat(count);
        let passed =
            |count: usize| format!("test result: ok. 1 passed; 0 failed;{:60}\n", "").repeat(count);
        let (glob, cargo) = (r#"{"pattern":"**/*.rs"}"#, r#"{"command":"cargo test"}"#);
        let rows = [
            ("Glob", glob, paths(4000), "Looked for **/*.rs"),
            ("Bash", cargo, passed(4000), "Ran cargo test"),
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
