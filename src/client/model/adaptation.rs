//! Changes to a request after a server refused it. Pure.
//!
//! The name of a model does not always show which parameters it accepts. If a refusal names a
//! parameter, the request is sent again without it, and so are all later requests.

use serde_json::{Map, Value};

use super::Failure;
use crate::api::{Acceptance, BUDGET_KEYS, Dialect, ForcedCall, JsonForm, STREAM_OPTIONS};

/// Changes the dialect of later requests.
type Change = fn(&mut Dialect);

/// Phrases with which servers refuse a parameter.
const REFUSALS: &str = "not support|unsupported|not permitted|not allowed|unrecognized|unknown\
    |unexpected|forbidden|deprecated|unavailable|invalid|no such";

/// Words in refusals of a schema of replies, or of its form.
const SCHEMA_MEMBERS: &str = "response_format|text.format|output_config|output_format|json_schema\
    |json schema|response_schema|responseschema|responsejsonschema";

const NEW_KEY: &str = BUDGET_KEYS[0];
const OLD_KEY: &str = BUDGET_KEYS[1];

/// Lower-case words that must all occur in a message, phrases of which at least one must occur, and the
/// change to make.
const ADAPTATIONS: &[(&[&str], &str, Change)] = &[
    (
        &["enable_thinking", "must be set to false"],
        "",
        send_enable_thinking,
    ),
    (
        &["enable_thinking"],
        "restricted to true|must be true|must be set to true",
        clear_thinking,
    ),
    (&[OLD_KEY, NEW_KEY], REFUSALS, use_new_key),
    (&[NEW_KEY], REFUSALS, use_old_key),
    (&["temperature"], REFUSALS, |dialect| {
        dialect.temperature = Acceptance::Refused;
    }),
    // JSON output is requested instead of a forced call.
    (&["tool_choice"], REFUSALS, |dialect| {
        dialect.forced_call = ForcedCall::Json;
    }),
    (&["response mime type"], "", json_without_tools),
    (&["with tools"], "grammar|schema", json_without_tools),
    (&[], SCHEMA_MEMBERS, |dialect| {
        dialect.json = match dialect.json {
            JsonForm::Schema => JsonForm::Lenient,
            _ => JsonForm::Instructions,
        };
    }),
    (&["reasoning_content"], REFUSALS, |dialect| {
        dialect.thoughts = Acceptance::Refused;
    }),
    (&["reasoning"], REFUSALS, clear_thinking),
    (&["think"], REFUSALS, clear_thinking),
    (&["chat_template_kwargs"], REFUSALS, clear_thinking),
    (&[STREAM_OPTIONS], REFUSALS, |dialect| {
        omit_member(dialect, STREAM_OPTIONS);
    }),
    (&["parallel_tool_calls"], REFUSALS, |dialect| {
        omit_member(dialect, "parallel_tool_calls");
    }),
];

/// Returns a dialect that the server may accept after it refused a request. `None` if the refusal is about
/// something else, or if the dialect has been changed already.
pub(super) fn adapt(dialect: &Dialect, failure: &Failure) -> Option<Dialect> {
    let Failure::Rejected {
        status: Some(400 | 422),
        message,
        ..
    } = failure
    else {
        return None;
    };
    let message = message.to_lowercase();
    let is_match = |(words, phrases, _): &&(&[&str], &str, Change)| {
        words.iter().all(|word| message.contains(word))
            && phrases.split('|').any(|phrase| message.contains(phrase))
    };
    ADAPTATIONS
        .iter()
        .filter(is_match)
        .map(|(_, _, change)| {
            let mut adapted = dialect.clone();
            change(&mut adapted);
            adapted
        })
        .find(|adapted| adapted != dialect)
}

fn omit_member(dialect: &mut Dialect, member: &str) {
    dialect.extra_body.insert(member.to_owned(), Value::Null);
}

fn json_without_tools(dialect: &mut Dialect) {
    dialect.json_with_tools = Acceptance::Refused;
}

fn clear_thinking(dialect: &mut Dialect) {
    dialect.thinking_off = Map::new();
    dialect.thinking_on = Map::new();
}

fn send_enable_thinking(dialect: &mut Dialect) {
    let key = "enable_thinking".to_owned();
    dialect.extra_body.insert(key, Value::Bool(false));
}

fn use_new_key(dialect: &mut Dialect) {
    replace_key(dialect, NEW_KEY);
}

fn use_old_key(dialect: &mut Dialect) {
    replace_key(dialect, OLD_KEY);
}

/// Sets the key of the token limit. Other APIs have other keys.
fn replace_key(dialect: &mut Dialect, key: &str) {
    if BUDGET_KEYS.contains(&dialect.budget_key.as_str()) {
        key.clone_into(&mut dialect.budget_key);
    }
}

#[cfg(test)]
mod tests {
    use super::super::RefusalScope;
    use super::super::key::find_preset;
    use super::*;

    fn adapt_to_message(dialect: &Dialect, message: &str) -> Option<Dialect> {
        let failure = Failure::Rejected {
            status: Some(400),
            message: message.to_owned(),
            scope: RefusalScope::Request,
        };
        adapt(dialect, &failure)
    }

    #[test]
    fn a_refused_parameter_is_changed_once() {
        let dashscope = find_preset("dashscope").unwrap().dialect("qwen3");
        let message = "The value of the enable_thinking parameter is restricted to True.";
        let changed = adapt_to_message(&dashscope, message).unwrap();
        assert!(changed.thinking_off.is_empty());
        assert_eq!(adapt_to_message(&changed, message), None);

        let changed = adapt_to_message(
            &dashscope,
            "parameter.enable_thinking must be set to false for non-streaming calls",
        );
        assert_eq!(changed.unwrap().extra_body["enable_thinking"], false);

        let lab = Dialect {
            budget_key: "max_tokens".to_owned(),
            ..find_preset("openai").unwrap().dialect("x")
        };
        let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        assert_eq!(
            adapt_to_message(&lab, message).unwrap().budget_key,
            "max_completion_tokens"
        );

        let openai = find_preset("openai").unwrap().dialect("gpt-4.1");
        let message = "Unsupported value: 'temperature' does not support 0.2 with this model.";
        assert_eq!(
            adapt_to_message(&openai, message).unwrap().temperature,
            Acceptance::Refused
        );
        let message = "'messages.2': property 'reasoning_content' is unsupported";
        let changed = adapt_to_message(&openai, message).unwrap();
        assert_eq!(changed.thoughts, Acceptance::Refused);
        assert_eq!(changed.thinking_on, openai.thinking_on);
        let message = "Extra inputs are not permitted: max_completion_tokens";
        assert_eq!(
            adapt_to_message(&openai, message).unwrap().budget_key,
            "max_tokens"
        );

        let ollama = find_preset("ollama").unwrap().dialect("llama3");
        let changed = adapt_to_message(&ollama, "\"llama3\" does not support thinking").unwrap();
        assert!(changed.thinking_off.is_empty());
        let message = "The tool_choice parameter does not support being set to required or object in thinking mode";
        assert_eq!(
            adapt_to_message(&dashscope, message).unwrap().forced_call,
            ForcedCall::Json
        );
    }

    #[test]
    fn a_refused_schema_becomes_lenient_and_then_a_part_of_the_instructions() {
        let messages = [
            "Invalid schema for response_format 'reply': In context=(), 'required' is required to be supplied",
            "This response_format type is unavailable now",
            "output_config: Extra inputs are not permitted",
            "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config'",
            "Unsupported parameter: 'text.format'",
        ];
        let openai = find_preset("openai").unwrap().dialect("gpt-4.1");
        for message in messages {
            let lenient = adapt_to_message(&openai, message).unwrap();
            assert_eq!(lenient.json, JsonForm::Lenient, "{message}");
            let instructions = adapt_to_message(&lenient, message).unwrap();
            assert_eq!(instructions.json, JsonForm::Instructions, "{message}");
            assert_eq!(adapt_to_message(&instructions, message), None, "{message}");
        }
        for message in [
            "Function calling with a response mime type: 'application/json' is unsupported",
            "Cannot use custom grammar constraints with tools.",
        ] {
            let changed = adapt_to_message(&openai, message).unwrap();
            assert_eq!(changed.json_with_tools, Acceptance::Refused, "{message}");
        }
    }

    #[test]
    fn a_refused_member_is_omitted_once() {
        let openai = find_preset("openai").unwrap().dialect("gpt-4.1");
        for (member, message) in [
            (
                "stream_options",
                "Unrecognized request argument supplied: stream_options",
            ),
            (
                "stream_options",
                "got an unexpected keyword argument 'stream_options'",
            ),
            (
                "parallel_tool_calls",
                "Unknown parameter: 'parallel_tool_calls'.",
            ),
        ] {
            let changed = adapt_to_message(&openai, message).unwrap();
            assert_eq!(
                changed.extra_body.get(member),
                Some(&Value::Null),
                "{message}"
            );
            assert_eq!(adapt_to_message(&changed, message), None, "{message}");
        }
    }

    #[test]
    fn other_refusals_change_nothing() {
        let dialect = find_preset("openai").unwrap().dialect("gpt-4.1");
        for message in [
            "",
            "invalid json",
            "context length exceeded",
            "unknown model",
        ] {
            assert_eq!(adapt_to_message(&dialect, message), None, "{message}");
        }
        let failure = Failure::Rejected {
            status: Some(401),
            message: "unknown temperature".to_owned(),
            scope: RefusalScope::Everything,
        };
        assert_eq!(adapt(&dialect, &failure), None);
    }
}
