//! Values of variables that are known from the text of a command line.

use std::ops::Range;

use super::parts::{CommandPart, PartWord};
use super::verdict::is_one_of;
use super::word::{Word, WordPiece, alternatives, substitute, without_brackets, without_value};

/// Maximum number of values per variable.
const MAX_VALUES: usize = 64;

/// Maximum nesting depth of variables in values.
const MAX_DEPTH: usize = 4;

/// Commands that may set variables not named in their words, or run such commands.
const SET_ANY: &str = ". alias bind coproc declare enable eval let local source trap typeset";

/// Commands that set the variables named in their words.
const SET_NAMED: &str = "export getopts mapfile printf read readarray readonly unset wait";

/// All assignments of a command line.
#[derive(Debug, Default)]
pub(super) struct Bindings(Vec<Binding>);

#[derive(Debug)]
struct Binding {
    name: String,
    values: Vec<Vec<WordPiece>>,
    /// Byte range where the variable certainly has one of the known values.
    scope: Range<usize>,
    /// Whether the values are words of a list, which are split and expanded.
    is_list: bool,
}

/// The variable with the working directory, which is `.` at the start of a name.
const DIRECTORY: &str = "PWD";

impl Bindings {
    /// Records possible values of a variable, which certainly has a known value in `scope`. Values
    /// of a list are split.
    pub(super) fn bind(&mut self, name: &str, values: &[Word], scope: Range<usize>, is_list: bool) {
        let pieces = |word: &Word| match word.literal() {
            Some(text) => vec![WordPiece::Text(text.to_owned())],
            None => without_brackets(&word.pieces),
        };
        let values = values.iter().map(pieces);
        let values = values
            .flat_map(|pieces| alternatives(&pieces))
            .take(MAX_VALUES + 1);
        self.0.push(Binding {
            name: name.to_owned(),
            values: values.collect(),
            scope,
            is_list,
        });
    }

    /// Returns the variables that the command line sets, as `$NAME`.
    pub(super) fn names(&self, parts: &[CommandPart]) -> Vec<String> {
        let read = parts.iter().filter(|part| part.program() == Some("read"));
        let read = read.flat_map(|part| &part.words).map(PartWord::known_value);
        let names = self.0.iter().map(|binding| binding.name.as_str());
        names.chain(read).map(|name| format!("${name}")).collect()
    }

    /// Replaces variables by their values, where known, in the commands of `text`.
    pub(super) fn resolve(mut self, text: &str, parts: &mut [CommandPart]) {
        let is_only_read = |(at, _)| {
            text.get(..at)
                .is_some_and(|before| before.ends_with(['$', '{']))
        };
        if text.contains("$PWD") && text.match_indices(DIRECTORY).all(is_only_read) {
            self.0.push(Binding {
                name: DIRECTORY.to_owned(),
                values: vec![vec![WordPiece::Text(".".to_owned())]],
                scope: 0..text.len(),
                is_list: false,
            });
        }
        let unknown = if self.0.is_empty() {
            None
        } else {
            set_otherwise(parts)
        };
        for part in parts {
            let assigned = part
                .assignments
                .iter_mut()
                .map(|assignment| &mut assignment.word);
            let files = part.reads.iter_mut().chain(&mut part.writes);
            for word in part.words.iter_mut().chain(files).chain(assigned) {
                if word.pieces.iter().any(is_variable) {
                    word.pieces = match &unknown {
                        Some(unknown) => self.resolved(word, unknown),
                        None => word.pieces.iter().map(without_value).collect(),
                    };
                }
            }
        }
    }

    fn resolved(&self, word: &PartWord, unknown: &[String]) -> Vec<WordPiece> {
        let at = word.span.start;
        let is_alone = word.pieces.len() == 1;
        let pieces = word.pieces.iter().enumerate();
        pieces
            .map(|(index, piece)| {
                let WordPiece::Variable { is_quoted, .. } = piece else {
                    return piece.clone();
                };
                // Elsewhere, as in `/$PWD`, the working directory is not `.`.
                let begins =
                    index == 0 || word.text.starts_with('-') && ends_name(&word.pieces[index - 1]);
                let next = word.pieces.get(index + 1);
                let ends = next.is_none_or(
                    |next| matches!(next, WordPiece::Text(text) if text.starts_with('/')),
                );
                let begins = begins && ends;
                let values = self.values(piece, at, unknown, MAX_DEPTH);
                let Some(values) = values.filter(|_| begins || !is_directory(piece)) else {
                    return without_value(piece);
                };
                if *is_quoted {
                    return WordPiece::OneOf(values);
                }
                split(values, is_alone).map_or(WordPiece::Unknown, WordPiece::OneOf)
            })
            .collect()
    }

    /// Returns the possible values of a variable at byte `at`.
    fn values(
        &self,
        piece: &WordPiece,
        at: usize,
        unknown: &[String],
        depth: usize,
    ) -> Option<Vec<Vec<WordPiece>>> {
        let WordPiece::Variable { name, operator, .. } = piece else {
            return None;
        };
        let bound = || self.0.iter().filter(|binding| binding.name == *name);
        let is_certain = bound().any(|binding| binding.scope.contains(&at));
        let is_inside = name == DIRECTORY && (depth < MAX_DEPTH || !operator.is_empty());
        if !is_certain || depth == 0 || is_inside || unknown.contains(name) {
            return None;
        }
        let mut values = Vec::new();
        for binding in bound() {
            let at = binding.scope.start.saturating_sub(1);
            for value in &binding.values {
                let mut resolved = Vec::new();
                for piece in value {
                    match self.values(piece, at, unknown, depth - 1) {
                        Some(inner) if binding.is_list && !is_quoted(piece) => {
                            let words = split(inner, value.len() == 1);
                            resolved.push(words.map_or(WordPiece::Unknown, WordPiece::OneOf));
                        }
                        Some(inner) => resolved.push(WordPiece::OneOf(inner)),
                        None => resolved.push(without_value(piece)),
                    }
                }
                values.extend(operated(resolved, operator));
            }
        }
        (values.len() <= MAX_VALUES).then_some(values)
    }
}

/// Returns the variables that commands set in other ways; `None` if they may set any.
fn set_otherwise(parts: &[CommandPart]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for level in parts.iter().flat_map(CommandPart::levels) {
        let Some((first, arguments)) = level.words.split_first() else {
            continue;
        };
        let program = first.value.as_deref()?;
        if is_one_of(SET_ANY, program) {
            return None;
        }
        if is_one_of(SET_NAMED, program) && (program != "printf" || level.words.len() > 2) {
            let sets = |word: &PartWord| {
                word.value
                    .as_deref()
                    .is_some_and(|word| word.starts_with("-v"))
            };
            if program == "printf" && !arguments.iter().any(sets) {
                continue;
            }
            for word in arguments {
                let name = word.value.as_deref()?;
                names.push(name.split('=').next().unwrap_or_default().to_owned());
            }
        }
    }
    Some(names)
}

fn is_quoted(piece: &WordPiece) -> bool {
    matches!(
        piece,
        WordPiece::Variable {
            is_quoted: true,
            ..
        }
    )
}

/// Whether a piece is the working directory.
fn is_directory(piece: &WordPiece) -> bool {
    matches!(piece, WordPiece::Variable { name, .. } if name == DIRECTORY)
}

/// Whether a piece ends with the sign between an option and its value.
fn ends_name(piece: &WordPiece) -> bool {
    matches!(piece, WordPiece::Text(text) if text.ends_with('='))
}

fn is_variable(piece: &WordPiece) -> bool {
    matches!(piece, WordPiece::Variable { .. })
}

/// Returns the words that unquoted values expand to, if known.
fn split(values: Vec<Vec<WordPiece>>, is_alone: bool) -> Option<Vec<Vec<WordPiece>>> {
    let mut words = Vec::new();
    for value in values {
        if let [WordPiece::Text(text)] = value.as_slice() {
            let is_split = text.contains(char::is_whitespace);
            if text.contains(['*', '?', '[', '\\']) || (is_split && !is_alone) {
                return None;
            }
            if is_split {
                let fields = text.split_whitespace();
                words.extend(fields.map(|field| vec![WordPiece::Text(field.to_owned())]));
            }
        }
        words.push(value);
    }
    Some(words)
}

/// Applies the operator of `${NAME…}`, the text after the name, to a value.
fn operated(mut value: Vec<WordPiece>, operator: &str) -> Vec<Vec<WordPiece>> {
    if operator.is_empty() {
        return vec![value];
    }
    let is_plain = |text: &str| !text.contains(['*', '?', '[', '\\', '$', '\'', '"', '`', '(']);
    if let Some(text) = substitute(operator) {
        return vec![value, vec![WordPiece::Text(text)]];
    }
    let suffix = operator.trim_start_matches('%');
    if operator.starts_with('%')
        && is_plain(suffix)
        && let Some(WordPiece::Text(text)) = value.last_mut()
    {
        if let Some(kept) = text.strip_suffix(suffix) {
            *text = kept.to_owned();
            return vec![value];
        }
        if !suffix.ends_with(text.as_str()) {
            return vec![value];
        }
    }
    let is_in_one_name = |piece: &WordPiece| matches!(piece, WordPiece::Text(_) | WordPiece::Glob);
    if operator == "##*/" && value.iter().all(is_in_one_name) {
        let slash = value
            .iter()
            .rposition(|piece| matches!(piece, WordPiece::Text(text) if text.contains('/')));
        if let Some(at) = slash {
            value.drain(..at);
            if let Some(WordPiece::Text(text)) = value.first_mut()
                && let Some((_, name)) = text.rsplit_once('/')
            {
                *text = name.to_owned();
            }
        }
        return vec![value];
    }
    vec![vec![WordPiece::Unknown]]
}
