//! Lists of words and phrases, kept in data files.

/// A data file: sections that begin with `[name]`, one phrase or several words a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordList(&'static str);

impl WordList {
    pub(super) const fn new(file: &'static str) -> Self {
        Self(file)
    }

    /// The lines of a section. Blanks at the end of a line count.
    pub(super) fn lines(self, section: &str) -> impl Iterator<Item = &'static str> {
        self.0
            .lines()
            .skip_while(move |line| !is_heading(line, section))
            .skip(1)
            .take_while(|line| !(line.starts_with('[') && line.ends_with(']')))
            .filter(|line| !line.is_empty())
    }

    /// Whether a word is in a section of words.
    pub(super) fn has(self, section: &str, word: &str) -> bool {
        self.lines(section)
            .any(|line| line.split(' ').any(|known| known == word))
    }

    /// What follows the first phrase of a section that a text starts with, in any case.
    pub(super) fn strip<'a>(self, section: &str, text: &'a str) -> Option<&'a str> {
        self.lines(section).find_map(|phrase| {
            let (start, rest) = text.split_at_checked(phrase.len())?;
            let ends = !rest.starts_with(char::is_alphanumeric);
            (ends && start.eq_ignore_ascii_case(phrase)).then(|| rest.trim())
        })
    }
}

fn is_heading(line: &str, section: &str) -> bool {
    line.strip_prefix('[')
        .and_then(|line| line.strip_suffix(']'))
        == Some(section)
}
