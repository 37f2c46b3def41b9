//! The known providers and models, and how they differ: the table is `presets.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::api::{Dialect, DialectOverrides};

const FILE: &str = include_str!("presets.toml");

/// The table. A test checks that the file can be read.
static PRESETS: LazyLock<Presets> = LazyLock::new(|| toml::from_str(FILE).unwrap_or_default());

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Presets {
    provider: Vec<Preset>,
    /// What differs in the models of a provider, by the prefix of their names.
    models: BTreeMap<String, BTreeMap<String, DialectOverrides>>,
}

/// A provider that is known by name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Preset {
    pub(super) name: String,
    /// How the names of the models begin that it is known for.
    family: Option<String>,
    /// Its address, up to what the API adds.
    pub(super) base_url: String,
    pub(super) key: KeyScheme,
    /// Headers of every request.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    dialect: Dialect,
}

/// How a provider takes the key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeyScheme {
    /// As a bearer token; a request without one is refused.
    Bearer,
    /// As a bearer token, if there is one.
    #[default]
    BearerIfAny,
    /// In this header.
    Header(String),
}

/// The provider of this name, if it is known.
pub(super) fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.provider.iter().find(|preset| preset.name == name)
}

/// The names of all known providers.
pub fn known_providers() -> impl Iterator<Item = &'static str> {
    PRESETS.provider.iter().map(|preset| preset.name.as_str())
}

/// The provider that a model of this name is known from.
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
    /// The dialect of one of its models.
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
    fn the_file_is_in_order() {
        let presets: Presets = toml::from_str(FILE).unwrap();
        for provider in presets.models.keys() {
            assert!(preset(provider).is_some(), "{provider}");
        }
    }

    #[test]
    fn every_address_of_the_table_takes_keys() {
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
