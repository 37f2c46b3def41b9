//! Prices of models. The table is `data/prices.toml`.

use std::sync::LazyLock;

use globset::{Glob, GlobSet, GlobSetBuilder};
use regex::Regex;
use serde::de::{Deserialize, Deserializer, Error};

use turnpipe_core::message::{Tier, Usage};
use turnpipe_core::text::pattern;

const PRICE_TABLE: &str = include_str!("../data/prices.toml");

/// The part of a recorded model name that has a price: without the provider before it and without
/// the date, service version, routing variant and context size after it.
static PLAIN_NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:.*/)?(?:[a-z]+[.:])*(.+?)(?:[-@]20\d{6}|-20\d\d-\d\d-\d\d)?(?:-v\d+(?::\d+)?)?(?::(?:beta|exacto|extended|floor|nitro|online|thinking))?(?:\[.*\])?$",
    )
});

/// Prices of models. The first one that matches a request applies.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    #[serde(default)]
    price: Vec<Price>,
    #[serde(default)]
    adjustment: Vec<Adjustment>,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    #[serde(deserialize_with = "read_globs")]
    models: GlobSet,
    /// Applies only to requests that read more tokens than this.
    above: Option<u64>,
    input: f64,
    output: f64,
    /// Defaults to the price of input.
    cache_read: Option<f64>,
    /// Defaults to the price of input.
    cache_write_5m: Option<f64>,
    /// Defaults to the price for five minutes.
    cache_write_1h: Option<f64>,
}

/// Factors on the price of a request, and US dollars for each web search.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Adjustment {
    #[serde(deserialize_with = "read_globs")]
    models: GlobSet,
    fast: Option<f64>,
    priority: Option<f64>,
    flex: Option<f64>,
    batch: Option<f64>,
    us: Option<f64>,
    web_search: Option<f64>,
}

/// Reads patterns of names, in lower case: without regard to case, each of them would be a regular expression.
fn read_globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<GlobSet, D::Error> {
    let mut globs = GlobSetBuilder::new();
    for pattern in Vec::<String>::deserialize(deserializer)? {
        globs.add(Glob::new(&pattern.to_ascii_lowercase()).map_err(D::Error::custom)?);
    }
    globs.build().map_err(D::Error::custom)
}

impl Prices {
    /// Returns the built-in prices. A test checks that the table can be read.
    pub fn built_in() -> Self {
        toml::from_str(PRICE_TABLE).unwrap_or_default()
    }

    /// Returns the names of the models that the built-in table names in full.
    pub fn built_in_names() -> Vec<String> {
        #[derive(Default, serde::Deserialize)]
        struct Names {
            price: Vec<Models>,
        }
        #[derive(serde::Deserialize)]
        struct Models {
            models: Vec<String>,
        }
        let Names { price } = toml::from_str(PRICE_TABLE).unwrap_or_default();
        let names = price.into_iter().flat_map(|price| price.models);
        names.filter(|name| !name.contains('*')).collect()
    }

    /// Combines these prices with `others`, which apply if none of these match.
    #[must_use]
    pub fn with_fallback(mut self, others: Self) -> Self {
        self.price.extend(others.price);
        self.adjustment.extend(others.adjustment);
        self
    }

    /// Returns the cost of a request to this model in US dollars: as recorded by the server, or else from the
    /// prices. `None` if the model has no price.
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<f64> {
        let computed = || self.find(model).cost(usage);
        usage.cost.or_else(|| Some(computed()?.0))
    }

    /// Returns the prices of a model. `model` is its name as an agent records it.
    pub(crate) fn find(&self, model: &str) -> ModelPrices<'_> {
        let plain = PLAIN_NAME.captures(model);
        let plain = plain.map_or(model, |parts| {
            parts.get(1).map_or(model, |name| name.as_str())
        });
        // Some services write versions of Claude with a dot.
        let hyphenated = plain.replace('.', "-");
        let is_match_of = |models: &GlobSet| {
            let is_match = |name: &str| models.is_match(name.to_ascii_lowercase());
            is_match(model)
                || is_match(plain)
                || plain.starts_with("claude") && is_match(&hyphenated)
        };
        ModelPrices {
            prices: self
                .price
                .iter()
                .filter(|one| is_match_of(&one.models))
                .collect(),
            adjustments: self
                .adjustment
                .iter()
                .filter(|one| is_match_of(&one.models))
                .collect(),
        }
    }
}

/// The prices of one model.
pub(crate) struct ModelPrices<'a> {
    prices: Vec<&'a Price>,
    adjustments: Vec<&'a Adjustment>,
}

/// An adjustment without a known price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unpriced {
    Tier(Tier),
    UnitedStates,
    WebSearch,
    /// The input is not known.
    Input,
    LongPrompts,
}

impl Unpriced {
    /// Returns the name of the adjustment.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tier(tier) => tier.name(),
            Self::UnitedStates => "us",
            Self::WebSearch => "web search",
            Self::Input => "unknown input",
            Self::LongPrompts => "long prompts",
        }
    }
}

impl ModelPrices<'_> {
    /// Returns the cost of a request in US dollars, without an adjustment whose price is unknown. `None` if the
    /// model has no price. The requests of a sum have ordinary prices, although some may have long prompts.
    pub(crate) fn cost(&self, usage: &Usage) -> Option<(f64, Option<Unpriced>)> {
        let read = usage.input + usage.cache_read + usage.cache_write;
        let is_above = |price: &&&Price| price.above.is_none_or(|above| read > above);
        let longest = self.prices.iter().find(is_above)?;
        let is_usual = |price: &&&Price| price.above.is_none() || !usage.is_sum;
        let price = self.prices.iter().filter(is_above).find(is_usual)?;
        let has_one_price = longest.above == price.above;
        let cache_read = price.cache_read.unwrap_or(price.input);
        let for_minutes = price.cache_write_5m.unwrap_or(price.input);
        let for_an_hour = price.cache_write_1h.unwrap_or(for_minutes);
        let parts = [
            (usage.input, price.input),
            (usage.output, price.output),
            (usage.cache_read, cache_read),
            (usage.cache_write - usage.cache_write_1h, for_minutes),
            (usage.cache_write_1h, for_an_hour),
        ];
        #[allow(clippy::cast_precision_loss, reason = "no request has 2^53 tokens")]
        let dollars = |(tokens, price): (u64, f64)| tokens as f64 * price;
        let tokens: f64 = parts.map(dollars).iter().sum::<f64>() / 1e6;
        let find = |name: fn(&Adjustment) -> Option<f64>| {
            self.adjustments.iter().find_map(|one| name(one))
        };
        let factor = match usage.tier {
            Tier::Standard => Some(1.0),
            Tier::Fast => find(|one| one.fast),
            Tier::Priority => find(|one| one.priority),
            Tier::Flex => find(|one| one.flex),
            Tier::Batch => find(|one| one.batch),
        };
        let us_factor = if usage.is_us_only {
            find(|one| one.us)
        } else {
            Some(1.0)
        };
        let search_price = match usage.web_searches {
            0 => Some(0.0),
            _ => find(|one| one.web_search),
        };
        let unpriced = [
            (Unpriced::Tier(usage.tier), factor),
            (Unpriced::UnitedStates, us_factor),
            (Unpriced::WebSearch, search_price),
            (Unpriced::LongPrompts, has_one_price.then_some(1.0)),
        ];
        let unpriced = unpriced.into_iter().find(|(_, price)| price.is_none());
        let searches = dollars((usage.web_searches, search_price.unwrap_or_default()));
        let cost = tokens * factor.unwrap_or(1.0) * us_factor.unwrap_or(1.0) + searches;
        Some((cost, unpriced.map(|(name, _)| name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(model: &str, usage: &Usage) -> Option<String> {
        let cost = Prices::built_in().find(model).cost(usage);
        cost.map(|(cost, _)| format!("{cost:.4}"))
    }

    #[test]
    fn the_built_in_table_can_be_read() {
        let prices: Prices = toml::from_str(PRICE_TABLE).unwrap();
        assert!(prices.price.len() > 90);
    }

    /// An entry hidden by an earlier one would never apply.
    #[test]
    fn entries_for_long_prompts_precede_ordinary_ones() {
        let file: toml::Table = toml::from_str(PRICE_TABLE).unwrap();
        let mut seen: Vec<(&str, i64)> = Vec::new();
        for entry in file["price"].as_array().unwrap() {
            let above = entry
                .get("above")
                .map_or(0, |above| above.as_integer().unwrap());
            for model in entry["models"].as_array().unwrap() {
                let model = model.as_str().unwrap();
                let hidden = seen
                    .iter()
                    .find(|(name, least)| *name == model && *least <= above);
                assert_eq!(hidden, None, "{model} above {above}");
                seen.push((model, above));
            }
        }
    }

    #[test]
    fn names_are_recognised_in_the_spelling_of_agents() {
        let million = Usage {
            input: 1_000_000,
            ..Usage::default()
        };
        let rows = [
            ("claude-opus-4-5-20251101", Some("5.0000")),
            ("claude-opus-4-1-20250805", Some("15.0000")),
            ("claude-opus-4-20250514", Some("15.0000")),
            ("claude-opus-4-6[1m]", Some("5.0000")),
            ("anthropic/claude-haiku-4-5", Some("1.0000")),
            ("openrouter:anthropic/claude-haiku-4-5", Some("1.0000")),
            (
                "us.anthropic.claude-haiku-4-5-20251001-v1:0",
                Some("1.0000"),
            ),
            ("claude-haiku-4-5@20251001", Some("1.0000")),
            (
                "openrouter/anthropic/claude-sonnet-4.5:thinking",
                Some("6.0000"),
            ),
            ("zai-org/GLM-4.6", Some("0.6000")),
            ("z-ai/glm-5", Some("1.0000")),
            ("moonshotai/kimi-k2-thinking", Some("0.6000")),
            ("deepseek/deepseek-v3.2", Some("0.2800")),
            ("minimax/minimax-m2", Some("0.3000")),
            ("x-ai/grok-code-fast-1", Some("2.0000")),
            ("qwen/qwen3-coder:free", Some("0.0000")),
            ("gpt-oss:20b", None),
            ("openai:gpt-5.1-codex", Some("1.2500")),
            ("gpt-5-2025-08-07", Some("1.2500")),
            ("models/gemini-2.5-flash", Some("0.3000")),
            ("gemini-2.5-flash-preview-05-20", Some("0.3000")),
            ("qwen-plus-2025-07-28", Some("1.2000")),
            ("qwen-plus-2025-04-28", Some("0.4000")),
            // A new model is not mistaken for an older one, and the cost of a local model is unknown.
            ("claude-opus-4-99", None),
            ("gpt-5.1-codex-giga", None),
            ("qwen3-coder:30b", None),
            ("opus", None),
            ("", None),
        ];
        for (model, expected) in rows {
            assert_eq!(dollars(model, &million).as_deref(), expected, "{model}");
        }
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let usage = |input, cache_read, cache_write, cache_write_1h| Usage {
            input,
            cache_read,
            cache_write,
            cache_write_1h,
            ..Usage::default()
        };
        let rows = [
            ("claude-sonnet-4-5", usage(100_000, 0, 0, 0), "0.3000"),
            ("claude-sonnet-4-5", usage(0, 100_000, 0, 0), "0.0300"),
            ("claude-sonnet-4-5", usage(0, 0, 100_000, 0), "0.3750"),
            ("claude-sonnet-4-5", usage(0, 0, 100_000, 100_000), "0.6000"),
            ("claude-sonnet-4-5", usage(0, 0, 100_000, 60_000), "0.5100"),
            // The higher price applies to the whole request, and cached tokens count as part of the prompt.
            ("claude-sonnet-4-5", usage(0, 200_000, 0, 0), "0.0600"),
            ("claude-sonnet-4-5", usage(1, 200_000, 0, 0), "0.1200"),
            ("qwen3-coder-plus", usage(32_000, 0, 0, 0), "0.0320"),
            ("qwen3-coder-plus", usage(100_000, 0, 0, 0), "0.1800"),
            ("qwen3-coder-plus", usage(200_000, 0, 0, 0), "0.6000"),
            // Without a separate price.
            ("qwen-max", usage(0, 1_000_000, 0, 0), "1.6000"),
            (
                "gemini-2.5-flash",
                usage(0, 0, 1_000_000, 1_000_000),
                "0.3000",
            ),
        ];
        for (model, usage, expected) in rows {
            assert_eq!(
                dollars(model, &usage).as_deref(),
                Some(expected),
                "{model} {usage:?}"
            );
        }
    }

    #[test]
    fn tiers_regions_and_searches_change_the_price_or_are_named() {
        let usage = |tier, is_us_only, web_searches| Usage {
            input: 100_000,
            tier,
            is_us_only,
            web_searches,
            ..Usage::default()
        };
        let rows = [
            ("claude-opus-5", usage(Tier::Fast, false, 0), 1.0, None),
            ("claude-opus-4-6", usage(Tier::Fast, false, 0), 3.0, None),
            ("claude-opus-5", usage(Tier::Priority, true, 0), 0.55, None),
            ("claude-opus-5", usage(Tier::Batch, false, 2), 0.27, None),
            ("claude-opus-4-5", usage(Tier::Standard, true, 0), 0.5, None),
            ("gpt-5.5", usage(Tier::Priority, false, 0), 1.25, None),
            ("gpt-5.2", usage(Tier::Flex, false, 0), 0.0875, None),
            (
                "gpt-5-codex",
                usage(Tier::Priority, false, 0),
                0.125,
                Some("priority"),
            ),
            (
                "claude-sonnet-5",
                usage(Tier::Fast, false, 0),
                0.2,
                Some("fast"),
            ),
            (
                "glm-5",
                usage(Tier::Standard, false, 3),
                0.1,
                Some("web search"),
            ),
        ];
        for (model, usage, dollars, unpriced) in rows {
            let (cost, part) = Prices::built_in().find(model).cost(&usage).unwrap();
            assert_eq!(
                (format!("{cost:.4}"), part.map(Unpriced::name)),
                (format!("{dollars:.4}"), unpriced),
                "{model}"
            );
        }
    }

    #[test]
    fn the_first_matching_entry_applies() {
        let own = "[[price]]\nmodels = [\"claude-*\", \"home:*\"]\ninput = 2\noutput = 0\n";
        let own: Prices = toml::from_str(own).unwrap();
        let prices = own.with_fallback(Prices::built_in());
        let usage = Usage {
            input: 500_000,
            ..Usage::default()
        };
        let cost = |model| Some(prices.find(model).cost(&usage)?.0);
        assert_eq!(cost("claude-opus-4-5-20251101"), Some(1.0));
        assert_eq!(cost("home:small"), Some(1.0));
        assert_eq!(cost("gpt-5"), Some(0.625));
        let misspelt = "[[price]]\nmodels = [\"x\"]\ninput = 2\noutput = 0\ncached = 1\n";
        assert!(toml::from_str::<Prices>(misspelt).is_err());
        let no_glob = "[[price]]\nmodels = [\"x[\"]\ninput = 2\noutput = 0\n";
        assert!(toml::from_str::<Prices>(no_glob).is_err());
    }
}
