//! What a model answered, independent of any API.

use serde_json::Value;
use serde_json::value::RawValue;

use super::Failure;
use crate::http::Redaction;
use crate::message::Usage;

/// A whole answer. Answers that were cut off or are empty are failures.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The text.
    pub text: String,
    /// The thinking, if the server reports it. Not part of the answer.
    pub thinking: String,
    /// Calls, in order.
    pub calls: Vec<ToolCall>,
    /// What it cost. Zeros if the server does not report it.
    pub usage: Usage,
}

/// A call of a function.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The id of the call; generated if the server gives none.
    pub id: String,
    /// The function.
    pub name: String,
    /// Its arguments.
    pub input: Input,
}

/// The arguments of a call.
#[derive(Debug, Clone)]
pub enum Input {
    /// A JSON object.
    Object(Box<RawValue>),
    /// Anything else that a model wrote.
    Unusable(String),
}

impl Reply {
    /// The same reply without secrets: a server may send back what it was sent.
    pub(super) fn cleaned(mut self, redaction: &Redaction) -> Self {
        self.text = redaction.clean(&self.text);
        self.thinking = redaction.clean(&self.thinking);
        for call in &mut self.calls {
            call.input = match &call.input {
                // The mask needs no escaping, and secrets only stand in strings.
                Input::Object(raw) => Input::of_text(&redaction.clean(raw.get())),
                Input::Unusable(text) => Input::Unusable(redaction.clean(text)),
            };
        }
        self
    }
}

impl Input {
    /// The arguments that a model wrote. An empty text stands for an empty object.
    pub fn of_text(text: &str) -> Self {
        let text = text.trim();
        let json = if text.is_empty() { "{}" } else { text };
        match RawValue::from_string(json.to_owned()) {
            Ok(raw) if raw.get().starts_with('{') => Self::Object(raw),
            Ok(_) | Err(_) => Self::Unusable(text.to_owned()),
        }
    }
}

impl Reply {
    /// The structured answer: the arguments of the first call of `function`, else the first JSON
    /// object in the text. Servers ignore a forced call, repeat it, or put the JSON into a fence.
    ///
    /// # Errors
    /// There is neither.
    pub fn structured(&self, function: &str) -> Result<Value, Failure> {
        let mut called = self
            .calls
            .iter()
            .filter(|call| call.name == function)
            .peekable();
        let reason = if called.peek().is_some() {
            format!("the arguments of {function} are no json object")
        } else {
            format!("the answer is neither a call of {function} nor json")
        };
        let mut usable = called.filter_map(|call| match &call.input {
            Input::Object(raw) => serde_json::from_str(raw.get()).ok(),
            Input::Unusable(_) => None,
        });
        usable
            .next()
            .or_else(|| json_object(&self.text))
            .ok_or(Failure::Malformed { reason })
    }
}

/// The JSON object that `text` is, apart from prose around it and a fence.
fn json_object(text: &str) -> Option<Value> {
    text.match_indices('{')
        .take(MOST_STARTS)
        .find_map(|(start, _)| {
            let mut values =
                serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
            values.next()?.ok().filter(Value::is_object)
        })
}

/// How many opening brackets of a text are tried. Without a limit, a text of brackets would take
/// quadratic time.
const MOST_STARTS: usize = 64;

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
                .map(|(name, input)| ToolCall {
                    id: "1".to_owned(),
                    name: (*name).to_owned(),
                    input: Input::of_text(input),
                })
                .collect(),
            usage: Usage::default(),
        }
    }

    #[test]
    fn an_answer_is_found_wherever_it_stands() {
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
                reply(text, calls).structured("f"),
                Ok(title.clone()),
                "{text} {calls:?}"
            );
        }
    }

    #[test]
    fn no_answer_has_a_reason() {
        let missing = Failure::Malformed {
            reason: "the answer is neither a call of f nor json".to_owned(),
        };
        for text in ["", "Fix login", "{\"title\":", "[1]", &"{".repeat(100_000)] {
            assert_eq!(reply(text, &[]).structured("f"), Err(missing.clone()));
        }
        let unusable = reply("", &[("f", "[]")]).structured("f");
        assert_eq!(
            unusable,
            Err(Failure::Malformed {
                reason: "the arguments of f are no json object".to_owned()
            })
        );
    }
}
