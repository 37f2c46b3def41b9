//! Expansions: variables, parameters, arithmetic, `$'…'`.

/// The result of an expansion.
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

/// An expansion that is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Problem {
    /// Its length in bytes.
    pub(super) length: usize,
    pub(super) why: &'static str,
}

/// Parses the expansion at the start of `text`; returns it and its length in bytes.
pub(super) fn read(text: &str) -> Result<(Expanded, usize), Problem> {
    let rest = text.get(1..).unwrap_or_default();
    let problem = |length, why| Err(Problem { length, why });
    match rest.as_bytes().first() {
        Some(b'(') => arithmetic(text),
        Some(b'{') => braced(text),
        Some(b'[') => problem(2, "`$[…]` evaluates its contents"),
        Some(b'"') => problem(2, "`$\"…\"` is translated"),
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

/// Returns the length of the variable name at the start of `text`, or 0.
pub(super) fn identifier_length(text: &str) -> usize {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return 0;
    }
    text.bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        .count()
}

/// Whether a text is the name of a variable.
pub fn is_identifier(text: &str) -> bool {
    !text.is_empty() && identifier_length(text) == text.len()
}

/// Returns the length of the name if the text starts with `NAME=`. Other forms of assignment (`+=`,
/// an element) are parsed as words, which no command is named like.
pub(super) fn assigned_name(text: &str) -> Option<usize> {
    let length = identifier_length(text);
    (length > 0 && text.as_bytes().get(length) == Some(&b'=')).then_some(length)
}

/// Parses `$((…))` with numbers only: values of variables would be evaluated and can run commands.
fn arithmetic(text: &str) -> Result<(Expanded, usize), Problem> {
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    for (index, byte) in bytes.iter().enumerate().skip(3) {
        match byte {
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b')' if bytes.get(index + 1) == Some(&b')') => {
                return Ok((Expanded::Number, index + 2));
            }
            b'0'..=b'9' => {}
            _ if b"+-*/% \t<>=!&|^~?:,".contains(byte) => {}
            _ => break,
        }
    }
    Err(Problem {
        length: 3,
        why: "arithmetic with anything other than numbers can run commands",
    })
}

/// `${…}`.
fn braced(text: &str) -> Result<(Expanded, usize), Problem> {
    let problem = |length, why| Err(Problem { length, why });
    let inside = text.get(2..).unwrap_or_default();
    let (counts, inside) = match inside.strip_prefix('#') {
        Some(rest) if !rest.starts_with('}') => (true, rest),
        _ => (false, inside),
    };
    if inside.starts_with('!') {
        return problem(3, "`${!…}` takes its name from a value");
    }
    let name = match identifier_length(inside) {
        0 => inside
            .bytes()
            .take_while(u8::is_ascii_digit)
            .count()
            .max(usize::from(
                inside.starts_with(['@', '*', '#', '?', '$', '-']),
            )),
        length => length,
    };
    if name == 0 {
        return problem(2, "`${…}` without a name");
    }
    let mut expanded = match (counts, inside.as_bytes().first()) {
        (true, _) => Expanded::Number,
        (false, Some(b'@')) => Expanded::List,
        (false, _) => Expanded::Value,
    };
    let mut operator = inside.get(name..).unwrap_or_default();
    if let Some(index) = operator.strip_prefix('[') {
        let Some((index, after)) = index.split_once(']') else {
            return problem(2, "`${…[` is not closed");
        };
        match index {
            "@" | "*" if expanded == Expanded::Value => expanded = Expanded::List,
            "@" | "*" => {}
            _ if index.bytes().all(|byte| byte.is_ascii_digit()) && !index.is_empty() => {}
            _ => return problem(2, "an index that is not a number is evaluated"),
        }
        operator = after;
    }
    let Some(operand) = after_operator(operator) else {
        return problem(2, "`${…}` with an operator that is not accepted");
    };
    let Some(operand_length) = operand_length(operand) else {
        return problem(2, "`${…}` with an operand that is not plain");
    };
    let length = text.len() - operand.len() + operand_length + 1;
    Ok((expanded, length))
}

/// Returns the text after the operator, if the operator neither assigns nor evaluates.
fn after_operator(text: &str) -> Option<&str> {
    /// Longer ones first.
    const ACCEPTED: &[&str] = &[
        ":-", ":+", ":?", "##", "%%", "//", "^^", ",,", "-", "+", "?", "#", "%", "/", "^", ",",
    ];
    if text.starts_with('}') {
        return Some(text);
    }
    if let Some(operator) = ACCEPTED
        .iter()
        .find(|operator| text.starts_with(**operator))
    {
        return text.get(operator.len()..);
    }
    if let Some(rest) = text.strip_prefix('@') {
        return rest
            .strip_prefix(['Q', 'U', 'u', 'L'])
            .filter(|rest| rest.starts_with('}'));
    }
    // A substring; its bounds are arithmetic.
    let bounds = text.strip_prefix(':')?;
    let (bounds, _) = bounds.split_once('}')?;
    let plain = bounds
        .split(':')
        .all(|bound| !bound.is_empty() && bound.bytes().all(|byte| byte.is_ascii_digit()));
    plain.then(|| text.get(1 + bounds.len()..))?
}

/// Returns the length of the operand before the closing brace, if it has only plain text and
/// variables.
fn operand_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut index = 0;
    loop {
        match bytes.get(index)? {
            b'}' => return Some(index),
            b'$' => {
                let length = identifier_length(text.get(index + 1..)?);
                if length == 0 {
                    return None;
                }
                index += 1 + length;
            }
            b'`' | b'\\' | b'\'' | b'"' | b'{' | b'\n' | b'<' | b'>' | b'&' | b'(' | b')' => {
                return None;
            }
            _ => index += 1,
        }
    }
}

/// Returns the value of the `$'…'` at the start of `text` and its length in bytes; `None` if it is
/// unclosed, has a NUL character, or is not valid UTF-8.
pub(super) fn ansi_c_quoted(text: &str) -> Option<(String, usize)> {
    let inside = text.strip_prefix("$'")?;
    let mut value = Vec::new();
    let mut at = 0;
    loop {
        let rest = inside.get(at..)?;
        match rest.chars().next()? {
            '\'' => return Some((String::from_utf8(value).ok()?, at + 3)),
            '\\' => at += 1 + ansi_c_escape(rest.get(1..)?, &mut value)?,
            character => {
                let length = character.len_utf8();
                value.extend(&rest.as_bytes()[..length]);
                at += length;
            }
        }
    }
}

/// Adds the value of an escape, given the text after its backslash. Returns the length of the escape in bytes.
fn ansi_c_escape(text: &str, value: &mut Vec<u8>) -> Option<usize> {
    let first = text.chars().next()?;
    let (digits, radix, most) = match first {
        '0'..='7' => (text, 8, 3),
        'x' => (&text[1..], 16, 2),
        'u' => (&text[1..], 16, 4),
        'U' => (&text[1..], 16, 8),
        _ => {
            let character = match first {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'a' => '\x07',
                'b' => '\x08',
                'e' | 'E' => '\x1b',
                'f' => '\x0c',
                'v' => '\x0b',
                '\\' | '\'' | '"' | '?' => first,
                _ => return None,
            };
            value.push(u8::try_from(character).ok()?);
            return Some(1);
        }
    };
    let is_digit = |letter: &char| letter.is_digit(radix);
    let count = digits.chars().take(most).take_while(is_digit).count();
    let code = u32::from_str_radix(digits.get(..count)?, radix).ok()?;
    if most > 3 {
        let character = char::from_u32(code)?;
        value.extend(character.encode_utf8(&mut [0; 4]).bytes());
    } else {
        // `\456` is `\056`.
        value.push(u8::try_from(code & 0xff).ok()?);
    }
    // NUL ends the text.
    (value.last() != Some(&0)).then_some(text.len() - digits.len() + count)
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
            ("${x@Q}", Expanded::Value, 6),
            ("${x[0]}", Expanded::Value, 7),
            ("${x[@]}", Expanded::List, 7),
            ("${#x[@]}", Expanded::Number, 8),
            ("$((1 + (2*3)))z", Expanded::Number, 14),
        ];
        for (text, expanded, length) in rows {
            assert_eq!(read(text), Ok((*expanded, *length)), "{text}");
        }
    }

    #[test]
    fn other_expansions_are_refused() {
        for text in [
            "${x@P}",
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
            assert!(read(text).is_err(), "{text}: {:?}", read(text));
        }
    }

    #[test]
    fn ansi_c_quotes_are_decoded() {
        let rows: &[(&str, Option<(&str, usize)>)] = &[
            ("$'a'", Some(("a", 4))),
            (r"$'a\tb\n'c", Some(("a\tb\n", 9))),
            (
                r#"$'\a\b\e\E\f\n\r\t\v\\\'\"\?'"#,
                Some(("\x07\x08\x1b\x1b\x0c\n\r\t\x0b\\'\"?", 29)),
            ),
            (r"$'it\'s'", Some(("it's", 8))),
            (r"$'\x2d\x2dfix'", Some(("--fix", 14))),
            (r"$'\x00'", None),
            (r"$'\xff'", None),
            (r"$'\x2Z\x9'", Some(("\x02Z\t", 10))),
            (r"$'\u002dx\U0000002E'", Some(("-x.", 20))),
            (r"$'\055\1011'", Some(("-A1", 12))),
            (r"$'\u00e9'", Some(("é", 9))),
            (r"$'\xc3\xa9'", Some(("é", 11))),
            (r"$'\456'", Some((".", 7))),
            (r"$'\777'", None),
            (r"$'\u'", None),
            (r"$'\cA'", None),
            ("$'open", None),
            ("$''", Some(("", 3))),
        ];
        for (text, expected) in rows {
            let expected = expected.map(|(value, length)| (value.to_owned(), length));
            assert_eq!(ansi_c_quoted(text), expected, "{text}");
        }
    }
}
