//! Presets of providers and models, from `presets.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::api::{Dialect, DialectOverrides};

const FILE: &str = include_str!("presets.toml");

/// The presets. A test checks that the file is valid.
static PRESETS: LazyLock<Presets> = LazyLock::new(|| toml::from_str(FILE).unwrap_or_default());

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Presets {
    provider: Vec<Preset>,
    /// Overrides for models of a provider, by prefix of the model name.
    models: BTreeMap<String, BTreeMap<String, DialectOverrides>>,
}

/// Preset of a provider.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Preset {
    pub(super) name: String,
    /// Name prefix of the provider's best-known models.
    family: Option<String>,
    /// Base URL; the API appends a path.
    pub(super) base_url: String,
    pub(super) key: KeyScheme,
    /// Headers of all requests.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    dialect: Dialect,
}

/// Header that carries the API key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeyScheme {
    /// Bearer token; the key is required.
    Bearer,
    /// Bearer token, if there is a key.
    #[default]
    BearerIfAny,
    /// This header; the key is required.
    Header(String),
}

/// Returns the preset of this name.
pub(super) fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.provider.iter().find(|preset| preset.name == name)
}

/// Returns the names of all presets.
pub fn known_providers() -> impl Iterator<Item = &'static str> {
    PRESETS.provider.iter().map(|preset| preset.name.as_str())
}

/// Returns the provider whose best-known models have names like this one.
pub fn known_for(model: &str) -> Option<&'static str> {
    let mut providers = PRESETS.provider.iter();
    let is_known_for = |preset: &&Preset| {
        let family = preset.family.as_deref();
        family.is_some_and(|family| model.starts_with(family))
    };
    providers
        .find(is_known_for)
        .map(|preset| preset.name.as_str())
}

impl Preset {
    /// Returns the dialect of a model.
    pub(super) fn dialect(&self, model: &str) -> Dialect {
        let rules = PRESETS.models.get(&self.name).into_iter().flatten();
        let rule = rules
            .filter(|(prefix, _)| model.starts_with(prefix.as_str()))
            .max_by_key(|(prefix, _)| prefix.len());
        let dialect = self.dialect.clone();
        match rule {
            Some((_, rule)) => dialect.with(rule),
            None => dialect,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Acceptance;
    use crate::api::CacheMarks::From;

    #[test]
    fn the_file_is_sorted() {
        let presets: Presets = toml::from_str(FILE).unwrap();
        for provider in presets.models.keys() {
            assert!(preset(provider).is_some(), "{provider}");
        }
    }

    #[test]
    fn every_address_in_the_table_accepts_keys() {
        for preset in &PRESETS.provider {
            let address = crate::http::Address::parse(&preset.base_url).unwrap();
            address
                .admit_secrets(crate::http::PlainText::Nearby)
                .unwrap();
        }
    }

    #[test]
    fn models_differ_by_the_longest_prefix() {
        let dialect = |provider, model| preset(provider).unwrap().dialect(model);
        let effort = |model| {
            dialect("openai", model)
                .thinking_off
                .get("reasoning_effort")
                .cloned()
        };
        assert_eq!(effort("gpt-5-mini"), Some("minimal".into()));
        assert_eq!(effort("gpt-5.1"), Some("none".into()));
        assert_eq!(effort("gpt-5-chat-latest"), None);
        assert_eq!(effort("gpt-4.1-mini"), None);
        assert_eq!(
            dialect("openai", "o4-mini").temperature,
            Acceptance::Refused
        );
        assert_eq!(
            dialect("openai", "gpt-4.1-mini").temperature,
            Acceptance::Sent
        );
        let marks = |model| dialect("anthropic", model).cache_marks;
        assert_eq!(marks("claude-haiku-4-5"), From(4096));
        assert_eq!(marks("claude-sonnet-4-5"), From(1024));
        assert_eq!(marks("claude-sonnet-4-6"), From(2048));
        assert_eq!(marks("claude-opus-4-5"), From(4096));
        assert_eq!(marks("claude-opus-4-20250514"), From(1024));
    }
}
