//! Costs by time and model, which the script of the index draws by day in the zone of its reader.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::page::line;
use crate::text::dollars;

/// Number of models with their own colors, which are in `page.css`. All others share one.
const MAX_MODELS: usize = 5;

/// Replies of a quarter of an hour by one model. Days start at quarters in all time zones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostSlice {
    /// The number of quarters of an hour since 1970, if the time is known.
    #[serde(default)]
    pub quarter: Option<i64>,
    /// The model.
    pub model: String,
    /// The number of replies.
    pub replies: u64,
    /// The cost in millionths of a dollar, if the model has a price.
    pub micros: Option<u64>,
    /// Whether replies without a price are not in the cost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
}

/// The data of the chart.
#[derive(Default, Serialize)]
struct Chart<'a> {
    /// The most expensive first.
    models: Vec<&'a str>,
    /// Quarter, place of the model, cost.
    costs: Vec<(i64, usize, u64)>,
}

/// Formats costs as a figure for the script; empty without costs.
pub(super) fn cost_chart<'a>(costs: impl Iterator<Item = &'a CostSlice>) -> String {
    let mut models: BTreeMap<&str, u64> = BTreeMap::new();
    let mut sums: BTreeMap<(i64, &str), u64> = BTreeMap::new();
    for cost in costs {
        if let Some((quarter, micros)) = cost.quarter.zip(cost.micros) {
            *models.entry(&cost.model).or_default() += micros;
            *sums.entry((quarter, &cost.model)).or_default() += micros;
        }
    }
    if sums.is_empty() {
        return String::new();
    }
    let mut ranked: Vec<&str> = models.keys().copied().collect();
    ranked.sort_by_key(|model| std::cmp::Reverse(models[model]));
    let place = |model: &str| {
        let rank = ranked.iter().position(|known| *known == model);
        rank.unwrap_or(MAX_MODELS).min(MAX_MODELS)
    };
    let sums = sums.iter();
    let mut chart = Chart {
        costs: sums
            .map(|((quarter, model), micros)| (*quarter, place(model), *micros))
            .collect(),
        models: ranked,
    };
    if chart.models.len() > MAX_MODELS {
        chart.models.truncate(MAX_MODELS);
        chart.models.push("others");
    }
    let data = serde_json::to_string(&chart).unwrap_or_default();
    format!("<figure data-costs=\"{}\"></figure>\n", line(&data))
}

/// Formats millionths of a dollar.
#[expect(
    clippy::cast_precision_loss,
    reason = "cents of a sum below 90 billion dollars are exact"
)]
pub(super) fn spent(micros: u64) -> String {
    dollars(micros as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_summed_by_quarter_and_models_ranked() {
        let cost = |quarter: i64, model: &str, micros: u64| CostSlice {
            quarter: Some(quarter),
            model: model.to_owned(),
            replies: 1,
            micros: Some(micros),
            is_partial: false,
        };
        let costs = [
            cost(7, "a<b>\"", 1),
            cost(7, "c", 5),
            cost(7, "a<b>\"", 2),
            cost(9, "a<b>\"", 3),
            CostSlice::default(),
        ];
        let expected = r#"<figure data-costs="{&quot;models&quot;:[&quot;a&lt;b&gt;\&quot;&quot;,&quot;c&quot;],"#.to_owned()
            + r#"&quot;costs&quot;:[[7,0,3],[7,1,5],[9,0,3]]}"></figure>"#;
        assert_eq!(cost_chart(costs.iter()).trim_end(), expected);
        assert_eq!(cost_chart(std::iter::empty()), "");
        let many: Vec<CostSlice> = (0..8).map(|at| cost(at, &at.to_string(), 9)).collect();
        let chart = cost_chart(many.iter());
        assert!(chart.contains("[4,4,9],[5,5,9],[6,5,9],[7,5,9]"), "{chart}");
        assert!(
            chart.contains("&quot;4&quot;,&quot;others&quot;]"),
            "{chart}"
        );
    }
}
