//! Finding the structured answer in a reply: in the call that was asked for, or in the text.
//!
//! Servers ignore a forced function, call it twice, or put the JSON into a fence; any of that is
//! an answer. What the values mean is the caller's business.

use serde_json::Value;

use super::{Input, Reply};

/// A reply holds no structured answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unstructured {
    /// Neither the function was called nor is there JSON in the text.
    #[error("the answer is neither a call of {function} nor json")]
    Missing {
        /// The function that should have been called.
        function: String,
    },
    /// The function was called, with something that is no object.
    #[error("the arguments of {function} are no json object")]
    UnusableArguments {
        /// The function.
        function: String,
    },
}

impl Reply {
    /// The arguments of the first call of `function`, else the first JSON object that the text
    /// consists of, fenced or not.
    ///
    /// # Errors
    /// There is neither.
    pub fn structured(&self, function: &str) -> Result<Value, Unstructured> {
        let named = self.calls.iter().filter(|call| call.name == function);
        let mut called = false;
        for call in named {
            called = true;
            if let Input::Object(raw) = &call.input
                && let Ok(value) = serde_json::from_str(raw.get())
            {
                return Ok(value);
            }
        }
        json_object(&self.text).ok_or_else(|| {
            let function = function.to_owned();
            if called {
                Unstructured::UnusableArguments { function }
            } else {
                Unstructured::Missing { function }
            }
        })
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

/// In how many places of a text an object is looked for: a hostile text of brackets only takes
/// quadratic time otherwise.
const MOST_STARTS: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Finish, ToolCall};
    use super::*;
    use crate::dialog::Usage;

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
            finish: Finish::Said,
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
        let missing = Unstructured::Missing {
            function: "f".to_owned(),
        };
        for text in ["", "Fix login", "{\"title\":", "[1]", &"{".repeat(100_000)] {
            assert_eq!(reply(text, &[]).structured("f"), Err(missing.clone()));
        }
        let unusable = reply("", &[("f", "[]")]).structured("f");
        assert_eq!(
            unusable,
            Err(Unstructured::UnusableArguments {
                function: "f".to_owned()
            })
        );
    }
}
