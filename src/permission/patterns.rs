//! Words that programs replace or expand: placeholders such as `{}`, names that `find` finds, and
//! pathspecs of git.

use super::programs;
use crate::shell::{PartWord, WordPiece};

/// Returns the pattern of file names that `find` prints: unknown unless it has one `-name`.
pub(super) fn found_by(words: &[PartWord]) -> Vec<WordPiece> {
    /// With these options it may find other names or print other text.
    const OTHERWISE: &[&str] = &["-o", "-or", ",", "!", "-not", "-printf", "-files0-from"];
    let values: Vec<&str> = words
        .iter()
        .map(|word| word.value.as_deref().unwrap_or("!"))
        .collect();
    let name = values.iter().position(|value| *value == "-name");
    let pattern = name
        .and_then(|at| values.get(at + 1))
        .copied()
        .unwrap_or_default();
    let is_find = values
        .first()
        .is_some_and(|program| programs::name(program) == "find");
    let is_odd = values.iter().any(|value| OTHERWISE.contains(value)) || pattern.contains('\\');
    let mut pieces = vec![WordPiece::Unknown];
    if is_find && name.is_some() && !is_odd {
        let begins = |text: &&&str| text.starts_with(['-', '(']);
        let is_link_option = |text: &&&str| matches!(**text, "-L" | "-H" | "-P");
        let arguments = values.iter().skip(1).skip_while(is_link_option);
        let operands: Vec<&str> = (arguments.take_while(|text| !begins(text)))
            .copied()
            .collect();
        pieces = if operands.is_empty() {
            vec![WordPiece::Unknown, WordPiece::Text("/".to_owned())]
        } else {
            let below = |operand: &&str| vec![WordPiece::Text(format!("{operand}/"))];
            let below = operands.iter().map(below).collect();
            vec![WordPiece::OneOf(below), WordPiece::Unknown]
        };
        pieces.extend(glob_pieces(pattern));
    }
    pieces
}

/// Replaces the placeholders of `find`, `xargs` and others with the found names or unknown text.
pub(super) fn with_placeholders(mut words: Vec<PartWord>) -> Vec<PartWord> {
    let found = found_by(&words);
    let Some((first, arguments)) = words.split_first_mut() else {
        return words;
    };
    let program = programs::name(first.value.as_deref().unwrap_or_default());
    if !programs::REPLACES.contains(program) {
        return words;
    }
    let is_parallel = program == "parallel";
    let mut placeholders = vec!["{}".to_owned()];
    for (index, word) in arguments.iter().enumerate() {
        let value = word.value.as_deref().unwrap_or_default();
        let next = arguments.get(index + 1).and_then(|next| next.value.clone());
        match value.strip_prefix("-I").or(value.strip_prefix("-J")) {
            Some("") => placeholders.extend(next),
            Some(placeholder) => placeholders.push(placeholder.to_owned()),
            None => {
                let replaced = value
                    .strip_prefix("-i")
                    .or(value.strip_prefix("--replace="));
                placeholders.extend(replaced.map(str::to_owned));
            }
        }
    }
    placeholders.retain(|placeholder| !placeholder.is_empty());
    for word in arguments {
        let Some(value) = word
            .value
            .as_deref()
            .filter(|value| !value.starts_with("-I"))
        else {
            continue;
        };
        if is_parallel && value.contains('{') {
            (word.value, word.pieces) = (None, vec![WordPiece::Unknown]);
            continue;
        }
        let placeholder = placeholders
            .iter()
            .find(|text| value.contains(text.as_str()));
        if let Some(placeholder) = placeholder {
            let mut pieces = Vec::new();
            for (index, text) in value.split(placeholder.as_str()).enumerate() {
                pieces.extend_from_slice(if index > 0 { &found } else { &[] });
                pieces.push(WordPiece::Text(text.to_owned()));
            }
            (word.value, word.pieces) = (None, pieces);
        }
    }
    words
}

/// Replaces wildcards in git's pathspecs with gaps.
pub(super) fn with_pathspecs(mut words: Vec<PartWord>) -> Vec<PartWord> {
    let is = |word: &PartWord, text: &str| word.value.as_deref() == Some(text);
    let is_git = words
        .first()
        .is_some_and(|word| programs::name(word.value.as_deref().unwrap_or_default()) == "git");
    if !is_git {
        return words;
    }
    let dashes = words.iter().position(|word| is(word, "--"));
    let searches = words.iter().any(|word| is(word, "grep"));
    let first = match dashes {
        Some(dashes) => dashes,
        None if searches => words.len(),
        None => 1,
    };
    for word in words.iter_mut().skip(first) {
        if let Some(value) = word
            .value
            .take_if(|value| !value.starts_with('-') && value.contains(['*', '?', '[', '(', '\\']))
        {
            // `:(icase)X`
            let is_any_case = value.contains("icase");
            word.pieces = glob_pieces(if is_any_case { "*" } else { &value });
        }
    }
    words
}

/// Parses a pattern that the program expands, not the shell.
fn glob_pieces(pattern: &str) -> Vec<WordPiece> {
    let mut pieces = Vec::new();
    for (index, text) in pattern.split(['*', '?', '\\']).enumerate() {
        pieces.extend((index > 0).then_some(WordPiece::Unknown));
        let (known, set) = text.split_at(text.find('[').unwrap_or(text.len()));
        pieces.push(WordPiece::Text(known.to_owned()));
        pieces.extend((!set.is_empty()).then_some(WordPiece::Unknown));
    }
    pieces
}
