//! Checks whether a response is a usable reply. Pure.

use serde_json::Value;

use super::server_error::ServerError;
use super::{CallInput, Delivery, EmptyReply, Failure, Reply, ReplyCall};
use crate::api::{Api, EndKind};
use crate::assemble::{Draft, split_think_tags};
use crate::json::replace_lone_surrogates;
use crate::message::Usage;

impl Reply {
    /// Returns the usage of a reply, if any was billed.
    pub fn usage_of(reply: &Result<Self, Failure>) -> Option<Usage> {
        match reply {
            Ok(reply) => Some(reply.usage),
            Err(failure) => failure.usage().copied(),
        }
    }

    /// Returns the structured output: the arguments of the first call of `function`, else the first JSON
    /// object in the text. Servers ignore a forced call, repeat it, or put the JSON into a code fence.
    ///
    /// # Errors
    /// The reply contains neither.
    pub fn structured_output(&self, function: &str) -> Result<Value, Failure> {
        let mut matching_calls = self
            .calls
            .iter()
            .filter(|call| call.name == function)
            .peekable();
        let reason = if matching_calls.peek().is_some() {
            format!("{function}: arguments must be a JSON object")
        } else {
            format!("the reply contains neither a call of {function} nor JSON")
        };
        let mut objects = matching_calls.filter_map(|call| match &call.input {
            CallInput::Object(raw) => {
                let repaired = replace_lone_surrogates(raw.get());
                serde_json::from_str(repaired.as_deref().unwrap_or(raw.get())).ok()
            }
            CallInput::Unusable(_) => None,
        });
        objects
            .next()
            .or_else(|| {
                let repaired = replace_lone_surrogates(&self.text);
                find_json_object(repaired.as_deref().unwrap_or(&self.text))
            })
            .ok_or(Failure::Malformed { reason })
    }
}

/// Extracts the first JSON object from text that may contain prose and a code fence.
fn find_json_object(text: &str) -> Option<Value> {
    text.match_indices('{')
        .take(MAX_STARTS)
        .find_map(|(start, _)| {
            let mut values =
                serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
            values.next()?.ok().filter(Value::is_object)
        })
}

/// Maximum number of opening braces tried. Without a limit, a text of braces would take quadratic
/// time.
const MAX_STARTS: usize = 64;

/// End of the body of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyEnd {
    /// One complete JSON value.
    Value,
    /// A complete stream.
    Stream,
    /// An incomplete stream.
    BrokenStream,
}

/// Adds a reply or delta to a draft.
///
/// # Errors
/// The value is an error or does not follow the API.
pub(super) fn read_into_draft(
    api: Api,
    json: &str,
    delivery: Delivery,
    draft: &mut Draft,
) -> Result<(), Failure> {
    let json = json.trim();
    // Errors take precedence over the status.
    if let Some(error) = ServerError::parse(json) {
        return Err(error.into_failure(None, None));
    }
    let chunk = api.parse(json, delivery);
    draft.push_chunk(chunk.ok_or_else(|| malformed_reply(json))?);
    Ok(())
}

/// Returns the failure for a response that does not follow the API.
pub(super) fn malformed_reply(body: &str) -> Failure {
    let body = body.trim();
    let reason = if body.is_empty() {
        "the reply has no content".to_owned()
    } else {
        let excerpt: String = body.chars().take(MAX_EXCERPT).collect();
        let line = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("not in the format of the API: {line}")
    };
    Failure::Malformed { reason }
}

/// Maximum length of the excerpt of a malformed response, in characters.
const MAX_EXCERPT: usize = 80;

/// Converts a draft to a reply.
///
/// # Errors
/// The draft is not a complete, usable reply.
pub(super) fn finish_reply(api: Api, draft: Draft, body_end: BodyEnd) -> Result<Reply, Failure> {
    let is_closed = draft.is_closed;
    let draft = draft.finish();
    let usage = draft.usage;
    let refusal = draft.refusal;
    let is_over_budget = draft.end == Some(EndKind::Budget);
    let is_whole = match body_end {
        BodyEnd::Value => true,
        BodyEnd::Stream => is_closed || draft.end.is_some() && !api.has_stream_end(),
        BodyEnd::BrokenStream => false,
    };
    match draft.end {
        Some(EndKind::Failed(message)) => {
            return Err(Failure::Overloaded {
                status: None,
                message,
                retry_after: None,
            });
        }
        Some(EndKind::Declined(reason)) => {
            let reason = if refusal.trim().is_empty() {
                reason
            } else {
                refusal
            };
            return Err(Failure::Declined { reason, usage });
        }
        Some(EndKind::Regular) | None if !is_whole => return Err(Failure::Cut { usage }),
        Some(EndKind::Budget | EndKind::Regular) | None => {}
    }
    let (text, tagged) = split_think_tags(draft.text);
    let thinking = draft.thinking + &tagged;
    let drafted = draft.calls.into_iter().map(|call| ReplyCall {
        id: call.id,
        name: call.name,
        input: CallInput::parse(&call.arguments),
    });
    let calls: Vec<ReplyCall> = drafted.collect();
    if is_over_budget {
        let partial = Box::new(Reply {
            text,
            thinking,
            calls,
            usage,
        });
        return Err(Failure::OverBudget { partial });
    }
    if calls.is_empty() && text.trim().is_empty() {
        if !refusal.trim().is_empty() {
            let reason = refusal;
            return Err(Failure::Declined { reason, usage });
        }
        let kind = if thinking.trim().is_empty() && usage.thinking == 0 {
            EmptyReply::Complete
        } else {
            EmptyReply::OnlyThinking
        };
        return Err(Failure::Empty { kind, usage });
    }
    Ok(Reply {
        text,
        thinking,
        calls,
        usage,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(text: &str, calls: &[(&str, &str)]) -> Reply {
        Reply {
            text: text.to_owned(),
            thinking: String::new(),
            calls: calls
                .iter()
                .map(|(name, input)| ReplyCall {
                    id: "1".to_owned(),
                    name: (*name).to_owned(),
                    input: CallInput::parse(input),
                })
                .collect(),
            usage: Usage::default(),
        }
    }

    #[test]
    fn structured_output_is_found_anywhere() {
        let title = json!({"title": "A"});
        let found: [(&str, &[(&str, &str)]); 8] = [
            ("", &[("f", r#"{"title":"A"}"#)]),
            (
                "prose",
                &[
                    ("g", "{}"),
                    ("f", r#"{"title":"A"}"#),
                    ("f", r#"{"title":"B"}"#),
                ],
            ),
            (r#"{"title":"A"}"#, &[]),
            ("```json\n{\"title\": \"A\"}\n```", &[]),
            ("Sure {here}: {\"title\": \"A\"}", &[]),
            (r#"{"title":"A"}"#, &[("read_file", r#"{"path":"x"}"#)]),
            (r#"{"title":"A"}"#, &[("f", "{")]),
            ("", &[("f", "{"), ("f", r#"{"title":"A"}"#)]),
        ];
        for (text, calls) in found {
            assert_eq!(
                reply(text, calls).structured_output("f"),
                Ok(title.clone()),
                "{text} {calls:?}"
            );
        }
    }

    #[test]
    fn half_a_character_does_not_cost_the_output() {
        let input = r#"{"title":"A \ud83d"}"#;
        let title = json!({"title": "A \u{FFFD}"});
        assert_eq!(
            reply("", &[("f", input)]).structured_output("f"),
            Ok(title.clone())
        );
        assert_eq!(reply(input, &[]).structured_output("f"), Ok(title));
    }

    #[test]
    fn missing_output_has_a_reason() {
        let missing = Failure::Malformed {
            reason: "the reply contains neither a call of f nor JSON".to_owned(),
        };
        for text in ["", "Fix login", "{\"title\":", "[1]", &"{".repeat(100_000)] {
            assert_eq!(
                reply(text, &[]).structured_output("f"),
                Err(missing.clone())
            );
        }
        let unusable = reply("", &[("f", "[]")]).structured_output("f");
        assert_eq!(
            unusable,
            Err(Failure::Malformed {
                reason: "f: arguments must be a JSON object".to_owned()
            })
        );
    }
}
