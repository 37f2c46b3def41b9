//! The tables of commands and their options. The data is in `tables/*.txt`, whose first lines describe the syntax.

use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};

use super::commands::{Check, find_rule};
use super::word::PartWord;

/// The accepted arguments of a command. With others, it is not known to be read-only. Long options are not abbreviated.
#[derive(Debug, Clone, Default)]
pub(super) struct Command {
    /// The letters of short options and the names of long ones, each with the form of its value.
    options: Vec<(&'static str, ValueForm)>,
    properties: Vec<Property>,
    /// Maximum number of operands. The command would write to further ones.
    pub(super) max_operands: Option<usize>,
    /// Programs that it starts by name.
    pub(super) starts: Vec<&'static str>,
    /// Further conditions, all of which must hold.
    pub(super) rules: Vec<Check>,
    /// The uses that it makes of its arguments, for deny and ask rules.
    uses: Vec<Use>,
}

/// A use that a program makes of its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Use {
    pub(crate) kind: UseKind,
    /// The options that the use is about, and the words of the table that describe it.
    words: Vec<&'static str>,
}

/// The kind of a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UseKind {
    /// The program starts the commands behind some options.
    Runs,
    /// The program evaluates command lines of a shell.
    Shell,
    /// The program evaluates code in another language.
    Code,
    /// The program changes files.
    Writes,
}

impl Use {
    /// Whether the table lists a word for the use.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// Whether a word is or contains one of its options.
    pub(crate) fn is_given(&self, word: &PartWord) -> bool {
        let text = word.value_or_text();
        let is_cluster = text.starts_with('-') && !text.starts_with("--");
        self.options().any(|option| {
            let is_in_cluster = option.len() == 2 && is_cluster && text.contains(&option[1..]);
            text.starts_with(option) || is_in_cluster
        })
    }

    /// Returns the options, with their dashes.
    pub(crate) fn options(&self) -> impl Iterator<Item = &'static str> {
        let words = self.words.iter().copied();
        words.filter(|word| word.starts_with('-'))
    }
}

/// Returns the uses that a program, or a program with a subcommand, makes of its arguments. A version in the name is
/// ignored: `python3.11` is `python3`.
pub(crate) fn find_uses(name: &str) -> &'static [Use] {
    let is_in_version = |letter: char| letter.is_ascii_digit() || letter == '.';
    let without_minor = name.rsplit_once('.').map_or(name, |(start, _)| start);
    let mut names = [name, without_minor, name.trim_end_matches(is_in_version)].into_iter();
    let launcher = names.find_map(|name| LAUNCHERS.get(name));
    launcher.map_or(&[], |command| &command.uses)
}

/// A property of a command. The tables have its name in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Property {
    /// Options start with one dash and are whole words.
    Whole,
    /// All options are read-only, so unknown words are accepted anywhere.
    Harmless,
    /// The first operand ends the options.
    First,
    /// No operand may start with a dash.
    Plain,
    /// Every word is text.
    Text,
    /// Its arguments are a language, or contradict each other.
    Language,
    /// The first operand is a pattern or a program, unless an option gives it.
    Pattern,
    /// The subcommand of git writes nothing, not even the index, so that it needs no enforcement if every word is
    /// known.
    Safe,
    /// The subcommand of git accesses the index, the files, or the contents of changes.
    Files,
    /// The subcommand of git accesses the contents of changes only with an option of `@diff`.
    Changes,
}

/// The form of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueForm {
    /// No value.
    Nothing,
    /// A value in the same word or the next one.
    Value,
    /// A value as [`Self::Value`], or none if no word follows.
    ValueUnlessLast,
    /// A value in the same word, or none.
    AttachedValue,
}

impl Command {
    /// Whether the table lists a property.
    pub(super) fn has_property(&self, property: Property) -> bool {
        self.properties.contains(&property)
    }

    /// Returns the form of the value of an option, given by its letter, its long name, or with [`Property::Whole`] its
    /// word.
    pub(super) fn value_form(&self, name: &str) -> Option<ValueForm> {
        let mut options = self.options.iter();
        let (_, form) = options.find(|(option, _)| *option == name)?;
        Some(*form)
    }

    /// Returns the form of the value of a long option; `None` for a letter, which is a short option.
    pub(super) fn long_value_form(&self, name: &str) -> Option<ValueForm> {
        (name.len() > 1).then(|| self.value_form(name))?
    }

    /// Whether an option, as written, takes the next word as its value.
    pub(super) fn takes_next_word(&self, option: &str) -> bool {
        let long = option.strip_prefix("--");
        if let Some(form) = self.long_value_form(long.unwrap_or(option)) {
            return form == ValueForm::Value;
        }
        let mut letters = option.chars();
        let first_form = letters.find_map(|letter| {
            let form = self.value_form(letter.encode_utf8(&mut [0; 4]));
            form.filter(|form| *form != ValueForm::Nothing)
        });
        long.is_none() && first_form == Some(ValueForm::Value) && letters.as_str().is_empty()
    }

    /// Adds an option, given in the syntax of the tables.
    fn add_option(&mut self, spec: &'static str) {
        let name = spec.trim_end_matches(['=', '?', '[', ']', ':']);
        let form = match &spec[name.len()..] {
            "" => ValueForm::Nothing,
            "=" | ":" => ValueForm::Value,
            "=?" => ValueForm::ValueUnlessLast,
            _ => ValueForm::AttachedValue,
        };
        self.options.push((name, form));
    }

    /// Adds options of one letter, as `getopt` writes them.
    fn add_letters(&mut self, letters: &'static str) {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            let after = rest[letter.len_utf8()..].trim_start_matches(':');
            self.add_option(&rest[..rest.len() - after.len()]);
            rest = after;
        }
    }

    /// Adds the properties of a row, which continues in the lines that start with a blank.
    ///
    /// # Errors
    /// The reason why the row is invalid.
    fn add_properties(&mut self, properties: &'static str, table: &Table) -> Result<(), String> {
        let is_of_row = |line: &&str| line.starts_with([' ', '#']);
        let of_row = properties.lines().take_while(is_of_row);
        let lines = of_row.filter(|line| line.starts_with(' '));
        for word in lines.flat_map(str::split_whitespace) {
            if let Some(name) = word.strip_prefix("--") {
                self.add_option(name);
            } else if word.starts_with('-') && self.has_property(Property::Whole) {
                self.add_option(word);
            } else if let Some(letters) = word.strip_prefix('-') {
                self.add_letters(letters);
            } else if word.starts_with('@') {
                let found = table.find_row(word);
                let row = found.ok_or(format!("{word} is not defined"))?;
                self.add_properties(row.properties, table)?;
            } else if let Some(names) = word.strip_prefix("starts=") {
                self.starts.extend(names.split(','));
            } else if let Some(name) = word.strip_prefix("rule=") {
                self.rules
                    .push(find_rule(name).ok_or(format!("unknown check {word}"))?);
            } else if word == "digits" {
                self.add_letters("0123456789");
            } else if let Some(max) = word.strip_prefix("operands=") {
                let max = max.parse().map_err(|_| format!("{word} is not a number"));
                self.max_operands = Some(max?);
            } else if let Some((kind, words)) = word.split_once('=') {
                let (kind, words) = (parse_name(kind)?, words.split(',').collect());
                self.uses.push(Use { kind, words });
            } else {
                self.properties.push(parse_name(word)?);
            }
        }
        Ok(())
    }
}

/// Parses the name of an enum variant in the tables.
fn parse_name<T: Deserialize<'static>>(word: &'static str) -> Result<T, String> {
    let deserializer: StrDeserializer<'_, Error> = word.into_deserializer();
    T::deserialize(deserializer).map_err(|error| error.to_string())
}

/// A table of commands.
#[derive(Debug)]
pub(super) struct Table(Vec<Row>);

/// A name of a command. Its properties are parsed when it is first looked up, since most processes need few commands.
#[derive(Debug)]
struct Row {
    name: &'static str,
    /// The text of the table behind the names.
    properties: &'static str,
    command: OnceLock<Box<Command>>,
}

impl Table {
    fn parse(text: &'static str) -> Self {
        let mut rows = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            if let Some(end) = line.find('|').filter(|_| !line.starts_with([' ', '#'])) {
                rows.extend(line[..end].split(',').map(|name| Row {
                    name: name.trim_ascii(),
                    properties: &rest[end + 1..],
                    command: OnceLock::new(),
                }));
            }
            rest = after;
        }
        Self(rows)
    }

    /// Returns the command with a name.
    #[expect(clippy::expect_used, reason = "the tables are part of the program")]
    pub(super) fn get(&self, name: &str) -> Option<&Command> {
        let row = self.find_row(name)?;
        Some(row.command.get_or_init(|| {
            let mut command = Box::<Command>::default();
            let added = command.add_properties(row.properties, self);
            added.expect("the table is valid");
            command
        }))
    }

    fn find_row(&self, name: &str) -> Option<&Row> {
        self.0.iter().find(|row| row.name == name)
    }
}

/// Includes a table.
macro_rules! table {
    ($name:literal) => {
        LazyLock::new(|| Table::parse(include_str!(concat!("tables/", $name, ".txt"))))
    };
}

/// Read-only commands.
pub(super) static COMMANDS: LazyLock<Table> = table!("commands");

/// Read-only forms of the subcommands of git.
pub(super) static GIT: LazyLock<Table> = table!("git");

/// Wrappers: programs that start the command in their operands.
pub(super) static WRAPPERS: LazyLock<Table> = table!("wrappers");

/// Programs that start commands, evaluate texts or change files, for deny and ask rules.
pub(super) static LAUNCHERS: LazyLock<Table> = table!("launchers");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_can_be_read() {
        let tables = [&*COMMANDS, &GIT, &WRAPPERS, &LAUNCHERS];
        let sizes = tables.map(|table| table.0.len());
        assert!(sizes[0] > 150 && sizes[1] > 40 && sizes[2] >= 10 && sizes[3] > 80);
        for text in [
            include_str!("tables/commands.txt"),
            include_str!("tables/git.txt"),
            include_str!("tables/wrappers.txt"),
            include_str!("tables/launchers.txt"),
        ] {
            let rows = text.lines().filter(|line| !line.starts_with([' ', '#']));
            let rows = rows.filter_map(|row| row.split_once(" |"));
            let mut names: Vec<&str> = rows.flat_map(|(names, _)| names.split(", ")).collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "a name is listed twice");
        }
        let names = tables
            .iter()
            .flat_map(|table| table.0.iter().map(move |row| (table, row.name)));
        for (table, name) in names {
            let command = table.get(name).unwrap();
            let names = command.options.iter().map(|(name, _)| *name);
            let mut names: Vec<&str> = names.collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{name} lists an option twice");
        }
    }

    #[test]
    fn invalid_tables_are_refused() {
        for text in ["a | @b", "a | rule=b", "a | operands=b", "a | b"] {
            let table = Table::parse(text);
            let read = Command::default().add_properties(table.0[0].properties, &table);
            assert!(read.is_err(), "{text}");
        }
    }

    #[test]
    fn values_of_options_are_parsed() {
        let table = Table::parse("a, b | -xy:z:: --one --two=\n    --three[=] --four=? digits");
        let a = table.get("a").unwrap();
        assert!(
            table.get("b").is_some()
                && a.value_form("5").is_some()
                && !a.has_property(Property::Harmless)
        );
        let rows = [
            ("x", Some(ValueForm::Nothing)),
            ("y", Some(ValueForm::Value)),
            ("z", Some(ValueForm::AttachedValue)),
            (":", None),
        ];
        for (letter, takes) in rows {
            assert_eq!(a.value_form(letter), takes, "{letter}");
        }
        let rows = [
            ("one", Some(ValueForm::Nothing)),
            ("two", Some(ValueForm::Value)),
            ("three", Some(ValueForm::AttachedValue)),
            ("four", Some(ValueForm::ValueUnlessLast)),
            ("on", None),
        ];
        for (name, takes) in rows {
            assert_eq!(a.value_form(name), takes, "{name}");
        }
    }
}
