//! The words that the rules know, in files of sections.

use std::collections::HashMap;

use regex::Regex;

use super::prose::is_east_asian;
use crate::text::pattern;

/// Returns the lines of each section of a file by its name. Sections end at blank lines; lines before the name are comments.
pub(super) fn sections(file: &str) -> HashMap<&str, &str> {
    let sections = file.split("\n\n");
    let named = sections.filter_map(|section| section.split_once('[')?.1.split_once("]\n"));
    named.collect()
}

/// Compiles the words of sentences in the named sections, between two patterns.
pub(super) fn compile_words(before: &str, names: &str, after: &str) -> Regex {
    let sections = sections(include_str!("words/sentences.txt"));
    let bounded = |line: &str| {
        // Scripts without spaces have no word boundaries.
        let end = if is_east_asian(line) { "" } else { r"\b" };
        format!("{end}(?:{}){end}", line.trim_end())
    };
    let lines = names.split(' ').flat_map(|name| sections[name].lines());
    let words = lines.map(bounded).collect::<Vec<_>>().join("|");
    pattern(&format!("(?i){before}(?:{words}){after}"))
}
