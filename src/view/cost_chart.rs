//! A chart of costs by day and model.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use jiff::ToSpan;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::page::line;
use crate::text::dollars;

/// Maximum number of days shown: the most recent ones.
const MAX_DAYS: usize = 90;

/// Number of models with their own colors, which are in `page.css`. All others share one.
const MAX_MODELS: usize = 5;

/// The size of the chart, in units of the drawing.
const WIDTH: usize = 900;
const HEIGHT: usize = 120;

/// Maximum width of a bar.
const MAX_BAR: usize = 40;

/// Replies of a day by one model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayCost {
    /// The day in the time zone of the export, e.g. `2026-01-31`.
    pub day: String,
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

/// Formats costs as SVG with a legend; empty without costs. The days are those of `zone`.
pub(super) fn cost_chart<'a>(costs: impl Iterator<Item = &'a DayCost>, zone: &str) -> String {
    let mut days: BTreeMap<Date, BTreeMap<&str, u64>> = BTreeMap::new();
    let mut models: BTreeMap<&str, u64> = BTreeMap::new();
    for cost in costs {
        let Some((micros, day)) = cost.micros.zip(cost.day.parse::<Date>().ok()) else {
            continue;
        };
        *days.entry(day).or_default().entry(&cost.model).or_default() += micros;
        *models.entry(&cost.model).or_default() += micros;
    }
    let Some((&last, _)) = days.last_key_value() else {
        return String::new();
    };
    let mut dates: Vec<Date> = Vec::new();
    let mut date = last;
    while dates.len() < MAX_DAYS && days.range(..=date).next().is_some() {
        dates.push(date);
        let Ok(before) = date.checked_sub(1.day()) else {
            break;
        };
        date = before;
    }
    dates.reverse();
    let shown: BTreeSet<Date> = dates.iter().copied().collect();
    days.retain(|day, _| shown.contains(day));
    let mut ranked: Vec<&str> = models.keys().copied().collect();
    ranked.sort_by_key(|model| std::cmp::Reverse(models[model]));
    let class = |model: &str| {
        let rank = ranked.iter().position(|known| *known == model);
        rank.unwrap_or(MAX_MODELS).min(MAX_MODELS)
    };
    let highest = days.values().map(|day| day.values().sum::<u64>()).max();
    let highest = highest.unwrap_or_default().max(1);
    let width = (WIDTH / dates.len()).min(MAX_BAR);
    let mut chart = format!(
        "<figure>\n<svg viewBox=\"0 0 {WIDTH} {}\" preserveAspectRatio=\"xMinYMin\" role=\"img\" aria-label=\"Cost per day\">\n",
        HEIGHT + 20
    );
    for (column, date) in dates.iter().enumerate() {
        let Some(day) = days.get(date) else { continue };
        let total: u64 = day.values().sum();
        let mut parts: Vec<_> = day.iter().collect();
        parts.sort_by_key(|(model, _)| class(model));
        let about: Vec<String> = parts
            .iter()
            .map(|(model, micros)| format!("{} {}", line(model), spent(**micros)))
            .collect();
        let _ = write!(
            chart,
            "<g><title>{date}: {}\n{}</title>",
            spent(total),
            about.join("\n")
        );
        let mut top = HEIGHT;
        let mut below = 0;
        for (model, micros) in parts {
            below += micros;
            // Computed from sums, so that rounding errors do not accumulate.
            let start = HEIGHT - scaled(below, highest);
            let _ = write!(
                chart,
                "<rect class=\"m{}\" x=\"{}\" y=\"{start}\" width=\"{}\" height=\"{}\"/>",
                class(model),
                column * width,
                width.saturating_sub(2).max(1),
                top - start
            );
            top = start;
        }
        chart.push_str("</g>\n");
    }
    let ends = [
        (0, "start", dates.first()),
        (dates.len() * width, "end", dates.last()),
    ];
    for (at, anchor, date) in ends.into_iter().take(dates.len().min(2)) {
        if let Some(date) = date {
            let y = HEIGHT + 15;
            let _ = writeln!(
                chart,
                "<text x=\"{at}\" y=\"{y}\" text-anchor=\"{anchor}\">{date}</text>"
            );
        }
    }
    let _ = write!(
        chart,
        "</svg>\n<figcaption>Cost per day ({}), up to {}",
        line(zone),
        spent(highest)
    );
    for (rank, model) in ranked.iter().take(MAX_MODELS).enumerate() {
        let _ = write!(chart, "<span class=\"m{rank}\">{}</span>", line(model));
    }
    if ranked.len() > MAX_MODELS {
        let _ = write!(chart, "<span class=\"m{MAX_MODELS}\">others</span>");
    }
    chart.push_str("</figcaption>\n</figure>\n");
    chart
}

/// Formats millionths of a dollar.
#[expect(
    clippy::cast_precision_loss,
    reason = "cents of a sum below 90 billion dollars are exact"
)]
pub(super) fn spent(micros: u64) -> String {
    dollars(micros as f64 / 1e6)
}

/// Returns a height in proportion to the highest.
fn scaled(micros: u64, highest: u64) -> usize {
    let height = u128::from(micros) * HEIGHT as u128 / u128::from(highest);
    usize::try_from(height).unwrap_or(HEIGHT).min(HEIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(day: &str, model: &str, micros: u64) -> DayCost {
        DayCost {
            day: day.to_owned(),
            model: model.to_owned(),
            replies: 1,
            micros: Some(micros),
            is_partial: false,
        }
    }

    #[test]
    fn bars_are_stacked_by_model_and_days_are_continuous() {
        let costs = [
            cost("2026-01-01", "a<b>", 3_000_000),
            cost("2026-01-03", "a<b>", 1_000_000),
            cost("2026-01-03", "c", 2_000_000),
            cost("(unknown)", "c", 2_000_000),
        ];
        let chart = cost_chart(costs.iter(), "Europe/Berlin");
        let bars: Vec<&str> = chart
            .split("<rect ")
            .skip(1)
            .map(|bar| bar.split("/>").next().unwrap())
            .collect();
        assert_eq!(
            bars,
            [
                r#"class="m0" x="0" y="0" width="38" height="120""#,
                r#"class="m0" x="80" y="80" width="38" height="40""#,
                r#"class="m1" x="80" y="0" width="38" height="80""#,
            ]
        );
        assert!(
            chart.contains("<title>2026-01-03: $3.00\na&lt;b&gt; $1.00\nc $2.00</title>"),
            "{chart}"
        );
        assert_eq!(cost_chart(std::iter::empty(), "UTC"), "");
    }

    #[test]
    fn only_the_last_days_are_shown() {
        let costs = [cost("2020-01-01", "a", 1), cost("2026-01-01", "a", 1)];
        let chart = cost_chart(costs.iter(), "UTC");
        assert_eq!(chart.matches("<rect").count(), 1, "{chart}");
        assert!(!chart.contains("2020"), "{chart}");
    }
}
