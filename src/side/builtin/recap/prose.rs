//! Sentences of a text in markdown.

/// One sentence, without markup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) text: String,
    /// It announces what follows it: it ends with a colon.
    pub(super) is_label: bool,
}

/// The sentences outside of code, tables, headings and drawings.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    for (number, part) in text.split("```").enumerate() {
        if number % 2 == 1 {
            continue;
        }
        for line in part.lines() {
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', '|']) || is_drawing(line) {
                continue;
            }
            split(&plain(line), &mut found);
        }
    }
    found
}

fn is_drawing(line: &str) -> bool {
    let is_drawn = |letter: char| matches!(letter, '\u{2500}'..='\u{259f}');
    line.contains(is_drawn) || line.chars().all(|letter| "-=*_ ".contains(letter))
}

/// A line without bullets, emphasis, code marks, links and pictures.
fn plain(line: &str) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let line = match &line[digits..] {
        rest if digits > 0 && (rest.starts_with(". ") || rest.starts_with(") ")) => &rest[2..],
        _ => line,
    };
    let line = line.trim_start_matches(['-', '*', '•', '>', ' ']);
    let has_link = line.contains("](");
    let mut plain = String::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '`' | '*' => {}
            ']' if letters.peek() == Some(&'(') => {
                // The address of a link.
                for inner in letters.by_ref() {
                    if inner == ')' {
                        break;
                    }
                }
            }
            '[' if has_link => {}
            '\u{2190}'..='\u{21ff}'
            | '\u{2600}'..='\u{27bf}'
            | '\u{1f000}'..='\u{1faff}'
            | '\u{fe0f}' => plain.push(' '),
            other => plain.push(other),
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn split(line: &str, found: &mut Vec<Sentence>) {
    let mut start = 0;
    let mut letters = line.char_indices().peekable();
    let mut push = |text: &str| {
        let text = text.trim();
        if text.chars().any(char::is_alphanumeric) {
            found.push(Sentence {
                text: text.to_owned(),
                is_label: text.ends_with([':', '：']),
            });
        }
    };
    while let Some((at, letter)) = letters.next() {
        let ends = matches!(letter, '.' | '?' | '!')
            && letters.peek().is_none_or(|(_, next)| next.is_whitespace())
            || matches!(letter, '。' | '？' | '！');
        let so_far = &line[start..at];
        let goes_on = letter == '.'
            && (so_far.ends_with("e.g") || so_far.ends_with("i.e") || so_far.ends_with("etc"));
        if ends && !goes_on {
            push(&line[start..at + letter.len_utf8()]);
            start = at + letter.len_utf8();
        }
    }
    push(&line[start..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_is_left_out() {
        let text = "# Done\n\nAll **good**. See [this](http://x).\n| a | b |\n```\ncode.\n```\n- `x` works:\n╭──╮";
        let found: Vec<String> = sentences(text)
            .into_iter()
            .map(|sentence| sentence.text)
            .collect();
        assert_eq!(found, ["All good.", "See this.", "x works:"]);
    }

    proptest! {
        #[test]
        fn any_text_has_sentences(text in "[\\PC\n`*|#.]{0,120}") {
            let _ = sentences(&text);
        }
    }
}
