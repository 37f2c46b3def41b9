//! Lists of words and phrases, kept in data files.

use std::collections::{HashMap, HashSet};

/// A data file with sections `[name]`: one phrase, or several words, per line.
#[derive(Debug)]
pub(super) struct WordList(HashMap<&'static str, Section>);

#[derive(Debug, Default)]
struct Section {
    lines: Vec<&'static str>,
    words: HashSet<&'static str>,
}

impl WordList {
    pub(super) fn new(file: &'static str) -> Self {
        let mut sections: HashMap<_, Section> = HashMap::new();
        let mut name = "";
        let lines = file.lines().skip_while(|line| !line.starts_with('['));
        for line in lines.filter(|line| !line.is_empty()) {
            let heading = line
                .strip_prefix('[')
                .and_then(|line| line.strip_suffix(']'));
            if let Some(heading) = heading {
                name = heading;
                continue;
            }
            let section = sections.entry(name).or_default();
            section.lines.push(line);
            section.words.extend(line.split(' '));
        }
        Self(sections)
    }

    /// Returns the lines of a section, including trailing spaces.
    pub(super) fn lines(&self, section: &str) -> impl Iterator<Item = &'static str> {
        let lines = self.0.get(section).map(|section| section.lines.as_slice());
        lines.unwrap_or_default().iter().copied()
    }

    /// Returns the lines of all sections, in no order.
    pub(super) fn all_lines(&self) -> impl Iterator<Item = &'static str> {
        let sections = self.0.values();
        sections.flat_map(|section| section.lines.iter().copied())
    }

    /// Whether a word is in a section of words.
    pub(super) fn has(&self, section: &str, word: &str) -> bool {
        self.0
            .get(section)
            .is_some_and(|section| section.words.contains(word))
    }
}
