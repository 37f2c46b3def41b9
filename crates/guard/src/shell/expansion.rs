//! Expansions that start with a dollar sign, and names of variables.

use std::sync::LazyLock;

use regex_lite::Regex;

/// The result of an expansion, as far as it is known before the command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expanded {
    /// A literal dollar sign.
    Dollar,
    /// Digits with an optional minus sign.
    Number,
    /// Any text.
    Value,
    /// Any number of texts, even in quotes.
    List,
}

/// Parses the expansion at the start of `text`, which is a dollar sign. Returns its result and its length in bytes.
///
/// # Errors
/// The reason why it is not accepted.
pub(super) fn parse_expansion(text: &str) -> Result<(Expanded, usize), &'static str> {
    let rest = text.get(1..).unwrap_or_default();
    match rest.as_bytes().first() {
        Some(b'(') => parse_arithmetic(text),
        Some(b'{') => parse_braces(text),
        Some(b'[') => Err("`$[…]` evaluates its contents"),
        Some(b'"') => Err("`$\"…\"` is translated"),
        Some(b'@') => Ok((Expanded::List, 2)),
        // `$!` is empty before the first process in the background.
        Some(b'*' | b'-' | b'!' | b'0'..=b'9') => Ok((Expanded::Value, 2)),
        Some(b'#' | b'?' | b'$') => Ok((Expanded::Number, 2)),
        Some(_) => match identifier_length(rest) {
            0 => Ok((Expanded::Dollar, 1)),
            length => Ok((Expanded::Value, 1 + length)),
        },
        None => Ok((Expanded::Dollar, 1)),
    }
}

/// Returns the length in bytes of the variable name at the start of `text`; 0 without one.
pub(super) fn identifier_length(text: &str) -> usize {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return 0;
    }
    let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    text.bytes().take_while(is_in_name).count()
}

/// Whether a text is the name of a variable.
pub(crate) fn is_identifier(text: &str) -> bool {
    !text.is_empty() && identifier_length(text) == text.len()
}

/// Returns the length in bytes of the name if the text starts with `NAME=`. Other forms of assignment (`+=`, an
/// element) are parsed as words, and no command has such a name.
pub(super) fn assignment_name_length(text: &str) -> Option<usize> {
    let length = identifier_length(text);
    (length > 0 && text.as_bytes().get(length) == Some(&b'=')).then_some(length)
}

/// Parses `$((…))` with numbers only. The values of variables are evaluated, which can run commands.
fn parse_arithmetic(text: &str) -> Result<(Expanded, usize), &'static str> {
    let rest = text.strip_prefix("$((");
    let inside = rest.and_then(|rest| rest.split("))").next());
    let is_part = |letter: char| letter.is_ascii_digit() || "+-*/% \t<>=!&|^~?:".contains(letter);
    match inside.filter(|inside| inside.len() + 3 < text.len()) {
        Some(inside) if inside.chars().all(is_part) => Ok((Expanded::Number, inside.len() + 5)),
        _ => Err("arithmetic with anything other than numbers can run commands"),
    }
}

/// Matches `${…}` that neither assigns nor evaluates anything: a name, an index, and an operator with an operand or
/// numbers.
static BRACED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let operand = r#"(?:[^`\\'"{}\n<>&()$]|\$[A-Za-z_])*"#;
    let name = r"(?:[A-Za-z_]\w*|[0-9]+|(@)|[*\#?$-])(?:\[(?:([@*])|[0-9]*)\])?";
    let operator = format!(r"(?::?[-+?]{operand}|[\#%/^,]{operand}|:[0-9:]*)?");
    Regex::new(&format!(r"\A\$\{{(\#)?{name}{operator}\}}")).ok()
});

/// Parses the forms of `${…}` that [`BRACED`] matches.
fn parse_braces(text: &str) -> Result<(Expanded, usize), &'static str> {
    let found = BRACED.as_ref().and_then(|braced| braced.captures(text));
    let captures = found.ok_or("`${…}` in a form that is not accepted")?;
    let expanded = match (captures.get(1), captures.get(2).or(captures.get(3))) {
        (Some(_), _) => Expanded::Number,
        (None, Some(_)) => Expanded::List,
        (None, None) => Expanded::Value,
    };
    Ok((expanded, captures[0].len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_expansions_are_accepted() {
        let rows: &[(&str, Expanded, usize)] = &[
            ("$x y", Expanded::Value, 2),
            ("$1", Expanded::Value, 2),
            ("$@", Expanded::List, 2),
            ("$?", Expanded::Number, 2),
            ("$!", Expanded::Value, 2),
            ("$", Expanded::Dollar, 1),
            ("$ x", Expanded::Dollar, 1),
            ("${x}", Expanded::Value, 4),
            ("${#x}", Expanded::Number, 5),
            ("${#}", Expanded::Value, 4),
            ("${x:-a b}c", Expanded::Value, 9),
            ("${x%.txt}", Expanded::Value, 9),
            ("${x##*/}", Expanded::Value, 8),
            ("${x:-$y}", Expanded::Value, 8),
            ("${x:1:2}", Expanded::Value, 8),
            ("${x[0]}", Expanded::Value, 7),
            ("${x[@]}", Expanded::List, 7),
            ("${#x[@]}", Expanded::Number, 8),
            ("$((1 + 2*3))z", Expanded::Number, 12),
        ];
        for (text, expanded, length) in rows {
            assert_eq!(parse_expansion(text), Ok((*expanded, *length)), "{text}");
        }
    }

    #[test]
    fn other_expansions_are_refused() {
        for text in [
            "${x@P}",
            "${x@Q}",
            "$((1 + (2*3)))",
            "${x:=a}",
            "${x=a}",
            "${!x}",
            "${x:y}",
            "${x:1:y}",
            "${x:-$(ls)}",
            "${x:-`ls`}",
            "${x[y]}",
            "${x",
            "${",
            "${}",
            "$((x))",
            "$((1)",
            "$((1) | (2))",
            "$(( `ls` ))",
            "$[1]",
            "$\"x\"",
        ] {
            assert!(
                parse_expansion(text).is_err(),
                "{text}: {:?}",
                parse_expansion(text)
            );
        }
    }
}
