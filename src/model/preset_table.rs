//! The providers and models that are known, and how they differ.

use super::dialect::{Api, CacheMarks, ForcedCall, JsonForm, Temperature};

/// A provider that is known by name.
#[derive(Debug)]
pub(super) struct Preset {
    pub(super) name: &'static str,
    /// Where it is, up to what the API adds.
    pub(super) base_url: &'static str,
    pub(super) api: Api,
    /// How it is told the key.
    pub(super) key: KeyScheme,
    /// The key of the token budget.
    pub(super) budget_key: &'static str,
    /// What turns thinking off, as a JSON object that is merged into the request.
    pub(super) thinking_off: &'static str,
    pub(super) forced_call: ForcedCall,
    pub(super) json: JsonForm,
    pub(super) cache_marks: CacheMarks,
    /// Headers of every request.
    pub(super) headers: &'static [(&'static str, &'static str)],
}

/// How a provider is told the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyScheme {
    /// As a bearer token; there are no requests without.
    Bearer,
    /// As a bearer token, if there is one.
    BearerIfAny,
    /// In this header.
    Header(&'static str),
}

/// The known providers.
pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        api: Api::OpenaiChat,
        key: KeyScheme::Bearer,
        budget_key: "max_completion_tokens",
        thinking_off: "{}",
        forced_call: ForcedCall::Named,
        json: JsonForm::Schema,
        cache_marks: CacheMarks::None,
        headers: &[],
    },
    Preset {
        name: "anthropic",
        base_url: "https://api.anthropic.com",
        api: Api::AnthropicMessages,
        key: KeyScheme::Header("x-api-key"),
        budget_key: "max_tokens",
        thinking_off: "{}",
        forced_call: ForcedCall::Named,
        json: JsonForm::Schema,
        cache_marks: CacheMarks::From(4096),
        headers: &[("anthropic-version", "2023-06-01")],
    },
    Preset {
        name: "gemini",
        base_url: "https://generativelanguage.googleapis.com",
        api: Api::Gemini,
        key: KeyScheme::Header("x-goog-api-key"),
        budget_key: "maxOutputTokens",
        thinking_off: "{}",
        forced_call: ForcedCall::Named,
        json: JsonForm::Schema,
        cache_marks: CacheMarks::None,
        headers: &[],
    },
    Preset {
        name: "ollama",
        base_url: "http://localhost:11434",
        api: Api::OllamaChat,
        key: KeyScheme::BearerIfAny,
        budget_key: "num_predict",
        thinking_off: r#"{"think":false}"#,
        forced_call: ForcedCall::Json,
        json: JsonForm::Schema,
        cache_marks: CacheMarks::None,
        headers: &[],
    },
    Preset {
        name: "dashscope",
        base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        api: Api::OpenaiChat,
        key: KeyScheme::Bearer,
        budget_key: "max_tokens",
        thinking_off: r#"{"enable_thinking":false}"#,
        forced_call: ForcedCall::Any,
        json: JsonForm::Object,
        cache_marks: CacheMarks::None,
        headers: &[("X-DashScope-CacheControl", "enable")],
    },
    Preset {
        name: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        api: Api::OpenaiChat,
        key: KeyScheme::Bearer,
        budget_key: "max_tokens",
        thinking_off: r#"{"reasoning":{"enabled":false}}"#,
        forced_call: ForcedCall::Named,
        json: JsonForm::Schema,
        cache_marks: CacheMarks::None,
        headers: &[("X-Title", "turnpipe")],
    },
    Preset {
        name: "llamacpp",
        base_url: "http://localhost:8080/v1",
        api: Api::OpenaiChat,
        key: KeyScheme::BearerIfAny,
        budget_key: "max_tokens",
        thinking_off: r#"{"chat_template_kwargs":{"enable_thinking":false}}"#,
        // A named function is silently ignored.
        forced_call: ForcedCall::Any,
        json: JsonForm::Schema,
        cache_marks: CacheMarks::None,
        headers: &[],
    },
    Preset {
        name: "vllm",
        base_url: "http://localhost:8000/v1",
        api: Api::OpenaiChat,
        key: KeyScheme::BearerIfAny,
        budget_key: "max_tokens",
        thinking_off: r#"{"chat_template_kwargs":{"enable_thinking":false}}"#,
        forced_call: ForcedCall::Named,
        json: JsonForm::Schema,
        cache_marks: CacheMarks::None,
        headers: &[],
    },
    Preset {
        name: "lmstudio",
        base_url: "http://localhost:1234/v1",
        api: Api::OpenaiChat,
        key: KeyScheme::BearerIfAny,
        budget_key: "max_tokens",
        thinking_off: "{}",
        forced_call: ForcedCall::Any,
        json: JsonForm::Schema,
        cache_marks: CacheMarks::None,
        headers: &[],
    },
];

/// How the models of a provider differ from what stands in [`PRESETS`].
#[derive(Debug)]
pub(super) struct ModelRule {
    pub(super) provider: &'static str,
    /// What the model's name begins with.
    pub(super) prefix: &'static str,
    pub(super) thinking_off: Option<&'static str>,
    pub(super) temperature: Option<Temperature>,
    pub(super) cache_marks: Option<CacheMarks>,
}

impl ModelRule {
    const fn of(provider: &'static str, prefix: &'static str) -> Self {
        Self {
            provider,
            prefix,
            thinking_off: None,
            temperature: None,
            cache_marks: None,
        }
    }

    const fn thinking_off(self, json: &'static str) -> Self {
        Self {
            thinking_off: Some(json),
            ..self
        }
    }

    const fn without_temperature(self) -> Self {
        Self {
            temperature: Some(Temperature::Refused),
            ..self
        }
    }

    const fn cached_from(self, tokens: u32) -> Self {
        Self {
            cache_marks: Some(CacheMarks::From(tokens)),
            ..self
        }
    }
}

/// The rule with the longest fitting prefix counts.
pub(super) const MODEL_RULES: &[ModelRule] = &[
    ModelRule::of("openai", "gpt-5")
        .thinking_off(r#"{"reasoning_effort":"minimal"}"#)
        .without_temperature(),
    ModelRule::of("openai", "gpt-5.")
        .thinking_off(r#"{"reasoning_effort":"none"}"#)
        .without_temperature(),
    ModelRule::of("openai", "gpt-5-chat"),
    ModelRule::of("openai", "o1")
        .thinking_off(r#"{"reasoning_effort":"low"}"#)
        .without_temperature(),
    ModelRule::of("openai", "o3")
        .thinking_off(r#"{"reasoning_effort":"low"}"#)
        .without_temperature(),
    ModelRule::of("openai", "o4")
        .thinking_off(r#"{"reasoning_effort":"low"}"#)
        .without_temperature(),
    ModelRule::of("anthropic", "claude-sonnet-4").cached_from(1024),
    ModelRule::of("anthropic", "claude-sonnet-4-6").cached_from(2048),
    ModelRule::of("anthropic", "claude-opus-4-1").cached_from(1024),
    ModelRule::of("anthropic", "claude-opus-4-2").cached_from(1024),
    ModelRule::of("anthropic", "claude-3-7-sonnet").cached_from(1024),
    ModelRule::of("anthropic", "claude-3-5-haiku").cached_from(2048),
    ModelRule::of("anthropic", "claude-3-haiku").cached_from(2048),
    // Of the others some drop the parts that a mark needs, and none caches by marks.
    ModelRule::of("dashscope", "qwen").cached_from(1024),
    ModelRule::of("gemini", "gemini-2.5-flash").thinking_off(NO_BUDGET),
    // It cannot be turned off, only kept short.
    ModelRule::of("gemini", "gemini-2.5-pro").thinking_off(
        r#"{"generationConfig":{"thinkingConfig":{"thinkingBudget":128,"includeThoughts":false}}}"#,
    ),
    ModelRule::of("gemini", "gemini-3").thinking_off(
        r#"{"generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW","includeThoughts":false}}}"#,
    ),
    ModelRule::of("gemini", "gemini-3-flash").thinking_off(
        r#"{"generationConfig":{"thinkingConfig":{"thinkingLevel":"MINIMAL","includeThoughts":false}}}"#,
    ),
    // It knows levels only.
    ModelRule::of("ollama", "gpt-oss").thinking_off(r#"{"think":"low"}"#),
];

const NO_BUDGET: &str =
    r#"{"generationConfig":{"thinkingConfig":{"thinkingBudget":0,"includeThoughts":false}}}"#;
