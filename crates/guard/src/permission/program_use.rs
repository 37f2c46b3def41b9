//! The use of the arguments of one command: the texts that it evaluates, the commands that it starts, and the files
//! that it changes.

use crate::shell::{PartInput, PartWord, Use, UseKind};

/// A listed use, applied to the arguments of a program or subcommand.
pub(super) struct ProgramUse<'w> {
    pub(super) listed: &'static Use,
    pub(super) arguments: &'w [PartWord],
}

impl<'w> ProgramUse<'w> {
    /// Returns the words of the commands that follow options, as in `find . -exec rm {} ;`.
    pub(super) fn commands(&self) -> impl Iterator<Item = &'w [PartWord]> {
        let Self { listed, arguments } = *self;
        let is_end = |word: &PartWord| matches!(word.value.as_deref(), Some(";" | "+"));
        let is_option = move |word: &PartWord| {
            let value = word.value.as_deref();
            listed.kind == UseKind::Runs && value.is_some_and(|value| listed.has_word(value))
        };
        let starts = (1..=arguments.len()).filter(move |start| is_option(&arguments[start - 1]));
        starts.filter_map(move |start| arguments[start..].split(is_end).next())
    }

    /// Returns the texts that the program evaluates. A text is `None` if it is known only at run time.
    pub(super) fn texts(&self, input: &PartInput) -> Vec<Option<String>> {
        let Self { listed, arguments } = self;
        let starts = 0..arguments.len();
        let given = starts.filter_map(|start| self.find_option_text(&arguments[start..]));
        let mut texts: Vec<Option<String>> = given.map(|word| word.value).collect();
        let mut operands = operands(arguments).peekable();
        if listed.has_word("all") && operands.peek().is_some() {
            texts.push(join_values(operands.clone()));
        }
        if listed.has_word("first") && texts.is_empty() {
            texts.extend(operands.peek().map(|word| word.value.clone()));
        }
        if listed.has_word("value") {
            texts.extend(operands.clone().filter_map(|word| {
                let (_, value) = word.value_or_text().split_once('=')?;
                Some(word.value.as_ref().map(|_| value.to_owned()))
            }));
        }
        let reads_input = listed.has_word("stdin");
        if listed.has_word("file") || reads_input && texts.is_empty() {
            let is_input =
                |word: &&PartWord| matches!(word.value.as_deref(), Some("-" | "/dev/stdin"));
            let names_input = listed.has_word("file") && operands.peek().is_some_and(is_input);
            let mut values = arguments.iter().map(|word| word.value.as_deref());
            match operands.next().filter(|word| !is_input(word)) {
                // `bash <(curl …)`
                Some(word) if word.text.starts_with("<(") => texts.push(None),
                None if names_input || reads_input && values.all(|value| value != Some("-m")) => {
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

    /// Returns the word with the text that an option at the start of words gives: behind the option, or the next word.
    fn find_option_text(&self, words: &[PartWord]) -> Option<PartWord> {
        // The options of a shell, `bash -ce TEXT`, come before the text.
        let is_shell = self.listed.kind == UseKind::Shell && self.listed.has_word("stdin");
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
                .filter(|rest| !rest.starts_with('-'))?;
            let (_, rest) = letters.split_once(&option[1..])?;
            Some(if is_shell { "" } else { rest })
        })?;
        if !attached.is_empty() {
            let value = word.value.as_ref();
            return Some(value.map_or_else(|| word.clone(), |_| PartWord::from_value(attached)));
        }
        let value = if is_shell {
            operands(following).next()
        } else {
            following.first()
        };
        value.cloned()
    }

    /// Returns the words that name the files that the program changes.
    pub(super) fn outputs(&self) -> Vec<&'w PartWord> {
        let words = self.arguments.iter();
        if self.listed.has_word("of") {
            // An option, with its value in the same word or the next one.
            let indexes =
                (0..self.arguments.len()).filter(|at| self.listed.is_given(&self.arguments[*at]));
            let values = indexes.flat_map(|at| words.clone().skip(at).take(2));
            return values.collect();
        }
        let is_writer =
            !self.listed.has_word("if") || words.clone().any(|word| self.listed.is_given(word));
        let outputs = words.filter(|word| is_writer && !word.text.starts_with('-'));
        outputs.collect()
    }
}

/// Returns the words that are neither options nor values of the options `-o` and `-O` of shells.
fn operands(words: &[PartWord]) -> impl Iterator<Item = &PartWord> + Clone {
    let mut before = "";
    words.iter().filter(move |word| {
        let is_option_value = matches!(before, "-o" | "+o" | "-O" | "+O");
        before = word.value_or_text();
        !is_option_value && (before == "-" || !before.starts_with(['-', '+']))
    })
}

/// Joins the values of words with spaces; `None` if one of them is not known.
pub(super) fn join_values<'w>(words: impl Iterator<Item = &'w PartWord>) -> Option<String> {
    let values = words.map(|word| word.value.as_deref());
    Some(values.collect::<Option<Vec<_>>>()?.join(" "))
}
