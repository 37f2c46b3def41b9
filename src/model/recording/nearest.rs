//! Search for the recorded request most similar to an unrecorded one.

use std::fmt::Write;

use similar::TextDiff;

use super::exchange_record::ExchangeRecord;
use crate::http::Outgoing;

/// Maximum number of exchanges compared.
const MAX_COMPARED: usize = 200;

/// Maximum number of diff lines shown.
const MAX_DIFF_LINES: usize = 60;

/// Returns a one-line description of the difference to the nearest recorded request, and the diff.
/// `forms` are the possible bodies of the request.
pub(super) fn nearest(exchanges: &[ExchangeRecord], forms: &[Outgoing]) -> (String, String) {
    let mut best: Option<(f32, String, String)> = None;
    for form in forms {
        let wanted = pretty(&form.redaction().clean_record(&form.body));
        for exchange in exchanges.iter().take(MAX_COMPARED) {
            let recorded = pretty(exchange.request.get());
            let diff = TextDiff::from_lines(&recorded, &wanted);
            let ratio = diff.ratio();
            if best.as_ref().is_some_and(|(known, ..)| *known >= ratio) {
                continue;
            }
            let redaction = form.redaction();
            let url = redaction.clean_record(&form.address.to_string());
            let mut shown = String::new();
            if url != exchange.url {
                // Writing to a string cannot fail.
                let _ = writeln!(shown, "-{}\n+{url}", exchange.url);
            }
            let mut unified = diff.unified_diff();
            shown.push_str(
                &unified
                    .context_radius(1)
                    .header("recorded", "asked")
                    .to_string(),
            );
            let changed = shown
                .lines()
                .filter(|line| line.starts_with(['+', '-']) && !is_header(line))
                .count();
            let reason = if changed == 0 {
                "the same request, with other blanks".to_owned()
            } else {
                format!("the nearest request differs in {changed} lines")
            };
            let lines: Vec<&str> = shown.lines().take(MAX_DIFF_LINES).collect();
            best = Some((ratio, reason, lines.join("\n")));
        }
    }
    match best {
        Some((_, reason, difference)) => (reason, difference),
        None => ("it holds no request like it".to_owned(), String::new()),
    }
}

fn is_header(line: &str) -> bool {
    line.starts_with("--- ") || line.starts_with("+++ ")
}

/// Formats a body with one value per line.
fn pretty(body: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(body);
    value
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| body.to_owned())
}
