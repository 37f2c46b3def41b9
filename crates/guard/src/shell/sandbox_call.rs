//! A command line that runs another one in a sandbox: `turnpipe sandbox -- bash -c 'make'`.

use std::path::Path;

use super::analysis::parse;

/// Parses a command line that only calls `turnpipe sandbox`. Returns the command line inside; `None` for another line.
pub fn parse_sandbox_call(line: &str) -> Option<String> {
    // Most lines are not parsed.
    let parsed = line.contains("turnpipe").then(|| parse(line))?;
    let [call] = parsed.all_commands()? else {
        return None;
    };
    let words = call.words.iter();
    let values: Vec<_> = words.map(|word| word.value.as_deref()).collect();
    let end = values.iter().position(|value| *value == Some("--"))?;
    let is_alone = call.assignments.is_empty() && call.span == (0..line.trim_end().len());
    let is_call = match values.get(..end)? {
        [Some(program), Some("sandbox"), options @ ..] => {
            Path::new(program).ends_with("turnpipe") && options.iter().all(Option::is_some)
        }
        _ => false,
    };
    let inner = (is_alone && is_call).then(|| values.get(end + 1..))??;
    if let [Some("bash"), Some("-c"), script] = inner {
        return script.map(str::to_owned);
    }
    let start = call.words.get(end + 1)?.span.start;
    line.get(start..call.span.end).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_a_line_that_is_one_sandbox_has_another_inside() {
        let rows = include_str!("../../../../tests/data/shell/in_sandbox.tsv").lines();
        for row in rows.filter(|row| !row.starts_with('#')) {
            let (line, expected) = row.split_once('\t').unwrap();
            let inside = super::parse_sandbox_call(line).unwrap_or_default();
            assert_eq!(inside, expected, "{line}");
        }
    }
}
