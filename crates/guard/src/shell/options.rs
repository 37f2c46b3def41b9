//! Parses the arguments of a command into options and operands, by its table entry.

use super::table::{Command, Property, ValueForm};
use super::verdict::{CheckResult, Refusal, excerpt};
use super::word::{Arguments, Given, PartWord, Value, WordShape};

/// Parses the words after the name of the command. `name` is used in messages.
///
/// # Errors
/// The arguments are not known to be read-only.
pub(super) fn parse_arguments<'words>(
    command: &Command,
    name: &str,
    words: &'words [PartWord],
) -> Result<Arguments<'words>, Refusal> {
    let parser = ArgumentParser {
        command,
        name,
        arguments: Arguments {
            words,
            ..Arguments::default()
        },
    };
    let arguments = parser.parse()?;
    let mut rules = command.rules.iter();
    if rules.all(|only_reads| only_reads(name, &arguments)) {
        return Ok(arguments);
    }
    let why = format!("`{name}` with arguments that may change something");
    Err(Refusal::new(0..0, why))
}

/// A parser of the arguments of one command.
struct ArgumentParser<'table, 'words> {
    command: &'table Command,
    name: &'table str,
    arguments: Arguments<'words>,
}

impl<'words> ArgumentParser<'_, 'words> {
    /// Parses all words, or with [`Property::First`] those before the first operand.
    fn parse(mut self) -> Result<Arguments<'words>, Refusal> {
        let ends_options = self.command.has_property(Property::First);
        let mut only_operands = self.command.has_property(Property::Text);
        while let Some(word) = self.arguments.rest().first() {
            if ends_options && (only_operands || !may_be_option(word)) {
                break;
            }
            self.arguments.parsed += 1;
            if only_operands || (word.shape == WordShape::Literal && !may_be_option(word)) {
                self.add_operand(word)?;
            } else if word.literal() == Some("--") {
                only_operands = true;
            } else {
                self.parse_option(word)?;
            }
        }
        let parsed = self.arguments.operands.iter().copied();
        let mut operands = parsed.chain(self.arguments.rest());
        let is_plain = self.command.has_property(Property::Plain);
        match operands.find(|word| is_plain && !word.cannot_be_option()) {
            Some(word) => Err(self.refuse_expansion(word)),
            None => Ok(self.arguments),
        }
    }

    fn add_operand(&mut self, word: &'words PartWord) -> CheckResult {
        let operands = &mut self.arguments.operands;
        operands.push(word);
        if let Some(max) = self.command.max_operands
            && (operands.len() > max || !operands.iter().all(|operand| operand.is_one_argument()))
        {
            let why = format!("`{}` with more operands than it reads", self.name);
            return Err(word.refusal(why));
        }
        Ok(())
    }

    /// Adds the options in a word, or the word as an operand if its expansion cannot be an option.
    fn parse_option(&mut self, word: &'words PartWord) -> CheckResult {
        if self.command.max_operands.is_some() && !self.arguments.operands.is_empty() {
            // Some programs treat an option after an operand as an operand.
            return Err(word.refusal(format!("`{}` with an option after an operand", self.name)));
        }
        let text = word.prefix();
        if let Some(long) = text.strip_prefix("--") {
            return self.parse_long_option(word, long);
        }
        let Some(letters) = text.strip_prefix('-') else {
            // The word starts with an unknown piece.
            if self.is_harmless() || word.cannot_be_option() {
                return self.add_operand(word);
            }
            return Err(self.refuse_expansion(word));
        };
        if self.command.has_property(Property::Whole) {
            return self.parse_long_option(word, text);
        }
        self.parse_letters(word, letters)
    }

    /// Adds an option with a long name. `text` is the word without the dashes of the option.
    fn parse_long_option(&mut self, word: &'words PartWord, text: &'words str) -> CheckResult {
        let name = text.split('=').next().unwrap_or_default();
        let attached = text.get(name.len() + 1..);
        let is_known = attached.is_some() || word.shape == WordShape::Literal;
        let form = self.command.long_value_form(name).filter(|_| is_known);
        let value = match (form.ok_or_else(|| self.refuse_option(word))?, attached) {
            (ValueForm::Nothing, Some(_)) => return Err(self.refuse_option(word)),
            (ValueForm::Nothing | ValueForm::AttachedValue, None) => Value::None,
            (_, Some(value)) => self.attached_value(word, value)?,
            (ValueForm::ValueUnlessLast, None) if self.arguments.rest().is_empty() => Value::None,
            (ValueForm::Value | ValueForm::ValueUnlessLast, None) => {
                // Some programs take a value only after `=` and parse the next word as an option or
                // operand.
                if let [next, ..] = self.arguments.rest()
                    && (may_be_option(next) && next.literal().is_none())
                    && !self.is_harmless()
                {
                    return Err(self.refuse_expansion(next));
                }
                self.next_value(word)?
            }
        };
        self.arguments.options.push(Given { name, value, word });
        Ok(())
    }

    /// Adds the options of a word with one dash, up to one that has a value.
    fn parse_letters(&mut self, word: &'words PartWord, letters: &'words str) -> CheckResult {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            let (name, after) = rest.split_at(letter.len_utf8());
            rest = after;
            let known_form = self.command.value_form(name);
            let form = known_form.ok_or_else(|| self.refuse_option(word))?;
            let is_last = rest.is_empty() && word.shape == WordShape::Literal;
            let value = match form {
                ValueForm::Nothing => Value::None,
                ValueForm::AttachedValue if is_last => Value::None,
                ValueForm::Value if is_last => self.next_value(word)?,
                _ => self.attached_value(word, std::mem::take(&mut rest))?,
            };
            self.arguments.options.push(Given { name, value, word });
            if form != ValueForm::Nothing {
                return Ok(());
            }
        }
        match word.shape {
            WordShape::Literal => Ok(()),
            // The unknown part may be further letters.
            _ => Err(self.refuse_expansion(word)),
        }
    }

    /// Parses a value in the word of its option, or the known text of a separate word.
    fn attached_value(&self, word: &PartWord, text: &'words str) -> Result<Value<'words>, Refusal> {
        match word.shape {
            WordShape::Literal => Ok(Value::Text(text)),
            // An expansion to several words would end the value early.
            shape if shape > WordShape::Single && !self.is_harmless() => {
                Err(self.refuse_expansion(word))
            }
            _ => Ok(Value::Prefix(text)),
        }
    }

    /// Parses a value in the next word.
    fn next_value(&mut self, option: &PartWord) -> Result<Value<'words>, Refusal> {
        let next = self.arguments.rest().first();
        let word = next.ok_or_else(|| self.refuse_option(option))?;
        self.arguments.parsed += 1;
        let text = word.prefix();
        let option_name = word.literal().and_then(|literal| literal.strip_prefix('-'));
        if option_name.is_some_and(|name| !name.bytes().all(|byte| byte.is_ascii_digit())) {
            let why = format!("`{}` could be a value or an option", excerpt(text));
            return Err(word.refusal(why));
        }
        self.attached_value(word, text)
    }

    /// Whether unknown words are accepted anywhere.
    fn is_harmless(&self) -> bool {
        self.command.has_property(Property::Harmless)
    }

    fn refuse_option(&self, word: &PartWord) -> Refusal {
        let option = excerpt(word.prefix());
        word.refusal(format!(
            "`{}`: the option `{option}` is not in the accepted set",
            self.name
        ))
    }

    fn refuse_expansion(&self, word: &PartWord) -> Refusal {
        word.refusal(format!("`{}`: its expansion could be an option", self.name))
    }
}

/// Whether a word may be an option; `-` is an operand.
fn may_be_option(word: &PartWord) -> bool {
    word.literal() != Some("-") && !word.cannot_be_option()
}
