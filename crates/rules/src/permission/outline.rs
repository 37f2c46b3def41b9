//! Words before the command runs: their known values, and what programs replace or expand.

use super::path_context::PathContext;
use super::programs;
use super::wildcard::{GAP, GLOB};
use crate::shell::{PartWord, WordPiece};

/// Maximum number of values per word.
const MAX_VALUES: usize = 64;

/// Maximum number of option letters in one word that a value may follow.
const MAX_LETTERS: usize = 255;

/// Returns the possible values of a word, with [`GAP`] or [`GLOB`] for parts known only at run
/// time.
pub(super) fn outlines(word: &PartWord, context: &PathContext<'_>) -> Vec<String> {
    if let Some(value) = &word.value {
        // `curl` decodes such an address, expands globs in it, and removes what follows the name.
        let is_coded = value.contains(['%', '[', '{', '?', '#'])
            && value.to_ascii_lowercase().contains("file:");
        // It may also be code that mentions one.
        let decoded = is_coded.then(|| GAP.to_string());
        return decoded.into_iter().chain([value.clone()]).collect();
    }
    if context.ignores_case() && word.pieces.contains(&WordPiece::Glob) {
        return vec![GAP.to_string()];
    }
    filled(&word.pieces, context)
        .filter(|values| !values.is_empty())
        .unwrap_or_else(|| vec![GAP.to_string()])
}

/// Returns the value of a word, with gaps; a word with several possible values is one gap.
pub(super) fn outline(word: &PartWord, context: &PathContext<'_>) -> String {
    match outlines(word, context).as_slice() {
        [one] => one.clone(),
        _ => GAP.to_string(),
    }
}

fn filled(pieces: &[WordPiece], context: &PathContext<'_>) -> Option<Vec<String>> {
    let mut values = vec![String::new()];
    for (index, piece) in pieces.iter().enumerate() {
        let added = match piece {
            WordPiece::Text(text) => vec![text.clone()],
            WordPiece::Brace(letter) => vec![letter.to_string()],
            WordPiece::Bracket => vec!["[".to_owned()],
            WordPiece::Glob if context.finds_hidden() => vec![GAP.to_string()],
            WordPiece::Glob => vec![GLOB.to_string()],
            WordPiece::Home => {
                let is_own = match pieces.get(index + 1) {
                    None => true,
                    Some(WordPiece::Text(next)) => next.starts_with('/'),
                    Some(_) => false,
                };
                let home = context.home().filter(|_| is_own);
                vec![home.map_or(GAP.to_string(), |home| home.to_string_lossy().into_owned())]
            }
            WordPiece::Unknown => vec![GAP.to_string()],
            WordPiece::OneOf(alternatives) => {
                let mut all = Vec::new();
                for pieces in alternatives {
                    all.extend(filled(pieces, context)?);
                }
                all
            }
        };
        let joined = values
            .iter()
            .flat_map(|value| added.iter().map(move |added| format!("{value}{added}")));
        values = joined.take(MAX_VALUES + 1).collect();
        if values.len() > MAX_VALUES {
            return None;
        }
    }
    values.sort_unstable();
    values.dedup();
    Some(values)
}

/// Returns the parts of a word that may name a file: the whole word, and the text after option
/// letters, `=`, `@`, `:`, `,`, `)`, `{` or `//`, to the end or the next sign.
pub(super) fn names_in<'a>(word: &'a str) -> impl Iterator<Item = &'a str> {
    let behind_sign = word
        .match_indices(['=', '@', ':', ')', ',', '{'])
        .filter_map(|(at, _)| word.get(at + 1..));
    let letters = word.strip_prefix(['-', '+']).unwrap_or_default();
    let count = letters.bytes().take_while(u8::is_ascii_alphabetic).count();
    let behind_letters = (1..=count.min(MAX_LETTERS)).filter_map(|at| letters.get(at..));
    let digits = letters.get(count..).unwrap_or_default();
    let behind_digits = digits.trim_start_matches(|letter: char| letter.is_ascii_digit());

    let behind_scheme = word.match_indices("//").flat_map(|(at, _)| {
        let rest = &word[at + 2..];
        let is_file = word[..at].to_ascii_lowercase().ends_with("file:");
        let behind_host = rest.find('/').filter(|_| is_file).map(|host| &rest[host..]);
        // `wget -nH --cut-dirs=1 http://x/y/z`, `curl -OJ http://x/y?z`
        let is_url = word[..at].ends_with(':');
        let path = rest.split(GLOB).next().unwrap_or_default();
        let ends = path.match_indices('/').filter(move |_| is_url);
        let saved = ends.filter_map(|(at, _)| path.get(at + 1..));
        std::iter::once(rest).chain(behind_host).chain(saved)
    });
    let names = std::iter::once(word)
        .chain(behind_sign)
        .chain(behind_scheme)
        .chain(behind_letters)
        .chain(Some(behind_digits));
    // `-v ./x:/y`, `file:///x?y`
    let before_sign = |name: &'a str| {
        let (before, _) = name.split_once([':', ',', '?', '#', '}'])?;
        (!before.contains([' ', GAP])).then_some(before)
    };
    names
        .flat_map(move |name| [Some(name), before_sign(name)])
        .flatten()
        .filter(|name| !name.is_empty())
}

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
    let program = programs::name(first.known_value());
    if !programs::REPLACES.contains(program) {
        return words;
    }
    let is_parallel = program == "parallel";
    let mut placeholders = vec!["{}".to_owned()];
    let names_placeholder = matches!(program, "xargs" | "parallel");
    for (index, word) in arguments.iter().enumerate().filter(|_| names_placeholder) {
        let value = word.known_value();
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
        .is_some_and(|word| programs::name(word.known_value()) == "git");
    if !is_git {
        return words;
    }
    let dashes = words.iter().position(|word| is(word, "--"));
    let searches = words.iter().position(|word| is(word, "grep"));
    // The first operand of `grep` is a pattern.
    let is_operand = |at: &usize| !words[*at].text.starts_with('-');
    let pattern = searches.and_then(|grep| (grep + 1..words.len()).find(is_operand));
    let first = dashes.unwrap_or_else(|| pattern.map_or(1, |pattern| pattern + 1));
    for word in words.iter_mut().skip(1) {
        // `:/x` and `:(top)x` are at the top of the work tree.
        let below = word.value.as_deref().and_then(|value| {
            let magic = value
                .strip_prefix(":(")
                .and_then(|rest| rest.split_once(')'));
            value.strip_prefix(":/").or(magic.map(|(_, below)| below))
        });
        if let Some(below) = below.map(|below| format!("/{}", below.trim_start_matches('/'))) {
            word.value = None;
            word.pieces = std::iter::once(WordPiece::Unknown)
                .chain(glob_pieces(&below))
                .collect();
        }
    }
    for word in words.iter_mut().skip(first) {
        if let Some(value) = word
            .value
            .take_if(|value| !value.starts_with('-') && value.contains(['*', '?', '[', '(', '\\']))
        {
            word.pieces = glob_pieces(&value);
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
