//! `sed` with scripts that only print: a few commands, parsed completely.

use crate::shell::options::arguments;
use crate::shell::verdict::{Refusal, is_one_of};
use crate::shell::word::{PartWord, Value};

/// Whether all scripts only print: the values of `-e`, or else the first operand.
pub(super) fn only_reads(words: &[PartWord]) -> Result<bool, Refusal> {
    let arguments = arguments("sed", words)?;
    let given = arguments.options.iter();
    let mut given = given
        .filter(|given| is_one_of("e expression", given.name))
        .peekable();
    if given.peek().is_none() {
        let script = arguments.operands.first();
        return Ok(script
            .and_then(|script| script.literal())
            .is_some_and(only_prints));
    }
    Ok(given.all(|given| matches!(given.value, Value::Text(script) if only_prints(script))))
}

/// Whether every command of a script only prints, deletes or replaces, in all versions of sed.
fn only_prints(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';']);
        if rest.is_empty() {
            return true;
        }
        let after = skip_addresses(rest).map(|after| after.trim_start_matches([' ', '!']));
        let Some(after) = after.and_then(skip_command) else {
            return false;
        };
        rest = after.trim_start_matches(' ');
        if !(rest.is_empty() || rest.starts_with([';', '\n'])) {
            return false;
        }
    }
}

/// Returns the text after the optional addresses.
fn skip_addresses(text: &str) -> Option<&str> {
    let after = skip_address(text)?;
    match after.strip_prefix(',') {
        Some(second) if after.len() < text.len() => {
            let second = second.trim_start_matches(['+', '~']);
            skip_address(second).filter(|after| after.len() < second.len())
        }
        _ => Some(after),
    }
}

/// Returns the text after one optional address; `None` if it cannot be parsed.
fn skip_address(text: &str) -> Option<&str> {
    if let Some(after) = text.strip_prefix('$') {
        return Some(after);
    }
    if let Some(pattern) = text.strip_prefix('/') {
        let after = pattern.get(delimited_length(pattern, '/')?..)?;
        return Some(after.strip_prefix('I').unwrap_or(after));
    }
    Some(text.trim_start_matches(|letter: char| letter.is_ascii_digit()))
}

/// Returns the text after one command without addresses.
fn skip_command(text: &str) -> Option<&str> {
    if let Some(after) = text.strip_prefix([
        'p', 'P', 'd', 'D', 'n', 'N', 'g', 'G', 'h', 'H', 'x', '=', 'q', 'Q',
    ]) {
        return Some(after);
    }
    let text = text.strip_prefix('s')?;
    let delimiter = text
        .chars()
        .next()
        .filter(|letter| "/|,#:@%!".contains(*letter))?;
    let pattern = text.get(1..)?;
    let replacement = pattern.get(delimited_length(pattern, delimiter)?..)?;
    let flags = replacement.get(delimited_length(replacement, delimiter)?..)?;
    Some(flags.trim_start_matches(|flag: char| flag.is_ascii_digit() || "gpIi".contains(flag)))
}

/// Returns the length of the text of a script including its closing delimiter; `None` if versions of the
/// programs may disagree.
fn delimited_length(text: &str, delimiter: char) -> Option<usize> {
    /// Letters with a special meaning after a backslash that do not denote a character.
    const ESCAPED: &str = "nstwWbBdDSULEul";
    let mut letters = text.char_indices();
    let mut in_set = false;
    while let Some((index, letter)) = letters.next() {
        match letter {
            _ if letter == delimiter && !in_set => return Some(index + letter.len_utf8()),
            _ if letter == delimiter || letter == '\n' => return None,
            '\\' | '[' if in_set => return None,
            '\\' => {
                let (_, escaped) = letters.next()?;
                let is_plain = escaped.is_ascii_punctuation()
                    || escaped.is_ascii_digit()
                    || ESCAPED.contains(escaped);
                if !is_plain {
                    return None;
                }
            }
            '[' => {
                // A leading bracket belongs to the set in some versions.
                in_set = true;
                let rest = text.get(index + 1..).unwrap_or_default();
                if rest.trim_start_matches('^').starts_with(']') {
                    return None;
                }
            }
            ']' => in_set = false,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_scripts_are_accepted() {
        for script in [
            "p",
            "5p",
            "1,5p",
            "$=",
            "$!d",
            "/a/,/b/p",
            "/a/I,+3p",
            "0,/x/d",
            "s/a/b/",
            "s/a/b/g2pI",
            "s|a/b|c|",
            "s/a\\/b/c/g",
            "s/[a-z]*/x/",
            "s/w/e/",
            "s/\\(a\\)b*/\\1\\n/",
            "n;d",
            "$!N;P;D",
            "s/a/b/;s/c/d/",
            "s/x/y/ ; p",
            "",
            "1!G;h;$!d",
        ] {
            assert!(only_prints(script), "{script}");
        }
    }

    #[test]
    fn scripts_that_do_more_are_refused() {
        for script in [
            "w out",
            "1w out",
            "/a/w out",
            "W out",
            "1,2W out",
            "e",
            "1e date",
            "edate",
            "s/a/b/w out",
            "s/a/b/e",
            "s/a/b/ge",
            "s/a/b/gw out",
            "s/a/b/me",
            "p;w out",
            "1{p;w out\n}",
            "y/a/b/;w out",
            "y/a/b/w out",
            "s/x/;/;w out",
            "r file",
            "R file",
            "$r file",
            "v",
            "s/a/b",
            "s/a/b/z",
            "1",
            "p p",
            "s\na\nb\n",
            "a\\\nw out",
            "a one \\\nw out",
            "b;w out",
            ":a;w out",
            "} w out",
            "/a/ w out",
            "s/[/]w out/x/",
            "s/[/]/;w out\n#]/",
            "\\wfoowwPWNED",
            "i\\",
            "s/a/b\\\n/w x",
            "p}",
            "{p",
            "1{p;q}",
            "s/\\c//;w x/",
            "swawbww x",
        ] {
            assert!(!only_prints(script), "{script}");
        }
    }

    #[test]
    fn ends_of_texts_are_found() {
        let rows = [
            ("a/b", '/', Some(2)),
            ("a\\/b/", '/', Some(5)),
            ("[a-z]x/", '/', Some(7)),
            ("a|b|", '|', Some(2)),
            ("[/]/", '/', None),
            ("[[:alpha:]]/", '/', None),
            ("[]a]/", '/', None),
            ("\\cX/", '/', None),
            ("\\x2f/", '/', None),
            ("a\nb/", '/', None),
            ("a", '/', None),
            ("a\\", '/', None),
        ];
        for (text, delimiter, expected) in rows {
            assert_eq!(delimited_length(text, delimiter), expected, "{text}");
        }
    }
}
