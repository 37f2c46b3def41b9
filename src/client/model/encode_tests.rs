use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Delivery, Dialect, Request, Thinking};
use crate::api::{Acceptance, Api, ForcedCall, JsonForm, encode};
use crate::client::model::key::find_preset;
use crate::client::model::{Function, OutputSchema, PromptId, ReplyForm, SharedPrefix, Turn};
use crate::message::{Block, Call, Media, ResultPart, Role, Thought, ToolResult};

fn function() -> Function {
    Function {
        name: "respond".to_owned(),
        description: "Answers".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"title": {"type": "string"}},
            "required": ["title"],
        }),
    }
}

fn request(form: ReplyForm) -> Request {
    Request {
        system: "Be brief.".to_owned(),
        turns: vec![Turn::user("Hello")],
        form,
        temperature: Some(0.2),
        ..Request::new(PromptId::SESSION_TITLE, 100)
    }
}

fn body(provider: &str, model: &str, request: &Request, delivery: Delivery) -> Value {
    let dialect = find_preset(provider).unwrap().dialect(model);
    serde_json::from_str(&encode(&dialect, model, request, delivery)).unwrap()
}

fn encode_whole(provider: &str, model: &str, form: ReplyForm) -> Value {
    body(provider, model, &request(form), Delivery::Whole)
}

#[test]
fn the_same_request_in_every_dialect() {
    let forced = || ReplyForm::Forced(function());
    let parameters = function().parameters;
    let declared = json!([{"type": "function", "function": {
        "name": "respond", "description": "Answers", "parameters": parameters,
    }}]);
    let messages = json!([
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"},
    ]);
    assert_eq!(
        encode_whole("openai", "gpt-4.1-mini", forced()),
        json!({
            "model": "gpt-4.1-mini", "stream": false, "max_completion_tokens": 100,
            "temperature": 0.2, "messages": messages, "tools": declared,
            "tool_choice": {"type": "function", "function": {"name": "respond"}},
            "parallel_tool_calls": false,
        })
    );
    assert_eq!(
        encode_whole("openai", "gpt-5-mini", ReplyForm::Text),
        json!({
            "model": "gpt-5-mini", "stream": false, "max_completion_tokens": 100,
            "messages": messages, "reasoning_effort": "minimal",
        })
    );
    assert_eq!(
        encode_whole("dashscope", "qwen3-8b", forced()),
        json!({
            "model": "qwen3-8b", "stream": false, "max_tokens": 100, "temperature": 0.2,
            "messages": messages, "tools": declared, "tool_choice": "required",
            "enable_thinking": false,
        })
    );
    assert_eq!(
        encode_whole("anthropic", "claude-haiku-4-5", forced()),
        json!({
            "model": "claude-haiku-4-5", "max_tokens": 100, "stream": false, "temperature": 0.2,
            "system": [{"type": "text", "text": "Be brief."}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
            "tools": [{"name": "respond", "description": "Answers", "input_schema": parameters}],
            "tool_choice": {"type": "tool", "name": "respond", "disable_parallel_tool_use": true},
        })
    );
    assert_eq!(
        encode_whole("gemini", "gemini-2.5-flash", forced()),
        json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
            "tools": [{"functionDeclarations": [{
                "name": "respond", "description": "Answers",
                "parameters": {
                    "type": "OBJECT", "properties": {"title": {"type": "STRING"}},
                    "required": ["title"],
                },
            }]}],
            "toolConfig": {"functionCallingConfig": {
                "mode": "ANY", "allowedFunctionNames": ["respond"],
            }},
            "generationConfig": {
                "maxOutputTokens": 100, "temperature": 0.2,
                "thinkingConfig": {"thinkingBudget": 0, "includeThoughts": false},
            },
        })
    );
    assert_eq!(
        encode_whole("ollama", "qwen3", forced()),
        json!({
            "model": "qwen3", "stream": false, "messages": messages, "format": parameters,
            "options": {"num_predict": 100, "temperature": 0.2}, "think": false,
        })
    );
}

#[test]
fn streams_are_requested() {
    let streamed = |provider, model| {
        body(
            provider,
            model,
            &request(ReplyForm::Text),
            Delivery::Streamed,
        )
    };
    let openai = streamed("openai", "m");
    assert_eq!(openai["stream"], true);
    assert_eq!(openai["stream_options"], json!({"include_usage": true}));
    assert_eq!(streamed("anthropic", "m")["stream"], true);
    assert_eq!(streamed("ollama", "m")["stream"], true);
    assert_eq!(
        Api::Gemini.path("models/m", Delivery::Streamed),
        "v1beta/models/m:streamGenerateContent?alt=sse"
    );
}

#[test]
fn json_is_requested_in_a_form_that_the_server_supports() {
    let json = |provider, function| {
        let dialect = Dialect {
            forced_call: ForcedCall::Json,
            ..find_preset(provider).unwrap().dialect("m")
        };
        let request = request(ReplyForm::Forced(function));
        let body = encode(&dialect, "m", &request, Delivery::Whole);
        serde_json::from_str::<Value>(&body).unwrap()
    };
    let openai = json("openai", function());
    assert_eq!(openai["response_format"]["json_schema"]["name"], "respond");
    assert_eq!(openai["response_format"]["json_schema"]["strict"], false);
    let mut strict = function();
    strict.parameters["additionalProperties"] = false.into();
    let openai = json("openai", strict);
    assert_eq!(openai["response_format"]["json_schema"]["strict"], true);
    let dashscope = json("dashscope", function());
    assert_eq!(dashscope["response_format"], json!({"type": "json_object"}));
    let instructions = dashscope["messages"][0]["content"].as_str().unwrap();
    assert!(instructions.starts_with("Be brief.\n\n") && instructions.contains("\"title\""));
    let anthropic = json("anthropic", function());
    assert_eq!(anthropic["output_config"]["format"]["type"], "json_schema");
    let gemini = json("gemini", function());
    assert_eq!(
        gemini["generationConfig"]["responseJsonSchema"],
        function().parameters
    );
    for body in [openai, dashscope, anthropic, gemini] {
        assert_eq!(body.get("tools"), None, "{body}");
    }
}

/// Returns a request with a tool that requires a last reply of this form.
fn structured_request(is_retry: bool) -> Request {
    let schema = json!({"type": "object", "additionalProperties": false});
    let schema = Function {
        parameters: schema,
        ..function()
    };
    Request {
        output: Some(OutputSchema { schema, is_retry }),
        ..request(ReplyForm::Tools(vec![function()]))
    }
}

#[test]
fn every_api_has_its_own_member_for_a_schema_and_still_offers_tools() {
    let schema = json!({"type": "object", "additionalProperties": false});
    let named = json!({
        "type": "json_schema", "name": "respond", "strict": true, "schema": schema,
    });
    let inner = json!({"name": "respond", "strict": true, "schema": schema});
    let rows = [
        (
            "openai",
            "/response_format",
            json!({"type": "json_schema", "json_schema": inner}),
        ),
        ("responses", "/text/format", named),
        (
            "anthropic",
            "/output_config/format",
            json!({"type": "json_schema", "schema": schema}),
        ),
        (
            "gemini",
            "/generationConfig/responseJsonSchema",
            schema.clone(),
        ),
    ];
    for (provider, pointer, expected) in rows {
        let body = body(
            provider,
            "m",
            &structured_request(false),
            Delivery::Streamed,
        );
        assert_eq!(body.pointer(pointer), Some(&expected), "{provider}");
        assert!(body.get("tools").is_some(), "{provider}");
        assert_eq!(body.get("tool_choice"), None, "{provider}");
    }
    // Ollama's model could not call a tool, so it gets the schema in a correction only.
    let first = body(
        "ollama",
        "m",
        &structured_request(false),
        Delivery::Streamed,
    );
    assert!(first.get("tools").is_some() && first.get("format").is_none());
    let system = first["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("When you need no more tools, reply with one JSON object"));
    let retry = body("ollama", "m", &structured_request(true), Delivery::Streamed);
    assert_eq!((retry.get("tools"), &retry["format"]), (None, &schema));
    assert_eq!(retry["messages"][0]["content"], "Be brief.");
}

#[test]
fn the_lenient_form_of_a_schema_is_accepted_by_more_servers() {
    let lenient = |provider: &str| {
        let dialect = Dialect {
            json: JsonForm::Lenient,
            ..find_preset(provider).unwrap().dialect("m")
        };
        let body = encode(&dialect, "m", &structured_request(false), Delivery::Whole);
        serde_json::from_str::<Value>(&body).unwrap()
    };
    let strict = |body: &Value, pointer: &str| body.pointer(pointer).cloned();
    let (openai, responses) = (lenient("openai"), lenient("responses"));
    assert_eq!(
        strict(&openai, "/response_format/json_schema/strict"),
        Some(false.into())
    );
    assert_eq!(
        strict(&responses, "/text/format/strict"),
        Some(false.into())
    );
    let gemini = &lenient("gemini")["generationConfig"];
    assert_eq!(gemini["responseSchema"], json!({"type": "OBJECT"}));
    assert_eq!(gemini.get("responseJsonSchema"), None);
}

#[test]
fn empty_lists_of_tools_are_omitted() {
    for provider in ["openai", "responses", "anthropic", "gemini", "ollama"] {
        let body = encode_whole(provider, "m", ReplyForm::Tools(Vec::new()));
        assert_eq!(body.get("tools"), None, "{body}");
    }
}

/// Returns a conversation with all kinds of blocks.
fn conversation() -> Request {
    let call = Call {
        id: "c1".to_owned(),
        name: "read".to_owned(),
        input: serde_json::value::RawValue::from_string("{\"path\": \"x\\ud83d\"}".to_owned())
            .unwrap(),
        signature: None,
    };
    let result = ToolResult {
        id: "c1".to_owned(),
        parts: vec![ResultPart::Text("no such file".to_owned())],
        failed: true,
        end: None,
    };
    let image = Media {
        media_type: "image/png".to_owned(),
        data: Some("aGk=".to_owned()),
    };
    let turn = |role, blocks| Turn { role, blocks };
    Request {
        system: String::new(),
        turns: vec![
            Turn::new(Role::Assistant, "Earlier. "),
            turn(
                Role::Assistant,
                vec![Block::thinking("hm"), Block::Call(call)],
            ),
            turn(Role::User, vec![Block::Text("  ".to_owned())]),
            turn(
                Role::User,
                vec![Block::Text("And this?".to_owned()), Block::Media(image)],
            ),
            turn(Role::User, vec![Block::Result(result)]),
            Turn::new(Role::Assistant, "Done.  \n"),
        ],
        ..Request::new(PromptId::SESSION_RECAP, 9)
    }
}

#[test]
fn a_conversation_in_the_form_of_openai() {
    let body = body("vllm", "m", &conversation(), Delivery::Whole);
    assert_eq!(
        body["messages"],
        json!([
            {"role": "assistant", "content": "Earlier. ", "tool_calls": [{
                "id": "c1", "type": "function",
                "function": {"name": "read", "arguments": "{\"path\": \"x\\ud83d\"}"},
            }], "reasoning_content": "hm"},
            {"role": "tool", "tool_call_id": "c1", "content": "no such file"},
            {"role": "user", "content": [
                {"type": "text", "text": "And this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            ]},
            {"role": "assistant", "content": "Done.  \n"},
        ])
    );
}

#[test]
fn a_conversation_in_the_form_of_anthropic() {
    let body = body("anthropic", "m", &conversation(), Delivery::Whole);
    assert_eq!(body.get("system"), None);
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "[earlier messages omitted]"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Earlier. "},
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "x\u{fffd}"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "is_error": true,
                 "content": [{"type": "text", "text": "no such file"}]},
                {"type": "text", "text": "And this?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
        ])
    );
}

#[test]
fn a_conversation_in_the_form_of_gemini_and_ollama() {
    let gemini = body("gemini", "m", &conversation(), Delivery::Whole);
    let contents = gemini["contents"].as_array().unwrap();
    let roles: Vec<&str> = contents
        .iter()
        .map(|turn| turn["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "model", "user", "model"]);
    let response = &contents[2]["parts"][2]["functionResponse"];
    assert_eq!(
        response,
        &json!({"name": "read", "response": {"error": "no such file"}})
    );
    let ollama = body("ollama", "m", &conversation(), Delivery::Whole);
    assert_eq!(
        ollama["messages"][0]["tool_calls"][0]["function"]["arguments"]["path"],
        "x\u{fffd}"
    );
    assert_eq!(
        ollama["messages"][1],
        json!({"role": "tool", "tool_name": "read", "content": "no such file"})
    );
    assert_eq!(ollama["messages"][2]["images"], json!(["aGk="]));
}

#[test]
fn a_conversation_in_the_form_of_responses() {
    let body = body("responses", "m", &conversation(), Delivery::Whole);
    assert_eq!(body["store"], false);
    assert_eq!(
        body["input"],
        json!([
            {"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": "Earlier. "},
            ]},
            {"type": "function_call", "call_id": "c1", "name": "read",
             "arguments": "{\"path\": \"x\\ud83d\"}"},
            {"type": "function_call_output", "call_id": "c1", "output": "no such file"},
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "And this?"},
                {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
            ]},
            {"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": "Done.  \n"},
            ]},
        ])
    );
}

#[test]
fn images_in_results_reach_every_api() {
    let call = Call {
        id: "c1".to_owned(),
        name: "shoot".to_owned(),
        input: serde_json::value::RawValue::from_string("{}".to_owned()).unwrap(),
        signature: None,
    };
    let image = Media {
        media_type: "image/png".to_owned(),
        data: Some("aGk=".to_owned()),
    };
    let elsewhere = Media {
        data: None,
        ..image.clone()
    };
    let result = ToolResult {
        id: "c1".to_owned(),
        parts: vec![ResultPart::Media(image), ResultPart::Media(elsewhere)],
        failed: false,
        end: None,
    };
    let turn = |role, block| Turn {
        role,
        blocks: vec![block],
    };
    let request = Request {
        turns: vec![
            Turn::user("go"),
            turn(Role::Assistant, Block::Call(call)),
            turn(Role::User, Block::Result(result)),
        ],
        ..Request::new(PromptId::MAIN, 9)
    };
    let sent = |provider, pointer: &str| {
        let body = body(provider, "m", &request, Delivery::Whole);
        body.pointer(pointer).cloned().unwrap_or(body)
    };
    let url = "data:image/png;base64,aGk=";
    assert_eq!(
        sent("anthropic", "/messages/2/content/0/content/0/source/data"),
        "aGk="
    );
    assert_eq!(sent("openai", "/messages/3/content/1/image_url/url"), url);
    assert_eq!(sent("responses", "/input/2/output/0/image_url"), url);
    assert_eq!(
        sent("gemini", "/contents/2/parts/1/inlineData"),
        json!({"mimeType": "image/png", "data": "aGk="})
    );
    assert_eq!(sent("ollama", "/messages/2/images/0"), "aGk=");
    assert_eq!(
        sent("ollama", "/messages/2/content"),
        "[image: image/png]\n[attachment]"
    );
}

#[test]
fn prefixes_are_marked_only_where_they_are_long_enough() {
    let with_system = |bytes: usize, shared| Request {
        system: "x".repeat(bytes),
        shared,
        ..request(ReplyForm::Text)
    };
    let marks = |provider, model, bytes, shared| {
        let body = body(
            provider,
            model,
            &with_system(bytes, shared),
            Delivery::Whole,
        );
        body.to_string().matches("cache_control").count()
    };
    let instructions = SharedPrefix::Instructions;
    assert_eq!(
        marks("anthropic", "claude-haiku-4-5", 4 * 4000, instructions),
        0
    );
    assert_eq!(
        marks("anthropic", "claude-haiku-4-5", 4 * 4200, instructions),
        1
    );
    assert_eq!(
        marks("anthropic", "claude-sonnet-4-5", 4 * 1100, instructions),
        1
    );
    assert_eq!(marks("dashscope", "qwen3", 4 * 1000, instructions), 0);
    assert_eq!(marks("dashscope", "qwen3", 4 * 1100, instructions), 1);
    assert_eq!(marks("dashscope", "glm-4.6", 100_000, instructions), 0);
    assert_eq!(marks("openai", "gpt-4.1", 100_000, instructions), 0);
    let conversation = SharedPrefix::Conversation;
    assert_eq!(
        marks("anthropic", "claude-haiku-4-5", 4 * 4200, conversation),
        2
    );
    assert_eq!(marks("dashscope", "qwen3", 4 * 1100, conversation), 2);
    assert_eq!(marks("anthropic", "claude-haiku-4-5", 10, conversation), 0);
}

#[test]
fn ollama_gets_a_context_that_fits_the_prompt() {
    let context = |bytes: usize| {
        let request = Request {
            system: "x".repeat(bytes),
            ..request(ReplyForm::Text)
        };
        body("ollama", "m", &request, Delivery::Whole)["options"]["num_ctx"].clone()
    };
    assert_eq!(context(1000), Value::Null);
    assert_eq!(context(30_000), 16_384);
    assert_eq!(context(10_000_000), 131_072);
}

#[test]
fn members_of_the_configuration_override_the_rest() {
    let mut dialect = find_preset("gemini").unwrap().dialect("gemini-2.5-flash");
    let extra = json!({"generationConfig": {"topP": 1}, "safetySettings": []});
    dialect.extra_body = extra.as_object().unwrap().clone();
    let body = encode(&dialect, "m", &request(ReplyForm::Text), Delivery::Whole);
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["generationConfig"]["topP"], 1);
    assert_eq!(body["generationConfig"]["maxOutputTokens"], 100);
    assert_eq!(
        body["generationConfig"]["thinkingConfig"]["thinkingBudget"],
        0
    );
}

#[test]
fn signed_blocks_are_sent_back_unchanged() {
    let call = Call {
        id: "c1".to_owned(),
        name: "read".to_owned(),
        input: serde_json::value::RawValue::from_string("{}".to_owned()).unwrap(),
        signature: Some("call-signature".to_owned()),
    };
    let blocks = vec![
        Block::thinking("not signed"),
        Block::Thinking(Thought::Signed {
            text: "hm".to_owned(),
            signature: "signature".to_owned(),
        }),
        Block::Thinking(Thought::Redacted {
            data: "encrypted".to_owned(),
        }),
        Block::Call(call),
    ];
    let request = Request {
        turns: vec![
            Turn::user("go"),
            Turn {
                role: Role::Assistant,
                blocks,
            },
        ],
        ..Request::new(PromptId::MAIN, 9)
    };
    let reply = |provider, key: &str, parts: &str| {
        body(provider, "m", &request, Delivery::Whole)[key][1][parts].clone()
    };
    assert_eq!(
        reply("anthropic", "messages", "content"),
        json!([
            {"type": "thinking", "thinking": "hm", "signature": "signature"},
            {"type": "redacted_thinking", "data": "encrypted"},
            {"type": "tool_use", "id": "c1", "name": "read", "input": {}},
        ])
    );
    assert_eq!(
        reply("gemini", "contents", "parts"),
        json!([{
            "functionCall": {"name": "read", "args": {}}, "thoughtSignature": "call-signature",
        }])
    );
    assert_eq!(reply("openai", "messages", "content"), Value::Null);
    // This API has no signatures.
    assert_eq!(
        reply("openai", "messages", "reasoning_content"),
        "not signed"
    );
    assert_eq!(reply("ollama", "messages", "thinking"), "not signed");
    let refusing = Dialect {
        thoughts: Acceptance::Refused,
        ..find_preset("openai").unwrap().dialect("m")
    };
    let refused = encode(&refusing, "m", &request, Delivery::Whole);
    assert!(!refused.contains("not signed"), "{refused}");
    let thought_alone = Request {
        turns: vec![
            Turn::user("go"),
            Turn {
                role: Role::Assistant,
                blocks: vec![
                    Block::thinking("not signed"),
                    Block::Text("Done.".to_owned()),
                ],
            },
        ],
        ..Request::new(PromptId::MAIN, 9)
    };
    for provider in ["openai", "ollama", "anthropic", "gemini"] {
        let sent = body(provider, "m", &thought_alone, Delivery::Whole).to_string();
        assert!(!sent.contains("not signed"), "{sent}");
    }
}

#[test]
fn each_provider_gets_its_form_of_the_thinking_budget() {
    let body = |provider, model| {
        let request = Request {
            thinking: Thinking::Tokens(5000),
            ..Request::new(PromptId::MAIN, 9)
        };
        body(provider, model, &request, Delivery::Whole)
    };
    let budget = json!({"type": "enabled", "budget_tokens": 5000});
    assert_eq!(body("anthropic", "m")["thinking"], budget);
    assert_eq!(body("openai", "gpt-5")["reasoning_effort"], "medium");
    let config = &body("gemini", "m")["generationConfig"];
    assert_eq!(config["thinkingConfig"]["thinkingBudget"], 5000);
    assert_eq!(config["maxOutputTokens"], 9);
    assert_eq!(body("dashscope", "m")["thinking_budget"], 5000);
    assert_eq!(body("ollama", "m")["think"], true);
    assert_eq!(body("ollama", "gpt-oss")["think"], "medium");
}

#[path = "../../../tests/recorded/mod.rs"]
mod recording;

/// Every API, every form of a reply, with and without thinking, whole and streamed.
#[test]
fn requests_of_every_api_are_as_recorded() {
    let mut strict = function();
    strict.parameters["additionalProperties"] = false.into();
    let forms = [
        ReplyForm::Text,
        ReplyForm::Forced(function()),
        ReplyForm::Forced(strict.clone()),
        ReplyForm::Tools(vec![strict, function()]),
    ];
    let mut lines = String::new();
    for provider in [
        "openai",
        "dashscope",
        "responses",
        "anthropic",
        "gemini",
        "ollama",
    ] {
        for form in &forms {
            for (delivery, thinking) in [
                (Delivery::Whole, Thinking::Off),
                (Delivery::Streamed, Thinking::Unspecified),
            ] {
                let conversation = Request {
                    form: form.clone(),
                    thinking,
                    ..conversation()
                };
                for request in [request(form.clone()), conversation] {
                    let body = body(provider, "m", &request, delivery);
                    writeln!(lines, "{provider} {body}").unwrap();
                }
            }
        }
    }
    recording::compare("requests.txt", &lines);
}
