//! Finds the word of a command that is a pattern, not a file.

use super::options;
use super::table::{COMMANDS, Property};
use super::verdict::is_one_of;
use super::word::{Given, PartWord, Value, WordPiece};

/// Options that give a pattern, have two values, or make the first operand a file. With one, no word is certainly a
/// pattern.
const EXCLUDED: &str =
    "e f regexp file files from-file arg argjson slurpfile rawfile args jsonargs";

/// Returns the index of the word that is the pattern of `grep` and the like, if all versions of the program parse the
/// words alike.
pub(crate) fn pattern_index(words: &[PartWord]) -> Option<usize> {
    let (program, arguments) = words.split_first()?;
    let command = COMMANDS.get(program.value.as_deref()?)?;
    if !command.has_property(Property::Pattern) {
        return None;
    }
    let known = arguments.iter().map(known_argument);
    let words: Vec<PartWord> = known.collect::<Option<_>>()?;
    let parsed = options::parse_arguments(command, "", &words).ok()?;
    // Some versions take values of long options only after `=`.
    let has_separate_value = |option: &Given<'_>| {
        let word = option.word.prefix();
        word.starts_with("--") && !word.contains('=') && !matches!(option.value, Value::None)
    };
    let mut options = parsed.options.iter();
    if options.any(|option| is_one_of(EXCLUDED, option.name) || has_separate_value(option)) {
        return None;
    }
    let pattern: &PartWord = parsed.operands.first()?;
    Some(1 + words.iter().position(|word| std::ptr::eq(word, pattern))?)
}

/// Returns a word with a value for the parser of options: its own, or its known start if that makes it an operand.
fn known_argument(word: &PartWord) -> Option<PartWord> {
    let value = match (&word.value, word.pieces.first()) {
        (None, Some(WordPiece::Text(text))) => {
            Some(text).filter(|text| !text.is_empty() && !text.starts_with('-'))
        }
        (value, _) => value.as_ref(),
    };
    value.map(|value| PartWord::from_value_at(word.span.clone(), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::analyse;

    #[test]
    fn patterns_are_found() {
        let pattern = |line: &str| {
            let parts = analyse(line).line.commands.clone();
            let words = &parts[0].words;
            pattern_index(words).map(|at| words[at].text.clone())
        };
        for (line, expected) in [
            ("grep -rn /api src", "/api"),
            ("grep -A 3 --include='*.ts' '@/lib' .", "'@/lib'"),
            ("rg -t ts -g '!x' //x src/*.ts", "//x"),
            ("grep -- -e a", "-e"),
            ("jq -r '.a // \"/x\"' a.json", "'.a // \"/x\"'"),
        ] {
            assert_eq!(pattern(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "grep -e x /etc/passwd",
            "grep /etc/passwd -rex",
            "grep -f /etc/passwd a",
            "grep --context 3 /etc/passwd",
            "grep /etc/passwd \"$x\"",
            "grep /etc/passwd *",
            "grep -r $x /etc/passwd",
            "rg --files /etc",
            "jq --arg a /etc/passwd .",
            "jq -f a /etc/passwd",
            "jq --slurpfile a /etc/passwd .",
            "cat /etc/passwd",
        ] {
            assert_eq!(pattern(line), None, "{line}");
        }
    }
}
