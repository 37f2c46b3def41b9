//! The tables of commands with their read-only options. The data is in `tables/*.txt`; the head of
//! each file describes its syntax.

use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};

use super::commands::{Check, rule};
use super::word::PartWord;

/// Accepted arguments of a command. Anything else is not known to be read-only; abbreviated names
/// are not accepted.
#[derive(Debug, Clone, Default)]
pub(super) struct Command {
    /// Letters, and names of long options, with the form of their values.
    options: Vec<(&'static str, Takes)>,
    properties: Vec<Property>,
    /// Maximum number of operands; further ones would be written to.
    pub(super) most_operands: Option<usize>,
    /// Programs that it starts by name.
    pub(super) starts: Vec<&'static str>,
    /// A further condition.
    pub(super) rules: Vec<Check>,
    /// What it does with its arguments, for deny and ask rules.
    uses: Vec<Use>,
}

/// A use that a program makes of its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Use {
    pub(crate) kind: UseKind,
    /// The options and operands that it is about, and how.
    words: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UseKind {
    /// It starts the commands behind some options.
    Runs,
    /// It evaluates command lines of a shell.
    Shell,
    /// It evaluates code in another language.
    Code,
    /// It changes files.
    Writes,
}

impl Use {
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// Whether a word is one of its options, or has its letter.
    pub(crate) fn is_given(&self, word: &PartWord) -> bool {
        let text = word.value_or_text();
        let is_cluster = text.starts_with('-') && !text.starts_with("--");
        self.options().any(|option| {
            let is_in_cluster = option.len() == 2 && is_cluster && text.contains(&option[1..]);
            text.starts_with(option) || is_in_cluster
        })
    }

    pub(crate) fn options(&self) -> impl Iterator<Item = &'static str> {
        let words = self.words.iter().copied();
        words.filter(|word| word.starts_with('-'))
    }
}

/// Returns the uses that a program, or a program with a subcommand, makes of its arguments. `python3.11` is `python3`.
pub(crate) fn uses(name: &str) -> &'static [Use] {
    let number = |letter: char| letter.is_ascii_digit() || letter == '.';
    let plain = name.rsplit_once('.').map_or(name, |(plain, _)| plain);
    let names = [name, plain, name.trim_end_matches(number)];
    let known = names.into_iter().find_map(|name| LAUNCHERS.get(name));
    known.map_or(&[], |command| &command.uses)
}

/// A further property of a command, a word of the tables.
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
    /// Git writes nothing, not even its index: trusted without the kernel if every word is known.
    Safe,
    /// Git accesses the index, the files, or the contents of changes.
    Files,
    /// Git accesses them only with an option of `@diff`.
    Changes,
}

/// The form of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    ValueUnlessLast,
    AttachedValue,
}

impl Command {
    pub(super) fn is(&self, property: Property) -> bool {
        self.properties.contains(&property)
    }

    /// Returns the form of the value of an option: a letter, a long name, or with [`Property::Whole`] a word.
    pub(super) fn takes(&self, name: &str) -> Option<Takes> {
        let mut options = self.options.iter();
        let option = options.find(|(known, _)| *known == name)?;
        Some(option.1)
    }

    /// Returns the form of the value of a long option. One letter is another option.
    pub(super) fn takes_after_name(&self, name: &str) -> Option<Takes> {
        self.takes(name).filter(|_| name.len() > 1)
    }

    /// Whether an option, as written, takes the next word as its value.
    pub(super) fn takes_next_word(&self, option: &str) -> bool {
        let long = option.strip_prefix("--");
        if let Some(takes) = self.takes_after_name(long.unwrap_or(option)) {
            return takes == Takes::Value;
        }
        let mut letters = option.chars();
        let takes = letters.find_map(|letter| {
            let takes = self.takes(letter.encode_utf8(&mut [0; 4]));
            takes.filter(|takes| *takes != Takes::Nothing)
        });
        long.is_none() && takes == Some(Takes::Value) && letters.as_str().is_empty()
    }

    /// Adds an option with the form of its value.
    fn add_option(&mut self, spec: &'static str) {
        let name = spec.trim_end_matches(['=', '?', '[', ']', ':']);
        let takes = match &spec[name.len()..] {
            "" => Takes::Nothing,
            "=" | ":" => Takes::Value,
            "=?" => Takes::ValueUnlessLast,
            _ => Takes::AttachedValue,
        };
        self.options.push((name, takes));
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

    /// Adds the properties of a row, which go on in the lines that begin with a blank.
    fn read(&mut self, properties: &'static str, known: &Table) -> Result<(), String> {
        let lines = properties.lines();
        let lines = lines.take_while(|line| line.starts_with([' ', '#']));
        let lines = lines.filter(|line| line.starts_with(' '));
        for word in lines.flat_map(str::split_whitespace) {
            if let Some(name) = word.strip_prefix("--") {
                self.add_option(name);
            } else if word.starts_with('-') && self.is(Property::Whole) {
                self.add_option(word);
            } else if let Some(letters) = word.strip_prefix('-') {
                self.add_letters(letters);
            } else if word.starts_with('@') {
                let row = known.row(word).ok_or(format!("{word} is not defined"))?;
                self.read(row.properties, known)?;
            } else if let Some(names) = word.strip_prefix("starts=") {
                self.starts.extend(names.split(','));
            } else if let Some(name) = word.strip_prefix("rule=") {
                self.rules
                    .push(rule(name).ok_or(format!("unknown check {word}"))?);
            } else if word == "digits" {
                self.add_letters("0123456789");
            } else if let Some(most) = word.strip_prefix("operands=") {
                let most = most.parse().map_err(|_| format!("{word} is not a number"));
                self.most_operands = Some(most?);
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

/// Parses a word of the tables.
fn parse_name<T: Deserialize<'static>>(word: &'static str) -> Result<T, String> {
    let word: StrDeserializer<'_, Error> = word.into_deserializer();
    T::deserialize(word).map_err(|error| error.to_string())
}

/// A table.
#[derive(Debug)]
pub(super) struct Table(Vec<Row>);

/// A command by one of its names. Its properties are read when it is first looked up, since most processes need few.
#[derive(Debug)]
struct Row {
    name: &'static str,
    /// The table behind the names.
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

    /// Returns the command with this name.
    #[expect(clippy::expect_used, reason = "the tables are part of the program")]
    pub(super) fn get(&self, name: &str) -> Option<&Command> {
        let row = self.row(name)?;
        Some(row.command.get_or_init(|| {
            let mut command = Box::<Command>::default();
            let read = command.read(row.properties, self);
            read.expect("the table is valid");
            command
        }))
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.0.iter().find(|row| row.name == name)
    }
}

/// Includes a table.
macro_rules! table {
    ($name:literal) => {
        LazyLock::new(|| Table::parse(include_str!(concat!("tables/", $name, ".txt"))))
    };
}

/// The commands.
pub(super) static COMMANDS: LazyLock<Table> = table!("commands");

/// Read-only forms of git's subcommands.
pub(super) static GIT: LazyLock<Table> = table!("git");

/// The wrappers.
pub(super) static WRAPPERS: LazyLock<Table> = table!("wrappers");

/// Programs as deny and ask rules read them.
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
            let read = Command::default().read(table.0[0].properties, &table);
            assert!(read.is_err(), "{text}");
        }
    }

    #[test]
    fn values_of_options_are_parsed() {
        let table = Table::parse("a, b | -xy:z:: --one --two=\n    --three[=] --four=? digits");
        let a = table.get("a").unwrap();
        assert!(table.get("b").is_some() && a.takes("5").is_some() && !a.is(Property::Harmless));
        let rows = [
            ("x", Some(Takes::Nothing)),
            ("y", Some(Takes::Value)),
            ("z", Some(Takes::AttachedValue)),
            (":", None),
        ];
        for (letter, takes) in rows {
            assert_eq!(a.takes(letter), takes, "{letter}");
        }
        let rows = [
            ("one", Some(Takes::Nothing)),
            ("two", Some(Takes::Value)),
            ("three", Some(Takes::AttachedValue)),
            ("four", Some(Takes::ValueUnlessLast)),
            ("on", None),
        ];
        for (name, takes) in rows {
            assert_eq!(a.takes(name), takes, "{name}");
        }
    }
}
