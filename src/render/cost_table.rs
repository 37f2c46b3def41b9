//! Tables of tokens and costs.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::columns::{format_table, widths};
use super::times::format_duration;
use crate::message::Usage;
use crate::records::{RunTotals, Spending};
use crate::text::{
    display_width, fit_columns, fit_end, format_count, format_dollars, format_number,
    terminal_safe_line,
};

/// Headings of tokens and costs.
const HEADS: [&str; 5] = ["INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST"];

/// Headings of shortened numbers.
const SHORT_HEADS: [&str; 5] = ["INPUT", "OUTPUT", "READ", "WRITE", "COST"];

/// Minimum width of a name before numbers are shortened.
const NAME_COLUMNS: usize = 12;

/// A line of a table: its names and its numbers.
pub(crate) struct CostRow<'a> {
    pub(crate) names: Vec<&'a str>,
    /// Numbers before tokens and costs.
    pub(crate) counts: Vec<u64>,
    pub(crate) spending: &'a Spending,
}

/// Length of a bar, in columns.
const BAR_COLUMNS: std::ops::RangeInclusive<usize> = 10..=40;

/// Returns the rows below a heading, at most as wide as the terminal: numbers are shortened first,
/// then names. The first `bars` rows get a bar for their cost if the terminal is wide enough.
pub(crate) fn cost_table(
    names: &[&str],
    counts: &[&str],
    rows: &[CostRow],
    bars: usize,
    columns: Option<usize>,
) -> String {
    let lines = |heads: &[&str], format_count: fn(u64) -> String| -> Vec<Vec<String>> {
        let rows = rows.iter().map(|row| format_row(row, format_count));
        let head = [names, counts, heads].concat();
        let head = head.into_iter().map(str::to_owned).collect();
        std::iter::once(head).chain(rows).collect()
    };
    let mut page = lines(&HEADS, format_number);
    if let Some(columns) = columns {
        let min_width = |widths: &[usize]| -> usize {
            let (names, numbers) = widths.split_at(names.len());
            let names = names.iter().map(|width| *width.min(&NAME_COLUMNS));
            names
                .chain(numbers.iter().copied())
                .map(|width| width + 2)
                .sum()
        };
        if min_width(&widths(&page)) > columns + 2 {
            page = lines(&SHORT_HEADS, shorten_number);
        }
    }
    let table = fit_table(page, names.len(), columns);
    add_bars(&table, &rows[..bars], columns.unwrap_or_default())
}

/// Returns a table whose first columns are names, which are cut so that the rest of a row fits.
pub(crate) fn fit_table(
    mut page: Vec<Vec<String>>,
    names: usize,
    columns: Option<usize>,
) -> String {
    if let Some(columns) = columns {
        fit_names(&mut page, names, columns);
    }
    format_table(page, names)
}

/// Returns a table of names and counts, below headings separated by blanks.
pub(crate) fn count_table<'a, const NAMES: usize, const COUNTS: usize>(
    heads: &str,
    rows: impl IntoIterator<Item = ([&'a str; NAMES], [u64; COUNTS])>,
    columns: Option<usize>,
) -> String {
    let rows = rows.into_iter().map(|(names, counts)| {
        let names = names.map(terminal_safe_line).into_iter();
        names.chain(counts.map(format_number)).collect()
    });
    let heads = heads.split(' ').map(str::to_owned).collect();
    let page = std::iter::once(heads).chain(rows).collect();
    fit_table(page, NAMES, columns)
}

/// Returns the lines of a table. The first `rows` below the head get bars.
fn add_bars(page: &str, rows: &[CostRow], columns: usize) -> String {
    let cost = |row: &CostRow| row.spending.usage.cost.unwrap_or_default();
    let max_cost = rows.iter().map(cost).fold(0.0, f64::max);
    let used_columns = page.lines().map(display_width).max().unwrap_or(0) + 2;
    let bar_columns = columns.saturating_sub(used_columns).min(*BAR_COLUMNS.end());
    if !BAR_COLUMNS.contains(&bar_columns) || max_cost <= 0.0 {
        return page.to_owned();
    }
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "no bar is longer than the terminal is wide"
    )]
    let bar = |row| "█".repeat((cost(row) / max_cost * bar_columns as f64).round() as usize);
    // The heading and the rows at the end have no bar.
    let bars = std::iter::once(String::new())
        .chain(rows.iter().map(bar))
        .chain(std::iter::repeat(String::new()));
    let rows = page.lines().zip(bars);
    let lines = rows.map(|(line, bar)| format!("{line}  {bar}").trim_end().to_owned() + "\n");
    lines.collect()
}

fn format_row(row: &CostRow, format_count: fn(u64) -> String) -> Vec<String> {
    let usage = &row.spending.usage;
    let tokens = [
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
    ];
    let numbers = row.counts.iter().chain(&tokens).copied().map(format_count);
    let names = row.names.iter().map(|name| terminal_safe_line(name));
    let cost = cost_cell(row.spending);
    names.chain(numbers).chain([cost]).collect()
}

/// Returns a cost in dollars; `?` if no model has a price, followed by a plus if only some have one.
pub(crate) fn cost_cell(spending: &Spending) -> String {
    match (spending.usage.cost, spending.unpriced_models.is_empty()) {
        (Some(cost), true) => format_dollars(cost),
        (Some(cost), false) => format_dollars(cost) + "+",
        (None, true) => "-".to_owned(),
        (None, false) => "?".to_owned(),
    }
}

/// Returns the tokens that were used, by kind; `None` if there are none.
pub(crate) fn tokens_cell(usage: &Usage) -> Option<String> {
    let kinds = [
        ("input", usage.input),
        ("output", usage.output),
        ("cache read", usage.cache_read),
        ("cache write", usage.cache_write),
    ];
    let used = kinds.iter().filter(|(_, count)| *count > 0);
    let tokens: Vec<String> = used
        .map(|(name, count)| format!("{} {name}", shorten_number(*count)))
        .collect();
    (!tokens.is_empty()).then(|| tokens.join(", "))
}

/// Returns a number in at most six characters: `999`, `12.3k`, `4.5M`, `678.9B`.
fn shorten_number(number: u64) -> String {
    let (unit, size) = match number {
        0..1_000 => return number.to_string(),
        1_000..1_000_000 => ("k", 1_000),
        1_000_000..1_000_000_000 => ("M", 1_000_000),
        1_000_000_000.. => ("B", 1_000_000_000),
    };
    let tenths = number / (size / 10);
    format!("{}.{}{unit}", tenths / 10, tenths % 10)
}

/// Cuts the widest names until the rows fit.
fn fit_names(page: &mut [Vec<String>], names: usize, columns: usize) {
    let mut widths = widths(page);
    // Columns are two blanks apart.
    let total_width = |widths: &[usize]| widths.iter().map(|width| width + 2).sum::<usize>();
    while total_width(&widths) > columns + 2
        && let Some(widest) = widths[..names].iter_mut().max()
        && *widest > 1
    {
        *widest -= 1;
    }
    for (column, width) in widths[..names].iter().enumerate() {
        let cells: BTreeSet<String> = page.iter().map(|row| row[column].clone()).collect();
        let are_distinct = |start: &usize| {
            let cut: BTreeSet<String> = cells
                .iter()
                .map(|cell| cut_middle(cell, *start, *width))
                .collect();
            cut.len() == cells.len()
        };
        // The beginning, and as much of the end as the names need to differ.
        let start = [*width, width / 2, width / 3, 0]
            .into_iter()
            .find(are_distinct);
        for row in &mut *page {
            let cell = &mut row[column];
            // The end of a path is its most specific part.
            let start = if cell.starts_with('/') {
                Some(0)
            } else {
                start
            };
            *cell = cut_middle(cell, start.unwrap_or(width / 2), *width);
        }
    }
}

/// Returns the ends of runs, with the other numbers that are not zero.
pub(crate) fn runs_cell(runs: &RunTotals) -> String {
    let ends = runs.ends.iter().map(|(reason, count)| match count {
        1 => terminal_safe_line(reason),
        count => format!("{count} {}", terminal_safe_line(reason)),
    });
    let turns = (runs.turns > 0).then(|| format_count(runs.turns, "turn", "turns"));
    let denials =
        (runs.denials > 0).then(|| format_count(runs.denials, "denied call", "denied calls"));
    let duration = duration_cell(runs.duration_ms);
    let facts = ends.chain(turns).chain(denials).chain(duration);
    format!("ended: {}", facts.collect::<Vec<_>>().join(", "))
}

/// Returns a number of milliseconds in words; `None` if it is zero.
pub(super) fn duration_cell(milliseconds: u64) -> Option<String> {
    let length = i64::try_from(milliseconds).unwrap_or(i64::MAX);
    (length > 0).then(|| format_duration(SignedDuration::from_millis(length)))
}

/// Truncates a name in the middle to a width, and keeps its first `start` columns.
fn cut_middle(name: &str, start: usize, width: usize) -> String {
    if start >= width || display_width(name) <= width {
        return fit_columns(name, width);
    }
    if start == 0 {
        return fit_end(name, width);
    }
    let beginning = fit_columns(name, start);
    beginning.trim_end_matches('…').to_owned() + &fit_end(name, width - start + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spending_of(cost: Option<f64>) -> Spending {
        let mut spending = Spending::default();
        spending.usage.cost = cost;
        spending
    }

    #[test]
    fn numbers_are_spelled_for_people() {
        let rows = [
            (0, "0", "0"),
            (999, "999", "999"),
            (1_000, "1,000", "1.0k"),
            (999_999, "999,999", "999.9k"),
            (12_345_678, "12,345,678", "12.3M"),
            (1_234_567_890, "1,234,567,890", "1.2B"),
        ];
        for (number, long, short) in rows {
            assert_eq!(
                (format_number(number), shorten_number(number)),
                (long.into(), short.into())
            );
        }
        assert_eq!(format_dollars(1234.567), "$1,234.57");
        assert_eq!(format_dollars(0.004), "$0.00");
    }

    #[test]
    fn money_says_what_it_leaves_out() {
        let shown = |cost, unpriced: &[&str]| {
            let mut spending = spending_of(cost);
            let models = unpriced.iter().map(|name| (*name).to_owned());
            spending.unpriced_models.extend(models);
            cost_cell(&spending)
        };
        assert_eq!(shown(Some(1.0), &[]), "$1.00");
        assert_eq!(shown(Some(1.0), &["x"]), "$1.00+");
        assert_eq!(shown(None, &[]), "-");
        assert_eq!(shown(None, &["x"]), "?");
    }

    #[test]
    fn bars_are_shown_if_they_fit() {
        let costs = [20.0, 5.0, 0.1, 25.1].map(|cost| spending_of(Some(cost)));
        let rows = costs.each_ref().map(|spending| CostRow {
            names: vec!["x"],
            counts: vec![],
            spending,
        });
        let lengths = |columns| {
            let page = cost_table(&["DAY"], &[], &rows, 3, columns);
            let bars = page.lines().map(|line| line.matches('█').count());
            assert!(
                page.lines()
                    .all(|line| Some(display_width(line)) <= columns.or(Some(60)))
            );
            bars.collect::<Vec<_>>()
        };
        assert_eq!(lengths(Some(200)), [0, 40, 10, 0, 0]);
        assert_eq!(lengths(Some(73)), [0, 20, 5, 0, 0]);
        assert_eq!(lengths(Some(56)), [0; 5]);
        assert_eq!(lengths(None), [0; 5]);
    }

    #[test]
    fn rows_fit_the_terminal() {
        let usage = Usage {
            input: 123_456_789,
            output: 23_456_789,
            cache_read: 9_123_456_789,
            cache_write: 923_456_789,
            cost: Some(123_456.78),
            ..Usage::default()
        };
        let spending = Spending {
            usage,
            ..Spending::default()
        };
        let names = [
            "2026-01-02",
            "claude-opus-4-5-20251101",
            "/home/人/修复解析器/\u{1b}[31mparser",
        ];
        let head = ["DAY", "MODEL", "PROJECT"];
        // Columns, and the number of names. The last name is whole if `is_whole`.
        let table = [
            (60, 2, false),
            (80, 3, false),
            (120, 3, false),
            (200, 3, true),
        ];
        for (columns, count, is_whole) in table {
            let row = CostRow {
                names: names[..count].to_vec(),
                counts: vec![],
                spending: &spending,
            };
            let page = cost_table(&head[..count], &[], &[row], 0, Some(columns));
            for line in page.lines() {
                assert!(display_width(line) <= columns, "{columns}\n{page}");
            }
            assert!(
                page.ends_with(" $123,456.78\n") && !page.contains('\u{1b}'),
                "{page}"
            );
            assert_eq!(page.contains("9,123,456,789"), columns >= 120, "{page}");
            assert_eq!(page.contains("9.1B"), columns < 120, "{page}");
            assert!(page.contains("claud"), "{page}");
            assert_eq!(
                page.contains("/home/人/修复解析器/parser"),
                is_whole,
                "{page}"
            );
        }
    }

    #[test]
    fn names_of_models_stay_distinct_when_they_are_cut() {
        let spending = spending_of(Some(1.0));
        for models in [
            ["claude-opus-4-1-20250805", "claude-opus-4-5-20251101"],
            ["claude-opus-4-1-20250805", "claude-opus-4-5-20250805"],
            ["gpt-5.1-codex-max", "gpt-5.1-codex-mini"],
            [
                "anthropic/claude-sonnet-4-5",
                "openrouter/claude-sonnet-4-5",
            ],
        ] {
            let rows = models.map(|model| CostRow {
                names: vec!["2026-01-02", model],
                counts: vec![],
                spending: &spending,
            });
            let page = cost_table(&["DAY", "MODEL"], &[], &rows, 0, Some(70));
            let cut: BTreeSet<&str> = page.lines().skip(1).map(|line| &line[10..]).collect();
            assert_eq!(cut.len(), 2, "{page}");
            assert!(page.lines().all(|line| display_width(line) <= 70), "{page}");
        }
    }
}
