use super::super::Refused;
use super::super::key::preset;
use super::*;

fn adapted(dialect: &Dialect, message: &str) -> Option<Dialect> {
    let failure = Failure::Rejected {
        status: Some(400),
        message: message.to_owned(),
        what: Refused::Request,
    };
    adapt(dialect, &failure)
}

#[test]
fn a_refused_parameter_is_changed_once() {
    let dashscope = preset("dashscope").unwrap().dialect("qwen3");
    let message = "The value of the enable_thinking parameter is restricted to True.";
    let changed = adapted(&dashscope, message).unwrap();
    assert!(changed.thinking_off.is_empty());
    assert_eq!(adapted(&changed, message), None);

    let changed = adapted(
        &dashscope,
        "parameter.enable_thinking must be set to false for non-streaming calls",
    );
    assert_eq!(changed.unwrap().extra_body["enable_thinking"], false);

    let lab = Dialect {
        budget_key: "max_tokens".to_owned(),
        ..preset("openai").unwrap().dialect("x")
    };
    let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    assert_eq!(
        adapted(&lab, message).unwrap().budget_key,
        "max_completion_tokens"
    );

    let openai = preset("openai").unwrap().dialect("gpt-4.1");
    let message = "Unsupported value: 'temperature' does not support 0.2 with this model.";
    assert_eq!(
        adapted(&openai, message).unwrap().temperature,
        Acceptance::Refused
    );
    let message = "'messages.2': property 'reasoning_content' is unsupported";
    let changed = adapted(&openai, message).unwrap();
    assert_eq!(changed.thoughts, Acceptance::Refused);
    assert_eq!(changed.thinking_on, openai.thinking_on);
    let message = "Extra inputs are not permitted: max_completion_tokens";
    assert_eq!(adapted(&openai, message).unwrap().budget_key, "max_tokens");

    let ollama = preset("ollama").unwrap().dialect("llama3");
    let changed = adapted(&ollama, "\"llama3\" does not support thinking").unwrap();
    assert!(changed.thinking_off.is_empty());
    let message = "The tool_choice parameter does not support being set to required or object in thinking mode";
    assert_eq!(
        adapted(&dashscope, message).unwrap().forced_call,
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
    let openai = preset("openai").unwrap().dialect("gpt-4.1");
    for message in messages {
        let lenient = adapted(&openai, message).unwrap();
        assert_eq!(lenient.json, JsonForm::Lenient, "{message}");
        let instructions = adapted(&lenient, message).unwrap();
        assert_eq!(instructions.json, JsonForm::Instructions, "{message}");
        assert_eq!(adapted(&instructions, message), None, "{message}");
    }
    for message in [
        "Function calling with a response mime type: 'application/json' is unsupported",
        "Cannot use custom grammar constraints with tools.",
    ] {
        let changed = adapted(&openai, message).unwrap();
        assert_eq!(changed.json_with_tools, Acceptance::Refused, "{message}");
    }
}

#[test]
fn other_refusals_change_nothing() {
    let dialect = preset("openai").unwrap().dialect("gpt-4.1");
    for message in [
        "",
        "invalid json",
        "context length exceeded",
        "unknown model",
    ] {
        assert_eq!(adapted(&dialect, message), None, "{message}");
    }
    let failure = Failure::Rejected {
        status: Some(401),
        message: "unknown temperature".to_owned(),
        what: Refused::Everything,
    };
    assert_eq!(adapt(&dialect, &failure), None);
}
