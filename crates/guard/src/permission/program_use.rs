//! A use that a program makes of its arguments: the texts that it evaluates, the commands that it starts, and the files that
//! it changes.

use crate::shell::{PartInput, PartWord, Use, UseKind};

/// A use of the table, and the arguments of the program or subcommand that makes it.
pub(super) struct ProgramUse<'w> {
    pub(super) listed: &'static Use,
    pub(super) arguments: &'w [PartWord],
}

impl<'w> ProgramUse<'w> {
    /// Returns the words of the commands that follow options, as in `find . -exec rm {} ;`.
    pub(super) fn commands(&self) -> impl Iterator<Item = &'w [PartWord]> {
        let listed = self.listed;
        let ends = |word: &PartWord| matches!(word.value.as_deref(), Some(";" | "+"));
        let starts = self.arguments.iter().enumerate().filter(move |(_, word)| {
            let is_option = listed.kind == UseKind::Runs;
            is_option && word.value.as_deref().is_some_and(|value| listed.has(value))
        });
        let behind = starts.filter_map(|(at, _)| self.arguments.get(at + 1..));
        behind.map(move |words| words.split(ends).next().unwrap_or_default())
    }

    /// Returns the texts that the program evaluates; `None` is one that is known only at run time.
    pub(super) fn texts(&self, input: &PartInput) -> Vec<Option<String>> {
        let (usage, arguments) = (self.listed, self.arguments);
        let behind = (0..arguments.len()).filter_map(|at| arguments.get(at..));
        let given = behind.filter_map(|words| self.text_of_option(words));
        let mut texts: Vec<Option<String>> = given.map(|word| word.value).collect();
        let mut operands = operands(arguments).peekable();
        if usage.has("all") && operands.peek().is_some() {
            texts.push(joined_values(operands.clone()));
        }
        if usage.has("first") && texts.is_empty() {
            texts.extend(operands.peek().map(|word| word.value.clone()));
        }
        if usage.has("value") {
            texts.extend(operands.clone().filter_map(|word| {
                let (_, value) = word.value_or_text().split_once('=')?;
                Some(word.value.as_ref().map(|_| value.to_owned()))
            }));
        }
        let reads_input = usage.has("stdin");
        if usage.has("file") || reads_input && texts.is_empty() {
            let is_input =
                |word: &&PartWord| matches!(word.value.as_deref(), Some("-" | "/dev/stdin"));
            let is_dot = usage.has("file") && operands.peek().is_some_and(is_input);
            let mut values = arguments.iter().map(|word| word.value.as_deref());
            match operands.next().filter(|word| !is_input(word)) {
                // `bash <(curl …)`
                Some(word) if word.text.starts_with("<(") => texts.push(None),
                None if is_dot || reads_input && values.all(|value| value != Some("-m")) => {
                    texts.extend(match input {
                        PartInput::Text(text) => Some(text.clone()),
                        PartInput::Other | PartInput::Pipe(_) => None,
                    });
                }
                Some(_) | None => {}
            }
        }
        texts
    }

    /// Returns the text that an option at the start of words gives: in the same word, or in the next one.
    fn text_of_option(&self, words: &[PartWord]) -> Option<PartWord> {
        // A bundle of letters of a shell ends before the operand: `bash -ce TEXT`.
        let is_shell = self.listed.kind == UseKind::Shell && self.listed.has("stdin");
        let (word, following) = words.split_first()?;
        let text = word.value_or_text();
        let attached = self.listed.options().find_map(|option| {
            if option.len() > 2 {
                let rest = text.strip_prefix(option)?;
                let is_option = rest.is_empty() || rest.starts_with('=');
                return is_option.then(|| rest.trim_start_matches('='));
            }
            let letters = text
                .strip_prefix('-')
                .filter(|letters| !letters.starts_with('-'))?;
            let (_, rest) = letters.split_once(&option[1..])?;
            Some(if is_shell { "" } else { rest })
        })?;
        if !attached.is_empty() {
            let known = word.value.as_ref().map(|_| PartWord::known(attached));
            return Some(known.unwrap_or_else(|| word.clone()));
        }
        let mut operands = operands(following);
        let value = if is_shell {
            operands.next()
        } else {
            following.first()
        };
        value.cloned()
    }

    /// Returns the words that name the files that the program changes.
    pub(super) fn outputs(&self) -> Vec<&'w PartWord> {
        let words = self.arguments.iter();
        if self.listed.has("of") {
            let given = words.clone().enumerate();
            let given = given.filter(|(_, word)| self.listed.is_given(word));
            let values = given.flat_map(|(at, _)| words.clone().skip(at).take(2));
            return values.collect();
        }
        let changes =
            !self.listed.has("if") || words.clone().any(|word| self.listed.is_given(word));
        words
            .filter(|word| changes && !word.text.starts_with('-'))
            .collect()
    }
}

/// Returns the words that are neither options nor the names of options of shells.
fn operands(words: &[PartWord]) -> impl Iterator<Item = &PartWord> + Clone {
    let mut before = "";
    words.iter().filter(move |word| {
        let is_name = matches!(before, "-o" | "+o" | "-O" | "+O");
        before = word.value_or_text();
        !is_name && (before == "-" || !before.starts_with(['-', '+']))
    })
}

/// Returns the values of words, separated by spaces, if all of them are known.
pub(super) fn joined_values<'w>(words: impl Iterator<Item = &'w PartWord>) -> Option<String> {
    let values = words.map(|word| word.value.as_deref());
    Some(values.collect::<Option<Vec<_>>>()?.join(" "))
}
