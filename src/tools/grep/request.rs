//! What a call asks for, checked and made ready.

use std::path::{Path, PathBuf};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use serde::Deserialize;

use super::super::walk::Filters;
use super::super::{Input, InvalidInput, ToolContext, arguments, paths};

/// Entries of a result when the call does not say.
const DEFAULT_HEAD: usize = 250;

/// No regular expression may take more memory than this, compiled or cached, in bytes.
const REGEX_BYTES: usize = 64 << 20;

#[derive(Debug, Deserialize)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    output_mode: OutputMode,
    #[serde(rename = "-A", default, deserialize_with = "arguments::whole_number")]
    after: Option<u64>,
    #[serde(rename = "-B", default, deserialize_with = "arguments::whole_number")]
    before: Option<u64>,
    #[serde(rename = "-C", default, deserialize_with = "arguments::whole_number")]
    around: Option<u64>,
    #[serde(default, deserialize_with = "arguments::whole_number")]
    context: Option<u64>,
    #[serde(rename = "-n")]
    numbers: Option<bool>,
    #[serde(rename = "-i", default)]
    ignore_case: bool,
    #[serde(rename = "-o", default)]
    only_matching: bool,
    #[serde(rename = "type")]
    file_type: Option<String>,
    #[serde(default, deserialize_with = "arguments::whole_number")]
    head_limit: Option<u64>,
    #[serde(default, deserialize_with = "arguments::whole_number")]
    offset: Option<u64>,
    #[serde(default)]
    multiline: bool,
}

/// What is listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OutputMode {
    /// Matching lines with their context.
    Content,
    /// Files that have a match.
    #[default]
    FilesWithMatches,
    /// Files with their numbers of matches.
    Count,
}

/// A checked request.
#[derive(Debug)]
pub(super) struct Request {
    /// File or directory to search, absolute.
    pub(super) root: PathBuf,
    pub(super) mode: OutputMode,
    pub(super) matcher: RegexMatcher,
    pub(super) filters: Filters,
    pub(super) style: Style,
    pub(super) bounds: Bounds,
}

/// How matches are found and shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) numbers: LineNumbers,
    pub(super) unit: Unit,
    pub(super) span: Span,
}

/// Whether lines are shown with their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineNumbers {
    Shown,
    Hidden,
}

/// What of a matching line is shown and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Lines,
    Matches,
}

/// Whether a match may reach over line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    OneLine,
    ManyLines,
}

/// Which of the entries are given out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Entries to leave out at the beginning.
    pub(super) offset: usize,
    /// Entries to give out; `None` for all.
    pub(super) limit: Option<usize>,
}

impl Bounds {
    /// How many entries, from the first one, have to be known.
    pub(super) fn end(self) -> usize {
        self.limit
            .map_or(usize::MAX, |limit| self.offset.saturating_add(limit))
    }

    /// The part of all `entries` that is given out.
    pub(super) fn part<Entry>(self, entries: Vec<Entry>) -> Vec<Entry> {
        let limit = self.limit.unwrap_or(usize::MAX);
        entries.into_iter().skip(self.offset).take(limit).collect()
    }
}

impl Request {
    /// Checks a call's arguments.
    pub(super) fn new(input: &Input, context: &ToolContext) -> Result<Self, InvalidInput> {
        let arguments: Arguments = arguments::parse(input)?;
        let root = match &arguments.path {
            Some(path) => paths::absolute(path, context),
            None => context.directory.clone(),
        };
        let style = style(&arguments);
        Ok(Self {
            matcher: matcher(&arguments, style.span)?,
            filters: Filters {
                globs: globs(arguments.glob.as_deref(), &root, &context.directory)?,
                types: types(arguments.file_type.as_deref())?,
            },
            mode: arguments.output_mode,
            style,
            bounds: Bounds {
                offset: size(arguments.offset.unwrap_or(0)),
                limit: match arguments.head_limit {
                    None => Some(DEFAULT_HEAD),
                    Some(0) => None,
                    Some(limit) => Some(size(limit)),
                },
            },
            root,
        })
    }
}

/// A number that only serves as a bound: beyond what there can be, all are alike.
fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn style(arguments: &Arguments) -> Style {
    let around = arguments.context.or(arguments.around);
    let (before, after) = match (arguments.output_mode, arguments.only_matching) {
        (OutputMode::Content, false) => (
            around.or(arguments.before).unwrap_or(0),
            around.or(arguments.after).unwrap_or(0),
        ),
        (OutputMode::Content, true) | (OutputMode::FilesWithMatches | OutputMode::Count, _) => {
            (0, 0)
        }
    };
    Style {
        before: size(before),
        after: size(after),
        numbers: match arguments.numbers {
            None | Some(true) => LineNumbers::Shown,
            Some(false) => LineNumbers::Hidden,
        },
        unit: if arguments.only_matching {
            Unit::Matches
        } else {
            Unit::Lines
        },
        span: if arguments.multiline {
            Span::ManyLines
        } else {
            Span::OneLine
        },
    }
}

fn matcher(arguments: &Arguments, span: Span) -> Result<RegexMatcher, InvalidInput> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(arguments.ignore_case)
        .multi_line(true)
        // `$` also stands before the CR of a CRLF.
        .crlf(true)
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(REGEX_BYTES);
    match span {
        Span::ManyLines => builder.dot_matches_new_line(true).line_terminator(None),
        Span::OneLine => builder.line_terminator(Some(b'\n')),
    };
    builder.build(&arguments.pattern).map_err(|error| {
        let text = error.to_string();
        // The syntax errors of the regex crate draw the pattern over several lines; the last one
        // says what is wrong.
        let reason = text
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or(&text);
        let reason = reason.trim_start_matches("error: ");
        let hint = match span {
            Span::OneLine if text.contains("\"\\n\" is not allowed") => {
                "; set multiline to match over line ends"
            }
            Span::OneLine | Span::ManyLines => "",
        };
        InvalidInput(format!("invalid regular expression: {reason}{hint}"))
    })
}

/// Globs have the meaning of `rg --glob`: relative to the working directory if the search is below
/// it.
fn globs(text: Option<&str>, root: &Path, directory: &Path) -> Result<Override, InvalidInput> {
    let Some(text) = text else {
        return Ok(Override::empty());
    };
    let invalid = |error| InvalidInput(format!("invalid glob: {error}"));
    let base = if root.starts_with(directory) {
        directory
    } else {
        root
    };
    let mut builder = OverrideBuilder::new(base);
    for glob in split_globs(text) {
        builder.add(glob).map_err(invalid)?;
    }
    builder.build().map_err(invalid)
}

/// Several globs may stand in one string, divided by blanks, or by commas outside of braces.
fn split_globs(text: &str) -> Vec<&str> {
    let mut globs = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                globs.push(&text[start..at]);
                start = at + 1;
            }
            _ if character.is_whitespace() && depth == 0 => {
                globs.push(&text[start..at]);
                start = at + character.len_utf8();
            }
            _ => {}
        }
    }
    globs.push(&text[start..]);
    globs.retain(|glob| !glob.is_empty());
    globs
}

fn types(name: Option<&str>) -> Result<Types, InvalidInput> {
    let Some(name) = name else {
        return Ok(Types::empty());
    };
    let mut builder = TypesBuilder::new();
    builder.add_defaults().select(name);
    builder.build().map_err(|_| {
        InvalidInput(format!(
            "unknown file type: {name}; use glob instead, e.g. *.{name}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_split_outside_of_braces() {
        let table: [(&str, &[&str]); 5] = [
            ("*.rs", &["*.rs"]),
            ("*.{ts,tsx}", &["*.{ts,tsx}"]),
            ("*.ts, *.js", &["*.ts", "*.js"]),
            ("*.{a, b} !x/**", &["*.{a, b}", "!x/**"]),
            (" , ", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(split_globs(text), expected, "{text}");
        }
    }
}
