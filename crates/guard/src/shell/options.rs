//! Parsing of arguments by a table entry, into options and operands.

use super::table::{Command, Property, Takes};
use super::verdict::{Checked, Refusal, excerpt};
use super::word::{Arguments, Given, PartWord, Value, WordShape};

/// Parses the words after the command's name. `name` is used in messages.
pub(super) fn read<'words>(
    command: &Command,
    name: &str,
    words: &'words [PartWord],
) -> Result<Arguments<'words>, Refusal> {
    let arguments = Arguments {
        words,
        ..Arguments::default()
    };
    let reader = Reader {
        command,
        name,
        arguments,
    };
    let arguments = reader.run()?;
    let mut rules = command.rules.iter();
    if rules.all(|only_reads| only_reads(name, &arguments)) {
        return Ok(arguments);
    }
    let why = format!("`{name}` with arguments that may change something");
    Err(Refusal::new(0..0, why))
}

struct Reader<'table, 'words> {
    command: &'table Command,
    name: &'table str,
    arguments: Arguments<'words>,
}

impl<'words> Reader<'_, 'words> {
    fn run(mut self) -> Result<Arguments<'words>, Refusal> {
        let mut only_operands = self.command.is(Property::Text);
        while let Some(word) = self.arguments.rest().first() {
            if self.command.is(Property::First) && (only_operands || !may_be_option(word)) {
                break;
            }
            self.arguments.read += 1;
            if only_operands || (word.shape == WordShape::Literal && !may_be_option(word)) {
                self.operand(word)?;
            } else if word.literal() == Some("--") {
                only_operands = true;
            } else {
                self.option_or_unknown(word)?;
            }
        }
        let operands = self.arguments.operands.iter().copied();
        let mut operands = operands.chain(self.arguments.rest());
        match operands.find(|word| self.command.is(Property::Plain) && !word.cannot_be_option()) {
            Some(word) => Err(self.refusal_of_expansion(word)),
            None => Ok(self.arguments),
        }
    }

    fn operand(&mut self, word: &'words PartWord) -> Checked {
        let operands = &mut self.arguments.operands;
        operands.push(word);
        if let Some(most) = self.command.most_operands
            && (operands.len() > most || !operands.iter().all(|one| one.is_one_argument()))
        {
            let why = format!("`{}` with more operands than it reads", self.name);
            return Err(word.refusal(why));
        }
        Ok(())
    }

    fn option_or_unknown(&mut self, word: &'words PartWord) -> Checked {
        if self.command.most_operands.is_some() && !self.arguments.operands.is_empty() {
            // Some programs treat it as an operand.
            return Err(word.refusal(format!("`{}` with an option after an operand", self.name)));
        }
        let text = word.prefix();
        if let Some(long) = text.strip_prefix("--") {
            return self.long(word, long);
        }
        let Some(letters) = text.strip_prefix('-') else {
            // An unknown word, which may be an option.
            if self.command.is(Property::Harmless) || word.cannot_be_option() {
                return self.operand(word);
            }
            return Err(self.refusal_of_expansion(word));
        };
        if self.command.is(Property::Whole) {
            return self.long(word, text);
        }
        self.letters(word, letters)
    }

    fn long(&mut self, word: &'words PartWord, text: &'words str) -> Checked {
        let name = text.split('=').next().unwrap_or_default();
        let attached = text.get(name.len() + 1..);
        let is_known = attached.is_some() || word.shape == WordShape::Literal;
        let takes = self.command.takes_after_name(name).filter(|_| is_known);
        let takes = takes.ok_or_else(|| self.refusal_of_option(word))?;
        let value = match (takes, attached) {
            (Takes::Nothing, Some(_)) => return Err(self.refusal_of_option(word)),
            (Takes::Nothing | Takes::AttachedValue, None) => Value::None,
            (_, Some(value)) => self.attached_value(word, value)?,
            (Takes::ValueUnlessLast, None) if self.arguments.rest().is_empty() => Value::None,
            (Takes::Value | Takes::ValueUnlessLast, None) => {
                // Some programs take a value only after `=` and parse the next word as an option or
                // operand.
                if let [next, ..] = self.arguments.rest()
                    && (may_be_option(next) && next.literal().is_none())
                    && !self.command.is(Property::Harmless)
                {
                    return Err(self.refusal_of_expansion(next));
                }
                self.next_value(word)?
            }
        };
        self.arguments.options.push(Given { name, value, word });
        Ok(())
    }

    fn letters(&mut self, word: &'words PartWord, letters: &'words str) -> Checked {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            let (name, after) = rest.split_at(letter.len_utf8());
            rest = after;
            let takes = self.command.takes(name);
            let takes = takes.ok_or_else(|| self.refusal_of_option(word))?;
            let ends = rest.is_empty() && word.shape == WordShape::Literal;
            let value = match takes {
                Takes::Nothing => Value::None,
                Takes::AttachedValue if ends => Value::None,
                Takes::Value if ends => self.next_value(word)?,
                _ => self.attached_value(word, std::mem::take(&mut rest))?,
            };
            self.arguments.options.push(Given { name, value, word });
            if takes != Takes::Nothing {
                return Ok(());
            }
        }
        match word.shape {
            WordShape::Literal => Ok(()),
            // The unknown part may be further letters.
            _ => Err(self.refusal_of_expansion(word)),
        }
    }

    /// Returns a value in the same word.
    fn attached_value(&self, word: &PartWord, text: &'words str) -> Result<Value<'words>, Refusal> {
        match word.shape {
            WordShape::Literal => Ok(Value::Text(text)),
            // The rest of a split value would be a separate word.
            shape if shape > WordShape::Single && !self.command.is(Property::Harmless) => {
                Err(self.refusal_of_expansion(word))
            }
            _ => Ok(Value::Begins(text)),
        }
    }

    /// Returns a value in the next word.
    fn next_value(&mut self, option: &PartWord) -> Result<Value<'words>, Refusal> {
        let word = self.arguments.rest().first();
        let word = word.ok_or_else(|| self.refusal_of_option(option))?;
        self.arguments.read += 1;
        let text = word.prefix();
        let digits = text.strip_prefix('-').filter(|_| word.literal().is_some());
        if digits.is_some_and(|digits| !digits.bytes().all(|byte| byte.is_ascii_digit())) {
            let why = format!("`{}` could be a value or an option", excerpt(text));
            return Err(word.refusal(why));
        }
        self.attached_value(word, text)
    }

    fn refusal_of_option(&self, word: &PartWord) -> Refusal {
        let option = excerpt(word.prefix());
        word.refusal(format!(
            "`{}`: the option `{option}` is not in the accepted set",
            self.name
        ))
    }

    fn refusal_of_expansion(&self, word: &PartWord) -> Refusal {
        word.refusal(format!("`{}`: its expansion could be an option", self.name))
    }
}

fn may_be_option(word: &PartWord) -> bool {
    word.literal() != Some("-") && !word.cannot_be_option()
}
