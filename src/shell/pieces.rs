//! Expansion of the pieces of a word: sets of characters, alternatives in braces, and unknown
//! variables.

use super::expansion::identifier_length;
use super::word::WordPiece;

/// Maximum number of words from one word with alternatives.
const MAX_ALTERNATIVES: usize = 64;

/// Parses `$NAME` or `${NAME…}`.
pub(super) fn variable(text: &str, is_quoted: bool) -> WordPiece {
    let inside = text.get(1..).unwrap_or_default();
    let inside = inside
        .strip_prefix('{')
        .and_then(|inside| inside.strip_suffix('}'))
        .unwrap_or(inside);
    let (name, operator) = inside.split_at(identifier_length(inside));
    if name.is_empty() {
        return WordPiece::Unknown;
    }
    WordPiece::Variable {
        name: name.to_owned(),
        operator: operator.to_owned(),
        is_quoted,
    }
}

/// Returns the piece without the values of variables, except the home directory.
pub(super) fn without_value(piece: &WordPiece) -> WordPiece {
    match piece {
        WordPiece::Variable { name, operator, .. } if name == "HOME" && operator.is_empty() => {
            WordPiece::Home
        }
        WordPiece::Variable { .. } => WordPiece::Unknown,
        piece => piece.clone(),
    }
}

/// Replaces every set of characters with a glob.
pub(super) fn without_brackets(pieces: &[WordPiece]) -> Vec<WordPiece> {
    let Some(at) = pieces.iter().position(|piece| *piece == WordPiece::Bracket) else {
        return pieces.to_vec();
    };
    let mut known = pieces[..at].to_vec();
    let rest = &pieces[at + 1..];
    let closes = |piece: &WordPiece| matches!(piece, WordPiece::Text(text) if text.contains(']'));
    match rest {
        [WordPiece::Text(text), others @ ..] if set_length(text).is_some() => {
            known.push(WordPiece::Glob);
            let length = set_length(text).unwrap_or_default();
            known.push(WordPiece::Text(text[length..].to_owned()));
            known.extend(without_brackets(others));
        }
        _ if rest.iter().any(closes) => known.push(WordPiece::Unknown),
        _ => {
            known.push(WordPiece::Text("[".to_owned()));
            known.extend(without_brackets(rest));
        }
    }
    known
}

/// Returns the length of a set of characters, given the text after its opening bracket.
fn set_length(text: &str) -> Option<usize> {
    let mut rest = text.strip_prefix(['!', '^']).unwrap_or(text);
    rest = rest.strip_prefix(']').unwrap_or(rest);
    loop {
        let at = rest.find([']', '['])?;
        let found = &rest[at..];
        if found.starts_with(']') {
            return Some(text.len() - found.len() + 1);
        }
        let class = ["[:", "[.", "[="].iter().find_map(|open| {
            let close = format!("{}]", &open[1..]);
            let inside = found.strip_prefix(open)?;
            Some(&inside[inside.find(&close)? + close.len()..])
        });
        rest = class.unwrap_or(&found[1..]);
    }
}

/// Returns the words that a word with alternatives in braces becomes.
pub(super) fn alternatives(pieces: &[WordPiece]) -> Vec<Vec<WordPiece>> {
    let brace = |wanted: char| move |piece: &WordPiece| *piece == WordPiece::Brace(wanted);
    let Some(open) = pieces.iter().position(brace('{')) else {
        return vec![pieces.iter().map(without_meaning).collect()];
    };
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    let mut close = None;
    for (index, piece) in pieces.iter().enumerate().skip(open) {
        match piece {
            WordPiece::Brace('{') => depth += 1,
            WordPiece::Brace(',') if depth == 1 => commas.push(index),
            WordPiece::Brace('}') if depth == 1 => {
                close = Some(index);
                break;
            }
            WordPiece::Brace('}') => depth -= 1,
            _ => {}
        }
    }
    let before = &pieces[..open];
    let (inside, after) = match close {
        Some(close) => (&pieces[open + 1..close], alternatives(&pieces[close + 1..])),
        None => (&pieces[open + 1..], vec![Vec::new()]),
    };
    let is_range =
        |piece: &WordPiece| matches!(piece, WordPiece::Text(text) if text.contains(".."));
    let inner: Vec<Vec<WordPiece>> =
        if close.is_none() || (commas.is_empty() && !inside.iter().any(is_range)) {
            // These braces are literal.
            let closing = close.map_or("", |_| "}");
            let wrap = |mut inner: Vec<WordPiece>| {
                inner.insert(0, WordPiece::Text("{".to_owned()));
                inner.push(WordPiece::Text(closing.to_owned()));
                inner
            };
            alternatives(inside).into_iter().map(wrap).collect()
        } else if commas.is_empty() {
            vec![vec![WordPiece::Unknown]]
        } else {
            let ends = commas.iter().copied().chain(close);
            let starts = std::iter::once(open).chain(commas.iter().copied());
            let lists = starts.zip(ends).map(|(start, end)| &pieces[start + 1..end]);
            lists.flat_map(alternatives).collect()
        };
    if inner.len() * after.len() > MAX_ALTERNATIVES {
        return vec![vec![WordPiece::Unknown]];
    }
    let before: Vec<WordPiece> = before.iter().map(without_meaning).collect();
    let joined = inner.iter().flat_map(|inner| {
        let before = &before;
        after
            .iter()
            .map(move |after| [before, inner, after].map(Vec::as_slice).concat())
    });
    joined.collect()
}

/// Replaces a brace or comma outside of alternatives with text.
fn without_meaning(piece: &WordPiece) -> WordPiece {
    match piece {
        WordPiece::Brace(letter) => WordPiece::Text(letter.to_string()),
        piece => piece.clone(),
    }
}
