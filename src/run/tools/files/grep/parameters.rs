//! The validated parameters of a search.

use std::path::{Path, PathBuf};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::tools::builtin::{Parameters, WholeNumber};
use crate::run::tools::paths::path_or_current;
use crate::run::tools::{DecisionContext, InvalidInput, PreparedCall, ResultLimit};

/// Default number of entries in a result.
const DEFAULT_LIMIT: usize = 250;

/// Maximum memory of a compiled regular expression and of its cache, in bytes.
const MAX_REGEX_BYTES: usize = 64 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::run::tools) struct Grep {
    /// Regular expression to search for
    pattern: String,
    /// File or directory to search; the working directory if omitted
    #[schemars(length(min = 1))]
    path: Option<String>,
    /// Only files that match, e.g. *.js or *.{ts,tsx}
    glob: Option<String>,
    #[schemars(
        description = "Matching lines, names of files that have a match, or numbers of \
                              matches per file"
    )]
    #[serde(default)]
    output_mode: OutputMode,
    #[schemars(description = "Lines to show after each match; with output_mode content")]
    #[serde(rename = "-A")]
    after: Option<WholeNumber>,
    #[schemars(description = "Lines to show before each match; with output_mode content")]
    #[serde(rename = "-B")]
    before: Option<WholeNumber>,
    /// The same as context
    #[serde(rename = "-C")]
    around: Option<WholeNumber>,
    #[schemars(
        description = "Lines to show before and after each match; with output_mode content"
    )]
    context: Option<WholeNumber>,
    #[schemars(description = "Show line numbers; with output_mode content")]
    #[serde(rename = "-n", default = "default_line_numbers")]
    numbers: bool,
    /// Ignore case
    #[serde(rename = "-i", default)]
    ignore_case: bool,
    #[schemars(description = "Show only the matching parts of lines; with output_mode content")]
    #[serde(rename = "-o", default)]
    only_matching: bool,
    /// Only files of this type, e.g. js, py, rust, go, java
    #[serde(rename = "type")]
    file_type: Option<String>,
    /// Show only the first entries (lines, files or counts); 250 if omitted, 0 for all
    head_limit: Option<WholeNumber>,
    #[schemars(description = "Skip this many entries before head_limit is applied")]
    offset: Option<WholeNumber>,
    /// Let matches span lines, and . match line feeds
    #[serde(default)]
    multiline: bool,
}

/// The kind of entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum OutputMode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

fn default_line_numbers() -> bool {
    true
}

impl Parameters for Grep {
    const NAME: &'static str = "Grep";
    const DESCRIPTION: &'static str = "Searches the contents of files for a regular expression \
        (ripgrep syntax). Skips binary files and files that .gitignore names, but not hidden \
        files. Use it instead of grep or rg in a shell.";
    const RESULT_LIMIT: ResultLimit = ResultLimit::Characters(20_000);

    fn prepare(self) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        let limit = self
            .head_limit
            .map_or(DEFAULT_LIMIT, |limit| match limit.limit() {
                0 => usize::MAX,
                limit => limit,
            });
        let search = Search {
            matcher: build_matcher(&self)?,
            types: build_types(self.file_type.as_deref())?,
            style: build_style(&self),
            mode: self.output_mode,
            bounds: Bounds {
                offset: self.offset.map_or(0, WholeNumber::limit),
                limit,
            },
            path: self.path,
            glob: self.glob,
        };
        // The validity of globs does not depend on the directory.
        search
            .globs(Path::new("/"), Path::new("/"))
            .map_err(|error| InvalidInput(format!("invalid glob: {error}")))?;
        Ok(Box::new(search))
    }
}

/// A validated search.
#[derive(Debug)]
pub(super) struct Search {
    path: Option<String>,
    glob: Option<String>,
    pub(super) mode: OutputMode,
    pub(super) matcher: RegexMatcher,
    pub(super) types: Types,
    pub(super) style: Style,
    pub(super) bounds: Bounds,
}

impl Search {
    /// Returns the absolute path of the file or directory to search.
    pub(super) fn root(&self, context: &DecisionContext) -> PathBuf {
        path_or_current(self.path.as_deref(), context)
    }

    /// Builds the globs like `rg --glob`: relative to the working directory if it contains the searched
    /// directory.
    pub(super) fn globs(&self, root: &Path, directory: &Path) -> Result<Override, ignore::Error> {
        let base = if root.starts_with(directory) {
            directory
        } else {
            root
        };
        let mut builder = OverrideBuilder::new(base);
        for glob in split_globs(self.glob.as_deref().unwrap_or_default()) {
            builder.add(glob)?;
        }
        builder.build()
    }
}

/// Options of matching and output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) numbers: bool,
    pub(super) unit: Unit,
    /// Whether matches may span lines.
    pub(super) multiline: bool,
}

/// The unit that is shown and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Lines,
    Matches,
}

/// The page of entries to return.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The number of entries to skip.
    pub(super) offset: usize,
    /// The maximum number of entries; `usize::MAX` for all.
    pub(super) limit: usize,
}

impl Bounds {
    /// Returns the number of entries to find.
    pub(super) fn end(self) -> usize {
        self.offset.saturating_add(self.limit)
    }
}

fn build_style(parameters: &Grep) -> Style {
    let around = parameters.context.or(parameters.around);
    let has_context = parameters.output_mode == OutputMode::Content && !parameters.only_matching;
    let lines = |side: Option<WholeNumber>| {
        let count = around.or(side).filter(|_| has_context);
        count.map_or(0, WholeNumber::limit)
    };
    Style {
        before: lines(parameters.before),
        after: lines(parameters.after),
        numbers: parameters.numbers,
        unit: if parameters.only_matching {
            Unit::Matches
        } else {
            Unit::Lines
        },
        multiline: parameters.multiline,
    }
}

fn build_matcher(parameters: &Grep) -> Result<RegexMatcher, InvalidInput> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(parameters.ignore_case)
        .multi_line(true)
        // `$` also matches before CRLF.
        .crlf(true)
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES)
        .dot_matches_new_line(parameters.multiline)
        .line_terminator((!parameters.multiline).then_some(b'\n'));
    builder.build(&parameters.pattern).map_err(|error| {
        let text = error.to_string();
        // Syntax errors of the regex crate show the pattern on several lines; the last line contains the reason.
        let last_line = text
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or(&text);
        let reason = last_line.trim_start_matches("error: ");
        let hint = if text.contains("\"\\n\" is not allowed") && !parameters.multiline {
            "; set multiline to match across lines"
        } else {
            ""
        };
        InvalidInput(format!("invalid regular expression: {reason}{hint}"))
    })
}

/// Splits a list of globs at whitespace and commas outside braces.
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

fn build_types(name: Option<&str>) -> Result<Types, InvalidInput> {
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
    fn globs_are_split_outside_braces() {
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
