//! Sentences of prompts and replies, without markup.

/// The non-blank sentences outside of code, tables, headings, quotations and drawings.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let prose = text.split("```").step_by(2);
    for line in prose.flat_map(str::lines).map(str::trim) {
        if !line.starts_with(['#', '|', '>']) && !is_drawing(line) {
            split(&plain(line), &mut found);
        }
    }
    found
}

/// Whether a text is written in Chinese, Japanese or Korean.
pub(super) fn is_east_asian(text: &str) -> bool {
    let (mut east, mut west) = (0_usize, 0_usize);
    for letter in text.chars().take(400) {
        match letter {
            '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}' => east += 1,
            letter if letter.is_alphabetic() => west += 1,
            _ => {}
        }
    }
    // One such letter counts like three others.
    east * 3 >= west && east > 0
}

fn is_drawing(line: &str) -> bool {
    line.contains(|letter| matches!(letter, '\u{2500}'..='\u{259f}'))
}

/// Removes bullets, emphasis, code marks, link targets and emoji from a line.
fn plain(line: &str) -> String {
    let line = line.trim_start_matches(['-', '*', '•', ' ']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let line = match &line[digits..] {
        rest if digits > 0 && (rest.starts_with(". ") || rest.starts_with(") ")) => &rest[2..],
        _ => line,
    };
    let has_link = line.contains("](");
    let mut plain = String::new();
    let mut rest = line.replace("**", "").replace('`', "");
    if has_link {
        while let Some((before, after)) = rest.split_once("](") {
            let address_end = after.find(')').map_or(after.len(), |at| at + 1);
            rest = format!("{}{}", before.replacen('[', "", 1), &after[address_end..]);
        }
    }
    for letter in rest.chars() {
        match letter {
            '\u{2190}'..='\u{21ff}'
            | '\u{2600}'..='\u{27bf}'
            | '\u{1f000}'..='\u{1faff}'
            | '\u{fe0f}' => plain.push(' '),
            other => plain.push(other),
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn split(line: &str, found: &mut Vec<String>) {
    let mut start = 0;
    let mut letters = line.char_indices().peekable();
    let mut push = |text: &str| {
        if text.contains(char::is_alphanumeric) {
            found.push(text.trim().to_owned());
        }
    };
    while let Some((at, letter)) = letters.next() {
        let ends = match letter {
            '。' | '？' | '！' => true,
            '.' | '?' | '!' => letters.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends && !(letter == '.' && is_abbreviation(&line[start..at])) {
            let end = at + letter.len_utf8();
            push(&line[start..end]);
            start = end;
        }
    }
    push(&line[start..]);
}

/// Whether a full stop after this text belongs to an abbreviation or a number.
fn is_abbreviation(text: &str) -> bool {
    let word = text.rsplit([' ', '(']).next().unwrap_or_default();
    matches!(word, "e.g" | "i.e" | "etc" | "vs" | "cf")
        || !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_is_left_out() {
        let text = "# Done\n\nAll **good**. See [this](http://x) and [that](y).\n| a | b |\n```\ncode.\n```\n- `x` works, e.g. 3. part:\n> quoted\n╭──╮";
        assert_eq!(
            sentences(text),
            ["All good.", "See this and that.", "x works, e.g. 3. part:"]
        );
    }

    proptest! {
        #[test]
        fn any_text_has_sentences(text in "[\\PC\n`*|#.\\[\\]()]{0,120}") {
            let _ = sentences(&text);
        }
    }
}
