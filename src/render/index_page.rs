//! The index of exported sessions.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::harmless_markdown::harmless_line;
use super::page::{escape_line, page_head, source_of};
use crate::text::{append, format_count, format_dollars, format_number};

/// The only script: searches and filters the list. Without it, the whole list is shown.
const SCRIPT: &str = include_str!("index.js");

/// A session in the index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexRow {
    pub agent: String,
    pub title: Option<String>,
    /// The beginning of the first prompt.
    pub first_prompt: Option<String>,
    /// The first working directory.
    #[serde(alias = "project")]
    pub directory: Option<String>,
    pub branch: Option<String>,
    /// The last model.
    pub model: Option<String>,
    /// The time of the last activity: RFC 3339, in UTC.
    pub last_activity: Option<String>,
    /// For a subagent, the page of the session that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The replies and their costs, including subagents. A reply that several sessions contain belongs to one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostSlice>,
}

/// The sum of costs.
#[derive(Default)]
struct Sum {
    replies: u64,
    micros: Option<u64>,
    is_partial: bool,
}

impl Sum {
    fn from_costs<'a>(costs: impl Iterator<Item = &'a CostSlice>) -> Self {
        costs.fold(Self::default(), |mut sum, cost| {
            sum.replies += cost.replies;
            if let Some(micros) = cost.micros {
                *sum.micros.get_or_insert_default() += micros;
            }
            sum.is_partial |= cost.is_partial;
            sum
        })
    }

    /// Formats the cost: `-` without a cost, `?` if it is unknown, followed by a plus if it is incomplete.
    fn format_cost(&self) -> String {
        match (self.micros, self.is_partial) {
            (None, false) => "-".to_owned(),
            (None, true) => "?".to_owned(),
            (Some(micros), false) => format_cost(micros),
            (Some(micros), true) => format_cost(micros) + "+",
        }
    }
}

/// The file name of a page, which needs no escaping, and its row.
type NamedRow<'a> = (&'a str, &'a IndexRow);

/// Groups subagents under their sessions. A subagent whose session has no page is listed by itself.
fn group_families<'a>(rows: &[NamedRow<'a>]) -> Vec<(NamedRow<'a>, Vec<NamedRow<'a>>)> {
    let names: BTreeSet<&str> = rows.iter().map(|(name, _)| *name).collect();
    let mut subagents: BTreeMap<&str, Vec<NamedRow<'a>>> = BTreeMap::new();
    let mut sessions = Vec::new();
    for (name, row) in rows {
        match row
            .parent
            .as_deref()
            .filter(|parent| names.contains(parent))
        {
            Some(parent) => subagents.entry(parent).or_default().push((name, row)),
            None => sessions.push((*name, *row)),
        }
    }
    let family = |session: NamedRow<'a>| (session, subagents.remove(session.0).unwrap_or_default());
    sessions.into_iter().map(family).collect()
}

impl IndexRow {
    fn title(&self) -> &str {
        let title = self.title.as_deref().or(self.first_prompt.as_deref());
        title.unwrap_or("Session")
    }

    fn directory(&self) -> &str {
        self.directory.as_deref().unwrap_or_default()
    }

    /// Returns the facts under the title.
    fn facts(&self) -> impl Iterator<Item = &str> {
        let agent = Some(self.agent.as_str());
        let others = [&self.directory, &self.branch, &self.model];
        agent
            .into_iter()
            .chain(others.into_iter().filter_map(|fact| fact.as_deref()))
    }

    /// Returns the time of the last activity, to the minute.
    fn time(&self) -> String {
        let time = self.last_activity.as_deref().unwrap_or_default();
        time.get(..16).unwrap_or(time).replace('T', " ")
    }
}

/// The columns of the list: heading and name, which the script uses.
const COLUMNS: [(&str, &str); 7] = [
    ("Title", "title"),
    ("Last active", "time"),
    ("Directory", "directory"),
    ("Agent", "agent"),
    ("Model", "model"),
    ("Replies", "replies"),
    ("Cost", "cost"),
];

/// The filters, with their values.
type Filter = (&'static str, fn(&IndexRow) -> &str);
const FILTERS: [Filter; 3] = [
    ("directory", IndexRow::directory),
    ("agent", |row| &row.agent),
    ("model", |row| row.model.as_deref().unwrap_or_default()),
];

/// Formats the index as HTML with a search box, filters, and a chart of costs by day. Subagents are listed
/// under their sessions. `words` is a [`WordIndex`](super::WordIndex), whose sessions are numbered like
/// [`session_numbers`].
pub fn html_index(rows: &[NamedRow<'_>], words: &str) -> String {
    let script = format!("script-src {}", source_of(SCRIPT));
    let mut page = page_head("Sessions", &script);
    let families = group_families(rows);
    let costs = families.iter().flat_map(|((_, row), _)| &row.costs);
    let sum = Sum::from_costs(costs.clone());
    append!(
        page,
        "<header>\n<h1>Sessions</h1>\n<div class=\"controls\">\n\
         <input id=\"search\" type=\"search\" placeholder=\"Search\" aria-label=\"Search\" autofocus>\n"
    );
    for (name, value) in FILTERS {
        add_filter(&mut page, name, rows.iter().map(|(_, row)| value(row)));
    }
    append!(
        page,
        "</div>\n<output>{}, {}, {}</output>\n</header>\n<main class=\"wide\">\n{}\
         <table class=\"sessions\">\n<thead>\n<tr>\n",
        format_count(families.len() as u64, "session", "sessions"),
        format_count(sum.replies, "reply", "replies"),
        sum.format_cost(),
        cost_chart(costs)
    );
    for (head, name) in COLUMNS {
        append!(page, "<th class=\"{name}\"><button>{head}</button></th>");
    }
    page.push_str("</tr>\n</thead>\n<tbody>\n");
    for ((name, row), subagents) in families {
        let first_prompt = row.first_prompt.as_ref().filter(|_| row.title.is_some());
        let prompt = first_prompt.map_or_else(String::new, |prompt| {
            format!("<p class=\"first\">{}</p>", escape_line(prompt))
        });
        page.push_str("<tr");
        for (name, value) in FILTERS {
            append!(page, " data-{name}=\"{}\"", escape_line(value(row)));
        }
        let title = escape_line(row.title());
        append!(page, "><td><a href=\"{name}\">{title}</a>{prompt}");
        for (name, row) in subagents {
            let title = escape_line(row.title());
            append!(
                page,
                "<p class=\"subagent\"><a href=\"{name}\">{title}</a></p>"
            );
        }
        let time = escape_line(row.last_activity.as_deref().unwrap_or_default());
        let sum = Sum::from_costs(row.costs.iter());
        let branch = row.branch.as_deref().map(escape_line).unwrap_or_default();
        append!(
            page,
            "</td><td data-value=\"{time}\"><time datetime=\"{time}\">{} UTC</time></td>\
             <td>{}<p class=\"facts\">{branch}</p></td><td>{}</td><td>{}</td>\
             <td data-value=\"{}\">{}</td><td data-value=\"{}\">{}</td></tr>\n",
            escape_line(&row.time()),
            escape_line(row.directory()),
            escape_line(&row.agent),
            escape_line(row.model.as_deref().unwrap_or_default()),
            sum.replies,
            format_number(sum.replies),
            sum.micros.unwrap_or_default(),
            sum.format_cost(),
        );
    }
    append!(
        page,
        "</tbody>\n</table>\n</main>\n<script id=\"words\" type=\"text/plain\">{words}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    );
    page
}

/// Returns the position of each row's session in the list. Subagents have the position of their session.
pub fn session_numbers(rows: &[NamedRow<'_>]) -> BTreeMap<String, u32> {
    let numbered = group_families(rows).into_iter().zip(0..);
    let names = numbered.flat_map(|((session, subagents), number)| {
        let family = std::iter::once(session).chain(subagents);
        family.map(move |(name, _)| (name.to_owned(), number))
    });
    names.collect()
}

/// Appends a filter with the occurring values.
fn add_filter<'a>(page: &mut String, name: &str, values: impl Iterator<Item = &'a str>) {
    append!(
        page,
        "<select id=\"{name}\" aria-label=\"{name}\">\n<option value=\"\">every {name}</option>\n"
    );
    let values: BTreeSet<&str> = values.filter(|value| !value.is_empty()).collect();
    for value in values.into_iter().map(escape_line) {
        append!(page, "<option value=\"{value}\">{value}</option>\n");
    }
    page.push_str("</select>\n");
}

/// Formats the index as a Markdown list.
pub fn markdown_index(rows: &[NamedRow<'_>]) -> String {
    let mut page = "# Sessions\n\n".to_owned();
    for ((name, row), subagents) in group_families(rows) {
        let facts: Vec<String> = row.facts().map(harmless_line).collect();
        let title = harmless_line(row.title());
        let time = harmless_line(&row.time());
        append!(page, "- {time} [{title}]({name}) · {}\n", facts.join(" · "));
        for (name, row) in subagents {
            append!(page, "  - [{}]({name})\n", harmless_line(row.title()));
        }
    }
    page
}

/// Number of models with their own colors, which are in `page.css`. All others share one.
const MAX_MODELS: usize = 5;

/// Replies of a quarter of an hour by one model. Days start at quarters in all time zones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostSlice {
    /// The number of quarters of an hour since 1970, if the time is known.
    #[serde(default)]
    pub quarter: Option<i64>,
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
    /// The most expensive model first.
    models: Vec<&'a str>,
    /// Quarter, index of the model in `models`, cost in millionths of a dollar.
    costs: Vec<(i64, usize, u64)>,
}

/// Formats costs as a figure for the script; empty without costs.
pub(super) fn cost_chart<'a>(costs: impl Iterator<Item = &'a CostSlice>) -> String {
    let mut models: BTreeMap<&str, u64> = BTreeMap::new();
    let mut sums: BTreeMap<(i64, &str), u64> = BTreeMap::new();
    for cost in costs {
        let micros = cost.micros.filter(|micros| *micros > 0);
        if let Some((quarter, micros)) = cost.quarter.zip(micros) {
            *models.entry(&cost.model).or_default() += micros;
            *sums.entry((quarter, &cost.model)).or_default() += micros;
        }
    }
    if sums.is_empty() {
        return String::new();
    }
    let mut ranked: Vec<&str> = models.keys().copied().collect();
    ranked.sort_by_key(|model| std::cmp::Reverse(models[model]));
    let rank_of = |model: &str| {
        let rank = ranked.iter().position(|known| *known == model);
        rank.unwrap_or(MAX_MODELS).min(MAX_MODELS)
    };
    let sums = sums.iter();
    let mut chart = Chart {
        costs: sums
            .map(|((quarter, model), micros)| (*quarter, rank_of(model), *micros))
            .collect(),
        models: ranked,
    };
    if chart.models.len() > MAX_MODELS {
        chart.models.truncate(MAX_MODELS);
        chart.models.push("others");
    }
    // Strings and numbers always serialize.
    let data = serde_json::to_string(&chart).unwrap_or_default();
    format!("<figure data-costs=\"{}\"></figure>\n", escape_line(&data))
}

/// Formats millionths of a dollar.
#[expect(
    clippy::cast_precision_loss,
    reason = "cents of a sum below 90 billion dollars are exact"
)]
pub(super) fn format_cost(micros: u64) -> String {
    format_dollars(micros as f64 / 1e6)
}

#[cfg(test)]
mod chart_tests {
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
            // Neither is drawn.
            cost(1, "free", 0),
            CostSlice::default(),
        ];
        let expected = r#"<figure data-costs="{&quot;models&quot;:[&quot;a&lt;b&gt;\&quot;&quot;,&quot;c&quot;],"#.to_owned()
            + r#"&quot;costs&quot;:[[7,0,3],[7,1,5],[9,0,3]]}"></figure>"#;
        assert_eq!(cost_chart(costs.iter()).trim_end(), expected);
        assert_eq!(cost_chart(std::iter::empty()), "");
        let unknown = CostSlice {
            micros: None,
            is_partial: true,
            ..cost(7, "a", 0)
        };
        let spent = |costs: &[&CostSlice]| Sum::from_costs(costs.iter().copied()).format_cost();
        assert_eq!(spent(&[]), "-");
        assert_eq!(spent(&[&unknown]), "?");
        assert_eq!(spent(&[&unknown, &cost(7, "a", 10_000)]), "$0.01+");
        let many: Vec<CostSlice> = (0..8).map(|at| cost(at, &at.to_string(), 9)).collect();
        let chart = cost_chart(many.iter());
        assert!(chart.contains("[4,4,9],[5,5,9],[6,5,9],[7,5,9]"), "{chart}");
        assert!(
            chart.contains("&quot;4&quot;,&quot;others&quot;]"),
            "{chart}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_session_never_becomes_markup() {
        let evil = "</script><img src=x onerror=alert(1)>\"'`![x](http://a) \u{202e}";
        let text = || Some(evil.to_owned());
        let row = IndexRow {
            agent: evil.to_owned(),
            title: text(),
            first_prompt: text(),
            directory: text(),
            branch: text(),
            model: text(),
            last_activity: text(),
            parent: None,
            costs: vec![CostSlice {
                quarter: Some(1_963_000),
                model: evil.to_owned(),
                replies: 1,
                micros: Some(5_000_000),
                is_partial: true,
            }],
        };
        let subagent = IndexRow {
            parent: Some("a.html".to_owned()),
            ..row.clone()
        };
        let page = html_index(&[("a.html", &row), ("b.html", &subagent)], "0a 0\n");
        assert_eq!(page.matches("href=\"b.html\"").count(), 1, "{page}");
        assert_eq!(page.matches("<script").count(), 2, "{page}");
        assert_eq!(page.matches("</script").count(), 2, "{page}");
        assert!(
            !page.contains("<img") && !page.contains('\u{202e}'),
            "{page}"
        );
        let page = markdown_index(&[("a.html", &row), ("b.html", &subagent)]);
        assert!(page.contains("\\</script\\>\\<img"), "{page}");
        assert!(page.contains("\\!\\[x\\](http"), "{page}");
    }

    #[test]
    fn the_policy_allows_this_script_and_this_style_only() {
        let page = html_index(&[], "");
        let between = |start: &str, end: &str| {
            let (_, rest) = page.split_once(start).unwrap();
            rest.split_once(end).unwrap().0.to_owned()
        };
        let policy = between("Content-Security-Policy\" content=\"", "\"");
        assert_eq!(
            policy,
            format!(
                "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {}; script-src {}",
                source_of(&between("<style>", "</style>")),
                source_of(&between("<script>", "</script>")),
            )
        );
    }
}
