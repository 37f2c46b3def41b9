//! `printf` of the shell: a format that assigns nothing.

use crate::shell::refusal::Refusal;
use crate::shell::simple_command::Call;
use crate::shell::word::Word;

/// `-v` and the conversion `%n` assign variables, whose names are evaluated.
pub(super) fn check(_: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    let format = match words.split_first() {
        Some((first, rest)) if first.literal() == Some("--") => rest.first(),
        Some((first, _)) => Some(first),
        None => None,
    };
    let Some(format) = format else {
        return Ok(());
    };
    let Some(text) = format.literal() else {
        return Err(Refusal::unknown(
            format.span.clone(),
            "`printf` with a format that is only known when it runs",
        ));
    };
    if text.starts_with('-') && words.first() == Some(format) {
        return Err(Refusal::unknown(
            format.span.clone(),
            format!(
                "`{}`: the option `{text}` is not in the accepted set",
                name.prefix
            ),
        ));
    }
    if conversions(text).any(|conversion| !ACCEPTED.contains(conversion)) {
        return Err(Refusal::unknown(
            format.span.clone(),
            "`printf` with a conversion that may assign a variable",
        ));
    }
    Ok(())
}

/// Conversions that only print; `(` is a time.
const ACCEPTED: &str = "%diouxXfFeEgGaAcsbqQ(";

/// The letters of the conversions in a format; NUL for one that is cut off.
fn conversions(format: &str) -> impl Iterator<Item = char> + '_ {
    let mut rest = format;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once('%')?;
        let after = after.trim_start_matches(|letter: char| {
            letter.is_ascii_digit() || "-+ #'.*hlLqjzt".contains(letter) && letter != 'q'
        });
        let mut letters = after.chars();
        let conversion = letters.next().unwrap_or('\0');
        rest = letters.as_str();
        Some(conversion)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_of_formats() {
        let rows = [
            ("plain", ""),
            ("%s\\n", "s"),
            ("%-10.3f|%5d%%", "fd%"),
            ("%*n", "n"),
            ("%ld %hhn", "dn"),
            ("%(%F)T", "("),
            ("100%", "\0"),
        ];
        for (format, expected) in rows {
            let found: String = conversions(format).collect();
            assert!(found.starts_with(expected), "{format}: {found:?}");
        }
    }
}
