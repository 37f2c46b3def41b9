//! From a provider and a model to a dialect.

use serde_json::{Map, Value};

use super::dialect::{Dialect, Temperature};
use super::preset_table::{MODEL_RULES, PRESETS, Preset};

/// The provider of this name, if it is known.
pub(super) fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// The names of all known providers.
pub fn known_providers() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

impl Preset {
    /// The dialect of one of its models.
    pub(super) fn dialect(&self, model: &str) -> Dialect {
        let rule = MODEL_RULES
            .iter()
            .filter(|rule| rule.provider == self.name && model.starts_with(rule.prefix))
            .max_by_key(|rule| rule.prefix.len());
        let thinking_off = rule.and_then(|rule| rule.thinking_off);
        Dialect {
            api: self.api,
            budget_key: self.budget_key.to_owned(),
            thinking_off: object(thinking_off.unwrap_or(self.thinking_off)),
            forced_call: self.forced_call,
            json: self.json,
            cache_marks: rule
                .and_then(|rule| rule.cache_marks)
                .unwrap_or(self.cache_marks),
            temperature: rule
                .and_then(|rule| rule.temperature)
                .unwrap_or(Temperature::Sent),
            extra_body: Map::new(),
        }
    }
}

/// The object that a table spells out; a test sees to it that all of them are objects.
fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::dialect::CacheMarks::From;
    use super::*;

    #[test]
    fn every_object_of_the_tables_is_one() {
        let presets = PRESETS.iter().map(|preset| preset.thinking_off);
        let rules = MODEL_RULES.iter().filter_map(|rule| rule.thinking_off);
        for json in presets.chain(rules) {
            serde_json::from_str::<Map<String, Value>>(json).unwrap();
        }
        for rule in MODEL_RULES {
            assert!(preset(rule.provider).is_some(), "{}", rule.provider);
        }
    }

    #[test]
    fn every_address_of_the_table_takes_keys() {
        for preset in PRESETS {
            let address = crate::http::Address::parse(preset.base_url).unwrap();
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
            Temperature::Refused
        );
        assert_eq!(
            dialect("openai", "gpt-4.1-mini").temperature,
            Temperature::Sent
        );
        let marks = |model| dialect("anthropic", model).cache_marks;
        assert_eq!(marks("claude-haiku-4-5"), From(4096));
        assert_eq!(marks("claude-sonnet-4-5"), From(1024));
        assert_eq!(marks("claude-sonnet-4-6"), From(2048));
        assert_eq!(marks("claude-opus-4-5"), From(4096));
        assert_eq!(marks("claude-opus-4-20250514"), From(1024));
    }
}
