//! The word of a command that is a pattern, not a file.

use super::options;
use super::table::{COMMANDS, Property};
use super::verdict::is_one_of;
use super::word::{Given, PartWord, Value, WordPiece};

/// Options that give a pattern, have two values, or make the first operand a file.
const OTHERWISE: &str =
    "e f regexp file files from-file arg argjson slurpfile rawfile args jsonargs";

/// Returns the index of the word that is the pattern of `grep` and the like, if the others are read alike everywhere.
pub(crate) fn pattern_index(words: &[PartWord]) -> Option<usize> {
    let (program, arguments) = words.split_first()?;
    let command = COMMANDS.get(program.value.as_deref()?)?;
    let words: Option<Vec<PartWord>> = arguments.iter().map(known_argument).collect();
    let words = words.filter(|_| command.is(Property::Pattern))?;
    let read = options::read(command, "", &words).ok()?;
    // Some versions take values of long options only after `=`.
    let is_apart = |given: &Given<'_>| {
        let is_long = given.word.prefix().starts_with("--");
        is_long && !matches!(given.value, Value::None) && !given.word.prefix().contains('=')
    };
    let is_otherwise = |given: &Given<'_>| is_one_of(OTHERWISE, given.name);
    let mut options = read.options.iter();
    if options.any(|given| is_otherwise(given) || is_apart(given)) {
        return None;
    }
    let pattern: &PartWord = read.operands.first()?;
    Some(1 + words.iter().position(|word| std::ptr::eq(word, pattern))?)
}

/// Returns a word as an argument if it is known, or certainly an operand.
fn known_argument(word: &PartWord) -> Option<PartWord> {
    let begins = match (&word.value, word.pieces.first()) {
        (None, Some(WordPiece::Text(text))) => {
            Some(text).filter(|text| !text.is_empty() && !text.starts_with('-'))
        }
        (value, _) => value.as_ref(),
    };
    begins.map(|begins| PartWord::plain(word.span.clone(), begins))
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
