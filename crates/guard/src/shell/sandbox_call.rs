//! A command line that runs another one in a sandbox: `turnpipe sandbox -- bash -c 'make'`.

use std::path::Path;

use super::analysis::analyse;

/// Returns the command line that a command line runs with `turnpipe sandbox`. `None` unless it is nothing but that call.
pub fn inside_sandbox(line: &str) -> Option<String> {
    // Most lines are not parsed.
    if !line.contains("turnpipe") {
        return None;
    }
    let read = analyse(line).line;
    let parts = read.all_commands()?;
    let [call] = parts else {
        return None;
    };
    let values: Vec<Option<&str>> = call
        .words
        .iter()
        .map(|word| word.value.as_deref())
        .collect();
    let end = values.iter().position(|value| *value == Some("--"))?;
    let is_known = values.iter().take(end).all(Option::is_some);
    let [Some(program), Some("sandbox"), ..] = *values.as_slice() else {
        return None;
    };
    let is_alone = call.assignments.is_empty() && call.span == (0..line.trim_end().len());
    if !is_known || !is_alone || !Path::new(program).ends_with("turnpipe") {
        return None;
    }
    match values.get(end + 1..)? {
        [Some("bash"), Some("-c"), script] => script.map(str::to_owned),
        _ => Some(
            line.get(call.words.get(end + 1)?.span.start..call.span.end)?
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_a_line_that_is_one_sandbox_has_another_inside() {
        let rows = include_str!("../../../../tests/data/shell/in_sandbox.tsv").lines();
        for row in rows.filter(|row| !row.starts_with('#')) {
            let (line, expected) = row.split_once('\t').unwrap();
            let inside = super::inside_sandbox(line).unwrap_or_default();
            assert_eq!(inside, expected, "{line}");
        }
    }
}
